//! How the audit trail is started and stopped: the folder taken, what an earlier process left read, lanes made, the
//! writer set to work.

use std::collections::HashSet;
use std::io;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::health::{Health, Shared};
use super::journal::{self, JournalReader, JournalWriter, Next};
use super::lane::Lane;
use super::log::{Head, Log};
use super::recent::Recent;
use super::writer::{BATCH, Source, Writer};
use super::{AuditSettings, chain, fit, resume};

/// Why the trail cannot be kept.
#[derive(Debug)]
pub enum AuditError {
    /// Another process has the folder.
    Taken(PathBuf),
    /// A file or folder cannot be used.
    Unusable(PathBuf, io::Error),
    /// The settings contradict each other.
    Settings(String),
    /// The trail was stopped before everything was written; this many bytes wait in the journals for the next start.
    Unflushed(u64),
}

impl std::fmt::Display for AuditError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Taken(dir) => write!(
                f,
                "the data folder `{}` is in use by another process: stop that one, or give this one a folder of its own",
                dir.display()
            ),
            Self::Unusable(path, error) => write!(f, "cannot use `{}` for the audit trail: {error}", path.display()),
            Self::Settings(what) => f.write_str(what),
            Self::Unflushed(bytes) => {
                write!(
                    f,
                    "{bytes} bytes of audit records are in the journals only; the next start writes them to the log"
                )
            }
        }
    }
}

impl std::error::Error for AuditError {}

/// The running trail. Dropping it stops the writer; what it has not written stays in the journals.
#[derive(Debug)]
pub struct Audit {
    health: Health,
    recent: Recent,
    finished: Receiver<()>,
}

impl Audit {
    /// Takes the folder, and writes what an earlier process left in its journals. `workers` is the number of lanes.
    pub fn open(settings: &AuditSettings, workers: usize) -> Result<Self, AuditError> {
        if settings.reserve_bytes < fit::LEAST_RESERVATION as u64 {
            return Err(AuditError::Settings(format!(
                "an audit reservation has at least {} bytes",
                fit::LEAST_RESERVATION
            )));
        }
        if !(settings.reserve_bytes..=1 << 30).contains(&settings.journal_bytes) {
            return Err(AuditError::Settings(
                "an audit journal has room for at least one record, and at most 1 GiB".into(),
            ));
        }
        let dir = settings.dir.as_path();
        let unusable = |error| AuditError::Unusable(dir.to_owned(), error);
        std::fs::create_dir_all(dir).map_err(unusable)?;
        ignore_file_size_signal().map_err(unusable)?;
        let head = take(dir).map_err(unusable)?.ok_or_else(|| AuditError::Taken(dir.to_owned()))?;
        let resumed = resume::resume(dir, Head::read(dir)).map_err(unusable)?;

        let shared = Arc::new(Shared::new(resumed.chain));
        resumed.alarms.into_iter().for_each(|alarm| shared.raise(alarm));
        let mut journals = existing_journals(dir, &shared)?;
        skip_what_is_in_the_log(dir, &mut journals).map_err(unusable)?;
        let mut lanes = Vec::new();
        let mut sources = Vec::new();
        for number in 0..workers {
            let path = dir.join(format!("journal-{number:03}.{JOURNAL}"));
            let (writer, reader) = journal_for_lane(&path, settings.journal_bytes, &mut journals)
                .map_err(|error| AuditError::Unusable(path, error))?;
            let lane = Lane::new(writer, Arc::clone(&shared), settings.reserve_bytes, settings.on_failure);
            let lane = Arc::new(lane);
            sources.push(Source::new(reader, Some(Arc::clone(&lane))));
            lanes.push(lane);
        }
        // The writer removes them when they are empty.
        sources.extend(journals.into_iter().map(|(_, reader)| Source::new(reader, None)));

        let recent = refill(dir, settings.recent).map_err(unusable)?;
        let log = Log::new(dir.to_owned(), settings.rotate_bytes, resumed.file.as_deref()).map_err(unusable)?;
        let mut writer = Writer::new(Arc::clone(&shared), sources, log, head, resumed.chain, recent.clone());
        writer.catch_up();
        let (finish, finished) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("audit".into())
            .spawn(move || {
                let shared = Arc::clone(&writer.shared);
                if std::panic::catch_unwind(AssertUnwindSafe(|| writer.run())).is_err() {
                    // A defect of ours. The journals keep what they have; nothing more is taken on.
                    shared.is_shut.store(true, Ordering::Release);
                    shared.set_failing(Some("the audit writer has stopped; only a restart helps".to_owned()));
                }
                finish.send(()).ok();
            })
            .map_err(unusable)?;
        shared.name_writer(thread.thread().clone());
        Ok(Self { health: Health { shared, lanes: lanes.into() }, recent, finished })
    }

    /// One lane per worker.
    pub fn lanes(&self) -> &[Arc<Lane>] {
        &self.health.lanes
    }

    /// The newest records.
    pub fn recent(&self) -> Recent {
        self.recent.clone()
    }

    /// How it is doing.
    pub fn health(&self) -> Health {
        self.health.clone()
    }

    /// Takes no more reservations, writes everything that was committed, and stops. Blocks for at most `patience`.
    pub fn flush_and_stop(self, patience: Duration) -> Result<(), AuditError> {
        self.stop(patience)
    }

