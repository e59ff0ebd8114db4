//! What is measured. Recording is lock-free and happens once per exchange; reading merges the workers' shards.

use std::time::Duration;

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
