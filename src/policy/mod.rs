//! What may pass: a [`Plan`] judges the parts of one message and answers with edits, findings and a [`Verdict`].
//! No I/O, no HTTP types beyond names and values as text; it refuses to know where a message comes from.
//!
//! `plan` compiles rules, `value` is the order of claims on one value (the heart), `body` carries it to JSON bodies, `head`
//! to query, path and headers; `finding` remembers what was found and never what it was.

mod body;
mod case;
mod compile;
mod finding;
mod head;
mod name;
mod place;
mod plan;
mod text;
mod value;

#[cfg(test)]
mod tests;

pub use body::{BodyFault, BodyFilter, BodyJudge, Contexts};
pub use finding::{Described, Finding, Findings};
pub use head::{HeaderChange, HeaderEdit, Judged};
pub use name::NamePattern;
pub use place::{Privacy, storable};
pub use plan::Plan;

use std::sync::Arc;

use crate::actions::{Action, Block};
use crate::content::json::selector::Selector;
use crate::pii::{Confidence, EntitySet};

/// Which half of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the client to the upstream.
    Request,
    /// From the upstream to the client.
    Response,
}

impl Direction {
    /// `request` or `response`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
        }
    }
}

/// How a policy is meant. A policy that is `off` never gets into a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Edits and blocks.
    Enforce,
    /// Records what it would do; claims, blocks, buffers and fails nothing.
    Shadow,
}

/// Why protection could not be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// The body is not what it should be: syntax, UTF-8, depth, duplicate selected key, key collision.
    Malformed,
    /// Larger than what a plan that must hold it may hold.
    Oversize,
    /// An encoding, charset, type or status that no rule can read.
    Unsupported,
}

impl Failure {
    /// `malformed`, `oversize` or `unsupported`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Oversize => "oversize",
            Self::Unsupported => "unsupported",
        }
    }
}

/// What then happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnFailure {
    /// Refuse (the default).
    Block,
    /// Let it pass unread, and record so.
    Pass,
}

impl OnFailure {
    /// `block` or `pass`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Pass => "pass",
        }
    }
}

/// `on_failure` of one policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailurePolicy {
    /// For [`Failure::Malformed`].
    pub malformed: OnFailure,
    /// For [`Failure::Oversize`].
    pub oversize: OnFailure,
    /// For [`Failure::Unsupported`].
    pub unsupported: OnFailure,
}

impl Default for FailurePolicy {
    fn default() -> Self {
        Self { malformed: OnFailure::Block, oversize: OnFailure::Block, unsupported: OnFailure::Block }
    }
}

/// One compiled rule, as `rules` hands it over. The order of rules is the order of claims.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The policy's name.
    pub policy: Arc<str>,
    /// The rule's id, or `policy.direction.n`.
    pub id: Arc<str>,
    /// The policy's mode.
    pub mode: Mode,
    /// The policy's `on_failure`.
    pub on_failure: FailurePolicy,
    /// Where it looks.
    pub target: Target,
    /// Whether it looks at the JSON in the strings that it selects, as if the document stood there.
    pub parse: bool,
    /// What it does there.
    pub action: Action,
}

/// Where a rule looks.
#[derive(Debug, Clone)]
pub enum Target {
    /// Selected body fields, as whole values.
    Select(Vec<Selector>),
    /// Everything in the body but these (the action is `Remove`).
    KeepOnly(Vec<Selector>),
    /// Query parameters, by name.
    Query(Vec<NamePattern>),
    /// Header fields, by name.
    Headers(Vec<NamePattern>),
    /// Recognised values.
    Detect {
        /// Of these kinds.
        entities: EntitySet,
        /// With at least this confidence.
        min_confidence: Confidence,
        /// In these places.
        within: Within,
    },
}

/// Where a detector looks.
#[derive(Debug, Clone)]
pub enum Within {
    /// `in: [...]`, default body and query.
    Places {
        /// String values, numbers and keys of the body.
        body: bool,
        /// Query names and values.
        query: bool,
        /// Path segments.
        path: bool,
        /// Header fields with these names.
        headers: Vec<NamePattern>,
    },
    /// Only in the selected body fields (and below them).
    Select(Vec<Selector>),
    /// Only in these query parameters.
    Query(Vec<NamePattern>),
    /// Only in these header fields.
    Headers(Vec<NamePattern>),
}

/// The one answer to "may it pass?".
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Untouched.
    Pass,
    /// With edits.
    Edit,
    /// Not at all: the rule's block and its position in the plan.
    Block(Block, u16),
}
