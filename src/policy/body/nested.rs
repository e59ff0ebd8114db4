//! Strings that hold JSON, under rules with `parse`: the order of claims on such a string, and the document in it judged by a
//! judge of its own. It promises that what a rule would have hidden in the string as a text stays hidden; how a document is
//! read, and how an edit gets back into the string, it refuses to know.
//!
//! A string is *opened* when an enforced rule with `parse` selects it (then it must hold JSON, or the body is malformed), or
//! looks at something above it and it holds an object or array. In an opened string
//!
//! 1. rules about the string as such (`mask`, `remove`… without `parse`) claim all of it, if nothing before them claimed
//!    anything in it;
//! 2. all other rules that look at it look at what is in it, in their order: those with `parse`, and every detector;
//! 3. detectors without `parse` then see the string as a text, too, without what was edited in it: what they recognise only
//!    there is edited there ([`super::remainder`]).
//!
//! Shadow policies open nothing: their rules with `parse` look into a string on the side, and change nothing about it.

use super::judge::BodyJudge;
use super::remainder::Remainder;
use super::write;
use crate::content::json::{
    Change, Edit, Edits, Fault, Limits, Node, Scalar, Splice, is_container, is_document, rewrite_inside,
};
use crate::pii::EntityId;
use crate::policy::Findings;
use crate::policy::case::{Case, Deed, Look, Outcome, Seen, Subject};
use crate::policy::place::{Place, Spot};
use crate::policy::value::Bench;

/// How many strings may hold one another. Each level costs another look at the same bytes.
const DEEPEST: u8 = 4;

const NOT_JSON: Fault = Fault::Malformed { at: 0, what: "a string that a rule parses holds no JSON" };
const TOO_DEEP: Fault = Fault::Malformed { at: 0, what: "too many strings hold JSON in one another" };

/// Where a judge's document lies: how many strings are around it, and what it may cost.
#[derive(Debug)]
pub(super) struct Nest {
    limits: Limits,
    level: u8,
    /// Whether an enforced rule claimed something without editing it. Noted in strings only.
    claimed: bool,
}

impl Nest {
    /// In no string.
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, level: 0, claimed: false }
    }

    pub(super) fn is_inside(&self) -> bool {
        self.level > 0
    }

    /// A value was kept.
    #[inline]
    pub(super) fn note(&mut self, bench: &Bench) {
        if self.level > 0 {
            self.claimed |= bench.is_claimed();
        }
    }
}

/// What rules made of the inside of a string.
#[derive(Debug, Default)]
struct Inside {
    changes: Vec<Change>,
    /// A detector's action on the string as a whole.
    whole: Option<(u16, Option<EntityId>)>,
    /// Whether anything is claimed, edited or not.
    touched: bool,
}

/// What a walk over the rules of a string came to.
enum Walk {
    End,
    /// The string as such would be claimed by this one.
    Whole(usize),
}

/// The rules of a string, as they are sorted out.
#[derive(Debug, Default)]
struct Sorted {
    /// Those that look inside, ascending.
    inside: Vec<u16>,
    /// The groups that claimed all of it.
    claims: u64,
}

impl BodyJudge {
    /// Whether an enforced rule with `parse` looks at the string at hand: its whole content is needed.
    pub(super) fn must_open(&self) -> bool {
        let rules = self.seen.iter().filter_map(|seen| self.plan.judging(seen.rule));
        rules.into_iter().any(|rule| rule.parses && rule.is_enforced())
    }

    /// Judges the string at hand, at which the rules in `seen` look, by what it holds. `None`: it is judged as any other,
    /// by the rules that are left in `seen`.
    pub(super) fn open_string(&mut self, node: Node<'_>, text: &str, edits: &mut Edits) -> Option<Edit> {
        let parsing = |seen: &Seen| self.plan.judging(seen.rule).filter(|rule| rule.parses);
        let mut rules = self.seen.iter().filter_map(|seen| Some((seen, parsing(seen)?))).peekable();
        rules.peek()?;
        let (mut owns, mut demands, mut opens) = (false, false, false);
        for (seen, rule) in rules {
            owns |= seen.own;
            demands |= seen.own && rule.is_enforced();
            opens |= rule.is_enforced() && rule.reaches_down();
        }
        if demands && !is_document(text) {
            return Some(Edit::Fault(NOT_JSON));
        }
        if !demands && !(if owns { is_document(text) } else { is_container(text) }) {
            return None;
        }
        if !opens {
            self.look_aside(node, text);
            return None;
        }
        if self.nest.level >= DEEPEST {
            return Some(Edit::Fault(TOO_DEEP));
        }
        let seen = std::mem::take(&mut self.seen);
        let edit = self.judge_opened(&seen, node, text, edits).unwrap_or_else(|stop| stop);
        self.seen = seen;
        Some(edit)
    }

