//! The stack: the open containers, and what is remembered of their members' names.

use std::collections::HashSet;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::content::json::Container;
use crate::content::json::selector::StateId;

/// An open container.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each asked by its own name")]
pub(super) struct Frame {
    pub(super) state: StateId,
    pub(super) container: Container,
    /// The next element.
    pub(super) index: u64,
    /// Whether a member or element was kept: the next one's comma is then its own.
    pub(super) kept: bool,
    /// Whether the last one was removed and none was kept before: the comma behind it goes too.
    pub(super) swallow: bool,
    /// Whether everything in it is shown.
    pub(super) shown: bool,
    /// Whether the judge was told of it.
    pub(super) entered: bool,
    /// Whether some key was renamed…
    pub(super) renamed: bool,
    /// …to a name that no selector and no rule writes: whichever key comes next may be the same.
    pub(super) unforeseen: bool,
    /// Where its part of [`Names`] begins.
    pub(super) mark: Mark,
}

impl Frame {
    /// A container that nobody was told of.
    #[inline]
    pub(super) fn new(state: StateId, container: Container, mark: Mark) -> Self {
        Self {
            state,
            container,
            index: 0,
            kept: false,
            swallow: false,
            shown: false,
            entered: false,
            renamed: false,
            unforeseen: false,
            mark,
        }
    }
}

/// The top of [`Names`] when a container was opened.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark {
    slots: usize,
    keys: usize,
    serial: u64,
}

/// Why a key is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Why {
    /// A wildcard selects it: it must not come twice.
    Selected,
    /// It came, and nothing may be renamed to it.
    Reserved,
    /// Something was renamed to it.
    Renamed,
}

/// What is remembered of a slot, a bit each: that its name came, and for which reasons.
const CAME: usize = 0;
const FACTS: usize = 4;

impl Why {
    const fn fact(self) -> usize {
        match self {
            Self::Selected => 1,
            Self::Reserved => 2,
            Self::Renamed => 3,
        }
    }
}

/// A name in an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key<'a> {
    pub(super) text: &'a str,
    /// What it is known by, if some selector or rule writes it. The same for a name wherever it comes from.
    pub(super) slot: Option<u32>,
}

/// Keys remembered at the same time, over all open objects (16 bytes each).
const MOST_KEYS: usize = 1 << 16;
/// Keys for which room is kept from one body to the next.
const KEPT: usize = 256;

/// What is remembered of the names in open objects: bits for each name that a selector or a rule writes, a hash for each of the
/// others.
#[derive(Debug, Default)]
pub(super) struct Names {
    slots: Vec<u64>,
    keys: HashSet<u64, RandomState>,
    order: Vec<u64>,
    serial: u64,
    /// SECURITY: keyed at random, or a body could be made of keys that collide.
    hasher: RandomState,
}

/// Slots in a word.
const SLOTS: usize = 64 / FACTS;

impl Names {
    /// An object with so many slots is opened.
    #[inline]
    pub(super) fn open(&mut self, slots: usize) -> Mark {
        self.serial += 1;
        let mark = Mark { slots: self.slots.len(), keys: self.order.len(), serial: self.serial };
        if slots > 0 {
            self.slots.resize(mark.slots + slots.div_ceil(SLOTS), 0);
        }
        mark
    }

    /// The object is closed.
    #[inline]
    pub(super) fn close(&mut self, mark: Mark) {
        self.slots.truncate(mark.slots);
        if self.order.len() > mark.keys {
            self.forget(mark);
        }
    }

    fn forget(&mut self, mark: Mark) {
        for hash in self.order.drain(mark.keys..) {
            self.keys.remove(&hash);
        }
    }

    /// Forgets all objects.
    pub(super) fn clear(&mut self) {
        self.close(Mark::default());
    }

    /// Forgets all objects, and gives back what held much.
    pub(super) fn shrink(&mut self) {
        self.clear();
        self.slots.shrink_to(KEPT);
        self.keys.shrink_to(KEPT);
        self.order.shrink_to(KEPT);
    }

    /// Remembers that a slot's name came; whether it had come before.
    pub(super) fn came(&mut self, mark: Mark, slot: u32) -> bool {
        self.set(mark, slot, CAME)
    }

