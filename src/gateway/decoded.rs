//! A body on its way in, without its content codings: what is judged is what it stands for. Promises a bounded piece per poll
//! and to let others work in between; whether somebody wants the bytes as they came, it is told.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use tokio::task::coop;

use crate::content::coding::{Decoder, Fault};

/// A body that is decoded while it is read, or one that has nothing to be decoded.
#[derive(Debug)]
pub struct Decoded<B> {
    inner: B,
    decoder: Option<Box<Decoder>>,
    /// As it came, and not decoded yet.
    coded: Bytes,
    /// Whether the decoder has more to give without further input.
    has_more: bool,
    /// As it came, for the case that it must go on so.
    kept: Option<BytesMut>,
    /// Bytes of the body as it came, so far.
    read: u64,
    is_over: bool,
}

/// Why there is no next piece.
#[derive(Debug)]
pub enum Trouble {
    /// The sender broke off or framed it wrongly.
    Broken,
    /// It cannot be decoded.
    Coding(Fault),
}

impl<B> Decoded<B>
where
    B: Body<Data = Bytes> + Unpin,
{
    /// A body without a coding.
    pub fn plain(inner: B) -> Self {
        Self { inner, decoder: None, coded: Bytes::new(), has_more: false, kept: None, read: 0, is_over: false }
    }

    /// A body with codings. What is read is kept until [`Self::keep_no_more`] or [`Self::take_kept`].
    pub fn coded(inner: B, decoder: Decoder) -> Self {
        Self { decoder: Some(Box::new(decoder)), kept: Some(BytesMut::new()), ..Self::plain(inner) }
    }

    /// Whether it is decoded.
    pub fn is_coded(&self) -> bool {
        self.decoder.is_some()
    }

    /// Bytes of the body as it came, so far.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// Nobody wants it as it came any more.
    pub fn keep_no_more(&mut self) {
        self.kept = None;
    }

    /// What came since it was asked last, as it came.
    pub fn take_kept(&mut self) -> Bytes {
        self.kept.as_mut().map_or_else(Bytes::new, |kept| kept.split().freeze())
    }

    /// From here on it comes as it is. Answers what came before and was not taken.
    pub fn give_up(&mut self) -> Bytes {
        self.decoder = None;
        (self.coded, self.has_more) = (Bytes::new(), false);
        self.kept.take().map_or_else(Bytes::new, BytesMut::freeze)
    }

    /// Decodes a piece of what has come.
    fn decode(&mut self) -> Result<Bytes, Trouble> {
        let Some(decoder) = &mut self.decoder else { return Ok(Bytes::new()) };
        let (mut rest, mut out) = (&*self.coded, Vec::new());
        self.has_more = decoder.step(&mut rest, &mut out).map_err(Trouble::Coding)?;
        let read = self.coded.len() - rest.len();
        drop(self.coded.split_to(read));
        // The end is known with the last bytes, so that an owner learns it before they leave.
        if !self.has_more && self.inner.is_end_stream() {
            self.end()?;
        }
        Ok(out.into())
    }

    fn end(&mut self) -> Result<(), Trouble> {
        self.is_over = true;
        // A body without a byte has no coding, whatever it says.
        match &self.decoder {
            Some(decoder) if self.read > 0 => decoder.finish().map_err(Trouble::Coding),
            Some(_) | None => Ok(()),
        }
    }
}

impl<B> Body for Decoded<B>
where
    B: Body<Data = Bytes> + Unpin,
{
    type Data = Bytes;
    type Error = Trouble;

    /// A piece may be empty: much of what is sent stands for nothing.
    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Trouble>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        // One read may stand for a thousand pieces: nobody else would get a turn while they are made.
        let turn = if self.decoder.is_some() { Some(ready!(coop::poll_proceed(cx))) } else { None };
        if !self.has_more {
            match ready!(Pin::new(&mut self.inner).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => {
                        self.read += data.len() as u64;
                        if self.decoder.is_none() {
                            return Poll::Ready(Some(Ok(Frame::data(data))));
                        }
                        if let Some(kept) = &mut self.kept {
                            kept.extend_from_slice(&data);
                        }
                        self.coded = data;
                    }
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                Some(Err(_)) => return Poll::Ready(Some(Err(Trouble::Broken))),
                None => return Poll::Ready(self.end().err().map(Err)),
            }
        }
        if let Some(turn) = turn {
            turn.made_progress();
        }
        Poll::Ready(Some(self.decode().map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        match self.decoder {
            Some(_) => self.is_over,
            None => self.is_over || self.inner.is_end_stream(),
        }
    }

    /// Unknown where it is decoded.
    fn size_hint(&self) -> SizeHint {
        if self.decoder.is_some() { SizeHint::default() } else { self.inner.size_hint() }
    }
}
