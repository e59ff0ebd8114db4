//! The client's side of an HTTP/1.1 connection, read strictly: bytes that two programs could read differently are taken out
//! before the parser sees them. It touches no byte of a good request, and refuses to know what a request is about.
//!
//! SECURITY: the parser is lenient where RFC 9112 allows it to be (a bare LF ends a line, a fragment is cut off, trailers may
//! hold anything). Each leniency is a chance that whoever reads the same bytes before or after us sees other requests in
//! them. [`Grammar`] walks along and says where a request stops being well formed; there the parser is given a byte that
//! nobody accepts, and refuses in its own words, after the answers to whatever came before.

mod grammar;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use self::grammar::{Grammar, Step};

/// How long a connection that is closed in the middle of a request is still read, so that the answer is not lost: a socket
/// closed with unread bytes is reset, and a reset overtakes what was sent (RFC 9112 section 9.6).
const LINGER: Duration = Duration::from_secs(1);

/// What the parser gets where a head stops being well formed: a byte that it takes nowhere, and the end of a head, for until
/// it has seen one it does not look again at a head that came in parts.
const REFUSED: &[u8] = b"\0\r\n\r\n";

/// A connection whose requests are well formed.
#[derive(Debug)]
pub struct Strict<S> {
    stream: S,
    grammar: Grammar,
    /// What reading gives from now on, if not what the client sends.
    over: Option<Over>,
    /// What is still to be read before that.
    pending: &'static [u8],
    /// Whether the client has said that nothing more comes.
    has_ended: bool,
    lingering: Option<Pin<Box<Sleep>>>,
}

/// Why nothing more is read.
#[derive(Debug, Clone, Copy)]
enum Over {
    /// The last request that can be read has been read.
    Ended,
    /// A body is not well framed.
    Broken,
}

impl<S> Strict<S> {
    /// Reads strictly from now on.
    pub fn new(stream: S) -> Self {
        Self { stream, grammar: Grammar::default(), over: None, pending: &[], has_ended: false, lingering: None }
    }

    /// Gives what is pending, as far as there is room.
    fn give(&mut self, buffer: &mut ReadBuf<'_>) {
        let (now, later) = self.pending.split_at(self.pending.len().min(buffer.remaining()));
        buffer.put_slice(now);
        self.pending = later;
    }

    /// Judges what was just read.
    fn check(&mut self, buffer: &mut ReadBuf<'_>, before: usize) -> io::Result<()> {
        let fresh = buffer.filled().get(before..).unwrap_or_default();
        match self.grammar.read(fresh) {
            Step::Good => {}
            Step::Last(good) => {
                buffer.set_filled(before + good);
                self.over = Some(Over::Ended);
            }
            Step::BadHead(good) => {
                buffer.set_filled(before + good);
                self.over = Some(Over::Ended);
                self.pending = REFUSED;
                self.give(buffer);
            }
            Step::BadBody(good) => {
                buffer.set_filled(before + good);
                self.over = Some(Over::Broken);
                if good == 0 {
                    return Err(io::ErrorKind::InvalidData.into());
                }
            }
        }
        Ok(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Strict<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.over {
            Some(Over::Ended) => {
                self.give(buffer);
                return Poll::Ready(Ok(()));
            }
            Some(Over::Broken) => return Poll::Ready(Err(io::ErrorKind::InvalidData.into())),
            None => {}
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        if buffer.filled().len() == before {
            self.has_ended = true;
            return Poll::Ready(Ok(()));
        }
        Poll::Ready(self.check(buffer, before))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Strict<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.grammar.answered(bytes);
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.grammar.answered(slices.first().map_or(&[], |slice| slice));
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingering.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
            if self.has_ended || (self.over.is_none() && !self.grammar.is_within_request()) {
                return Poll::Ready(Ok(()));
            }
            self.lingering = Some(Box::pin(sleep(LINGER)));
        }
        let mut ignored = [0; 4096];
        loop {
            if self.lingering.as_mut().is_none_or(|allowed| allowed.as_mut().poll(cx).is_ready()) {
                return Poll::Ready(Ok(()));
            }
            let mut ignored = ReadBuf::new(&mut ignored);
            let read = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut ignored));
            if read.is_err() || ignored.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

#[cfg(test)]
mod tests;
