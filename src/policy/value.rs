//! The order of claims on one value: rules one by one, detectors in their turn, the first enforced one that changes the
//! value (or a span of it) has it. Where the value stands, and how an edit is written there, it refuses to know.
//!
//! | rule | on what no earlier rule claimed | on what is claimed |
//! |---|---|---|
//! | `block` | the message stops | the message stops |
//! | `log` | recorded | left alone |
//! | `allow`, `mask`, `redact`, `remove`, `replace`, `set` | claimed, if it would change anything | left alone |
//!
//! `block` looks at what `allow` claimed, too: an exception is made by narrowing the blocking rule, never by a rule before it.
//! A shadow policy is judged as if it alone were enforced beside the enforced ones: its claims bind only itself.

use std::sync::Arc;

use super::case::{Case, Deed, Group, Judging, Look, Outcome, Seen, Span, Subject};
use super::finding::Findings;
use crate::actions::Action;
use crate::pii::window::Open;
use crate::pii::{Confidence, Detector, EntityId, EntitySet, Match};

/// The scratch space of judging, reused for every value.
#[derive(Debug, Default)]
pub(super) struct Bench {
    enforced: Sightings,
    shadow: Sightings,
    whole: Option<(u16, Option<EntityId>)>,
    /// The groups that claimed the whole value.
    whole_claimed: u64,
    /// The groups that claimed anything of it.
    touched: u64,
    /// The edits after [`Outcome::Spans`]: ascending, not overlapping.
    pub(super) spans: Vec<Span>,
    /// After a [`Subject::Window`]: how far it is decided.
    pub(super) decided: usize,
}

/// What one detector saw in a value.
#[derive(Debug, Default)]
struct Sightings {
    looked: bool,
    matches: Vec<Match>,
    /// The match that goes on in the next window.
    open: Open,
    /// Per match: the groups that claimed it. Shorter when none did.
    claimed: Vec<u64>,
}

impl Sightings {
    fn clear(&mut self) {
        self.looked = false;
        self.matches.clear();
        self.claimed.clear();
    }

    fn look(&mut self, detector: Option<&Arc<Detector>>, case: &Case<'_>) {
        if self.looked {
            return;
        }
        self.looked = true;
        let Some(detector) = detector else { return };
        match case.subject {
            Subject::Text(text) | Subject::Key(text) | Subject::Window { text, .. } => {
                detector.find(text, case.around, &mut self.matches);
            }
            Subject::Number(lexeme) => detector.find_in_number(lexeme, case.around, &mut self.matches),
            Subject::Bool | Subject::Null => {}
        }
    }
}

impl Bench {
    fn clear(&mut self) {
        self.enforced.clear();
        self.shadow.clear();
        self.whole = None;
        (self.whole_claimed, self.touched) = (0, 0);
        self.spans.clear();
    }

    /// Runs the rules over one value.
    pub(super) fn judge(&mut self, case: &Case<'_>, findings: &mut Findings) -> Outcome {
        self.clear();
        if let Subject::Window { text, from, last } = case.subject {
            self.look_through_window(case, text, from, last);
        }
        // PERF: most values hold nothing; when only detectors look and none saw a thing, that is all.
        if std::ptr::eq(case.seen, case.lens.seen.as_slice()) {
            self.enforced.look(case.lens.enforced.as_ref(), case);
            self.shadow.look(case.lens.shadow.as_ref(), case);
            if self.enforced.matches.is_empty() && self.shadow.matches.is_empty() {
                return Outcome::Keep;
            }
        }
        for seen in case.seen {
            let Some(rule) = case.plan.judging(seen.rule) else { continue };
            let stop = match rule.look {
                Look::Value => self.by_value(case, *seen, rule, findings),
                Look::Detect { entities, least } => {
                    self.by_detector(case, seen.rule, rule, (entities, least), findings)
                }
            };
            if stop {
                return Outcome::Stop(seen.rule);
            }
        }
        if case.gone {
            return Outcome::Keep;
        }
        if let Some((rule, entity)) = self.whole {
            return Outcome::Whole { rule, entity };
        }
        self.join_spans();
        if self.spans.is_empty() { Outcome::Keep } else { Outcome::Spans }
    }

    /// Whether an enforced rule claimed anything of the value that was judged last.
    pub(super) fn is_claimed(&self) -> bool {
        self.is_touched(Group::ENFORCED)
    }

    /// A rule about the value as such. Answers whether the message must stop.
    fn by_value(&mut self, case: &Case<'_>, seen: Seen, rule: &Judging, findings: &mut Findings) -> bool {
        let is_key = matches!(case.subject, Subject::Key(_));
        // What is above a key claims it; what is beside it (the value's own rules) does not, `rename` excepted.
        let concerned = if is_key { (rule.deed == Deed::Rename) == seen.own } else { rule.deed != Deed::Rename };
        if !concerned || case.gone && rule.deed != Deed::Block {
            return false;
        }
        let record = |findings: &mut Findings| findings.record(seen.rule, None, case.spot, case.plan.privacy());
        match rule.deed {
            Deed::Block if is_key || !seen.own => {}
            Deed::Block => {
                record(findings);
                return rule.is_enforced();
            }
            _ if self.is_touched(rule.group) => {}
            Deed::Log if seen.own => record(findings),
            Deed::Log => {}
            // A container's `mask` is about its leaves, not about their keys.
            Deed::Part if is_key || !changes(&rule.action, case.subject) => {}
            Deed::Allow | Deed::Part | Deed::Whole | Deed::Rename => {
                let is_news = seen.own || rule.deed == Deed::Part;
                if is_news {
                    record(findings);
                }
                self.claim_whole(rule.group);
                if is_news && rule.is_enforced() && rule.deed != Deed::Allow {
                    self.whole = Some((seen.rule, None));
                }
            }
        }
        false
    }

