//! CSV with a header row: each cell is looked at with its column's name as key. A file without one loses nothing: the first
//! row's cells are looked at, too.

use super::csv::{Cell, Reader};
use super::search::{Finding, Search, Sink};
use crate::content::json::{Fault, Path};
use crate::pii::{Context, Match};

/// Columns whose names are remembered; what stands in further ones is looked at without.
const MOST_COLUMNS: usize = 4096;
/// Characters of a name that count.
const LONGEST_NAME: usize = 256;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A table that comes in pieces.
#[derive(Debug)]
pub(super) struct Table<'s> {
    reader: Reader,
    /// The first bytes, until it is clear whether they are a byte order mark; and how long that is.
    start: Option<Vec<u8>>,
    skipped: u64,
    desk: Desk<'s>,
}

#[derive(Debug)]
struct Desk<'s> {
    search: &'s Search,
    columns: Vec<(Path, Context)>,
    /// Of cells beyond the header, and of the header.
    nameless: Path,
    matches: Vec<Match>,
}

impl<'s> Table<'s> {
    pub fn new(search: &'s Search, delimiter: u8) -> Self {
        let mut nameless = Path::default();
        nameless.push_index(0);
        let desk = Desk { search, columns: Vec::new(), nameless, matches: Vec::new() };
        Self { reader: Reader::new(delimiter), start: Some(Vec::new()), skipped: 0, desk }
    }

    pub fn push(&mut self, chunk: &[u8], sink: Sink<'_>) -> Result<(), Fault> {
        let Some(mut start) = self.start.take() else { return self.read(chunk, sink) };
        start.extend_from_slice(chunk);
        if start.len() < BYTE_ORDER_MARK.len() && BYTE_ORDER_MARK.starts_with(&start) {
            self.start = Some(start);
            return Ok(());
        }
        self.begin(&start, sink)
    }

    pub fn finish(&mut self, sink: Sink<'_>) -> Result<(), Fault> {
        if let Some(start) = self.start.take() {
            self.begin(&start, sink)?;
        }
        let Self { reader, desk, skipped, .. } = self;
        reader.finish(|cell| desk.look(&cell, *skipped, sink)).map_err(|fault| fault.behind(*skipped))
    }

    fn begin(&mut self, start: &[u8], sink: Sink<'_>) -> Result<(), Fault> {
        let rest = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start);
        self.skipped = (start.len() - rest.len()) as u64;
        self.read(rest, sink)
    }

    fn read(&mut self, chunk: &[u8], sink: Sink<'_>) -> Result<(), Fault> {
        let Self { reader, desk, skipped, .. } = self;
        reader.push(chunk, |cell| desk.look(&cell, *skipped, sink)).map_err(|fault| fault.behind(*skipped))
    }
}

impl Desk<'_> {
    fn look(&mut self, cell: &Cell<'_>, skipped: u64, sink: Sink<'_>) {
        if cell.row == 0 && self.columns.len() < MOST_COLUMNS {
            let name: String = cell.text.trim().chars().take(LONGEST_NAME).collect();
            let mut path = Path::default();
            path.push_name(&name);
            self.columns.push((path, self.search.customs().under(Context::default(), &name)));
        }
        let column = if cell.row == 0 { None } else { self.columns.get(cell.column) };
        let (path, context) = match column {
            Some((path, context)) => (path, *context),
            None => (&self.nameless, Context::default()),
        };
        self.search.text(cell.text, context, &mut self.matches);
        let mut places = cell.places();
        for Match { entity, start, end, confidence } in self.matches.iter().copied() {
            let place = places(start..end);
            sink(&Finding {
                entity,
                name: self.search.customs().name(entity),
                confidence,
                start: skipped + place.start,
                end: skipped + place.end,
                line: Some(cell.line),
                path,
                value: cell.text.get(start..end).unwrap_or_default(),
            });
        }
    }
}
