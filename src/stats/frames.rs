//! Time, cut into frames: four tiers of sixty frames each, finer ones closing into coarser ones. It refuses to know
//! what a frame holds beyond that frames can be merged.

use std::collections::VecDeque;

use super::sparse::{Dense, Sparse};

/// Frames per tier.
const FRAMES: usize = 60;

/// How far back the figures look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Window {
    /// The last minute, by seconds.
    Minute,
    /// The last 15 minutes, by 15 seconds.
    Quarter,
    /// The last hour, by minutes.
    Hour,
    /// The last 24 hours, by 24 minutes.
    Day,
}

impl Window {
    /// From the shortest.
    pub const ALL: [Self; 4] = [Self::Minute, Self::Quarter, Self::Hour, Self::Day];

    /// Its name in links: `1m`, `15m`, `1h`, `24h`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Minute => "1m",
            Self::Quarter => "15m",
            Self::Hour => "1h",
            Self::Day => "24h",
        }
    }

    /// The window of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|window| window.name() == name)
    }

    /// Seconds of one of its frames.
    pub const fn frame_seconds(self) -> u64 {
        match self {
            Self::Minute => 1,
            Self::Quarter => 15,
            Self::Hour => 60,
            Self::Day => 24 * 60,
        }
    }

    /// The tier it is read from.
    const fn tier(self) -> usize {
        self as usize
    }

    /// How many closed frames it holds after `ticks` seconds, and how many seconds of the next one are over.
    pub(super) fn filled(self, ticks: u64) -> (u64, u64) {
        let length = self.frame_seconds();
        ((ticks / length).min(FRAMES as u64), ticks % length)
    }
}

/// What can be put into frames.
pub(super) trait Merge: Sized {
    /// One frame that says what all of these say together.
    fn merged<'a>(frames: impl Iterator<Item = &'a Self>) -> Self
    where
        Self: 'a;
}

/// The history of one series. A frame without traffic is `None`.
#[derive(Debug)]
pub(super) struct Tiers<T>([VecDeque<Option<Box<T>>>; 4]);

impl<T> Default for Tiers<T> {
    fn default() -> Self {
        Self(Default::default())
    }
}

impl<T: Merge> Tiers<T> {
    /// Closes second `ticks` with what happened in it, and every coarser frame that ends with it.
    pub(super) fn close(&mut self, ticks: u64, frame: Option<T>) {
        self.push(0, frame);
        for window in [Window::Quarter, Window::Hour, Window::Day] {
            if !ticks.is_multiple_of(window.frame_seconds()) {
                break;
            }
            let merged = self.latest(window.tier() - 1, parts(window));
            self.push(window.tier(), merged);
        }
    }

    fn push(&mut self, tier: usize, frame: Option<T>) {
        if let Some(ring) = self.0.get_mut(tier) {
            if ring.len() == FRAMES {
                ring.pop_front();
            }
            ring.push_back(frame.map(Box::new));
        }
    }

    fn latest(&self, tier: usize, count: u64) -> Option<T> {
        let frames = self.0.get(tier).into_iter().flat_map(move |ring| ring.iter().rev().take(count as usize));
        let mut frames = frames.filter_map(|frame| frame.as_deref()).peekable();
        frames.peek()?;
        Some(T::merged(frames))
    }

    /// The closed frames of a window, oldest first; fewer than 60 when the series is younger.
    pub(super) fn closed(&self, window: Window) -> impl ExactSizeIterator<Item = Option<&T>> {
        let ring = self.0.get(window.tier()).map_or((&[][..], &[][..]), VecDeque::as_slices);
        let (old, new) = ring;
        ExactChain { length: old.len() + new.len(), frames: old.iter().chain(new) }
    }

    /// The frame of a window that is not over yet, made of the finer frames since the last one closed.
    pub(super) fn open(&self, window: Window, ticks: u64) -> Option<T> {
        let finer = Window::ALL.into_iter().filter(|finer| *finer < window);
        let pieces: Vec<T> = finer
            .filter_map(|finer| {
                let coarser = Window::ALL.get(finer.tier() + 1)?;
                self.latest(finer.tier(), ticks / finer.frame_seconds() % parts(*coarser))
            })
            .collect();
        if pieces.is_empty() { None } else { Some(T::merged(pieces.iter())) }
    }
}

/// How many frames of the next finer tier make one of this.
fn parts(window: Window) -> u64 {
    let finer = window.tier().checked_sub(1).and_then(|tier| Window::ALL.get(tier));
    finer.map_or(1, |finer| window.frame_seconds() / finer.frame_seconds())
}

/// One of the two slices of a ring.
type Half<'a, T> = std::slice::Iter<'a, Option<Box<T>>>;

