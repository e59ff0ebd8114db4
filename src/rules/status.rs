//! What the operator sees of the rules: which generation runs, since when, and what was refused. A read handle; it cannot
//! change anything.

use std::sync::Arc;

use arc_swap::ArcSwap;
use jiff::Timestamp;

use super::{Problem, RuleFile};

/// The state of the rules at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The generation that runs.
    pub generation: u64,
    /// Its hash.
    pub hash: String,
    /// Since when it runs.
    pub loaded: Timestamp,
    /// Its files.
    pub files: Vec<RuleFile>,
    /// How many routes, upstreams and rules it has.
    pub routes: usize,
    /// See `routes`.
    pub upstreams: usize,
    /// See `routes`.
    pub rules: usize,
    /// Problems that did not stop it.
    pub warnings: Vec<Problem>,
    /// The newest attempt, if it was refused; cleared by the next good load.
    pub rejected: Option<Rejected>,
}

/// A load that was refused; the generation before it keeps running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// When.
    pub at: Timestamp,
    /// Why: every problem in every file.
    pub problems: Vec<Problem>,
}

/// A cheap handle on the current [`Status`].
#[derive(Debug, Clone)]
pub struct StatusHandle(Arc<ArcSwap<Status>>);

impl StatusHandle {
    /// A handle that starts at `status`.
    pub fn new(status: Status) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(status)))
    }

    /// What holds now.
    pub fn current(&self) -> Arc<Status> {
        self.0.load_full()
    }

    /// Only the store calls this.
    pub(super) fn publish(&self, status: Status) {
        self.0.store(Arc::new(status));
    }
}
