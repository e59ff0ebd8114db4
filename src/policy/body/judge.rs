//! The JSON engine's judge: turns nodes into cases for [`Bench`], and outcomes into edits.

use std::cell::RefCell;
use std::sync::Arc;

use super::contexts::Contexts;
use super::frames::Frames;
use super::nested::Nest;
use super::write;
use crate::actions::Action;
use crate::content::json::{
    Container, Edit, Edits, Entry, EntryId, Judge, KeyEdit, Limits, Long, Node, Path, Scalar, Show,
};
use crate::pii::{Context, Customs, Surroundings};
use crate::policy::case::{Case, Deed, Lens, Look, Outcome, Seen, Subject};
use crate::policy::place::{Place, Spot};
use crate::policy::value::Bench;
use crate::policy::{Failure, Findings, Plan, Verdict};

/// Judges one body. State of one message; the plan behind it is shared.
#[derive(Debug)]
pub struct BodyJudge {
    pub(super) plan: Arc<Plan>,
    pub(super) findings: Findings,
    pub(super) bench: Bench,
    pub(super) frames: Frames,
    /// The rules that look at the node at hand, when they are not just those that look everywhere.
    pub(super) seen: Vec<Seen>,
    pub(super) contexts: Contexts,
    /// What looks at the windows of the long string at hand, and whether through the lens for selected values.
    pub(super) long: (Vec<Seen>, bool),
    pub(super) blocked: Option<u16>,
    pub(super) edited: bool,
    /// Nothing passes without being judged, whatever policy says.
    pub(super) is_strict: bool,
    /// Why parts of the body were not judged, each reason once.
    passed: Vec<(Failure, &'static str)>,
    /// In how many strings, one in the other, the document lies, and what it may cost.
    pub(super) nest: Nest,
}

/// What was known before a document that may yet turn out unreadable.
#[derive(Debug)]
pub(super) struct Before {
    findings: Findings,
    edited: bool,
}

impl BodyJudge {
    /// At the start of a body.
    pub fn new(plan: Arc<Plan>, limits: Limits) -> Self {
        Self {
            plan,
            findings: Findings::default(),
            bench: Bench::default(),
            frames: Frames::default(),
            seen: Vec::new(),
            contexts: Contexts::default(),
            long: (Vec::new(), false),
            blocked: None,
            edited: false,
            is_strict: false,
            passed: Vec::new(),
            nest: Nest::new(limits),
        }
    }

    /// A document of its own begins.
    pub(super) fn begin_document(&mut self) -> Before {
        self.leave_document();
        Before { findings: std::mem::take(&mut self.findings), edited: self.edited }
    }

    /// Forgets where in a document it stands: paths, contexts and what reaches down are each document's own.
    pub(super) fn leave_document(&mut self) {
        self.frames.unwind(0);
        self.contexts = Contexts::default();
    }

    /// The document has ended. `counts`: what was found in it was acted upon.
    pub(super) fn end_document(&mut self, before: Before, counts: bool) {
        let found = std::mem::replace(&mut self.findings, before.findings);
        if counts {
            self.findings.append(found);
        } else {
            self.edited = before.edited;
        }
    }

    /// Something passes without being judged.
    pub(super) fn note_passed(&mut self, failure: Failure, what: &'static str) {
        if !self.passed.contains(&(failure, what)) {
            self.passed.push((failure, what));
        }
    }

