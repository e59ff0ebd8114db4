//! `fieldgate audit`: is the log whole, and what does it say? Reads the data folder; needs no running gateway and
//! disturbs none.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;

use crate::audit::Stored;
use crate::audit::verify::{self, Front};

/// What to do with the log.
#[derive(Debug, Subcommand)]
pub(super) enum AuditVerb {
    /// Check the hash chain: every record there, unchanged, in order; exit code 1 and the place if not
    Verify {
        /// The data folder
        #[arg(value_name = "DIR")]
        data: PathBuf,
        /// Whole files at the front were archived: begin with the first one that is there
        #[arg(long)]
        archived: bool,
    },
    /// Print the newest records, oldest first
    Tail {
        /// The data folder
        #[arg(value_name = "DIR")]
        data: PathBuf,
        /// How many
        #[arg(long, short = 'n', default_value_t = 20, value_name = "N")]
        lines: usize,
    },
}

impl AuditVerb {
    pub(super) fn execute(self) -> ExitCode {
        let out = &mut io::stdout().lock();
        let code = match self {
            Self::Verify { data, archived } => {
                verify(&data, if archived { Front::Archived } else { Front::Whole }, out)
            }
            Self::Tail { data, lines } => tail(&data, lines, out),
        };
        // Standard output was closed: whoever read it has seen enough.
        code.map_or(ExitCode::SUCCESS, ExitCode::from)
    }
}

/// Checks the log in `dir` and says what it found. Exit code: 0 whole, 1 broken, 2 not readable.
pub fn verify(dir: &Path, front: Front, out: &mut impl Write) -> io::Result<u8> {
    match verify::verify(dir, front) {
        Ok(Ok(log)) if log.files == 0 && log.journal_bytes == 0 && !log.is_end_noted && !log.is_live => {
            writeln!(out, "there is no audit log in `{}`", dir.display())?;
            Ok(2)
        }
        Ok(Ok(log)) => {
            let span = match log.records {
                0 => String::new(),
                _ => format!(", {} to {}", log.first_seq, log.last_seq),
            };
            let (records, files) = (count(log.records, "record"), count(log.files as u64, "file"));
            writeln!(out, "whole: {records}{span}, in {files}")?;
            if !log.is_end_noted {
                writeln!(
                    out,
                    "warning: `audit.head` is missing: records cut off at the very end would not be missed here"
                )?;
            }
            writeln!(out, "last hash: {}", log.last_hash)?;
            writeln!(out, "keep number and hash elsewhere: they vouch for everything up to here")?;
            if log.journal_bytes > 0 {
                let when = if log.is_live {
                    "the running gateway writes them in a moment"
                } else {
                    "they will be written at the next start"
                };
                writeln!(out, "{} of records are still in the journal; {when}", count(log.journal_bytes, "byte"))?;
            }
            Ok(0)
        }
        Ok(Err(broken)) => {
            let place = if broken.line == 0 { String::new() } else { format!(":{}", broken.line) };
            writeln!(out, "broken: {}{place}: {}", broken.file.display(), broken.flaw)?;
            writeln!(out, "hint: {}", broken.flaw.hint())?;
            Ok(1)
        }
        Err(error) => {
            writeln!(out, "cannot read the audit log in `{}`: {error}", dir.display())?;
            Ok(2)
        }
    }
}

/// Prints the last `limit` records, oldest first, one line each and one per finding. Exit code: 0, or 2 when the log
/// is not readable.
pub fn tail(dir: &Path, limit: usize, out: &mut impl Write) -> io::Result<u8> {
    match crate::audit::last_records(dir, limit) {
        Ok(records) => {
            for stored in records {
                out.write_all(readable(&stored).as_bytes())?;
            }
            Ok(0)
        }
        Err(error) => {
            writeln!(out, "cannot read the audit log in `{}`: {error}", dir.display())?;
            Ok(2)
        }
    }
}

