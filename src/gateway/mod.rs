//! The request path: the story of one exchange, on one screen. [`handle`] is the whole of it; each step is a call into its
//! own file, and what goes wrong anywhere comes back to one place. It refuses to know the dashboard and the rule files.
//!
//! `serve` accepts, `connection` speaks with a client (over `socket`, with `tls`, in `streams`), `wire` lets only well-formed
//! requests through to the parser, `arrival` is what a connection says of a request and `forwarded` whom it is from; `target`
//! reads where a request wants to go, `exchange` is what is known of it and `remembered` what of that may be kept, `headers`
//! what is copied and what is not, `protect` asks policy, `body` reads with limits, in `memory`, `upload` sends while reading,
//! `upstream` forwards, `reply` answers, `tunnel` is what
//! an answer may turn a connection into, `error` says why not, `live` is the snapshot an exchange is judged by.

pub mod arrival;
pub mod body;
pub mod connection;
pub mod decoded;
pub mod error;
pub mod exchange;
pub mod forwarded;
pub mod headers;
pub mod labels;
pub mod live;
pub mod memory;
mod protect;
pub mod remembered;
pub mod reply;
pub mod serve;
pub mod socket;
pub mod streams;
pub mod target;
pub mod tls;
pub mod tunnel;
pub mod upload;
pub mod upstream;
mod wire;

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::handler::Handler as _;
use axum::response::Response;
use futures_util::FutureExt as _;
use http::Version;

use self::arrival::Arrival;
use self::error::Refusal;
use self::exchange::Exchange;
use self::forwarded::{Origin, Trusted};
use self::headers::Via;
pub use self::live::Live;
use self::memory::Memory;
use self::remembered::LastHost;
use self::reply::Reply;
use self::target::{LastNamed, Target};
use self::tunnel::Ask;
use crate::audit::Lane;
use crate::content::json;
use crate::pii;
use crate::rules::store::Store;
use crate::stats::WorkerStats;

/// What one worker thread needs to serve exchanges.
#[derive(Debug)]
pub struct Worker {
    /// Which one: names its clients in every upstream.
    pub index: usize,
    /// Where the current snapshot is.
    pub rules: Arc<Store<Live>>,
    /// Its way into the audit trail.
    pub lane: Arc<Lane>,
    /// Its shard of the figures.
    pub stats: WorkerStats,
    /// Bounds.
    pub limits: Limits,
    /// In which all workers hold bodies.
    pub memory: Arc<Memory>,
    /// Our name in `Via`.
    pub via: Via,
    /// Whose word is taken about where a request comes from.
    pub trusted: Trusted,
    /// Recognises everything, at any confidence: for what is written into records.
    pub everything: pii::Detector,
    /// Of the records it writes.
    pub last_host: LastHost,
    /// Of the requests it reads.
    pub last_named: LastNamed,
    /// Set when the process has been told to stop.
    pub stopping: Arc<AtomicBool>,
}

/// Bounds of an exchange.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Longest pause between two pieces of a request body.
    pub body_timeout: Duration,
    /// Bytes up to which a body is read before it is sent on, so that it goes out with a length.
    pub buffer: usize,
    /// Longest wait for room in the audit trail.
    pub audit_wait: Duration,
    /// Bounds of the JSON engine.
    pub json: json::Limits,
}

impl Worker {
    /// Whether the process has been told to stop.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

/// A request that has come: who serves it, and how it came.
#[derive(Debug, Clone)]
struct Visit {
    worker: Arc<Worker>,
    arrival: Arrival,
}

/// The application on the main port: every path is a request to be proxied.
///
/// PERF: the handler itself, without a router: to find the one route there is, and to pass through the boxes of its layers, cost
/// as much as to parse the request.
pub fn answer(
    worker: &Arc<Worker>,
    arrival: &Arrival,
    request: Request,
) -> impl Future<Output = Result<Response, Infallible>> + Send + use<> {
    let (arrival, request) = arrival.receive(request);
    let visit = Visit { worker: Arc::clone(worker), arrival };
    // A bug costs its own exchange, which its guard records, and nobody else's.
    let answered = AssertUnwindSafe(handle.call(request, visit)).catch_unwind();
    answered.map(|answered| Ok(answered.unwrap_or_else(|_| reply::failed())))
}

/// One exchange, from the first byte to the last.
async fn handle(State(visit): State<Visit>, request: Request) -> Response {
    let Visit { worker, arrival } = visit;
    let origin = Origin::of(arrival.peer.clone(), request.headers(), &worker.trusted);
    let is_waiting = request.version() < Version::HTTP_2 && request.headers().contains_key(http::header::EXPECT);
    let mut exchange = Exchange::begin(worker, &arrival, origin, request.method().clone(), request.version());
    match pass(&mut exchange, &arrival, request).await {
        Ok(reply) => reply::deliver(exchange, reply, &arrival.handover),
        // A client that asked first sends its body or does not: what comes next on this connection, nobody knows.
        Err(refusal) if is_waiting => reply::closing(reply::refuse(exchange, &refusal)),
        Err(refusal) => reply::refuse(exchange, &refusal),
    }
}

/// The story: nothing is forwarded that was not judged, nothing is answered that was not judged, and both signatures say so.
async fn pass(exchange: &mut Exchange, arrival: &Arrival, request: Request<Body>) -> Result<Reply, Refusal> {
    let (mut head, body) = request.into_parts();
    exchange.reserve_record().await?;
    exchange.asked(head.headers.get(http::header::HOST), head.uri.path());
    headers::check_framing(head.version, &head.headers)?;
    if !target::is_forwarded(&head.method) {
        return Err(Refusal::Method);
    }
    let read = || Target::read(&head.uri, &head.headers, &exchange.worker.last_named);
    let target = arrival.fault.map_or_else(read, Err).map_err(Refusal::Target)?;
    headers::count_hop(&head.method, &mut head.headers)?;
    exchange.route(&target)?;
    if exchange.worker.via.is_loop(&head.headers) {
        return Err(Refusal::Loop);
    }
    let ask = exchange.may_tunnel().then(|| Ask::take(&mut head)).flatten();
    let cleared = protect::request(exchange, head, target, body, ask.is_some()).await?;
    let pool = exchange.pool().ok_or(Refusal::Internal)?;
    exchange.sent();
    let mut attempts = upstream::Attempts::default();
    let sent = pool.send(exchange.worker.index, cleared, &mut attempts).await;
    exchange.attempted(attempts);
    let answer = sent?;
    exchange.answered(answer.status.as_u16());
    protect::response(exchange, answer, ask).await
}
