//! How an outcome is written where only text can stand: spans of strings, keys, query, path and headers.

use super::case::Span;
use super::plan::Plan;
use crate::actions::{Action, Redact};
use crate::pii::EntityId;

impl Plan {
    /// Appends what stands for the span of `text`.
    pub(super) fn push_span(&self, span: Span, text: &str, out: &mut String) {
        let matched = text.get(span.start..span.end).unwrap_or("");
        self.push_whole(span.rule, Some(span.entity), matched, out);
    }

    /// Appends `text` with the spans edited.
    pub(super) fn push_spans(&self, spans: &[Span], text: &str, out: &mut String) {
        let mut from = 0;
        for span in spans {
            out.push_str(text.get(from..span.start).unwrap_or(""));
            self.push_span(*span, text, out);
            from = span.end;
        }
        out.push_str(text.get(from..).unwrap_or(""));
    }

    /// Appends what `rule` makes of the whole text.
    pub(super) fn push_whole(&self, rule: u16, entity: Option<EntityId>, text: &str, out: &mut String) {
        let Some(rule) = self.judging(rule) else { return };
        match &rule.action {
            Action::Mask(mask) => mask.push_text(text, out),
            Action::Redact(redact) => redact.push_text(entity.map(|entity| self.customs().name(entity)), out),
            Action::Replace(_) | Action::Set(_) | Action::Rename(_) => out.push_str(&rule.plain),
            // SECURITY: only edits get here; should another action do so, nothing is shown.
            Action::Remove | Action::Allow | Action::Log | Action::Block(_) => {
                Redact::default().push_text(entity.map(|entity| self.customs().name(entity)), out);
            }
        }
    }
}
