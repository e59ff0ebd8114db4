//! A request body that is sent on while it is still arriving: what the sender and the exchange must tell each other.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use sync_wrapper::SyncWrapper;
use tokio::time::Instant;

use super::body::{Flow, Report};
use super::error::Refusal;

/// Shared by the body on its way out and the exchange that waits for the answer.
#[derive(Debug)]
pub struct Upload(Mutex<State>);

#[derive(Debug)]
struct State {
    last_progress: Instant,
    fault: Option<Refusal>,
    report: Report,
}

impl Upload {
    /// An upload that begins now.
    pub fn new() -> Self {
        Self(Mutex::new(State { last_progress: Instant::now(), fault: None, report: Report::default() }))
    }

    /// When the client last gave us something.
    pub fn last_progress(&self) -> Instant {
        self.with(|state| state.last_progress)
    }

    /// Why the body was cut off, if it was: then that is the reason of the upstream's failure, too.
    pub fn fault(&self) -> Option<Refusal> {
        self.with(|state| state.fault.clone())
    }

    /// What was read and found so far.
    pub fn take_report(&self) -> Report {
        self.with(|state| std::mem::take(&mut state.report))
    }

    fn with<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Default for Upload {
    fn default() -> Self {
        Self::new()
    }
}

/// The body on its way out.
#[derive(Debug)]
pub struct UploadBody {
    // The sender wants to be able to share it between threads, which it never does.
    flow: SyncWrapper<Flow<Body>>,
    upload: Arc<Upload>,
    is_ended: bool,
    hint: SizeHint,
}

impl UploadBody {
    /// Sends on what `flow` lets through.
    pub fn new(flow: Flow<Body>, upload: Arc<Upload>) -> Self {
        let (is_ended, hint) = (flow.is_ended(), flow.size_hint());
        Self { flow: SyncWrapper::new(flow), upload, is_ended, hint }
    }
}

impl http_body::Body for UploadBody {
    type Data = Bytes;
    type Error = Refusal;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Refusal>>> {
        let flow = self.flow.get_mut();
        let next = std::task::ready!(flow.poll_next(cx));
        let (is_ended, hint) = (flow.is_ended(), flow.size_hint());
        (self.is_ended, self.hint) = (is_ended, hint);
        self.upload.with(|state| state.last_progress = Instant::now());
        Poll::Ready(match next {
            Some(Ok(bytes)) => Some(Ok(Frame::data(bytes))),
            Some(Err(fault)) => {
                let refusal = fault.into_refusal();
                self.upload.with(|state| state.fault = Some(refusal.clone()));
                Some(Err(refusal))
            }
            None => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.is_ended
    }

    fn size_hint(&self) -> SizeHint {
        self.hint
    }
}

impl Drop for UploadBody {
    /// However it ends: sent, given up, cut off.
    fn drop(&mut self) {
        let report = self.flow.get_mut().take_report();
        self.upload.with(|state| state.report = report);
    }
}
