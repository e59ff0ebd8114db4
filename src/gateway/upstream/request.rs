//! What goes to an upstream and what comes back. A [`Cleared`] request has been judged; this file makes of it what the client
//! sends, and refuses to send anything else.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, Version, header};
use hyper::upgrade::OnUpgrade;
use tokio::time::Instant;

use super::client::Use;
use crate::gateway::error::Refusal;
use crate::gateway::upload::{Upload, UploadBody};

/// A request that policy has judged: the only thing that can be sent.
#[derive(Debug)]
pub struct Cleared {
    /// The method.
    pub method: Method,
    /// The canonical path, after `strip_prefix` and edits.
    pub path: String,
    /// The canonical query, after edits.
    pub query: Option<String>,
    /// All fields; framing excluded.
    pub headers: HeaderMap,
    /// The body.
    pub body: Outgoing,
    /// Whether it asks, properly, that its connection becomes a tunnel.
    pub asks_for_tunnel: bool,
}

/// A request body on its way out.
#[derive(Debug, Clone)]
pub enum Outgoing {
    /// There is none.
    Empty,
    /// It is wholly here, so that it can be sent twice.
    Whole(Bytes),
    /// It comes as the client sends it.
    Streamed(Arc<Upload>),
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The fields, as they came.
    pub headers: HeaderMap,
    /// The body, unread.
    pub body: reqwest::Body,
    /// When the body must have ended, if there is such a time.
    pub until: Option<Instant>,
    /// The connection, if it stops speaking HTTP.
    pub upgrade: Option<OnUpgrade>,
}

impl Cleared {
    /// SECURITY: the URL type has rewritten paths after the router judged them (`/public/../admin` left as `/admin`). What
    /// leaves here is what was judged, or nothing does.
    pub fn url(&self, base: &reqwest::Url) -> Result<reqwest::Url, Refusal> {
        let (path, query) = (&*self.path, self.query.as_deref());
        let mut url = base.clone();
        url.set_path(path);
        url.set_query(query);
        if url.path() == path && url.query() == query && url.fragment().is_none() {
            Ok(url)
        } else {
            Err(Refusal::Target("the request target cannot be forwarded as it is"))
        }
    }

    /// What is sent, so that it can be sent again.
    pub fn copy(&self, url: reqwest::Url) -> reqwest::Request {
        let mut request = reqwest::Request::new(self.method.clone(), url);
        *request.headers_mut() = self.headers.clone();
        *request.body_mut() = self.body.clone().into_body();
        request
    }

    /// What is sent.
    pub fn into_request(self, url: reqwest::Url) -> reqwest::Request {
        let mut request = reqwest::Request::new(self.method, url);
        *request.headers_mut() = self.headers;
        *request.body_mut() = self.body.into_body();
        request
    }
}

impl Outgoing {
    fn into_body(self) -> Option<reqwest::Body> {
        match self {
            Self::Empty => None,
            Self::Whole(bytes) => Some(bytes.into()),
            Self::Streamed(upload) => Some(reqwest::Body::wrap(UploadBody(upload))),
        }
    }

    /// What the client is still sending, if it is.
    pub fn upload(&self) -> Option<Arc<Upload>> {
        match self {
            Self::Streamed(upload) => Some(Arc::clone(upload)),
            Self::Empty | Self::Whole(_) => None,
        }
    }

    /// Whether all of it can be sent, also when it was tried before.
    pub fn is_here(&self) -> bool {
        match self {
            Self::Empty | Self::Whole(_) => true,
            Self::Streamed(upload) => upload.is_untouched(),
        }
    }
}

/// Refuses answers whose end we would have to guess, and a switch of protocols that nobody asked for.
pub fn check_answer(status: StatusCode, version: Version, headers: &HeaderMap, kind: Use) -> Result<(), Refusal> {
    let codings: Vec<_> = headers.get_all(header::TRANSFER_ENCODING).iter().collect();
    let framed = match codings.as_slice() {
        [] => true,
        [one] => one.as_bytes().eq_ignore_ascii_case(b"chunked") && version != Version::HTTP_10,
        _ => false,
    };
    let is_wanted = status != StatusCode::SWITCHING_PROTOCOLS || kind == Use::Tunnel;
    if framed && is_wanted { Ok(()) } else { Err(Refusal::UpstreamBroken) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_leave_as_they_were_judged() {
        let base = reqwest::Url::parse("http://127.0.0.1:9/").unwrap();
        let url = |path: &str, query: Option<&str>| {
            let cleared = Cleared {
                method: Method::GET,
                path: path.to_owned(),
                query: query.map(str::to_owned),
                headers: HeaderMap::new(),
                body: Outgoing::Empty,
                asks_for_tunnel: false,
            };
            cleared.url(&base).map(|url| url.to_string())
        };
        assert_eq!(url("/a%20b", Some("q=1&&x")), Ok("http://127.0.0.1:9/a%20b?q=1&&x".into()));
        assert_eq!(url("//evil", None), Ok("http://127.0.0.1:9//evil".into()));
        for bad in ["/a/../b", "/a/%2e%2e/b", "/a\\b", "/a b", "/a#b", "/a?b"] {
            assert!(url(bad, None).is_err(), "{bad}");
        }
    }
}
