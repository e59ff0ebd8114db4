//! How personal data and secrets are recognised: text and its key path in, matches out. No I/O; it refuses to know what
//! is done with what it finds.
//!
//! In reading order: `entity` is the vocabulary; `entities/` holds one file per entity (or close family) and the one
//! table that lists them; `evidence` is what an entity's reader may answer; `number` cuts digits with separators into
//! candidates, `code` does so with letters among them; `checksum` holds the schemes that several share; `words`, `lexicon`,
//! `key` and `context` weigh the words of the key path and to the left; `fold` makes other scripts and percent-encoding look
//! like plain text; `detector` is a set of entities made ready and `scan` runs it over a value, with `prefix` for fixed
//! beginnings;
//! `custom` holds the detectors of the operator's own;
//! `window` is for texts that are not wholly there;
//! `overlap` settles who wins where two of them found something.

mod checksum;
mod code;
pub mod context;
pub mod custom;
pub mod detector;
pub mod entities;
pub mod entity;
pub mod evidence;
mod fold;
mod key;
mod lexicon;
mod number;
mod overlap;
mod prefix;
mod scan;
mod shape;
pub mod window;
mod words;

pub use context::{Context, Surroundings};
pub use custom::Customs;
pub use detector::{Detector, Match};
pub use entity::{Confidence, EntityId, EntitySet};

#[cfg(test)]
#[expect(clippy::string_slice, reason = "the offsets are on boundaries, or the test fails")]
mod tests;
