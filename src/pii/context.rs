//! What the words around a value say: those of its key path, made once per key, and those to the left inside the value.
//! It promises to be cheap enough for every key; it refuses to know what the value looks like.

use super::entity::{EntityId, EntitySet};
use super::evidence::Support;
use super::key::KeyMeaning;
use super::lexicon::{self, Weight, phrase};
use super::number::is_word;
use super::words::Words;

/// How many bytes to the left of a candidate are read for context.
pub(super) const LEFT_WORDS: usize = 40;

/// A key speaks against values that are its own, not against a text that happens to hold a number: beyond so many more
/// bytes than the candidate has, the value is a text.
const OWN_VALUE_SLACK: usize = 16;

/// What the key path says about a value: which entities its words speak for, and whether they speak against weak ones.
/// Made once per key and combined on the way down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Context {
    speaks_for: EntitySet,
    /// The custom detectors that it speaks for, one bit each.
    own: u64,
    against: bool,
}

impl Context {
    const AGAINST: Self = Self { speaks_for: EntitySet::EMPTY, own: 0, against: true };

    /// The context of a value under `key`, which lies in an object with context `self`.
    ///
    /// A key that says nothing passes on what the container speaks for, but not that all of its value is something; one that is only a filler (`number`) passes on all.
    /// Where the key speaks, the container's words are not in force: `card.phone` is a phone.
    #[must_use]
    pub fn under(self, key: &str) -> Self {
        match KeyMeaning::of(key) {
            KeyMeaning::For(speaks_for) => Self { speaks_for, own: 0, against: false },
            KeyMeaning::Against => Self::AGAINST,
            KeyMeaning::Text | KeyMeaning::Silent => {
                Self { speaks_for: self.speaks_for.without(lexicon::whole()), against: false, ..self }
            }
            KeyMeaning::Filler => self,
        }
    }

    /// The same for a key, which is not the value that its object's key names.
    #[must_use]
    pub fn of_key(self) -> Self {
        Self { speaks_for: self.speaks_for.without(lexicon::whole()), ..self }
    }

    /// The same where the key names these custom detectors.
    #[must_use]
    pub(super) const fn with_own(self, own: u64) -> Self {
        Self { own, ..self }
    }

    /// The custom detectors that the key path names, one bit each.
    pub(super) const fn own(self) -> u64 {
        self.own
    }

    /// The entities that the key path names.
    pub(super) const fn speaks_for(self) -> EntitySet {
        self.speaks_for
    }

    /// What the key path and the words in `value` to the left of `start` say about `entity`; the candidate ends at `end`.
    pub(super) fn support(self, left: Left, entity: EntityId, covers_value: bool) -> Support {
        match left {
            Left::Against => return Support::Against,
            Left::For(entities) if entities.contains(entity) => return Support::For,
            Left::For(_) | Left::Silent => {}
        }
        if self.speaks_for.contains(entity) {
            Support::For
        } else if self.against && covers_value && left == Left::Silent {
            Support::Against
        } else {
            Support::Neutral
        }
    }
}

/// Whoever can say what the key path says about a value. PERF: most values hold no candidate, and then nobody asks.
pub trait Surroundings: std::fmt::Debug {
    /// What it says.
    fn context(&self) -> Context;
}

impl<S: Surroundings + ?Sized> Surroundings for &S {
    fn context(&self) -> Context {
        (**self).context()
    }
}

impl Surroundings for Context {
    fn context(&self) -> Context {
        *self
    }
}

/// Whether a key's word against its value holds for a candidate of `candidate` bytes in a value of `value` bytes.
pub(super) const fn covers_value(candidate: usize, value: usize) -> bool {
    value <= candidate + OWN_VALUE_SLACK
}

/// What the nearest telling words to the left say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Silent,
    For(EntitySet),
    Against,
}

impl Left {
    /// Reads the words to the left of `start` in `text`; the nearest phrase with a meaning decides. One that speaks against
    /// must lead up to the candidate: no other word, line or number is between.
    pub fn of(text: &str, start: usize) -> Self {
        if start == 0 {
            return Self::Silent;
        }
        let mut words = Words::of_text(scope(text, start));
        let (mut leads_up, mut index) = (true, 0);
        while words.word(index).is_some() {
            let Some((meaning, count)) = phrase(&mut words, index) else {
                (index, leads_up) = (index + 1, false);
                continue;
            };
            index += count;
            match meaning.weight {
                _ if !meaning.as_word.is_empty() => return Self::For(meaning.as_word),
                Weight::Against if leads_up && words.word(index - 1).is_some_and(|first| first.is_of_line) => {
                    return Self::Against;
                }
                Weight::Filler => {}
                Weight::Against | Weight::AgainstAsKey | Weight::Text | Weight::For => leads_up = false,
            }
        }
        Self::Silent
    }
}

/// The last character boundary up to `at`.
pub(super) fn floor_boundary(text: &str, mut at: usize) -> usize {
    // COMPAT: `str::floor_char_boundary` came with Rust 1.91.
    while !text.is_char_boundary(at.min(text.len())) {
        at -= 1;
    }
    at.min(text.len())
}

/// The text to the left of `start` that is read for context.
pub(super) fn scope(text: &str, start: usize) -> &str {
    let from = floor_boundary(text, start.saturating_sub(LEFT_WORDS));
    let slice = text.get(from..start).unwrap_or_default();
    if from == 0 {
        return after_semicolon(slice);
    }
    // Cut in the middle of a word: half of it could be another one.
    let whole = slice.bytes().take_while(|&byte| is_word(byte)).count();
    let slice = match slice.get(whole..) {
        Some(rest) if rest.as_bytes().first().is_none_or(u8::is_ascii) => rest,
        Some(_) | None => slice.trim_start_matches(char::is_alphanumeric),
    };
    after_semicolon(slice)
}

/// What a semicolon ends is about something else.
fn after_semicolon(text: &str) -> &str {
    text.rfind("; ").and_then(|at| text.get(at + 1..)).unwrap_or(text)
}
