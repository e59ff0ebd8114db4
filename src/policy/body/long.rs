//! Long strings: how one is to be read, decided before its content is known.

use super::judge::BodyJudge;
use super::write;
use crate::actions::Action;
use crate::content::json::{Edits, Long, Path};
use crate::policy::case::{Deed, Look, Seen};
use crate::policy::place::{Place, Spot};

impl BodyJudge {
    /// How a long string is to be read. Simple cases need not hold it; wherever the order of claims depends on the content,
    /// it is held whole and judged like any other.
    pub(super) fn long_answer(&mut self, seen: &[Seen], path: &Path, edits: &mut Edits) -> Long {
        let Self { plan, findings, frames, long: (looking, _), blocked, .. } = self;
        let gone = frames.gone();
        let spot = Spot::new(Place::Json(path));
        let (mut claims, mut act, mut notes) = (0, None, Vec::new());
        let mut needs_whole = false;
        looking.clear();
        for seen in seen {
            let Some(rule) = plan.judging(seen.rule) else { continue };
            let is_free = !gone && !rule.group.is_bound_by(claims);
            match (rule.look, rule.deed) {
                (Look::Detect { .. }, deed) => {
                    if is_free || deed == Deed::Block {
                        looking.push(*seen);
                        needs_whole |= deed == Deed::Whole;
                    }
                }
                (Look::Value, Deed::Block) if seen.own => {
                    findings.record(seen.rule, None, &spot, plan.privacy());
                    if rule.is_enforced() {
                        *blocked = Some(seen.rule);
                        return Long::Stop;
                    }
                }
                (Look::Value, Deed::Log) if seen.own && is_free => notes.push(seen.rule),
                (Look::Value, Deed::Block | Deed::Log | Deed::Rename) => {}
                (Look::Value, Deed::Allow | Deed::Part | Deed::Whole) if !is_free => {}
                (Look::Value, Deed::Allow | Deed::Part | Deed::Whole) => {
                    if seen.own || rule.deed == Deed::Part {
                        notes.push(seen.rule);
                    }
                    rule.group.claim(&mut claims);
                    if rule.is_enforced() {
                        act = Some(rule);
                    }
                    needs_whole |= !looking.is_empty();
                }
            }
        }
        let detects = !looking.is_empty();
        let answer = match act.map(|rule| &rule.action) {
            _ if needs_whole || act.is_some() && detects => Long::Whole,
            None if detects => Long::Windows,
            None | Some(Action::Allow) => Long::Pass,
            Some(Action::Mask(_)) => Long::Whole,
            Some(Action::Redact(redact)) => {
                write::redacted_json(redact, None, &mut edits.text, &mut edits.json);
                Long::Replace
            }
            Some(Action::Replace(json) | Action::Set(json)) => {
                edits.json.extend_from_slice(json.as_bytes());
                Long::Replace
            }
            Some(Action::Remove | Action::Log | Action::Rename(_) | Action::Block(_)) => Long::Remove,
        };
        if answer != Long::Whole {
            for rule in notes {
                findings.record(rule, None, &spot, plan.privacy());
            }
            self.edited |= matches!(answer, Long::Replace | Long::Remove);
        }
        answer
    }
}
