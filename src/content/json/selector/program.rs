//! Compiled selectors: what [`Cursor`](super::Cursor) walks over.

use super::automaton;
use super::fold::Folds;
use super::items::{Item, NameId, Positions};
use super::{ProgramEntry, Slice};
use crate::content::json::EntryId;

/// All selectors of a plan, compiled into one automaton: a body is read once, and a key is looked up once, whether the plan
/// has one selector or hundreds.
#[derive(Debug)]
pub struct Program {
    pub(super) positions: Positions,
    /// Empty when the tables would have grown too large: then the cursor follows the positions themselves.
    pub(super) states: Vec<State>,
}

impl Program {
    /// Compiles. An entry's [`EntryId`] is its position in `entries`.
    pub fn compile(entries: &[ProgramEntry]) -> Self {
        let positions = Positions::new(entries);
        let states = automaton::build(&positions, automaton::Caps::default()).unwrap_or_default();
        Self { positions, states }
    }

    /// As `compile`, but never with tables.
    #[cfg(test)]
    pub(crate) fn without_tables(entries: &[ProgramEntry]) -> Self {
        Self { positions: Positions::new(entries), states: Vec::new() }
    }

    /// Whether no entry selects anything.
    pub fn is_empty(&self) -> bool {
        !self.positions.has_selectors()
    }
}

/// A node as the selectors see it.
#[derive(Debug, Default)]
pub(in crate::content::json) struct State {
    /// Entries that select it, keep-only ones apart.
    pub(in crate::content::json) hits: Box<[EntryId]>,
    /// The same with the keep-only entries outside of which it lies, if it is a scalar…
    pub(in crate::content::json) scalar: Box<[EntryId]>,
    /// …an object…
    pub(in crate::content::json) object: Box<[EntryId]>,
    /// …or an array.
    pub(in crate::content::json) array: Box<[EntryId]>,
    /// Entries to tell about a missing member, with the member's slot.
    pub(in crate::content::json) ensures: Box<[(EntryId, u32)]>,
    /// Whether every member is selected by some wildcard.
    pub(in crate::content::json) every_key: bool,
    /// How many members have a slot, a number by which they are known in one object.
    pub(in crate::content::json) slots: usize,
    /// Whether neither it nor anything below it can be hit, ensured or watched.
    pub(in crate::content::json) silent: bool,
    pub(super) names: Names,
    pub(super) indexes: Indexes,
    /// For the cursor without tables.
    pub(super) items: Vec<Item>,
}

/// What is known of a name in some state.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Edge {
    pub(super) name: NameId,
    pub(super) to: u32,
    /// Written in a selector's step: its duplicate is refused.
    pub(super) selected: bool,
    /// Something may be renamed to it.
    pub(super) watched: bool,
}

/// Where names lead.
#[derive(Debug, Default)]
pub(in crate::content::json) struct Names {
    /// In order of the names; an edge's place is its slot.
    pub(super) edges: Box<[Edge]>,
    /// One bit for each bucket that a name of `edges` falls into.
    // PERF: most keys are in no selector, and one bit tells so for nearly all of them.
    pub(super) filter: u64,
    /// Where folded names lead that are written in no edge.
    pub(super) folds: Folds,
    pub(in crate::content::json) other: u32,
}

impl Names {
    /// Whether a selector could write this name; where it says no, none does.
    #[inline]
    pub(super) fn may_have(&self, name: &[u8]) -> bool {
        self.filter != 0 && self.filter & bucket(name) != 0
    }
}

/// The bucket of a name in [`Names::filter`].
#[inline]
pub(super) fn bucket(name: &[u8]) -> u64 {
    let (first, last) = (name.first().copied().unwrap_or(0), name.last().copied().unwrap_or(0));
    let mixed = u64::from(first) | u64::from(last) << 8 | (name.len() as u64) << 16;
    // Fibonacci hashing: the top six bits depend on all of them.
    1 << (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
}

/// Where indexes lead.
#[derive(Debug, Default)]
pub(super) struct Indexes {
    /// Indexes that are written out, ascending.
    pub(super) single: Box<[(u64, u32)]>,
    pub(super) slices: Box<[Slice]>,
    /// For every combination of slices that takes some index (a bit for each slice): where it leads.
    pub(super) by_slices: Box<[(u64, u32)]>,
    /// Where there are no slices.
    pub(super) other: u32,
}
