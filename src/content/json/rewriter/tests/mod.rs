//! The rewriter against facts, against itself in pieces, and against a slow oracle.

mod chunks;
mod documents;
mod edits;
mod faults;
mod identity;
mod long;
mod oracle;
mod skips;
mod syntax;

use std::sync::Arc;

use crate::content::json::selector::{Program, ProgramEntry, Purpose, Selector};
use crate::content::json::{
    Container, Edit, Edits, Entry, EntryId, Fault, Judge, KeyEdit, Limits, Long, Node, Path, Rewriter, Scalar, Show,
    Splice, rewrite_whole,
};

/// What a rule of a [`Script`] does where it hits.
#[derive(Debug, Clone)]
pub(super) enum Act {
    Keep,
    Remove,
    Replace(&'static str),
    Rename(&'static str),
    /// With the member's name.
    Set(&'static str, &'static str),
    KeepOnly,
    /// Every `a` in a string becomes this.
    Splice(&'static str),
    Stop,
}

/// A judge that follows a list of rules; the first that hits a value wins.
#[derive(Debug, Clone, Default)]
pub(super) struct Script {
    pub(super) acts: Vec<Act>,
    pub(super) selected_only: bool,
    /// Every call, in words.
    pub(super) log: Vec<String>,
    /// What to answer about long strings.
    pub(super) long: Option<Long>,
}

impl Script {
    fn first(&self, hits: &[EntryId]) -> Option<&Act> {
        hits.iter().filter_map(|id| self.acts.get(usize::from(*id))).find(|act| !matches!(act, Act::Rename(_)))
    }

    fn note(&mut self, what: &str, path: &Path, value: &str) {
        self.log.push(format!("{what} {path} {value}"));
    }
}

pub(super) fn splice_every_a(text: &str, range: std::ops::Range<usize>, with: &str, edits: &mut Edits) {
    edits.text.push_str(with);
    edits.splices = text
        .match_indices('a')
        .filter(|(at, _)| range.contains(at))
        .map(|(at, _)| Splice { range: at..at + 1, with: 0..with.len() })
        .collect();
}

impl Judge for Script {
    fn show(&self) -> Show {
        if self.selected_only { Show::Selected } else { Show::Everything }
    }

    fn key(&mut self, node: Node<'_>, key: &str, edits: &mut Edits) -> KeyEdit {
        self.note("key", node.path, key);
        for id in node.hits {
            if let Some(Act::Rename(name)) = self.acts.get(usize::from(*id)) {
                edits.text.push_str(name);
                return KeyEdit::Rename;
            }
        }
        KeyEdit::Keep
    }

    fn scalar(&mut self, node: Node<'_>, value: Scalar<'_>, edits: &mut Edits) -> Edit {
        self.note("scalar", node.path, &format!("{value:?}"));
        match (self.first(node.hits), value) {
            (Some(Act::Remove | Act::KeepOnly), _) => Edit::Remove,
            (Some(Act::Replace(json) | Act::Set(_, json)), _) => {
                edits.json.extend_from_slice(json.as_bytes());
                Edit::Replace
            }
            (Some(Act::Splice(with)), Scalar::String(text)) => {
                splice_every_a(text, 0..text.len(), with, edits);
                Edit::Splice
            }
            (Some(Act::Stop), _) => Edit::Stop,
            (Some(Act::Keep | Act::Rename(_) | Act::Splice(_)) | None, _) => Edit::Keep,
        }
    }

    fn enter(&mut self, node: Node<'_>, container: Container, edits: &mut Edits) -> Entry {
        self.note("enter", node.path, &format!("{container:?}"));
        match self.first(node.hits) {
            Some(Act::Remove | Act::KeepOnly) => Entry::Remove,
            Some(Act::Replace(json) | Act::Set(_, json)) => {
                edits.json.extend_from_slice(json.as_bytes());
                Entry::Replace
            }
            Some(Act::Stop) => Entry::Stop,
            Some(Act::Keep | Act::Rename(_) | Act::Splice(_)) | None => Entry::Enter,
        }
    }

    fn leave(&mut self, path: &Path, missing: &[EntryId], edits: &mut Edits) {
        self.note("leave", path, &format!("{missing:?}"));
        let mut added = Vec::new();
        for id in missing {
            if let Some(Act::Set(name, json)) = self.acts.get(usize::from(*id))
                && !added.contains(name)
            {
                let comma = if added.is_empty() { "" } else { "," };
                edits.json.extend_from_slice(format!("{comma}\"{name}\":{json}").as_bytes());
                added.push(name);
            }
        }
    }

    fn long_string(&mut self, node: Node<'_>, edits: &mut Edits) -> Long {
        self.note("long", node.path, "");
        match self.first(node.hits) {
            Some(Act::Remove | Act::KeepOnly) => Long::Remove,
            Some(Act::Replace(json) | Act::Set(_, json)) => {
                edits.json.extend_from_slice(json.as_bytes());
                Long::Replace
            }
            Some(Act::Stop) => Long::Stop,
            Some(Act::Splice(_)) => self.long.unwrap_or(Long::Windows),
            Some(Act::Keep | Act::Rename(_)) | None => self.long.unwrap_or(Long::Pass),
        }
    }

    fn window(&mut self, node: Node<'_>, text: &str, from: usize, last: bool, edits: &mut Edits) -> Option<usize> {
        self.note("window", node.path, &format!("{text:?} from {from}"));
        let mut decided = if last { text.len() } else { from + (text.len() - from) * 3 / 4 };
        while !text.is_char_boundary(decided) {
            decided += 1;
        }
        if let Some(Act::Splice(with)) = self.first(node.hits) {
            splice_every_a(text, from..decided, with, edits);
        }
        Some(decided)
    }
}

/// The program and the judge for rules written as (selectors, act).
pub(super) fn rules(rules: &[(&[&str], Act)]) -> (Vec<ProgramEntry>, Script) {
    let entries = rules.iter().map(|(selectors, act)| ProgramEntry {
        purpose: match act {
            Act::KeepOnly => Purpose::KeepOnly,
            Act::Set(..) => Purpose::Ensure,
            Act::Rename(name) => Purpose::RenameTo((*name).to_owned()),
            Act::Keep | Act::Remove | Act::Replace(_) | Act::Splice(_) | Act::Stop => Purpose::Value,
        },
        selectors: selectors.iter().map(|text| Selector::parse(text).expect(text)).collect(),
    });
    let acts = rules.iter().map(|(_, act)| act.clone()).collect();
    (entries.collect(), Script { acts, ..Script::default() })
}

/// Rewrites the whole body at once.
pub(super) fn whole<J: Judge>(program: &Program, limits: Limits, judge: &mut J, body: &[u8]) -> Result<Vec<u8>, Fault> {
    rewrite_whole(program, limits, judge, body).map(|new| new.unwrap_or_else(|| body.to_vec()))
}

/// Rewrites the body in pieces that end at `cuts` (ascending); also answers the fault, what was written and what is held.
pub(super) fn pieces<J: Judge>(
    program: &Arc<Program>,
    limits: Limits,
    judge: &mut J,
    body: &[u8],
    cuts: &[usize],
) -> (Result<Vec<u8>, Fault>, Vec<u8>, Vec<u8>) {
    let mut rewriter = Rewriter::new(Arc::clone(program), limits);
    let mut out = Vec::new();
    let mut result = Ok(());
    let mut from = 0;
    for &to in cuts.iter().chain([&body.len()]) {
        result = rewriter.push(judge, &body[from..to], &mut out);
        from = to;
        if result.is_err() {
            break;
        }
    }
    if result.is_ok() {
        result = rewriter.finish(judge, &mut out);
    }
    let held = rewriter.held().to_vec();
    (result.map(|()| out.clone()), out, held)
}

/// Every cut there is.
pub(super) fn bytewise(body: &[u8]) -> Vec<usize> {
    (1..body.len()).collect()
}

/// Checks one body against what is expected of it: whole, in single bytes, with and without tables, and with a judge that
/// wants everything or not.
pub(super) fn check(list: &[(&[&str], Act)], body: &str, expected: Result<&str, Fault>) {
    let (entries, script) = rules(list);
    let limits = Limits::default();
    for program in [Program::compile(&entries), Program::without_tables(&entries)] {
        let program = Arc::new(program);
        for selected_only in [false, true] {
            let judge = Script { selected_only, ..script.clone() };
            let expected = expected.map(str::to_owned);
            let found = whole(&program, limits, &mut judge.clone(), body.as_bytes());
            assert_eq!(found.map(|out| String::from_utf8(out).unwrap()), expected, "{body}");
            let found = pieces(&program, limits, &mut judge.clone(), body.as_bytes(), &bytewise(body.as_bytes())).0;
            assert_eq!(found.map(|out| String::from_utf8(out).unwrap()), expected, "{body}, byte by byte");
        }
    }
}
