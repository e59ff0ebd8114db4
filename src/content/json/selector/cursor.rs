//! Walks a [`Program`] down and up a body: by table where there are tables, by positions where there are none.

use super::automaton;
use super::items::Positions;
use super::program::{Program, State};

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
        states.get(id as usize).unwrap_or(&NOWHERE)
    }

    /// A state by table. `None` without tables.
    #[inline]
    pub(in crate::content::json) fn tabled(program: &Program, id: StateId) -> Option<&State> {
        program.states.get(id as usize)
    }

    /// By table: whether some selector writes this name in a state, or something may be renamed to it.
    #[inline]
    pub(in crate::content::json) fn knows(program: &Program, state: &State, name: &[u8]) -> bool {
        state.names.find(name, |id| program.positions.name(id)).is_some()
    }

    /// By table: the state of every element, where they all lead to one.
    #[inline]
    pub(in crate::content::json) fn every_element(state: &State) -> Option<StateId> {
        (state.indexes.single.is_empty() && state.indexes.slices.is_empty()).then_some(state.indexes.other)
    }

    /// The name that has this slot in objects of this state.
    pub(in crate::content::json) fn slot_name(program: &Program, id: StateId, slot: u32) -> &str {
        match program.states.get(id as usize) {
            Some(state) => state.names.edges.get(slot as usize).map_or("", |edge| program.positions.name(edge.name)),
            None => program.positions.name(slot),
        }
    }

    /// Goes down to a member.
    #[inline]
    pub(in crate::content::json) fn by_name(&mut self, program: &Program, from: StateId, name: &str) -> Member {
        let Some(state) = program.states.get(from as usize) else {
            return self.by_name_without_table(&program.positions, from, name);
        };
        let names = &state.names;
        let unknown = Member { state: names.other, slot: None, selected: false, watched: false };
        match names.find(name.as_bytes(), |id| program.positions.name(id)) {
            Some((slot, edge)) => {
                Member { state: edge.to, slot: Some(slot), selected: edge.selected, watched: edge.watched }
            }
            None => unknown,
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
        let id = positions.id(name);
        let mut member = Member { state: from + 1, slot: id, selected: false, watched: false };
        let mut to = Vec::new();
        if let Some(state) = self.path.get(from as usize) {
            positions.by_name(&state.items, id, &mut to);
            if let Some(edge) = state.names.edges.iter().find(|edge| Some(edge.name) == id) {
                member.selected = edge.selected;
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
    state.items = items;
    state
}
