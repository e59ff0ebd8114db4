//! How an outcome is written into a JSON body. It decides nothing.

use crate::actions::{Action, Mask, Redact, push_json_string};
use crate::content::json::{Edit, Edits, Scalar, Splice};
use crate::pii::EntityId;
use crate::policy::case::Span;
use crate::policy::plan::Plan;

/// The action of `rule` on a whole scalar.
pub(super) fn whole(plan: &Plan, rule: u16, entity: Option<EntityId>, value: Scalar<'_>, edits: &mut Edits) -> Edit {
    let Some(rule) = plan.judging(rule) else { return Edit::Keep };
    match &rule.action {
        Action::Remove => Edit::Remove,
        Action::Replace(json) | Action::Set(json) => replace(json.as_bytes(), edits),
        Action::Redact(redact) => whole_redacted(redact, plan.name_of(entity), value, edits),
        Action::Mask(mask) => whole_masked(mask, value, edits),
        Action::Allow | Action::Log | Action::Rename(_) | Action::Block(_) => Edit::Keep,
    }
}

fn replace(json: &[u8], edits: &mut Edits) -> Edit {
    edits.json.extend_from_slice(json);
    Edit::Replace
}

/// `true`, `false` and `null` become a string: there is no other text of their type that hides them.
fn whole_redacted(redact: &Redact, entity: Option<&str>, value: Scalar<'_>, edits: &mut Edits) -> Edit {
    match value {
        Scalar::Number(_) if !redact.as_string => replace(b"0", edits),
        Scalar::String(_) | Scalar::Number(_) | Scalar::Bool(_) | Scalar::Null => {
            redacted_json(redact, entity, &mut edits.text, &mut edits.json);
            Edit::Replace
        }
    }
}

/// Appends the JSON string that stands for a redacted value; `scratch` is overwritten.
pub(super) fn redacted_json(redact: &Redact, entity: Option<&str>, scratch: &mut String, json: &mut Vec<u8>) {
    scratch.clear();
    redact.push_text(entity, scratch);
    push_json_string(scratch, json);
}

/// `true` and `false` become `null`: four or five mask characters would tell which it was.
fn whole_masked(mask: &Mask, value: Scalar<'_>, edits: &mut Edits) -> Edit {
    match value {
        Scalar::String(text) => {
            let (hidden, count) = mask.hidden(text);
            mask.push_hidden(count, &mut edits.text);
            edits.splices.push(Splice { range: hidden, with: 0..edits.text.len() });
            Edit::Splice
        }
        Scalar::Number(lexeme) if mask.as_string => {
            edits.text.clear();
            mask.push_text(lexeme, &mut edits.text);
            push_json_string(&edits.text, &mut edits.json);
            Edit::Replace
        }
        Scalar::Number(lexeme) => {
            edits.json.extend_from_slice(lexeme.as_bytes());
            mask.number(&mut edits.json, 0..lexeme.len());
            Edit::Replace
        }
        Scalar::Bool(_) => replace(b"null", edits),
        Scalar::Null => Edit::Keep,
    }
}

/// Edits inside a string or a window.
pub(super) fn spans_in_text(plan: &Plan, spans: &[Span], text: &str, edits: &mut Edits) -> Edit {
    for span in spans {
        let from = edits.text.len();
        plan.push_span(*span, text, &mut edits.text);
        edits.splices.push(Splice { range: span.start..span.end, with: from..edits.text.len() });
    }
    Edit::Splice
}

/// Edits inside a number: `redact` takes all of it, `mask` the digits in the span.
pub(super) fn spans_in_number(plan: &Plan, spans: &[Span], lexeme: &str, edits: &mut Edits) -> Edit {
    let mut as_string = false;
    for span in spans {
        match plan.judging(span.rule).map(|rule| &rule.action) {
            Some(Action::Mask(mask)) => as_string |= mask.as_string,
            Some(Action::Redact(redact)) => {
                return whole_redacted(redact, plan.name_of(Some(span.entity)), Scalar::Number(lexeme), edits);
            }
            Some(
                Action::Allow
                | Action::Log
                | Action::Remove
                | Action::Replace(_)
                | Action::Rename(_)
                | Action::Set(_)
                | Action::Block(_),
            )
            | None => {}
        }
    }
    if as_string {
        edits.text.clear();
        plan.push_spans(spans, lexeme, &mut edits.text);
        push_json_string(&edits.text, &mut edits.json);
        return Edit::Replace;
    }
    edits.json.extend_from_slice(lexeme.as_bytes());
    for span in spans {
        if let Some(Action::Mask(mask)) = plan.judging(span.rule).map(|rule| &rule.action) {
            mask.number(&mut edits.json, span.start..span.end);
        }
    }
    Edit::Replace
}
