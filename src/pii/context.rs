//! What the words around a value say: those of its key path, made once per key, and those to the left inside the value.
//! It promises to be cheap enough for every key; it refuses to know what the value looks like.

use super::entity::{EntityId, EntitySet};
use super::evidence::Support;
use super::lexicon::{Weight, Words};

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
    against: bool,
}

impl Context {
    /// The context of a value under `key`, which lies in an object with context `self`.
    ///
    /// The last word is the head of a name (`phone_version` is a version, `version_phone` a phone). A key that says
    /// nothing passes on what the container speaks for; one that is only a filler (`number`) passes on all.
    #[must_use]
    pub fn under(self, key: &str) -> Self {
        let words = Words::of(key);
        let mut speaks_for = EntitySet::EMPTY;
        let (mut against, mut weakly, mut only_filler) = (false, false, true);
        let mut end = words.count();
        let mut is_head = true;
        while end > 0 {
            let Some((meaning, first)) = words.phrase_before(end) else {
                (end, is_head, only_filler) = (end - 1, false, false);
                continue;
            };
            end = first;
            let is_for = !meaning.as_key.is_empty();
            match meaning.weight {
                _ if is_for => speaks_for = speaks_for.union(meaning.as_key),
                Weight::Filler => continue,
                Weight::Against if is_head => return Self { speaks_for: EntitySet::EMPTY, against: true },
                Weight::Against => against = true,
                Weight::WeaklyAgainst => weakly = true,
                Weight::For => {}
            }
            (is_head, only_filler) = (false, false);
        }
        if !speaks_for.is_empty() {
            // The container's words stay in force only where this key does not speak: `card.phone` is a phone.
            return Self { speaks_for, against: false };
        }
        if against || weakly {
            return Self { speaks_for: EntitySet::EMPTY, against: true };
        }
        Self { speaks_for: self.speaks_for, against: self.against && only_filler }
    }

    /// What the key path and the words in `value` to the left of `start` say about `entity`; the candidate ends at `end`.
    pub(super) fn support(self, left: &Left, entity: EntityId, covers_value: bool) -> Support {
        match left {
            Left::Against => return Support::Against,
            Left::For(entities) if entities.contains(entity) => return Support::For,
            Left::For(_) | Left::Silent => {}
        }
        if self.speaks_for.contains(entity) {
            Support::For
        } else if self.against && covers_value && *left == Left::Silent {
            Support::Against
        } else {
            Support::Neutral
        }
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
    /// Reads the words to the left of `start` in `text`; the nearest phrase with a meaning decides.
    pub fn of(text: &str, start: usize) -> Self {
        let from = text.floor_char_boundary(start.saturating_sub(LEFT_WORDS));
        let mut slice = text.get(from..start).unwrap_or_default();
        if from > 0 && slice.starts_with(char::is_alphanumeric) {
            // Cut in the middle of a word: half of it could be another one.
            slice = slice.trim_start_matches(char::is_alphanumeric);
        }
        let words = Words::of(slice);
        let mut weakly = false;
        let mut end = words.count();
        while end > 0 {
            let Some((meaning, first)) = words.phrase_before(end) else {
                if weakly {
                    break;
                }
                end -= 1;
                continue;
            };
            end = first;
            match meaning.weight {
                _ if !meaning.as_word.is_empty() => return Self::For(meaning.as_word),
                Weight::Against => return Self::Against,
                Weight::WeaklyAgainst => weakly = true,
                Weight::Filler | Weight::For => {}
            }
        }
        if weakly { Self::Against } else { Self::Silent }
    }
}
