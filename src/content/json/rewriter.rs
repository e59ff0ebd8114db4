//! The rewriter: placeholder signatures.

use std::sync::Arc;

use super::selector::Program;
use super::{Fault, Judge, Limits};

/// Rewrites one body, chunk by chunk.
#[derive(Debug)]
pub struct Rewriter {
    _program: Arc<Program>,
    _limits: Limits,
}

impl Rewriter {
    /// A rewriter at the start of a body.
    pub fn new(program: Arc<Program>, limits: Limits) -> Self {
        Self { _program: program, _limits: limits }
    }

    /// Reads the next bytes of the body and appends to `out` what is decided. After a fault nothing more may be pushed.
    pub fn push<J: Judge>(&mut self, _judge: &mut J, _chunk: &[u8], _out: &mut Vec<u8>) -> Result<(), Fault> {
        Err(Fault::Stopped)
    }

    /// The body has ended. Empty input is malformed.
    pub fn finish<J: Judge>(&mut self, _judge: &mut J, _out: &mut Vec<u8>) -> Result<(), Fault> {
        Err(Fault::Stopped)
    }

    /// Whether any byte was edited so far.
    pub fn changed(&self) -> bool {
        false
    }

    /// The bytes that were read but not yet written: with them and what follows a body can be passed on untouched from
    /// here, after a fault that policy lets pass.
    pub fn held(&self) -> &[u8] {
        &[]
    }
}

/// Rewrites a body that is wholly there. `None` when nothing changed: the caller still has the very same bytes.
pub fn rewrite_whole<J: Judge>(
    _program: &Program,
    _limits: Limits,
    _judge: &mut J,
    _body: &[u8],
) -> Result<Option<Vec<u8>>, Fault> {
    Err(Fault::Stopped)
}
