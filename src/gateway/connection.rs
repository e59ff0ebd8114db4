//! One connection of a client, from its first byte to its last: the handshake of TLS, HTTP/1.1 or HTTP/2 as agreed there, and
//! the tunnel that may come after. It promises that each stretch has its deadline; it refuses to know what a request is.
//!
//! Clear text speaks HTTP/1.1 only: the preface of HTTP/2 is not HTTP there, and is refused like anything else that is not.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Body;
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::arrival::Arrival;
use super::serve::{ConnectionLimits, told_to_stop, unless_told_to_stop};
use super::socket::Socket;
use super::streams::{StreamBody, Streams};
use super::wire::Strict;
use super::{Worker, answer};
use crate::stats::{Refusal, WorkerStats};

/// What one stream of HTTP/2 may hold unread, and all of a connection together: the most memory that a client can fill by
/// sending more than is read. 128 KiB carry 10 Mbit/s over a distance of 100 ms; eight uploads may stand still before they hold
/// up the others of their client.
const STREAM_WINDOW: u32 = 128 << 10;
const CONNECTION_WINDOW: u32 = 1 << 20;
/// So much of an answer waits in a stream for its window.
const SEND_BUFFER: usize = 128 << 10;
/// Streams that a client may give up before its connection ends; real clients cancel a search now and then.
const GIVEN_UP: u64 = 100;
/// Streams that a client resets before anybody has seen them: nobody does so except to attack (CVE-2023-44487).
const UNSEEN_RESETS: usize = 20;
/// Errors of a client that cost it a stream each, before they cost it the connection.
const STREAM_ERRORS: usize = 100;
/// Fields of a head that the parser of HTTP/1.1 takes if it is told nothing.
const FIELDS: usize = 100;
/// A client that does not answer a ping is gone.
const PING: Duration = Duration::from_secs(20);
/// How long an HTTP/2 client may take to close after it was told that we do.
const FAREWELL: Duration = Duration::from_secs(1);

/// How connections are spoken to. The same for all of a worker.
#[derive(Clone)]
pub struct Manners {
    limits: ConnectionLimits,
    http1: http1::Builder,
    tls: Option<TlsAcceptor>,
}

impl Manners {
    /// With these limits, and over TLS if there is a certificate.
    pub fn new(limits: ConnectionLimits, tls: Option<TlsAcceptor>) -> Self {
        let mut http1 = http1::Builder::new();
        http1
            .timer(TokioTimer::new())
            .header_read_timeout(limits.header_timeout)
            .max_header_size(limits.header_bytes)
            // A client may say that it sends no more and wait for its answer (RFC 9112 section 9.6). One that has gone away
            // looks the same until something is written to it, so the upstream is asked in vain now and then.
            .half_close(true);
        // PERF: told its own number, the parser makes room for each request anew and fills it first.
        if limits.headers != FIELDS {
            http1.max_headers(limits.headers);
        }
        Self { limits, http1, tls }
    }

