//! Selectors: placeholder signatures.

/// A parsed selector: RFC 9535 JSONPath without filters, negative indexes and negative steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    text: String,
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
        Ok(Self { text: text.to_owned() })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The last step's name, if the selector is definite (names and indexes only) and ends in a name: what `set` needs.
    pub fn definite_name(&self) -> Option<&str> {
        None
    }

    /// Whether it is definite: at most one node.
    pub fn is_definite(&self) -> bool {
        false
    }

    /// Whether its last step can select members by name (so that `rename` makes sense): a name or a wildcard.
    pub fn selects_members(&self) -> bool {
        false
    }
}

/// What an entry of a program is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// Report a hit at each selected node.
    Value,
    /// Report a hit at each node that is neither selected, nor below a selected one, nor a container on the way to one.
    KeepOnly,
    /// As `Value`; and tell [`super::Judge::leave`] when the parent is there and the member is not. Definite selectors only.
    Ensure,
    /// As `Value`; and a body where the new name already is a member of the same object is malformed.
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

/// All selectors of a plan, compiled into one automaton.
#[derive(Debug)]
pub struct Program {}

impl Program {
    /// Compiles. An entry's [`super::EntryId`] is its position in `entries`.
    pub fn compile(_entries: &[ProgramEntry]) -> Self {
        Self {}
    }

    /// Whether no entry selects anything.
    pub fn is_empty(&self) -> bool {
        true
    }
}
