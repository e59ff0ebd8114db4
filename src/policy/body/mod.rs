//! Judging a body of any format that can be read, with a [`BodyJudge`] over one plan. This is what the gateway holds while a
//! body runs through. It promises that no byte leaves that was not judged, unless the plan lets pass what cannot be read,
//! and then it remembers so; it refuses to know where the bytes go.

mod contexts;
mod frames;
mod judge;
mod long;
mod nested;
mod parts;
mod reader;
mod remainder;
mod row;
mod text;
mod write;

use std::fmt;
use std::sync::Arc;

pub use contexts::Contexts;
pub use judge::BodyJudge;

use super::{Failure, Findings, OnFailure, Plan, Verdict};
use crate::content::json::{Fault, Limits, rewrite_whole};
use crate::content::kind::Format;
use reader::Reader;

/// Rewrites one body by a plan.
pub struct BodyFilter {
    format: Format,
    reader: Reader,
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
        /// Offset in bytes from the start of the body, or of the line, event or field.
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
    /// At the start of a body. `hold`: bytes of one line, event or field that may be held until it is judged.
    pub fn new(plan: &Arc<Plan>, format: Format, limits: Limits, hold: usize) -> Self {
        let reader = Reader::new(plan, format, limits, hold);
        Self { format, reader, judge: BodyJudge::new(plan.clone(), limits) }
    }

    /// The same, but what cannot be read is a fault whatever `on_failure` says.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.judge.is_strict = true;
        self
    }

    /// Reads the next bytes and appends to `out` what is decided. After a fault nothing more may be pushed.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), BodyFault> {
        self.reader.push(&mut self.judge, chunk, out).or_else(|fault| self.give_up(fault, out))
    }

    /// The body has ended.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), BodyFault> {
        self.reader.finish(&mut self.judge, out).or_else(|fault| self.give_up(fault, out))
    }

    /// Lets the rest pass untouched if policy says so. What was held goes first.
    fn give_up(&mut self, fault: BodyFault, out: &mut Vec<u8>) -> Result<(), BodyFault> {
        row::pass(&mut self.judge, fault)?;
        self.reader.give_up(out);
        Ok(())
    }

    /// Judges a body that is wholly there. `Ok(None)`: nothing changed, the caller still has the very same bytes.
    pub fn whole(
        plan: &Arc<Plan>,
        format: Format,
        limits: Limits,
        body: &[u8],
    ) -> (Result<Option<Vec<u8>>, BodyFault>, BodyJudge) {
        if format == Format::Json {
            return whole_json(plan, limits, body);
        }
        let mut filter = Self::new(plan, format, limits, body.len());
        let mut out = Vec::with_capacity(body.len());
        let result = filter.push(body, &mut out).and_then(|()| filter.finish(&mut out));
        let changed = filter.changed();
        (result.map(|()| changed.then_some(out)), filter.judge)
    }

    /// Whether any byte was changed so far.
    pub fn changed(&self) -> bool {
        self.reader.changed()
    }

    /// Whether what was written before a fault is whole and fit to be sent: lines or events before the one at fault.
    pub fn is_endless(&self) -> bool {
        self.format.is_endless()
    }

    /// Bytes that are held until more has come.
    pub fn held(&self) -> usize {
        self.reader.held()
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

    /// Why parts of the body passed without being judged, so far.
    pub fn passed(&self) -> &[(Failure, &'static str)] {
        self.judge.passed()
    }
}

/// What was found before a body turned out unreadable was not acted upon: it passes untouched or not at all.
fn whole_json(plan: &Arc<Plan>, limits: Limits, body: &[u8]) -> (Result<Option<Vec<u8>>, BodyFault>, BodyJudge) {
    let mut judge = BodyJudge::new(plan.clone(), limits);
    let before = judge.begin_document();
    let result = rewrite_whole(plan.program(), limits, &mut judge, body).map_err(BodyFault::from);
    judge.end_document(before, !matches!(result, Err(BodyFault::Unreadable { .. })));
    (result.or_else(|fault| row::pass(&mut judge, fault).map(|()| None)), judge)
}
