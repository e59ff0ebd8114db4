//! Subset construction: positions to tables, made once when rules load, so that a body costs the same for one selector and
//! for hundreds. Gives up beyond its caps instead of filling the memory; the cursor then follows the positions.

use std::collections::HashMap;

use super::Slice;
use super::fold::Folds;
use super::items::{Item, Key, Positions};
use super::program::{Edge, Indexes, Names, State, Table};

/// How large the tables may grow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caps {
    states: usize,
    edges: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self { states: 4096, edges: 1 << 18 }
    }
}

/// Slices in one state beyond which the combinations are not listed, and indexes looked at to find these.
const SLICES: usize = 64;
const TRIED_INDEXES: u64 = 1 << 14;

/// The tables; the root is state 0. `None` when they would be too large.
pub(super) fn build(positions: &Positions, caps: Caps) -> Option<Vec<State>> {
    let mut builder = Builder { positions, caps, known: HashMap::new(), queue: Vec::new(), edges: 0 };
    builder.state(positions.start().to_vec())?;
    let mut states: Vec<State> = Vec::new();
    while let Some(items) = builder.queue.get(states.len()).cloned() {
        let mut state = builder.fill(&items)?;
        state.is_barren = state.leads_nowhere(states.len() as u32);
        states.push(state);
    }
    Some(states)
}

struct Builder<'a> {
    positions: &'a Positions,
    caps: Caps,
    known: HashMap<Vec<Item>, u32>,
    /// The items of each state, by number.
    queue: Vec<Vec<Item>>,
    edges: usize,
}

impl Builder<'_> {
    fn state(&mut self, items: Vec<Item>) -> Option<u32> {
        if let Some(&id) = self.known.get(&items) {
            return Some(id);
        }
        if self.queue.len() == self.caps.states {
            return None;
        }
        let id = self.queue.len() as u32;
        self.queue.push(items.clone());
        self.known.insert(items, id);
        Some(id)
    }

    fn fill(&mut self, items: &[Item]) -> Option<State> {
        let mut state = self.positions.describe(items);
        state.names = self.names(items)?;
        let all = || state.names.edges.iter().chain(&state.names.folds.edges);
        state.slots = all().count();
        let slot = |name| all().position(|edge| edge.name == name);
        state.ensures = self
            .positions
            .ensures(items)
            .into_iter()
            .filter_map(|(entry, name)| slot(name).map(|slot| (entry, slot as u32)))
            .collect();
        state.indexes = self.indexes(items)?;
        Some(state)
    }

    fn names(&mut self, items: &[Item]) -> Option<Names> {
        let mut edges: Vec<Edge> = self.positions.edges(items);
        let folds = self.positions.folds(items);
        self.edges += edges.len() + folds.len();
        if self.edges > self.caps.edges {
            return None;
        }
        let mut to = Vec::new();
        for edge in &mut edges {
            self.positions.by_name(items, self.positions.key(self.positions.name(edge.name)), &mut to);
            edge.to = self.state(to.clone())?;
        }
        self.positions.by_name(items, Key::default(), &mut to);
        let other = self.state(to)?;
        let folds = self.folds(items, &edges, folds)?;
        let table = Table::new(&edges, |name| self.positions.name(name));
        Some(Names { edges: edges.into(), table, folds, other, lengths: 0 }.with_lengths(self.positions))
    }

    fn folds(&mut self, items: &[Item], exact: &[Edge], mut edges: Vec<Edge>) -> Option<Folds> {
        if edges.is_empty() {
            return Some(Folds::default());
        }
        let mut to = Vec::new();
        for edge in &mut edges {
            self.positions.by_name(items, Key { exact: None, folded: Some(edge.name) }, &mut to);
            edge.to = self.state(to.clone())?;
        }
        let slot = |edge: &Edge| {
            let folded = self.positions.key(self.positions.name(edge.name)).folded?;
            edges.iter().position(|fold| fold.name == folded).map(|at| (exact.len() + at) as u32)
        };
        let beside = exact.iter().map(slot).collect();
        let table = Table::new(&edges, |name| self.positions.name(name));
        Some(Folds { edges: edges.into(), table, beside })
    }

    fn indexes(&mut self, items: &[Item]) -> Option<Indexes> {
        let (single, slices) = self.positions.indexes(items);
        self.edges += single.len();
        if self.edges > self.caps.edges {
            return None;
        }
        let mut lead = |index| {
            let mut to = Vec::new();
            self.positions.by_index(items, index, &mut to);
            self.state(to)
        };
        // An index that no single choice mentions stands for all those that the same slices take.
        let free = |index: &u64| single.binary_search(index).is_err();
        let other = lead((0..=single.len() as u64).find(free)?)?;
        let mut by_slices = Vec::new();
        for (mask, index) in combinations(&slices, free)? {
            by_slices.push((mask, lead(index)?));
        }
        let single: Option<Box<[_]>> = single.iter().map(|&index| Some((index, lead(index)?))).collect();
        Some(Indexes { single: single?, slices: slices.into(), by_slices: by_slices.into(), other })
    }
}

