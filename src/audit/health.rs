//! How the audit trail is doing: counters and the writer's state, shared between lanes, the writer and whoever looks.
//! It decides nothing.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::Instant;

use super::chain::Chain;
use super::lane::Lane;

/// A cheap read handle. Cloning gives another.
#[derive(Debug, Clone)]
pub struct Health {
    pub(super) shared: Arc<Shared>,
    pub(super) lanes: Arc<[Arc<Lane>]>,
}

impl Health {
    /// The last record in the log; 0 before the first.
    pub fn last_seq(&self) -> u64 {
        self.shared.end().seq
    }

    /// Its hash, hex. Kept elsewhere together with `last_seq`, it anchors everything before it.
    pub fn last_hash(&self) -> String {
        self.shared.end().hash_text()
    }

    /// Bytes in the journals that are not in the log yet.
    pub fn pending_bytes(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.pending()).sum()
    }

    /// Why the log cannot be written at the moment. Records are kept in the journals meanwhile.
    pub fn failing(&self) -> Option<String> {
        lock(&self.shared.failing).clone()
    }

    /// The last thing that an operator should look into although writing goes on, such as a log cut from outside.
    pub fn alarm(&self) -> Option<String> {
        lock(&self.shared.alarm).clone()
    }

    /// Records written to the log by this process, those of an earlier one's journals included.
    pub fn records_written(&self) -> u64 {
        self.shared.written.load(Ordering::Relaxed)
    }

    /// Exchanges that passed without a record (`on_failure: pass`), and frames that could not be read back.
    pub fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::Relaxed)
    }

    /// Exchanges refused because there was no room for their record.
    pub fn refused(&self) -> u64 {
        self.shared.refused.load(Ordering::Relaxed)
    }
}

/// What the parts share.
#[derive(Debug)]
pub(super) struct Shared {
    end: Mutex<Chain>,
    failing: Mutex<Option<String>>,
    alarm: Mutex<Option<String>>,
    written: AtomicU64,
    pub(super) lost: AtomicU64,
    pub(super) refused: AtomicU64,
    /// Nothing may be put down: the journals' files are gone, or the trail is closed.
    pub(super) is_shut: AtomicBool,
    pub(super) is_stopping: AtomicBool,
    /// Until when a stopping writer tries.
    pub(super) deadline: Mutex<Option<Instant>>,
    is_asleep: AtomicBool,
    /// Nobody has woken the writer for a full journal since it last looked.
    may_be_hurried: AtomicBool,
    writer: OnceLock<Thread>,
}

impl Shared {
    pub(super) fn new(end: Chain) -> Self {
        Self {
            end: Mutex::new(end),
            failing: Mutex::default(),
            alarm: Mutex::default(),
            written: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            is_shut: AtomicBool::new(false),
            is_stopping: AtomicBool::new(false),
            deadline: Mutex::default(),
            is_asleep: AtomicBool::new(false),
            may_be_hurried: AtomicBool::new(true),
            writer: OnceLock::new(),
        }
    }

    pub(super) fn end(&self) -> Chain {
        *lock(&self.end)
    }

    pub(super) fn record_written(&self, count: u64, end: Chain) {
        *lock(&self.end) = end;
        self.written.fetch_add(count, Ordering::Relaxed);
    }

    /// Says that writing fails, or works again; in the log once per change.
    pub(super) fn set_failing(&self, why: Option<String>) {
        let mut failing = lock(&self.failing);
        match (&*failing, &why) {
            (None, Some(why)) => tracing::error!(%why, "the audit log cannot be written; records stay in the journal"),
            (Some(_), None) => tracing::info!("the audit log is written again"),
            (None, None) | (Some(_), Some(_)) => {}
        }
        *failing = why;
    }

    pub(super) fn raise(&self, alarm: String) {
        let mut last = lock(&self.alarm);
        // Said once, however often it comes.
        if last.as_ref() != Some(&alarm) {
            tracing::error!(%alarm, "audit trail");
            *last = Some(alarm);
        }
    }

    pub(super) fn name_writer(&self, thread: Thread) {
        self.writer.set(thread).ok();
    }

    /// Called after a frame was published. PERF: no system call unless the writer sleeps for long or the journal is
    /// half full.
    pub(super) fn wake_after_publishing(&self, is_half_full: bool) {
        // INVARIANT: publish, fence, look at the flag here; set the flag, fence, look for frames in `fall_asleep`.
        // One of both sees the other.
        fence(Ordering::SeqCst);
        let take = |flag: &AtomicBool| flag.load(Ordering::Relaxed) && flag.swap(false, Ordering::Relaxed);
        if take(&self.is_asleep) || (is_half_full && take(&self.may_be_hurried)) {
            self.wake();
        }
    }

    pub(super) fn wake(&self) {
        if let Some(writer) = self.writer.get() {
            writer.unpark();
        }
    }

    pub(super) fn fall_asleep(&self) {
        self.is_asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    pub(super) fn is_awake(&self) {
        self.is_asleep.store(false, Ordering::Relaxed);
        self.may_be_hurried.store(true, Ordering::Relaxed);
    }
}

/// A poisoned lock here guards plain values that are whole at every moment.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
