//! The log's files: `audit-<seq of the first line>.jsonl`, appended to in whole batches, begun anew when one has
//! grown or was moved away. It knows lines and files; what a line says is `chain`'s business.
//!
//! A batch is in the log as a whole or not at all: after a short write the file is cut back to where it was.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use super::chain::{Chain, hex_field};

/// The log's files in `dir`, oldest first, with the number in the name.
pub fn files(dir: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("audit-")?.strip_suffix(".jsonl"));
        let number = number.filter(|digits| digits.len() >= 12 && digits.bytes().all(|b| b.is_ascii_digit()));
        if let Some(first) = number.and_then(|digits| digits.parse().ok()) {
            found.push((first, entry.path()));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Where the log file that begins with `first` is.
pub fn path(dir: &Path, first: u64) -> PathBuf {
    dir.join(format!("audit-{first:012}.jsonl"))
}

/// The open end of the log.
#[derive(Debug)]
pub struct Log {
    dir: PathBuf,
    rotate_bytes: u64,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    file: File,
    path: PathBuf,
    length: u64,
    /// The last write failed; bytes after `length` are not to stay.
    is_torn: bool,
}

/// What was noticed about a file after a write that went well.
#[derive(Debug, PartialEq, Eq)]
pub enum Noticed {
    /// Nothing.
    Well,
    /// The file has not the length that it should have: something else writes or cuts it.
    Meddled(PathBuf),
}

impl Log {
    /// Goes on with `resume`, or with a new file at the next write.
    pub fn new(dir: PathBuf, rotate_bytes: u64, resume: Option<&Path>) -> io::Result<Self> {
        let open = resume.map(Open::existing).transpose()?;
        Ok(Self { dir, rotate_bytes, open })
    }

    /// Appends whole lines, of which the first has the number `first`.
    pub fn append(&mut self, first: u64, lines: &[u8]) -> io::Result<Noticed> {
        if self
            .open
            .as_ref()
            .is_some_and(|open| open.length > 0 && open.length + lines.len() as u64 > self.rotate_bytes)
        {
            // A torn end must be mended before the file is left.
            self.open.as_mut().map_or(Ok(()), Open::mend)?;
            self.open = None;
        }
        let mut open = match self.open.take() {
            Some(open) => open,
            None => Open::create(&self.dir, first)?,
        };
        let appended = open.append(lines);
        let is_gone = open.file.metadata().is_ok_and(|meta| meta.nlink() == 0);
        if is_gone {
            // What went into a deleted file is not in the log; the next attempt makes a new one.
            return Err(io::Error::new(io::ErrorKind::NotFound, "the log file was removed"));
        }
        let noticed = appended.as_ref().map_or(Noticed::Well, |noticed| match noticed {
            Noticed::Well => Noticed::Well,
            Noticed::Meddled(path) => Noticed::Meddled(path.clone()),
        });
        if noticed == Noticed::Well {
            self.open = Some(open);
        }
        appended
    }

    /// Lets go of a file that is not at its path any more: it was moved away, and the chain goes on in a new one.
    pub fn let_go_of_moved(&mut self) -> Option<PathBuf> {
        let moved = self.open.take_if(|open| !is_in_place(&open.file, &open.path))?;
        Some(moved.path)
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The file that is being written.
    pub fn path(&self) -> &Path {
        self.open.as_ref().map_or(&self.dir, |open| &open.path)
    }
}

impl Open {
    fn existing(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).open(path)?;
        let length = file.metadata()?.len();
        Ok(Self { file, path: path.to_owned(), length, is_torn: false })
    }

    fn create(dir: &Path, first: u64) -> io::Result<Self> {
        std::fs::create_dir_all(dir)?;
        let path = path(dir, first);
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path)?;
        let length = file.metadata()?.len();
        if length > 0 {
            let message = format!("`{}` is there already and holds other records", path.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        Ok(Self { file, path, length, is_torn: false })
    }

    fn mend(&mut self) -> io::Result<()> {
        if self.is_torn {
            self.file.set_len(self.length)?;
            self.is_torn = false;
        }
        Ok(())
    }

    fn append(&mut self, lines: &[u8]) -> io::Result<Noticed> {
        self.mend()?;
        self.is_torn = true;
        let written = self.file.write_all(lines);
        if let Err(error) = written {
            // Mended at once if possible, so that a reader sees whole lines; else before the next write.
            self.mend().ok();
            return Err(error);
        }
        self.is_torn = false;
        self.length += lines.len() as u64;
        let is_as_long = self.file.metadata()?.len() == self.length;
        Ok(if is_as_long { Noticed::Well } else { Noticed::Meddled(self.path.clone()) })
    }
}

/// Whether the open `file` is what is found at `path`.
fn is_in_place(file: &File, path: &Path) -> bool {
    let open = file.metadata().map(|meta| (meta.dev(), meta.ino()));
    let named = std::fs::metadata(path).map(|meta| (meta.dev(), meta.ino()));
    matches!((open, named), (Ok(open), Ok(named)) if open == named)
}

/// `audit.head`: the chain's end as last written, and the lock by which a data folder has one process. It is what
/// shows that lines are missing from the end, and where to go on when all files were moved away.
#[derive(Debug)]
pub struct Head {
    file: File,
    path: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Written {
    seq: u64,
    hash: String,
}

const HEAD_FILE: &str = "audit.head";
const HEAD_LENGTH: usize = 128;

impl Head {
    /// Takes the folder. `Ok(None)`: another process has it.
    pub fn take(dir: &Path) -> io::Result<Option<Self>> {
        let path = dir.join(HEAD_FILE);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path)?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { file, path })),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a process has the folder at the moment.
    pub fn is_taken(dir: &Path) -> bool {
        File::open(dir.join(HEAD_FILE)).is_ok_and(|file| {
            rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) == Err(rustix::io::Errno::WOULDBLOCK)
        })
    }

    /// What was written last, if it can be read.
    pub fn read(dir: &Path) -> Option<Chain> {
        let text = std::fs::read(dir.join(HEAD_FILE)).ok()?;
        let written: Written = serde_json::from_slice(&text).ok()?;
        Some(Chain { seq: written.seq, hash: hex_field(written.hash.as_bytes())? })
    }

    /// Notes the chain's end. Always the same length: one write within one page, so that it is never half there.
    pub fn note(&self, end: &Chain) -> io::Result<()> {
        let mut text = serde_json::to_vec(&Written { seq: end.seq, hash: end.hash_text() })?;
        text.resize(HEAD_LENGTH - 1, b' ');
        text.push(b'\n');
        self.file.write_all_at(&text, 0)
    }

    /// Whether the lock still guards the folder.
    pub fn is_in_place(&self) -> bool {
        is_in_place(&self.file, &self.path)
    }
}
