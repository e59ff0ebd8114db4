//! Where rule files come from: a folder, or files that are already in memory.
//!
//! It promises a consistent reading (no file changed while the folder was read) of bounded size, and a fingerprint that
//! changes with any content. What cannot be read is a problem, never a file less. It refuses to know what is in them.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::problem::quote;
use super::{Problem, RuleFile};

/// Where rule files come from.
#[derive(Debug, Clone)]
pub enum Source {
    /// Every `*.yaml`, `*.yml` and `*.json` file directly in this folder.
    Folder(PathBuf),
    /// These files: name and text.
    Files(Vec<(String, String)>),
}

impl From<&Path> for Source {
    fn from(folder: &Path) -> Self {
        Self::Folder(folder.to_owned())
    }
}

impl From<PathBuf> for Source {
    fn from(folder: PathBuf) -> Self {
        Self::Folder(folder)
    }
}

/// The longest file that is read.
const LONGEST_FILE: u64 = 4 << 20;
/// The most files that are read.
const MOST_FILES: usize = 1000;
/// The most bytes of all files together.
const MOST_BYTES: usize = 32 << 20;
/// The longest secret file that is read.
const LONGEST_SECRET: u64 = 64 << 10;
/// How often a folder that changes while it is read is read again at once; after that the watcher comes back to it.
const READINGS: usize = 5;
/// The pause between two such readings.
const PAUSE: Duration = Duration::from_millis(10);

/// One file, read.
#[derive(Debug)]
pub(super) struct SourceFile {
    /// Its name in the folder.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl SourceFile {
    /// A line of it, from 1.
    pub fn line(&self, line: u32) -> Option<&str> {
        self.text.lines().nth((line as usize).checked_sub(1)?)
    }

    fn describe(&self) -> RuleFile {
        RuleFile {
            name: self.name.clone(),
            hash: short_hex(&Sha256::digest(self.text.as_bytes())),
            bytes: self.text.len() as u64,
        }
    }
}

/// All files of a source at one moment, and what could not be read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// By name.
    pub files: Vec<SourceFile>,
    /// Any of these stops a load.
    pub problems: Vec<Problem>,
}

