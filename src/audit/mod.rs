//! What is remembered: one record per exchange, on an append-only, hash-chained log that survives `kill -9`. It never
//! sees a value.
//!
//! `record` is what is remembered; `journal` the memory-mapped room it is put down in; `chain` the hash chain; `writer` the
//! one thread that drains the journals into the log; `verify` reads it back.

pub mod record;

pub use record::{FindingRecord, Phases, Record, Uninspected};
pub mod recent;
pub use recent::{Recent, Stored};
