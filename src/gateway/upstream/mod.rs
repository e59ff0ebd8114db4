//! An upstream at run time: its targets in turn, its pooled clients, and how one request is sent to it. It refuses to know
//! policy: what it is given has been cleared.

mod client;

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, Version, header};
use hyper::upgrade::OnUpgrade;
use tokio::time::Instant;

pub use client::{Distrust, Tls};
use client::{Opened, Use};

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
    /// Opens tunnels, each on a connection of its own, over HTTP/1.1.
    tunnels: reqwest::Client,
    next: AtomicUsize,
    /// Requests under way, and connections opened: together they tell whether a request can have met an old connection.
    under_way: AtomicUsize,
    opened: Opened,
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
    /// Whether it asks, properly, that its connection becomes a tunnel.
    pub asks_for_tunnel: bool,
}

/// A request body on its way out.
#[derive(Debug)]
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
    /// The connection, if it stops speaking HTTP.
    pub upgrade: Option<OnUpgrade>,
}

/// What was tried, known even when it failed.
#[derive(Debug, Default)]
pub struct Attempts {
    /// The target.
    pub target: Option<Arc<str>>,
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
    ) -> Result<Self, String> {
        let tls = tls.of(&spec).map_err(|error| error.to_string())?;
        let lanes = (0..workers)
            .map(|worker| {
                let opened = Opened::new(stats.worker(worker), series);
                Ok(Lane {
                    pooled: client::build(&spec, Use::Pooled, &tls, &opened)?,
                    fresh: client::build(&spec, Use::Once, &tls, &opened)?,
                    tunnels: client::build(&spec, Use::Tunnel, &tls, &opened)?,
                    next: AtomicUsize::new(0),
                    under_way: AtomicUsize::new(0),
                    opened,
                })
            })
            .collect::<Result<_, reqwest::Error>>()
            .map_err(|error| error.to_string())?;
        Ok(Self { turns: turns(&spec.targets), spec, series, lanes })
    }

    /// Sends a request to the next target and waits for the head of the answer.
    pub async fn send(&self, worker: usize, cleared: Cleared, attempts: &mut Attempts) -> Result<Answer, Refusal> {
        let (Some(lane), false) = (self.lanes.get(worker), self.turns.is_empty()) else {
            return Err(Refusal::Internal);
        };
        let turn = lane.next.fetch_add(1, Ordering::Relaxed) % self.turns.len();
        let target = self.turns.get(turn).ok_or(Refusal::Internal)?;
        attempts.target = Some(Arc::clone(&target.name));
        let url = outgoing_url(&target.base, &cleared.path, cleared.query.as_deref())?;
        let asked = cleared.asks_for_tunnel;
        let again = match &cleared.body {
            Outgoing::Whole(_) | Outgoing::Empty
                if self.spec.retry_attempts > 0 && !asked && is_idempotent(&cleared.method) =>
            {
                Some(cleared.request(url.clone()))
            }
            Outgoing::Empty | Outgoing::Whole(_) | Outgoing::Streamed(_) => None,
        };
        let upload = match &cleared.body {
            Outgoing::Streamed(upload) => Some(Arc::clone(upload)),
            Outgoing::Empty | Outgoing::Whole(_) => None,
        };
        let opened_before = lane.opened.count();
        let under_way = UnderWay::count(&lane.under_way);
        let alone = under_way.is_alone();
        let client = if asked { &lane.tunnels } else { &lane.pooled };
        let first = self.attempt(client, cleared.into_request(url), upload.as_deref()).await;
        let surely_fresh = alone && under_way.is_alone() && lane.opened.count() != opened_before;
        let result = match (first, again) {
            (Err(Failed::Died), Some(request)) if !surely_fresh => {
                attempts.retries = 1;
                self.attempt(&lane.fresh, request, None).await
            }
            (first, _) => first,
        };
        let response: http::Response<reqwest::Body> = result.map_err(Failed::into_refusal)?.into();
        let (mut head, body) = response.into_parts();
        check_answer(head.status, head.version, &head.headers, asked)?;
        let upgrade = head.extensions.remove::<OnUpgrade>();
        Ok(Answer { status: head.status, headers: head.headers, body, upgrade })
    }

    async fn attempt(
        &self,
        client: &reqwest::Client,
        request: reqwest::Request,
        upload: Option<&Upload>,
    ) -> Result<reqwest::Response, Failed> {
        let sent = client.execute(request);
        tokio::pin!(sent);
        let allowed = self.spec.response_timeout;
        let mut deadline = Instant::now() + allowed;
        loop {
            match tokio::time::timeout_at(deadline, &mut sent).await {
                Ok(Ok(response)) => return Ok(response),
                Ok(Err(error)) => {
                    return Err(upload.and_then(Upload::fault).map_or_else(|| Failed::of(&error), Failed::Refused));
                }
                Err(_) => {
                    // The clock starts when the request is sent, and a long upload is still being sent.
                    let moved = upload.map_or(deadline - allowed, Upload::last_progress) + allowed;
                    if moved <= deadline {
                        return Err(Failed::Refused(Refusal::UpstreamTimeout));
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
            Outgoing::Streamed(upload) => Some(reqwest::Body::wrap(UploadBody(upload))),
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

/// Counts a request as under way, however it ends.
struct UnderWay<'a>(&'a AtomicUsize);

impl<'a> UnderWay<'a> {
    fn count(counter: &'a AtomicUsize) -> Self {
        counter.fetch_add(1, Ordering::Relaxed);
        Self(counter)
    }

    fn is_alone(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 1
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Why one attempt failed.
#[derive(Debug)]
enum Failed {
    /// The connection ended before an answer began: the way an idle close races a reuse.
    Died,
    /// Anything else.
    Refused(Refusal),
}

impl Failed {
    fn of(error: &reqwest::Error) -> Self {
        if error.is_timeout() {
            Self::Refused(Refusal::UpstreamTimeout)
        } else if let Some(why) = client::distrust(error) {
            // TLS 1.3 tells a client that its certificate is not wanted when the handshake seems to be over.
            Self::Refused(Refusal::UpstreamTls(why))
        } else if error.is_connect() {
            Self::Refused(Refusal::UpstreamConnect)
        } else if died(error) {
            Self::Died
        } else {
            Self::Refused(Refusal::UpstreamBroken)
        }
    }

    fn into_refusal(self) -> Refusal {
        match self {
            Self::Died => Refusal::UpstreamBroken,
            Self::Refused(refusal) => refusal,
        }
    }
}

fn died(error: &reqwest::Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if error.downcast_ref::<h2::Error>().is_some_and(client::went_away) {
            return true;
        }
        if let Some(hyper) = error.downcast_ref::<hyper::Error>()
            && (hyper.is_incomplete_message() || hyper.is_canceled() || hyper.is_closed())
        {
            return true;
        }
        if let Some(io) = error.downcast_ref::<std::io::Error>()
            && matches!(io.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted)
        {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Refuses answers whose end we would have to guess, and a switch of protocols that nobody asked for.
fn check_answer(status: StatusCode, version: Version, headers: &HeaderMap, asked: bool) -> Result<(), Refusal> {
    let codings: Vec<_> = headers.get_all(header::TRANSFER_ENCODING).iter().collect();
    let framed = match codings.as_slice() {
        [] => true,
        [one] => one.as_bytes().eq_ignore_ascii_case(b"chunked") && version != Version::HTTP_10,
        _ => false,
    };
    let is_wanted = status != StatusCode::SWITCHING_PROTOCOLS || asked;
    if framed && is_wanted { Ok(()) } else { Err(Refusal::UpstreamBroken) }
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