    /// Serves one connection to its end, which a stop brings near.
    pub async fn serve(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        worker: Arc<Worker>,
        mut stop: watch::Receiver<bool>,
    ) {
        let socket = Socket::new(stream, self.limits.write_timeout);
        let Some(tls) = &self.tls else { return self.http1(socket, Arrival::new(peer, false), worker, stop).await };
        let written = socket.written();
        let handshake = timeout(self.limits.handshake_timeout, tls.accept(socket));
        let secured = tokio::select! {
            secured = handshake => secured,
            // Nothing is under way yet.
            () = told_to_stop(&mut stop) => return,
        };
        let stream = match secured {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => {
                tracing::debug!(%error, "a handshake failed");
                return worker.stats.refused(Refusal::TlsHandshake);
            }
            Err(_) => return worker.stats.refused(Refusal::TlsTimeout),
        };
        let arrival = Arrival::new(peer, true);
        if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            self.http2(stream, &written, arrival, worker, stop).await;
        } else {
            self.http1(stream, arrival, worker, stop).await;
        }
    }

    async fn http1<S>(&self, stream: S, arrival: Arrival, worker: Arc<Worker>, mut stop: watch::Receiver<bool>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let handover = arrival.handover.clone();
        let stats = worker.stats.clone();
        let service = service_fn(move |request: Request<Incoming>| answer(&worker, &arrival, request.map(Body::new)));
        let served = self.http1.serve_connection(TokioIo::new(Strict::new(stream)), service).with_upgrades();
        tokio::pin!(served);
        let result = if let Some(result) = unless_told_to_stop(served.as_mut(), &mut stop).await {
            result
        } else {
            served.as_mut().graceful_shutdown();
            served.await
        };
        if let Err(error) = result {
            note(&error, &stats);
        }
        if let Some(tunnel) = handover.take() {
            tunnel.run(stop).await;
        }
    }

    async fn http2<S>(
        &self,
        stream: S,
        written: &AtomicU64,
        arrival: Arrival,
        worker: Arc<Worker>,
        mut stop: watch::Receiver<bool>,
    ) where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let streams = Streams::new(self.limits.write_timeout);
        let (fields, stats) = (self.limits.headers, worker.stats.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            let (arrival, worker) = (arrival.clone(), Arc::clone(&worker));
            async move {
                // The parser of HTTP/1.1 counts fields; that of HTTP/2 only their bytes.
                if request.headers().len() > fields {
                    worker.stats.refused(Refusal::HeadTooLarge);
                    return Ok::<_, Infallible>(too_many_fields());
                }
                let answered = answer(&worker, &arrival, request.map(Body::new)).await;
                answered.map(|response| response.map(StreamBody::new))
            }
        });
        let served = self.http2_builder(streams.clone()).serve_connection(TokioIo::new(stream), service);
        tokio::pin!(served);
        let result = tokio::select! {
            result = served.as_mut() => Some(result),
            () = self.until_it_should_end(&streams, &mut stop) => None,
        };
        let result = if let Some(result) = result {
            result
        } else {
            served.as_mut().graceful_shutdown();
            tokio::select! {
                result = served.as_mut() => result,
                () = self.until_it_must_end(&streams, written) => Ok(()),
            }
        };
        if let Err(error) = result {
            note(&error, &stats);
        }
    }

    fn http2_builder(&self, streams: Streams) -> http2::Builder<Streams> {
        let mut builder = http2::Builder::new(streams);
        builder
            .timer(TokioTimer::new())
            .max_concurrent_streams(self.limits.streams)
            .max_header_list_size(self.limits.header_bytes as u32)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_send_buf_size(SEND_BUFFER)
            .max_pending_accept_reset_streams(UNSEEN_RESETS)
            .max_local_error_reset_streams(STREAM_ERRORS)
            .keep_alive_interval(PING)
            .keep_alive_timeout(PING);
        builder
    }

    /// A stop, an idle client, or one that gives up what it asks for: the connection takes nothing new.
    async fn until_it_should_end(&self, streams: &Streams, stop: &mut watch::Receiver<bool>) {
        tokio::select! {
            () = told_to_stop(stop) => {}
            // The same deadline as between two requests of HTTP/1.1.
            () = streams.idle(self.limits.header_timeout) => {}
            () = streams.given_up(GIVEN_UP) => {}
        }
    }

    /// A client that was told and says nothing, or does not stop: the connection is cut. An answer that still flows is not.
    async fn until_it_must_end(&self, streams: &Streams, written: &AtomicU64) {
        let silence = async {
            let mut quiet = (written.load(Ordering::Relaxed), Instant::now());
            loop {
                sleep(FAREWELL / 4).await;
                let so_far = written.load(Ordering::Relaxed);
                let Some(idle) = streams.idle_since().map(|since| since.elapsed()) else {
                    quiet = (so_far, Instant::now());
                    continue;
                };
                if so_far != quiet.0 {
                    quiet = (so_far, Instant::now());
                }
                // Pings are answered, too: that alone does not keep a connection.
                if quiet.1.elapsed() >= FAREWELL && idle >= FAREWELL || idle >= self.limits.write_timeout {
                    return;
                }
            }
        };
        tokio::select! {
            () = silence => {}
            () = streams.given_up(2 * GIVEN_UP) => {}
        }
    }
}

fn too_many_fields() -> Response<StreamBody> {
    let mut response = Response::new(StreamBody::new(Body::empty()));
    *response.status_mut() = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    response
}

/// Counts a connection that did not end well.
fn note(error: &hyper::Error, stats: &WorkerStats) {
    let h2 = std::error::Error::source(error).and_then(|source| source.downcast_ref::<h2::Error>());
    let io = std::error::Error::source(error).and_then(|source| source.downcast_ref::<std::io::Error>());
    let why = if error.is_timeout() {
        Refusal::HeadTimeout
    } else if error.is_parse_too_large() {
        Refusal::HeadTooLarge
    } else if error.is_parse() || h2.is_some_and(|error| !error.is_io() && !error.is_remote()) {
        Refusal::Malformed
    } else if io.is_some_and(|error| error.kind() == std::io::ErrorKind::UnexpectedEof) {
        // Closed without the farewell of TLS, between two requests: rude, but nothing is lost. Within one, the exchange tells.
        return tracing::debug!("a connection was closed without notice");
    } else {
        Refusal::Other
    };
    stats.refused(why);
    tracing::debug!(%error, "a connection ended early");
}
