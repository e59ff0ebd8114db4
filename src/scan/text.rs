//! Text and log lines: read in windows that overlap, so that a value may go over line ends. Where the rest of a line is one JSON
//! object, it is read as that, with its keys as context; `key=value` needs nothing, because the words to the left are context.

use super::json;
use super::search::{Finding, Search, Sink, Window};
use crate::content::documents::{Documents, Ends, Piece};
use crate::content::json::{Edits, Fault, Limits, Path, is_document};
use crate::content::text::Text as Windows;
use crate::pii::window::Open;
use crate::pii::{Context, Match};

/// Longer lines are not looked at for an object.
const LONGEST_LINE: usize = 64 * 1024;
/// Braces of a line at which an object may begin: each costs a look at the rest of the line.
const BRACES: usize = 8;

/// A text that comes in pieces.
#[derive(Debug)]
pub(super) struct Text<'s> {
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
    run: Option<Run>,
    matches: Vec<Match>,
    /// The match that goes on in the next window.
    open: Open,
}

/// Text between two objects.
#[derive(Debug)]
struct Run {
    windows: Windows,
    /// Offset of the first byte.
    base: u64,
    /// Offset of the first byte that is not decided.
    decided: u64,
    /// The line it is in.
    line: u64,
    out: Vec<u8>,
}

impl<'s> Text<'s> {
    pub fn new(search: &'s Search) -> Self {
        let desk = Desk { search, at: 0, line: 1, run: None, matches: Vec::new(), open: Open::default() };
        Self { documents: Documents::new(Ends::Byte(b'\n'), LONGEST_LINE), desk }
    }

    pub fn push(&mut self, chunk: &[u8], sink: Sink<'_>) -> Result<(), Fault> {
        let Self { documents, desk } = self;
        documents.push(chunk, |piece| desk.read(&piece, sink))
    }

    pub fn finish(&mut self, sink: Sink<'_>) -> Result<(), Fault> {
        let Self { documents, desk } = self;
        documents.finish(|piece| desk.read(&piece, sink))?;
        desk.end_run(sink)
    }
}

impl Desk<'_> {
    fn read(&mut self, piece: &Piece<'_>, sink: Sink<'_>) -> Result<(), Fault> {
        match piece {
            Piece::Whole(line) => {
                match object(line) {
                    Some((before, object, behind)) => {
                        self.text(before, sink)?;
                        self.end_run(sink)?;
                        json::whole(self.search, self.at, Some(self.line), object, sink)?;
                        self.at += object.len() as u64;
                        self.text(behind, sink)?;
                    }
                    None => self.text(line, sink)?,
                }
                self.line += 1;
                Ok(())
            }
            Piece::Part(bytes) => self.text(bytes, sink),
            Piece::End => {
                self.line += 1;
                Ok(())
            }
        }
    }

    fn text(&mut self, bytes: &[u8], sink: Sink<'_>) -> Result<(), Fault> {
        let (at, line) = (self.at, self.line);
        let run = self.run.get_or_insert_with(|| Run::new(at, line));
        let Run { windows, base, decided, line, out } = run;
        let mut view =
            View { search: self.search, open: &mut self.open, matches: &mut self.matches, decided, line, sink };
        let look = |text: &str, from, last, _: &mut Edits| Some(view.look(Window { text, from, last }));
        out.clear();
        windows.push(look, bytes, out).map_err(|fault| fault.behind(*base))?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn end_run(&mut self, sink: Sink<'_>) -> Result<(), Fault> {
        let Some(mut run) = self.run.take() else { return Ok(()) };
        let Run { windows, base, decided, line, out } = &mut run;
        let mut view =
            View { search: self.search, open: &mut self.open, matches: &mut self.matches, decided, line, sink };
        let look = |text: &str, from, last, _: &mut Edits| Some(view.look(Window { text, from, last }));
        out.clear();
        windows.finish(look, out).map_err(|fault| fault.behind(*base))
    }
}

impl Run {
    fn new(at: u64, line: u64) -> Self {
        Self { windows: Windows::new(Limits::default(), false), base: at, decided: at, line, out: Vec::new() }
    }
}

/// Looks at windows, one after the other.
struct View<'v> {
    search: &'v Search,
    open: &'v mut Open,
    matches: &'v mut Vec<Match>,
    decided: &'v mut u64,
    line: &'v mut u64,
    sink: Sink<'v>,
}

impl View<'_> {
    fn look(&mut self, window: Window<'_>) -> usize {
        let Window { text, from, .. } = window;
        let end = self.search.window(window, Context::default(), self.open, self.matches);
        let base = *self.decided;
        let offset = |at: usize| base + (at - from) as u64;
        let mut counted = from;
        let mut line_of = |at: usize| {
            let between = text.as_bytes().get(counted..at).unwrap_or_default();
            counted = at;
            *self.line += memchr::memchr_iter(b'\n', between).count() as u64;
            *self.line
        };
        let path = Path::default();
        for Match { entity, start, end, confidence } in self.matches.iter().copied() {
            (self.sink)(&Finding {
                entity,
                name: self.search.customs().name(entity),
                confidence,
                start: offset(start),
                end: offset(end),
                line: Some(line_of(start)),
                path: &path,
                value: text.get(start..end).unwrap_or_default(),
            });
        }
        line_of(end);
        *self.decided = offset(end);
        end
    }
}

/// Cuts a line into what stands before a JSON object that is all the rest of it, the object, and white space.
fn object(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let end = line.trim_ascii_end().len();
    let (content, behind) = line.split_at_checked(end)?;
    if !content.ends_with(b"}") {
        return None;
    }
    let starts = memchr::memchr_iter(b'{', content).filter(|at| begins_object(content, *at)).take(BRACES);
    starts.filter_map(|at| content.split_at_checked(at)).find_map(|(before, object)| {
        let is_object = std::str::from_utf8(object).is_ok_and(is_document);
        is_object.then_some((before, object, behind))
    })
}

/// Whether an object may begin at the brace: it opens it or its first key, and does not go on a word.
fn begins_object(content: &[u8], at: usize) -> bool {
    let inner = content.get(at + 1..).unwrap_or_default().trim_ascii_start();
    let before = content.get(..at).unwrap_or_default().last();
    matches!(inner.first(), Some(b'"' | b'}')) && before.is_none_or(|byte| !byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::object;

    #[track_caller]
    fn check(line: &str, expected: Option<(&str, &str)>) {
        let found = object(line.as_bytes()).map(|(before, object, _)| (before, object));
        assert_eq!(found, expected.map(|(before, object)| (before.as_bytes(), object.as_bytes())), "{line}");
    }

    #[test]
    fn an_object_is_all_the_rest_of_the_line() {
        check("INFO {\"a\":1}\n", Some(("INFO ", "{\"a\":1}")));
        check("{}\r\n", Some(("", "{}")));
        check("[x] {y} ctx={ \"a\": {\"b\": 2} } ", Some(("[x] {y} ctx=", "{ \"a\": {\"b\": 2} }")));
        check("user {\"a\":1} logged in", None);
        check("{\"a\":1} and {\"b\":2}", Some(("{\"a\":1} and ", "{\"b\":2}")));
        check("fn main() { x }", None);
        check("{\"a\":1,}", None);
        check("", None);
    }

    #[test]
    fn braces_without_end_cost_little() {
        check(&"{\"".repeat(30_000), None);
        check(&format!("{}}}", "{\"a\":".repeat(10_000)), None);
    }
}
