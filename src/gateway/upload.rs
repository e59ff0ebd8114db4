//! A request body that is sent on while it is still arriving: what the sender and the exchange must tell each other.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::Instant;

use super::body::{Flow, Report};
use super::error::Refusal;

/// Shared by the body on its way out and the exchange that waits for the answer, which may come before the body has ended.
#[derive(Debug)]
pub struct Upload(Mutex<State>);

#[derive(Debug)]
struct State {
    flow: Flow<Body>,
    last_progress: Instant,
    /// Whether anything of it was handed out.
    is_touched: bool,
    /// Whether it is the client's turn: what we have is sent on.
    is_waiting: bool,
    fault: Option<Refusal>,
}

impl Upload {
    /// An upload that begins now.
    pub fn new(flow: Flow<Body>) -> Self {
        let last_progress = Instant::now();
        Self(Mutex::new(State { flow, last_progress, is_touched: false, is_waiting: false, fault: None }))
    }

    /// When the upstream could last complain of nothing: now, while it waits for a client that has its own deadline, or when
    /// it was last given something.
    pub fn last_progress(&self) -> Instant {
        self.with(|state| if state.is_waiting { Instant::now() } else { state.last_progress })
    }

    /// Whether all of it is still to come, so that it can go elsewhere.
    pub fn is_untouched(&self) -> bool {
        self.with(|state| !state.is_touched)
    }

    /// Why the body was cut off, if it was: then that is the reason of the upstream's failure, too.
    pub fn fault(&self) -> Option<Refusal> {
        self.with(|state| state.fault.clone())
    }

    /// How long it is, if the client has said so and nothing is edited.
    pub fn length(&self) -> Option<u64> {
        self.with(|state| state.flow.size_hint().exact())
    }

    /// What was read and found so far.
    pub fn report(&self) -> Report {
        self.with(|state| state.flow.report())
    }

    fn with<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The body on its way out.
#[derive(Debug)]
pub struct UploadBody(pub Arc<Upload>);

impl http_body::Body for UploadBody {
    type Data = Bytes;
    type Error = Refusal;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Refusal>>> {
        self.0.with(|state| {
            let next = state.flow.poll_next(cx);
            state.is_waiting = next.is_pending();
            let next = ready!(next);
            state.last_progress = Instant::now();
            state.is_touched = true;
            Poll::Ready(match next {
                Some(Ok(bytes)) => Some(Ok(Frame::data(bytes))),
                Some(Err(fault)) => {
                    let refusal = fault.into_refusal();
                    state.fault = Some(refusal.clone());
                    Some(Err(refusal))
                }
                None => None,
            })
        })
    }

    fn is_end_stream(&self) -> bool {
        self.0.with(|state| state.flow.is_ended())
    }

    fn size_hint(&self) -> SizeHint {
        self.0.with(|state| state.flow.size_hint())
    }
}
