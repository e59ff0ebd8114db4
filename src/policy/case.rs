//! The words of judging one value: who looks, at what, and what can come of it. It judges nothing.

use std::sync::Arc;

use super::place::Spot;
use super::plan::Plan;
use crate::actions::Action;
use crate::pii::{Confidence, Detector, EntityId, EntitySet, Surroundings};

/// Whose claims a rule's are: one bit for all enforced policies together, one for each shadow policy (the last bit is shared
/// if there are more than 63).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Group(pub(super) u64);

impl Group {
    pub(super) const ENFORCED: Self = Self(1);

    /// The nth shadow policy's, from 0.
    pub(super) fn shadow(n: usize) -> Self {
        Self(2 << n.min(62))
    }

    /// Whether a claim of any of `groups` binds it: its own does, and that of the enforced.
    pub(super) fn is_bound_by(self, groups: u64) -> bool {
        groups & (self.0 | Self::ENFORCED.0) != 0
    }

    /// Adds its claim.
    pub(super) fn claim(self, groups: &mut u64) {
        *groups |= self.0;
    }
}

/// A rule, as values are judged by it.
#[derive(Debug)]
pub(super) struct Judging {
    pub(super) look: Look,
    pub(super) deed: Deed,
    pub(super) action: Action,
    /// What `replace`, `set` and `rename` put where only text can stand.
    pub(super) plain: Box<str>,
    pub(super) group: Group,
    /// Whether it looks at the JSON in selected strings.
    pub(super) parses: bool,
}

impl Judging {
    pub(super) fn is_enforced(&self) -> bool {
        self.group == Group::ENFORCED
    }

    /// Whether it looks at what lies below a selected container, or in a selected string: a shadow rule's claims do, whatever
    /// it does.
    pub(super) fn reaches_down(&self) -> bool {
        match self.deed {
            _ if self.look != Look::Value => true,
            Deed::Allow | Deed::Part => true,
            Deed::Whole => !self.is_enforced(),
            Deed::Block | Deed::Log | Deed::Rename => false,
        }
    }

    pub(super) fn entities(&self) -> EntitySet {
        match self.look {
            Look::Value => EntitySet::EMPTY,
            Look::Detect { entities, .. } => entities,
        }
    }

    pub(super) fn least(&self) -> Confidence {
        match self.look {
            Look::Value => Confidence::Likely,
            Look::Detect { least, .. } => least,
        }
    }
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// The value as such.
    Value,
    /// What is recognised in it.
    Detect { entities: EntitySet, least: Confidence },
}

/// The kinds of actions that differ in how they claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    Block,
    Log,
    Allow,
    /// Each leaf of a container; for detectors the matched span.
    Part,
    /// A container as a whole; for detectors the value as a whole.
    Whole,
    /// The key.
    Rename,
}

/// A rule that looks at a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) rule: u16,
    /// Whether it looks at this very value, or got here through a container above.
    pub(super) own: bool,
}

/// What a place is looked at through.
#[derive(Debug, Default)]
pub(super) struct Lens {
    /// The rules that look at everything.
    pub(super) seen: Vec<Seen>,
    /// Over the entities of enforced rules.
    pub(super) enforced: Option<Arc<Detector>>,
    /// Over the entities of shadow rules.
    pub(super) shadow: Option<Arc<Detector>>,
}

/// A value as detectors and actions see it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Subject<'a> {
    Text(&'a str),
    /// A part of a long text: what lies before `from` is context, and more is to come unless it is the last.
    Window {
        text: &'a str,
        from: usize,
        last: bool,
    },
    /// A JSON number as it was written.
    Number(&'a str),
    /// A member's key.
    Key(&'a str),
    Bool,
    Null,
}

/// One value and all that is known about it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case<'a> {
    pub(super) plan: &'a Plan,
    pub(super) lens: &'a Lens,
    /// Ascending, each rule once.
    pub(super) seen: &'a [Seen],
    pub(super) subject: Subject<'a>,
    pub(super) around: &'a dyn Surroundings,
    /// Whether it lies in what is already removed or replaced: only `block` matters.
    pub(super) gone: bool,
    pub(super) spot: &'a Spot<'a>,
}

/// What becomes of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Keep,
    /// The rule's action on the value as a whole; `entity` if a detector says so.
    Whole {
        rule: u16,
        entity: Option<EntityId>,
    },
    /// As `Bench::spans` says.
    Spans,
    /// The message must not pass.
    Stop(u16),
}

/// An edit inside a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) rule: u16,
    pub(super) entity: EntityId,
}
