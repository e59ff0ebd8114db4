//! Documents in a field of JSON lines: takes one named string out of each line and searches it as a document of its own. Places
//! count from the start of that string, decoded. It refuses to know what is printed.

use crate::content::documents::{Documents, Ends, Piece};
use crate::content::json::selector::{Program, ProgramEntry, Purpose, Selector};
use crate::content::json::{
    Container, Edit, Edits, Entry, EntryId, Fault, Judge, KeyEdit, Limits, Long, Node, Path, Scalar, Show,
    rewrite_whole,
};

/// Bytes of the longest line.
const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// Takes a field out of each line.
#[derive(Debug)]
pub struct Field {
    program: Program,
    documents: Documents,
    desk: Desk,
}

#[derive(Debug)]
struct Desk {
    /// Offset of the next line.
    at: u64,
    /// Its number, from 1.
    line: u64,
}

/// A line, as it is shown. Blank lines are not.
#[derive(Clone, Copy)]
pub struct Line<'a> {
    /// Its number, from 1.
    pub number: u64,
    /// What the field says, if it is there and a string.
    pub document: Option<&'a str>,
}

/// SECURITY: the document is somebody's data.
impl std::fmt::Debug for Line<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line").field("number", &self.number).finish_non_exhaustive()
    }
}

/// Why reading ended before the end.
#[derive(Debug)]
pub enum Stop<E> {
    /// A line is not JSON, or has the field twice, or is too long.
    Fault(Fault),
    /// Whoever was shown a line had enough.
    Theirs(E),
}

impl Field {
    /// The member of this name of the object in each line.
    pub fn new(name: &str) -> Self {
        let quoted = name.replace('\\', "\\\\").replace('\'', "\\'");
        // A name that no selector can say selects nothing, and whoever asked hears that no line has it.
        let selectors = Selector::parse(&format!("$['{quoted}']")).into_iter().collect();
        let program = Program::compile(&[ProgramEntry { purpose: Purpose::Value, selectors }]);
        let documents = Documents::new(Ends::Byte(b'\n'), LONGEST_LINE);
        Self { program, documents, desk: Desk { at: 0, line: 1 } }
    }

    /// Reads the next bytes and shows `each` line that ends. After an error nothing more may be pushed.
    pub fn push<E>(&mut self, chunk: &[u8], mut each: impl FnMut(Line<'_>) -> Result<(), E>) -> Result<(), Stop<E>> {
        let Self { program, documents, desk } = self;
        documents.push(chunk, |piece| desk.read(program, &piece, &mut each))
    }

    /// The last line has ended.
    pub fn finish<E>(&mut self, mut each: impl FnMut(Line<'_>) -> Result<(), E>) -> Result<(), Stop<E>> {
        let Self { program, documents, desk } = self;
        documents.finish(|piece| desk.read(program, &piece, &mut each))
    }
}

impl Desk {
    fn read<E>(
        &mut self,
        program: &Program,
        piece: &Piece<'_>,
        each: &mut impl FnMut(Line<'_>) -> Result<(), E>,
    ) -> Result<(), Stop<E>> {
        let Piece::Whole(line) = piece else {
            return Err(Stop::Fault(Fault::Oversize { at: self.at, what: "a line of more than 64 MiB" }));
        };
        if !line.trim_ascii().is_empty() {
            let limits = Limits { value: LONGEST_LINE, ..Limits::default() };
            let mut taker = Taker { document: None };
            rewrite_whole(program, limits, &mut taker, line).map_err(|fault| Stop::Fault(fault.behind(self.at)))?;
            let line = Line { number: self.line, document: taker.document.as_deref() };
            each(line).map_err(Stop::Theirs)?;
        }
        self.at += line.len() as u64;
        self.line += 1;
        Ok(())
    }
}

/// Keeps the selected string.
struct Taker {
    document: Option<String>,
}

impl Judge for Taker {
    fn show(&self) -> Show {
        Show::Selected
    }
    fn key(&mut self, _: Node<'_>, _: &str, _: &mut Edits) -> KeyEdit {
        KeyEdit::Keep
    }
    fn scalar(&mut self, _: Node<'_>, value: Scalar<'_>, _: &mut Edits) -> Edit {
        if let Scalar::String(text) = value {
            self.document = Some(text.to_owned());
        }
        Edit::Keep
    }
    fn enter(&mut self, _: Node<'_>, _: Container, _: &mut Edits) -> Entry {
        Entry::Enter
    }
    fn leave(&mut self, _: &Path, _: &[EntryId], _: &mut Edits) {}
    fn long_string(&mut self, _: Node<'_>, _: &mut Edits) -> Long {
        Long::Whole
    }
    fn window(&mut self, _: Node<'_>, text: &str, _: usize, _: bool, _: &mut Edits) -> Option<usize> {
        Some(text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, Field, Line, Stop};

    type Lines = Vec<(u64, Option<String>)>;

    fn read(name: &str, lines: &str, size: usize) -> Result<Lines, Stop<()>> {
        let (mut field, mut seen) = (Field::new(name), Vec::new());
        let mut each = |line: Line<'_>| {
            seen.push((line.number, line.document.map(str::to_owned)));
            Ok(())
        };
        for chunk in lines.as_bytes().chunks(size) {
            field.push(chunk, &mut each)?;
        }
        field.finish(&mut each)?;
        Ok(seen)
    }

    #[track_caller]
    fn check(name: &str, lines: &str, expected: &[(u64, Option<&str>)]) {
        for size in [1, 7, 1000] {
            let expected: Lines = expected.iter().map(|(n, text)| (*n, text.map(str::to_owned))).collect();
            assert_eq!(read(name, lines, size).unwrap(), expected);
        }
    }

    #[test]
    fn the_field_is_taken_decoded() {
        check("t", "{\"t\":\"a\\u00e9\\n\"}\n\n{\"t\":\"b\"}", &[(1, Some("aé\n")), (3, Some("b"))]);
        check("t", "{\"t\":1}\n{\"x\":{\"t\":\"b\"}}\n[1]", &[(1, None), (2, None), (3, None)]);
        check("it's \\ \"x\"", "{\"it's \\\\ \\\"x\\\"\":\"a\"}", &[(1, Some("a"))]);
    }

    #[test]
    fn long_documents_are_taken_whole() {
        let long = "x".repeat(200_000);
        assert_eq!(read("t", &format!("{{\"t\":\"{long}\"}}"), 65536).unwrap(), [(1, Some(long))]);
    }

    #[test]
    fn lines_that_are_no_json_are_faults() {
        let fault = read("t", "{}\n{\"t\":\"a\",\"t\":\"b\"}", 100).unwrap_err();
        assert!(matches!(fault, Stop::Fault(Fault::Malformed { at: 12, .. })), "{fault:?}");
        let fault = read("t", "{}\nx", 100).unwrap_err();
        assert!(matches!(fault, Stop::Fault(Fault::Malformed { at: 3, .. })), "{fault:?}");
    }
}
