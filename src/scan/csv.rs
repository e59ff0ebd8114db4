//! RFC 4180, cell by cell: promises any chunking, bounded memory and the place of every cell; what a column means it refuses
//! to know.
//!
//! Where files differ from the RFC it takes what every reader understands the same way: any of the delimiters, `LF` and `CR` as
//! line ends, rows of different lengths, quotes inside of a cell that does not begin with one. Blank lines are no rows. Anything but
//! a delimiter or line end behind a closing quote is malformed, and so is a quote that is never closed.

use std::fmt;
use std::ops::Range;

use crate::content::json::Fault;

/// Bytes of the longest cell.
const LONGEST: usize = 8 * 1024 * 1024;

/// A cell, as it is shown.
#[derive(Clone, Copy)]
pub struct Cell<'a> {
    /// Its row, from 0.
    pub row: u64,
    /// The line in which it begins, from 1.
    pub line: u64,
    /// Its column, from 0.
    pub column: usize,
    /// What it says: without quotes, each doubled one once.
    pub text: &'a str,
    /// As it is written, without quotes around it.
    raw: &'a [u8],
    /// Offset of the first byte of `raw`.
    at: u64,
}

/// SECURITY: what it says is somebody's data.
impl fmt::Debug for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell").field("row", &self.row).field("column", &self.column).finish_non_exhaustive()
    }
}

impl Cell<'_> {
    /// Where stretches of the text are written, which must come in order.
    pub fn places(&self) -> impl FnMut(Range<usize>) -> Range<u64> {
        let doubled = self.raw.len() != self.text.len();
        let (mut raw_at, mut text_at) = (0, 0);
        move |range| {
            let mut offset = |to: usize| {
                if !doubled {
                    return self.at + to as u64;
                }
                while text_at < to {
                    raw_at += if self.raw.get(raw_at) == Some(&b'"') { 2 } else { 1 };
                    text_at += 1;
                }
                self.at + raw_at as u64
            };
            offset(range.start)..offset(range.end)
        }
    }
}

/// Where in a cell the reader stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before its first byte.
    Start,
    /// Inside of one without quotes.
    Plain,
    /// Between its quotes.
    Quoted,
    /// Behind a quote that closes it, or is the first of two.
    Closed,
}

/// Reads a table that comes in pieces.
pub struct Reader {
    delimiter: u8,
    state: State,
    /// The cell as it is written, as far as it came, without the opening quote.
    raw: Vec<u8>,
    /// Offset of the first byte of `raw`.
    start: u64,
    /// Offset of the next byte.
    at: u64,
    row: u64,
    column: usize,
    /// The line of the next byte, and that in which the cell began.
    line: u64,
    began: u64,
    /// Whether the last byte was a `CR`, which a `LF` may belong to.
    after_cr: bool,
    text: String,
}

/// SECURITY: what is held is somebody's data.
impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("at", &self.at).field("state", &self.state).finish_non_exhaustive()
    }
}

impl Reader {
    /// At the start of a table.
    pub fn new(delimiter: u8) -> Self {
        Self {
            delimiter,
            state: State::Start,
            raw: Vec::new(),
            start: 0,
            at: 0,
            row: 0,
            column: 0,
            line: 1,
            began: 1,
            after_cr: false,
            text: String::new(),
        }
    }

    /// How many rows have ended.
    pub fn rows(&self) -> u64 {
        self.row
    }

