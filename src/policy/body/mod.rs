//! Judging a body: the JSON engine with a [`BodyJudge`] behind it, over one plan. This is what the gateway holds while a
//! body runs through. It promises that no byte leaves that was not judged; it refuses to know what happens then.

mod frames;
mod judge;
mod long;
mod nested;
mod remainder;
mod write;

use std::fmt;
use std::sync::Arc;

pub use judge::BodyJudge;

use super::{Failure, Findings, Plan, Verdict};
use crate::content::json::{Fault, Limits, Rewriter, rewrite_whole};

/// Rewrites one JSON body by a plan.
pub struct BodyFilter {
    rewriter: Rewriter,
    judge: BodyJudge,
}

/// SECURITY: the rewriter holds pieces of the body; they must not get into a log line by way of `{:?}`.
impl fmt::Debug for BodyFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BodyFilter").field("verdict", &self.verdict()).finish_non_exhaustive()
    }
}

/// Why a body's judging ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyFault {
    /// It cannot be read: [`Plan::on_failure`] says what happens.
    Unreadable {
        /// Which kind.
        failure: Failure,
        /// Offset in bytes from the start of the body.
        at: u64,
        /// In fixed words, never a part of the body.
        what: &'static str,
    },
    /// A rule blocks: [`BodyFilter::verdict`] says which.
    Blocked,
}

impl From<Fault> for BodyFault {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Malformed { at, what } => Self::Unreadable { failure: Failure::Malformed, at, what },
            Fault::Oversize { at, what } => Self::Unreadable { failure: Failure::Oversize, at, what },
            Fault::Stopped => Self::Blocked,
        }
    }
}

impl BodyFilter {
    /// At the start of a body.
    pub fn new(plan: &Arc<Plan>, limits: Limits) -> Self {
        Self { rewriter: Rewriter::new(plan.program().clone(), limits), judge: BodyJudge::new(plan.clone(), limits) }
    }

    /// Reads the next bytes and appends to `out` what is decided. After a fault nothing more may be pushed.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), BodyFault> {
        Ok(self.rewriter.push(&mut self.judge, chunk, out)?)
    }

    /// The body has ended.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), BodyFault> {
        Ok(self.rewriter.finish(&mut self.judge, out)?)
    }

    /// Judges a body that is wholly there. `None`: nothing changed, the caller still has the very same bytes.
    pub fn whole(plan: &Arc<Plan>, limits: Limits, body: &[u8]) -> (Result<Option<Vec<u8>>, BodyFault>, BodyJudge) {
        let mut judge = BodyJudge::new(plan.clone(), limits);
        let result = rewrite_whole(plan.program(), limits, &mut judge, body);
        (result.map_err(BodyFault::from), judge)
    }

    /// What was read and not yet written: with it, and with what follows, the body can be passed on untouched from here
    /// after a fault that policy lets pass.
    pub fn held(&self) -> &[u8] {
        self.rewriter.held()
    }

    /// Whether any byte was changed so far.
    pub fn changed(&self) -> bool {
        self.rewriter.changed()
    }

    /// What judging came to so far.
    pub fn verdict(&self) -> Verdict {
        self.judge.verdict()
    }

    /// What was found so far.
    pub fn findings(&self) -> &Findings {
        self.judge.findings()
    }

    /// What was found.
    pub fn into_findings(self) -> Findings {
        self.judge.into_findings()
    }
}