fn readable(Stored { seq, record, .. }: &Stored) -> String {
    let mut text = format!(
        "{seq} {} {} {} {}{} {} {} {} {:.1} ms {}\n",
        shown(&record.time),
        shown(&record.client),
        shown(&record.method),
        shown(&record.host),
        shown(&record.path),
        record.status,
        shown(&record.verdict),
        shown(&record.outcome),
        record.phases.total_us as f64 / 1000.0,
        shown(&record.id),
    );
    for one in &record.findings {
        let entity = if one.entity.is_empty() { "-" } else { &one.entity };
        let shadow = if one.shadow { " (shadow)" } else { "" };
        // Writing to a `String` does not fail.
        writeln!(
            text,
            "    {} {} {} {} x{} by {}{shadow}",
            shown(&one.direction),
            shown(&one.place),
            shown(entity),
            shown(&one.action),
            one.count,
            shown(&one.rule),
        )
        .ok();
    }
    if record.findings_more > 0 {
        writeln!(text, "    and {} more", record.findings_more).ok();
    }
    for one in &record.uninspected {
        writeln!(
            text,
            "    {} not inspected: {} ({}), {}",
            shown(&one.direction),
            shown(&one.failure),
            shown(&one.reason),
            shown(&one.decision),
        )
        .ok();
    }
    text
}

/// SECURITY: strangers wrote some of it; whatever is not plainly printable is shown as an escape, so that nothing
/// steers a terminal.
pub(super) fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ' '..='~' => out.push(c),
            c if c.is_alphanumeric() => out.push(c),
            c => out.extend(c.escape_unicode()),
        }
    }
    out
}

fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::audit::{Audit, AuditSettings};

    fn check_shown(text: &str, expected: &str) {
        assert_eq!(shown(text), expected);
    }

    #[test]
    fn nothing_steers_the_terminal() {
        check_shown("$.users[*].\"na\u{ef}ve\"", "$.users[*].\"na\u{ef}ve\"");
        check_shown("a\u{1b}[2Jb", "a\\u{1b}[2Jb");
        check_shown("\u{202e}x\u{9b}\n", "\\u{202e}x\\u{9b}\\u{a}");
    }

    fn check_verify(dir: &Path, code: u8, said: &str) {
        let mut out = Vec::new();
        assert_eq!(verify(dir, Front::Whole, &mut out).unwrap(), code);
        let out = String::from_utf8(out).unwrap();
        assert!(out.contains(said), "{out}");
    }

    #[test]
    fn it_says_what_it_found() {
        let dir = tempfile::tempdir().unwrap();
        check_verify(dir.path(), 2, "there is no audit log in");
        let audit = Audit::open(&AuditSettings::in_dir(dir.path()), 1).unwrap();
        audit.lanes()[0].reserve().unwrap().commit(&crate::audit::sample("one"));
        audit.lanes()[0].reserve().unwrap().commit(&crate::audit::sample("two"));
        audit.flush_and_stop(Duration::from_secs(10)).unwrap();
        check_verify(dir.path(), 0, "whole: 2 records, 1 to 2, in 1 file\nlast hash: ");

        let mut out = Vec::new();
        assert_eq!(tail(dir.path(), 1, &mut out).unwrap(), 0);
        let out = String::from_utf8(out).unwrap();
        assert!(out.starts_with("2 2026-") && out.contains("$.card credit_card mask x1 by customers.1"), "{out}");

        let path = dir.path().join("audit-000000000001.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replacen("\"status\":200", "\"status\":201", 1)).unwrap();
        check_verify(dir.path(), 1, "audit-000000000001.jsonl:1: this record was changed");
    }

    #[test]
    fn a_folder_that_is_not_there_is_not_readable() {
        let mut out = Vec::new();
        assert_eq!(verify(Path::new("/nonexistent/data"), Front::Whole, &mut out).unwrap(), 2);
        assert!(String::from_utf8(out).unwrap().contains("`/nonexistent/data`"));
    }
}
