//! Notices that rule files changed: one owning thread, told by the file system and looking for itself every two seconds.
//!
//! It promises that every change is picked up whatever the file system forgets to tell, that a burst of changes is one
//! load, and that a file is not loaded while somebody is writing it. It refuses to know what is in the files.

mod pulse;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;
use std::{fmt, io};

use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use self::pulse::{Pulse, Wake};
use super::source::{Source, is_rule_file};
use super::store::Store;

/// How often the files are compared without being told: the file system forgets (renamed folders, network mounts, a full
/// event queue).
const POLL: Duration = Duration::from_secs(2);
/// Without events, content counts as complete when it was the same twice, this far apart.
const SETTLE: Duration = Duration::from_millis(150);

/// Watches until dropped.
pub struct Watch {
    pulse: Arc<Pulse>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts watching a store's source. A source in memory is only looked at when triggered.
    pub fn start<T: Send + Sync + 'static>(store: Arc<Store<T>>) -> io::Result<Self> {
        let pulse = Arc::new(Pulse::default());
        let ears = match store.source() {
            Source::Folder(folder) => Some(Ears::new(std::path::absolute(folder)?, pulse.clone())),
            Source::Files(_) => None,
        };
        let for_thread = pulse.clone();
        let thread = Builder::new().name("rules".to_owned()).spawn(move || run(&store, &for_thread, ears))?;
        Ok(Self { pulse, thread: Some(thread) })
    }

    /// Looks at once, and tries again even what was refused: what SIGHUP means.
    pub fn trigger(&self) {
        self.pulse.trigger();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.pulse.stop();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the rules watcher ended in a panic");
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

fn run<T>(store: &Store<T>, pulse: &Pulse, mut ears: Option<Ears>) {
    let poll = ears.is_some().then_some(POLL);
    // What changed between the first load and the first watch would otherwise wait for the poll.
    let mut wake = Wake::Changed;
    loop {
        if let Some(ears) = &mut ears {
            // Before looking: what changes after the look is then heard.
            ears.open();
        }
        // A defect in loading must not leave the gateway deaf for ever: the running generation stays, the watch goes on.
        let looked = catch_unwind(AssertUnwindSafe(|| match wake {
            Wake::Triggered => _ = store.reload_again(),
            Wake::Changed => _ = store.reload(),
            Wake::Poll => look_for_itself(store, pulse),
            Wake::Stop => {}
        }));
        if looked.is_err() {
            tracing::error!("loading the rules panicked; the generation before keeps running");
        }
        wake = pulse.wait(poll);
        if wake == Wake::Stop {
            return;
        }
    }
}

/// Nobody tells whether a writer is done, so the content must hold still first.
fn look_for_itself<T>(store: &Store<T>, pulse: &Pulse) {
    let (changed, mut hash) = store.peek();
    if !changed {
        return;
    }
    for _ in 0..20 {
        if pulse.pause(SETTLE) {
            return;
        }
        let (_, now) = store.peek();
        if now == hash {
            break;
        }
        hash = now;
    }
    store.reload();
}

/// What the file system tells. The *folder* and its parent are watched, never a file: a watch on a file goes blind with the
/// first atomic save.
struct Ears {
    folder: PathBuf,
    pulse: Arc<Pulse>,
    watcher: Option<RecommendedWatcher>,
    /// The folder and the parent that are being listened to: renamed away and made anew, they are others.
    heard: [Option<(u64, u64)>; 2],
    complained: bool,
}

impl Ears {
    fn new(folder: PathBuf, pulse: Arc<Pulse>) -> Self {
        Self { folder, pulse, watcher: None, heard: [None; 2], complained: false }
    }

    /// Listens to the folder that is there now.
    fn open(&mut self) {
        if let Err(error) = self.try_open() {
            if !self.complained {
                tracing::warn!(%error, "rule files cannot be watched; they are compared every two seconds instead");
            }
            self.complained = true;
        }
    }

    fn try_open(&mut self) -> notify::Result<()> {
        let watcher = match &mut self.watcher {
            Some(watcher) => watcher,
            empty => {
                let (pulse, folder) = (self.pulse.clone(), self.folder.clone());
                empty.insert(notify::recommended_watcher(move |event| hear(&event, &folder, &pulse))?)
            }
        };
        let paths = [Some(self.folder.as_path()), self.folder.parent()];
        for (path, heard) in paths.into_iter().zip(&mut self.heard) {
            let Some(path) = path else { continue };
            let now = identity(path);
            if now == *heard {
                continue;
            }
            if heard.take().is_some() {
                // Fails when the system has dropped the watch with the folder, which is as good.
                watcher.unwatch(path).ok();
            }
            if now.is_some() {
                watcher.watch(path, RecursiveMode::NonRecursive)?;
                *heard = now;
            }
        }
        Ok(())
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|data| (data.dev(), data.ino()))
}

/// Every event and every error means "something changed", but for our own reading and the parent's other children.
fn hear(event: &notify::Result<notify::Event>, folder: &Path, pulse: &Pulse) {
    let Ok(event) = event else { return pulse.changed() };
    let ours = |path: &PathBuf| path == folder || path.parent() == Some(folder);
    if !event.need_rescan() && !event.paths.is_empty() && !event.paths.iter().any(ours) {
        return;
    }
    let rule_files =
        || event.paths.iter().filter(|path| path.file_name().is_some_and(|name| is_rule_file(&name.to_string_lossy())));
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => {
            rule_files().for_each(|path| pulse.written(path));
            pulse.changed();
        }
        EventKind::Access(_) => {}
        EventKind::Modify(ModifyKind::Data(_)) => {
            rule_files().for_each(|path| pulse.writing(path));
            pulse.changed();
        }
        EventKind::Any | EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_) | EventKind::Other => {
            rule_files().for_each(|path| pulse.written(path));
            pulse.changed();
        }
    }
}

#[cfg(test)]
mod tests;