    /// Reads the next bytes and shows `each` cell that ends. After a fault nothing more may be pushed.
    pub fn push(&mut self, chunk: &[u8], mut each: impl FnMut(Cell<'_>)) -> Result<(), Fault> {
        let mut rest = chunk;
        while let [first, others @ ..] = rest {
            match self.state {
                State::Start if *first == b'"' => {
                    (self.state, self.began, self.start) = (State::Quoted, self.line, self.at + 1);
                    self.step(1);
                    rest = others;
                }
                State::Start | State::Plain => rest = self.plain(rest, &mut each)?,
                State::Quoted => rest = self.quoted(rest)?,
                State::Closed if *first == b'"' => {
                    self.state = State::Quoted;
                    rest = self.take(rest, 1)?;
                }
                State::Closed if *first == self.delimiter || matches!(first, b'\r' | b'\n') => {
                    self.raw.pop();
                    rest = self.end(rest, &mut each)?;
                }
                State::Closed => return Err(self.malformed("something behind a closing quote")),
            }
        }
        Ok(())
    }

    /// The table has ended.
    pub fn finish(&mut self, mut each: impl FnMut(Cell<'_>)) -> Result<(), Fault> {
        match self.state {
            State::Quoted => Err(Fault::Malformed { at: self.start - 1, what: "a quote that is never closed" }),
            State::Closed => {
                self.raw.pop();
                self.show(&mut each)
            }
            State::Start if self.column == 0 => Ok(()),
            State::Start | State::Plain => self.show(&mut each),
        }
    }

    /// Inside of a cell without quotes.
    fn plain<'c>(&mut self, rest: &'c [u8], each: &mut impl FnMut(Cell<'_>)) -> Result<&'c [u8], Fault> {
        if self.state == State::Start {
            (self.began, self.start) = (self.line, self.at);
        }
        let end = memchr::memchr3(self.delimiter, b'\r', b'\n', rest);
        let length = end.unwrap_or(rest.len());
        if length > 0 {
            self.state = State::Plain;
        }
        let rest = self.take(rest, length)?;
        if end.is_some() { self.end(rest, each) } else { Ok(rest) }
    }

    fn quoted<'c>(&mut self, rest: &'c [u8]) -> Result<&'c [u8], Fault> {
        let length = match memchr::memchr(b'"', rest) {
            Some(at) => {
                self.state = State::Closed;
                at + 1
            }
            None => rest.len(),
        };
        let inside = rest.get(..length).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', inside).count() as u64;
        self.take(rest, length)
    }

    /// Adds the next bytes to the cell.
    fn take<'c>(&mut self, rest: &'c [u8], length: usize) -> Result<&'c [u8], Fault> {
        let (bytes, rest) = rest.split_at_checked(length).unwrap_or((rest, b""));
        if self.raw.len() + bytes.len() > LONGEST {
            let what = "a cell of more than 8 MiB; is a quote not closed?";
            return Err(Fault::Oversize { at: self.start, what });
        }
        self.raw.extend_from_slice(bytes);
        if !bytes.is_empty() {
            self.step(bytes.len());
        }
        Ok(rest)
    }

    fn step(&mut self, length: usize) {
        self.at += length as u64;
        self.after_cr = false;
    }

    /// The delimiter or line end at the beginning of `rest`.
    fn end<'c>(&mut self, rest: &'c [u8], each: &mut impl FnMut(Cell<'_>)) -> Result<&'c [u8], Fault> {
        let Some((first, others)) = rest.split_first() else { return Ok(rest) };
        let is_blank = self.state == State::Start && self.column == 0;
        if *first == self.delimiter {
            self.show(each)?;
            self.column += 1;
            self.step(1);
            return Ok(others);
        }
        let is_second = *first == b'\n' && self.after_cr;
        if !is_blank {
            self.show(each)?;
            self.row += 1;
            self.column = 0;
        }
        self.line += u64::from(!is_second);
        self.step(1);
        self.after_cr = *first == b'\r';
        Ok(others)
    }

    fn show(&mut self, each: &mut impl FnMut(Cell<'_>)) -> Result<(), Fault> {
        let Self { raw, text, start, .. } = self;
        let said = std::str::from_utf8(raw)
            .map_err(|error| Fault::Malformed { at: *start + error.valid_up_to() as u64, what: "not UTF-8" })?;
        let is_doubled = self.state == State::Closed && raw.contains(&b'"');
        if is_doubled {
            text.clear();
            let mut parts = said.split("\"\"");
            text.push_str(parts.next().unwrap_or_default());
            parts.for_each(|part| {
                text.push('"');
                text.push_str(part);
            });
        }
        each(Cell {
            row: self.row,
            line: self.began,
            column: self.column,
            text: if is_doubled { text } else { said },
            raw,
            at: *start,
        });
        self.raw.clear();
        // One long cell is no reason to keep as much for ever.
        self.raw.shrink_to(64 * 1024);
        self.text.shrink_to(64 * 1024);
        (self.state, self.start, self.began) = (State::Start, self.at + 1, self.line);
        Ok(())
    }

    fn malformed(&self, what: &'static str) -> Fault {
        Fault::Malformed { at: self.at, what }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Reader;
    use crate::content::json::Fault;

    type Cells = Vec<(u64, u64, usize, String)>;

    /// Reads in chunks of `size`; each cell's text must be what is written where it says.
    fn read(table: &str, size: usize) -> Result<Cells, Fault> {
        let (mut reader, mut cells) = (Reader::new(b','), Vec::new());
        let mut each = |cell: super::Cell<'_>| {
            let mut places = cell.places();
            for (at, c) in cell.text.char_indices() {
                let place = places(at..at + c.len_utf8());
                let written = &table.as_bytes()[place.start as usize..place.end as usize];
                assert!(written == c.to_string().as_bytes() || written == b"\"\"" && c == '"', "{written:?} {c}");
            }
            cells.push((cell.row, cell.line, cell.column, cell.text.to_owned()));
        };
        for chunk in table.as_bytes().chunks(size) {
            reader.push(chunk, &mut each)?;
        }
        reader.finish(&mut each)?;
        Ok(cells)
    }

    #[track_caller]
    fn check(table: &str, expected: &[&[&str]]) {
        for size in [1, 2, 3, 100] {
            let cells = read(table, size).unwrap();
            let expected: Vec<_> = (0..)
                .zip(expected)
                .flat_map(|(row, cells)| (0..).zip(*cells).map(move |(column, cell)| (row, column, (*cell).to_owned())))
                .collect();
            let cells: Vec<_> = cells.into_iter().map(|(row, _, column, cell)| (row, column, cell)).collect();
            assert_eq!(cells, expected, "{table:?} in chunks of {size}");
        }
    }

    #[test]
    fn cells_are_what_every_reader_takes_them_for() {
        check("a,b\n1,2\n", &[&["a", "b"], &["1", "2"]]);
        check("a,b\r\n1,2", &[&["a", "b"], &["1", "2"]]);
        check("a,b\r1,\r", &[&["a", "b"], &["1", ""]]);
        check("\"a,\"\"x\"\"\nb\",\"\"\n", &[&["a,\"x\"\nb", ""]]);
        check("\n\r\na,,\n\n1", &[&["a", "", ""], &["1"]]);
        check("x \"y\" z,é\"\n", &[&["x \"y\" z", "é\""]]);
        check("\"\"\"\"", &[&["\""]]);
        check(",", &[&["", ""]]);
        check("", &[]);
    }

    #[test]
    fn cells_know_their_line() {
        let lines: Vec<_> = read("a\r\n\r\n\"x\ny\",z\nb", 1).unwrap().into_iter().map(|cell| cell.1).collect();
        assert_eq!(lines, [1, 3, 4, 5]);
    }

    #[test]
    fn what_is_no_table_is_a_fault() {
        for size in [1, 2, 100] {
            let malformed = |at, what| Err(Fault::Malformed { at, what });
            assert_eq!(read("a,\"b\" c\n", size), malformed(5, "something behind a closing quote"));
            assert_eq!(read("a,\"b\n", size), malformed(2, "a quote that is never closed"));
        }
        let mut reader = Reader::new(b',');
        let not_utf8 = Err(Fault::Malformed { at: 3, what: "not UTF-8" });
        assert_eq!(reader.push(b"a,x\xff\n", |_| ()), not_utf8);
        let mut reader = Reader::new(b',');
        let chunk = vec![b'x'; 1 << 20];
        let fault = (0..9).find_map(|_| reader.push(&chunk, |_| ()).err());
        assert!(matches!(fault, Some(Fault::Oversize { at: 0, .. })), "{fault:?}");
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(rows in prop::collection::vec(prop::collection::vec("[ab,\"\r\né]{0,6}", 1..4), 0..6), size in 1_usize..9) {
            let quote = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
            let lines = rows.iter().map(|row| row.iter().map(quote).collect::<Vec<_>>().join(",") + "\r\n");
            let table = lines.collect::<String>();
            let cells: Vec<_> = read(&table, size).unwrap().into_iter().map(|cell| cell.3).collect();
            prop_assert_eq!(cells, rows.concat());
        }
    }
}