impl Reading {
    /// Names and contents in one number, hex, 16 digits. Problems count as content, so that a folder that could not be
    /// read differs from the same folder read.
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        let mut field = |bytes: &[u8]| {
            // The length goes in front so that no two lists of fields run together to the same bytes.
            hasher.update((bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        for file in &self.files {
            field(file.name.as_bytes());
            field(file.text.as_bytes());
        }
        for problem in &self.problems {
            field(problem.file.as_bytes());
            field(problem.message.as_bytes());
        }
        short_hex(&hasher.finalize())
    }

    /// For the ruleset and the dashboard.
    pub fn describe(&self) -> Vec<RuleFile> {
        self.files.iter().map(SourceFile::describe).collect()
    }
}

impl Source {
    /// Reads everything.
    pub(super) fn read(&self) -> Reading {
        match self {
            Self::Folder(folder) => read_folder(folder),
            Self::Files(files) => {
                let mut reading = Reading::default();
                reading
                    .files
                    .extend(files.iter().map(|(name, text)| SourceFile { name: name.clone(), text: text.clone() }));
                reading.files.sort_by(|a, b| a.name.cmp(&b.name));
                if reading.files.is_empty() {
                    reading.problems.push(Problem::of_file("", "there are no rule files", None));
                }
                reading
            }
        }
    }
}

/// What tells whether a file was touched between two looks. The inode tells a symbolic link that now leads elsewhere.
#[derive(PartialEq, Eq)]
struct Stamp {
    name: String,
    seen: Option<(u64, u64, i64, i64)>,
}

fn stamp(folder: &Path, name: &str) -> Stamp {
    let seen =
        fs::metadata(folder.join(name)).ok().map(|data| (data.ino(), data.len(), data.mtime(), data.mtime_nsec()));
    Stamp { name: name.to_owned(), seen }
}

fn read_folder(folder: &Path) -> Reading {
    let mut reading = Reading::default();
    for attempt in 0..READINGS {
        if attempt > 0 {
            thread::sleep(PAUSE);
        }
        let stamps = |names: &[String]| names.iter().map(|name| stamp(folder, name)).collect::<Vec<_>>();
        let before = list(folder).map(|names| stamps(&names));
        reading = match &before {
            Ok(stamps) => read_files(folder, stamps.iter().map(|stamp| stamp.name.as_str())),
            Err(error) => failed(folder, error),
        };
        let after = list(folder).map(|names| stamps(&names));
        match (before, after) {
            (Ok(before), Ok(after)) if before == after => return reading,
            (Err(_), Err(_)) => return reading,
            _ => {}
        }
    }
    reading.problems.push(Problem::of_file("", "the rules folder keeps changing while it is read", None));
    reading
}

fn failed(folder: &Path, error: &io::Error) -> Reading {
    let message = format!("the rules folder {} cannot be read: {}", quote(&folder.to_string_lossy()), reason(error));
    Reading {
        files: Vec::new(),
        problems: vec![Problem::of_file("", message, Some("it must be a folder with rule files"))],
    }
}

/// The names of the rule files in a folder, sorted.
fn list(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // A folder that happens to be called `x.yaml` is no rule file; a link is judged by what it leads to.
        if is_rule_file(&name) && !entry.file_type()?.is_dir() {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Whether a file with this name is read: hidden files, and what editors leave behind, are not.
pub(super) fn is_rule_file(name: &str) -> bool {
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    !name.starts_with('.') && !name.starts_with('#') && matches!(ending, "yaml" | "yml" | "json")
}

fn read_files<'a>(folder: &Path, names: impl Iterator<Item = &'a str>) -> Reading {
    let mut reading = Reading::default();
    let mut bytes = 0;
    for name in names {
        if reading.files.len() + reading.problems.len() >= MOST_FILES {
            reading.problems.push(Problem::of_file("", format!("there are more than {MOST_FILES} rule files"), None));
            break;
        }
        match read_text(&folder.join(name)) {
            Ok(text) => {
                bytes += text.len();
                reading.files.push(SourceFile { name: name.to_owned(), text });
            }
            Err(message) => reading.problems.push(Problem::of_file(name, message, None)),
        }
        if bytes > MOST_BYTES {
            reading.problems.push(Problem::of_file("", "the rule files are larger than 32 MiB together", None));
            break;
        }
    }
    if reading.files.is_empty() && reading.problems.is_empty() {
        let message = format!("there is no rule file in {}", quote(&folder.to_string_lossy()));
        let hint = "rule files end in `.yaml`, `.yml` or `.json` and stand directly in the folder";
        reading.problems.push(Problem::of_file("", message, Some(hint)));
    }
    reading
}

fn read_text(path: &Path) -> Result<String, String> {
    // A pipe or device would block the reader for ever: look before opening.
    let kind = fs::metadata(path).map_err(|error| format!("cannot be read: {}", reason(&error)))?;
    if !Metadata::is_file(&kind) {
        return Err("cannot be read: it is not a file".to_owned());
    }
    let bytes = read_bounded(path, LONGEST_FILE).map_err(|error| format!("cannot be read: {}", reason(&error)))?;
    let Some(bytes) = bytes else { return Err("is larger than 4 MiB".to_owned()) };
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes().iter().take(valid).filter(|byte| **byte == b'\n').count() + 1;
        format!("is not UTF-8 text: the first wrong byte is in line {line}")
    })
}

/// The content of a secret file, or why not.
pub(super) fn read_secret(path: &Path) -> Result<Vec<u8>, String> {
    if fs::metadata(path).is_ok_and(|data| !data.is_file()) {
        return Err("it is not a file".to_owned());
    }
    let bytes = read_bounded(path, LONGEST_SECRET).map_err(|error| reason(&error))?;
    bytes.ok_or_else(|| "it is larger than 64 KiB".to_owned())
}

/// Tells two readings of a secret file apart without keeping them.
pub(super) fn digest(read: &Result<Vec<u8>, String>) -> String {
    match read {
        Ok(bytes) => short_hex(&Sha256::digest(bytes)),
        Err(why) => why.clone(),
    }
}

/// The digest of a secret file as it is now.
pub(super) fn digest_of(path: &Path) -> String {
    digest(&read_secret(path))
}

/// The content of a file, or `None` if it is longer than `limit` bytes.
fn read_bounded(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Why reading failed, in the words of this project's messages.
fn reason(error: &io::Error) -> String {
    #[expect(clippy::wildcard_enum_match_arm, reason = "`ErrorKind` is open; the rest speaks for itself")]
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotADirectory => "it is not a folder".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => error.to_string().to_lowercase(),
    }
}

fn short_hex(digest: &[u8]) -> String {
    use std::fmt::Write;
    digest.iter().take(8).fold(String::with_capacity(16), |mut text, byte| {
        // Writing to a string cannot fail.
        write!(text, "{byte:02x}").ok();
        text
    })
}

#[cfg(test)]
mod tests;
