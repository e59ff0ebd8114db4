//! Selectors as positions: how far each of them has come at a node, and where a step down leads. The plain, slow truth that
//! [`super::automaton`] turns into tables, and that runs as it is where the tables would grow too large.

use std::collections::HashMap;

use super::fold::fold;
use super::program::{Edge, State};
use super::{Choice, ProgramEntry, Purpose, Slice, Step};
use crate::content::json::EntryId;

/// A position in some selector: its index in [`Positions::all`]. The one after it is the next position of the same selector.
pub(super) type Item = u32;

/// An interned name, as it is written or folded: the two never share a number.
pub(super) type NameId = u32;

/// What is known of a key: which written name it is, and which folded one it folds to. Neither: no selector mentions it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Key {
    pub(super) exact: Option<NameId>,
    pub(super) folded: Option<NameId>,
}

#[derive(Debug)]
struct Position {
    entry: EntryId,
    /// `None` at a selector's end: the node is selected.
    next: Option<Next>,
}

/// A step with its names interned.
#[derive(Debug, Default)]
struct Next {
    descend: bool,
    names: Vec<NameId>,
    /// Names that match whatever folds to them.
    folds: Vec<NameId>,
    any: bool,
    indexes: Vec<u64>,
    slices: Vec<Slice>,
    last: bool,
}

impl Next {
    fn takes_name(&self, key: Key) -> bool {
        self.any
            || key.exact.is_some_and(|name| self.names.contains(&name))
            || key.folded.is_some_and(|name| self.folds.contains(&name))
    }

    fn takes_index(&self, index: u64) -> bool {
        self.any || self.indexes.contains(&index) || self.slices.iter().any(|slice| slice.takes(index))
    }

    fn takes_name_at_all(&self) -> bool {
        self.any || self.has_names()
    }

    fn has_names(&self) -> bool {
        !self.names.is_empty() || !self.folds.is_empty()
    }

    fn is_one_name(&self) -> bool {
        self.names.len() + self.folds.len() == 1
            && !self.any
            && !self.descend
            && self.indexes.is_empty()
            && self.slices.is_empty()
    }

    fn enters_objects(&self) -> bool {
        self.any || self.descend || self.has_names()
    }

    fn enters_arrays(&self) -> bool {
        self.any || self.descend || !self.indexes.is_empty() || !self.slices.is_empty()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Value,
    KeepOnly,
    Ensure,
    Key,
    /// With the new name.
    Rename(NameId),
}

/// Every position of every selector of a program.
#[derive(Debug)]
pub(super) struct Positions {
    all: Vec<Position>,
    entries: Vec<Kind>,
    start: Vec<Item>,
    names: Vec<Box<str>>,
    ids: HashMap<Box<str>, NameId>,
    /// The folded names, by their text in folded form.
    folded: HashMap<Box<str>, NameId>,
    /// The name that each entry's first selector ends in, as it is written.
    written: Vec<Box<str>>,
}

impl Positions {
    pub(super) fn new(entries: &[ProgramEntry]) -> Self {
        let mut positions = Self {
            all: Vec::new(),
            entries: Vec::new(),
            start: Vec::new(),
            names: Vec::new(),
            ids: HashMap::new(),
            folded: HashMap::new(),
            written: Vec::new(),
        };
        for (id, entry) in entries.iter().enumerate() {
            let kind = match &entry.purpose {
                Purpose::Value => Kind::Value,
                Purpose::KeepOnly => Kind::KeepOnly,
                Purpose::Ensure => Kind::Ensure,
                Purpose::Key => Kind::Key,
                Purpose::RenameTo(name) => Kind::Rename(positions.intern(name)),
            };
            positions.entries.push(kind);
            positions.written.push(last_name(entry).into());
            for selector in &entry.selectors {
                positions.start.push(positions.all.len() as Item);
                let count = selector.steps.len();
                for (i, step) in selector.steps.iter().enumerate() {
                    let next = positions.next(step, i + 1 == count, selector.folds_case);
                    positions.all.push(Position { entry: id as EntryId, next: Some(next) });
                }
                positions.all.push(Position { entry: id as EntryId, next: None });
            }
        }
        positions
    }