    /// Whether a slot's name came.
    pub(super) fn has(&self, mark: Mark, slot: u32) -> bool {
        self.is_set(mark, slot, CAME)
    }

    fn set(&mut self, mark: Mark, slot: u32, fact: usize) -> bool {
        let (word, bit) = place(mark, slot, fact);
        let Some(word) = self.slots.get_mut(word) else { return false };
        let before = *word & bit != 0;
        *word |= bit;
        before
    }

    fn is_set(&self, mark: Mark, slot: u32, fact: usize) -> bool {
        let (word, bit) = place(mark, slot, fact);
        self.slots.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Whether there is no room for another key without a slot.
    pub(super) fn is_full(&self) -> bool {
        self.order.len() >= MOST_KEYS
    }

    /// Whether the key is remembered for this reason.
    pub(super) fn knows(&self, mark: Mark, why: Why, key: Key<'_>) -> bool {
        match key.slot {
            Some(slot) => self.is_set(mark, slot, why.fact()),
            None => !self.keys.is_empty() && self.keys.contains(&self.hash(mark, why, key.text)),
        }
    }

    /// Remembers a key, if there is room; whether it was remembered before.
    pub(super) fn remember(&mut self, mark: Mark, why: Why, key: Key<'_>) -> bool {
        if let Some(slot) = key.slot {
            return self.set(mark, slot, why.fact());
        }
        let hash = self.hash(mark, why, key.text);
        if self.is_full() {
            return self.keys.contains(&hash);
        }
        let fresh = self.keys.insert(hash);
        if fresh {
            self.order.push(hash);
        }
        !fresh
    }

    fn hash(&self, mark: Mark, why: Why, key: &str) -> u64 {
        self.hasher.hash_one((mark.serial, why, key))
    }
}

/// In which word, and where in it, a fact about a slot stands.
const fn place(mark: Mark, slot: u32, fact: usize) -> (usize, u64) {
    let slot = slot as usize;
    (mark.slots + slot / SLOTS, 1 << (slot % SLOTS * FACTS + fact))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key<'_> {
        Key { text, slot: None }
    }

    #[test]
    fn what_is_remembered_of_a_slot_is_that_and_nothing_else() {
        for slot in [0, 15, 16, 69] {
            let mut names = Names::default();
            let mark = names.open(70);
            let key = Key { text: "a", slot: Some(slot) };
            assert!(!names.remember(mark, Why::Renamed, key) && names.remember(mark, Why::Renamed, key));
            let known = |names: &Names, slot| {
                let key = Key { text: "b", slot: Some(slot) };
                [Why::Selected, Why::Reserved, Why::Renamed].map(|why| names.knows(mark, why, key))
            };
            assert_eq!(known(&names, slot), [false, false, true]);
            assert!((0..70).filter(|other| *other != slot).all(|other| known(&names, other) == [false; 3]));
            assert!((0..70).all(|slot| !names.has(mark, slot)));
            let inner = names.open(70);
            assert!(!names.knows(inner, Why::Renamed, key));
        }
    }

    #[test]
    fn an_object_forgets_when_it_is_closed() {
        let mut names = Names::default();
        let outer = names.open(70);
        assert!(!names.came(outer, 69));
        assert!(!names.remember(outer, Why::Selected, key("a")));
        let inner = names.open(70);
        assert!(!names.has(inner, 69));
        assert!(!names.came(inner, 69));
        assert!(!names.remember(inner, Why::Selected, key("a")));
        assert!(names.remember(inner, Why::Selected, key("a")));
        assert!(!names.knows(inner, Why::Renamed, key("a")));
        names.close(inner);
        assert!(names.came(outer, 69));
        assert!(names.knows(outer, Why::Selected, key("a")));
        let next = names.open(70);
        assert!(!names.has(next, 69) && !names.knows(next, Why::Selected, key("a")));
    }

    #[test]
    fn memory_for_keys_is_bounded() {
        let mut names = Names::default();
        let mark = names.open(0);
        for n in 0..=MOST_KEYS {
            assert!(!names.remember(mark, Why::Selected, key(&n.to_string())));
        }
        assert!(names.is_full());
        assert!(names.remember(mark, Why::Selected, key("0")));
        names.close(mark);
        assert!(!names.is_full() && names.keys.is_empty());
    }
}
