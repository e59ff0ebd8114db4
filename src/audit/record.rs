//! The audit record: what an exchange leaves behind. It has no field that could hold a value.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// One exchange. Field order is the order in the log line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record<'a> {
    /// UUIDv7, also returned as `X-Request-Id`.
    pub id: Cow<'a, str>,
    /// When the request was read: RFC 3339, UTC, microseconds.
    pub time: Cow<'a, str>,
    /// The ruleset that judged it.
    pub generation: u64,
    /// The peer's address, without port.
    pub client: Cow<'a, str>,
    /// The method, capped.
    pub method: Cow<'a, str>,
    /// How the client spoke: `http/1.1`, `https/1.1` or `https/2`; empty in records of older versions.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub protocol: Cow<'a, str>,
    /// The host, capped.
    pub host: Cow<'a, str>,
    /// The path, capped, recognised values replaced by `[entity]`. Never the query.
    pub path: Cow<'a, str>,
    /// The route's name; empty when none matched.
    pub route: Cow<'a, str>,
    /// The upstream's name; empty when none was chosen.
    pub upstream: Cow<'a, str>,
    /// The target's URL; empty when nothing was forwarded.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub target: Cow<'a, str>,
    /// The status sent to the client; 0 when none was.
    pub status: u16,
    /// The upstream's status; 0 when there was none.
    pub upstream_status: u16,
    /// How it ended: `completed`, or a stable code such as `client_aborted`, `upstream_connect`, `blocked`.
    pub outcome: Cow<'a, str>,
    /// `pass`, `edit` or `block`: the stronger of both directions.
    pub verdict: Cow<'a, str>,
    /// Where the time went.
    pub phases: Phases,
    /// Bytes of the request body as received.
    pub bytes_in: u64,
    /// Bytes of the response body as sent.
    pub bytes_out: u64,
    /// Times the request was sent again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retries: u32,
    /// What was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingRecord<'a>>,
    /// Findings beyond what a record holds.
    #[serde(default, skip_serializing_if = "is_zero64")]
    pub findings_more: u64,
    /// Which rules did not run, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uninspected: Vec<Uninspected<'a>>,
}

/// Microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases {
    /// Reading and judging the request.
    pub request_us: u64,
    /// From sending the request until the response headers, waiting for the upstream included.
    pub upstream_us: u64,
    /// Reading, judging and sending the response.
    pub response_us: u64,
    /// All of it.
    pub total_us: u64,
}

/// Equal findings, counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingRecord<'a> {
    /// `request` or `response`.
    pub direction: Cow<'a, str>,
    /// `$.users[*].email`, `query.name`, `header.name` or `path[n]`.
    pub place: Cow<'a, str>,
    /// The entity's name; empty for a selector.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub entity: Cow<'a, str>,
    /// The policy's name.
    pub policy: Cow<'a, str>,
    /// The rule's id.
    pub rule: Cow<'a, str>,
    /// The action's word.
    pub action: Cow<'a, str>,
    /// Whether the policy was in shadow mode: nothing was done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shadow: bool,
    /// How many values.
    pub count: u64,
}

/// Why rules did not run on a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uninspected<'a> {
    /// `request` or `response`.
    pub direction: Cow<'a, str>,
    /// `malformed`, `oversize` or `unsupported`.
    pub failure: Cow<'a, str>,
    /// In fixed words.
    pub reason: Cow<'a, str>,
    /// `block` or `pass`.
    pub decision: Cow<'a, str>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero64(n: &u64) -> bool {
    *n == 0
}
