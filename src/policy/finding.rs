//! What was found, counted by rule, entity and place, in bounded room. It never holds a value.

use smol_str::SmolStr;

use super::place::{Privacy, Spot};
use super::{Direction, Mode, Plan};
use crate::pii::EntityId;

/// Entries that one message keeps; what does not fit is counted.
const ROOM: usize = 64;

/// What was found, without what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule's position in the plan.
    pub rule: u16,
    /// Which entity, for detectors.
    pub entity: Option<EntityId>,
    /// Where: a templated key path `$.users[*].email`, `query.name`, `form.name`, `header.name`, `path[n]`; `$` for
    /// text. Names in which something is recognised are shown as `[entity]`.
    // PERF: most places are so short that they need no room of their own.
    pub place: SmolStr,
    /// How many values.
    pub count: u64,
    /// Of the place.
    hash: u64,
}

/// The findings of one message. Query, path, headers and body may share it.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    list: Vec<Finding>,
    last: usize,
    more: u64,
}

impl Findings {
    /// What was found, in order of first sight.
    pub fn list(&self) -> &[Finding] {
        &self.list
    }

    /// Values found beyond what the list has room for.
    pub fn more(&self) -> u64 {
        self.more
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds what another part of the same message had.
    pub fn append(&mut self, mut other: Self) {
        other.more += self.more;
        if self.list.is_empty() {
            *self = other;
            return;
        }
        self.more = other.more;
        for finding in other.list {
            match self.position(finding.rule, finding.entity, finding.hash) {
                Some(at) => self.count(at, finding.count),
                None if self.list.len() < ROOM => self.list.push(finding),
                None => self.more += finding.count,
            }
        }
    }

    /// Without what rules found that are not wanted.
    pub(super) fn without(mut self, unwanted: impl Fn(u16) -> bool) -> Self {
        self.list.retain(|finding| !unwanted(finding.rule));
        self
    }

    /// One value was found. The place is rendered only when it is new.
    pub(super) fn record(&mut self, rule: u16, entity: Option<EntityId>, spot: &Spot<'_>, privacy: Privacy<'_>) {
        let hash = spot.hash();
        if let Some(at) = self.position(rule, entity, hash) {
            self.last = at;
            return self.count(at, 1);
        }
        if self.list.len() == ROOM {
            self.more += 1;
            return;
        }
        self.last = self.list.len();
        self.list.push(Finding { rule, entity, place: spot.render(privacy), count: 1, hash });
    }

    fn count(&mut self, at: usize, by: u64) {
        if let Some(finding) = self.list.get_mut(at) {
            finding.count = finding.count.saturating_add(by);
        }
    }

    // PERF: in a long array the same place comes again and again: the last one is tried first.
    fn position(&self, rule: u16, entity: Option<EntityId>, hash: u64) -> Option<usize> {
        // In an array of records the next place is the one that came next the last time.
        let (before, behind) = self.list.split_at(self.last.min(self.list.len()));
        let find =
            |list: &[Finding]| list.iter().position(|it| it.hash == hash && it.rule == rule && it.entity == entity);
        find(behind).map(|at| before.len() + at).or_else(|| find(before))
    }
}

/// A finding in the words of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Described<'a> {
    /// Of which half of the exchange.
    pub direction: Direction,
    /// Where.
    pub place: &'a str,
    /// The entity's name; empty for a selector.
    pub entity: &'static str,
    /// The policy's name.
    pub policy: &'a str,
    /// The rule's id.
    pub rule: &'a str,
    /// The action's word.
    pub action: &'static str,
    /// Whether nothing was done because the policy is in shadow mode.
    pub shadow: bool,
    /// How many values.
    pub count: u64,
}

impl Plan {
    /// Puts a finding of this plan into words. `None`: the finding is of another plan.
    pub fn describe<'a>(&'a self, finding: &'a Finding) -> Option<Described<'a>> {
        let rule = self.rules.get(usize::from(finding.rule))?;
        Some(Described {
            direction: self.direction(),
            place: &finding.place,
            entity: finding.entity.map_or("", |entity| self.customs().name(entity)),
            policy: &rule.policy,
            rule: &rule.id,
            action: rule.action.name(),
            shadow: rule.mode == Mode::Shadow,
            count: finding.count,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Findings, ROOM};
    use crate::pii::{Confidence, Customs};
    use crate::policy::place::{Place, Privacy, Spot};

    fn record(findings: &mut Findings, segment: usize) {
        findings.record(
            0,
            None,
            &Spot::new(Place::Segment(segment)),
            Privacy { least: Confidence::Likely, customs: &Customs::default() },
        );
    }

    #[test]
    fn equal_ones_are_counted_and_room_is_bounded() {
        let mut findings = Findings::default();
        for n in 0..ROOM + 10 {
            record(&mut findings, n);
            record(&mut findings, n);
        }
        assert_eq!((findings.list().len(), findings.more()), (ROOM, 20));
        assert!(findings.list().iter().all(|finding| finding.count == 2));
    }

    #[test]
    fn parts_of_a_message_add_up() {
        let (mut a, mut b) = (Findings::default(), Findings::default());
        record(&mut a, 1);
        record(&mut b, 1);
        record(&mut b, 2);
        a.append(b);
        assert_eq!(a.list().iter().map(|finding| finding.count).collect::<Vec<_>>(), [2, 1]);
    }
}