    fn intern(&mut self, name: &str) -> NameId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = self.names.len() as NameId;
        self.names.push(name.into());
        self.ids.insert(name.into(), id);
        id
    }

    fn intern_folded(&mut self, name: &str) -> NameId {
        let folded = fold(name);
        if let Some(&id) = self.folded.get(folded.as_ref()) {
            return id;
        }
        let id = self.names.len() as NameId;
        self.names.push(folded.as_ref().into());
        self.folded.insert(folded.into(), id);
        id
    }

    fn next(&mut self, step: &Step, last: bool, folds_case: bool) -> Next {
        let mut next = Next { descend: step.descend, last, ..Next::default() };
        for choice in &step.choices {
            match choice {
                Choice::Name(name) if folds_case => next.folds.push(self.intern_folded(name)),
                Choice::Name(name) => next.names.push(self.intern(name)),
                Choice::Any => next.any = true,
                Choice::Index(index) => next.indexes.push(*index),
                Choice::Slice(slice) => next.slices.push(*slice),
            }
        }
        next
    }

    pub(super) fn start(&self) -> &[Item] {
        &self.start
    }

    pub(super) fn has_selectors(&self) -> bool {
        !self.start.is_empty() || self.entries.contains(&Kind::KeepOnly)
    }

    /// What is known of a key.
    pub(super) fn key(&self, name: &str) -> Key {
        let folded = if self.folded.is_empty() { None } else { self.folded.get(fold(name).as_ref()).copied() };
        Key { exact: self.ids.get(name).copied(), folded }
    }

    /// The name that the selector of an *ensure* entry ends in, as it is written.
    pub(super) fn written(&self, entry: EntryId) -> &str {
        self.written.get(usize::from(entry)).map_or("", |name| name)
    }

    pub(super) fn name(&self, id: NameId) -> &str {
        self.names.get(id as usize).map_or("", |name| name)
    }

    /// How many names there are.
    pub(super) fn name_count(&self) -> usize {
        self.names.len()
    }