    /// A rule about what is recognised. Answers whether the message must stop.
    fn by_detector(
        &mut self,
        case: &Case<'_>,
        n: u16,
        rule: &Judging,
        (entities, least): (EntitySet, Confidence),
        findings: &mut Findings,
    ) -> bool {
        let blocks = rule.deed == Deed::Block;
        if !blocks && (case.gone || self.is_whole_claimed(rule.group)) {
            return false;
        }
        if rule.is_enforced() {
            self.enforced.look(case.lens.enforced.as_ref(), case);
        } else {
            self.shadow.look(case.lens.shadow.as_ref(), case);
        }
        let matches = if rule.is_enforced() { self.enforced.matches.len() } else { self.shadow.matches.len() };
        for at in 0..matches {
            let sightings = if rule.is_enforced() { &self.enforced } else { &self.shadow };
            let Some(&seen) = sightings.matches.get(at) else { continue };
            if !entities.contains(seen.entity) || seen.confidence < least {
                continue;
            }
            if !blocks && (self.is_whole_claimed(rule.group) || self.is_match_claimed(rule, at)) {
                continue;
            }
            findings.record(n, Some(seen.entity), case.spot, case.plan.privacy());
            match rule.deed {
                Deed::Block if rule.is_enforced() => return true,
                Deed::Block | Deed::Log | Deed::Rename => {}
                Deed::Allow => self.claim_match(rule, at),
                Deed::Part => {
                    self.claim_match(rule, at);
                    if rule.is_enforced() {
                        self.spans.push(Span { start: seen.start, end: seen.end, rule: n, entity: seen.entity });
                    }
                }
                Deed::Whole => {
                    self.claim_whole(rule.group);
                    if rule.is_enforced() {
                        self.whole = Some((n, Some(seen.entity)));
                    }
                }
            }
        }
        false
    }

    fn claim_whole(&mut self, group: Group) {
        self.whole_claimed |= group.0;
        self.touched |= group.0;
    }

    fn claim_match(&mut self, rule: &Judging, at: usize) {
        let sightings = if rule.is_enforced() { &mut self.enforced } else { &mut self.shadow };
        sightings.claimed.resize(sightings.matches.len(), 0);
        if let Some(claimed) = sightings.claimed.get_mut(at) {
            *claimed |= rule.group.0;
        }
        self.touched |= rule.group.0;
    }

    fn is_whole_claimed(&self, group: Group) -> bool {
        group.is_bound_by(self.whole_claimed)
    }

    /// Whether anything of the value is claimed.
    fn is_touched(&self, group: Group) -> bool {
        group.is_bound_by(self.touched)
    }

    fn is_match_claimed(&self, rule: &Judging, at: usize) -> bool {
        let own = if rule.is_enforced() { &self.enforced } else { &self.shadow };
        if rule.group.is_bound_by(own.claimed.get(at).copied().unwrap_or(0)) {
            return true;
        }
        let Some(seen) = own.matches.get(at).filter(|_| !rule.is_enforced()) else { return false };
        // What a shadow rule sees may lie over what an enforced rule has claimed. Matches are in order of position.
        let first = self.enforced.matches.partition_point(|other| other.end <= seen.start);
        let over = self.enforced.matches.iter().zip(&self.enforced.claimed).skip(first);
        over.take_while(|(other, _)| other.start < seen.end).any(|(_, claimed)| *claimed != 0)
    }

    /// SECURITY: where matches overlap, the union is edited, by the rule that comes first.
    fn join_spans(&mut self) {
        self.spans.sort_unstable_by_key(|span| (span.start, span.end));
        self.spans.dedup_by(|next, kept| {
            let overlap = next.start < kept.end;
            if overlap {
                kept.end = kept.end.max(next.end);
                if next.rule < kept.rule {
                    (kept.rule, kept.entity) = (next.rule, next.entity);
                }
            }
            overlap
        });
    }

    /// Looks with all detectors and decides how far: not into the undecided end, and not into the middle of a match.
    fn look_through_window(&mut self, case: &Case<'_>, text: &str, from: usize, last: bool) {
        self.enforced.look(case.lens.enforced.as_ref(), case);
        self.shadow.look(case.lens.shadow.as_ref(), case);
        for sightings in [&mut self.enforced, &mut self.shadow] {
            sightings.open.resume(text, from, &mut sightings.matches);
        }
        let undecided =
            |detector: &Option<Arc<Detector>>| detector.as_ref().map_or(text.len(), |it| it.undecided(text));
        let tail = undecided(&case.lens.enforced).min(undecided(&case.lens.shadow));
        // Half of a window is decided at least, so that a short one does not wait for ever.
        let tail = if last { text.len() } else { tail.max(floor(text, from.midpoint(text.len()))) };
        let both = self.enforced.matches.iter().chain(&self.shadow.matches);
        let cut = both.filter(|seen| seen.start < tail && tail < seen.end).map(|seen| seen.start).min();
        // A match that fills the whole window is edited as far as it is decided, so that there is always an end to it.
        self.decided = cut.filter(|at| *at > from).unwrap_or(tail);
        for sightings in [&mut self.enforced, &mut self.shadow] {
            sightings.open.cut(from, self.decided, &mut sightings.matches);
        }
    }
}

/// Whether an action on leaves would change this one: an empty string and `null` have nothing to hide behind a mask.
fn changes(action: &Action, subject: Subject<'_>) -> bool {
    !matches!((action, subject), (Action::Mask(_), Subject::Null | Subject::Text("")))
}

/// The character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