    /// Why parts of the body passed without being judged.
    pub fn passed(&self) -> &[(Failure, &'static str)] {
        &self.passed
    }

    /// What judging came to so far.
    pub fn verdict(&self) -> Verdict {
        self.plan.verdict(self.blocked, self.edited)
    }

    /// What was found so far.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// What was found.
    pub fn into_findings(self) -> Findings {
        self.findings
    }

    /// Puts together who looks at a node: its own hits that `concern` it, what reaches down, and what looks everywhere.
    /// Answers whether a detector with `select` is among them.
    fn gather(&mut self, hits: &[EntryId], concern: impl Fn(Deed) -> bool, everywhere: bool) -> bool {
        let Self { plan, seen, frames, .. } = self;
        seen.clear();
        let mut detects = false;
        let mut look = |rule: u16, own: bool| {
            let Some(judging) = plan.judging(rule).filter(|rule| !own || concern(rule.deed)) else { return };
            detects |= judging.look != Look::Value;
            seen.push(Seen { rule, own });
        };
        hits.iter().filter_map(|hit| plan.entry(*hit)).for_each(|entry| look(entry.rule, true));
        frames.reaching().iter().for_each(|rule| look(*rule, false));
        // In a string those that look everywhere are among those that reach down.
        if everywhere && !self.nest.is_inside() {
            seen.extend_from_slice(&plan.body.everywhere.seen);
        }
        if seen.len() > 1 {
            seen.sort_unstable_by_key(|seen| (seen.rule, !seen.own));
            seen.dedup_by_key(|seen| seen.rule);
        }
        detects
    }

    /// Judges what stands at a place that `hits` select by the rules in `seen`.
    pub(super) fn decide(&mut self, by: By, subject: Subject<'_>, path: &Path, hits: &[EntryId]) -> Outcome {
        let Self { plan, bench, findings, frames, seen, long, contexts, .. } = self;
        // A key is judged in the context of its object.
        let depth = path.depth().saturating_sub(usize::from(matches!(subject, Subject::Key(_))));
        let around = Way { contexts: contexts.into(), path, depth, customs: plan.customs(), subject };
        let (lens, seen): (&Lens, &[Seen]) = match by {
            By::Everywhere => (&plan.body.everywhere, &plan.body.everywhere.seen),
            By::Gathered { selected: false } => (&plan.body.everywhere, seen),
            By::Gathered { selected: true } => (&plan.body.selected, seen),
            By::Long => (if long.1 { &plan.body.selected } else { &plan.body.everywhere }, &long.0),
        };
        let spot = plan.spot(path, hits);
        let case = Case { plan, lens, seen, subject, around: &around, gone: frames.gone(), spot: &spot };
        let outcome = bench.judge(&case, findings);
        match outcome {
            Outcome::Stop(rule) => self.blocked = Some(rule),
            Outcome::Whole { .. } | Outcome::Spans => self.edited = true,
            Outcome::Keep => self.nest.note(bench),
        }
        outcome
    }

    /// Who looks at the value at `node`; `None`: nobody.
    fn lookers(&mut self, node: Node<'_>) -> Option<By> {
        self.frames.unwind(node.path.depth());
        if !node.hits.is_empty() || !self.frames.reaching().is_empty() {
            return Some(By::Gathered { selected: self.gather(node.hits, |_| true, true) });
        }
        self.plan.wants_every_value().then_some(By::Everywhere)
    }

    /// Adds the members that `set` wants and the object at `path` has not, each name once.
    fn add_missing(&mut self, path: &Path, missing: &[EntryId], edits: &mut Edits) {
        let Self { plan, findings, frames, edited, .. } = self;
        if frames.gone() {
            return;
        }
        let mut added: Vec<&str> = Vec::new();
        for entry in missing.iter().filter_map(|entry| plan.entry(*entry)) {
            let (Some(rule), Some((name, member))) = (plan.judging(entry.rule), &entry.member) else { continue };
            let before = frames.reaching().iter().take_while(|above| **above < entry.rule);
            let is_allowed = before.filter_map(|above| plan.judging(*above)).any(|above| {
                above.look == Look::Value && above.deed == Deed::Allow && rule.group.is_bound_by(above.group.0)
            });
            if is_allowed || added.contains(&&**name) {
                continue;
            }
            let spot = Spot::or_known(Place::Missing(path, name), entry.place.as_ref());
            findings.record(entry.rule, None, &spot, plan.privacy());
            if rule.is_enforced() {
                if !edits.json.is_empty() {
                    edits.json.push(b',');
                }
                edits.json.extend_from_slice(member);
                added.push(name);
                *edited = true;
            }
        }
    }

    /// What a container as a whole becomes.
    fn container_becomes(&self, rule: u16, edits: &mut Edits) -> Entry {
        match self.plan.judging(rule).map(|rule| &rule.action) {
            Some(Action::Replace(json) | Action::Set(json)) => {
                edits.json.extend_from_slice(json.as_bytes());
                Entry::Replace
            }
            Some(Action::Redact(redact)) => {
                write::redacted_json(redact, None, &mut edits.text, &mut edits.json);
                Entry::Replace
            }
            Some(
                Action::Remove | Action::Allow | Action::Log | Action::Mask(_) | Action::Rename(_) | Action::Block(_),
            )
            | None => Entry::Remove,
        }
    }
}

/// The way to a value, until somebody asks what it says.
#[derive(Debug)]
struct Way<'a> {
    contexts: RefCell<&'a mut Contexts>,
    path: &'a Path,
    depth: usize,
    customs: &'a Customs,
    subject: Subject<'a>,
}

impl Surroundings for Way<'_> {
    fn context(&self) -> Context {
        let context = self.contexts.borrow_mut().at(self.path, self.depth, self.customs);
        if matches!(self.subject, Subject::Key(_)) { context.of_key() } else { context }
    }
}

