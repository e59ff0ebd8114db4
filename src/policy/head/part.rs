//! What a part of a multipart body says in its head, and the text of its field. The line of a field is a text to detectors, and
//! so is each parameter of `Content-Disposition`: the names of fields and files. Edits keep the form: an edited parameter stands
//! in quotes, and what would end it is percent-encoded, as browsers do.

use std::ops::Range;

use super::percent::Decoded;
use super::{HeadJudge, Judged};
use crate::content::multipart::{Field, Head, Param};
use crate::pii::Context;
use crate::policy::case::Outcome;
use crate::policy::place::{Place, Spot};
use crate::policy::{Findings, Plan};

/// A rule blocks.
struct Stop(u16);

fn going_on(outcome: Outcome) -> Result<Outcome, Stop> {
    if let Outcome::Stop(rule) = outcome { Err(Stop(rule)) } else { Ok(outcome) }
}

impl Plan {
    /// Judges the text of a field by the rules for bodies. Rules without a detector see nothing of it.
    pub(in crate::policy) fn judge_part_field(
        &self,
        name: &str,
        text: &str,
        findings: &mut Findings,
    ) -> Judged<String> {
        let mut judge = HeadJudge::new(self, &self.form, findings);
        let context = Context::default().under(name);
        match going_on(judge.value(name, false, text, context, &Spot::new(Place::Form(name)))) {
            Err(Stop(rule)) => judge.block(rule),
            Ok(outcome) => judge.edited(outcome, text).map_or(Judged::Pass, Judged::Edit),
        }
    }

    /// Judges the head of a part. An edit is the new head.
    pub(in crate::policy) fn judge_part_head(&self, head: &Head<'_>, findings: &mut Findings) -> Judged<String> {
        let mut judge = HeadJudge::new(self, &self.form, findings);
        let mut edits = Vec::new();
        for (n, field) in head.fields.iter().enumerate() {
            let result = match &head.disposition {
                Some((at, params)) if *at == n => judge.disposition(head, field, params, &mut edits),
                Some(_) | None => judge.piece(head, field.name.start..field.value.end, field, &mut edits),
            };
            if let Err(Stop(rule)) = result {
                return judge.block(rule);
            }
        }
        if edits.is_empty() {
            return Judged::Pass;
        }
        let (mut out, mut from) = (String::with_capacity(head.text.len()), 0);
        for (range, new) in edits {
            out.push_str(head.text.get(from..range.start).unwrap_or_default());
            out.push_str(&new);
            from = range.end;
        }
        out.push_str(head.text.get(from..).unwrap_or_default());
        Judged::Edit(out)
    }
}

/// Where in a head, and what comes instead; ascending.
type Edits = Vec<(Range<usize>, String)>;

impl HeadJudge<'_> {
    fn disposition(&mut self, head: &Head<'_>, field: &Field, params: &[Param], edits: &mut Edits) -> Result<(), Stop> {
        let base = field.value.start;
        let moved = |range: &Range<usize>| base + range.start..base + range.end;
        let end = params.first().map_or(field.value.end, |first| base + first.name.start);
        self.piece(head, field.name.start..end, field, edits)?;
        let spot_name = head.param("name").unwrap_or_default();
        for param in params {
            self.piece(head, moved(&param.name), field, edits)?;
            let name = head.text.get(moved(&param.name)).unwrap_or_default();
            let value = head.text.get(moved(&param.value)).unwrap_or_default();
            if let Some(new) = self.param(value, name.ends_with('*'), &Spot::new(Place::Form(spot_name)))? {
                edits.push((moved(&param.written), new));
            }
        }
        Ok(())
    }

    /// A piece of a field, as a text.
    fn piece(&mut self, head: &Head<'_>, range: Range<usize>, field: &Field, edits: &mut Edits) -> Result<(), Stop> {
        let text = head.text.get(range.clone()).unwrap_or_default();
        let name = head.text.get(field.name.clone()).unwrap_or_default();
        let outcome = going_on(self.anything(text, Context::default(), &Spot::new(Place::Header(name))))?;
        let new = self.edited(outcome, text);
        edits.extend(new.map(|new| (range, new.replace(|c: char| c.is_control(), " "))));
        Ok(())
    }

    /// A parameter's value, as it is written and as those read it who resolve escapes. Answers how it is to be written.
    fn param(&mut self, value: &str, is_extended: bool, spot: &Spot<'_>) -> Result<Option<String>, Stop> {
        let mut new = None;
        if !is_extended {
            let outcome = going_on(self.anything(value, Context::default(), spot))?;
            new = self.edited(outcome, value).map(|new| without_ends(&new));
        }
        let now = new.as_deref().unwrap_or(value);
        if is_extended || now.contains('%') {
            let decoded = Decoded::of(now, false);
            let outcome = going_on(self.anything(&decoded.text, Context::default(), spot))?;
            new = self.resent(outcome, &decoded, now).or(new);
        }
        Ok(new.map(|new| if is_extended { new } else { format!("\"{new}\"") }))
    }
}

/// Without what would end a quoted text, or which readers differ about.
fn without_ends(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("%22"),
            '\\' => out.push_str("%5C"),
            '\r' => out.push_str("%0D"),
            '\n' => out.push_str("%0A"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