    fn at<'a>(&'a self, items: &'a [Item]) -> impl Iterator<Item = (Item, &'a Position)> {
        items.iter().filter_map(|&item| self.all.get(item as usize).map(|position| (item, position)))
    }

    fn nexts<'a>(&'a self, items: &'a [Item]) -> impl Iterator<Item = (&'a Position, &'a Next)> {
        self.at(items).filter_map(|(_, position)| position.next.as_ref().map(|next| (position, next)))
    }

    /// Where the items lead by a key.
    pub(super) fn by_name(&self, items: &[Item], key: Key, to: &mut Vec<Item>) {
        self.step(items, to, |next| next.takes_name(key));
    }

    /// Where the items lead by an index.
    pub(super) fn by_index(&self, items: &[Item], index: u64, to: &mut Vec<Item>) {
        self.step(items, to, |next| next.takes_index(index));
    }

    fn step(&self, items: &[Item], to: &mut Vec<Item>, takes: impl Fn(&Next) -> bool) {
        to.clear();
        for (item, position) in self.at(items) {
            match &position.next {
                // What lies below a kept node is kept.
                None if self.kind(position.entry) == &Kind::KeepOnly => to.push(item),
                None => {}
                Some(next) => {
                    if next.descend {
                        to.push(item);
                    }
                    if takes(next) {
                        to.push(item + 1);
                    }
                }
            }
        }
        to.sort_unstable();
        to.dedup();
    }

    fn kind(&self, entry: EntryId) -> &Kind {
        self.entries.get(usize::from(entry)).unwrap_or(&Kind::Value)
    }

    /// What a node with these items is to the engine, apart from where it leads.
    pub(super) fn describe(&self, items: &[Item]) -> State {
        let mut hits: Vec<EntryId> = self
            .at(items)
            .filter(|(_, p)| p.next.is_none() && self.kind(p.entry) != &Kind::KeepOnly)
            .map(|(_, p)| p.entry)
            .collect();
        hits.sort_unstable();
        hits.dedup();
        State {
            scalar: self.with_outside(&hits, items, |_| false),
            object: self.with_outside(&hits, items, Next::enters_objects),
            array: self.with_outside(&hits, items, Next::enters_arrays),
            keys: hits.iter().copied().filter(|id| matches!(self.kind(*id), Kind::Key | Kind::Rename(_))).collect(),
            every_key: self.nexts(items).any(|(_, next)| next.any),
            ..State::default()
        }
    }

    /// `hits` and the keep-only entries outside of which a node lies that may be on the way only by steps that `enters` takes.
    fn with_outside(&self, hits: &[EntryId], items: &[Item], enters: impl Fn(&Next) -> bool) -> Box<[EntryId]> {
        let inside = |entry: usize| {
            self.at(items).any(|(_, p)| usize::from(p.entry) == entry && p.next.as_ref().is_none_or(&enters))
        };
        let outside = self.entries.iter().enumerate().filter(|(id, kind)| **kind == Kind::KeepOnly && !inside(*id));
        let mut all: Vec<EntryId> = hits.iter().copied().chain(outside.map(|(id, _)| id as EntryId)).collect();
        all.sort_unstable();
        all.into()
    }

    /// The names that matter in an object with these items, in order of the names. Where they lead is left open.
    pub(super) fn edges(&self, items: &[Item]) -> Vec<Edge> {
        let mut edges: Vec<Edge> = Vec::new();
        for (position, next) in self.nexts(items) {
            edges.extend(next.names.iter().map(|&name| Edge { name, selected: true, ..Edge::default() }));
            if let Kind::Rename(new) = self.kind(position.entry)
                && next.last
                && next.takes_name_at_all()
            {
                edges.push(Edge { name: *new, watched: true, ..Edge::default() });
            }
        }
        edges.sort_by(|a, b| self.name(a.name).cmp(self.name(b.name)));
        edges.dedup_by(|b, a| {
            let same = a.name == b.name;
            if same {
                a.selected |= b.selected;
                a.watched |= b.watched;
            }
            same
        });
        if !self.folded.is_empty() {
            for edge in &mut edges {
                let folded = self.key(self.name(edge.name)).folded;
                edge.selected |= folded.is_some_and(|id| self.nexts(items).any(|(_, next)| next.folds.contains(&id)));
            }
        }
        edges
    }

    /// The folded names that matter in an object with these items, in order of the names. Where they lead is left open.
    pub(super) fn folds(&self, items: &[Item]) -> Vec<Edge> {
        let names = self.nexts(items).flat_map(|(_, next)| next.folds.iter());
        let mut edges: Vec<Edge> = names.map(|&name| Edge { name, ..Edge::default() }).collect();
        edges.sort_by(|a, b| self.name(a.name).cmp(self.name(b.name)));
        edges.dedup_by_key(|edge| edge.name);
        edges
    }

    /// The *ensure* entries whose parent has these items, each with the member's name.
    pub(super) fn ensures(&self, items: &[Item]) -> Vec<(EntryId, NameId)> {
        let mut ensures: Vec<_> = self
            .nexts(items)
            .filter(|(p, next)| self.kind(p.entry) == &Kind::Ensure && next.last && next.is_one_name())
            .filter_map(|(p, next)| next.names.first().or(next.folds.first()).map(|name| (p.entry, *name)))
            .collect();
        ensures.sort_unstable();
        ensures.dedup();
        ensures
    }

    /// The single indexes and the slices that matter in an array with these items.
    pub(super) fn indexes(&self, items: &[Item]) -> (Vec<u64>, Vec<Slice>) {
        let mut indexes: Vec<u64> = self.nexts(items).flat_map(|(_, next)| next.indexes.iter().copied()).collect();
        indexes.sort_unstable();
        indexes.dedup();
        let mut slices: Vec<Slice> = self.nexts(items).flat_map(|(_, next)| next.slices.iter().copied()).collect();
        slices.sort_unstable_by_key(|slice| (slice.start, slice.end, slice.step));
        slices.dedup();
        (indexes, slices)
    }
}

/// The name that an entry's first selector ends in.
fn last_name(entry: &ProgramEntry) -> &str {
    let last = entry.selectors.first().and_then(|selector| selector.steps.last());
    last.and_then(|step| step.choices.first()).map_or("", |choice| match choice {
        Choice::Name(name) => name,
        Choice::Any | Choice::Index(_) | Choice::Slice(_) => "",
    })
}
