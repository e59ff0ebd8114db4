//! Selectors: which nodes of a body a rule is about. RFC 9535 JSONPath without filters, negative indexes and negative steps
//! (a stream cannot know how long an array is going to be); whatever is refused is refused with its position and with what
//! to write instead. [`Program`] compiles any number of them into one automaton.

mod automaton;
mod cursor;
mod fold;
mod items;
mod parse;
mod program;
#[cfg(test)]
mod tests;

pub use program::Program;

use super::Path;

pub(super) use cursor::{Cursor, StateId};
pub(super) use program::State;

/// A parsed selector: RFC 9535 JSONPath without filters, negative indexes and negative steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    text: String,
    steps: Vec<Step>,
    folds_case: bool,
}

/// One segment of a selector: what it takes from a node, or from the node and everything below it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    descend: bool,
    choices: Vec<Choice>,
}

/// What a step takes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Choice {
    Name(String),
    Any,
    Index(u64),
    Slice(Slice),
}

/// Every `step`-th index from `start` on, before `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Slice {
    start: u64,
    end: Option<u64>,
    step: u64,
}

impl Slice {
    fn takes(self, index: u64) -> bool {
        index >= self.start && self.end.is_none_or(|end| index < end) && (index - self.start).is_multiple_of(self.step)
    }
}

/// Why a selector was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectorError {
    /// Byte offset in the selector's text.
    pub at: usize,
    /// What is wrong, lower case.
    pub message: String,
    /// What to write instead, if there is something.
    pub hint: Option<String>,
}

impl Selector {
    /// Parses.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        Ok(Self { text: text.to_owned(), steps: parse::steps(text)?, folds_case: false })
    }

    /// With names that match keys whatever their case, after NFKC. In one object several keys may then match one name
    /// (`Email`, `email`): each is selected. The same key twice is as malformed as ever.
    #[must_use]
    pub fn fold_case(self) -> Self {
        Self { folds_case: true, ..self }
    }

    /// Whether its names match keys whatever their case.
    pub fn folds_case(&self) -> bool {
        self.folds_case
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The last step's name, if the selector is definite (names and indexes only) and ends in a name: what `set` needs.
    pub fn definite_name(&self) -> Option<&str> {
        match self.steps.last()?.choices.as_slice() {
            [Choice::Name(name)] if self.is_definite() => Some(name),
            _ => None,
        }
    }

    /// Whether it is definite: at most one node.
    pub fn is_definite(&self) -> bool {
        self.steps
            .iter()
            .all(|step| !step.descend && matches!(step.choices.as_slice(), [Choice::Name(_) | Choice::Index(_)]))
    }

    /// The way to the one node that it can select, if it is definite and takes names as they are written.
    pub fn definite_path(&self) -> Option<Path> {
        let mut path = Path::default();
        for step in &self.steps {
            match step.choices.as_slice() {
                [Choice::Name(name)] => path.push_name(name),
                [Choice::Index(index)] => path.push_index(*index),
                _ => return None,
            }
        }
        Some(path).filter(|_| self.is_definite() && !self.folds_case)
    }

    /// Whether its last step can select members by name (so that `rename` makes sense): a name or a wildcard.
    pub fn selects_members(&self) -> bool {
        let last = self.steps.last().map(|step| step.choices.as_slice()).unwrap_or_default();
        last.iter().any(|choice| matches!(choice, Choice::Name(_) | Choice::Any))
    }
}

/// What an entry of a program is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// Report a hit at each selected node.
    Value,
    /// Report a hit at each node that is neither selected, nor below a selected one, nor a container on the way to one.
    KeepOnly,
    /// As `Value`; and tell [`super::Judge::leave`] when the parent is there and the member is not. Definite selectors only
    /// (others report hits and nothing more); one selector an entry, or the judge cannot tell which of them is missing.
    Ensure,
    /// As `Value`; and the judge is told of the selected members' keys.
    Key,
    /// As `Key`; and a body where the new name already is a member of the same object is malformed.
    RenameTo(String),
}

/// One entry of a program: a rule's selectors and what they are for.
#[derive(Debug, Clone)]
pub struct ProgramEntry {
    /// What for.
    pub purpose: Purpose,
    /// Any of these.
    pub selectors: Vec<Selector>,
}
