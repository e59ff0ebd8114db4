//! Findings as lines of JSON, each written as soon as it is known. Without leave it says no value, and no key that is one.

use std::io::{self, ErrorKind, Write};

use serde::Serialize;

use super::ending::Ending;
use crate::pii::{Confidence, Customs};
use crate::policy::{Privacy, storable};
use crate::scan::Finding;

/// A finding, as it is printed.
#[derive(Debug, Serialize)]
pub(super) struct Said {
    path: String,
    entity: &'static str,
    start: u64,
    end: u64,
    confidence: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
}

/// All of a line's, as they are printed.
#[derive(Debug, Serialize)]
struct Row<'a> {
    line: u64,
    findings: &'a [Said],
}

/// Writes lines.
pub(super) struct Jsonl<'a, W> {
    out: W,
    words: Words<'a>,
    found: u64,
    broken: Option<io::Error>,
}

/// How much is said of a finding.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words<'a> {
    show_values: bool,
    privacy: Privacy<'a>,
}

impl<'a> Words<'a> {
    pub fn new(show_values: bool, least: Confidence, customs: &'a Customs) -> Self {
        // A key that is likely to be personal data is not shown, however sure findings are to be.
        Self { show_values, privacy: Privacy { least: least.min(Confidence::Likely), customs } }
    }

    /// Under which keys it stands.
    pub fn place(self, finding: &Finding<'_>) -> String {
        if self.show_values { finding.path.to_string() } else { storable(finding.path, self.privacy) }
    }

    /// The value, with leave.
    pub fn value(self, finding: &Finding<'_>) -> Option<String> {
        self.show_values.then(|| finding.value.to_owned())
    }

    pub fn said(self, finding: &Finding<'_>) -> Said {
        Said {
            path: self.place(finding),
            entity: finding.name,
            start: finding.start,
            end: finding.end,
            confidence: finding.confidence.name(),
            line: finding.line,
            value: self.value(finding),
        }
    }
}

impl<'a, W: Write> Jsonl<'a, W> {
    pub fn new(out: W, words: Words<'a>) -> Self {
        Self { out, words, found: 0, broken: None }
    }

    /// How much is said.
    pub fn words(&self) -> Words<'a> {
        self.words
    }

    /// One finding, one line.
    pub fn finding(&mut self, finding: &Finding<'_>) {
        self.found += 1;
        self.write(&self.words.said(finding));
    }

    /// The findings of one line of the input, one line.
    pub fn row(&mut self, line: u64, findings: &mut [Said]) {
        self.found += findings.len() as u64;
        // The line is said once, and not for each.
        for one in findings.iter_mut() {
            one.line = None;
        }
        self.write(&Row { line, findings });
    }

    fn write(&mut self, line: &impl Serialize) {
        if self.broken.is_none() {
            let written = serde_json::to_writer(&mut self.out, line).map_err(io::Error::from);
            self.broken = written.and_then(|()| self.out.write_all(b"\n")).err();
        }
    }

    /// What was written is out.
    pub fn flush(&mut self) -> Result<(), Ending> {
        let result = self.broken.take().map_or_else(|| self.out.flush(), Err);
        result.map_err(Ending::Write)
    }

    /// How much was found, unless something went wrong; that nobody reads on is not wrong.
    pub fn or_enough(self, result: Result<(), Ending>) -> Result<u64, Ending> {
        match result {
            Err(Ending::Write(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(self.found),
            result => result.map(|()| self.found),
        }
    }
}
