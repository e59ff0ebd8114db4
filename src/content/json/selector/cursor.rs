//! Walks a [`Program`] down and up a body: by table where there are tables, by positions where there are none.

use super::automaton;
use super::items::Positions;
use super::program::{Names, Program, State};
use crate::content::json::EntryId;

/// A state of the walk. With tables it is the number of a [`State`] for good; without, its depth, valid until the walk goes
/// back up beyond it.
pub(in crate::content::json) type StateId = u32;

/// Where a member leads.
#[derive(Debug, Clone, Copy)]
pub(in crate::content::json) struct Member {
    pub(in crate::content::json) state: StateId,
    /// What this name is known by in its object, if a selector cares for it.
    pub(in crate::content::json) slot: Option<u32>,
    /// Written in a selector's step: its duplicate is refused.
    pub(in crate::content::json) selected: bool,
    /// Something may be renamed to it.
    pub(in crate::content::json) watched: bool,
    /// What its folded form is known by, if that is in a selector with `fold_case`.
    pub(in crate::content::json) folded: Option<u32>,
}

/// The walk.
#[derive(Debug, Default)]
pub(in crate::content::json) struct Cursor {
    /// Without tables: the state at each depth.
    path: Vec<State>,
}

impl Cursor {
    /// Begins at the root.
    pub(in crate::content::json) fn start(&mut self, program: &Program) -> StateId {
        if program.states.is_empty() {
            self.path = vec![without_table(&program.positions, program.positions.start().to_vec())];
        }
        0
    }

    /// What a state means.
    #[inline]
    pub(in crate::content::json) fn state<'a>(&'a self, program: &'a Program, id: StateId) -> &'a State {
        let states = if program.states.is_empty() { &self.path } else { &program.states };
        // INVARIANT: ids come from this cursor, and the root's state is always there.
        states.get(id as usize).unwrap_or_else(|| &NOWHERE)
    }

    /// A state by table. `None` without tables.
    #[inline]
    pub(in crate::content::json) fn tabled(program: &Program, id: StateId) -> Option<&State> {
        program.states.get(id as usize)
    }

    /// By table: whether some selector writes this name in a state, or something may be renamed to it.
    #[inline]
    pub(in crate::content::json) fn knows(program: &Program, state: &State, name: &[u8]) -> bool {
        state.names.find(&program.positions, name).is_some()
            || !state.names.folds.is_empty() && folds_to_some(program, &state.names, name)
    }

    /// By table: the state of every element, where they all lead to one.
    #[inline]
    pub(in crate::content::json) fn every_element(state: &State) -> Option<StateId> {
        (state.indexes.single.is_empty() && state.indexes.slices.is_empty()).then_some(state.indexes.other)
    }

    /// The name of the member that an *ensure* entry adds.
    pub(in crate::content::json) fn ensured_name(program: &Program, entry: EntryId) -> &str {
        program.positions.written(entry)
    }

    /// Goes down to a member.
    #[inline]
    pub(in crate::content::json) fn by_name(&mut self, program: &Program, from: StateId, name: &str) -> Member {
        let Some(state) = program.states.get(from as usize) else {
            return self.by_name_without_table(&program.positions, from, name);
        };
        let names = &state.names;
        let mut member = Member { state: names.other, slot: None, selected: false, watched: false, folded: None };
        if let Some((slot, edge)) = names.find(&program.positions, name.as_bytes()) {
            (member.state, member.slot) = (edge.to, Some(slot));
            (member.selected, member.watched) = (edge.selected, edge.watched);
        }
        if names.folds.is_empty() { member } else { folded(program, names, name, member) }
    }

    /// What a name is known by in the members of a state, as [`Self::by_name`] would say.
    pub(in crate::content::json) fn slot(program: &Program, state: StateId, name: &str) -> Option<u32> {
        match program.states.get(state as usize) {
            Some(state) => state.names.find(&program.positions, name.as_bytes()).map(|(slot, _)| slot),
            None => program.positions.key(name).exact,
        }
    }

    /// Goes down to an element.
    #[inline]
    pub(in crate::content::json) fn by_index(&mut self, program: &Program, from: StateId, index: u64) -> StateId {
        let Some(state) = program.states.get(from as usize) else {
            return self.by_index_without_table(&program.positions, from, index);
        };
        let indexes = &state.indexes;
        if let Ok(at) = indexes.single.binary_search_by_key(&index, |(single, _)| *single) {
            return indexes.single.get(at).map_or(0, |(_, to)| *to);
        }
        if indexes.slices.is_empty() {
            return indexes.other;
        }
        let mask = automaton::mask(&indexes.slices, index);
        // INVARIANT: every combination that takes an index is listed.
        indexes.by_slices.iter().find(|(known, _)| *known == mask).map_or(indexes.other, |(_, to)| *to)
    }

    #[cold]
    fn by_name_without_table(&mut self, positions: &Positions, from: StateId, name: &str) -> Member {
        let key = positions.key(name);
        let mut member = Member { state: from + 1, slot: key.exact, selected: false, watched: false, folded: None };
        let mut to = Vec::new();
        if let Some(state) = self.path.get(from as usize) {
            positions.by_name(&state.items, key, &mut to);
            member.folded = key.folded.filter(|id| state.names.folds.edges.iter().any(|edge| edge.name == *id));
            member.selected = key.exact.is_some() && member.folded.is_some();
            if let Some(edge) = state.names.edges.iter().find(|edge| Some(edge.name) == key.exact) {
                member.selected |= edge.selected;
                member.watched = edge.watched;
            }
        }
        self.go(positions, from, to);
        member
    }

    #[cold]
    fn by_index_without_table(&mut self, positions: &Positions, from: StateId, index: u64) -> StateId {
        let mut to = Vec::new();
        if let Some(state) = self.path.get(from as usize) {
            positions.by_index(&state.items, index, &mut to);
        }
        self.go(positions, from, to)
    }

    fn go(&mut self, positions: &Positions, from: StateId, items: Vec<super::items::Item>) -> StateId {
        self.path.truncate(from as usize + 1);
        self.path.push(without_table(positions, items));
        from + 1
    }
}

static NOWHERE: std::sync::LazyLock<State> = std::sync::LazyLock::new(State::default);

/// A state on its own; its slots are the names of the whole program.
fn without_table(positions: &Positions, items: Vec<super::items::Item>) -> State {
    let mut state = positions.describe(&items);
    state.slots = positions.name_count();
    state.ensures = positions.ensures(&items).into();
    state.names.edges = positions.edges(&items).into();
    state.names.folds.edges = positions.folds(&items).into();
    state.items = items;
    state
}

/// A member in a state with folded names: where an exact name is written, its edge knows where the folded one leads, too.
#[cold]
fn folded(program: &Program, names: &Names, name: &str, mut member: Member) -> Member {
    if let Some(slot) = member.slot {
        member.folded = names.folds.beside.get(slot as usize).copied().flatten();
    } else if let Some((at, edge)) = names.folds.find(&program.positions, name) {
        member.state = edge.to;
        member.folded = Some(names.edges.len() as u32 + at);
    }
    member
}

#[cold]
fn folds_to_some(program: &Program, names: &Names, name: &[u8]) -> bool {
    // What is no text is left to a closer look.
    std::str::from_utf8(name).map_or(true, |name| names.folds.find(&program.positions, name).is_some())
}
