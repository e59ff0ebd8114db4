//! Text as such: detectors look at it, rules without one have nothing to look at.

use super::judge::{BodyJudge, By};
use super::row::malformed;
use super::{BodyFault, write};
use crate::content::json::{Edits, Path, Splice};
use crate::policy::case::{Deed, Outcome, Subject};
use crate::policy::plan::Plan;

impl Plan {
    /// Whether an enforced detector rule acts on all of a text in which it recognises something: then it must be seen at once.
    pub(super) fn needs_whole_text(&self) -> bool {
        let seen = self.body.everywhere.seen.iter();
        seen.filter_map(|seen| self.judging(seen.rule)).any(|rule| rule.is_enforced() && rule.deed == Deed::Whole)
    }
}

impl BodyJudge {
    /// Looks at a window of a text, as [`Judge::window`](crate::content::json::Judge::window) does.
    pub(super) fn text_window(&mut self, text: &str, from: usize, last: bool, edits: &mut Edits) -> Option<usize> {
        if !self.plan.wants_every_value() {
            return Some(text.len());
        }
        let is_all = from == 0 && last;
        let subject = if is_all { Subject::Text(text) } else { Subject::Window { text, from, last } };
        match self.decide(By::Everywhere, subject, &Path::default(), &[]) {
            Outcome::Stop(_) => return None,
            Outcome::Keep => {}
            // Where this can come of it, the text is shown at once.
            Outcome::Whole { rule, entity } => {
                self.plan.push_whole(rule, entity, text, &mut edits.text);
                edits.splices.push(Splice { range: from..text.len(), with: 0..edits.text.len() });
            }
            Outcome::Spans => {
                write::spans_in_text(&self.plan, &self.bench.spans, text, edits);
            }
        }
        Some(if is_all { text.len() } else { self.bench.decided })
    }

    /// Judges a text that is wholly there. `None`: it stays.
    pub(super) fn text(&mut self, text: &[u8]) -> Result<Option<Vec<u8>>, BodyFault> {
        let text = std::str::from_utf8(text).map_err(|_| malformed("not UTF-8"))?;
        let mut edits = Edits::default();
        self.text_window(text, 0, true, &mut edits).ok_or(BodyFault::Blocked)?;
        if edits.splices.is_empty() {
            return Ok(None);
        }
        let (mut out, mut from) = (String::with_capacity(text.len()), 0);
        for Splice { range, with } in edits.splices {
            out.push_str(text.get(from..range.start).unwrap_or_default());
            out.push_str(edits.text.get(with).unwrap_or_default());
            from = range.end;
        }
        out.push_str(text.get(from..).unwrap_or_default());
        Ok(Some(out.into_bytes()))
    }
}
