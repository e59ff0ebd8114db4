//! The form that asks for the token and the cookie it gives. The only POSTs of the dashboard; they change nothing but the
//! visitor's own cookie.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Form, Query, State};
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::{Admin, assets, guard, pages};

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    assets: &'static assets::Urls,
    target: &'a str,
    trouble: Option<&'a str>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Attempt {
    token: String,
    #[serde(default)]
    target: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    #[serde(default)]
    target: String,
}

/// The form. `target` is where the visitor wanted to go.
pub(super) fn form(status: StatusCode, target: &str, trouble: Option<&str>) -> Response {
    let page = LoginPage { assets: assets::urls(), target: local(target), trouble };
    pages::html(status, page.render())
}

/// `GET /login`
pub(super) async fn show(Query(wanted): Query<Wanted>) -> Response {
    form(StatusCode::OK, &wanted.target, None)
}

/// `POST /login`
pub(super) async fn sign_in(State(admin): State<Arc<Admin>>, Form(attempt): Form<Attempt>) -> Response {
    let Some(token) = &admin.state.token else { return go(&attempt.target, None) };
    if guard::same(attempt.token.trim(), token.expose()) {
        return go(&attempt.target, Some(&guard::cookie(Some(&guard::session(token)))));
    }
    tracing::warn!("a sign-in to the dashboard with a wrong token was refused");
    form(StatusCode::UNAUTHORIZED, &attempt.target, Some("That is not the token."))
}

/// `POST /logout`
pub(super) async fn sign_out() -> Response {
    go("/login", Some(&guard::cookie(None)))
}

fn go(target: &str, cookie: Option<&str>) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    let target = HeaderValue::from_str(local(target)).unwrap_or(HeaderValue::from_static("/"));
    headers.insert(LOCATION, target);
    if let Some(cookie) = cookie.and_then(|cookie| HeaderValue::from_str(cookie).ok()) {
        headers.insert(SET_COOKIE, cookie);
    }
    response
}

/// SECURITY: only a path of this listener; `//host`, `/\host` and full URLs would send the visitor elsewhere.
fn local(target: &str) -> &str {
    let is_local = target.starts_with('/')
        && !target.starts_with("//")
        && !target.contains('\\')
        && !target.chars().any(char::is_control);
    if is_local { target } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::local;

    #[test]
    fn leads_nowhere_else() {
        for (target, led) in [
            ("/audit?route=a", "/audit?route=a"),
            ("//evil.example", "/"),
            ("/\\evil.example", "/"),
            ("https://evil.example", "/"),
            ("/\t/evil.example", "/"),
            ("", "/"),
        ] {
            assert_eq!(local(target), led, "{target:?}");
        }
    }
}
