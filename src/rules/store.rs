//! Keeps the generation that runs: one snapshot, swapped whole or not at all.
//!
//! It promises that the first load and the hundredth are the same code, that a load which fails changes nothing, and that
//! an emptied or vanished folder is such a failure. It refuses to know when to look ([`super::watch`] does) and what is
//! made of a ruleset (`prepare` does: clients, for one).

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use jiff::Timestamp;

use super::compile::{self, Surroundings};
use super::source::{Reading, Source, digest_of};
use super::status::{Rejected, Status, StatusHandle};
use super::{Problem, Ruleset};

/// What came of looking at the rules again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reloaded {
    /// The same content as at the last look, or as what runs.
    Unchanged,
    /// This generation runs now.
    Swapped(u64),
    /// Refused; what ran before keeps running. The status says why.
    Rejected,
}

type Prepare<T> = dyn Fn(Ruleset, Option<&Arc<T>>) -> Result<T, Vec<Problem>> + Send + Sync;

/// The rules that run, prepared as `T`.
pub struct Store<T> {
    source: Source,
    surroundings: Surroundings,
    prepare: Box<Prepare<T>>,
    current: ArcSwap<T>,
    /// Held while loading: one load at a time. Readers of `current` never wait for it.
    seen: Mutex<Seen>,
    status: StatusHandle,
}

/// Contents at a moment: of the rule files, and of the secret files they name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Contents {
    hash: String,
    secrets: Vec<(PathBuf, String)>,
}

impl Contents {
    fn hold(&self, hash: &str) -> bool {
        self.hash == hash && self.secrets.iter().all(|(path, digest)| digest_of(path) == *digest)
    }
}

struct Seen {
    /// What was tried last.
    tried: Contents,
    /// What runs.
    running: Contents,
}

/// A generation, ready to run.
struct Made<T> {
    value: T,
    status: Status,
}

impl<T> Store<T> {
    /// Loads for the first time. Every problem is fatal here and comes back.
    pub fn open(
        source: impl Into<Source>,
        prepare: impl Fn(Ruleset, Option<&Arc<T>>) -> Result<T, Vec<Problem>> + Send + Sync + 'static,
    ) -> Result<Self, Vec<Problem>> {
        Self::open_in(source.into(), Surroundings::default(), Box::new(prepare))
    }

    pub(crate) fn open_in(
        source: Source,
        surroundings: Surroundings,
        prepare: Box<Prepare<T>>,
    ) -> Result<Self, Vec<Problem>> {
        let (made, contents) = make(&source.read(), &surroundings, &*prepare, 1, None);
        let made = made?;
        Ok(Self {
            source,
            surroundings,
            prepare,
            current: ArcSwap::from_pointee(made.value),
            seen: Mutex::new(Seen { tried: contents.clone(), running: contents }),
            status: StatusHandle::new(made.status),
        })
    }

    /// What runs now. One exchange takes it once.
    pub fn current(&self) -> Arc<T> {
        self.current.load_full()
    }

    /// For the dashboard.
    pub fn status(&self) -> StatusHandle {
        self.status.clone()
    }

    /// Where the rules come from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Looks again, and swaps if there is something new and good. Content that was refused is not tried twice.
    pub fn reload(&self) -> Reloaded {
        self.look(false)
    }

    /// As [`Self::reload`], and content that was refused is tried again.
    pub fn reload_again(&self) -> Reloaded {
        self.look(true)
    }

    /// Whether the source differs from what was tried last, and its hash.
    pub(super) fn peek(&self) -> (bool, String) {
        let hash = self.source.read().hash();
        (!self.seen().tried.hold(&hash), hash)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        // A panic while loading leaves what is guarded as it was: it is written only after a load.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self, again: bool) -> Reloaded {
        let mut seen = self.seen();
        let reading = self.source.read();
        let hash = reading.hash();
        if !again && seen.tried.hold(&hash) {
            return Reloaded::Unchanged;
        }
        if seen.running.hold(&hash) {
            seen.tried = seen.running.clone();
            self.back_to_running();
            return Reloaded::Unchanged;
        }
        let running = self.current.load_full();
        let generation = self.status.current().generation + 1;
        let (made, contents) = make(&reading, &self.surroundings, &*self.prepare, generation, Some(&running));
        seen.tried = contents;
        match made {
            Ok(Made { value, status }) => {
                seen.running = seen.tried.clone();
                self.current.store(Arc::new(value));
                tracing::info!(
                    generation,
                    hash = status.hash,
                    warnings = status.warnings.len(),
                    "new rules are running"
                );
                self.status.publish(status);
                Reloaded::Swapped(generation)
            }
            Err(problems) => {
                self.reject(problems);
                Reloaded::Rejected
            }
        }
    }

    fn back_to_running(&self) {
        let status = self.status.current();
        if status.rejected.is_some() {
            tracing::info!(generation = status.generation, "the rule files say again what is running");
            self.status.publish(Status { rejected: None, ..Status::clone(&status) });
        }
    }

    fn reject(&self, problems: Vec<Problem>) {
        let status = self.status.current();
        tracing::error!(
            generation = status.generation,
            problems = problems.len(),
            "the new rules are refused; the generation before keeps running"
        );
        for problem in &problems {
            let hint = problem.hint.as_deref().unwrap_or_default();
            let Problem { file, line, column, message, .. } = problem;
            if problem.is_error() {
                tracing::error!(file, line, column, hint, "{message}");
            } else {
                tracing::warn!(file, line, column, hint, "{message}");
            }
        }
        self.status
            .publish(Status { rejected: Some(Rejected { at: Timestamp::now(), problems }), ..Status::clone(&status) });
    }
}

impl<T> fmt::Debug for Store<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("status", &self.status.current()).finish_non_exhaustive()
    }
}

fn make<T>(
    reading: &Reading,
    surroundings: &Surroundings,
    prepare: &Prepare<T>,
    generation: u64,
    running: Option<&Arc<T>>,
) -> (Result<Made<T>, Vec<Problem>>, Contents) {
    let attempt = compile::compile(reading, surroundings, generation);
    let contents = Contents { hash: reading.hash(), secrets: attempt.secrets };
    let Some(ruleset) = attempt.ruleset else { return (Err(attempt.problems), contents) };
    let status = Status {
        generation,
        hash: ruleset.hash.clone(),
        loaded: Timestamp::now(),
        files: ruleset.files.clone(),
        routes: ruleset.routes.len(),
        upstreams: ruleset.upstreams.len(),
        rules: ruleset.rules,
        warnings: attempt.problems,
        rejected: None,
    };
    (prepare(ruleset, running).map(|value| Made { value, status }), contents)
}

#[cfg(test)]
pub(in crate::rules) mod tests;
