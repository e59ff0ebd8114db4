//! The one thread that owns the log: it drains the journals, oldest record first, into the hash chain, a batch with
//! one write. It never gives up: while the log cannot be written, records stay in the journals, room runs out, and
//! exchanges are refused until it goes on by itself.
//!
//! # What is promised
//!
//! A committed record is in the log exactly once, however often the process is killed: it leaves its journal only
//! after the write that put it into the log, and what was in both when the process died is recognised by its id at
//! the next start. Nothing is `fsync`ed: records survive the death of the process, not the loss of power, after which
//! the newest seconds may be missing (and the chain shows whether they are).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::chain::Chain;
use super::health::{Shared, lock};
use super::journal::{self, JournalReader, Next};
use super::lane::Lane;
use super::log::{Head, Log, Noticed};
use super::recent::Recent;

/// A batch is closed when it has grown past this.
pub const BATCH: usize = 512 << 10;
/// How long records gather while there is traffic. PERF: a wake-up costs two writes and two looks at the file, however many
/// records there are; the dashboard cannot tell.
const GATHER: Duration = Duration::from_millis(20);
/// Looks without a find before the writer sleeps until it is woken.
const PATIENCE: u32 = 5;
/// How often the files are checked for still being where they should.
const LOOK_AROUND: Duration = Duration::from_secs(1);
const RETRY: Duration = Duration::from_millis(200);

/// A journal being drained.
#[derive(Debug)]
pub struct Source {
    reader: JournalReader,
    /// The lane that fills it; none for what an earlier process left.
    lane: Option<Arc<Lane>>,
    peeked: Option<u64>,
    payload: Vec<u8>,
    /// Everything before this position is in the batch.
    sealed: u64,
}

impl Source {
    /// Drains `reader`.
    pub fn new(reader: JournalReader, lane: Option<Arc<Lane>>) -> Self {
        let sealed = reader.position();
        Self { reader, lane, peeked: None, payload: Vec::new(), sealed }
    }

    fn peek(&mut self, shared: &Shared) -> Option<u64> {
        if self.peeked.is_none() {
            match self.reader.next(&mut self.payload) {
                Next::Frame { at } => self.peeked = Some(at),
                Next::Empty => {}
                Next::Damaged => self.set_aside(shared),
            }
        }
        self.peeked
    }

    /// What cannot be read is kept as a file for a person, and stepped over.
    fn set_aside(&mut self, shared: &Shared) {
        let path = self.reader.path();
        let aside = path.with_extension(format!("damaged-{}", self.reader.position()));
        let kept = match std::fs::copy(path, &aside) {
            Ok(_) => format!("kept as `{}`", aside.display()),
            Err(error) => format!("not kept: {error}"),
        };
        let path = path.display().to_string();
        let bytes = self.reader.skip_all();
        self.sealed = self.reader.position();
        shared.lost.fetch_add(1, Ordering::Relaxed);
        shared.raise(format!("{bytes} bytes of the journal `{path}` cannot be read ({kept})"));
    }
}

/// Lines sealed but not known to be in the log.
#[derive(Debug, Default)]
struct Batch {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    first: u64,
}

/// The thread's state.
#[derive(Debug)]
pub struct Writer {
    pub(super) shared: Arc<Shared>,
    pub(super) sources: Vec<Source>,
    pub(super) log: Log,
    pub(super) head: Head,
    pub(super) chain: Chain,
    pub(super) recent: Recent,
    batch: Batch,
    looked_around: Instant,
}

/// What a round came to.
enum Round {
    Idle,
    Wrote { is_full: bool },
    Failed,
}

impl Writer {
    pub(super) fn new(
        shared: Arc<Shared>,
        sources: Vec<Source>,
        log: Log,
        head: Head,
        chain: Chain,
        recent: Recent,
    ) -> Self {
        Self { shared, sources, log, head, chain, recent, batch: Batch::default(), looked_around: Instant::now() }
    }

    /// Writes what an earlier process left, so that the log is whole before the first new record. Where that fails, it is
    /// tried again with everything else.
    pub(super) fn catch_up(&mut self) {
        while matches!(self.round(), Round::Wrote { .. }) {}
    }

    /// Drains until the trail is stopped and everything is written, or cannot be.
    pub fn run(mut self) {
        let mut idle = 0;
        loop {
            let is_stopping = self.shared.is_stopping.load(Ordering::Acquire);
            match self.round() {
                Round::Idle if is_stopping => return,
                Round::Idle => {
                    idle += 1;
                    if idle < PATIENCE {
                        std::thread::park_timeout(GATHER);
                    } else {
                        self.shared.fall_asleep();
                        if self.sources.iter().all(|source| source.reader.pending() == 0) {
                            std::thread::park_timeout(LOOK_AROUND);
                        }
                    }
                    self.shared.is_awake();
                }
                Round::Wrote { is_full } => {
                    idle = 0;
                    if !is_full && !is_stopping {
                        std::thread::park_timeout(GATHER);
                    }
                    self.shared.is_awake();
                }
                // The records stay in their journals; the next start finds them.
                Round::Failed if is_stopping && self.shared.is_past_deadline() => return,
                // Not marked as awake: a full journal must not turn every commit into another attempt.
                Round::Failed => std::thread::park_timeout(RETRY),
            }
        }
    }

