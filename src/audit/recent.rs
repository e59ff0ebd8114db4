//! The newest records in memory, for the dashboard: a bounded ring of log lines, filled by the writer. A read handle.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::Record;

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

/// The newest records. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct Recent(Arc<Mutex<VecDeque<Arc<[u8]>>>>);
