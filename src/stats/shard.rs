//! What one worker writes: atomics that no other worker touches, so that recording never waits and never contends.
//! It refuses to know what the numbers mean.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use histogram::{AtomicHistogram32, Config};

use super::names::{ROUTES, UPSTREAMS};
use super::table::Table;
use super::{Sample, SeriesId};

/// Buckets are at most 1/128 (0.8 %) wide and reach 2^27 us (134 s); what took longer counts as that.
pub(super) const BUCKETS: Config = match Config::new(7, 27) {
    Ok(config) => config,
    // Evaluated by the compiler.
    Err(_) => panic!("a valid histogram configuration"),
};
const LONGEST_US: u64 = (1 << 27) - 1;

/// What the HTTP parser, the connection cap and the deadlines refuse before an exchange exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Not HTTP, or HTTP that two readers could read differently.
    Malformed,
    /// The request line or the header fields are too large.
    HeadTooLarge,
    /// The header fields did not arrive in time.
    HeadTimeout,
    /// Too many connections.
    ConnectionLimit,
    /// The process is shutting down.
    Draining,
    /// A handshake of TLS that failed: another protocol, or no version, cipher or application protocol in common.
    TlsHandshake,
    /// A handshake of TLS that did not end in time.
    TlsTimeout,
    /// Anything else that ends a connection before a request was read.
    Other,
}

impl Refusal {
    /// Every kind, in the order of the counters.
    pub const ALL: [Self; 8] = [
        Self::Malformed,
        Self::HeadTooLarge,
        Self::HeadTimeout,
        Self::ConnectionLimit,
        Self::Draining,
        Self::TlsHandshake,
        Self::TlsTimeout,
        Self::Other,
    ];

    /// Its word in metrics and pages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::HeadTooLarge => "head_too_large",
            Self::HeadTimeout => "head_timeout",
            Self::ConnectionLimit => "connection_limit",
            Self::Draining => "draining",
            Self::TlsHandshake => "tls_handshake",
            Self::TlsTimeout => "tls_timeout",
            Self::Other => "other",
        }
    }
}

/// A route with the upstream it was forwarded to: what is counted together. `u16::MAX` stands for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair {
    pub(super) route: u16,
    pub(super) upstream: u16,
}

pub(super) const NONE: u16 = u16::MAX;

impl Pair {
    /// Where that is counted which has no room of its own.
    pub(super) const OTHER: Self = Self { route: 0, upstream: 0 };

    fn of(sample: &Sample<'_>) -> Self {
        Self { route: sample.route.map_or(NONE, |id| id.0), upstream: sample.upstream.map_or(NONE, |id| id.0) }
    }
}

/// The counters of one pair. Aligned so that two workers' cells never share a cache line.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Cell {
    /// By status class: none, 1xx to 5xx. Written last, see `record`.
    pub(super) status: [AtomicU64; 6],
    pub(super) errors: AtomicU64,
    pub(super) blocked: AtomicU64,
    pub(super) findings: AtomicU64,
    /// Requests sent to the upstream, retries included.
    pub(super) sent: AtomicU64,
    pub(super) retries: AtomicU64,
    pub(super) bytes_in: AtomicU64,
    pub(super) bytes_out: AtomicU64,
    /// Microseconds, summed, beside the histograms: the exchange, the upstream, the gateway's own share.
    pub(super) sums: [AtomicU64; 3],
    pub(super) spread: [AtomicHistogram32; 3],
}

impl Default for Cell {
    fn default() -> Self {
        Self {
            status: Default::default(),
            errors: AtomicU64::default(),
            blocked: AtomicU64::default(),
            findings: AtomicU64::default(),
            sent: AtomicU64::default(),
            retries: AtomicU64::default(),
            bytes_in: AtomicU64::default(),
            bytes_out: AtomicU64::default(),
            sums: Default::default(),
            spread: std::array::from_fn(|_| AtomicHistogram32::with_config(&BUCKETS)),
        }
    }
}

#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Shard {
    pub(super) cells: Table<Pair, Cell>,
    pub(super) findings: Table<(&'static str, &'static str), AtomicU64>,
    pub(super) outcomes: Table<&'static str, AtomicU64>,
    pub(super) in_flight: Box<[AtomicI64]>,
    pub(super) connections: Box<[AtomicU64]>,
    pub(super) refused: [AtomicU64; Refusal::ALL.len()],
}

