//! The keys of the rule language, scope by scope: those that work, and those that are part of the language but do not run
//! yet. The latter are refused, never ignored: a key that is accepted and does nothing is a leak.

/// One kind of mapping in a rule file.
#[derive(Debug)]
pub(super) struct Scope {
    /// What the mapping is, for messages.
    pub what: &'static str,
    /// Keys that work.
    pub keys: &'static [&'static str],
    /// Keys of the language that do not run yet.
    pub later: &'static [&'static str],
}

/// A scope whose keys all work.
const fn scope(what: &'static str, keys: &'static [&'static str]) -> Scope {
    Scope { what, keys, later: &[] }
}

impl Scope {
    /// With keys that do not run yet.
    const fn later(mut self, later: &'static [&'static str]) -> Self {
        self.later = later;
        self
    }
}

pub(super) const FILE: Scope = scope("a rule file", &["version", "upstreams", "routes", "policies", "detectors"])
    .later(&["consumers", "keys", "tests"]);

pub(super) const UPSTREAM: Scope =
    scope("an upstream", &["targets", "balance", "preserve_host", "headers", "timeouts", "pool", "retries"]).later(&[
        "health",
        "circuit_breaker",
        "max_in_flight",
        "tls",
    ]);
pub(super) const TARGET: Scope = scope("a target", &["url", "weight"]);
pub(super) const UPSTREAM_HEADERS: Scope = scope("`headers` of an upstream", &["set"]);
pub(super) const TIMEOUTS: Scope = scope("`timeouts`", &["connect", "response", "idle"]);
pub(super) const POOL: Scope = scope("`pool`", &["max_idle", "idle_timeout"]);
pub(super) const RETRIES: Scope = scope("`retries`", &["attempts"]).later(&["budget"]);

pub(super) const ROUTE: Scope =
    scope("a route", &["match", "upstream", "policies", "strip_prefix", "encoded_slash", "limits"]).later(&[
        "auth",
        "rate_limit",
        "upgrade",
        "consumers",
        "when",
    ]);
pub(super) const MATCH: Scope = scope("`match`", &["hosts", "paths", "methods"]);
pub(super) const LIMITS: Scope = scope("`limits`", &["body", "total"]);

pub(super) const DETECTOR: Scope = scope("a detector", &["pattern", "context", "examples", "counter_examples"]);

pub(super) const POLICY: Scope =
    scope("a policy", &["mode", "on_failure", "request", "response"]).later(&["when", "consumers"]);
pub(super) const ON_FAILURE: Scope =
    scope("`on_failure`", &["malformed", "oversize", "unsupported"]).later(&["condition"]);

pub(super) const RULE: Scope = scope(
    "a rule",
    &[
        "id",
        "select",
        "query",
        "headers",
        "detect",
        "keep_only",
        "fold_case",
        "parse",
        "in",
        "min_confidence",
        "action",
    ],
)
.later(&["when", "except", "consumers"]);
pub(super) const PLACE: Scope = scope("a place of `in`", &["headers"]);

pub(super) const ACTION: Scope =
    scope("an action", &["allow", "log", "mask", "redact", "remove", "replace", "rename", "set", "block"]).later(&[
        "hash",
        "tokenize",
        "detokenize",
    ]);
pub(super) const MASK: Scope = scope("`mask`", &["keep_first", "keep_last", "char", "as"]);
pub(super) const REDACT: Scope = scope("`redact`", &["with", "whole", "as"]);
pub(super) const BLOCK: Scope = scope("`block`", &["status", "message"]);

/// What is said about a key or word that does not run yet.
pub(super) fn not_yet(word: &str) -> String {
    format!("`{word}` is part of the rule language, but this version does not run it yet")
}

/// And what to do about it.
pub(super) const NOT_YET_HINT: &str = "remove it: a key that is accepted and does nothing would leave data unprotected";
