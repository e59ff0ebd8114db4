//! What is remembered: one record per exchange, on an append-only, hash-chained log that survives `kill -9`. It never
//! sees a value.
//!
//! A worker reserves room in its [`Lane`] before it forwards anything, and commits the record when the exchange has
//! ended; from that moment the record outlives the process. In reading order: `record` is what is remembered; `fit`
//! makes it fit its room; `lane` is a worker's way in; `journal` the memory-mapped room itself; `writer` the one
//! thread that drains the journals; `chain` the hash chain and its format; `log` the files; `resume` what is done at
//! a start; `recent` the newest records, for the dashboard; `health` how it is doing; `verify` reads it all back.
//!
//! INVARIANT: when the log cannot be written, room runs out and exchanges are refused (or, if the operator chose so,
//! passed and counted as lost).

mod chain;
mod fit;
mod health;
mod journal;
mod lane;
mod line;
mod log;
mod open;
pub mod recent;
pub mod record;
mod resume;
pub mod verify;
mod writer;

pub use health::Health;
pub use lane::{AuditFull, Lane, Reservation};
pub use open::{Audit, AuditError};
pub use recent::{Recent, Stored};
pub use record::{FindingRecord, Phases, Record, Uninspected};

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

/// How the trail is kept.
#[derive(Debug, Clone)]
pub struct AuditSettings {
    /// The data folder. One process at a time.
    pub dir: PathBuf,
    /// A worker's journal, in bytes. 4 MiB: 1,024 exchanges in flight, each with its room reserved, or some 5,000
    /// records waiting for a log that cannot be written.
    pub journal_bytes: u64,
    /// Room reserved per exchange, the most that a record takes. At least (and usually) 4 KiB, in which any record
    /// with some twenty findings fits.
    pub reserve_bytes: u64,
    /// A log file that would grow past this is followed by a new one.
    pub rotate_bytes: u64,
    /// Newest records kept in memory.
    pub recent: usize,
    /// What becomes of an exchange for whose record there is no room.
    pub on_failure: OnFailure,
}

impl AuditSettings {
    /// The defaults, in `dir`.
    pub fn in_dir(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            journal_bytes: 4 << 20,
            reserve_bytes: fit::LEAST_RESERVATION as u64,
            rotate_bytes: 64 << 20,
            recent: 2_000,
            on_failure: OnFailure::Block,
        }
    }
}

/// What becomes of an exchange for whose record there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnFailure {
    /// It is refused: nothing passes unrecorded.
    #[default]
    Block,
    /// It passes, and is counted as lost if there is no room at its end either.
    Pass,
}

/// The last `count` records of the log in `dir`, oldest first, read from the files.
pub fn last_records(dir: &Path, count: usize) -> io::Result<Vec<Stored>> {
    let mut lines = VecDeque::new();
    let most = fit::LEAST_RESERVATION as u64 + 512;
    resume::newest_lines(dir, most.saturating_mul(count as u64), |line| {
        lines.push_back(line.to_vec());
        if lines.len() > count {
            lines.pop_front();
        }
    })?;
    Ok(lines.iter().filter_map(|line| Stored::read(line)).collect())
}

#[cfg(test)]
pub(crate) fn sample(id: &str) -> Record<'static> {
    Record {
        id: id.to_owned().into(),
        time: "2026-07-01T12:00:00.000001Z".into(),
        generation: 3,
        client: "192.0.2.7".into(),
        method: "GET".into(),
        protocol: "https/1.1".into(),
        host: "api.example.com".into(),
        path: "/customers/[email]".into(),
        route: "customers".into(),
        upstream: "crm".into(),
        target: "http://127.0.0.1:9000".into(),
        status: 200,
        upstream_status: 200,
        outcome: "completed".into(),
        verdict: "edit".into(),
        phases: Phases { request_us: 41, upstream_us: 1200, response_us: 77, total_us: 1318 },
        bytes_in: 0,
        bytes_out: 951,
        retries: 0,
        findings: vec![FindingRecord {
            direction: "response".into(),
            place: "$.card".into(),
            entity: "credit_card".into(),
            policy: "customers".into(),
            rule: "customers.1".into(),
            action: "mask".into(),
            shadow: false,
            count: 1,
        }],
        findings_more: 0,
        uninspected: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