    /// Shadow rules look into a string that no enforced rule opens. What cannot be read they let be.
    fn look_aside(&mut self, node: Node<'_>, text: &str) {
        let plan = &self.plan;
        let aside = |seen: &Seen| plan.judging(seen.rule).is_some_and(|rule| rule.parses && rule.reaches_down());
        let inside: Vec<u16> = self.seen.iter().filter(|seen| aside(seen)).map(|seen| seen.rule).collect();
        if inside.is_empty() || self.nest.level >= DEEPEST {
            return;
        }
        let before = self.findings.clone();
        if self.read_inside(&inside, self.frames.gone(), node, text).is_ok() {
            let plan = self.plan.clone();
            self.seen.retain(|seen| !plan.judging(seen.rule).is_some_and(|rule| rule.parses && rule.reaches_down()));
        } else {
            self.findings = before;
        }
    }

    fn judge_opened(&mut self, seen: &[Seen], node: Node<'_>, text: &str, edits: &mut Edits) -> Result<Edit, Edit> {
        let gone = self.frames.gone();
        let mut sorted = Sorted::default();
        if let Walk::Whole(at) = self.walk(seen, false, node, &mut sorted)? {
            let before = self.findings.clone();
            let (inside, rest) =
                (self.look_inside(&sorted.inside, gone, node, text)?, seen.get(at + 1..).unwrap_or(&[]));
            if !inside.touched {
                return self.claim_string(seen.get(at).copied(), rest, node, text, edits);
            }
            // Something before it was first: it leaves the string alone, and with it does every other one of its kind.
            self.findings = before;
            self.walk(rest, true, node, &mut sorted)?;
        }
        let inside = self.look_inside(&sorted.inside, gone, node, text)?;
        if gone || inside.whole.is_none() && inside.changes.is_empty() {
            return Ok(Edit::Keep);
        }
        self.edited = true;
        if let Some((rule, entity)) = inside.whole {
            return Ok(write::whole(&self.plan, rule, entity, Scalar::String(text), edits));
        }
        for change in inside.changes {
            let from = edits.text.len();
            edits.text.push_str(&change.with);
            edits.splices.push(Splice { range: change.range, with: from..edits.text.len() });
        }
        Ok(Edit::Splice)
    }

    /// Sorts the rules that look at a string, as far as the first that would claim it as such, unless these are `spent`.
    fn walk(&mut self, seen: &[Seen], spent: bool, node: Node<'_>, sorted: &mut Sorted) -> Result<Walk, Edit> {
        let plan = self.plan.clone();
        let gone = self.frames.gone();
        let spot = Spot::new(Place::Json(node.path));
        for (at, seen) in seen.iter().enumerate() {
            let Some(rule) = plan.judging(seen.rule) else { continue };
            let is_free = !gone && !rule.group.is_bound_by(sorted.claims);
            match (rule.look, rule.deed) {
                (Look::Detect { .. }, _) => sorted.inside.push(seen.rule),
                (Look::Value, Deed::Block) if seen.own => {
                    self.findings.record(seen.rule, None, &spot, plan.privacy());
                    if rule.is_enforced() {
                        self.blocked = Some(seen.rule);
                        return Err(Edit::Stop);
                    }
                }
                (Look::Value, Deed::Log) if seen.own && is_free => {
                    self.findings.record(seen.rule, None, &spot, plan.privacy());
                }
                (Look::Value, Deed::Block | Deed::Log | Deed::Rename) => {}
                (Look::Value, Deed::Allow | Deed::Part | Deed::Whole) if !is_free => {}
                (Look::Value, Deed::Allow | Deed::Part | Deed::Whole) if !rule.parses && rule.is_enforced() => {
                    if !spent {
                        return Ok(Walk::Whole(at));
                    }
                }
                (Look::Value, deed) => {
                    if seen.own && deed == Deed::Allow || !rule.parses && (seen.own || deed == Deed::Part) {
                        self.findings.record(seen.rule, None, &spot, plan.privacy());
                    }
                    rule.group.claim(&mut sorted.claims);
                    if rule.parses {
                        sorted.inside.push(seen.rule);
                    }
                }
            }
        }
        Ok(Walk::End)
    }

    /// A rule claims the string as such; of those after it (`rest`), only the ones that block still matter.
    fn claim_string(
        &mut self,
        by: Option<Seen>,
        rest: &[Seen],
        node: Node<'_>,
        text: &str,
        edits: &mut Edits,
    ) -> Result<Edit, Edit> {
        let plan = self.plan.clone();
        let Some((by, rule)) = by.and_then(|by| Some((by, plan.judging(by.rule)?))) else { return Ok(Edit::Keep) };
        let is_news = by.own || rule.deed == Deed::Part;
        if is_news {
            self.findings.record(by.rule, None, &Spot::new(Place::Json(node.path)), plan.privacy());
        }
        let mut sorted = Sorted { claims: rule.group.0, ..Sorted::default() };
        self.walk(rest, true, node, &mut sorted)?;
        self.look_inside(&sorted.inside, true, node, text)?;
        if !is_news || rule.deed == Deed::Allow {
            return Ok(Edit::Keep);
        }
        self.edited = true;
        Ok(write::whole(&plan, by.rule, None, Scalar::String(text), edits))
    }

