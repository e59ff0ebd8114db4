//! The log, read back: is it whole, and nobody's hand in it? Reads files only, in bounded memory, and may run beside
//! a gateway that writes.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;

use super::chain::{Chain, Link};
use super::{journal, log, open};

/// A log that holds together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// How many files.
    pub files: usize,
    /// How many records.
    pub records: u64,
    /// The first record's number; 0 when there is none.
    pub first_seq: u64,
    /// The last record's number; 0 when there is none.
    pub last_seq: u64,
    /// The last record's hash, hex: the anchor to keep elsewhere.
    pub last_hash: String,
    /// Bytes in journals, to be written at the next start (or, beside a running gateway, in a moment).
    pub journal_bytes: u64,
    /// Whether a gateway has the folder at the moment.
    pub is_live: bool,
    /// Whether the chain's end is noted beside the log: without the note a cut at the very end is not seen.
    pub is_end_noted: bool,
}

/// The first place at which it does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The file.
    pub file: PathBuf,
    /// The line in it, from 1; 0 when it is about the file.
    pub line: u64,
    /// What is wrong there.
    pub flaw: Flaw,
}

/// What can be wrong with a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// Not a line as this program writes it.
    NotARecord,
    /// The bytes are not those that the hash was made of.
    Changed,
    /// The number is not the next one.
    OutOfOrder {
        /// The next one.
        expected: u64,
        /// The one that is there.
        found: u64,
    },
    /// It follows another record than the one before it.
    Unlinked,
    /// The log does not begin with record 1.
    FrontMissing {
        /// What it begins with.
        first: u64,
    },
    /// The name says another first record than the file has.
    Misnamed {
        /// What it should begin with.
        expected: u64,
    },
    /// The last line has no end.
    Unfinished,
    /// Fewer records than were written.
    EndMissing {
        /// The last number that was written.
        written: u64,
    },
    /// The last record is not the one that was written.
    EndReplaced,
}

impl std::fmt::Display for Flaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotARecord => f.write_str("this line is not an audit record"),
            Self::Changed => f.write_str("this record was changed: its hash does not match its bytes"),
            Self::OutOfOrder { expected, found } => {
                write!(f, "record {expected} should be here, but record {found} is")
            }
            Self::Unlinked => f.write_str("this record does not follow the one before it: its `prev` is another hash"),
            Self::FrontMissing { first } => write!(f, "the log begins with record {first}, not with record 1"),
            Self::Misnamed { expected } => {
                write!(f, "by its name this file is not the one that begins with record {expected}")
            }
            Self::Unfinished => f.write_str("the last line is unfinished"),
            Self::EndMissing { written } => {
                write!(f, "the log ends here, but records up to {written} had been written")
            }
            Self::EndReplaced => f.write_str("the last record is not the one that was written"),
        }
    }
}

impl Flaw {
    /// What it may come from, and what to do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotARecord | Self::Changed => "the line was edited or damaged; compare it with a backup",
            Self::OutOfOrder { .. } | Self::Unlinked => {
                "lines were removed, inserted, repeated or swapped here, or a file is missing before this one"
            }
            Self::FrontMissing { .. } => {
                "earlier files were removed; if they were archived on purpose, verify from here on with `--archived`"
            }
            Self::Misnamed { .. } => "a file was renamed, emptied, or is missing before this one",
            Self::Unfinished => {
                "the process was killed while writing; the next start sets this line aside and writes it again from a journal"
            }
            Self::EndMissing { .. } => "the end of the log was cut off, or its last files were moved away",
            Self::EndReplaced => "the log was rewritten after it had been written",
        }
    }
}

/// What may be missing without being wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Front {
    /// Nothing: the log begins with record 1.
    Whole,
    /// Whole files at the front, which were archived.
    Archived,
}

