//! JSON documents: a judge that finds and never edits. Every key, string and number is looked at with its key path as context.

use std::fmt;
use std::sync::{Arc, LazyLock};

use super::search::{Finding, Search, Sink, Window};
use crate::content::json::selector::Program;
use crate::content::json::{
    Container, Edit, Edits, Entry, EntryId, Fault, Judge, KeyEdit, Limits, Long, Node, Path, Rewriter, Scalar, Show,
    rewrite_whole,
};
use crate::pii::Match;
use crate::pii::window::Open;
use crate::policy::Contexts;

/// No value is selected: all are looked at.
static NO_SELECTORS: LazyLock<Arc<Program>> = LazyLock::new(|| Arc::new(Program::compile(&[])));

/// A document that comes in pieces.
pub(super) struct Json<'s> {
    search: &'s Search,
    desk: Desk,
    rewriter: Rewriter,
    /// What the rewriter makes of it: the same bytes again.
    out: Vec<u8>,
}

/// SECURITY: what is held is somebody's data.
impl fmt::Debug for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Json").field("rewriter", &self.rewriter).finish_non_exhaustive()
    }
}

impl<'s> Json<'s> {
    /// At the start of a document whose first byte has the offset `base`. `line`: in which line all of it stands.
    pub fn new(search: &'s Search, base: u64, line: Option<u64>) -> Self {
        let rewriter = Rewriter::new(Arc::clone(&NO_SELECTORS), Limits::default());
        Self { search, desk: Desk { base, line, ..Desk::default() }, rewriter, out: Vec::new() }
    }

    pub fn push(&mut self, chunk: &[u8], sink: Sink<'_>) -> Result<(), Fault> {
        let Self { search, desk, rewriter, out } = self;
        out.clear();
        rewriter.push(&mut Collector { search, desk, sink }, chunk, out).map_err(|fault| fault.behind(desk.base))
    }

    pub fn finish(&mut self, sink: Sink<'_>) -> Result<(), Fault> {
        let Self { search, desk, rewriter, out } = self;
        out.clear();
        rewriter.finish(&mut Collector { search, desk, sink }, out).map_err(|fault| fault.behind(desk.base))
    }
}

/// Searches a document that is wholly there.
pub(super) fn whole(
    search: &Search,
    base: u64,
    line: Option<u64>,
    document: &[u8],
    sink: Sink<'_>,
) -> Result<(), Fault> {
    let desk = &mut Desk { base, line, ..Desk::default() };
    rewrite_whole(&NO_SELECTORS, Limits::default(), &mut Collector { search, desk, sink }, document)
        .map(drop)
        .map_err(|fault| fault.behind(base))
}

/// Where in a file a document stands, and the scratch space.
#[derive(Debug, Default)]
struct Desk {
    base: u64,
    line: Option<u64>,
    contexts: Contexts,
    matches: Vec<Match>,
    /// The match that goes on in the next window of a long string.
    open: Open,
}

/// The judge.
struct Collector<'c> {
    search: &'c Search,
    desk: &'c mut Desk,
    sink: Sink<'c>,
}

impl Collector<'_> {
    /// Tells of what is in `matches`, found in `text` at `node`.
    fn tell(&mut self, node: Node<'_>, text: &str) {
        let Desk { base, line, matches, .. } = &*self.desk;
        if matches.is_empty() {
            return;
        }
        let mut places = node.written.places();
        for Match { entity, start, end, confidence } in matches.iter().copied() {
            let place = places.of(start..end);
            (self.sink)(&Finding {
                entity,
                name: self.search.customs().name(entity),
                confidence,
                start: base + place.start,
                end: base + place.end,
                line: *line,
                path: node.path,
                value: text.get(start..end).unwrap_or_default(),
            });
        }
    }
}

impl Judge for Collector<'_> {
    fn show(&self) -> Show {
        Show::Promising(self.search.glance())
    }

    fn key(&mut self, node: Node<'_>, key: &str, _: &mut Edits) -> KeyEdit {
        let Desk { contexts, matches, .. } = &mut *self.desk;
        // A key is judged in the context of its object.
        let context = contexts.at(node.path, node.path.depth().saturating_sub(1), self.search.customs()).of_key();
        self.search.text(key, context, matches);
        self.tell(node, key);
        KeyEdit::Keep
    }

    fn key_matters(&mut self, key: &str) -> bool {
        self.search.key_matters(key)
    }

    fn scalar(&mut self, node: Node<'_>, value: Scalar<'_>, _: &mut Edits) -> Edit {
        let Desk { contexts, matches, .. } = &mut *self.desk;
        let (Scalar::String(text) | Scalar::Number(text)) = value else { return Edit::Keep };
        let context = contexts.at(node.path, node.path.depth(), self.search.customs());
        if matches!(value, Scalar::Number(_)) {
            self.search.number(text, context, matches);
        } else {
            self.search.text(text, context, matches);
        }
        self.tell(node, text);
        Edit::Keep
    }

    fn enter(&mut self, _: Node<'_>, _: Container, _: &mut Edits) -> Entry {
        Entry::Enter
    }

    fn leave(&mut self, _: &Path, _: &[EntryId], _: &mut Edits) {}

    fn long_string(&mut self, _: Node<'_>, _: &mut Edits) -> Long {
        Long::Windows
    }

    fn window(&mut self, node: Node<'_>, text: &str, from: usize, last: bool, _: &mut Edits) -> Option<usize> {
        let Desk { contexts, matches, open, .. } = &mut *self.desk;
        let context = contexts.at(node.path, node.path.depth(), self.search.customs());
        let decided = self.search.window(Window { text, from, last }, context, open, matches);
        self.tell(node, text);
        Some(decided)
    }
}
