//! What an entity's reader may answer, and how the surroundings turn that into a confidence. The readers judge shapes and
//! checksums; whether a shape is believed is decided here, in one table, for all of them.

use super::entity::Confidence;
use super::number::Number;
use super::shape::Shape;

/// How much the candidate itself shows, before anybody looks around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// Nothing else looks like this: a signed token, a prefixed key.
    Unmistakable,
    /// A check that chance passes once in a hundred or less: no context can talk it away.
    Strong,
    /// A check that chance passes now and then: words against it are heard.
    Checked,
    /// A check that chance passes once in ten or twenty: possible alone, certain in context.
    Weak,
    /// A typical shape: possible alone, likely in context.
    Shape,
    /// A shape that many things share: nothing without context.
    Hint,
}

/// What the words around a candidate say about one entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// They name it.
    For,
    /// They are silent.
    Neutral,
    /// They name something else that looks alike: an order number, a version.
    Against,
}

impl Evidence {
    /// The confidence of this evidence with that support; `None` is no match.
    pub const fn weigh(self, support: Support) -> Option<Confidence> {
        match (self, support) {
            (Self::Unmistakable, _) | (Self::Strong | Self::Checked | Self::Weak, Support::For) => {
                Some(Confidence::Certain)
            }
            (Self::Strong, _) | (Self::Checked, Support::Neutral) | (Self::Shape | Self::Hint, Support::For) => {
                Some(Confidence::Likely)
            }
            (Self::Weak | Self::Shape, Support::Neutral) => Some(Confidence::Possible),
            (Self::Checked | Self::Weak | Self::Shape, Support::Against)
            | (Self::Hint, Support::Neutral | Support::Against) => None,
        }
    }

    /// Whether the surroundings make a difference at all.
    pub const fn depends_on_support(self) -> bool {
        !matches!(self, Self::Unmistakable)
    }
}

/// A candidate that a reader has measured itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sighting {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// What it shows.
    pub evidence: Evidence,
}

/// How candidates for an entity come about. Each variant is one trigger of the scanner; an entity is never asked about
/// text that does not hold its trigger.
#[derive(Debug, Clone, Copy)]
pub enum Reader {
    /// Around each `@`, whose offset is given.
    At(fn(&str, usize) -> Option<Sighting>),
    /// A number of `.0` digits (bit n: n digits), with or without separators.
    Number(u32, fn(&Number<'_>) -> Option<Evidence>),
    /// A word that holds both letters and digits and begins at the offset; it may go on over spaces.
    Word(fn(&str, usize) -> Option<Sighting>),
    /// A word of `.0` letters and digits (bit n: n of them; bit 31: more than 30) begins at the offset and holds a digit,
    /// or is of digits alone; what stands before and behind it may belong to the candidate.
    Code(u32, fn(&str, usize) -> Option<Sighting>),
    /// As [`Self::Code`] for words of one of the shapes: most words are told apart without a call.
    Shaped(&'static [Shape], fn(&str, usize) -> Option<Sighting>),
    /// Digits followed by a dot and a digit; the offset is that of the first digit.
    Dotted(fn(&str, usize) -> Option<Sighting>),
    /// One of `starts`, in a value of at least `shortest` bytes; the offset is that of the prefix.
    Prefix {
        /// What it begins with.
        starts: &'static [&'static str],
        /// No match is shorter.
        shortest: usize,
        /// Judges the text from the offset on.
        read: fn(&str, usize) -> Option<Sighting>,
    },
    /// The whole value, whatever is in it, where the key path names the entity. A key names it only with its head:
    /// `password_policy` is no password, and neither is `password.policy`.
    Whole(fn(&str) -> Option<Evidence>),
    /// Several ways to come about. They do not nest.
    Any(&'static [Self]),
}

impl Reader {
    /// Itself, or the ways that it lists.
    pub(super) const fn ways(&self) -> &[Self] {
        match self {
            Self::Any(ways) => ways,
            Self::At(_)
            | Self::Number(..)
            | Self::Word(_)
            | Self::Code(..)
            | Self::Shaped(..)
            | Self::Dotted(_)
            | Self::Prefix { .. }
            | Self::Whole(_) => std::slice::from_ref(self),
        }
    }

    /// Whether it recognises values by their key path alone, so that a value without any trigger must be shown too.
    pub(super) fn is_whole(&self) -> bool {
        self.ways().iter().any(|way| matches!(way, Self::Whole(_)))
    }
}

/// Bits `from..=to`, for [`Reader::Number`].
pub(super) const fn lengths(from: u32, to: u32) -> u32 {
    (u32::MAX >> (31 - to)) & (u32::MAX << from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_inclusive() {
        assert_eq!(lengths(9, 9), 1 << 9);
        assert_eq!(lengths(12, 13), 0b11 << 12);
    }

    #[test]
    fn more_support_never_lowers_confidence() {
        for evidence in [
            Evidence::Unmistakable,
            Evidence::Strong,
            Evidence::Checked,
            Evidence::Weak,
            Evidence::Shape,
            Evidence::Hint,
        ] {
            assert!(evidence.weigh(Support::For) >= evidence.weigh(Support::Neutral), "{evidence:?}");
            assert!(evidence.weigh(Support::Neutral) >= evidence.weigh(Support::Against), "{evidence:?}");
        }
    }
}