/// Checks the log in `dir`. The outer error: it cannot be read.
pub fn verify(dir: &Path, front: Front) -> io::Result<Result<Verified, Broken>> {
    // What is written down before is read before, so that a writing gateway is never ahead of itself here.
    let is_live = log::Head::is_taken(dir);
    let head = log::Head::read(dir);
    let mut journal_bytes = 0;
    for path in open::journal_files(dir)? {
        journal_bytes += match journal::pending(&path) {
            // A journal that was empty, and removed, in between.
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            pending => pending?,
        };
    }
    let files = log::files(dir)?;
    let mut walk = Walk { chain: Chain::start(), place: (dir.to_owned(), 0), first: 0, records: 0, front };
    let count = files.len();
    for (index, (named, path)) in files.into_iter().enumerate() {
        let may_be_growing = is_live && index + 1 == count;
        if let Err(broken) = walk.file(named, &path, may_be_growing)? {
            return Ok(Err(broken));
        }
    }
    let end = walk.chain;
    let is_end_noted = head.is_some();
    if let Some(head) = head {
        let flaw = match end.seq {
            seq if seq < head.seq => Some(Flaw::EndMissing { written: head.seq }),
            seq if seq == head.seq && end.hash != head.hash => Some(Flaw::EndReplaced),
            _ => None,
        };
        if let Some(flaw) = flaw {
            let (file, line) = walk.place;
            return Ok(Err(Broken { file, line, flaw }));
        }
    }
    Ok(Ok(Verified {
        files: count,
        records: walk.records,
        first_seq: walk.first,
        last_seq: end.seq,
        last_hash: end.hash_text(),
        journal_bytes,
        is_live,
        is_end_noted,
    }))
}

struct Walk {
    chain: Chain,
    place: (PathBuf, u64),
    first: u64,
    records: u64,
    front: Front,
}

/// Lines are a few KiB; what is longer is none of ours, and is not read into memory.
const LONGEST: u64 = 1 << 20;

impl Walk {
    fn file(&mut self, named: u64, path: &Path, may_be_growing: bool) -> io::Result<Result<(), Broken>> {
        let broken = |line, flaw| Ok(Err(Broken { file: path.to_owned(), line, flaw }));
        let mut reader = BufReader::with_capacity(256 << 10, File::open(path)?);
        let mut text = Vec::new();
        let mut line = 0;
        loop {
            text.clear();
            if (&mut reader).take(LONGEST).read_until(b'\n', &mut text)? == 0 {
                break;
            }
            line += 1;
            let Some(whole) = text.strip_suffix(b"\n") else {
                if may_be_growing {
                    break;
                }
                return broken(line, if text.len() as u64 == LONGEST { Flaw::NotARecord } else { Flaw::Unfinished });
            };
            if let Err(flaw) = self.line(whole, line, named) {
                return broken(line, flaw);
            }
            self.place = (path.to_owned(), line);
        }
        // A file is made for a record that follows at once; an empty one can only be the next, just made.
        if line == 0 && named != self.chain.seq + 1 && self.records > 0 {
            return broken(0, Flaw::Misnamed { expected: self.chain.seq + 1 });
        }
        Ok(Ok(()))
    }

    fn line(&mut self, text: &[u8], line: u64, named: u64) -> Result<(), Flaw> {
        let link = Link::read(text).ok_or(Flaw::NotARecord)?;
        if !link.is_intact {
            return Err(Flaw::Changed);
        }
        if serde_json::from_slice::<IgnoredAny>(text).is_err() {
            return Err(Flaw::NotARecord);
        }
        if self.records == 0 {
            match self.front {
                Front::Whole if link.seq != 1 => return Err(Flaw::FrontMissing { first: link.seq }),
                Front::Archived if link.seq > 1 => self.chain = Chain { seq: link.seq - 1, hash: link.prev },
                Front::Whole | Front::Archived => {}
            }
            self.first = link.seq;
        }
        let expected = self.chain.seq + 1;
        if link.seq != expected {
            return Err(Flaw::OutOfOrder { expected, found: link.seq });
        }
        if line == 1 && named != expected {
            return Err(Flaw::Misnamed { expected });
        }
        if link.prev != self.chain.hash {
            return Err(Flaw::Unlinked);
        }
        self.chain = link.end();
        self.records += 1;
        Ok(())
    }
}
