//! When to look: gathers what the file system tells until it is quiet, and wakes the owning thread. Pure but for the clock.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Events this close together are one change.
const QUIET: Duration = Duration::from_millis(150);
/// A change waits no longer than this for quiet, so that constant saving does not put it off for ever.
const LONGEST: Duration = Duration::from_millis(500);
/// Somebody who has a rule file open for writing gets this long between two writes,
const WRITER_QUIET: Duration = Duration::from_secs(2);
/// and this long altogether. A half-written file may well be valid, with half of its rules.
const WRITER_LONGEST: Duration = Duration::from_secs(10);

/// Why the thread is awake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wake {
    /// Something changed, and it is quiet now.
    Changed,
    /// Somebody asks.
    Triggered,
    /// Nothing was told for a while.
    Poll,
    /// The end.
    Stop,
}

/// What has been told and not yet been looked at.
#[derive(Debug, Default)]
struct Told {
    first: Option<Instant>,
    last: Option<Instant>,
    last_write: Option<Instant>,
    /// Rule files that were written to and not closed since.
    being_written: HashSet<PathBuf>,
    triggered: bool,
    stop: bool,
}

/// Shared by the file system's thread, which tells, and the owning thread, which waits. There is no queue that could
/// overflow: any number of events is one state.
#[derive(Debug, Default)]
pub(super) struct Pulse {
    told: Mutex<Told>,
    bell: Condvar,
}

impl Pulse {
    /// Something changed.
    pub fn changed(&self) {
        self.tell(|told, now| {
            told.first.get_or_insert(now);
            told.last = Some(now);
        });
    }

    /// A rule file is being written in place.
    pub fn writing(&self, path: &Path) {
        self.tell(|told, now| {
            told.last_write = Some(now);
            // COMPAT: only Linux tells when a writer is done.
            if cfg!(target_os = "linux") && told.being_written.len() < 1000 {
                told.being_written.insert(path.to_owned());
            }
        });
    }

    /// The writer is done, or the file is another one now.
    pub fn written(&self, path: &Path) {
        self.tell(|told, _| {
            told.being_written.remove(path);
        });
    }

    /// Look now.
    pub fn trigger(&self) {
        self.tell(|told, _| told.triggered = true);
    }

    /// No more.
    pub fn stop(&self) {
        self.tell(|told, _| told.stop = true);
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, change: impl FnOnce(&mut Told, Instant)) {
        change(&mut self.told(), Instant::now());
        self.bell.notify_one();
    }

    /// Waits until there is a reason to look. With `poll`, waiting that long is one.
    pub fn wait(&self, poll: Option<Duration>) -> Wake {
        let mut told = self.told();
        let poll = poll.map(|poll| Instant::now() + poll);
        loop {
            let now = Instant::now();
            if told.stop {
                return Wake::Stop;
            }
            if std::mem::take(&mut told.triggered) {
                return Wake::Triggered;
            }
            let due = told.due();
            if due.is_some_and(|due| due <= now) {
                (told.first, told.last, told.last_write) = (None, None, None);
                told.being_written.clear();
                return Wake::Changed;
            }
            if due.is_none() && poll.is_some_and(|poll| poll <= now) {
                return Wake::Poll;
            }
            told = match due.or(poll) {
                Some(until) => {
                    let waited = self.bell.wait_timeout(told, until.saturating_duration_since(now));
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.bell.wait(told).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Waits this long; whether the end came meanwhile.
    pub fn pause(&self, time: Duration) -> bool {
        let waited = self.bell.wait_timeout_while(self.told(), time, |told| !told.stop);
        waited.unwrap_or_else(PoisonError::into_inner).0.stop
    }
}

impl Told {
    /// When the change is to be looked at.
    fn due(&self) -> Option<Instant> {
        let (first, last) = (self.first?, self.last?);
        let due = (last + QUIET).min(first + LONGEST);
        let Some(write) = self.last_write else { return Some(due) };
        let quiet = if self.being_written.is_empty() { QUIET } else { WRITER_QUIET };
        Some(due.max((write + quiet).min(first + WRITER_LONGEST)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Milliseconds from the first event to the look.
    fn check(last: u64, last_write: Option<u64>, open: bool, expected: u64) {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut told =
            Told { first: Some(start), last: Some(at(last)), last_write: last_write.map(at), ..Told::default() };
        if open {
            told.being_written.insert("a.yaml".into());
        }
        assert_eq!(told.due(), Some(at(expected)));
    }

    #[test]
    fn waits_for_quiet_but_not_for_ever() {
        check(0, None, false, 150);
        check(300, None, false, 450);
        check(5000, None, false, 500);
    }

    #[test]
    fn lets_a_writer_finish() {
        check(400, Some(400), false, 550);
        check(400, Some(400), true, 2400);
        check(3000, Some(3000), true, 5000);
        check(60_000, Some(60_000), true, 10_000);
        check(60_000, Some(60_000), false, 10_000);
    }

    #[test]
    fn nothing_told_is_nothing_due() {
        assert_eq!(Told::default().due(), None);
    }
}
