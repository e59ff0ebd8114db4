//! Judging the head of a message: query, path and header fields. Edits come as plain data; only the touched bytes change.

mod headers;
mod part;
mod path;
mod percent;
mod query;

pub use headers::{HeaderChange, HeaderEdit};

use super::Verdict;
use super::case::{Case, Outcome, Seen, Subject};
use super::finding::Findings;
use super::name::any_matches;
use super::place::Spot;
use super::plan::{HeadPlan, Plan};
use super::value::Bench;
use crate::actions::Block;
use crate::pii::Context;

/// What judging a part of the head came to: `E` is the edited part.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Judged<E> {
    /// Untouched.
    Pass,
    /// With this in its place.
    Edit(E),
    /// Not at all: the rule's block and its position in the plan.
    Block(Block, u16),
}

impl<E> Judged<E> {
    /// Without the edit.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Pass => Verdict::Pass,
            Self::Edit(_) => Verdict::Edit,
            Self::Block(block, rule) => Verdict::Block(block.clone(), *rule),
        }
    }
}

/// The judge of one part of the head.
struct HeadJudge<'a> {
    plan: &'a Plan,
    part: &'a HeadPlan,
    findings: &'a mut Findings,
    bench: Bench,
    seen: Vec<Seen>,
}

impl<'a> HeadJudge<'a> {
    fn new(plan: &'a Plan, part: &'a HeadPlan, findings: &'a mut Findings) -> Self {
        Self { plan, part, findings, bench: Bench::default(), seen: Vec::new() }
    }

    /// Judges a value under its name.
    fn value(&mut self, name: &str, fold: bool, text: &str, context: Context, spot: &Spot<'_>) -> Outcome {
        self.seen.clear();
        self.seen.extend_from_slice(&self.part.lens.seen);
        let named = self.part.named.iter().filter(|(_, patterns)| any_matches(patterns, name, fold));
        self.seen.extend(named.map(|(rule, _)| Seen { rule: *rule, own: true }));
        self.seen.sort_unstable_by_key(|seen| seen.rule);
        self.run(text, context, spot)
    }

    /// Judges by the rules that look whatever the name is.
    fn anything(&mut self, text: &str, context: Context, spot: &Spot<'_>) -> Outcome {
        self.seen.clear();
        self.seen.extend_from_slice(&self.part.lens.seen);
        self.run(text, context, spot)
    }

    fn run(&mut self, text: &str, context: Context, spot: &Spot<'_>) -> Outcome {
        if self.seen.is_empty() {
            return Outcome::Keep;
        }
        let (plan, lens, seen) = (self.plan, &self.part.lens, &self.seen);
        let case = Case { plan, lens, seen, subject: Subject::Text(text), around: &context, gone: false, spot };
        self.bench.judge(&case, self.findings)
    }

    /// What an outcome makes of `text`; `None`: nothing. Removal is the caller's.
    fn edited(&self, outcome: Outcome, text: &str) -> Option<String> {
        let mut out = String::new();
        match outcome {
            Outcome::Keep | Outcome::Stop(_) => return None,
            Outcome::Whole { rule, entity } => self.plan.push_whole(rule, entity, text, &mut out),
            Outcome::Spans => self.plan.push_spans(&self.bench.spans, text, &mut out),
        }
        Some(out)
    }

    fn block<E>(&self, rule: u16) -> Judged<E> {
        match self.plan.verdict(Some(rule), false) {
            Verdict::Block(block, rule) => Judged::Block(block, rule),
            Verdict::Pass | Verdict::Edit => Judged::Pass,
        }
    }
}
