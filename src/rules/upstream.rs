//! How an upstream that fails is dealt with, compiled: which target is next, when one is left out, what is sent again. It
//! knows settings; what they do is `gateway::upstream`'s.

use std::sync::Arc;
use std::time::Duration;

/// Which target is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Balance {
    /// Each in turn, as often as its weight says.
    RoundRobin,
    /// The one with the fewest requests under way for its weight.
    LeastRequests,
}

/// `health`: asking each target from time to time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthCheck {
    /// Path, and query, that is asked for with GET.
    pub path: Arc<str>,
    /// From one question to the next, give or take a tenth.
    pub interval: Duration,
    /// Deadline for the answer.
    pub timeout: Duration,
    /// So many bad answers in a row, and the target is left out.
    pub unhealthy_after: u32,
    /// So many good answers in a row, and it is back.
    pub healthy_after: u32,
}

/// `circuit_breaker`: leaving out a target that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CircuitBreaker {
    /// So many failures...
    pub failures: u32,
    /// ...within this time, and nothing is sent to the target...
    pub window: Duration,
    /// ...for this long; then one request tries it.
    pub open: Duration,
}

/// `retries`: sending a request again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// How many times at most. 0: never.
    pub attempts: u32,
    /// How many requests may be added to a hundred that way.
    pub budget: u32,
}

impl Default for Retries {
    fn default() -> Self {
        Self { attempts: 1, budget: 20 }
    }
}
