//! The detector: placeholder signatures.

use super::entity::{Confidence, EntityId, EntitySet};

/// What the key path says about a value: which entities its words speak for, and whether they speak against weak ones.
/// Made once per key and combined on the way down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Context {
    _speaks_for: u64,
}

impl Context {
    /// The context of a value under `key`, which lies in an object with context `self`.
    #[must_use]
    pub fn under(self, _key: &str) -> Self {
        self
    }
}

/// One recognised value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// What it is.
    pub entity: EntityId,
    /// First byte in the text.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// How sure.
    pub confidence: Confidence,
}

/// Recognises a set of entities in one pass.
#[derive(Debug, Clone)]
pub struct Detector {
    _entities: EntitySet,
}

/// The longest left context and the longest undecided beginning, in bytes: a text shown in windows must overlap by this.
pub const LOOK_BEHIND: usize = 64;

impl Detector {
    /// A detector for `entities`.
    pub fn new(entities: EntitySet) -> Self {
        Self { _entities: entities }
    }

    /// Appends the matches in `text`, in order of position, not overlapping.
    pub fn find(&self, _text: &str, _context: Context, _found: &mut Vec<Match>) {}

    /// As [`Self::find`] for a JSON number as it was written.
    pub fn find_in_number(&self, _lexeme: &str, _context: Context, _found: &mut Vec<Match>) {}
}

/// The entity, or all entities of the group, with this name. `None`: no such name.
pub fn named(_name: &str) -> Option<EntitySet> {
    None
}

/// Every name that [`named`] knows, entities first: for "did you mean".
pub fn names() -> Vec<&'static str> {
    Vec::new()
}

/// The entity's fixed name.
pub fn entity_name(_entity: EntityId) -> &'static str {
    ""
}
