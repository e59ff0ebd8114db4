//! The accept loop and the workers' ends of it: caps, draining. It promises that connections beyond the cap wait, and that a
//! stop ends in bounded time; it refuses to know what is spoken on a connection.
//!
//! One listener, accepted on the control thread, handed to the worker with the fewest connections. (One socket per core
//! with `SO_REUSEPORT` spreads by hash, so that a few busy connections can share one core while the other idles, and it
//! lets a second process share the port silently.)

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;

use super::Worker;
use super::connection::Manners;

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
    /// For a handshake of TLS.
    pub handshake_timeout: Duration,
    /// Requests at a time on one connection of HTTP/2.
    pub streams: u32,
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
    worker: Arc<Worker>,
    limits: ConnectionLimits,
    tls: Option<TlsAcceptor>,
    mut stop: watch::Receiver<bool>,
) {
    let drain = limits.drain;
    let manners = Arc::new(Manners::new(limits, tls));
    let mut connections = JoinSet::new();
    let told = stop.clone();
    loop {
        tokio::select! {
            accepted = outlet.receiver.recv() => {
                let Some(accepted) = accepted else { break };
                let open = OpenConnection(Arc::clone(&outlet.open));
                let (manners, worker, stop) = (Arc::clone(&manners), Arc::clone(&worker), told.clone());
                connections.spawn(async move {
                    let Accepted { stream, peer, permit } = accepted;
                    match TcpStream::from_std(stream) {
                        Ok(stream) => manners.serve(stream, peer, worker, stop).await,
                        Err(error) => tracing::warn!(%error, "a connection cannot be served"),
                    }
                    drop((permit, open));
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
    if tokio::time::timeout(drain, drained).await.is_err() {
        tracing::warn!(open = connections.len(), "the drain deadline has passed: connections are cut");
        connections.shutdown().await;
    }
}

/// Returns when the process is told to stop; a sender that is gone is a stop, too.
pub async fn told_to_stop(stop: &mut watch::Receiver<bool>) {
    drop(stop.wait_for(|stopping| *stopping).await);
}

/// What `work` comes to; `None`: before it came to anything, the process was told to stop.
///
/// PERF: the stop is waited for under a lock that all workers share. Once it is listened to, whoever is woken by something else
/// only looks whether it was said. INVARIANT: a task is woken by one waker as long as it lives.
pub async fn unless_told_to_stop<F: Future>(
    mut work: Pin<&mut F>,
    stop: &mut watch::Receiver<bool>,
) -> Option<F::Output> {
    let said = stop.clone();
    let mut told = pin!(told_to_stop(stop));
    let mut is_listening = false;
    poll_fn(|cx| {
        if let Poll::Ready(output) = work.as_mut().poll(cx) {
            return Poll::Ready(Some(output));
        }
        if is_listening && said.has_changed().is_ok_and(|is_said| !is_said) {
            return Poll::Pending;
        }
        is_listening = true;
        told.as_mut().poll(cx).map(|()| None)
    })
    .await
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
