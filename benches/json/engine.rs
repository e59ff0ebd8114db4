//! The JSON engine alone, with a judge that masks what is hit and reads what it is shown: what is left of the time when no
//! policy stands behind.

use std::sync::Arc;

use fieldgate::content::json::selector::{Program, ProgramEntry, Purpose, Selector};
use fieldgate::content::json::{
    Container, Edit, Edits, Entry, EntryId, Judge, KeyEdit, Limits, Long, Node, Path, Rewriter, Scalar, Show,
    rewrite_whole,
};

use crate::table::{Contender, Table};

/// Masks what is hit; looks at every byte of every string when it wants everything, as a detector would.
struct Masker {
    everything: bool,
    seen: usize,
}

impl Judge for Masker {
    fn show(&self) -> Show {
        if self.everything { Show::Everything } else { Show::Selected }
    }
    fn key(&mut self, _: Node<'_>, key: &str, _: &mut Edits) -> KeyEdit {
        self.seen += key.len();
        KeyEdit::Keep
    }
    fn scalar(&mut self, node: Node<'_>, value: Scalar<'_>, edits: &mut Edits) -> Edit {
        if let Scalar::String(text) = value {
            self.seen += text.len();
        }
        if node.hits.is_empty() {
            return Edit::Keep;
        }
        edits.json.extend_from_slice(b"\"****\"");
        Edit::Replace
    }
    fn enter(&mut self, _: Node<'_>, _: Container, _: &mut Edits) -> Entry {
        Entry::Enter
    }
    fn leave(&mut self, _: &Path, _: &[EntryId], _: &mut Edits) {}
    fn long_string(&mut self, _: Node<'_>, _: &mut Edits) -> Long {
        Long::Pass
    }
    fn window(&mut self, _: Node<'_>, text: &str, _: usize, _: bool, _: &mut Edits) -> Option<usize> {
        Some(text.len())
    }
}

fn program(selectors: &[&str]) -> Arc<Program> {
    let entries: Vec<_> = selectors
        .iter()
        .map(|text| ProgramEntry { purpose: Purpose::Value, selectors: Selector::parse(text).into_iter().collect() })
        .collect();
    Arc::new(Program::compile(&entries))
}

fn whole(program: &Program, everything: bool, body: &[u8]) -> usize {
    let mut judge = Masker { everything, seen: 0 };
    let out = rewrite_whole(program, Limits::default(), &mut judge, body).unwrap();
    judge.seen + out.map_or(0, |out| out.len())
}

fn chunked(program: &Arc<Program>, everything: bool, body: &[u8]) -> usize {
    let mut judge = Masker { everything, seen: 0 };
    let mut rewriter = Rewriter::new(Arc::clone(program), Limits::default());
    let (mut out, mut written) = (Vec::new(), 0);
    for chunk in body.chunks(16 * 1024) {
        rewriter.push(&mut judge, chunk, &mut out).unwrap();
        written += out.len();
        out.clear();
    }
    rewriter.finish(&mut judge, &mut out).unwrap();
    judge.seen + written + out.len()
}

pub fn measure(table: &Table, array: &[u8]) {
    let four = ["$[*].ssn", "$[*].card.number", "$[*].email", "$[*].loyalty_no"];
    let descend = ["$..ssn", "$..number", "$..email", "$..loyalty_no"];
    let none = ["$[*].nothing"];
    for (name, selectors, everything) in [
        ("engine: nothing selected, nothing wanted", &none[..], false),
        ("engine: nothing selected, everything shown", &none[..], true),
        ("engine: 4 edits a record, only these wanted", &four[..], false),
        ("engine: 4 edits a record, everything shown", &four[..], true),
        ("engine: 4 edits a record with `..`, only these wanted", &descend[..], false),
        ("engine: 4 edits a record with `..`, everything shown", &descend[..], true),
    ] {
        let program = program(selectors);
        let chunks = Contender::new("16 KB chunks", |body| chunked(&program, everything, body));
        let contenders = vec![Contender::new("whole", |body| whole(&program, everything, body)), chunks];
        table.measure(name, array, contenders);
    }
}