impl Default for Shard {
    fn default() -> Self {
        Self {
            // Twice as many slots as may sensibly be used: see `Table`.
            cells: Table::new(1024),
            findings: Table::new(512),
            outcomes: Table::new(128),
            in_flight: (0..=ROUTES).map(|_| AtomicI64::new(0)).collect(),
            connections: (0..=UPSTREAMS).map(|_| AtomicU64::new(0)).collect(),
            refused: Default::default(),
        }
    }
}

fn add(counter: &AtomicU64, n: u64) {
    if n > 0 {
        counter.fetch_add(n, Ordering::Relaxed);
    }
}

/// An unknown id counts as `(other)`.
fn slot<T>(counters: &[T], id: Option<SeriesId>) -> Option<&T> {
    let index = id.map_or(0, |id| usize::from(id.0));
    counters.get(index).or_else(|| counters.first())
}

/// Where one worker records. `Send`, `Sync`, cheap to clone.
#[derive(Debug, Clone)]
pub struct WorkerStats(pub(super) Arc<Shard>);

impl WorkerStats {
    /// Counts an exchange as in flight until the guard is dropped, however it ends.
    pub fn begin(&self, route: Option<SeriesId>) -> InFlight {
        count_in_flight(&self.0, route, 1);
        InFlight { shard: self.0.clone(), route }
    }

    /// Counts a finished exchange. Once per exchange.
    ///
    /// PERF: measured by `cargo test --release -- --ignored recording_is_cheap`.
    pub fn record(&self, sample: &Sample<'_>) {
        let shard = &*self.0;
        let cell = shard.cells.entry(Pair::of(sample));
        let total = microseconds(sample.total);
        let upstream = sample.upstream_time.map(microseconds);
        let own = total.saturating_sub(upstream.unwrap_or(0));
        for (kind, value) in [Some(total), upstream, Some(own)].into_iter().enumerate() {
            let (Some(value), Some(sum), Some(spread)) = (value, cell.sums.get(kind), cell.spread.get(kind)) else {
                continue;
            };
            add(sum, value);
            let counted = spread.increment(value.min(LONGEST_US));
            debug_assert!(counted.is_ok(), "INVARIANT: clamped to the histogram's range");
        }
        add(&cell.errors, sample.error.into());
        add(&cell.blocked, sample.blocked.into());
        add(&cell.sent, upstream.map_or(0, |_| 1 + u64::from(sample.retries)));
        add(&cell.retries, sample.retries.into());
        add(&cell.bytes_in, sample.bytes_in);
        add(&cell.bytes_out, sample.bytes_out);
        for (entity, action, count) in sample.findings {
            add(shard.findings.entry((entity, action)), *count);
            add(&cell.findings, *count);
        }
        add(shard.outcomes.entry(sample.outcome), 1);
        let class = usize::from(sample.status / 100);
        // INVARIANT: the last write, released: a reader who sees this count sees all that belongs to it.
        if let Some(status) = cell.status.get(class).or_else(|| cell.status.first()) {
            status.fetch_add(1, Ordering::Release);
        }
    }

    /// Counts a connection made to an upstream; against the requests sent it shows whether the pool works.
    pub fn connection_opened(&self, upstream: SeriesId) {
        if let Some(counter) = slot(&self.0.connections, Some(upstream)) {
            add(counter, 1);
        }
    }

    /// Counts what ended before an exchange existed.
    pub fn refused(&self, kind: Refusal) {
        if let Some(counter) = self.0.refused.get(kind as usize) {
            add(counter, 1);
        }
    }
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX >> 16)
}

fn count_in_flight(shard: &Shard, route: Option<SeriesId>, by: i64) {
    if let Some(counter) = slot(&shard.in_flight, route) {
        counter.fetch_add(by, Ordering::Relaxed);
    }
}

/// An exchange that has not ended yet.
#[derive(Debug)]
#[must_use = "an exchange is in flight only as long as this lives"]
pub struct InFlight {
    shard: Arc<Shard>,
    route: Option<SeriesId>,
}

impl InFlight {
    /// Counts it under its route, once that is known.
    pub fn routed(&mut self, route: SeriesId) {
        count_in_flight(&self.shard, self.route, -1);
        self.route = Some(route);
        count_in_flight(&self.shard, self.route, 1);
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        count_in_flight(&self.shard, self.route, -1);
    }
}
