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
        Self { slots: (0..slots.max(1)).map(|_| OnceLock::new()).collect(), overflow: OnceLock::new() }
    }

    /// The value of `key`, made on first use.
    pub(super) fn entry(&self, key: K) -> &V {
        let start = key.spread() as usize;
        for probe in 0..PROBES {
            let Some(slot) = self.slots.get(start.wrapping_add(probe) % self.slots.len()) else { break };
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

/// FNV-1a: a few nanoseconds for the short words that are keys here.
fn fnv(hash: u64, text: &str) -> u64 {
    text.bytes().fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

impl Key for &'static str {
    fn spread(&self) -> u64 {
        fnv(FNV_START, self)
    }
}

impl Key for (&'static str, &'static str) {
    fn spread(&self) -> u64 {
        fnv(fnv(FNV_START, self.0), self.1)
    }
}

impl Key for super::shard::Pair {
    fn spread(&self) -> u64 {
        (u64::from(self.route) << 16 | u64::from(self.upstream)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
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
