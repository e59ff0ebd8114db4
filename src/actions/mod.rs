//! What is done to a value, one file per action that does something. Compiled forms only: the rule file's spelling dies
//! in `rules`. Text in, text out; it refuses to know why, and where the text came from.

mod block;
mod json_text;
mod mask;
mod redact;

pub use block::Block;
pub(crate) use json_text::{plain_text, push_json_string};
pub use mask::Mask;
pub use redact::Redact;

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
