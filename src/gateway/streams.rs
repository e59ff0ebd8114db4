//! The streams of one HTTP/2 connection: how many are under way, which of them stand still, and how many a client has given
//! up. It promises that a client that opens no window, or resets what it asks for over and over, costs a bounded amount; it
//! refuses to know what a request is.
//!
//! Frames, windows and header blocks are the business of `h2`. What it leaves to its user is time and number: HTTP/1.1 has its
//! deadlines in the socket, but a stream can stand still on a socket that moves.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use hyper::rt::Executor;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};

/// Largest piece of a body that is handed to the connection at once: so much can wait there for a window unwatched.
const PIECE: usize = 64 << 10;

tokio::task_local! {
    /// Of the stream that the current task serves.
    static PROGRESS: Arc<Progress>;
}

/// The streams of one connection; runs each of them. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct Streams(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    write_timeout: Duration,
    active: AtomicUsize,
    idle_since: Mutex<Instant>,
    began: AtomicU64,
    abandoned: AtomicU64,
    /// Told at each stream that is given up.
    given_up: Notify,
}

impl Streams {
    /// None yet. A stream whose client takes nothing for `write_timeout` is reset.
    pub fn new(write_timeout: Duration) -> Self {
        Self(Arc::new(Inner {
            write_timeout,
            active: AtomicUsize::new(0),
            idle_since: Mutex::new(Instant::now()),
            began: AtomicU64::new(0),
            abandoned: AtomicU64::new(0),
            given_up: Notify::new(),
        }))
    }

    /// Since when nothing is under way; `None`: something is.
    pub fn idle_since(&self) -> Option<Instant> {
        let since = self.0.idle_since.lock().unwrap_or_else(PoisonError::into_inner);
        (self.0.active.load(Ordering::Relaxed) == 0).then_some(*since)
    }

    /// Returns when nothing has been under way for that long; it is looked at no more often.
    pub async fn idle(&self, allowed: Duration) {
        loop {
            match self.idle_since() {
                Some(since) if since.elapsed() >= allowed => return,
                Some(since) => sleep_until(since + allowed).await,
                None => sleep(allowed).await,
            }
        }
    }

    /// Returns when the client has given up `most` streams, and more than half of all.
    pub async fn given_up(&self, most: u64) {
        loop {
            let told = self.0.given_up.notified();
            let [abandoned, began] = [&self.0.abandoned, &self.0.began].map(|n| n.load(Ordering::Relaxed));
            if abandoned >= most && abandoned * 2 > began {
                return;
            }
            told.await;
        }
    }
}

impl<F> Executor<F> for Streams
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        let progress = Arc::<Progress>::default();
        let seat = Seat::take(Arc::clone(&self.0), Arc::clone(&progress));
        tokio::spawn(PROGRESS.scope(Arc::clone(&progress), async move {
            let allowed = seat.streams.write_timeout;
            tokio::select! {
                biased;
                () = stream => {}
                // Dropped, a stream is reset: what was sent can never be taken for a complete answer.
                () = progress.stands_still(allowed) => {}
            }
            drop(seat);
        }));
    }
}

/// Counts a stream while it is under way.
struct Seat {
    streams: Arc<Inner>,
    progress: Arc<Progress>,
}

impl Seat {
    fn take(streams: Arc<Inner>, progress: Arc<Progress>) -> Self {
        streams.active.fetch_add(1, Ordering::Relaxed);
        streams.began.fetch_add(1, Ordering::Relaxed);
        Self { streams, progress }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let streams = &self.streams;
        if !self.progress.answered.load(Ordering::Relaxed) {
            streams.abandoned.fetch_add(1, Ordering::Relaxed);
            streams.given_up.notify_one();
        }
        *streams.idle_since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        streams.active.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How far the answer on one stream has come.
#[derive(Debug, Default)]
struct Progress {
    /// When the connection was given a piece that it has not passed on yet.
    given: Mutex<Option<Instant>>,
    /// Whether we have said all that we have to say.
    answered: AtomicBool,
}

impl Progress {
    fn give(&self, at: Option<Instant>) {
        *self.given.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }

    fn given(&self) -> Option<Instant> {
        *self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn stands_still(&self, allowed: Duration) {
        loop {
            match self.given() {
                Some(given) if given.elapsed() >= allowed => return,
                Some(given) => sleep_until(given + allowed).await,
                None => sleep(allowed).await,
            }
        }
    }
}

/// A response body on its way to one stream: in pieces, its progress watched.
#[derive(Debug)]
pub struct StreamBody {
    inner: Body,
    rest: Bytes,
    progress: Option<Arc<Progress>>,
}

impl StreamBody {
    /// For the stream that the current task serves.
    pub fn new(inner: Body) -> Self {
        use http_body::Body as _;
        let body = Self { inner, rest: Bytes::new(), progress: PROGRESS.try_with(Arc::clone).ok() };
        if body.inner.is_end_stream() {
            body.answered();
        }
        body
    }

    fn answered(&self) {
        if let Some(progress) = &self.progress {
            progress.answered.store(true, Ordering::Relaxed);
        }
    }

    fn give(&self, at: Option<Instant>) {
        if let Some(progress) = &self.progress {
            progress.give(at);
        }
    }
}

impl http_body::Body for StreamBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        // Asked for more: the piece before has found its window.
        self.give(None);
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.inner).poll_frame(cx)).map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => self.rest = data,
                // Trailers do not pass: nobody has judged them.
                Some(Ok(Err(_))) | None => {
                    self.answered();
                    return Poll::Ready(None);
                }
                Some(Err(error)) => {
                    self.answered();
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
        let length = self.rest.len().min(PIECE);
        let piece = self.rest.split_to(length);
        self.give(Some(Instant::now()));
        if self.is_end_stream() {
            self.answered();
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (inner, rest) = (self.inner.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + rest);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}
