//! `br` (RFC 7932). Its window is at most 16 MiB, and grows with what was decoded.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

use super::{Codec, Moved};

const NOT_BROTLI: &str = "not the brotli that it is said to be";
const CUT_OFF: &str = "brotli that breaks off";
const BEHIND: &str = "bytes behind the end of brotli";

/// Takes `br` off.
pub(super) struct Brotli {
    state: Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>,
    has_ended: bool,
}

impl Brotli {
    pub(super) fn new() -> Self {
        let alloc = StandardAlloc::default;
        // Strict: a large window, which no content coding has, is refused.
        Self { state: Box::new(BrotliState::new_strict(alloc(), alloc(), alloc())), has_ended: false }
    }
}

impl Codec for Brotli {
    fn run(&mut self, input: &[u8], room: &mut [u8]) -> Result<Moved, &'static str> {
        if self.has_ended {
            return if input.is_empty() { Ok(Moved::default()) } else { Err(BEHIND) };
        }
        let (mut left, mut read, mut free, mut written, mut total) = (input.len(), 0, room.len(), 0, 0);
        let state = &mut *self.state;
        let result =
            BrotliDecompressStream(&mut left, &mut read, input, &mut free, &mut written, room, &mut total, state);
        match result {
            BrotliResult::ResultFailure => return Err(NOT_BROTLI),
            BrotliResult::ResultSuccess => self.has_ended = true,
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
        }
        Ok(Moved { read, written })
    }

    fn finish(&self) -> Result<(), &'static str> {
        if self.has_ended { Ok(()) } else { Err(CUT_OFF) }
    }
}
