//! The one reader: takes what the shards hold beyond what it has seen, adds it to the running second and to the totals
//! since the start, and closes seconds into frames. It refuses to know names; only numbers pass here.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use histogram::Histogram32;

use super::frames::{Counts, Frame, Merge, Rare, Sum, Tiers, add_rare};
use super::shard::{BUCKETS, Cell, Pair, Shard};
use super::sparse::{Dense, Sparse};

/// Upper bounds of the buckets that Prometheus sees, in microseconds; one more is for what is beyond.
pub(super) const BOUNDS_US: [u64; 13] = [
    1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 10_000_000,
    30_000_000,
];

/// What one pair did since the start, for counters that only grow.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub(super) counts: Counts,
    /// Per kind of latency, per bucket of `BOUNDS_US`, not cumulative.
    pub(super) buckets: [[u64; BOUNDS_US.len() + 1]; 3],
}

#[derive(Debug)]
pub(super) struct Series {
    pub(super) totals: Totals,
    /// The shards' histograms as last read, summed over workers, wrapping as they do.
    seen: [Vec<u32>; 3],
    pending: Option<Frame>,
    pub(super) tiers: Tiers<Frame>,
}

impl Default for Series {
    fn default() -> Self {
        Self {
            totals: Totals::default(),
            seen: std::array::from_fn(|_| vec![0; BUCKETS.total_buckets()]),
            pending: None,
            tiers: Tiers::default(),
        }
    }
}

/// Names met in the shards (entity and action, outcome), with a position that stays, and their totals.
#[derive(Debug)]
pub(super) struct Words<K>(pub(super) Vec<(K, u64)>);

impl<K: PartialEq> Words<K> {
    /// Takes new totals; what has grown is added to `pending`.
    fn update(&mut self, sums: impl Iterator<Item = (K, u64)>, pending: &mut Vec<(u16, u64)>) {
        for (word, sum) in sums {
            let position = self.0.iter().position(|(known, _)| *known == word).unwrap_or_else(|| {
                self.0.push((word, 0));
                self.0.len() - 1
            });
            if let Some((_, total)) = self.0.get_mut(position) {
                let grown = sum.wrapping_sub(*total);
                *total = sum;
                if grown > 0 {
                    add_rare(pending, &[(position as u16, grown)]);
                }
            }
        }
    }
}

impl<K> Default for Words<K> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

pub(super) type Finding = (&'static str, &'static str);

#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) ticks: u64,
    pub(super) pairs: BTreeMap<Pair, Series>,
    pub(super) all: Tiers<Frame>,
    pub(super) rare: Tiers<Rare>,
    pub(super) findings: Words<Finding>,
    pub(super) outcomes: Words<&'static str>,
    pub(super) connections: Words<u16>,
    pub(super) refused: Words<u16>,
    pending: Rare,
}

/// Words for what found no room in a shard's table.
const OVERFLOW: &str = "(other)";

impl Reader {
    /// Takes what is new.
    pub(super) fn collect(&mut self, shards: &[Arc<Shard>]) {
        self.collect_pairs(shards);
        let pending = &mut self.pending;
        let findings = shards.iter().flat_map(|shard| shard.findings.iter());
        let findings = findings.map(|(key, n)| (key.unwrap_or((OVERFLOW, OVERFLOW)), n.load(Ordering::Relaxed)));
        self.findings.update(summed(findings).into_iter(), &mut pending.findings);
        let outcomes = shards.iter().flat_map(|shard| shard.outcomes.iter());
        let outcomes = outcomes.map(|(key, n)| (key.unwrap_or(OVERFLOW), n.load(Ordering::Relaxed)));
        self.outcomes.update(summed(outcomes).into_iter(), &mut pending.outcomes);
        let connections = shards.iter().flat_map(|shard| (0..).zip(&shard.connections));
        let connections = connections.map(|(id, n)| (id, n.load(Ordering::Relaxed))).filter(|(_, n)| *n > 0);
        self.connections.update(summed(connections).into_iter(), &mut pending.connections);
        let refused = shards.iter().flat_map(|shard| (0..).zip(&shard.refused));
        let refused = refused.map(|(id, n)| (id, n.load(Ordering::Relaxed))).filter(|(_, n)| *n > 0);
        self.refused.update(summed(refused).into_iter(), &mut pending.refused);
    }