    /// What `rules` make of the document in the string, and those without `parse` of the string itself.
    fn look_inside(&mut self, rules: &[u16], gone: bool, node: Node<'_>, text: &str) -> Result<Inside, Edit> {
        if rules.is_empty() {
            return Ok(Inside::default());
        }
        let mut inside = self.read_inside(rules, gone, node, text)?;
        self.look_at_remainder(rules, gone, node, text, &mut inside)?;
        Ok(inside)
    }

    /// The document in the string, judged by `rules`. Goes no deeper on the machine's own stack than [`DEEPEST`].
    fn read_inside(&mut self, rules: &[u16], gone: bool, node: Node<'_>, text: &str) -> Result<Inside, Edit> {
        let mut judge = Self::new(self.plan.clone(), self.nest.limits);
        judge.frames = super::frames::Frames::inside(gone, rules.to_vec());
        judge.nest.level = self.nest.level + 1;
        judge.findings = std::mem::take(&mut self.findings);
        let result = rewrite_inside(self.nest.limits, &mut judge, node.path, text);
        self.findings = std::mem::take(&mut judge.findings);
        match result {
            Ok(changes) => Ok(Inside { touched: judge.nest.claimed || !changes.is_empty(), changes, whole: None }),
            Err(Fault::Stopped) => {
                self.blocked = judge.blocked;
                Err(Edit::Stop)
            }
            Err(fault @ (Fault::Malformed { .. } | Fault::Oversize { .. })) => Err(Edit::Fault(fault)),
        }
    }

    /// SECURITY: what stands beside a value in the text may say what it is, and what spans two values is in neither: a
    /// detector that would have seen something in the string without `parse` sees it with `parse`, too.
    fn look_at_remainder(
        &mut self,
        rules: &[u16],
        gone: bool,
        node: Node<'_>,
        text: &str,
        inside: &mut Inside,
    ) -> Result<(), Edit> {
        let plan = self.plan.clone();
        let is_allowed = |n: u16| {
            rules
                .iter()
                .take_while(|before| **before < n)
                .filter_map(|n| plan.judging(*n))
                .any(|rule| rule.look == Look::Value && rule.deed == Deed::Allow && rule.is_enforced())
        };
        let sees = |n: u16| {
            plan.judging(n).is_some_and(|rule| match (rule.look, rule.deed) {
                (Look::Value, _) | (_, Deed::Log) => false,
                // An exception made by a rule with `parse` holds for the text as well.
                (_, Deed::Allow) => rule.is_enforced(),
                (_, Deed::Block) => rule.is_enforced() && !rule.parses,
                (_, Deed::Part | Deed::Whole | Deed::Rename) => rule.is_enforced() && !rule.parses && !is_allowed(n),
            })
        };
        let seen: Vec<Seen> = rules.iter().filter(|n| sees(**n)).map(|n| Seen { rule: *n, own: true }).collect();
        let acts = |seen: &&Seen| plan.judging(seen.rule).is_some_and(|rule| rule.deed != Deed::Allow);
        if seen.iter().filter(acts).count() == 0 {
            return Ok(());
        }
        // The lens of those that look: another's entity must not win a span from theirs.
        let everywhere = &plan.body.everywhere;
        let lens = if seen.iter().filter(acts).all(|seen| everywhere.seen.iter().any(|it| it.rule == seen.rule)) {
            everywhere
        } else {
            &plan.body.selected
        };
        let rest = Remainder::new(text, &inside.changes);
        let spot = Spot::new(Place::Json(node.path));
        let context = self.contexts.at(node.path, node.path.depth(), self.plan.customs());
        let case = Case {
            plan: &plan,
            lens,
            seen: &seen,
            subject: Subject::Text(rest.text()),
            around: &context,
            gone,
            spot: &spot,
        };
        let mut findings = Findings::default();
        let outcome = self.bench.judge(&case, &mut findings);
        // What is allowed was told where it stands in the document.
        let is_told = |n| plan.judging(n).is_some_and(|rule| rule.deed == Deed::Allow);
        self.findings.append(findings.without(is_told));
        inside.touched |= self.bench.is_claimed();
        match outcome {
            Outcome::Keep => {}
            Outcome::Stop(rule) => {
                self.blocked = Some(rule);
                return Err(Edit::Stop);
            }
            Outcome::Whole { rule, entity } => inside.whole = Some((rule, entity)),
            Outcome::Spans => {
                let changes = self.bench.spans.iter().map(|span| {
                    let mut with = String::new();
                    plan.push_span(*span, rest.text(), &mut with);
                    Change { range: rest.origin(span.start..span.end), with }
                });
                let changes: Vec<Change> = changes.collect();
                inside.changes = rest.joined(&changes);
            }
        }
        Ok(())
    }
}
