//! `deflate`: compressed data in the zlib format (RFC 1950), or without it, as some servers send it under the same name. The
//! first two bytes tell which. Of bytes it knows nothing more.

use flate2::{Decompress, FlushDecompress, Status};

use super::{Codec, Moved};

const NOT_DEFLATE: &str = "not the deflate that it is said to be";
const CUT_OFF: &str = "deflate that breaks off";
const BEHIND: &str = "bytes behind the end of deflate";

/// Compressed data as such (RFC 1951), in the zlib format or not.
pub(super) struct Inflate {
    state: Decompress,
    pub(super) has_ended: bool,
}

impl Inflate {
    pub(super) fn new(zlib: bool) -> Self {
        Self { state: Decompress::new(zlib), has_ended: false }
    }

    /// Stops behind its end. `None`: no such data, or its checksum is wrong.
    pub(super) fn run(&mut self, input: &[u8], room: &mut [u8]) -> Option<Moved> {
        let (read, written) = (self.state.total_in(), self.state.total_out());
        let status = self.state.decompress(input, room, FlushDecompress::None).ok()?;
        self.has_ended = status == Status::StreamEnd;
        let moved = |now: u64, before: u64| usize::try_from(now - before).ok();
        Some(Moved { read: moved(self.state.total_in(), read)?, written: moved(self.state.total_out(), written)? })
    }
}

/// Takes `deflate` off.
#[derive(Default)]
pub(super) struct Deflate {
    /// The first byte, until the second has come.
    first: Option<u8>,
    inflate: Option<Inflate>,
}

/// Whether data in the zlib format may begin so (RFC 1950, section 2.2).
fn is_zlib(first: u8, second: u8) -> bool {
    first & 0x0f == 8 && first >> 4 <= 7 && u16::from_be_bytes([first, second]).is_multiple_of(31)
}

impl Codec for Deflate {
    fn run(&mut self, input: &[u8], room: &mut [u8]) -> Result<Moved, &'static str> {
        if let Some(inflate) = &mut self.inflate {
            if inflate.has_ended {
                return if input.is_empty() { Ok(Moved::default()) } else { Err(BEHIND) };
            }
            return inflate.run(input, room).ok_or(NOT_DEFLATE);
        }
        let Some((&byte, rest)) = input.split_first() else { return Ok(Moved::default()) };
        let Some(first) = self.first else {
            self.first = Some(byte);
            let moved = self.run(rest, room)?;
            return Ok(Moved { read: moved.read + 1, ..moved });
        };
        let mut inflate = Inflate::new(is_zlib(first, byte));
        // One byte fills no room, and all of it is read.
        inflate.run(&[first], room).filter(|moved| moved.read == 1 && moved.written == 0).ok_or(NOT_DEFLATE)?;
        let moved = inflate.run(input, room).ok_or(NOT_DEFLATE);
        self.inflate = Some(inflate);
        moved
    }

    fn finish(&self) -> Result<(), &'static str> {
        if self.inflate.as_ref().is_some_and(|inflate| inflate.has_ended) { Ok(()) } else { Err(CUT_OFF) }
    }
}
