//! An upstream at run time: its targets in turn, its pooled clients, and how one request is sent to it. It refuses to know
//! policy: what it is given has been cleared.

mod client;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, Version, header};
use tokio::time::Instant;

use client::Opened;
pub use client::Tls;

use super::error::Refusal;
use super::upload::{Upload, UploadBody};
use crate::rules;
use crate::stats::{SeriesId, Stats};

/// One upstream with its clients. Kept across reloads while what was written about it stays the same.
#[derive(Debug)]
pub struct Pool {
    /// What was written.
    pub spec: rules::Upstream,
    /// Its name in the figures.
    pub series: SeriesId,
    /// Every target as often as its weight says, spread evenly.
    turns: Vec<Turn>,
    lanes: Vec<Lane>,
}

/// A target's turn.
#[derive(Debug, Clone)]
struct Turn {
    name: Arc<str>,
    // PERF: parsed once; only path and query are set for a request.
    base: reqwest::Url,
}

/// What one worker uses of an upstream. INVARIANT: a client's connections live on the runtime of the worker that uses it.
#[derive(Debug)]
struct Lane {
    pooled: reqwest::Client,
    /// Keeps nothing: a request that met a dead connection goes out again on a connection that is surely new.
    fresh: reqwest::Client,
    next: AtomicUsize,
}

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
}

/// A request body on its way out.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "moved twice; a box would be an allocation per request")]
pub enum Outgoing {
    /// There is none.
    Empty,
    /// It is wholly here, so that it can be sent twice.
    Whole(Bytes),
    /// It comes as the client sends it.
    Streamed(UploadBody, Arc<Upload>),
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
    /// Which target gave it.
    pub target: Arc<str>,
    /// Times the request was sent again.
    pub retries: u32,
}

impl Pool {
    /// Builds the clients, `workers` of them.
    pub fn build(
        spec: rules::Upstream,
        series: SeriesId,
        workers: usize,
        stats: &Stats,
        tls: &Tls,
    ) -> Result<Self, reqwest::Error> {
        let lanes = (0..workers)
            .map(|worker| {
                let opened = Opened::new(stats.worker(worker), series);
                Ok(Lane {
                    pooled: client::build(&spec, spec.max_idle, tls, &opened)?,
                    fresh: client::build(&spec, 0, tls, &opened)?,
                    next: AtomicUsize::new(0),
                })
            })
            .collect::<Result<_, reqwest::Error>>()?;
        Ok(Self { turns: turns(&spec.targets), spec, series, lanes })
    }

    /// Sends a request to the next target and waits for the head of the answer.
    pub async fn send(&self, worker: usize, cleared: Cleared) -> Result<Answer, Refusal> {
        let (Some(lane), false) = (self.lanes.get(worker), self.turns.is_empty()) else {
            return Err(Refusal::Internal);
        };
        let turn = lane.next.fetch_add(1, Ordering::Relaxed) % self.turns.len();
        let target = self.turns.get(turn).ok_or(Refusal::Internal)?;
        let url = outgoing_url(&target.base, &cleared.path, cleared.query.as_deref())?;
        let again = match &cleared.body {
            Outgoing::Whole(_) | Outgoing::Empty if self.spec.retry_attempts > 0 && is_idempotent(&cleared.method) => {
                Some(cleared.request(url.clone()))
            }
            Outgoing::Empty | Outgoing::Whole(_) | Outgoing::Streamed(..) => None,
        };
        let upload = match &cleared.body {
            Outgoing::Streamed(_, upload) => Some(Arc::clone(upload)),
            Outgoing::Empty | Outgoing::Whole(_) => None,
        };
        let first = self.attempt(&lane.pooled, cleared.into_request(url), upload.as_deref()).await;
        let (result, retries) = match (first, again) {
            (Err(Refusal::UpstreamBroken), Some(request)) => (self.attempt(&lane.fresh, request, None).await, 1),
            (result, _) => (result, 0),
        };
        let response: http::Response<reqwest::Body> = result?.into();
        let (head, body) = response.into_parts();
        check_answer(head.status, head.version, &head.headers)?;
        Ok(Answer { status: head.status, headers: head.headers, body, target: Arc::clone(&target.name), retries })
    }

