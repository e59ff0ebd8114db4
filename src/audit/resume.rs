//! What is done with a data folder before the first new record: the torn end of the log is set aside, the chain's end
//! found, and the newest lines read for those who need them. It writes no line.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::chain::{Chain, Link};
use super::log;

/// How far back from the end a whole line is looked for. Lines are a few KiB.
const REACH: u64 = 4 << 20;

/// Where to go on.
#[derive(Debug)]
pub struct Resumed {
    /// What the next line has to name.
    pub chain: Chain,
    /// The file to append to, if there is one to go on with.
    pub file: Option<PathBuf>,
    /// What an operator should know.
    pub alarms: Vec<String>,
}

/// Finds the chain's end in `dir`; `noted` is what `audit.head` says.
pub fn resume(dir: &Path, noted: Option<Chain>) -> io::Result<Resumed> {
    let mut alarms = Vec::new();
    let mut found: Option<(Chain, PathBuf)> = None;
    for (_, path) in log::files(dir)?.into_iter().rev() {
        let end = mend(&path, &mut alarms)?;
        if let Some(end) = end {
            found = Some((end, path));
            break;
        }
        if std::fs::metadata(&path)?.len() == 0 {
            // Made, and never written to: the next write makes it again, under the name that is right by then.
            std::fs::remove_file(&path)?;
        } else {
            alarms.push(format!("`{}` holds no whole record; it is left as it is", path.display()));
        }
    }
    let noted = noted.unwrap_or(Chain::start());
    let (chain, file) = match found {
        Some((end, path)) if end.seq >= noted.seq => {
            if end.seq == noted.seq && end.hash != noted.hash {
                alarms.push(format!("record {} is not the one that was written last: the log was rewritten", end.seq));
            }
            (end, Some(path))
        }
        Some((end, _)) => {
            alarms.push(format!(
                "the log ends with record {}, but {} had been written: lines were cut off, or files moved away",
                end.seq, noted.seq
            ));
            (noted, None)
        }
        None => (noted, None),
    };
    Ok(Resumed { chain, file, alarms })
}

/// Cuts what is not a whole line off the end of a file, keeping it in `<file>.torn`. Returns the end of the chain in
/// it.
fn mend(path: &Path, alarms: &mut Vec<String>) -> io::Result<Option<Chain>> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let length = file.metadata()?.len();
    let from = length.saturating_sub(REACH);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let mut keep = tail.len();
    let mut end = None;
    while keep > 0 {
        let whole = tail.get(..keep).unwrap_or_default();
        let Some(line) = whole.strip_suffix(b"\n") else {
            // An unfinished line: up to the last line feed, or everything.
            keep = memchr::memrchr(b'\n', whole).map_or(0, |at| at + 1);
            continue;
        };
        let start = memchr::memrchr(b'\n', line).map_or(0, |at| at + 1);
        let line = line.get(start..).unwrap_or_default();
        if let Some(link) = Link::read(line) {
            if !link.is_intact {
                // Not torn but changed. It stays where it is, for `verify` to point at.
                alarms.push(format!("record {} at the end of `{}` was changed", link.seq, path.display()));
            }
            end = Some(link.end());
            break;
        }
        keep = start;
    }
    if end.is_none() && from > 0 {
        return Ok(None);
    }
    if let Some(torn) = tail.get(keep..).filter(|torn| !torn.is_empty()) {
        // On a full disk there may be no place for it. A start must not fail for that: the whole records are in their
        // journal still.
        let kept = set_aside(path, torn);
        file.set_len(from + keep as u64)?;
        let (file, bytes) = (path.display(), torn.len());
        match kept {
            Ok(()) => tracing::warn!(%file, bytes, "an unfinished end of the audit log was set aside"),
            Err(error) => {
                alarms.push(format!("an unfinished end of `{file}` was cut off and could not be kept: {error}"));
            }
        }
    }
    Ok(end)
}

fn set_aside(path: &Path, torn: &[u8]) -> io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".torn");
    OpenOptions::new().append(true).create(true).mode(0o600).open(aside)?.write_all(torn)
}

/// Calls `each` with every line, line feed cut off, in the last `bytes` bytes of the log, oldest first.
pub fn newest_lines(dir: &Path, bytes: u64, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut wanted = bytes;
    let mut spans = Vec::new();
    for (_, path) in log::files(dir)?.into_iter().rev() {
        let length = std::fs::metadata(&path)?.len();
        spans.push((path, length.saturating_sub(wanted)));
        wanted = wanted.saturating_sub(length);
        if wanted == 0 {
            break;
        }
    }
    for (path, from) in spans.into_iter().rev() {
        let mut reader = BufReader::with_capacity(64 << 10, File::open(path)?);
        let mut line = Vec::new();
        if from > 0 {
            // From the byte before: if that is a line feed, what follows is a whole line.
            reader.seek(SeekFrom::Start(from - 1))?;
            reader.read_until(b'\n', &mut line)?;
        }
        loop {
            line.clear();
            if reader.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            each(line.strip_suffix(b"\n").unwrap_or(&line));
        }
    }
    Ok(())
}
