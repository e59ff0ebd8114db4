//! The query string, and forms, which are written alike: `name=value` pairs between `&`, percent-encoded, `+` for space
//! (WHATWG URL, section 5.1).

use super::percent::{Decoded, push_encoded};
use super::{HeadJudge, Judged};
use crate::actions::Action;
use crate::pii::Context;
use crate::policy::case::{Outcome, Span};
use crate::policy::place::{Place, Spot};
use crate::policy::{Findings, Plan};

impl Plan {
    /// Judges the query string (without `?`, as it was sent). An edit is the new query string; it may be empty.
    pub fn judge_query(&self, query: &str, findings: &mut Findings) -> Judged<String> {
        if !self.reads_query() || query.is_empty() {
            return Judged::Pass;
        }
        let mut judge = HeadJudge::new(self, &self.query, findings);
        let mut kept: Vec<std::borrow::Cow<'_, str>> = Vec::new();
        let mut edited = false;
        for pair in query.split('&') {
            match judge.pair(pair, |name| Place::Query(name)) {
                Pair::Keep => kept.push(pair.into()),
                Pair::Edit(new) => {
                    edited = true;
                    kept.push(new.into());
                }
                Pair::Remove => edited = true,
                Pair::Stop(rule) => return judge.block(rule),
            }
        }
        if edited { Judged::Edit(kept.join("&")) } else { Judged::Pass }
    }

    /// Judges a pair of a form by the rules for bodies. Rules without a detector see nothing of it.
    pub(in crate::policy) fn judge_form_pair(&self, pair: &str, findings: &mut Findings) -> Judged<String> {
        let mut judge = HeadJudge::new(self, &self.form, findings);
        match judge.pair(pair, |name| Place::Form(name)) {
            Pair::Keep => Judged::Pass,
            Pair::Edit(new) => Judged::Edit(new),
            Pair::Remove => Judged::Edit(String::new()),
            Pair::Stop(rule) => judge.block(rule),
        }
    }
}

enum Pair {
    Keep,
    Edit(String),
    Remove,
    Stop(u16),
}

impl HeadJudge<'_> {
    fn pair(&mut self, pair: &str, place: for<'p> fn(&'p str) -> Place<'p>) -> Pair {
        let (sent_name, sent_value) = match pair.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (pair, None),
        };
        let name = Decoded::of(sent_name, true);
        let spot = Spot::new(place(&name.text));
        let outcome = self.anything(&name.text, Context::default(), &spot);
        if let Outcome::Stop(rule) = outcome {
            return Pair::Stop(rule);
        }
        let new_name = self.resent(outcome, &name, sent_name);

        let value = Decoded::of(sent_value.unwrap_or(""), true);
        let context = self.plan.customs().under(Context::default(), &name.text);
        let outcome = self.value(&name.text, false, &value.text, context, &spot);
        if let Outcome::Stop(rule) = outcome {
            return Pair::Stop(rule);
        }
        if self.removes(outcome) {
            return Pair::Remove;
        }
        let new_value = self.resent(outcome, &value, sent_value.unwrap_or(""));
        if new_name.is_none() && new_value.is_none() {
            return Pair::Keep;
        }
        let mut out = new_name.unwrap_or_else(|| sent_name.to_owned());
        // A parameter without `=` gets one only for something to put behind it.
        let value = new_value.as_deref().filter(|new| sent_value.is_some() || !new.is_empty()).or(sent_value);
        if let Some(value) = value {
            out.push('=');
            out.push_str(value);
        }
        Pair::Edit(out)
    }

    pub(super) fn removes(&self, outcome: Outcome) -> bool {
        matches!(outcome, Outcome::Whole { rule, .. }
            if self.plan.judging(rule).is_some_and(|rule| rule.action == Action::Remove))
    }

    /// What is to be sent in place of `sent`; `None`: nothing changes. Bytes that no edit touches stay as they were sent.
    pub(super) fn resent(&self, outcome: Outcome, decoded: &Decoded, sent: &str) -> Option<String> {
        let by_spans = match outcome {
            Outcome::Spans => resent_spans(self.plan, &self.bench.spans, decoded, sent),
            Outcome::Keep | Outcome::Whole { .. } | Outcome::Stop(_) => None,
        };
        by_spans.or_else(|| {
            let mut out = String::new();
            push_encoded(&self.edited(outcome, &decoded.text)?, &mut out);
            Some(out)
        })
    }
}

/// `None`: there is no way back to the bytes sent.
fn resent_spans(plan: &Plan, spans: &[Span], decoded: &Decoded, sent: &str) -> Option<String> {
    let (mut out, mut from) = (String::new(), 0);
    for span in spans {
        let range = decoded.sent_range(span.start, span.end)?;
        out.push_str(sent.get(from..range.start)?);
        let mut new = String::new();
        plan.push_span(*span, &decoded.text, &mut new);
        push_encoded(&new, &mut out);
        from = range.end;
    }
    out.push_str(sent.get(from..)?);
    Some(out)
}
