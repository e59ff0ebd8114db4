//! A small map that many threads fill without a lock and that never forgets: open addressing over cells that are
//! written once. What finds no room is counted in one overflow value, so memory stays bounded.

use std::sync::OnceLock;

/// How far a key is looked for. With at most half of the slots used, a longer run practically never happens.
const PROBES: usize = 32;

/// Written once.
type Slot<K, V> = OnceLock<Box<(K, V)>>;

#[derive(Debug)]
pub(super) struct Table<K, V> {
    slots: Box<[Slot<K, V>]>,
    overflow: OnceLock<Box<V>>,
}

/// A key that can be spread over slots.
pub(super) trait Key: Copy + Eq {
    fn spread(&self) -> u64;
}

impl<K: Key, V: Default> Table<K, V> {
    pub(super) fn new(slots: usize) -> Self {
        Self { slots: (0..slots.next_power_of_two()).map(|_| OnceLock::new()).collect(), overflow: OnceLock::new() }
    }

    /// The value of `key`, made on first use.
    pub(super) fn entry(&self, key: K) -> &V {
        // INVARIANT: the length is a power of two, so that a mask does for a division.
        let (start, mask) = (key.spread() as usize, self.slots.len() - 1);
        for probe in 0..PROBES {
            let Some(slot) = self.slots.get(start.wrapping_add(probe) & mask) else { break };
            // Two threads may race for an empty slot with different keys: one wins, the other looks further.
            let entry = slot.get_or_init(|| Box::new((key, V::default())));
            if entry.0 == key {
                return &entry.1;
            }
        }
        self.overflow.get_or_init(Box::default)
    }

    /// Everything that is there, the overflow last, without a key.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Option<K>, &V)> {
        let slots = self.slots.iter().filter_map(|slot| slot.get().map(|entry| (Some(entry.0), &entry.1)));
        slots.chain(self.overflow.get().map(|value| (None, &**value)))
    }
}

/// The first and last eight bytes and the length tell the short words that are keys here apart.
///
/// PERF: a few whole words in place of a hash byte by byte, which showed in the profile of every finding.
fn fold(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let ends = match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) => u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(23),
        (None | Some(_), _) => bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)),
    };
    ends ^ (bytes.len() as u64) << 57
}

/// Fibonacci hashing: the upper half is well mixed.
fn mix(n: u64) -> u64 {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

impl Key for &'static str {
    fn spread(&self) -> u64 {
        mix(fold(self))
    }
}

impl Key for (&'static str, &'static str) {
    fn spread(&self) -> u64 {
        mix(fold(self.0) ^ fold(self.1).rotate_left(31))
    }
}

impl Key for super::shard::Pair {
    fn spread(&self) -> u64 {
        mix(u64::from(self.route) << 16 | u64::from(self.upstream))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::Table;

    #[test]
    fn keeps_keys_apart_and_folds_what_has_no_room() {
        let table: Table<&'static str, AtomicU64> = Table::new(4);
        let words = ["a", "b", "c", "d", "e", "f", "a", "e"];
        for word in words {
            table.entry(word).fetch_add(1, Relaxed);
        }
        let all: Vec<_> = table.iter().map(|(key, n)| (key, n.load(Relaxed))).collect();
        assert_eq!(all.iter().map(|(_, n)| n).sum::<u64>(), words.len() as u64);
        assert!(all.contains(&(Some("a"), 2)));
        assert_eq!(all.last(), Some(&(None, 3)), "e twice and f once have no room");
    }
}
