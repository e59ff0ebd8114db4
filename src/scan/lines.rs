//! JSON lines: each line a document of its own. A line of any length is read, a short one at one go; blank lines are nobody's.

use super::json::{self, Json};
use super::search::{Search, Sink};
use crate::content::documents::{Documents, Ends, Piece};
use crate::content::json::Fault;

/// Bytes of a line that are held until its end has come; a longer one is read as it comes.
const HELD: usize = 256 * 1024;

/// JSON lines that come in pieces.
#[derive(Debug)]
pub(super) struct Lines<'s> {
    documents: Documents,
    desk: Desk<'s>,
}

#[derive(Debug)]
struct Desk<'s> {
    search: &'s Search,
    /// Offset of the next byte.
    at: u64,
    /// The line it is in.
    line: u64,
    long: Option<Json<'s>>,
}

impl<'s> Lines<'s> {
    pub fn new(search: &'s Search) -> Self {
        Self { documents: Documents::new(Ends::Byte(b'\n'), HELD), desk: Desk { search, at: 0, line: 1, long: None } }
    }

    pub fn push(&mut self, chunk: &[u8], sink: Sink<'_>) -> Result<(), Fault> {
        let Self { documents, desk } = self;
        documents.push(chunk, |piece| desk.read(&piece, sink))
    }

    pub fn finish(&mut self, sink: Sink<'_>) -> Result<(), Fault> {
        let Self { documents, desk } = self;
        documents.finish(|piece| desk.read(&piece, sink))
    }
}

impl Desk<'_> {
    fn read(&mut self, piece: &Piece<'_>, sink: Sink<'_>) -> Result<(), Fault> {
        match piece {
            Piece::Whole(line) => {
                if !line.trim_ascii().is_empty() {
                    json::whole(self.search, self.at, Some(self.line), line, sink)?;
                }
                self.at += line.len() as u64;
                self.line += 1;
            }
            Piece::Part(bytes) => {
                let (search, at, line) = (self.search, self.at, self.line);
                self.long.get_or_insert_with(|| Json::new(search, at, Some(line))).push(bytes, sink)?;
                self.at += bytes.len() as u64;
            }
            Piece::End => {
                if let Some(mut long) = self.long.take() {
                    long.finish(sink)?;
                }
                self.line += 1;
            }
        }
        Ok(())
    }
}