/// Which rules look at a value, and through what.
#[derive(Debug, Clone, Copy)]
pub(super) enum By {
    Everywhere,
    Gathered { selected: bool },
    Long,
}

impl Judge for BodyJudge {
    fn show(&self) -> Show {
        if self.nest.is_inside() {
            return Show::Everything;
        }
        self.plan.glance().map_or(Show::Selected, Show::Promising)
    }

    /// Values below a selected one are hit by no entry, and yet `mask`, `allow` and detectors reach down to them.
    fn reaches_down(&self) -> bool {
        !self.frames.reaching().is_empty()
    }

    fn key(&mut self, node: Node<'_>, key: &str, edits: &mut Edits) -> KeyEdit {
        self.frames.unwind(node.path.depth());
        let by = if node.hits.is_empty() && self.frames.reaching().is_empty() {
            if !self.plan.wants_every_value() {
                return KeyEdit::Keep;
            }
            By::Everywhere
        } else {
            By::Gathered { selected: self.gather(node.hits, |deed| deed == Deed::Rename, true) }
        };
        match self.decide(by, Subject::Key(key), node.path, node.hits) {
            Outcome::Stop(_) => return KeyEdit::Stop,
            Outcome::Keep if self.plan.may_look_edited(key) => return KeyEdit::Reserve,
            Outcome::Keep => return KeyEdit::Keep,
            Outcome::Whole { rule, entity } => self.plan.push_whole(rule, entity, key, &mut edits.text),
            Outcome::Spans => self.plan.push_spans(&self.bench.spans, key, &mut edits.text),
        }
        if edits.text == key { KeyEdit::Reserve } else { KeyEdit::Rename }
    }

    fn key_matters(&mut self, key: &str) -> bool {
        self.plan.may_look_edited(key) || self.plan.takes_whole(Context::default().under(key))
    }

    fn scalar(&mut self, node: Node<'_>, value: Scalar<'_>, edits: &mut Edits) -> Edit {
        let Some(by) = self.lookers(node) else { return Edit::Keep };
        if let Scalar::String(text) = value
            && self.plan.opens_strings()
            && matches!(by, By::Gathered { .. })
            && let Some(edit) = self.open_string(node, text, edits)
        {
            return edit;
        }
        let subject = match value {
            Scalar::String(text) => Subject::Text(text),
            Scalar::Number(lexeme) => Subject::Number(lexeme),
            Scalar::Bool(_) => Subject::Bool,
            Scalar::Null => Subject::Null,
        };
        match self.decide(by, subject, node.path, node.hits) {
            Outcome::Keep => Edit::Keep,
            Outcome::Stop(_) => Edit::Stop,
            Outcome::Whole { rule, entity } => write::whole(&self.plan, rule, entity, value, edits),
            Outcome::Spans => match value {
                Scalar::String(text) => write::spans_in_text(&self.plan, &self.bench.spans, text, edits),
                Scalar::Number(lexeme) => write::spans_in_number(&self.plan, &self.bench.spans, lexeme, edits),
                Scalar::Bool(_) | Scalar::Null => Edit::Keep,
            },
        }
    }

