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
    /// Whether some key was renamed.
    pub(super) renamed: bool,
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

/// Keys remembered at the same time, over all open objects (16 bytes each).
const MOST_KEYS: usize = 1 << 16;

/// What is remembered of the names in open objects: a bit for each name that a selector writes, a hash for each of the others.
#[derive(Debug, Default)]
pub(super) struct Names {
    slots: Vec<u64>,
    keys: HashSet<u64, RandomState>,
    order: Vec<u64>,
    serial: u64,
    /// SECURITY: keyed at random, or a body could be made of keys that collide.
    hasher: RandomState,
}

impl Names {
    /// An object with so many slots is opened.
    pub(super) fn open(&mut self, slots: usize) -> Mark {
        self.serial += 1;
        let mark = Mark { slots: self.slots.len(), keys: self.order.len(), serial: self.serial };
        if slots > 0 {
            self.slots.resize(mark.slots + slots.div_ceil(64), 0);
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

    /// Remembers that a slot's name came; whether it had come before.
    pub(super) fn came(&mut self, mark: Mark, slot: u32) -> bool {
        let Some(word) = self.slots.get_mut(mark.slots + slot as usize / 64) else { return false };
        let bit = 1 << (slot % 64);
        let before = *word & bit != 0;
        *word |= bit;
        before
    }

    /// Whether a slot's name came.
    pub(super) fn has(&self, mark: Mark, slot: u32) -> bool {
        self.slots.get(mark.slots + slot as usize / 64).is_some_and(|word| word & (1 << (slot % 64)) != 0)
    }

    /// Whether there is no room for another key.
    pub(super) fn is_full(&self) -> bool {
        self.order.len() >= MOST_KEYS
    }

    /// Whether the key is remembered for this reason.
    pub(super) fn knows(&self, mark: Mark, why: Why, key: &str) -> bool {
        !self.keys.is_empty() && self.keys.contains(&self.hash(mark, why, key))
    }

    /// Remembers a key, if there is room; whether it was remembered before.
    pub(super) fn remember(&mut self, mark: Mark, why: Why, key: &str) -> bool {
        let hash = self.hash(mark, why, key);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_forgets_when_it_is_closed() {
        let mut names = Names::default();
        let outer = names.open(70);
        assert!(!names.came(outer, 69));
        assert!(!names.remember(outer, Why::Selected, "a"));
        let inner = names.open(70);
        assert!(!names.has(inner, 69));
        assert!(!names.came(inner, 69));
        assert!(!names.remember(inner, Why::Selected, "a"));
        assert!(names.remember(inner, Why::Selected, "a"));
        assert!(!names.knows(inner, Why::Renamed, "a"));
        names.close(inner);
        assert!(names.came(outer, 69));
        assert!(names.knows(outer, Why::Selected, "a"));
        let next = names.open(70);
        assert!(!names.has(next, 69) && !names.knows(next, Why::Selected, "a"));
    }

    #[test]
    fn memory_for_keys_is_bounded() {
        let mut names = Names::default();
        let mark = names.open(0);
        for n in 0..=MOST_KEYS {
            assert!(!names.remember(mark, Why::Selected, &n.to_string()));
        }
        assert!(names.is_full());
        assert!(names.remember(mark, Why::Selected, "0"));
        names.close(mark);
        assert!(!names.is_full() && names.keys.is_empty());
    }
}