/// Which slices take an index, a bit for each.
pub(super) fn mask(slices: &[Slice], index: u64) -> u64 {
    slices.iter().enumerate().filter(|(_, slice)| slice.takes(index)).fold(0, |mask, (i, _)| mask | 1 << i)
}

/// Every combination of slices that takes some free index, with such an index. `None` when there are too many to look at.
fn combinations(slices: &[Slice], free: impl Fn(&u64) -> bool) -> Option<Vec<(u64, u64)>> {
    if slices.is_empty() {
        return Some(Vec::new());
    }
    if slices.len() > SLICES {
        return None;
    }
    // Between two bounds the combination repeats with the steps' common multiple.
    let mut period = 1u64;
    for slice in slices {
        period = period.checked_mul(slice.step / gcd(period, slice.step)).filter(|p| *p <= TRIED_INDEXES)?;
    }
    let mut bounds: Vec<u64> =
        slices.iter().flat_map(|slice| [Some(slice.start), slice.end]).flatten().chain([0]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let mut found: Vec<(u64, u64)> = Vec::new();
    let mut tried = 0;
    for (i, &bound) in bounds.iter().enumerate() {
        let end = bounds.get(i + 1).copied().unwrap_or(u64::MAX);
        // Single choices leave gaps, so a combination may first be free in a later period.
        let mut index = bound;
        let mut looked = 0;
        while index < end && looked < period {
            tried += 1;
            if tried > TRIED_INDEXES {
                return None;
            }
            let mask = mask(slices, index);
            if found.iter().all(|(known, _)| *known != mask) {
                let same = (0u64..).map(|n| index.saturating_add(n * period)).take_while(|i| *i < end);
                if let Some(free) = same.take(TRIED_INDEXES as usize).find(&free) {
                    found.push((mask, free));
                }
            }
            index += 1;
            looked += 1;
        }
    }
    Some(found)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::json::selector::{ProgramEntry, Purpose, Selector};

    fn positions(selectors: &[&str]) -> Positions {
        let selectors = selectors.iter().map(|text| Selector::parse(text).unwrap()).collect();
        Positions::new(&[ProgramEntry { purpose: Purpose::Value, selectors }])
    }

    #[test]
    fn hundreds_of_selectors_share_their_states() {
        let texts: Vec<String> = (0..500).map(|n| format!("$..user.field{n}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let states = build(&positions(&texts), Caps::default()).unwrap();
        assert!(states.len() < 1100, "{}", states.len());
    }

    #[test]
    fn gives_up_where_the_subsets_explode() {
        let text = format!("$..a{}", ".*".repeat(20));
        assert!(build(&positions(&[&text]), Caps::default()).is_none());
    }

    #[test]
    fn slices_list_only_the_combinations_there_are() {
        let slice = |start, end, step| Slice { start, end, step };
        let slices = [slice(0, Some(10), 1), slice(5, None, 1), slice(0, None, 2)];
        let found = combinations(&slices, |_| true).unwrap();
        assert_eq!(found.len(), 6);
        assert!(found.iter().all(|(m, i)| mask(&slices, *i) == *m));
        assert!(combinations(&[slice(0, None, 1 << 40)], |_| true).is_none());
    }
}
