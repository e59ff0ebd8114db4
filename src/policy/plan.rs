//! A plan: all rules of a route and direction compiled into what runs, and the facts about them that decide how a message
//! is read. It is made once per ruleset and shared by every exchange; nothing in it changes.

use std::sync::Arc;

use super::case::{Judging, Lens};
use super::name::NamePattern;
use super::place::{Known, Place, Privacy, Spot};
use super::{Direction, Failure, Mode, OnFailure, Rule, Target, Verdict, Within};
use crate::actions::Action;
use crate::content::json::selector::Program;
use crate::content::json::{EntryId, Glance, Path};
use crate::content::kind::Format;
use crate::pii::{Confidence, Context, Customs, EntityId};

/// A ruleset's part for one route and direction.
#[derive(Debug)]
pub struct Plan {
    /// Its rules, in the order of claims.
    pub rules: Vec<Rule>,
    pub(super) direction: Direction,
    pub(super) judging: Vec<Judging>,
    pub(super) program: Arc<Program>,
    pub(super) entries: Vec<PlanEntry>,
    pub(super) body: BodyPlan,
    /// What `body` does everywhere, for the pairs of a form.
    pub(super) form: HeadPlan,
    pub(super) query: HeadPlan,
    pub(super) path: HeadPlan,
    pub(super) headers: HeadPlan,
    pub(super) least: Confidence,
    pub(super) facts: Facts,
    /// The custom detectors of the ruleset.
    pub(super) customs: Arc<Customs>,
}

#[derive(Debug, Default, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each asked by its own name")]
pub(super) struct Facts {
    pub(super) reads_body: bool,
    pub(super) acts_on_body: bool,
    pub(super) may_block_body: bool,
    /// Whether an enforced rule has selectors.
    pub(super) selects: bool,
    pub(super) opens_strings: bool,
}

/// What stands behind an entry of the JSON program.
#[derive(Debug)]
pub(super) struct PlanEntry {
    /// The rule's position.
    pub(super) rule: u16,
    /// For `set`: the member's name, and `"name":value`.
    pub(super) member: Option<(Box<str>, Box<[u8]>)>,
    /// Where everything lies that it selects, if that is one place.
    pub(super) place: Option<Known>,
}

/// How bodies are looked at.
#[derive(Debug)]
pub(super) struct BodyPlan {
    /// The detector rules that look everywhere.
    pub(super) everywhere: Lens,
    /// Used where a detector rule with `select` looks, too.
    pub(super) selected: Lens,
    /// What a key must hold to be able to look like an edited key; `None`: no key is ever edited by a detector.
    pub(super) key_marks: Option<Vec<Box<str>>>,
    /// What is worth a closer look.
    pub(super) glance: Glance,
}

/// How query parameters, path segments or header fields are looked at.
#[derive(Debug, Default)]
pub(super) struct HeadPlan {
    /// Everything that looks here. Its `seen` are the rules that look whatever the name is.
    pub(super) lens: Lens,
    /// The rules that look only under certain names.
    pub(super) named: Vec<(u16, Vec<NamePattern>)>,
}

impl HeadPlan {
    fn is_used(&self) -> bool {
        !self.lens.seen.is_empty() || !self.named.is_empty()
    }
}

impl Plan {
    /// Which half of an exchange it judges.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Whether there is nothing to do and nothing to look at.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether any rule, in shadow mode or not, looks at the body.
    pub fn reads_body(&self) -> bool {
        self.facts.reads_body
    }

    /// Whether an enforced rule looks at the body.
    pub fn acts_on_body(&self) -> bool {
        self.facts.acts_on_body
    }

    /// Whether an enforced rule may block because of the body: it must be held until it is judged.
    pub fn may_block_body(&self) -> bool {
        self.facts.may_block_body
    }

    /// Whether detectors look at every value and key of the body, not only at selected ones.
    pub fn wants_every_value(&self) -> bool {
        !self.body.everywhere.seen.is_empty()
    }

