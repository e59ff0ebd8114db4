//! The pages, one file each. A page has a body of fragments and stands in one shell; a live view is the same body again,
//! so that what is pushed can never differ from what is loaded.

pub(super) mod audit;
pub(super) mod overview;
pub(super) mod record;
pub(super) mod rules;
pub(super) mod system;

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use super::live::View;
use super::{Admin, assets};

/// What one page says to the shell.
struct Page<'a> {
    title: &'a str,
    /// The entry of the navigation it stands under.
    section: &'static str,
    live: Option<View>,
}

#[derive(Template)]
#[template(path = "shell.html")]
struct Shell<'a> {
    assets: &'static assets::Urls,
    title: &'a str,
    sections: [(&'static str, &'static str); 4],
    section: &'static str,
    live: Option<String>,
    version: &'a str,
    can_sign_out: bool,
    body: &'a str,
}

/// The sections of the navigation.
const SECTIONS: [(&str, &str); 4] =
    [("Overview", "/"), ("Audit", "/audit"), ("Rules", "/rules"), ("System", "/system")];

/// The body of a live view.
pub(super) fn body(admin: &Admin, view: View) -> askama::Result<String> {
    match view {
        View::Overview(window) => overview::body(admin, window),
        View::Audit => audit::body(admin, &audit::Filter::default()),
        View::Rules => rules::body(admin),
        View::System => system::body(admin),
    }
}

fn respond(admin: &Admin, status: StatusCode, page: &Page<'_>, body: askama::Result<String>) -> Response {
    let rendered = body.and_then(|body| {
        let shell = Shell {
            assets: assets::urls(),
            title: page.title,
            sections: SECTIONS,
            section: page.section,
            live: page.live.map(View::url),
            version: &admin.state.system.version,
            can_sign_out: admin.state.token.is_some(),
            body: &body,
        };
        shell.render()
    });
    html(status, rendered)
}

/// A page, or the fact that it could not be rendered.
pub(super) fn html(status: StatusCode, page: askama::Result<String>) -> Response {
    match page {
        Ok(page) => {
            let kind = HeaderValue::from_static("text/html; charset=utf-8");
            (status, [(CONTENT_TYPE, kind)], page).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "a dashboard page could not be rendered");
            (StatusCode::INTERNAL_SERVER_ERROR, "500: this page could not be rendered\n").into_response()
        }
    }
}

#[derive(Template)]
#[template(path = "missing.html")]
struct Missing<'a> {
    what: &'a str,
    hint: &'a str,
}

/// Any other address.
pub(super) async fn not_found(State(admin): State<Arc<Admin>>) -> Response {
    missing(&admin, "This page does not exist", "The pages are listed above.")
}

fn missing(admin: &Admin, what: &str, hint: &str) -> Response {
    let page = Page { title: "Not found", section: "", live: None };
    respond(admin, StatusCode::NOT_FOUND, &page, Missing { what, hint }.render())
}