    fn collect_pairs(&mut self, shards: &[Arc<Shard>]) {
        let mut cells: BTreeMap<Pair, Vec<&Cell>> = BTreeMap::new();
        for (pair, cell) in shards.iter().flat_map(|shard| shard.cells.iter()) {
            cells.entry(pair.unwrap_or(Pair::OTHER)).or_default().push(cell);
        }
        let mut scratch = Histogram32::with_config(&BUCKETS);
        for (pair, cells) in cells {
            let series = self.pairs.entry(pair).or_default();
            let mut counts = Counts::default();
            for cell in &cells {
                counts.add(&read(cell));
            }
            let grown = counts.since(&series.totals.counts);
            if grown.requests() == 0 {
                continue;
            }
            let mut frame = Frame { counts: grown, ..Frame::default() };
            for kind in 0..frame.spread.len() {
                frame.spread[kind] = fresh(&cells, kind, &mut series.seen[kind], &mut scratch);
                count_into(&mut series.totals.buckets[kind], &frame.spread[kind]);
            }
            series.totals.counts = counts;
            series.pending = Some(match series.pending.take() {
                Some(pending) => Frame::merged([&pending, &frame].into_iter()),
                None => frame,
            });
        }
    }

    /// Closes the running second. The number of seconds closed so far.
    pub(super) fn close_second(&mut self) -> u64 {
        self.ticks += 1;
        let mut all = None::<Sum>;
        for series in self.pairs.values_mut() {
            let frame = series.pending.take();
            if let Some(frame) = &frame {
                all.get_or_insert_default().add(frame);
            }
            series.tiers.close(self.ticks, frame);
        }
        self.all.close(self.ticks, all.map(|all| all.to_frame()));
        let rare = std::mem::take(&mut self.pending);
        self.rare.close(self.ticks, Some(rare).filter(|rare| !rare.is_empty()));
        self.ticks
    }
}

/// Equal keys of different workers, added up.
fn summed<K: Ord>(counts: impl Iterator<Item = (K, u64)>) -> BTreeMap<K, u64> {
    let mut sums = BTreeMap::new();
    counts.for_each(|(key, n)| *sums.entry(key).or_default() += n);
    sums
}

fn read(cell: &Cell) -> Counts {
    // INVARIANT: the status counters are acquired first: all that belongs to a counted exchange is then visible.
    let status = cell.status.each_ref().map(|n| n.load(Ordering::Acquire));
    let load = |n: &std::sync::atomic::AtomicU64| n.load(Ordering::Relaxed);
    Counts {
        status,
        errors: load(&cell.errors),
        blocked: load(&cell.blocked),
        findings: load(&cell.findings),
        sent: load(&cell.sent),
        retries: load(&cell.retries),
        bytes_in: load(&cell.bytes_in),
        bytes_out: load(&cell.bytes_out),
        sums: cell.sums.each_ref().map(load),
    }
}

/// What one kind of histogram holds beyond `seen`, over all workers.
///
/// PERF: loading 2,688 counters is the most a tick does per pair; only pairs with traffic are read.
fn fresh(cells: &[&Cell], kind: usize, seen: &mut [u32], scratch: &mut Histogram32) -> Sparse {
    let mut now = vec![0_u32; seen.len()];
    for cell in cells {
        let loaded = cell.spread.get(kind).map(|spread| spread.load_into(scratch));
        debug_assert!(matches!(loaded, Some(Ok(()))), "INVARIANT: all histograms have one configuration");
        for (sum, count) in now.iter_mut().zip(scratch.as_slice()) {
            *sum = sum.wrapping_add(*count);
        }
    }
    let fresh = Sparse::from_counts(now.iter().zip(&*seen).map(|(now, seen)| u64::from(now.wrapping_sub(*seen))));
    seen.copy_from_slice(&now);
    fresh
}

/// A fine bucket belongs to the first coarse one that holds its largest value: at most 0.8 % off, and always to the
/// same one, so that the counters only grow.
fn count_into(buckets: &mut [u64; BOUNDS_US.len() + 1], fresh: &Sparse) {
    let mut dense = Dense::default();
    dense.add(fresh);
    for (largest, count) in dense.buckets() {
        let bound = BOUNDS_US.iter().position(|bound| largest <= *bound).unwrap_or(BOUNDS_US.len());
        if let Some(bucket) = buckets.get_mut(bound) {
            *bucket += count;
        }
    }
}