    fn round(&mut self) -> Round {
        if self.looked_around.elapsed() >= LOOK_AROUND && !self.look_around() {
            return Round::Failed;
        }
        if self.batch.bytes.is_empty() {
            self.gather();
        }
        if self.batch.bytes.is_empty() {
            self.release();
            return Round::Idle;
        }
        match self.log.append(self.batch.first, &self.batch.bytes) {
            Ok(noticed) => {
                if let Noticed::Meddled(path) = noticed {
                    let path = path.display();
                    self.shared.raise(format!("`{path}` was changed by somebody else; the log goes on in a new file"));
                }
                let is_full = self.batch.bytes.len() >= BATCH;
                self.settle();
                Round::Wrote { is_full }
            }
            Err(error) => {
                self.shared.set_failing(Some(format!("`{}`: {error}", self.log.path().display())));
                if error.kind() == std::io::ErrorKind::NotFound {
                    // The folder may be gone, and the journals with it: that cannot wait.
                    self.look_around();
                }
                Round::Failed
            }
        }
    }

    /// Seals what is waiting, oldest first across all journals.
    fn gather(&mut self) {
        let Self { sources, batch, chain, shared, .. } = self;
        batch.first = chain.seq + 1;
        while batch.bytes.len() < BATCH {
            let waiting = sources.iter_mut().filter_map(|source| Some((source.peek(shared)?, source)));
            let Some((_, oldest)) = waiting.min_by_key(|(at, _)| *at) else { break };
            if is_object(&oldest.payload) {
                chain.seal(&oldest.payload, &mut batch.bytes);
                batch.ends.push(batch.bytes.len());
            } else {
                shared.lost.fetch_add(1, Ordering::Relaxed);
                shared.raise(format!("a journal entry in `{}` is no record", oldest.reader.path().display()));
            }
            oldest.peeked = None;
            oldest.sealed = oldest.reader.position();
        }
    }

    /// The batch is in the log: everybody may know, and the journals get their room back.
    fn settle(&mut self) {
        let count = self.batch.ends.len();
        let starts = std::iter::once(0).chain(self.batch.ends.iter().copied());
        let lines: Vec<&[u8]> = starts
            .zip(&self.batch.ends)
            .map(|(start, end)| self.batch.bytes.get(start..end - 1).unwrap_or_default())
            .collect();
        self.recent.push(self.batch.first, lines.into_iter());
        self.shared.record_written(count as u64, self.chain);
        if let Err(error) = self.head.note(&self.chain) {
            self.shared.raise(format!("`audit.head` cannot be written: {error}"));
        }
        self.release();
        self.batch.bytes.clear();
        self.batch.ends.clear();
        self.shared.set_failing(None);
    }

    fn release(&mut self) {
        for source in &mut self.sources {
            if source.sealed != source.reader.tail() {
                source.reader.release(source.sealed);
                if let Some(lane) = &source.lane {
                    lane.announce_room();
                }
            }
        }
        self.sources.retain(|source| {
            let is_spent = source.lane.is_none() && source.reader.pending() == 0;
            if is_spent && let Err(error) = std::fs::remove_file(source.reader.path()) {
                tracing::warn!(file = %source.reader.path().display(), %error, "an empty journal cannot be removed");
            }
            !is_spent
        });
    }

    /// Makes sure that what is written can be found: the log at its path, and the journals and the lock in the
    /// folder. Says whether all is well.
    fn look_around(&mut self) -> bool {
        self.looked_around = Instant::now();
        if let Some(path) = self.log.let_go_of_moved() {
            tracing::info!(file = %path.display(), "the audit log was moved away; it goes on in a new file");
        }
        match self.restore() {
            Ok(true) => {
                self.shared.raise("the data folder was removed and has been made anew".to_owned());
                self.shared.set_shut(false);
                true
            }
            Ok(false) => {
                self.shared.set_shut(false);
                true
            }
            Err(error) => {
                // A record in a deleted journal dies with the process, so that no exchange may rely on it.
                self.shared.set_shut(true);
                self.shared.set_failing(Some(format!("the data folder is gone: {error}")));
                self.looked_around = Instant::now().checked_sub(LOOK_AROUND).unwrap_or(self.looked_around);
                false
            }
        }
    }

    /// Makes journals and lock anew where they are gone. Says whether anything was.
    fn restore(&mut self) -> std::io::Result<bool> {
        let mut was_gone = false;
        if !self.head.is_in_place() {
            was_gone = true;
            let dir = self.log.dir();
            std::fs::create_dir_all(dir)?;
            self.head = Head::take(dir)?.ok_or_else(|| std::io::Error::other("another process has taken it"))?;
            self.head.note(&self.shared.end())?;
        }
        for source in &mut self.sources {
            if source.reader.is_in_place() {
                continue;
            }
            was_gone = true;
            let Some(lane) = source.lane.clone() else { continue };
            let old = &mut source.reader;
            let mut new = lane.move_to(|| {
                let (mut writer, reader) = journal::create(old.path(), old.capacity(), old.tail())?;
                old.rewind();
                let mut payload = Vec::new();
                while let Next::Frame { at } = old.next(&mut payload) {
                    if writer.push(at, &payload).is_err() {
                        break;
                    }
                }
                Ok((writer, reader))
            })?;
            // Positions are the same in both; what is in the batch already is stepped over.
            let mut payload = Vec::new();
            while new.position() < source.sealed && matches!(new.next(&mut payload), Next::Frame { .. }) {}
            source.peeked = None;
            source.reader = new;
        }
        Ok(was_gone)
    }
}

fn is_object(payload: &[u8]) -> bool {
    payload.starts_with(b"{\"") && payload.ends_with(b"}") && memchr::memchr(b'\n', payload).is_none()
}

impl Shared {
    fn is_past_deadline(&self) -> bool {
        lock(&self.deadline).is_none_or(|deadline| Instant::now() >= deadline)
    }

    fn set_shut(&self, is_shut: bool) {
        let is_stopping = self.is_stopping.load(Ordering::Acquire);
        self.is_shut.store(is_shut || is_stopping, Ordering::Release);
    }
}
