//! The accept loop and the connections: caps, deadlines, draining. It promises that no client can hold a connection by
//! doing nothing, and that a stop ends in bounded time; it refuses to know what a request is.
//!
//! One listener, accepted on the control thread, handed to the worker with the fewest connections. (One socket per core
//! with `SO_REUSEPORT` spreads by hash, so that a few busy connections can share one core while the other idles, and it
//! lets a second process share the port silently.)

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep, sleep};
use tower::Service;

use super::wire::Strict;
use crate::stats::{Refusal, WorkerStats};

/// Caps and deadlines of client connections.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// For a complete request head, and for an idle connection to send its next one.
    pub header_timeout: Duration,
    /// Bytes of a request head.
    pub header_bytes: usize,
    /// Fields of a request head.
    pub headers: usize,
    /// For a client that does not read what it is sent.
    pub write_timeout: Duration,
    /// For what is under way when the process is told to stop.
    pub drain: Duration,
}

/// A connection on its way to a worker.
#[derive(Debug)]
pub struct Accepted {
    stream: std::net::TcpStream,
    peer: SocketAddr,
    permit: OwnedSemaphorePermit,
}

/// The accepting end of one worker.
#[derive(Debug)]
pub struct Inlet {
    sender: mpsc::UnboundedSender<Accepted>,
    open: Arc<AtomicUsize>,
}

/// The serving end of one worker.
#[derive(Debug)]
pub struct Outlet {
    receiver: mpsc::UnboundedReceiver<Accepted>,
    open: Arc<AtomicUsize>,
}

/// A way for connections from the accept loop to a worker. Unbounded in type, bounded in fact by the connection cap.
pub fn passage() -> (Inlet, Outlet) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let open = Arc::new(AtomicUsize::new(0));
    (Inlet { sender, open: Arc::clone(&open) }, Outlet { receiver, open })
}

/// Accepts until told to stop.
pub async fn accept(listener: TcpListener, inlets: Vec<Inlet>, cap: usize, mut stop: watch::Receiver<bool>) {
    let permits = Arc::new(Semaphore::new(cap));
    let accepting = async {
        loop {
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, peer)) => hand_over(stream, peer, permit, &inlets),
                // EMFILE and its like: everything that can help is somebody else closing, so wait instead of spinning.
                Err(error) => {
                    tracing::warn!(%error, "a connection cannot be accepted");
                    sleep(Duration::from_millis(50)).await;
                }
            }
        }
    };
    tokio::select! {
        () = accepting => {}
        () = told_to_stop(&mut stop) => {}
    }
}

fn hand_over(stream: TcpStream, peer: SocketAddr, permit: OwnedSemaphorePermit, inlets: &[Inlet]) {
    let Some(inlet) = inlets.iter().min_by_key(|inlet| inlet.open.load(Ordering::Relaxed)) else { return };
    // Left on this runtime, the stream would wake the wrong thread: the worker registers it with its own.
    let stream = match stream.set_nodelay(true).and_then(|()| stream.into_std()) {
        Ok(stream) => stream,
        Err(error) => return tracing::debug!(%error, "a connection was gone before it was served"),
    };
    inlet.open.fetch_add(1, Ordering::Relaxed);
    if inlet.sender.send(Accepted { stream, peer, permit }).is_err() {
        inlet.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Serves what arrives until told to stop; then lets what is under way end, until the drain deadline.
pub async fn serve(
    mut outlet: Outlet,
    app: Router,
    limits: ConnectionLimits,
    stats: WorkerStats,
    mut stop: watch::Receiver<bool>,
) {
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_headers(limits.headers)
        .max_header_size(limits.header_bytes)
        // A client may say that it sends no more and wait for its answer (RFC 9112 section 9.6). One that has gone away looks
        // the same until something is written to it, so the upstream is asked in vain now and then.
        .half_close(true);
    let mut connections = JoinSet::new();
    let told = stop.clone();
    loop {
        tokio::select! {
            accepted = outlet.receiver.recv() => {
                let Some(accepted) = accepted else { break };
                let open = OpenConnection(Arc::clone(&outlet.open));
                let (http, app, stats, stop) = (http.clone(), app.clone(), stats.clone(), told.clone());
                let write_timeout = limits.write_timeout;
                connections.spawn(async move {
                    connection(accepted, &http, app, write_timeout, &stats, stop).await;
                    drop(open);
                });
            }
            Some(ended) = connections.join_next() => report(ended),
            () = told_to_stop(&mut stop) => break,
        }
    }
    let drained = async {
        while let Some(ended) = connections.join_next().await {
            report(ended);
        }
    };
    if tokio::time::timeout(limits.drain, drained).await.is_err() {
        tracing::warn!(open = connections.len(), "the drain deadline has passed: connections are cut");
        connections.shutdown().await;
    }
}

/// Returns when the process is told to stop; a sender that is gone is a stop, too.
async fn told_to_stop(stop: &mut watch::Receiver<bool>) {
    drop(stop.wait_for(|stopping| *stopping).await);
}

/// Counts a connection as long as it lives.
struct OpenConnection(Arc<AtomicUsize>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!("a connection's task failed");
    }
}

async fn connection(
    accepted: Accepted,
    http: &hyper::server::conn::http1::Builder,
    app: Router,
    write_timeout: Duration,
    stats: &WorkerStats,
    mut stop: watch::Receiver<bool>,
) {
    let Accepted { stream, peer, permit } = accepted;
    let stream = match TcpStream::from_std(stream) {
        Ok(stream) => stream,
        Err(error) => return tracing::warn!(%error, "a connection cannot be served"),
    };
    let service = hyper::service::service_fn(move |request: http::Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        app.clone().call(request)
    });
    let stream = Strict::new(WriteDeadline::new(stream, write_timeout));
    let served = http.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(served);
    let result = tokio::select! {
        result = served.as_mut() => result,
        () = told_to_stop(&mut stop) => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    drop(permit);
    if let Err(error) = result {
        let why = if error.is_timeout() {
            Refusal::HeadTimeout
        } else if error.is_parse_too_large() {
            Refusal::HeadTooLarge
        } else if error.is_parse() {
            Refusal::Malformed
        } else {
            Refusal::Other
        };
        stats.refused(why);
        tracing::debug!(%error, "a connection ended early");
    }
}

/// A socket that fails when the other side takes nothing for too long.
struct WriteDeadline {
    stream: TcpStream,
    allowed: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl WriteDeadline {
    fn new(stream: TcpStream, allowed: Duration) -> Self {
        Self { stream, allowed, stalled: None }
    }

    /// Passes a write's result on; when it would wait, the clock runs.
    fn watch<T>(&mut self, cx: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.stalled = None;
            return result;
        }
        let allowed = self.allowed;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + allowed)));
        match stalled.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for WriteDeadline {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for WriteDeadline {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.watch(cx, result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.watch(cx, result)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
