//! Histograms at rest and at work. At rest ([`Sparse`]) only the buckets that hold something are kept, as pairs of
//! variable-length numbers (distance to the last bucket, count): 2 to 4 bytes each, against 8 for two plain `u32`. At work
//! ([`Dense`]) every bucket is there. It refuses to know what is measured.

use histogram::{Bucket, Histogram};

use super::shard::BUCKETS;
use super::snapshot::Quantiles;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sparse(Box<[u8]>);

/// One count per bucket.
#[derive(Debug, Clone)]
pub(super) struct Dense(Histogram);

impl Sparse {
    pub(super) fn from_counts(counts: impl Iterator<Item = u64>) -> Self {
        let mut bytes = Vec::new();
        let mut last = 0;
        for (index, count) in counts.enumerate().filter(|(_, count)| *count > 0) {
            put(&mut bytes, (index - last) as u64);
            put(&mut bytes, count);
            last = index;
        }
        Self(bytes.into_boxed_slice())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, u64)> {
        let mut bytes = self.0.iter();
        let mut index = 0;
        std::iter::from_fn(move || {
            index += take(&mut bytes)? as usize;
            Some((index, take(&mut bytes)?))
        })
    }
}

/// LEB128.
fn put(bytes: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        bytes.push((n & 0x7f | 0x80) as u8);
        n >>= 7;
    }
    bytes.push(n as u8);
}

fn take(bytes: &mut std::slice::Iter<'_, u8>) -> Option<u64> {
    let mut n = 0;
    let mut shift = 0;
    loop {
        let byte = bytes.next()?;
        n |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 || shift > 63 {
            return Some(n);
        }
    }
}

impl Default for Dense {
    fn default() -> Self {
        Self(Histogram::with_config(&BUCKETS))
    }
}

impl Dense {
    pub(super) fn clear(&mut self) {
        self.0.reset();
    }

    pub(super) fn add(&mut self, sparse: &Sparse) {
        let counts = self.0.as_mut_slice();
        for (index, count) in sparse.iter() {
            if let Some(bucket) = counts.get_mut(index) {
                *bucket += count;
            }
        }
    }

    pub(super) fn add_dense(&mut self, other: &Self) {
        for (bucket, count) in self.0.as_mut_slice().iter_mut().zip(other.0.as_slice()) {
            *bucket += count;
        }
    }

    pub(super) fn to_sparse(&self) -> Sparse {
        Sparse::from_counts(self.0.as_slice().iter().copied())
    }

    /// Non-empty buckets in order: the largest value each holds, and its count.
    pub(super) fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().filter(|bucket| bucket.count() > 0).map(|bucket| (bucket.end(), bucket.count()))
    }

    pub(super) fn quantiles(&self) -> Quantiles {
        let mut buckets: [Option<Bucket>; 3] = [None, None, None];
        if self.0.quantile_buckets_into(&[0.5, 0.95, 0.99], &mut buckets).is_err() {
            return Quantiles::default();
        }
        let [p50, p95, p99] = buckets.map(|bucket| bucket.map(|bucket| u64::midpoint(bucket.start(), bucket.end())));
        Quantiles { p50, p95, p99 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Dense, Sparse};

    proptest! {
        #[test]
        fn comes_back_as_it_was(counts in proptest::collection::vec(prop_oneof![Just(0), 0..300_u64, any::<u64>()], 0..500)) {
            let sparse = Sparse::from_counts(counts.iter().copied());
            let mut back = vec![0; counts.len()];
            for (index, count) in sparse.iter() {
                back[index] = count;
            }
            prop_assert_eq!(back, counts);
        }
    }

    #[test]
    fn adds_up() {
        let mut dense = Dense::default();
        let sparse = Sparse::from_counts([0, 3, 0, 4].into_iter());
        dense.add(&sparse);
        dense.add(&sparse);
        assert_eq!(dense.buckets().collect::<Vec<_>>(), [(1, 6), (3, 8)]);
        assert_eq!(dense.to_sparse(), Sparse::from_counts([0, 6, 0, 8].into_iter()));
    }
}
