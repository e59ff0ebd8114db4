//! Compiled selectors: what [`Cursor`](super::Cursor) walks over.

use super::automaton;
use super::fold::Folds;
use super::items::{Item, NameId, Positions};
use super::{ProgramEntry, Slice};
use crate::content::json::{Container, EntryId};

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
    /// Entries that select it, or outside of whose kept nodes it lies, if it is a scalar…
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
    /// Entries that select it and are about its key.
    pub(in crate::content::json) keys: Box<[EntryId]>,
    pub(in crate::content::json) names: Names,
    pub(super) indexes: Indexes,
    /// Whether nothing in it is of any interest, however deep.
    pub(in crate::content::json) is_barren: bool,
    /// For the cursor without tables.
    pub(super) items: Vec<Item>,
}

impl State {
    /// Whether no entry is about it, and whatever is in it leads back to it: to `own`.
    pub(super) fn leads_nowhere(&self, own: u32) -> bool {
        let Self { scalar, object, array, ensures, every_key, keys, names, indexes, .. } = self;
        let hits = [scalar, object, array, keys];
        let leads = names.edges.is_empty() && names.folds.is_empty() && names.other == own;
        let leads_elements = indexes.single.is_empty() && indexes.slices.is_empty() && indexes.other == own;
        hits.iter().all(|hits| hits.is_empty()) && ensures.is_empty() && !every_key && leads && leads_elements
    }

    /// The entries that hit it if it is such a container, and how many of its members have a slot.
    #[inline]
    pub(in crate::content::json) fn as_container(&self, container: Container) -> (&[EntryId], usize) {
        match container {
            Container::Object => (&self.object, self.slots),
            Container::Array => (&self.array, 0),
        }
    }
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
    pub(super) table: Table,
    /// Where folded names lead that are written in no edge.
    pub(super) folds: Folds,
    pub(in crate::content::json) other: u32,
    /// A bit for each length that a name has, the last one for all that are longer; all of them where names are folded.
    pub(super) lengths: u64,
}

/// The bit of a length in [`Names::lengths`].
#[inline]
fn length_bit(length: usize) -> u64 {
    1 << length.min(63)
}

impl Names {
    /// Notes how long the names are, once they are all there.
    pub(super) fn with_lengths(mut self, positions: &Positions) -> Self {
        self.lengths = if self.folds.is_empty() {
            self.edges.iter().fold(0, |all, edge| all | length_bit(positions.name(edge.name).len()))
        } else {
            u64::MAX
        };
        self
    }

    /// Whether a name of this length may be among them.
    #[inline]
    pub(in crate::content::json) fn may_know(&self, length: usize) -> bool {
        self.lengths & length_bit(length) != 0
    }

    /// The edge of a name, with its slot.
    #[inline]
    pub(super) fn find(&self, positions: &Positions, name: &[u8]) -> Option<(u32, &Edge)> {
        self.table.find(&self.edges, positions, name)
    }
}

/// A hash table of edges by name, with open addressing: empty without edges, and half empty with them.
#[derive(Debug, Default)]
pub(super) struct Table(Box<[Bucket]>);

/// A place in the table.
#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    hash: u32,
    /// The edge's place and one more; 0 is none.
    edge: u32,
}

impl Table {
    /// Of these edges' names.
    pub(super) fn new<'n>(edges: &[Edge], name: impl Fn(NameId) -> &'n str) -> Self {
        let size = if edges.is_empty() { 0 } else { (edges.len() * 2).next_power_of_two().max(8) };
        let mut table = vec![Bucket::default(); size].into_boxed_slice();
        for (edge, n) in edges.iter().zip(1..) {
            let hash = hash(name(edge.name).as_bytes());
            let mut order = (0..size).map(|n| (hash as usize).wrapping_add(n) & (size - 1));
            let free = order.find(|at| table.get(*at).is_some_and(|bucket| bucket.edge == 0));
            if let Some(bucket) = free.and_then(|at| table.get_mut(at)) {
                *bucket = Bucket { hash, edge: n };
            }
        }
        Self(table)
    }

    /// The edge of a name among those that the table was made of, with its place.
    // PERF: most keys are in no selector, and one look at the table tells so; with hundreds of selectors as with one.
    #[inline]
    pub(super) fn find<'e>(&self, edges: &'e [Edge], positions: &Positions, name: &[u8]) -> Option<(u32, &'e Edge)> {
        let mask = self.0.len().checked_sub(1)?;
        let hash = hash(name);
        let mut at = hash as usize & mask;
        // INVARIANT: at most half of the table is taken, so there is an end to it.
        loop {
            let bucket = self.0.get(at)?;
            let place = bucket.edge.checked_sub(1)?;
            if bucket.hash == hash
                && let Some(edge) = edges.get(place as usize)
                && positions.name(edge.name).as_bytes() == name
            {
                return Some((place, edge));
            }
            at = (at + 1) & mask;
        }
    }
}

/// Mixes a name's length with its first and its last eight bytes. Names of rules are chosen by who writes the rules; what a body
/// brings is only looked up, so nobody gains by names that collide.
#[inline]
fn hash(name: &[u8]) -> u32 {
    let (first, last) = match (name.first_chunk(), name.last_chunk()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => match (name.first_chunk(), name.last_chunk()) {
            (Some(first), Some(last)) => (u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into()),
            _ => name.iter().fold((0, 0), |(all, _), byte| (all << 8 | u64::from(*byte), 0)),
        },
    };
    // Fibonacci hashing: the top bits depend on all of them.
    let mixed = (first ^ last.rotate_left(29) ^ (name.len() as u64) << 56).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as u32
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
