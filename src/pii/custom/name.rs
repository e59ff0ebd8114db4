//! Names that live as long as the process: records, figures and texts refer to a detector long after its ruleset is gone.
//! It promises that each name is kept once, and never more than a bounded number.

use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Most different names that custom detectors can have had while one process runs: 64 KiB of text, and a bound on the
/// number of time series.
pub const MOST_NAMES: usize = 1024;

/// The name of a custom detector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name(&'static str);

/// There have been [`MOST_NAMES`] different ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyNames;

static KNOWN: LazyLock<Mutex<BTreeSet<&'static str>>> = LazyLock::new(Mutex::default);

impl Name {
    /// The name `text`.
    pub fn new(text: &str) -> Result<Self, TooManyNames> {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = known.get(text) {
            return Ok(Self(name));
        }
        if known.len() >= MOST_NAMES {
            return Err(TooManyNames);
        }
        // Bounded by `MOST_NAMES`, and needed until the process ends.
        let name: &'static str = Box::leak(text.into());
        known.insert(name);
        Ok(Self(name))
    }

    /// As it was written.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}
