//! Header fields, as names and bytes. Fields that frame or route the message are never touched, whatever a rule says.

use super::{HeadJudge, Judged};
use crate::pii::{Context, EntityId};
use crate::policy::case::Outcome;
use crate::policy::place::{Place, Spot};
use crate::policy::{Findings, Plan};

/// One header field that is to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderEdit {
    /// Its position among the fields that were judged.
    pub position: usize,
    /// How.
    pub change: HeaderChange,
}

/// How a header field changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderChange {
    /// It gets this value (no control characters; UTF-8).
    Set(Vec<u8>),
    /// It goes.
    Remove,
}

/// Hop-by-hop fields (RFC 9110, section 7.6.1), framing, and what says where the message goes.
const NEVER_TOUCHED: [&str; 13] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl Plan {
    /// Judges header fields. Names are compared without case. A value that is not UTF-8 is read as Latin-1, and an edit of
    /// a part of it takes all of it.
    pub fn judge_headers<'a>(
        &self,
        fields: impl IntoIterator<Item = (&'a str, &'a [u8])>,
        findings: &mut Findings,
    ) -> Judged<Vec<HeaderEdit>> {
        if !self.reads_headers() {
            return Judged::Pass;
        }
        let mut judge = HeadJudge::new(self, &self.headers, findings);
        let mut edits = Vec::new();
        for (position, (name, bytes)) in fields.into_iter().enumerate() {
            if NEVER_TOUCHED.iter().any(|never| never.eq_ignore_ascii_case(name)) {
                continue;
            }
            let utf8 = std::str::from_utf8(bytes);
            let latin1: String =
                if utf8.is_err() { bytes.iter().copied().map(char::from).collect() } else { String::new() };
            let text = utf8.unwrap_or(&latin1);
            let context = self.customs().under(Context::default(), name);
            let outcome = judge.value(name, true, text, context, &Spot::new(Place::Header(name)));
            if let Outcome::Stop(rule) = outcome {
                return judge.block(rule);
            }
            let change = if judge.removes(outcome) {
                HeaderChange::Remove
            } else if let Some(new) = judge.edited(judge.widened(outcome, utf8.is_err()), text) {
                HeaderChange::Set(without_controls(new).into_bytes())
            } else {
                continue;
            };
            edits.push(HeaderEdit { position, change });
        }
        if edits.is_empty() { Judged::Pass } else { Judged::Edit(edits) }
    }
}

impl HeadJudge<'_> {
    /// SECURITY: offsets into a misread text prove nothing, so the first edit's action is done to all of it.
    fn widened(&self, outcome: Outcome, misread: bool) -> Outcome {
        match (outcome, self.bench.spans.first()) {
            (Outcome::Spans, Some(span)) if misread => {
                let entity: Option<EntityId> = Some(span.entity);
                Outcome::Whole { rule: span.rule, entity }
            }
            _ => outcome,
        }
    }
}

/// SECURITY: a rule's text must not end the field.
fn without_controls(text: String) -> String {
    if text.contains(|c: char| c.is_control()) { text.replace(|c: char| c.is_control(), " ") } else { text }
}