    fn enter(&mut self, node: Node<'_>, _: Container, edits: &mut Edits) -> Entry {
        let depth = node.path.depth();
        self.frames.unwind(depth);
        let gone = self.frames.gone();
        if node.hits.is_empty() && self.frames.reaching().is_empty() {
            self.frames.open(depth, gone, std::iter::empty());
            return Entry::Enter;
        }
        self.gather(node.hits, |_| true, false);
        let Self { plan, findings, seen, .. } = self;
        let spot = plan.spot(node.path, node.hits);
        let mut record = |rule| findings.record(rule, None, &spot, plan.privacy());
        let (mut claims, mut whole, mut stop) = (0, None, None);
        // What stays in `seen` reaches down to the children.
        seen.retain(|seen| {
            let Some(rule) = plan.judging(seen.rule).filter(|_| stop.is_none()) else { return false };
            let is_free = !gone && !rule.group.is_bound_by(claims);
            match (rule.look, rule.deed) {
                (Look::Detect { .. }, _) => return true,
                (Look::Value, Deed::Block) if seen.own => {
                    record(seen.rule);
                    stop = rule.is_enforced().then_some(seen.rule);
                }
                (Look::Value, Deed::Log) if seen.own && is_free => record(seen.rule),
                (Look::Value, Deed::Block | Deed::Log | Deed::Rename) => {}
                (Look::Value, Deed::Allow | Deed::Part | Deed::Whole) if !is_free => {}
                (Look::Value, Deed::Part) => {
                    rule.group.claim(&mut claims);
                    return true;
                }
                (Look::Value, Deed::Allow | Deed::Whole) => {
                    if seen.own {
                        record(seen.rule);
                    }
                    rule.group.claim(&mut claims);
                    if rule.deed == Deed::Whole && rule.is_enforced() {
                        whole = Some(seen.rule);
                    } else {
                        return true;
                    }
                }
            }
            false
        });
        self.frames.open(depth, gone || whole.is_some(), self.seen.iter().map(|seen| seen.rule));
        self.blocked = stop;
        match (stop, whole) {
            (Some(_), _) => Entry::Stop,
            (None, Some(rule)) => {
                self.edited = true;
                self.container_becomes(rule, edits)
            }
            (None, None) => Entry::Enter,
        }
    }

    fn leave(&mut self, path: &Path, missing: &[EntryId], edits: &mut Edits) {
        if !missing.is_empty() {
            self.frames.unwind(path.depth() + 1);
            self.add_missing(path, missing, edits);
        }
        self.frames.unwind(path.depth());
    }

    fn long_string(&mut self, node: Node<'_>, edits: &mut Edits) -> Long {
        let Some(by) = self.lookers(node) else { return Long::Pass };
        if matches!(by, By::Everywhere) {
            self.seen.clone_from(&self.plan.body.everywhere.seen);
        }
        if self.plan.opens_strings() && matches!(by, By::Gathered { .. }) && self.must_open() {
            return Long::Whole;
        }
        let seen = std::mem::take(&mut self.seen);
        let answer = self.long_answer(&seen, node.path, edits);
        self.long.1 = matches!(by, By::Gathered { selected: true });
        self.seen = seen;
        answer
    }

    fn window(&mut self, node: Node<'_>, text: &str, from: usize, last: bool, edits: &mut Edits) -> Option<usize> {
        match self.decide(By::Long, Subject::Window { text, from, last }, node.path, node.hits) {
            Outcome::Stop(_) => return None,
            // `long_answer` asked for the whole string where a rule may want to edit all of it.
            Outcome::Keep | Outcome::Whole { .. } => {}
            Outcome::Spans => {
                write::spans_in_text(&self.plan, &self.bench.spans, text, edits);
            }
        }
        Some(self.bench.decided)
    }
}
