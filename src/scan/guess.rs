//! What a file is, by the ending of its name, or else by its beginning. It guesses for people who did not say; it refuses to judge
//! whether the rest of the file keeps what the beginning promises.

use super::Format;
use super::csv::{Cell, Reader};
use crate::content::json::is_container;

/// Bytes of a beginning that are enough to guess by.
pub const BEGINNING: usize = 64 * 1024;

/// Rows of a table that are looked at.
const ROWS: u64 = 6;
/// Characters of a column's name that ends in a dot.
const LONGEST_ABBREVIATION: usize = 12;
/// The same for its last word, where there are several.
const LONGEST_LAST: usize = 5;
/// Characters of a column's name.
const LONGEST_NAME: usize = 48;

/// What somebody said that a file is, or did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guess {
    /// One JSON text.
    Json,
    /// JSON texts, one to a line.
    Lines,
    /// A table, whatever its delimiter.
    Csv,
    /// Text.
    Text,
}

impl Guess {
    /// By the ending of a file's name.
    pub fn by_extension(extension: &str) -> Option<Self> {
        Some(match extension.to_ascii_lowercase().as_str() {
            "json" | "geojson" | "har" => Self::Json,
            "ndjson" | "jsonl" | "jsonlines" => Self::Lines,
            "csv" | "tsv" => Self::Csv,
            "log" | "txt" | "md" | "xml" | "html" | "htm" | "yaml" | "yml" | "sql" | "eml" => Self::Text,
            _ => return None,
        })
    }

    /// With what only the beginning says.
    pub fn with(self, beginning: &[u8]) -> Format {
        match self {
            Self::Json => Format::Json,
            Self::Lines => Format::Lines,
            Self::Csv => Format::Csv(delimiter(beginning)),
            Self::Text => Format::Text,
        }
    }
}

/// What a file is that begins so. `is_all`: nothing follows.
pub fn guess(beginning: &[u8], is_all: bool) -> Format {
    if let Some(first) = first_line(beginning, is_all)
        && is_document(first)
    {
        // One line is the same either way, and then there are no lines to speak of.
        let rest = beginning.get(first.len()..).unwrap_or_default();
        return if is_all && rest.trim_ascii().is_empty() { Format::Json } else { Format::Lines };
    }
    if starts_like_json(beginning) || is_all && is_document(beginning) {
        return Format::Json;
    }
    table(beginning, is_all).map_or(Format::Text, Format::Csv)
}

/// What a document is that is wholly there: JSON when it is an object or array, a table when it looks like one, else text.
pub fn guess_whole(document: &str) -> Format {
    if is_container(document) {
        return Format::Json;
    }
    table(document.as_bytes(), true).map_or(Format::Text, Format::Csv)
}

/// The first line that is not blank, if it has ended.
fn first_line(beginning: &[u8], is_all: bool) -> Option<&[u8]> {
    let start = beginning.len() - beginning.trim_ascii_start().len();
    let rest = beginning.get(start..)?;
    let end = memchr::memchr(b'\n', rest).or(is_all.then_some(rest.len()))?;
    beginning.get(..start + end)
}

fn is_document(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(is_container)
}

/// An object or array whose first member or element is there. `[2025-10-19 …]` and `{user}` begin log lines.
fn starts_like_json(beginning: &[u8]) -> bool {
    let start = beginning.trim_ascii_start();
    let Some((open, rest)) = start.split_first() else { return false };
    match (open, rest.trim_ascii_start().first()) {
        (b'{', Some(b'"' | b'}')) | (b'[', Some(b'{' | b'[' | b'"' | b']')) => true,
        (b'{' | b'[', Some(_)) => is_list_of_scalars(*open, rest),
        _ => false,
    }
}

/// Whether the first element is a whole number or a literal, and another one follows.
fn is_list_of_scalars(open: u8, rest: &[u8]) -> bool {
    let is_end = |byte: &u8| matches!(byte, b',' | b']');
    let Some(end) = rest.iter().position(is_end) else { return false };
    let element = rest.get(..end).unwrap_or_default();
    open == b'[' && std::str::from_utf8(element).is_ok_and(crate::content::json::is_document)
}

/// The delimiter of a table that begins so: where the first line has most of them outside of quotes.
fn delimiter(beginning: &[u8]) -> u8 {
    let mut counts = [(0, b','), (0, b';'), (0, b'\t')];
    let mut is_quoted = false;
    for byte in beginning {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' | b'\r' if !is_quoted => break,
            _ if !is_quoted => counts.iter_mut().filter(|(_, it)| it == byte).for_each(|(count, _)| *count += 1),
            _ => {}
        }
    }
    // The earlier one wins where two are as frequent.
    counts.iter().rev().max_by_key(|(count, _)| *count).map_or(b',', |(_, delimiter)| *delimiter)
}

