//! A worker's way into the audit trail: room is reserved before anything is forwarded, and given to the record when
//! the exchange has ended. It touches no file; the writer thread does.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::fit;
use super::health::{Shared, lock};
use super::journal::{FRAME_HEADER, JournalReader, JournalWriter};
use super::{OnFailure, Record};

/// There is no room for another record: the log is not being written, or not fast enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditFull;

impl std::fmt::Display for AuditFull {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no room for an audit record")
    }
}

impl std::error::Error for AuditFull {}

/// One per worker.
#[derive(Debug)]
pub struct Lane {
    // PERF: used by one worker, so that the lock is free but for the moment in which a lost folder is made anew; it
    // is never held across an await.
    producer: Mutex<Producer>,
    room: Notify,
    shared: Arc<Shared>,
    reserve_bytes: u64,
    on_failure: OnFailure,
}

#[derive(Debug)]
struct Producer {
    writer: JournalWriter,
    reserved: u64,
    scratch: Vec<u8>,
}

impl Producer {
    fn reserve(&mut self, bytes: u64) -> bool {
        let has_room = self.writer.pending() + self.reserved + bytes <= self.writer.capacity();
        if has_room {
            self.reserved += bytes;
        }
        has_room
    }
}

impl Lane {
    pub(super) fn new(writer: JournalWriter, shared: Arc<Shared>, reserve_bytes: u64, on_failure: OnFailure) -> Self {
        let producer = Producer { writer, reserved: 0, scratch: Vec::with_capacity(reserve_bytes as usize) };
        Self { producer: Mutex::new(producer), room: Notify::new(), shared, reserve_bytes, on_failure }
    }

    /// Reserves room for one record, now or not at all.
    pub fn reserve(self: &Arc<Self>) -> Result<Reservation, AuditFull> {
        self.try_reserve().map_or_else(|| self.go_without(), Ok)
    }

    /// Reserves room for one record, waiting for it so long.
    pub async fn reserve_within(self: &Arc<Self>, wait: Duration) -> Result<Reservation, AuditFull> {
        // PERF: as a rule there is room, and neither clock nor list of waiters is touched.
        if let Some(reservation) = self.try_reserve() {
            return Ok(reservation);
        }
        let deadline = Instant::now() + wait;
        loop {
            let mut room = std::pin::pin!(self.room.notified());
            // Listen first, look second: room that comes free in between is not missed.
            room.as_mut().enable();
            if let Some(reservation) = self.try_reserve() {
                return Ok(reservation);
            }
            if self.shared.is_shut.load(Ordering::Acquire) || timeout_at(deadline, room).await.is_err() {
                return self.go_without();
            }
        }
    }

    fn try_reserve(self: &Arc<Self>) -> Option<Reservation> {
        let is_open = !self.shared.is_shut.load(Ordering::Acquire);
        (is_open && lock(&self.producer).reserve(self.reserve_bytes))
            .then(|| Reservation { lane: Arc::clone(self), bytes: self.reserve_bytes })
    }

    fn go_without(self: &Arc<Self>) -> Result<Reservation, AuditFull> {
        match self.on_failure {
            OnFailure::Block => {
                self.shared.refused.fetch_add(1, Ordering::Relaxed);
                Err(AuditFull)
            }
            OnFailure::Pass => Ok(Reservation { lane: Arc::clone(self), bytes: 0 }),
        }
    }

    /// Bytes waiting for the writer.
    pub(super) fn pending(&self) -> u64 {
        lock(&self.producer).writer.pending()
    }

    pub(super) fn announce_room(&self) {
        self.room.notify_waiters();
    }

    /// Moves the lane to another journal, to which `remake` has carried what was pending.
    pub(super) fn move_to(
        &self,
        remake: impl FnOnce() -> std::io::Result<(JournalWriter, JournalReader)>,
    ) -> std::io::Result<JournalReader> {
        let mut producer = lock(&self.producer);
        let (writer, reader) = remake()?;
        producer.writer = writer;
        Ok(reader)
    }

    fn give_back(&self, bytes: u64) {
        if bytes > 0 {
            lock(&self.producer).reserved -= bytes;
            self.room.notify_one();
        }
    }

    fn put_down(&self, record: &Record<'_>, reserved: u64) {
        let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
        let mut guard = lock(&self.producer);
        let producer = &mut *guard;
        // A reservation of nothing (`on_failure: pass`) takes room if there is some by now.
        let has_room = reserved > 0 || producer.reserve(self.reserve_bytes);
        let is_kept = has_room && {
            producer.reserved -= self.reserve_bytes;
            fit::write(record, self.reserve_bytes as usize - FRAME_HEADER, &mut producer.scratch);
            producer.writer.push(at, &producer.scratch).is_ok()
        };
        let is_half_full = producer.writer.pending() > producer.writer.capacity() / 2;
        drop(guard);
        if is_kept {
            self.shared.wake_after_publishing(is_half_full);
            // The record took less than was reserved for it.
            self.room.notify_one();
        } else {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Room for one record. Dropping it gives the room back.
#[derive(Debug)]
#[must_use = "room that is dropped is given back"]
pub struct Reservation {
    lane: Arc<Lane>,
    bytes: u64,
}

impl Reservation {
    /// Puts the record down. When this returns, it survives the death of the process; what does not fit is cut off it
    /// and counted.
    pub fn commit(mut self, record: &Record<'_>) {
        let reserved = std::mem::take(&mut self.bytes);
        self.lane.put_down(record, reserved);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.lane.give_back(self.bytes);
    }
}
