//! A body on its way through: read with deadlines and limits, judged, handed on. It knows no HTTP beyond frames.
//!
//! [`begin`] reads up to the buffer limit. A body that ends there is judged whole, with a known length. A longer one becomes
//! a [`Flow`]: the same filter, piece by piece, in bounded memory.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::{Body, SizeHint};
use http_body_util::BodyExt;
use tokio::time::{Instant, Sleep, sleep};

use super::decoded::{Decoded, Trouble};
use super::error::Refusal;
use super::memory::{Held, NoRoom};
use crate::actions::Block;
use crate::policy::{BodyFault, BodyFilter, Direction, Failure, Findings, Verdict};

/// Why a body did not get through.
#[derive(Debug)]
pub enum Fault {
    /// The sender broke off or framed it wrongly.
    Broken(Direction),
    /// The sender went silent.
    Silent(Direction),
    /// Over `limits.total`, or over what may be held for a client that cannot be streamed to.
    TooLarge(Direction),
    /// There is no room to hold it.
    NoRoom,
    /// A rule blocks it.
    Blocked(Direction, Block),
    /// It cannot be read, and policy says block.
    Unreadable(Direction, Failure, &'static str),
}

impl Fault {
    fn of(trouble: &Trouble, direction: Direction) -> Self {
        match trouble {
            Trouble::Broken => Self::Broken(direction),
            Trouble::Coding(fault) => Self::Unreadable(direction, Failure::from(*fault), fault.what()),
        }
    }

    /// What the exchange is refused with.
    pub fn into_refusal(self) -> Refusal {
        match self {
            Self::Broken(Direction::Request) => Refusal::ClientBody,
            Self::Broken(Direction::Response) => Refusal::UpstreamBroken,
            Self::Silent(Direction::Request) => Refusal::ClientTimeout,
            Self::Silent(Direction::Response) => Refusal::UpstreamTimeout,
            Self::TooLarge(Direction::Request) => Refusal::TooLarge,
            Self::TooLarge(direction @ Direction::Response) => Refusal::Unreadable {
                direction,
                failure: Failure::Oversize,
                reason: "the body is larger than this route allows".into(),
            },
            Self::NoRoom => Refusal::MemoryFull,
            Self::Blocked(direction, block) => {
                Refusal::Blocked { direction, status: block.status, message: block.message }
            }
            Self::Unreadable(direction, failure, what) => {
                Refusal::Unreadable { direction, failure, reason: what.into() }
            }
        }
    }
}

impl From<NoRoom> for Fault {
    fn from(NoRoom: NoRoom) -> Self {
        Self::NoRoom
    }
}

/// Deadlines and limits for one body.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Which half of the exchange it belongs to.
    pub direction: Direction,
    /// Longest pause between two pieces.
    pub idle: Duration,
    /// `limits.total`.
    pub total: Option<u64>,
    /// When it must have ended, if there is such a time.
    pub until: Option<Instant>,
}

impl Bounds {
    /// Longest wait for the next piece, from now.
    fn patience(&self) -> Duration {
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        left.map_or(self.idle, |left| left.min(self.idle))
    }
}

/// How a body begins.
#[derive(Debug)]
pub enum Begun {
    /// It ended within the limit.
    Whole(Bytes),
    /// There is more.
    Part(Bytes),
}

/// Reads until the body ends or more than `limit` bytes are there; then it is a part, even if nothing more comes.
pub async fn begin<B>(body: &mut Decoded<B>, limit: usize, bounds: Bounds, held: &mut Held) -> Result<Begun, Fault>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut first = Bytes::new();
    let mut joined = BytesMut::new();
    loop {
        if body.is_end_stream() {
            break;
        }
        let frame = match tokio::time::timeout(bounds.patience(), body.frame()).await {
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(trouble))) => return Err(Fault::of(&trouble, bounds.direction)),
            Ok(None) => break,
            Err(_) => return Err(Fault::Silent(bounds.direction)),
        };
        // Trailers are dropped, both ways: nobody has judged them.
        let Ok(data) = frame.into_data() else { continue };
        if first.is_empty() && joined.is_empty() {
            first = data;
        } else {
            if joined.is_empty() {
                joined.extend_from_slice(&std::mem::take(&mut first));
            }
            joined.extend_from_slice(&data);
        }
        // What was sent counts, too: it may stand for next to nothing.
        let length = body.read().max((first.len() + joined.len()) as u64);
        if bounds.total.is_some_and(|total| length > total) {
            return Err(Fault::TooLarge(bounds.direction));
        }
        held.set(length as usize)?;
        if length > limit as u64 {
            return Ok(Begun::Part(if joined.is_empty() { first } else { joined.freeze() }));
        }
    }
    Ok(Begun::Whole(if joined.is_empty() { first } else { joined.freeze() }))
}

/// The largest window of a content coding (`br`, RFC 7932; that of `zstd` is at most half as large, RFC 9659).
const LARGEST_WINDOW: u64 = 16 << 20;

/// Longest wait for what a client has sent in one go: enough to take it in, too short for anybody to notice.
const MOMENT: Duration = Duration::from_millis(10);

