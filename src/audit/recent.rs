//! The newest records in memory, for the dashboard: a bounded ring of log lines, filled by the writer. A read handle.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde::Deserialize;

use super::Record;
use super::health::lock;

/// A record with its place in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Position in the log, from 1.
    pub seq: u64,
    /// Its chain hash, hex.
    pub hash: String,
    /// What it says.
    pub record: Record<'static>,
}

#[derive(Deserialize)]
struct Line {
    seq: u64,
    hash: String,
    #[serde(flatten)]
    record: Record<'static>,
}

impl Stored {
    /// Reads a line of the log.
    pub fn read(line: &[u8]) -> Option<Self> {
        let Line { seq, hash, record } = serde_json::from_slice(line).ok()?;
        Some(Self { seq, hash, record })
    }
}

/// The newest records. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct Recent(Arc<Mutex<Ring>>);

#[derive(Debug)]
struct Ring {
    // Lines, not records: they are parsed when somebody looks, which is seldom, and not when they are written, which
    // is always.
    lines: VecDeque<(u64, Arc<[u8]>)>,
    most: usize,
}

impl Recent {
    /// Remembers at most `most` records.
    pub fn new(most: usize) -> Self {
        Self(Arc::new(Mutex::new(Ring { lines: VecDeque::with_capacity(most.min(4096)), most })))
    }

    /// Adds lines, without line feeds, numbered from `first`.
    pub(super) fn push<'a>(&self, first: u64, lines: impl ExactSizeIterator<Item = &'a [u8]>) {
        let mut ring = lock(&self.0);
        // What would be pushed out again by the same batch is not copied.
        let skipped = lines.len().saturating_sub(ring.most);
        for (seq, line) in (first..).zip(lines).skip(skipped) {
            if ring.lines.len() >= ring.most {
                ring.lines.pop_front();
            }
            ring.lines.push_back((seq, line.into()));
        }
    }

    /// How many are remembered.
    pub fn len(&self) -> usize {
        lock(&self.0).lines.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Up to `limit` records that `is_wanted` accepts, newest first, all of them older than number `before` if that
    /// is given.
    pub fn newest(&self, before: Option<u64>, limit: usize, mut is_wanted: impl FnMut(&Stored) -> bool) -> Vec<Stored> {
        let lines = self.lines(|seq| before.is_none_or(|before| seq < before));
        lines.iter().rev().filter_map(|line| Stored::read(line)).filter(|one| is_wanted(one)).take(limit).collect()
    }

    /// Up to `limit` records newer than number `seq`, oldest first.
    pub fn since(&self, seq: u64, limit: usize) -> Vec<Stored> {
        let lines = self.lines(|number| number > seq);
        lines.iter().filter_map(|line| Stored::read(line)).take(limit).collect()
    }

    /// The record with this id.
    pub fn by_id(&self, id: &str) -> Option<Stored> {
        let finder = memchr::memmem::Finder::new(id.as_bytes());
        let lines = self.lines(|_| true);
        let mut with_id = lines.iter().rev().filter(|line| finder.find(line).is_some());
        with_id.find_map(|line| Stored::read(line).filter(|one| one.record.id == id))
    }

    /// The lock is held for counting references only; parsing happens outside.
    fn lines(&self, is_wanted: impl Fn(u64) -> bool) -> Vec<Arc<[u8]>> {
        lock(&self.0).lines.iter().filter(|(seq, _)| is_wanted(*seq)).map(|(_, line)| Arc::clone(line)).collect()
    }
}

impl Default for Recent {
    fn default() -> Self {
        Self::new(2_000)
    }
}

#[cfg(test)]
mod tests {
    use super::super::chain::Chain;
    use super::super::sample;
    use super::*;

    fn filled(most: usize, count: u64) -> Recent {
        let recent = Recent::new(most);
        let mut chain = Chain::start();
        for seq in 1..=count {
            let mut line = Vec::new();
            chain.seal(&serde_json::to_vec(&sample(&format!("id-{seq}"))).unwrap(), &mut line);
            recent.push(seq, [line.trim_ascii_end()].into_iter());
        }
        recent
    }

    fn numbers(records: &[Stored]) -> Vec<u64> {
        records.iter().map(|one| one.seq).collect()
    }

    #[test]
    fn the_newest_come_first_and_pages_follow() {
        let recent = filled(10, 25);
        assert_eq!(numbers(&recent.newest(None, 3, |_| true)), [25, 24, 23]);
        assert_eq!(numbers(&recent.newest(Some(23), 3, |_| true)), [22, 21, 20]);
        assert_eq!(numbers(&recent.newest(Some(18), 3, |_| true)), [17, 16]);
        assert_eq!(numbers(&recent.newest(None, 2, |one| one.seq % 4 == 0)), [24, 20]);
        assert_eq!(numbers(&recent.since(22, 100)), [23, 24, 25]);
        assert_eq!(recent.len(), 10);
    }

    #[test]
    fn one_is_found_by_its_whole_id() {
        let recent = filled(10, 12);
        assert_eq!(recent.by_id("id-12").map(|one| one.seq), Some(12));
        assert_eq!(recent.by_id("id-1").map(|one| one.seq), None);
        assert_eq!(recent.by_id("id-4").map(|one| one.record), Some(sample("id-4")));
    }
}