/// The delimiter, if this looks like a table with a header row: two columns or more with names that are names, and as many cells in
/// each row.
fn table(beginning: &[u8], is_all: bool) -> Option<u8> {
    let delimiter = delimiter(beginning);
    let mut reader = Reader::new(delimiter);
    let (mut widths, mut names_are_names) = (Vec::new(), true);
    let mut see = |cell: Cell<'_>| {
        if cell.row == 0 {
            names_are_names &= is_name(cell.text);
        }
        if cell.row < ROWS {
            widths.resize(cell.row as usize + 1, 0);
            if let Some(width) = widths.last_mut() {
                *width = cell.column + 1;
            }
        }
    };
    let rows = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning);
    reader.push(rows, &mut see).ok()?;
    if is_all {
        reader.finish(&mut see).ok()?;
    } else {
        // A row that is cut off says nothing about its width.
        let complete = reader.rows();
        widths.truncate(usize::try_from(complete).unwrap_or(usize::MAX));
    }
    let (header, others) = widths.split_first()?;
    let is_table = *header >= 2 && !others.is_empty() && others.iter().all(|width| width == header);
    (is_table && names_are_names).then_some(delimiter)
}

/// A few words without the punctuation of a sentence or of `key=value`.
fn is_name(cell: &str) -> bool {
    cell.chars().count() <= LONGEST_NAME
        && cell.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && !cell.ends_with([' ', '!', '?'])
        && (!cell.ends_with('.') || is_abbreviated(cell))
        && cell
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '/' | '(' | ')' | '#' | '\''))
        && cell.split(' ').count() <= 4
}

/// `Tel.`, `Geb.-Dat.`, `Card No.`: what a sentence ends with is mostly longer.
fn is_abbreviated(cell: &str) -> bool {
    let word = cell.rsplit(' ').next().unwrap_or(cell);
    let longest = if word.len() == cell.len() { LONGEST_ABBREVIATION } else { LONGEST_LAST };
    word.chars().count() <= longest
}

#[cfg(test)]
mod tests {
    use super::Format::{Csv, Json, Lines, Text};
    use super::{Format, Guess, guess, guess_whole};

    #[track_caller]
    fn check(beginning: &str, expected: Format) {
        assert_eq!(guess(beginning.as_bytes(), true), expected, "{beginning}");
    }

    #[test]
    fn json_is_known_by_its_beginning() {
        check("{\"a\":1}", Json);
        check(" {\n \"a\": 1\n}\n", Json);
        check("{\"a\":1,}", Json);
        check("[{\"a\":1},", Json);
        check("[1, 2]\n", Json);
        check("[]", Json);
        assert_eq!(guess(b"[1, 2, 3", false), Json);
        assert_eq!(guess(b"[{\"a\":", false), Json);
    }

    #[test]
    fn lines_are_known_by_the_first_one() {
        check("{\"a\":1}\n{\"a\":2}\n", Lines);
        check("\n{\"a\":1}\r\n{\"a\"", Lines);
        check("[1]\n[2]", Lines);
        assert_eq!(guess(b"{\"a\":1}\n", false), Lines);
    }

    #[test]
    fn tables_have_a_header_and_rows_of_its_width() {
        check("name,mail\nx,y\n", Csv(b','));
        check("name;e-mail\r\n\"a;b\";c\r\n", Csv(b';'));
        check("\u{feff}id\tfirst name\n1\t\"x\ny\"\n", Csv(b'\t'));
        check("Nr.;Tel.;Geb.-Dat.\n1;2;3\n", Csv(b';'));
        check("Customer,Card No.\n1,2\n", Csv(b','));
        check("name,mail\nx,y,z\n", Text);
        check("name,mail\n", Text);
        check("Dear Bob, thanks.\nYours, Ann\n", Text);
        check("ts=1,level=info\nts=2,level=info\n", Text);
        check("a\nb\n", Text);
        assert_eq!(guess(b"name,mail\nx,y\nz", false), Csv(b','));
        assert_eq!(guess(b"name,mail\nx,y\nz,\"more\nand", false), Csv(b','));
    }

    #[test]
    fn the_rest_is_text() {
        check("", Text);
        check("hello", Text);
        check("12", Text);
        check("[2025-10-19T19:28:44Z] ERROR {\"a\":1}", Text);
        check("[INFO] x, y]", Text);
        check("{user} logged in", Text);
        check("2025 GET {\"a\":1}\n2025 GET {\"a\":1}\n", Text);
    }

    #[test]
    fn a_whole_document_is_json_only_if_it_is() {
        assert_eq!(guess_whole("{\"a\":1}"), Json);
        assert_eq!(guess_whole("{\"a\":1,}"), Text);
        assert_eq!(guess_whole("{\"a\":1}\n{}"), Text);
        assert_eq!(guess_whole("iban,mail\n1,2"), Csv(b','));
    }

    #[test]
    fn names_of_files_say_what_they_are() {
        assert_eq!(Guess::by_extension("JSONL"), Some(Guess::Lines));
        assert_eq!(Guess::by_extension("tsv").map(|it| it.with(b"a\tb\n")), Some(Csv(b'\t')));
        assert_eq!(Guess::by_extension("dat"), None);
    }
}