    async fn attempt(
        &self,
        client: &reqwest::Client,
        request: reqwest::Request,
        upload: Option<&Upload>,
    ) -> Result<reqwest::Response, Refusal> {
        let sent = client.execute(request);
        tokio::pin!(sent);
        let allowed = self.spec.response_timeout;
        let mut deadline = Instant::now() + allowed;
        loop {
            match tokio::time::timeout_at(deadline, &mut sent).await {
                Ok(Ok(response)) => return Ok(response),
                Ok(Err(error)) => return Err(upload.and_then(Upload::fault).unwrap_or_else(|| classify(&error))),
                Err(_) => {
                    // The clock starts when the request is sent, and a long upload is still being sent.
                    let moved = upload.map_or(deadline - allowed, Upload::last_progress) + allowed;
                    if moved <= deadline {
                        return Err(Refusal::UpstreamTimeout);
                    }
                    deadline = moved;
                }
            }
        }
    }
}

impl Cleared {
    fn request(&self, url: reqwest::Url) -> reqwest::Request {
        let mut request = reqwest::Request::new(self.method.clone(), url);
        *request.headers_mut() = self.headers.clone();
        if let Outgoing::Whole(bytes) = &self.body {
            *request.body_mut() = Some(bytes.clone().into());
        }
        request
    }

    fn into_request(self, url: reqwest::Url) -> reqwest::Request {
        let mut request = reqwest::Request::new(self.method, url);
        *request.headers_mut() = self.headers;
        *request.body_mut() = match self.body {
            Outgoing::Empty => None,
            Outgoing::Whole(bytes) => Some(bytes.into()),
            Outgoing::Streamed(body, _) => Some(reqwest::Body::wrap(body)),
        };
        request
    }
}

/// SECURITY: the URL type has rewritten paths after the router judged them (`/public/../admin` left as `/admin`). What
/// leaves here is what was judged, or nothing does.
fn outgoing_url(base: &reqwest::Url, path: &str, query: Option<&str>) -> Result<reqwest::Url, Refusal> {
    let mut url = base.clone();
    url.set_path(path);
    url.set_query(query);
    if url.path() == path && url.query() == query && url.fragment().is_none() {
        Ok(url)
    } else {
        Err(Refusal::Target("the request target cannot be forwarded as it is"))
    }
}

/// RFC 9110 section 9.2.2.
fn is_idempotent(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::PUT | Method::DELETE | Method::OPTIONS)
}

fn classify(error: &reqwest::Error) -> Refusal {
    if error.is_timeout() {
        Refusal::UpstreamTimeout
    } else if error.is_connect() {
        Refusal::UpstreamConnect
    } else {
        Refusal::UpstreamBroken
    }
}

/// Refuses answers whose end we would have to guess, and a switch of protocols that nobody asked for.
fn check_answer(status: StatusCode, version: Version, headers: &HeaderMap) -> Result<(), Refusal> {
    let codings: Vec<_> = headers.get_all(header::TRANSFER_ENCODING).iter().collect();
    let framed = match codings.as_slice() {
        [] => true,
        [one] => one.as_bytes().eq_ignore_ascii_case(b"chunked") && version != Version::HTTP_10,
        _ => false,
    };
    if framed && status != StatusCode::SWITCHING_PROTOCOLS { Ok(()) } else { Err(Refusal::UpstreamBroken) }
}

/// Spreads targets by weight: `{a: 2, b: 1}` becomes `a b a`. A target that is no URL takes no turn; `rules` has refused it.
fn turns(targets: &[rules::Target]) -> Vec<Turn> {
    let rounds = targets.iter().map(|t| t.weight).max().unwrap_or(0);
    (0..rounds)
        .flat_map(|round| targets.iter().filter(move |t| t.weight > round))
        .filter_map(|t| Some(Turn { name: Arc::from(&*t.url), base: reqwest::Url::parse(&t.url).ok()? }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_leave_as_they_were_judged() {
        let base = reqwest::Url::parse("http://127.0.0.1:9/").unwrap();
        let url = |path: &str, query| outgoing_url(&base, path, query).map(|u| u.to_string());
        assert_eq!(url("/a%20b", Some("q=1&&x")), Ok("http://127.0.0.1:9/a%20b?q=1&&x".into()));
        assert_eq!(url("//evil", None), Ok("http://127.0.0.1:9//evil".into()));
        for bad in ["/a/../b", "/a/%2e%2e/b", "/a\\b", "/a b", "/a#b", "/a?b"] {
            assert!(url(bad, None).is_err(), "{bad}");
        }
    }

    #[test]
    fn turns_follow_weights() {
        let target = |url: &str, weight| rules::Target { url: url.into(), weight };
        let got = turns(&[target("http://a", 2), target("http://b", 1)]);
        assert_eq!(got.iter().map(|t| &*t.name).collect::<Vec<_>>(), ["http://a", "http://b", "http://a"]);
    }
}
