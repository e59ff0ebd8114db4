//! A body without its content codings (RFC 9110, section 8.4): what was sent compressed, as it was before. Promises a bounded
//! piece of output per step however much a byte stands for, that a body which is cut off, damaged or followed by anything is
//! a fault, and that the chunks make no difference; what the body is it refuses to know.
//!
//! Every stage is a codec that reads what the stage before it made. A body that grows beyond all proportion ends as
//! [`Fault::Oversize`], at whichever stage it grows.

mod brotli;
mod codings;
mod deflate;
mod gzip;
mod zstd;

use std::fmt;

pub use codings::{Coding, Codings, accepted};

/// Most bytes that a step makes.
pub const STEP: usize = 32 * 1024;

/// Growth that is nobody's concern. Documents shrink to a tenth or a twentieth, logs and tables to a fiftieth; what shrinks
/// more than this was made to, or is small.
const HONEST_GROWTH: u64 = 100;

/// Why a body cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is not what its coding says: in fixed words, never a part of the body.
    Malformed(&'static str),
    /// It is over the bound for decoded bodies, and more than a hundred times of what was sent.
    Oversize,
}

impl Fault {
    /// In fixed words.
    pub const fn what(self) -> &'static str {
        match self {
            Self::Malformed(what) => what,
            Self::Oversize => "the decoded body is larger than what a coded one may become (`limits.decoded`)",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what())
    }
}

impl std::error::Error for Fault {}

/// Takes the codings off one body.
pub struct Decoder {
    /// In the order of decoding.
    stages: Vec<Stage>,
    /// Bytes that a body may decode to whatever it grows from.
    most: u64,
    read: u64,
}

/// SECURITY: stages hold somebody's data.
impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").field("stages", &self.stages.len()).field("read", &self.read).finish_non_exhaustive()
    }
}

/// One codec and what it made that the next has not read.
struct Stage {
    codec: Box<dyn Codec + Send>,
    made: u64,
    /// Whether the last run filled its room, so that more may come without further input.
    is_full: bool,
    held: Vec<u8>,
    /// How much of `held` the next one has read.
    taken: usize,
}

/// Takes one coding off. Like all codecs it reads until the input is used up or the room is filled; it does neither only if it
/// needs more of both, and bytes behind its end are a fault.
trait Codec {
    /// Answers how many bytes it read of `input` and wrote to `room`.
    fn run(&mut self, input: &[u8], room: &mut [u8]) -> Result<Moved, &'static str>;

    /// The input has ended: whether that is where it may.
    fn finish(&self) -> Result<(), &'static str>;
}

/// How far a run came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Moved {
    read: usize,
    written: usize,
}

impl Decoder {
    /// At the start of a body. `most`: bytes that it may decode to whatever it grows from.
    pub fn new(codings: &Codings, most: u64) -> Self {
        let stages = codings.innermost_last().map(|coding| Stage {
            codec: match coding {
                Coding::Gzip => Box::new(gzip::Gzip::default()),
                Coding::Deflate => Box::new(deflate::Deflate::default()),
                Coding::Brotli => Box::new(brotli::Brotli::new()),
                Coding::Zstd => Box::new(zstd::Zstd::new()),
            },
            made: 0,
            is_full: false,
            held: Vec::new(),
            taken: 0,
        });
        Self { stages: stages.collect(), most, read: 0 }
    }

    /// Goes on with `input`, of which it takes off what it has read, and appends at most [`STEP`] bytes to `out`. Answers
    /// whether another step has something to do without further input. After a fault there must be none.
    pub fn step(&mut self, input: &mut &[u8], out: &mut Vec<u8>) -> Result<bool, Fault> {
        // What is furthest on its way goes first, so that no stage ever holds more than one step.
        for at in (0..self.stages.len()).rev() {
            let (before, rest) = self.stages.split_at_mut_checked(at).unwrap_or_default();
            let Some((stage, after)) = rest.split_first_mut() else { break };
            let pending = match before.last() {
                Some(source) => source.held.get(source.taken..).unwrap_or_default(),
                None => *input,
            };
            if pending.is_empty() && !stage.is_full {
                continue;
            }
            let moved = stage.run(pending, if after.is_empty() { Some(&mut *out) } else { None })?;
            if let Some(source) = before.last_mut() {
                source.taken += moved.read;
            } else {
                *input = input.get(moved.read..).unwrap_or_default();
                self.read += moved.read as u64;
            }
            if stage.made > self.most && stage.made / HONEST_GROWTH > self.read {
                return Err(Fault::Oversize);
            }
            if moved.written > 0 {
                break;
            }
        }
        Ok(!input.is_empty() || self.stages.iter().any(Stage::is_waited_for))
    }

    /// The body has ended, and no step has anything left to do.
    pub fn finish(&self) -> Result<(), Fault> {
        self.stages.iter().try_for_each(|stage| stage.codec.finish().map_err(Fault::Malformed))
    }
}

impl Stage {
    /// Runs its codec over `input`, into `out` or into what it holds for the next.
    fn run(&mut self, input: &[u8], out: Option<&mut Vec<u8>>) -> Result<Moved, Fault> {
        let out = if let Some(out) = out {
            out
        } else {
            self.held.clear();
            self.taken = 0;
            &mut self.held
        };
        let from = out.len();
        out.resize(from + STEP, 0);
        let result = self.codec.run(input, out.get_mut(from..).unwrap_or_default());
        out.truncate(from + result.as_ref().map_or(0, |moved| moved.written));
        let moved = result.map_err(Fault::Malformed)?;
        if !input.is_empty() && moved == Moved::default() && !self.is_full {
            return Err(Fault::Malformed("a content coding that leads nowhere"));
        }
        self.is_full = moved.written == STEP;
        self.made += moved.written as u64;
        Ok(moved)
    }

    fn is_waited_for(&self) -> bool {
        self.is_full || self.taken < self.held.len()
    }
}

#[cfg(test)]
mod tests;