    /// Why its enforced rules cannot all run on a body of this format; `None`: they can. Where there are no fields, selectors
    /// have nothing to select from.
    pub fn trouble_with(&self, format: Format) -> Option<&'static str> {
        match format {
            // Each part of a multipart body is asked about on its own.
            Format::Json | Format::Lines | Format::Records | Format::Events | Format::Multipart(_) => None,
            Format::Text => self.facts.selects.then_some("text under rules with selectors"),
            Format::Form => self.facts.selects.then_some("form under rules with selectors"),
        }
    }

    /// Whether any rule looks at the query.
    pub fn reads_query(&self) -> bool {
        self.query.is_used()
    }

    /// Whether any rule looks at path segments.
    pub fn reads_path(&self) -> bool {
        self.path.is_used()
    }

    /// Whether any rule looks at header fields.
    pub fn reads_headers(&self) -> bool {
        self.headers.is_used()
    }

    /// What happens when the body cannot be judged: `block` of one enforced policy that looks at the body wins over `pass` of
    /// another. Shadow policies fail nothing.
    pub fn on_failure(&self, failure: Failure) -> OnFailure {
        let blocks = self.rules.iter().any(|rule| {
            let decision = match failure {
                Failure::Malformed => rule.on_failure.malformed,
                Failure::Oversize => rule.on_failure.oversize,
                Failure::Unsupported => rule.on_failure.unsupported,
            };
            rule.mode == Mode::Enforce && rule.target.reads_body() && decision == OnFailure::Block
        });
        if blocks { OnFailure::Block } else { OnFailure::Pass }
    }

    /// The rule at a position, as findings and verdicts name it.
    pub fn rule(&self, index: u16) -> Option<&Rule> {
        self.rules.get(usize::from(index))
    }

    /// The verdict of a part of a message.
    pub(super) fn verdict(&self, blocked: Option<u16>, edited: bool) -> Verdict {
        let block = blocked.and_then(|n| match &self.judging(n)?.action {
            Action::Block(block) => Some((block.clone(), n)),
            Action::Allow
            | Action::Log
            | Action::Mask(_)
            | Action::Redact(_)
            | Action::Remove
            | Action::Replace(_)
            | Action::Rename(_)
            | Action::Set(_) => None,
        });
        match block {
            Some((block, n)) => Verdict::Block(block, n),
            None if edited => Verdict::Edit,
            None => Verdict::Pass,
        }
    }

    /// Which keys and values that no rule selects are worth judging. `None`: none is.
    pub(super) fn glance(&self) -> Option<Glance> {
        self.wants_every_value().then_some(self.body.glance)
    }

    /// Whether a detector that looks everywhere recognises some value by this key path alone.
    pub(super) fn takes_whole(&self, context: Context) -> bool {
        let Lens { enforced, shadow, .. } = &self.body.everywhere;
        [enforced, shadow].into_iter().flatten().any(|detector| detector.takes_whole(context))
    }

    /// Whether a rule looks at the JSON in selected strings.
    pub(super) fn opens_strings(&self) -> bool {
        self.facts.opens_strings
    }

    /// Whether a key could equal one that a detector rule edits.
    pub(super) fn may_look_edited(&self, key: &str) -> bool {
        self.body.key_marks.iter().flatten().any(|mark| key.contains(&**mark))
    }

    pub(super) fn judging(&self, rule: u16) -> Option<&Judging> {
        self.judging.get(usize::from(rule))
    }

    pub(super) fn program(&self) -> &Arc<Program> {
        &self.program
    }

    pub(super) fn entry(&self, entry: EntryId) -> Option<&PlanEntry> {
        self.entries.get(usize::from(entry))
    }

    /// The place of a node that these entries select.
    pub(super) fn spot<'a>(&'a self, path: &'a Path, hits: &[EntryId]) -> Spot<'a> {
        Spot::or_known(Place::Json(path), hits.iter().find_map(|hit| self.entry(*hit)?.place.as_ref()))
    }

    /// The confidence from which a name in a place counts as recognised: what any rule acts on must not be shown.
    pub(super) fn privacy(&self) -> Privacy<'_> {
        Privacy { least: self.least, customs: &self.customs }
    }

    /// The custom detectors of its ruleset.
    pub(super) fn customs(&self) -> &Customs {
        &self.customs
    }

    /// What an entity is called.
    pub(super) fn name_of(&self, entity: Option<EntityId>) -> Option<&'static str> {
        entity.map(|entity| self.customs.name(entity))
    }
}

impl Target {
    /// Whether it names fields of the body.
    pub(super) fn selects(&self) -> bool {
        match self {
            Self::Select(_) | Self::KeepOnly(_) | Self::Detect { within: Within::Select(_), .. } => true,
            Self::Query(_) | Self::Headers(_) | Self::Detect { .. } => false,
        }
    }

    /// Whether it names body fields to look at.
    pub(super) fn selects_in_body(&self) -> bool {
        match self {
            Self::Select(_) | Self::Detect { within: Within::Select(_), .. } => true,
            Self::KeepOnly(_) | Self::Query(_) | Self::Headers(_) | Self::Detect { .. } => false,
        }
    }

    /// Whether it is about the body.
    pub(super) fn reads_body(&self) -> bool {
        match self {
            Self::Select(_) | Self::KeepOnly(_) => true,
            Self::Query(_) | Self::Headers(_) => false,
            Self::Detect { within, .. } => match within {
                Within::Places { body, .. } => *body,
                Within::Select(_) => true,
                Within::Query(_) | Within::Headers(_) => false,
            },
        }
    }
}