    fn stop(&self, patience: Duration) -> Result<(), AuditError> {
        let shared = &self.health.shared;
        *shared.deadline.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + patience);
        shared.is_stopping.store(true, Ordering::Release);
        shared.is_shut.store(true, Ordering::Release);
        self.health.lanes.iter().for_each(|lane| lane.announce_room());
        shared.wake();
        // The writer may hang in a write; then it is left to the end of the process. The journals have the records.
        let waited = self.finished.recv_timeout(patience + Duration::from_millis(300));
        let pending = self.health.pending_bytes();
        if pending > 0 || waited == Err(mpsc::RecvTimeoutError::Timeout) {
            return Err(AuditError::Unflushed(pending));
        }
        Ok(())
    }
}

impl Drop for Audit {
    fn drop(&mut self) {
        if !self.health.shared.is_stopping.load(Ordering::Acquire) {
            self.stop(Duration::ZERO).ok();
        }
    }
}

const JOURNAL: &str = "journal";

/// A process that is just being replaced lets go of the folder within moments.
fn take(dir: &Path) -> io::Result<Option<Head>> {
    let deadline = Instant::now() + Duration::from_secs(1);
    loop {
        match Head::take(dir)? {
            None if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(20)),
            result => return Ok(result),
        }
    }
}

/// The journals of earlier processes, whatever their number and size.
fn existing_journals(dir: &Path, shared: &Shared) -> Result<Vec<Halves>, AuditError> {
    let mut found = Vec::new();
    for path in journal_files(dir).map_err(|error| AuditError::Unusable(dir.to_owned(), error))? {
        if let Some(halves) = journal::open(&path).map_err(|error| AuditError::Unusable(path.clone(), error))? {
            found.push(halves);
        } else {
            let aside = path.with_extension("damaged");
            std::fs::rename(&path, &aside).map_err(|error| AuditError::Unusable(path, error))?;
            shared.raise(format!("`{}` is no journal that can be read; it is kept", aside.display()));
        }
    }
    Ok(found)
}

/// The journal at `path`, with whatever waits in it, if it is there and as it should be: so that a start needs no
/// more space than the run before it. Else a new one; what is in the way is renamed and stays among `journals`.
fn journal_for_lane(path: &Path, capacity: u64, journals: &mut Vec<Halves>) -> io::Result<Halves> {
    if let Some(index) = journals.iter().position(|(_, reader)| reader.path() == path) {
        let (writer, mut reader) = journals.swap_remove(index);
        if reader.capacity() == capacity && reader.is_sound() {
            return Ok((writer, reader));
        }
        if reader.pending() > 0 {
            let name = format!("left-{}.{JOURNAL}", uuid::Uuid::now_v7().simple());
            reader.rename(path.with_file_name(name))?;
            journals.push((writer, reader));
        }
    }
    journal::create(path, capacity, 0)
}

type Halves = (JournalWriter, JournalReader);

/// Journal files in `dir`.
pub(super) fn journal_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == JOURNAL) {
            paths.push(path);
        }
    }
    paths.sort_unstable();
    Ok(paths)
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    id: std::borrow::Cow<'a, str>,
}

/// A process that dies between writing a batch and giving its room back leaves records in both places. They are the
/// oldest of their journal.
fn skip_what_is_in_the_log(dir: &Path, journals: &mut [Halves]) -> io::Result<()> {
    let pending: u64 = journals.iter().map(|(_, reader)| reader.pending()).sum();
    if pending == 0 {
        return Ok(());
    }
    // INVARIANT: what is in both is in the log's last batch, or, after a loss of power that kept an old `tail`, as
    // far back as the journals are long; a line is less than twice as long as its frame.
    let reach = journals.iter().map(|(_, reader)| reader.capacity()).sum::<u64>().saturating_mul(2) + 4 * BATCH as u64;
    let mut known = HashSet::new();
    resume::newest_lines(dir, reach, |line| {
        if let Ok(Named { id }) = serde_json::from_slice(line) {
            known.insert(id.into_owned());
        }
    })?;
    let mut payload = Vec::new();
    for (_, reader) in journals {
        while let Next::Frame { .. } = reader.next(&mut payload)
            && serde_json::from_slice::<Named<'_>>(&payload).is_ok_and(|one| known.contains(&*one.id))
        {
            reader.release(reader.position());
        }
        reader.rewind();
    }
    Ok(())
}

fn refill(dir: &Path, most: usize) -> io::Result<Recent> {
    let recent = Recent::new(most);
    resume::newest_lines(dir, most as u64 * 2048, |line| {
        if let Some(seq) = chain::seq(line) {
            recent.push(seq, [line].into_iter());
        }
    })?;
    Ok(recent)
}

/// A process that reaches its limit on file sizes is killed by a signal, unless that has a handler; then the write
/// fails, as on a full disk. Tokio's handler stays for good once it is set; its runtime need not.
fn ignore_file_size_signal() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let guard = runtime.enter();
    let set = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).map(drop);
    drop(guard);
    // Not dropped in the usual way: that may wait, which is forbidden when the caller is itself in a runtime.
    runtime.shutdown_background();
    set
}
