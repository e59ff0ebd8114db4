//! The JSON engine: one resumable pass over the bytes that copies what nobody touched and asks a [`Judge`] about the
//! rest. It promises byte-exactness, bounded memory and any chunking; it refuses to know what a rule or a finding is.
//!
//! # What it takes for JSON
//!
//! RFC 8259, strictly: exactly one value, white space around it, nothing else. Where the RFC leaves a reader room, the engine
//! decides for what every other reader understands the same way, because what was inspected must be what is read (each decision
//! with examples: `rewriter/tests/syntax.txt`):
//!
//! - Numbers are copied as they are written, of any size and precision (up to [`Limits::token`]); none is ever computed.
//! - Anything that is not UTF-8 is malformed wherever it stands: ISO 8859-1, UTF-16, overlong forms, encoded surrogates.
//! - A byte order mark is malformed (RFC 8259 section 8.1 forbids writing one).
//! - A lone surrogate escape is malformed, in keys and in values: readers differ in what they make of it.
//! - `\u0000` and non-characters such as `\uffff` are ordinary characters, and so are those that only some readers treat
//!   otherwise (U+2028, U+FEFF inside of a string, DEL).
//! - Keys are compared decoded and letter by letter: `"\u0061"` is `"a"`, `"A"` is not; nothing is normalised, and no name
//!   (`__proto__`) is special.
//! - White space is what the RFC lists and nothing more: no vertical tab, no form feed, no Unicode spaces, no comments.
//! - Nesting is limited to [`Limits::depth`]; a key, a number, or white space held back at one place to [`Limits::token`],
//!   a string only where its whole content is needed ([`Limits::value`]): more is [`Fault::Oversize`].
//! - Duplicate keys pass, each occurrence judged on its own, unless a selector writes that name for a member of that very
//!   object (or takes every member by a wildcard): then the body is malformed. Of the members that a wildcard takes, the first
//!   65,536 over all open objects are remembered; a duplicate among later ones goes unreported, and both are judged all the
//!   same. Where keys are watched for collisions with renamed ones, the same bound is [`Fault::Oversize`].

mod block;
mod lexer;
mod path;
pub mod rewriter;
pub mod selector;
mod string;
mod written;

pub use block::tells;
pub use path::{Path, Segment};
pub use rewriter::{Change, Rewriter, is_container, is_document, rewrite_inside, rewrite_whole};
pub use written::{Places, Written};

/// Which entry of a [`selector::Program`] a node was hit by: the entry's position in the list it was compiled from.
/// Smaller comes first in rule order.
pub type EntryId = u16;

/// A value without children, decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar<'a> {
    /// A string, escapes resolved.
    String(&'a str),
    /// A number, as it was written.
    Number(&'a str),
    /// `true` or `false`.
    Bool(bool),
    /// `null`.
    Null,
}

/// Which container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
}

/// A node, as the judge sees it.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    /// Where it lies.
    pub path: &'a Path,
    /// Which entries of the program select it, ascending. For a keep-only entry a hit means that the node lies
    /// *outside* of what is kept.
    pub hits: &'a [EntryId],
    /// How the key, string or number at hand is written (within something that goes, a long string's place is not known).
    pub written: Written<'a>,
}

/// What is to happen to a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// Nothing.
    Keep,
    /// The member or element goes, with one separator. At the root the value becomes `null`.
    Remove,
    /// The value becomes the JSON text in [`Edits::json`].
    Replace,
    /// Parts of the string (or key) change as [`Edits::splices`] says; its other bytes, escapes included, stay.
    Splice,
    /// The body must not pass: stop reading.
    Stop,
    /// What the string holds cannot be read: the body is faulty, at the string's place.
    Fault(Fault),
}

/// What is to happen to a container, asked before its first child is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// Its children are judged one by one.
    Enter,
    /// The member or element goes. Its children are still shown to the judge (a rule that blocks sees everything),
    /// and what the judge answers about them, [`Edit::Stop`] excepted, has no effect.
    Remove,
    /// The value becomes the JSON text in [`Edits::json`]; children as with `Remove`.
    Replace,
    /// The body must not pass: stop reading.
    Stop,
}

/// What is to happen to a member's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyEdit {
    /// Nothing.
    Keep,
    /// Nothing, but this key could collide with an edited one: remember it.
    Reserve,
    /// The key becomes [`Edits::text`] (not escaped; the engine escapes). A collision makes the body malformed.
    Rename,
    /// The body must not pass: stop reading.
    Stop,
}

/// What is to happen to a string that is longer than [`Limits::window`], asked before its content is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Long {
    /// Copy it untouched.
    Pass,
    /// Show it in windows: [`Judge::window`].
    Windows,
    /// It goes; its content does not matter.
    Remove,
    /// It becomes the JSON text in [`Edits::json`]; its content does not matter.
    Replace,
    /// Its whole content is needed: hold it up to [`Limits::value`] and call [`Judge::scalar`]; beyond, the body is
    /// [`Fault::Oversize`].
    Whole,
    /// The body must not pass: stop reading.
    Stop,
}

