//! How personal data and secrets are recognised: text and its key path in, matches out. No I/O; it refuses to know what
//! is done with what it finds.
//!
//! `entity` is the vocabulary, `entities/` holds one file per entity (or close family) and the one table that lists them,
//! `detector` is the one-pass scanner that runs a set of them.

pub mod detector;
pub mod entity;

pub use detector::{Context, Detector, Match};
pub use entity::{Confidence, EntityId, EntitySet};
