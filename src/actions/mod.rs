//! What is done to a value, one file per action. Compiled forms only: the rule file's spelling dies in `rules`.
//! Bytes in, bytes out; it refuses to know why.

/// A compiled action.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Leave the value alone and let no later rule touch it.
    Allow,
    /// Record only.
    Log,
    /// Hide all but a few characters.
    Mask(Mask),
    /// Put a fixed text in its place.
    Redact(Redact),
    /// Take the member, element, parameter or field out.
    Remove,
    /// Put this JSON text in its place.
    Replace(Box<str>),
    /// Give the member another name.
    Rename(Box<str>),
    /// Put this JSON text in its place, or add the member where the parent exists.
    Set(Box<str>),
    /// Refuse the exchange.
    Block(Block),
}

/// `mask {keep_first, keep_last, char, as}`. Counts are characters (Unicode scalar values).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    /// Characters left at the start.
    pub keep_first: usize,
    /// Characters left at the end. A value not longer than what is kept is masked whole.
    pub keep_last: usize,
    /// What stands for each hidden character.
    pub with: char,
    /// Whether a number becomes a string. Otherwise digits become 0 with a leading 1.
    pub as_string: bool,
}

/// `redact {with, whole, as}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redact {
    /// The text; `None`: `[REDACTED]`, or `[REDACTED:entity]` for detectors.
    pub with: Option<Box<str>>,
    /// Whether an object or array is replaced as a whole instead of leaf by leaf.
    pub whole: bool,
    /// Whether a number becomes a string. Otherwise it becomes 0.
    pub as_string: bool,
}

/// `block {status, message}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// 400 to 599. Default 403 for requests, 502 for responses.
    pub status: u16,
    /// Shown to the client as the problem's detail.
    pub message: Option<Box<str>>,
}

impl Action {
    /// Its word in rule files, records and on the dashboard.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Log => "log",
            Self::Mask(_) => "mask",
            Self::Redact(_) => "redact",
            Self::Remove => "remove",
            Self::Replace(_) => "replace",
            Self::Rename(_) => "rename",
            Self::Set(_) => "set",
            Self::Block(_) => "block",
        }
    }
}
