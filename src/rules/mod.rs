//! What the operator wrote: files in, one compiled [`Ruleset`] out, or every problem in every file. It refuses to know
//! sockets, clients and bodies.
//!
//! In reading order: `source` reads the folder, `tree` parses each file into a tree of places, `words` lists the keys of
//! the language, `fields` reads typed values out of the tree, `compile` makes the ruleset, `problem` tells what is wrong,
//! `store` keeps the generation that runs, `watch` notices changes, `status` is what the operator sees of it.

mod compile;
mod fields;
mod problem;
pub mod source;
pub mod status;
pub mod store;
pub(crate) mod suggest;
mod tree;
pub mod watch;
mod words;

pub use source::Source;
pub use store::{Reloaded, Store};

use std::sync::Arc;
use std::time::Duration;

use crate::pii::Customs;
use crate::policy::Plan;
use crate::router::Router;

/// All rule files, compiled: one generation.
#[derive(Debug)]
pub struct Ruleset {
    /// Counts up by one with each swap, from 1.
    pub generation: u64,
    /// SHA-256 over names and contents of all files, hex, first 16 digits.
    pub hash: String,
    /// The files it was made from.
    pub files: Vec<RuleFile>,
    /// Finds the position of a route in `routes`.
    pub router: Router,
    /// The routes.
    pub routes: Vec<Route>,
    /// The upstreams; [`Route::upstream`] is a position here.
    pub upstreams: Vec<Upstream>,
    /// The operator's own detectors.
    pub customs: Arc<Customs>,
    /// How many rules all policies have together.
    pub rules: usize,
    /// Problems that did not stop it.
    pub warnings: Vec<Problem>,
}

/// Reads and compiles once: the ruleset with its warnings, or every problem in every file. Its generation is 1.
pub fn load(source: &Source) -> Result<Ruleset, Vec<Problem>> {
    let attempt = compile::compile(&source.read(), &compile::Surroundings::default(), 1);
    attempt.ruleset.ok_or(attempt.problems)
}

impl Ruleset {
    /// The route with this name; otherwise what to say to somebody who meant another one.
    pub fn route(&self, name: &str) -> Result<&Route, String> {
        self.routes.iter().find(|route| *route.name == *name).ok_or_else(|| {
            let names: Vec<&str> = self.routes.iter().map(|route| &*route.name).collect();
            let guess = suggest::closest(name, names.iter().copied());
            let guess = guess.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            let listed: Vec<String> = names.iter().take(LISTED_ROUTES).map(|name| format!("`{name}`")).collect();
            let more = match names.len().saturating_sub(LISTED_ROUTES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("there is no route {}: {guess}the routes are {}{more}", problem::quote(name), listed.join(", "))
        })
    }
}

/// More names than this are not read by anybody.
const LISTED_ROUTES: usize = 40;

/// A rule file that is part of a ruleset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFile {
    /// Its path below the rules folder.
    pub name: String,
    /// SHA-256 of its content, hex, first 16 digits.
    pub hash: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// A compiled route.
#[derive(Debug)]
pub struct Route {
    /// Its name in the rule files.
    pub name: Arc<str>,
    /// Position in [`Ruleset::upstreams`].
    pub upstream: usize,
    /// Taken off the front of the path before forwarding, on a segment boundary.
    pub strip_prefix: Option<Box<str>>,
    /// `encoded_slash: keep`: `%2f` is forwarded undecoded instead of refused.
    pub keep_encoded_slash: bool,
    /// `limits.body`: what a plan that must hold the body may hold, in bytes.
    pub body_limit: usize,
    /// `limits.total`: the most bytes a body may have at all; `None`: no limit.
    pub total_limit: Option<u64>,
    /// What is judged on the way in.
    pub request: Arc<Plan>,
    /// What is judged on the way out.
    pub response: Arc<Plan>,
}

/// A compiled upstream. Two equal ones (same value) may share a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// Its name in the rule files.
    pub name: Arc<str>,
    /// Where it is. At least one; weights above 1 count as that many turns in the round.
    pub targets: Vec<Target>,
    /// Whether the client's Host goes upstream instead of the target's.
    pub preserve_host: bool,
    /// `headers.set`: fields that replace the client's, values read from `env:` or `file:`.
    pub set_headers: Vec<(http::HeaderName, http::HeaderValue)>,
    /// Deadline for the connection.
    pub connect_timeout: Duration,
    /// Deadline for the response headers, from the request being sent.
    pub response_timeout: Duration,
    /// Longest pause between two pieces of the response body.
    pub idle_timeout: Duration,
    /// Idle connections kept, per worker.
    pub max_idle: usize,
    /// How long an idle connection is kept: below the upstream's own keep-alive.
    pub pool_idle_timeout: Duration,
    /// How many times an idempotent request is sent again on a fresh connection when a reused one died before any byte of
    /// the response: 0 or 1.
    pub retry_attempts: u32,
}

/// One place to forward to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// `http://host:port` or `https://host:port`, without a path beyond `/`.
    pub url: Box<str>,
    /// 1 to 100.
    pub weight: u32,
}

/// One thing that is wrong in a rule file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Path below the rules folder; empty for the folder itself.
    pub file: String,
    /// From 1; 0 when the problem has no place.
    pub line: u32,
    /// In characters, from 1; 0 when the problem has no place.
    pub column: u32,
    /// What is wrong: lower case, user text in back-ticks.
    pub message: String,
    /// The line itself.
    pub snippet: String,
    /// How to mend it.
    pub hint: Option<String>,
    /// A warning does not stop a load.
    pub severity: Severity,
}

/// Whether a problem stops a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// It does.
    Error,
    /// It does not.
    Warning,
}

#[cfg(test)]
mod tests;
