//! The rewriter: reads a body in whatever pieces it comes and writes what the judge made of it. Promises that the pieces
//! make no difference, that what nobody touched is copied byte by byte, and that what it holds back is bounded by
//! [`Limits`], whatever the body.
//!
//! In reading order: [`engine`] (the loop over tokens), [`ends`] (where they end), [`member`] (keys, and what may not collide), [`edit`] (what is
//! written, held and cut), [`long`] (strings beyond the window), [`straight`], [`pass`], [`flight`], [`ground`] and [`skip`] (the same, faster, where there are no surprises), [`frame`]
//! (the stack), [`spare`] (an engine is used again), [`inside`] (documents in strings).

mod edit;
mod ends;
mod engine;
mod flight;
mod frame;
mod ground;
mod inside;
mod long;
mod member;
mod pass;
mod skip;
mod spare;
mod straight;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use super::selector::Program;
use super::{Fault, Judge, Limits};
use engine::Engine;
pub use inside::{Change, is_container, is_document, rewrite_inside};

/// Rewrites one body, chunk by chunk.
pub struct Rewriter {
    program: Arc<Program>,
    engine: Engine,
    /// What came and is not written yet, behind what is and was not worth moving away.
    carry: Vec<u8>,
    fault: Option<Fault>,
}

/// SECURITY: says where it stands and nothing of the body; what it holds back, and keys and text at hand, are somebody's data.
impl fmt::Debug for Rewriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rewriter")
            .field("held", &self.held().len())
            .field("changed", &self.changed())
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}

impl Rewriter {
    /// A rewriter at the start of a body.
    pub fn new(program: Arc<Program>, limits: Limits) -> Self {
        let engine = Engine::new(&program, limits);
        Self { program, engine, carry: Vec::new(), fault: None }
    }

    /// Reads the next bytes of the body and appends to `out` what is decided. After a fault nothing more may be pushed; the
    /// fault is only repeated.
    pub fn push<J: Judge>(&mut self, judge: &mut J, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let result = if self.carry.is_empty() {
            let result = self.engine.run(&self.program, judge, chunk, chunk.len(), false, out);
            if result.is_ok() {
                self.engine.settle(chunk, out);
            }
            let written = self.engine.written();
            self.carry.extend_from_slice(chunk.get(written..).unwrap_or_default());
            self.engine.rebase(written);
            result
        } else {
            self.carry.extend_from_slice(chunk);
            self.read_carry(judge, chunk.len(), false, out)
        };
        self.fault = result.err();
        result
    }

    /// The body has ended. Empty input is malformed.
    pub fn finish<J: Judge>(&mut self, judge: &mut J, out: &mut Vec<u8>) -> Result<(), Fault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let result = self.read_carry(judge, 0, true, out);
        self.fault = result.err();
        result
    }

    fn read_carry<J: Judge>(
        &mut self,
        judge: &mut J,
        fresh: usize,
        last: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        self.engine.run(&self.program, judge, &self.carry, fresh, last, out)?;
        self.engine.settle(&self.carry, out);
        self.drop_written();
        Ok(())
    }

    /// Whether any byte was edited so far.
    pub fn changed(&self) -> bool {
        self.engine.changed()
    }

    /// The bytes that were read but not yet written: with them and what follows a body can be passed on untouched from
    /// here, after a fault that policy lets pass. What was skipped of a removed or replaced value is not among them.
    pub fn held(&self) -> &[u8] {
        self.carry.get(self.engine.written()..).unwrap_or_default()
    }

    // PERF: what is left is moved only when at least as much is dropped, so a long tail and small chunks stay linear.
    fn drop_written(&mut self) {
        let written = self.engine.written();
        if written * 2 >= self.carry.len() {
            self.carry.drain(..written.min(self.carry.len()));
            self.engine.rebase(written);
        }
    }
}

/// Rewrites a body that is wholly there. `None` when nothing changed: the caller still has the very same bytes.
pub fn rewrite_whole<J: Judge>(
    program: &Program,
    limits: Limits,
    judge: &mut J,
    body: &[u8],
) -> Result<Option<Vec<u8>>, Fault> {
    let mut engine = Engine::at_hand(program, limits);
    let mut out = Vec::new();
    let result = engine.run(program, judge, body, body.len(), true, &mut out);
    let changed = engine.changed();
    if changed && result.is_ok() {
        engine.settle(body, &mut out);
    }
    engine.put_by();
    result.map(|()| changed.then_some(out))
}