/// Takes what arrives within a moment, up to `limit` bytes, and does not wait for the rest.
pub async fn arrived<B>(body: &mut Decoded<B>, limit: usize, bounds: Bounds) -> Result<Begun, Fault>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut start = BytesMut::new();
    let over = Instant::now() + MOMENT;
    while start.len() < limit {
        match tokio::time::timeout_at(over, body.frame()).await {
            Ok(Some(Ok(frame))) => start.extend_from_slice(&frame.into_data().unwrap_or_default()),
            Ok(Some(Err(trouble))) => return Err(Fault::of(&trouble, bounds.direction)),
            Ok(None) => return Ok(Begun::Whole(start.freeze())),
            Err(_) => break,
        }
        if bounds.total.is_some_and(|total| start.len() as u64 > total) {
            return Err(Fault::TooLarge(bounds.direction));
        }
    }
    Ok(Begun::Part(start.freeze()))
}

/// Refuses a body that says itself that it is too large, before anything of it is read or sent on.
pub fn check_length<B: Body>(body: &B, bounds: Bounds) -> Result<(), Fault> {
    match bounds.total {
        Some(total) if body.size_hint().lower() > total => Err(Fault::TooLarge(bounds.direction)),
        _ => Ok(()),
    }
}

/// What was read and found in a body.
#[derive(Debug, Default, Clone)]
pub struct Report {
    /// Bytes read, as they came.
    pub bytes: u64,
    /// What was found.
    pub findings: Findings,
    /// Whether something was edited.
    pub edited: bool,
    /// Why rules did not run, where policy let something pass.
    pub passed: Vec<(Failure, &'static str)>,
}

/// A body that is judged while it flows.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "four independent facts about where it stands")]
pub struct Flow<B> {
    start: Option<Bytes>,
    /// Judged already, and not handed out yet.
    ahead: Option<Bytes>,
    inner: Decoded<B>,
    // PERF: a body that is not judged is moved about without the room that a filter takes.
    filter: Option<Box<BodyFilter>>,
    /// For what the filter holds.
    held: Option<Held>,
    /// Whether the filter only looks, and what goes on is what came, with its codings.
    watches: bool,
    /// Bytes so far, without the codings.
    length: u64,
    bounds: Bounds,
    pause: Option<Pin<Box<Sleep>>>,
    report: Report,
    /// What is to be said after the bytes before it.
    fault: Option<Fault>,
    /// Whether bytes may have yet to be written before a fault is said. A connection writes when a body has nothing more to
    /// give at the moment, and an error drops what it has not written: the client would not even see a status.
    flushes: bool,
    ended: bool,
    failed: bool,
}

impl<B> Flow<B>
where
    B: Body<Data = Bytes> + Unpin,
{
    /// A flow of `start` and then `inner`, through a filter if there is one.
    pub fn new(start: Bytes, inner: Decoded<B>, filter: Option<BodyFilter>, bounds: Bounds) -> Self {
        Self {
            start: (!start.is_empty()).then_some(start),
            ahead: None,
            inner,
            filter: filter.map(Box::new),
            held: None,
            watches: false,
            length: 0,
            bounds,
            pause: None,
            report: Report::default(),
            fault: None,
            flushes: false,
            ended: false,
            failed: false,
        }
    }

    /// The same, and what the filter holds is counted.
    #[must_use]
    pub fn holding(mut self, held: Held) -> Self {
        self.held = Some(held);
        self
    }

    /// The same, but what goes on is what came, with its codings: for filters that change and block nothing.
    #[must_use]
    pub fn watched(mut self) -> Self {
        self.watches = true;
        self
    }

    /// The next bytes that may leave. After `None` or an error there is nothing more.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Fault>>> {
        if let Some(ahead) = self.ahead.take() {
            return Poll::Ready(Some(Ok(ahead)));
        }
        loop {
            if self.fault.is_some() && std::mem::take(&mut self.flushes) {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            if let Some(fault) = self.fault.take() {
                self.failed = true;
                return Poll::Ready(Some(Err(fault)));
            }
            if self.ended || self.failed {
                return Poll::Ready(None);
            }
            let next = match ready!(self.poll_chunk(cx)) {
                Ok(chunk) => self.judge(chunk),
                Err(fault) => Err(fault),
            };
            match next {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => {
                    self.flushes = true;
                    return Poll::Ready(Some(Ok(bytes)));
                }
                Err(fault) => self.fault = Some(fault),
            }
        }
    }

    /// Whether everything has been handed out, so that an owner can settle up before the last bytes leave.
    pub fn is_ended(&self) -> bool {
        self.ended && self.ahead.is_none() && self.fault.is_none()
    }

    /// Whether it is a row of lines or events, which may go on for ever.
    pub fn is_endless(&self) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.is_endless())
    }

    /// Exact only where nothing is edited.
    pub fn size_hint(&self) -> SizeHint {
        if self.filter.is_some() {
            return SizeHint::default();
        }
        let start = [&self.start, &self.ahead].into_iter().flatten().map(|bytes| bytes.len() as u64).sum::<u64>();
        let inner = self.inner.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(start + inner.lower());
        if let Some(upper) = inner.upper() {
            hint.set_upper(start + upper);
        }
        hint
    }

    /// What was read and found so far.
    pub fn report(&self) -> Report {
        let mut report = self.report.clone();
        report.bytes = self.inner.read();
        if let Some(filter) = &self.filter {
            report.edited |= filter.changed();
            report.findings.append(filter.findings().clone());
            report.passed.extend_from_slice(filter.passed());
        }
        report
    }

    /// Who only watches lets pass what it cannot decode: as it came, and from here on unread.
    fn watch_no_more(&mut self, failure: Failure, what: &'static str) -> Bytes {
        self.report = self.report();
        self.report.passed.push((failure, what));
        (self.filter, self.watches) = (None, false);
        self.inner.give_up()
    }

    /// Waits for the first bytes that may leave, and keeps them: what fails before can still be refused with a proper answer.
    pub async fn look_ahead(&mut self) -> Result<(), Fault> {
        match std::future::poll_fn(|cx| self.poll_next(cx)).await {
            Some(Ok(bytes)) => self.ahead = Some(bytes),
            Some(Err(fault)) => return Err(fault),
            None => {}
        }
        Ok(())
    }

    /// All of it, up to `limit` bytes.
    pub async fn collect(&mut self, limit: usize, held: &mut Held) -> Result<Bytes, Fault> {
        let mut all = BytesMut::new();
        while let Some(bytes) = std::future::poll_fn(|cx| self.poll_next(cx)).await {
            all.extend_from_slice(&bytes?);
            held.set(all.len())?;
            if all.len() > limit {
                return Err(Fault::TooLarge(self.bounds.direction));
            }
        }
        Ok(all.freeze())
    }

    /// The next piece as it came; `None` at the end.
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Fault>> {
        if let Some(start) = self.start.take() {
            self.ended_with_inner();
            return Poll::Ready(self.count(start));
        }
        loop {
            match Pin::new(&mut self.inner).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    self.pause = None;
                    if let Ok(data) = frame.into_data() {
                        self.ended_with_inner();
                        return Poll::Ready(self.count(data));
                    }
                }
                Poll::Ready(Some(Err(trouble))) => {
                    return Poll::Ready(match trouble {
                        Trouble::Coding(fault) if self.watches => {
                            Ok(Some(self.watch_no_more(fault.into(), fault.what())))
                        }
                        Trouble::Coding(_) | Trouble::Broken => Err(Fault::of(&trouble, self.bounds.direction)),
                    });
                }
                Poll::Ready(None) => {
                    self.ended = true;
                    return Poll::Ready(Ok(None));
                }
                Poll::Pending => {
                    let idle = self.bounds.patience();
                    let pause = self.pause.get_or_insert_with(|| Box::pin(sleep(idle)));
                    return match pause.as_mut().poll(cx) {
                        Poll::Ready(()) => Poll::Ready(Err(Fault::Silent(self.bounds.direction))),
                        Poll::Pending => Poll::Pending,
                    };
                }
            }
        }
    }

    /// A body of known length says so with its last bytes; an owner must learn it before they leave.
    fn ended_with_inner(&mut self) {
        self.ended = self.inner.is_end_stream();
    }

    fn count(&mut self, data: Bytes) -> Result<Option<Bytes>, Fault> {
        self.length += data.len() as u64;
        match self.bounds.total {
            Some(total) if self.length.max(self.inner.read()) > total => Err(Fault::TooLarge(self.bounds.direction)),
            _ => Ok(Some(data)),
        }
    }

    fn judge(&mut self, chunk: Option<Bytes>) -> Result<Bytes, Fault> {
        let Some(filter) = self.filter.as_mut() else { return Ok(chunk.unwrap_or_default()) };
        let mut out = Vec::with_capacity(chunk.as_ref().map_or(0, Bytes::len) + 64);
        let mut result = match &chunk {
            Some(chunk) => filter.push(chunk, &mut out),
            None => Ok(()),
        };
        if self.ended && result.is_ok() {
            result = filter.finish(&mut out);
        }
        if let Some(held) = &mut self.held {
            // A decoder keeps what it has decoded, up to its window.
            let window = if self.inner.is_coded() { self.length.min(LARGEST_WINDOW) } else { 0 };
            held.set(filter.held() + window as usize)?;
        }
        let direction = self.bounds.direction;
        let fault = match result {
            Ok(()) if self.watches => return Ok(self.inner.take_kept()),
            Ok(()) => return Ok(out.into()),
            Err(BodyFault::Blocked) => match filter.verdict() {
                Verdict::Block(block, _) => Fault::Blocked(direction, block),
                Verdict::Pass | Verdict::Edit => Fault::Broken(direction),
            },
            Err(BodyFault::Unreadable { failure, what, .. }) => Fault::Unreadable(direction, failure, what),
        };
        // Whole lines and events before the one that does not pass are not kept back.
        if filter.is_endless() && !out.is_empty() {
            self.fault = Some(fault);
            return Ok(out.into());
        }
        Err(fault)
    }
}
