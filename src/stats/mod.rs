//! What is measured. Recording is lock-free and happens once per exchange; reading merges the workers' shards.
//!
//! It promises exact counts, quantiles within 1 %, and memory that is bounded by the number of active series. It refuses
//! to know HTTP, rules and pages: names and numbers come in, numbers go out.
//!
//! `shard` is what a worker writes, `table` the lock-free map under it; `reader` merges the shards into `frames` of four
//! tiers once a second; `snapshot` answers for a window; `targets` is what is known of the moment; `metrics` writes the
//! Prometheus text.
//!
//! Memory per active pair of route and upstream: 32 KiB of counters per worker, 32 KiB for the reader, and a frame of
//! about 0.2 to 1 KiB for each of up to 240 moments that had traffic (see `sparse`), so 0.1 to 0.3 MiB in all when busy
//! around the clock. Idle moments cost 8 bytes.

mod frames;
pub mod metrics;
mod names;
mod reader;
mod shard;
mod snapshot;
mod sparse;
mod table;
mod targets;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

pub use frames::Window;
pub use names::SeriesKind;
pub use shard::{InFlight, Refusal, WorkerStats};
pub use snapshot::{Figures, Point, Quantiles, Snapshot, Tally, UpstreamFigures};
pub use targets::{Circuit, Target, TargetFigures};

use names::Names;
use reader::Reader;
use shard::Shard;

/// Names a route or upstream in the figures; handed out by `Stats` when rules are prepared, kept across reloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SeriesId(pub u16);

/// One finished exchange, as the figures see it.
#[derive(Debug)]
pub struct Sample<'a> {
    /// The route; `None` when none matched.
    pub route: Option<SeriesId>,
    /// The upstream; `None` when nothing was forwarded.
    pub upstream: Option<SeriesId>,
    /// The status sent; 0 when none was.
    pub status: u16,
    /// The record's outcome code.
    pub outcome: &'static str,
    /// Whether it counts as an error: 5xx or a broken-off response. What a client caused does not.
    pub error: bool,
    /// Whether a rule or a failure blocked it.
    pub blocked: bool,
    /// From reading the request to the end of the response.
    pub total: Duration,
    /// Waiting for the upstream's response headers; `None` when nothing was forwarded.
    pub upstream_time: Option<Duration>,
    /// Bytes of the request body.
    pub bytes_in: u64,
    /// Bytes of the response body.
    pub bytes_out: u64,
    /// Times the request was sent again.
    pub retries: u32,
    /// What was found: entity or, for selectors, an empty name; the action's word; how many.
    pub findings: &'a [(&'static str, &'static str, u64)],
}

/// All figures of the process. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct Stats(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    shards: Vec<Arc<Shard>>,
    names: Mutex<Names>,
    reader: Mutex<Reader>,
    targets: targets::Targets,
    ticks: watch::Sender<u64>,
}

impl Stats {
    /// Figures for that many workers, at least one.
    pub fn new(workers: usize) -> Self {
        Self(Arc::new(Inner {
            shards: (0..workers.max(1)).map(|_| Arc::new(Shard::default())).collect(),
            names: Mutex::new(Names::default()),
            reader: Mutex::new(Reader::default()),
            targets: targets::Targets::default(),
            ticks: watch::Sender::new(0),
        }))
    }

    /// The id of a name, the same one each time. Beyond 256 routes or 128 upstreams ever named, the id of `(other)`.
    pub fn series(&self, kind: SeriesKind, name: &str) -> SeriesId {
        self.names().intern(kind, name)
    }

    /// The gauges of a target of an upstream. They are told as long as somebody keeps them.
    pub fn target(&self, upstream: &str, name: &str) -> Arc<Target> {
        self.0.targets.add(upstream, name)
    }

    /// All targets, as they are now.
    pub fn targets(&self) -> Vec<TargetFigures> {
        self.0.targets.figures()
    }

    /// Where worker `i` records. Workers beyond those announced share shards.
    pub fn worker(&self, i: usize) -> WorkerStats {
        let shard = self.0.shards.get(i % self.0.shards.len()).cloned();
        WorkerStats(shard.unwrap_or_default())
    }

    /// Closes a second. To be called once for every second that passes: late calls may be made up for in a burst.
    pub fn tick(&self) {
        let ticks = {
            let mut reader = self.reader();
            reader.collect(&self.0.shards);
            reader.close_second()
        };
        self.0.ticks.send_replace(ticks);
    }

    /// Changes with every tick.
    pub fn ticks(&self) -> watch::Receiver<u64> {
        self.0.ticks.subscribe()
    }

    /// What happened within the window that ends at the latest tick.
    pub fn snapshot(&self, window: Window) -> Snapshot {
        let names = self.names().clone();
        self.reader().snapshot(window, &names, &self.0.shards)
    }

    /// The names are never held while the reader is.
    fn names(&self) -> std::sync::MutexGuard<'_, Names> {
        self.0.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Only the control task, pages and scrapes take this lock; workers never do.
    fn reader(&self) -> std::sync::MutexGuard<'_, Reader> {
        self.0.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
