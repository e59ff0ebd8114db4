//! Who reads a body of which format, behind one front: bytes in, decided bytes out. What becomes of a body that cannot be read
//! it refuses to know.

use std::sync::Arc;

use super::BodyFault;
use super::judge::BodyJudge;
use super::parts::PartsReader;
use super::row::{Document, Row};
use crate::content::json::{Edits, Limits, Rewriter};
use crate::content::kind::Format;
use crate::content::text::Text;
use crate::policy::Plan;

/// Reads one body, or one part of it.
pub(super) enum Reader {
    Json(Box<Rewriter>),
    Row(Box<Row>),
    Text(Box<Text>),
    Parts(Box<PartsReader>),
    /// Nobody any more: it could not be read, and policy lets it pass. Whether anything was changed before.
    Nobody(bool),
}

impl Reader {
    /// At the start. `hold`: bytes of one line, event or field that may be held until it is judged.
    pub(super) fn new(plan: &Arc<Plan>, format: Format, limits: Limits, hold: usize) -> Self {
        let row = |document| Self::Row(Box::new(Row::new(document, limits, hold, !plan.may_block_body())));
        match format {
            Format::Json => Self::Json(Box::new(Rewriter::new(plan.program().clone(), limits))),
            Format::Lines => row(Document::LINE),
            Format::Records => row(Document::RECORD),
            Format::Events => row(Document::Event),
            Format::Form => row(Document::Pair),
            Format::Multipart(boundary) => Self::Parts(Box::new(PartsReader::new(&boundary, limits, hold))),
            Format::Text => Self::Text(Box::new(Text::new(limits, plan.needs_whole_text()))),
        }
    }

    /// Reads the next bytes and appends to `out` what is decided. After a fault nothing more may be pushed.
    pub(super) fn push(&mut self, judge: &mut BodyJudge, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), BodyFault> {
        match self {
            Self::Json(rewriter) => rewriter.push(judge, chunk, out)?,
            Self::Row(row) => row.push(judge, chunk, out)?,
            Self::Text(text) => text.push(viewer(judge), chunk, out)?,
            Self::Parts(parts) => parts.push(judge, chunk, out)?,
            Self::Nobody(_) => out.extend_from_slice(chunk),
        }
        Ok(())
    }

    /// It has ended.
    pub(super) fn finish(&mut self, judge: &mut BodyJudge, out: &mut Vec<u8>) -> Result<(), BodyFault> {
        match self {
            Self::Json(rewriter) => rewriter.finish(judge, out)?,
            Self::Row(row) => row.finish(judge, out)?,
            Self::Text(text) => text.finish(viewer(judge), out)?,
            Self::Parts(parts) => parts.finish(judge, out)?,
            Self::Nobody(_) => {}
        }
        Ok(())
    }

    /// After a fault: the rest passes untouched, and what was held goes first.
    pub(super) fn give_up(&mut self, out: &mut Vec<u8>) {
        match self {
            Self::Json(rewriter) => out.extend_from_slice(rewriter.held()),
            Self::Text(text) => out.extend_from_slice(text.held()),
            Self::Parts(parts) => parts.give_up(out),
            // A row lets pass what cannot be read by itself.
            Self::Row(_) | Self::Nobody(_) => {}
        }
        *self = Self::Nobody(self.changed());
    }

    /// Bytes that were read and are not decided.
    pub(super) fn held(&self) -> usize {
        match self {
            Self::Json(rewriter) => rewriter.held().len(),
            Self::Row(row) => row.held(),
            Self::Text(text) => text.held().len(),
            Self::Parts(parts) => parts.held(),
            Self::Nobody(_) => 0,
        }
    }

    /// Whether any byte was changed so far.
    pub(super) fn changed(&self) -> bool {
        match self {
            Self::Json(rewriter) => rewriter.changed(),
            Self::Row(row) => row.changed(),
            Self::Text(text) => text.changed(),
            Self::Parts(parts) => parts.changed(),
            Self::Nobody(changed) => *changed,
        }
    }
}

fn viewer(judge: &mut BodyJudge) -> impl FnMut(&str, usize, bool, &mut Edits) -> Option<usize> {
    |text, from, last, edits| judge.text_window(text, from, last, edits)
}
