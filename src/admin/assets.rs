//! Style, script and icon, built into the binary. Their URLs name their content, so browsers may keep them for ever and
//! still never show a stale one.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("../../static/fieldgate.css");
const SCRIPT: &str = include_str!("../../static/live.js");
const ICON: &str = include_str!("../../static/icon.svg");

/// Where the files are, for templates.
#[derive(Debug)]
pub(super) struct Urls {
    pub(super) style: String,
    pub(super) script: String,
    pub(super) icon: String,
}

fn hash(content: &str) -> String {
    super::format::hex(Sha256::digest(content).into_iter().take(6))
}

pub(super) fn urls() -> &'static Urls {
    static URLS: LazyLock<Urls> = LazyLock::new(|| Urls {
        style: format!("/static/{}/fieldgate.css", hash(STYLE)),
        script: format!("/static/{}/live.js", hash(SCRIPT)),
        icon: format!("/static/{}/icon.svg", hash(ICON)),
    });
    &URLS
}

/// `GET /static/{hash}/{name}`. Needs no token: the sign-in form wants its style, and nothing here is secret.
pub(super) async fn serve(Path((given, name)): Path<(String, String)>) -> Response {
    let (content, kind, url) = match name.as_str() {
        "fieldgate.css" => (STYLE, "text/css; charset=utf-8", &urls().style),
        "live.js" => (SCRIPT, "text/javascript; charset=utf-8", &urls().script),
        "icon.svg" => (ICON, "image/svg+xml", &urls().icon),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    if *url != format!("/static/{given}/{name}") {
        return StatusCode::NOT_FOUND.into_response();
    }
    let headers = [(CONTENT_TYPE, kind), (CACHE_CONTROL, "public, max-age=31536000, immutable")];
    (headers, content).into_response()
}
