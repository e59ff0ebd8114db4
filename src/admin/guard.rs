//! Who may look: the Host check against DNS rebinding, the optional token, and the headers that every answer carries. It
//! refuses to know pages.

use std::hint::black_box;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, COOKIE, HOST, WWW_AUTHENTICATE};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::uri::Authority;
use sha2::{Digest, Sha256};

use super::{Admin, login};
use crate::sensitive::Sensitive;

/// The names under which the admin listener answers, ports aside.
#[derive(Debug, Clone)]
pub struct Hosts(Arc<[String]>);

impl Hosts {
    /// `localhost`, the loopback addresses, the bound address, and the names from the settings.
    pub fn new(bound: SocketAddr, names: impl IntoIterator<Item = String>) -> Self {
        let bound = match bound.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let known = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
        let names = names.into_iter().map(|name| name.to_ascii_lowercase());
        Self(known.into_iter().chain([bound]).chain(names).collect())
    }

    fn allow(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else { return false };
        // `user@host` is an authority too, and never a Host.
        let name = authority.host().to_ascii_lowercase();
        !host.contains('@') && self.0.contains(&name)
    }
}

/// SECURITY: a page of a stranger whose name was made to point here (DNS rebinding) is same-origin to the browser; only
/// the Host header tells. Checked on every path.
pub(super) async fn check_host(State(admin): State<Arc<Admin>>, request: Request, next: Next) -> Response {
    let mut hosts = request.headers().get_all(HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok());
    let of_target = request.uri().authority().map(Authority::as_str);
    let allowed = match (host, hosts.next()) {
        (Some(host), None) => {
            admin.state.hosts.allow(host) && of_target.is_none_or(|target| admin.state.hosts.allow(target))
        }
        (None | Some(_), _) => false,
    };
    if allowed {
        return next.run(request).await;
    }
    let why = "421: this name is not one that the dashboard answers to; add it to the admin hosts in the settings\n";
    (StatusCode::MISDIRECTED_REQUEST, why).into_response()
}

const COOKIE_NAME: &str = "fieldgate_admin";

/// What the cookie holds: never the token itself, so that a leaked cookie jar does not open `/metrics` elsewhere.
pub(super) fn session(token: &Sensitive<String>) -> String {
    let digest = Sha256::new().chain_update(b"fieldgate dashboard session\0").chain_update(token.expose()).finalize();
    super::format::hex(digest)
}

/// `Set-Cookie` that signs in, or out without a session.
pub(super) fn cookie(session: Option<&str>) -> String {
    let age = if session.is_some() { 12 * 60 * 60 } else { 0 };
    let session = session.unwrap_or_default();
    format!("{COOKIE_NAME}={session}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict")
}

/// SECURITY: both sides are hashed first, so that neither length nor content shows in the time taken.
pub(super) fn same(given: &str, wanted: &str) -> bool {
    let (given, wanted) = (Sha256::digest(given), Sha256::digest(wanted));
    let difference = given.iter().zip(wanted.iter()).fold(0, |all, (a, b)| all | (a ^ b));
    black_box(difference) == 0
}

fn is_signed_in(request: &Request, token: &Sensitive<String>) -> bool {
    let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
    let bearer = request.headers().get(AUTHORIZATION).and_then(text);
    if let Some((scheme, given)) = bearer.as_deref().and_then(|bearer| bearer.split_once(' '))
        && scheme.eq_ignore_ascii_case("bearer")
    {
        return same(given.trim(), token.expose());
    }
    let session = session(token);
    let cookies: Vec<String> = request.headers().get_all(COOKIE).iter().filter_map(text).collect();
    let mut pairs = cookies.iter().flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.any(|(name, value)| name == COOKIE_NAME && same(value, &session))
}

/// Lets through whoever has the token, where one is set. A person gets the form, a program a 401.
pub(super) async fn require_token(State(admin): State<Arc<Admin>>, request: Request, next: Next) -> Response {
    let Some(token) = &admin.state.token else { return next.run(request).await };
    if is_signed_in(&request, token) {
        return next.run(request).await;
    }
    let path = request.uri().path();
    let is_page = request.method() == Method::GET && !matches!(path, "/metrics" | "/live");
    let mut response = if is_page {
        let target = request.uri().path_and_query().map_or(path, |target| target.as_str());
        login::form(StatusCode::UNAUTHORIZED, target, None)
    } else {
        (StatusCode::UNAUTHORIZED, "401: the admin token is missing or wrong\n").into_response()
    };
    let challenge = HeaderValue::from_static("Bearer realm=\"fieldgate\"");
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    response
}

/// What every answer carries. No inline script or style works under this policy, whatever got into a page.
const HEADERS: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-embedder-policy", "require-corp"),
];

/// Adds the headers; what has not said otherwise is never stored.
pub(super) async fn secure(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_to_its_own_names_only() {
        let hosts = Hosts::new("[fd00::7]:9090".parse().unwrap(), ["Gate.Example.com".to_owned()]);
        for (host, allowed) in [
            ("localhost", true),
            ("LOCALHOST:9090", true),
            ("127.0.0.1:1", true),
            ("[::1]:9090", true),
            ("[fd00::7]", true),
            ("gate.example.com:80", true),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("evil@localhost", false),
            ("127.0.0.1.nip.io", false),
            ("127.1", false),
            ("", false),
            ("localhost:9090/x", false),
        ] {
            assert_eq!(hosts.allow(host), allowed, "{host}");
        }
    }

    #[test]
    fn compares_whole_tokens() {
        assert!(same("abc", "abc"));
        assert!(!same("abc", "abcd") && !same("", "abc") && !same("abd", "abc"));
    }
}
