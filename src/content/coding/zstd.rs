//! `zstd` (RFC 8878): frames one after the other, skippable ones too, with windows of up to 8 MiB, which is what RFC 9659 allows
//! senders.
//!
//! The reference library does the work. The one in Rust was tried: it gives out nothing that still lies in the window, so that
//! an event stream would wait for ever, and its window holds back up to 8 MiB of every body.

use zstd::stream::raw::{DParameter, Decoder, Operation};

use super::{Codec, Moved};

const NOT_ZSTD: &str = "not the zstd that it is said to be, or with a window of more than 8 MiB";
const CUT_OFF: &str = "zstd that breaks off";
const NO_MEMORY: &str = "no memory for zstd";

/// Logarithm of the largest window.
const WINDOW: u32 = 23;

/// Takes `zstd` off.
pub(super) struct Zstd {
    /// `None`: there was no memory for one.
    decoder: Option<Decoder<'static>>,
    /// Whether a frame has just ended.
    is_between: bool,
}

impl Zstd {
    pub(super) fn new() -> Self {
        let limited = |mut decoder: Decoder<'static>| {
            decoder.set_parameter(DParameter::WindowLogMax(WINDOW))?;
            Ok(decoder)
        };
        Self { decoder: Decoder::new().and_then(limited).ok(), is_between: false }
    }
}

impl Codec for Zstd {
    fn run(&mut self, input: &[u8], room: &mut [u8]) -> Result<Moved, &'static str> {
        let decoder = self.decoder.as_mut().ok_or(NO_MEMORY)?;
        if input.is_empty() && self.is_between {
            return Ok(Moved::default());
        }
        let mut moved = Moved::default();
        // A call ends with its frame.
        loop {
            let rest = input.get(moved.read..).unwrap_or_default();
            let free = room.get_mut(moved.written..).unwrap_or_default();
            let status = decoder.run_on_buffers(rest, free).map_err(|_| NOT_ZSTD)?;
            (moved.read, moved.written) = (moved.read + status.bytes_read, moved.written + status.bytes_written);
            self.is_between = status.remaining == 0;
            let is_stuck = status.bytes_read == 0 && status.bytes_written == 0;
            if is_stuck || moved.read == input.len() || moved.written == room.len() {
                return Ok(moved);
            }
        }
    }

    fn finish(&self) -> Result<(), &'static str> {
        if self.is_between { Ok(()) } else { Err(CUT_OFF) }
    }
}
