//! A file searched for personal data and secrets: bytes in, findings out, nothing changed. Promises bounded memory, that the
//! chunks make no difference, and that every finding says where it stands; where bytes come from and what is said of a finding
//! it refuses to know.
//!
//! In reading order: `search` is what is looked for and how a finding looks; `guess` what a file is; `json`, `lines`, `table`
//! and `text` read one format each; [`field`] takes documents out of a field of JSON lines.

pub mod csv;
pub mod field;
pub mod guess;
mod json;
mod lines;
mod search;
mod table;
mod text;

#[cfg(test)]
mod tests;

pub use guess::{BEGINNING, Guess, guess, guess_whole};
pub use search::{Finding, Search, Sink};

use crate::content::json::Fault;

/// What a file is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One JSON text.
    Json,
    /// JSON texts, one to a line.
    Lines,
    /// RFC 4180 with a header row; the delimiter.
    Csv(u8),
    /// Anything else that is UTF-8.
    Text,
}

impl Format {
    /// As it is asked for on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Lines => "ndjson",
            Self::Csv(_) => "csv",
            Self::Text => "text",
        }
    }
}

/// Searches one document, chunk by chunk.
#[derive(Debug)]
pub struct Scan<'s> {
    reader: Reader<'s>,
}

#[derive(Debug)]
enum Reader<'s> {
    Json(Box<json::Json<'s>>),
    Lines(Box<lines::Lines<'s>>),
    Table(Box<table::Table<'s>>),
    Text(Box<text::Text<'s>>),
}

impl<'s> Scan<'s> {
    /// At the start of a document.
    pub fn new(format: Format, search: &'s Search) -> Self {
        let reader = match format {
            Format::Json => Reader::Json(Box::new(json::Json::new(search, 0, None))),
            Format::Lines => Reader::Lines(Box::new(lines::Lines::new(search))),
            Format::Csv(delimiter) => Reader::Table(Box::new(table::Table::new(search, delimiter))),
            Format::Text => Reader::Text(Box::new(text::Text::new(search))),
        };
        Self { reader }
    }

    /// Reads the next bytes. After a fault nothing more may be pushed.
    pub fn push(&mut self, chunk: &[u8], sink: Sink<'_>) -> Result<(), Fault> {
        match &mut self.reader {
            Reader::Json(json) => json.push(chunk, sink),
            Reader::Lines(lines) => lines.push(chunk, sink),
            Reader::Table(table) => table.push(chunk, sink),
            Reader::Text(text) => text.push(chunk, sink),
        }
    }

    /// The document has ended.
    pub fn finish(&mut self, sink: Sink<'_>) -> Result<(), Fault> {
        match &mut self.reader {
            Reader::Json(json) => json.finish(sink),
            Reader::Lines(lines) => lines.finish(sink),
            Reader::Table(table) => table.finish(sink),
            Reader::Text(text) => text.finish(sink),
        }
    }

    /// Searches a document that is wholly there.
    pub fn whole(format: Format, search: &'s Search, document: &[u8], sink: Sink<'_>) -> Result<(), Fault> {
        let mut scan = Self::new(format, search);
        scan.push(document, sink)?;
        scan.finish(sink)
    }
}