/// What a judge is shown of keys and values that no entry selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// Nothing.
    Selected,
    /// Keys and scalars at which a glance does not show that nothing is to be found; containers are not entered.
    Promising(Glance),
    /// Everything.
    Everything,
}

/// Which keys and scalars are worth a closer look. Where [`tells`] says that a text holds no byte that tells something, only
/// its length counts; `true`, `false` and `null` are never worth it. More may be shown than that, never less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glance {
    /// Strings and keys of at least so many bytes are, whatever they hold.
    pub length: usize,
    /// Numbers of at least so many bytes are, and those with an exponent.
    pub number: usize,
    /// For other keys, [`Judge::key_matters`] is asked.
    pub keys: bool,
}

/// Buffers the judge answers through; cleared by the engine before each call, reused for the whole body.
#[derive(Debug, Default)]
pub struct Edits {
    /// JSON text, for `Replace` (may hold several comma-separated members for [`Judge::leave`]).
    pub json: Vec<u8>,
    /// Plain text: the new key for `Rename`, the replacements for `Splice`.
    pub text: String,
    /// For `Splice`: ascending, not overlapping.
    pub splices: Vec<Splice>,
}

/// A replacement inside a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// Bytes of the decoded string (or of the shown window) that go.
    pub range: std::ops::Range<usize>,
    /// What comes instead: a part of [`Edits::text`], escaped by the engine.
    pub with: std::ops::Range<usize>,
}

/// Answers the engine's questions. All policy lives behind it.
///
/// Order of calls: `key` before a member's value (path ends in the key); then `scalar`, or `enter` … children … `leave`.
pub trait Judge {
    /// What is shown of all that no entry selects. Constant over a body. What is not shown flows by at the speed of validation.
    fn show(&self) -> Show {
        Show::Everything
    }
    /// A member's key; `node.hits` are the entries that select its value and are about its key.
    fn key(&mut self, node: Node<'_>, key: &str, edits: &mut Edits) -> KeyEdit;
    /// Whether the value under a key, and everything in it, is to be shown although a glance at the key and at the value says no.
    /// Asked where [`Glance::keys`] says so.
    fn key_matters(&mut self, _key: &str) -> bool {
        true
    }
    /// A value without children.
    fn scalar(&mut self, node: Node<'_>, value: Scalar<'_>, edits: &mut Edits) -> Edit;
    /// A container begins. Called for those that some entry selects, and where everything is shown.
    fn enter(&mut self, node: Node<'_>, container: Container, edits: &mut Edits) -> Entry;
    /// Whether everything in the container that was just entered is to be shown, whatever [`Self::show`] says.
    fn reaches_down(&self) -> bool {
        false
    }
    /// A container ends that was entered, or that misses something; `missing` are the *ensure* entries whose parent this is and whose member was not there. For each
    /// that is to be added, append `"name":value` to [`Edits::json`], separated by commas.
    fn leave(&mut self, path: &Path, missing: &[EntryId], edits: &mut Edits);
    /// A string longer than the window.
    fn long_string(&mut self, node: Node<'_>, edits: &mut Edits) -> Long;
    /// The next window of a long string, decoded. Bytes before `from` were decided earlier and are shown as context only.
    /// Answers how far the text is now decided (`from..=text.len()`, a character boundary; all of it when `last`), with
    /// splices in `from..decided`. `None`: the body must not pass.
    fn window(&mut self, node: Node<'_>, text: &str, from: usize, last: bool, edits: &mut Edits) -> Option<usize>;
}

/// Bounds. All are settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Deepest nesting of containers. 128 is also what `serde_json` allows.
    pub depth: usize,
    /// Bytes of one key or number, and of white space held back at one place.
    pub token: usize,
    /// Bytes (decoded) of a string that is shown whole; longer ones go through [`Judge::long_string`].
    pub window: usize,
    /// Bytes of a value that is held because its whole content is needed.
    pub value: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 128, token: 64 * 1024, window: 64 * 1024, value: 8 * 1024 * 1024 }
    }
}

/// Why a body cannot be read. `at` is the offset of the offending byte in the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Not JSON (RFC 8259), not UTF-8, too deep, a duplicate selected key, or a key collision.
    Malformed {
        /// Offset in bytes from the start of the body.
        at: u64,
        /// What was wrong, in fixed words: never a part of the body.
        what: &'static str,
    },
    /// A value or token over its limit.
    Oversize {
        /// Offset in bytes from the start of the body.
        at: u64,
        /// Which limit.
        what: &'static str,
    },
    /// The judge said stop.
    Stopped,
}

impl Fault {
    /// The same fault in something that what was read is a part of, from this offset on.
    #[must_use]
    pub fn behind(self, offset: u64) -> Self {
        match self {
            Self::Malformed { at, .. } | Self::Oversize { at, .. } => self.moved(offset + at),
            Self::Stopped => Self::Stopped,
        }
    }

    /// The same fault at another place.
    pub(crate) fn moved(self, at: u64) -> Self {
        match self {
            Self::Malformed { what, .. } => Self::Malformed { at, what },
            Self::Oversize { what, .. } => Self::Oversize { at, what },
            Self::Stopped => Self::Stopped,
        }
    }
}