/// `Chain` does not know its length; charts need it.
struct ExactChain<'a, T> {
    length: usize,
    frames: std::iter::Chain<Half<'a, T>, Half<'a, T>>,
}

impl<'a, T> Iterator for ExactChain<'a, T> {
    type Item = Option<&'a T>;

    fn next(&mut self) -> Option<Self::Item> {
        let frame = self.frames.next()?;
        self.length -= 1;
        Some(frame.as_deref())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.length, Some(self.length))
    }
}

impl<T> ExactSizeIterator for ExactChain<'_, T> {}

/// The plain counters of a series over some time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) status: [u64; 6],
    pub(super) errors: u64,
    pub(super) blocked: u64,
    pub(super) findings: u64,
    pub(super) sent: u64,
    pub(super) retries: u64,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
    pub(super) sums: [u64; 3],
}

impl Counts {
    pub(super) fn requests(&self) -> u64 {
        self.status.iter().sum()
    }

    fn each(&mut self, other: &Self, with: impl Fn(u64, u64) -> u64) {
        let mine = [
            &mut self.errors,
            &mut self.blocked,
            &mut self.findings,
            &mut self.sent,
            &mut self.retries,
            &mut self.bytes_in,
            &mut self.bytes_out,
        ];
        let theirs =
            [other.errors, other.blocked, other.findings, other.sent, other.retries, other.bytes_in, other.bytes_out];
        let mine = mine.into_iter().chain(&mut self.status).chain(&mut self.sums);
        for (mine, theirs) in mine.zip(theirs.into_iter().chain(other.status).chain(other.sums)) {
            *mine = with(*mine, theirs);
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.each(other, u64::wrapping_add);
    }

    pub(super) fn since(mut self, earlier: &Self) -> Self {
        self.each(earlier, u64::wrapping_sub);
        self
    }
}

/// What happened to one pair, or to everything, within one frame.
#[derive(Debug, Clone, Default)]
pub(super) struct Frame {
    pub(super) counts: Counts,
    /// The exchange, the upstream, the gateway's own share.
    pub(super) spread: [Sparse; 3],
}

/// Counts and full histograms to add frames into.
#[derive(Debug, Clone, Default)]
pub(super) struct Sum {
    pub(super) counts: Counts,
    pub(super) spread: [Dense; 3],
}

impl Sum {
    pub(super) fn add(&mut self, frame: &Frame) {
        self.counts.add(&frame.counts);
        for (dense, sparse) in self.spread.iter_mut().zip(&frame.spread) {
            dense.add(sparse);
        }
    }

    pub(super) fn add_sum(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        for (mine, theirs) in self.spread.iter_mut().zip(&other.spread) {
            mine.add_dense(theirs);
        }
    }

    pub(super) fn clear(&mut self) {
        self.counts = Counts::default();
        self.spread.iter_mut().for_each(Dense::clear);
    }

    pub(super) fn to_frame(&self) -> Frame {
        Frame { counts: self.counts, spread: self.spread.each_ref().map(Dense::to_sparse) }
    }
}

impl Merge for Frame {
    fn merged<'a>(frames: impl Iterator<Item = &'a Self>) -> Self {
        let mut sum = Sum::default();
        frames.for_each(|frame| sum.add(frame));
        sum.to_frame()
    }
}

/// Counters that few frames have: findings by entity and action, connections by upstream. Position and count.
#[derive(Debug, Clone, Default)]
pub(super) struct Rare {
    pub(super) findings: Vec<(u16, u64)>,
    pub(super) connections: Vec<(u16, u64)>,
    pub(super) outcomes: Vec<(u16, u64)>,
    pub(super) refused: Vec<(u16, u64)>,
}

impl Rare {
    pub(super) fn is_empty(&self) -> bool {
        self.findings.is_empty() && self.connections.is_empty() && self.outcomes.is_empty() && self.refused.is_empty()
    }
}

impl Merge for Rare {
    fn merged<'a>(frames: impl Iterator<Item = &'a Self>) -> Self {
        let mut merged = Self::default();
        for frame in frames {
            add_rare(&mut merged.findings, &frame.findings);
            add_rare(&mut merged.connections, &frame.connections);
            add_rare(&mut merged.outcomes, &frame.outcomes);
            add_rare(&mut merged.refused, &frame.refused);
        }
        merged
    }
}

/// The lists have a handful of entries: looking through beats a map.
pub(super) fn add_rare(into: &mut Vec<(u16, u64)>, from: &[(u16, u64)]) {
    for (id, count) in from {
        match into.iter_mut().find(|(known, _)| known == id) {
            Some((_, sum)) => *sum += count,
            None => into.push((*id, *count)),
        }
    }
}
