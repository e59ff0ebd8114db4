//! Detectors of the operator's own: a pattern, and words that should stand near. It promises linear time (a pattern is a
//! finite automaton and its matches are bounded) and the rules of the built-in ones: one pass, one winner per span.

mod name;
mod pattern;

use std::collections::HashMap;
use std::sync::Arc;

use super::context::{Context, scope};
use super::detector::Match;
use super::entity::{Confidence, EntityId, EntitySet};
use super::evidence::{Evidence, Support};
use super::words::{Letters, Words};

pub use name::{MOST_NAMES, Name, TooManyNames};
pub use pattern::{LONGEST_MATCH, LONGEST_PATTERN, Pattern, PatternError};

/// Most custom detectors of a ruleset.
pub const MOST_CUSTOMS: usize = EntitySet::OWN as usize;

/// Words of a context phrase, at most.
const LONGEST_PHRASE: usize = 4;

/// One detector of the operator's own.
#[derive(Debug, Clone)]
pub struct Custom {
    /// Its name.
    pub name: Name,
    /// What it looks like.
    pub pattern: Pattern,
    /// Phrases of which one must be in the key path or to the left; none: the pattern alone is enough.
    pub context: Vec<Box<str>>,
}

impl Custom {
    /// With context words a match without one of them near is only possible; without them the pattern decides.
    fn evidence(&self) -> Evidence {
        if self.context.is_empty() { Evidence::Strong } else { Evidence::Shape }
    }
}

/// The custom detectors of a ruleset.
#[derive(Debug, Default)]
pub struct Customs {
    list: Vec<Custom>,
    /// By the letters of a context phrase: whose it is, one bit each.
    phrases: HashMap<u64, u64>,
}

impl Customs {
    /// These, at most [`MOST_CUSTOMS`]; more are not used.
    pub fn new(mut list: Vec<Custom>) -> Self {
        list.truncate(MOST_CUSTOMS);
        let mut phrases = HashMap::new();
        for (n, custom) in list.iter().enumerate() {
            for phrase in &custom.context {
                for spelled in [phrase.to_string(), format!("{phrase}s")] {
                    *phrases.entry(Letters::of(&spelled).hash).or_default() |= 1 << n;
                }
            }
        }
        Self { list, phrases }
    }

    /// All of them.
    pub fn list(&self) -> &[Custom] {
        &self.list
    }

    /// The one with this name.
    pub fn named(&self, name: &str) -> Option<EntitySet> {
        let at = self.list.iter().position(|custom| custom.name.as_str() == name)?;
        Some(EntitySet::EMPTY.with(EntityId::own(at)))
    }

    /// What `entity`, built in or not, is called.
    pub fn name(&self, entity: EntityId) -> &'static str {
        match entity.position_of_own() {
            Some(at) => self.list.get(at).map_or("custom", |custom| custom.name.as_str()),
            None => entity.name(),
        }
    }

    /// The context of a value under `key`, which lies in an object with context `above`.
    pub fn under(&self, above: Context, key: &str) -> Context {
        let below = above.under(key);
        if self.phrases.is_empty() {
            return below;
        }
        match self.named_by(&mut Words::of_name(key)) {
            0 => below,
            own => below.with_own(own),
        }
    }

    /// Appends the matches in `text` of those that are in `wanted`, in no order, and perhaps over one another.
    pub(super) fn find(&self, wanted: EntitySet, text: &str, context: Context, found: &mut Vec<Match>) {
        for (at, custom) in self.list.iter().enumerate().filter(|(at, _)| wanted.contains(EntityId::own(*at))) {
            for range in custom.pattern.find_iter(text) {
                let confidence = custom.evidence().weigh(self.support(at, text, range.start, context));
                let entity = EntityId::own(at);
                let seen = |confidence| Match { entity, start: range.start, end: range.end, confidence };
                found.extend(confidence.map(seen));
            }
        }
    }

    /// Appends what all of them find in a text without a key, in no order.
    pub fn find_all(&self, text: &str, found: &mut Vec<Match>) {
        self.find(EntitySet::all_own(), text, Context::default(), found);
    }

    /// The likely name of what `text` as a whole or a part of it is, if it is one of them.
    pub(crate) fn recognise(&self, text: &str, context: Context, least: Confidence) -> Option<Match> {
        let mut found = Vec::new();
        self.find(EntitySet::all_own(), text, context, &mut found);
        found.into_iter().filter(|seen| seen.confidence >= least).max_by_key(|seen| seen.confidence)
    }

    fn support(&self, at: usize, text: &str, start: usize, context: Context) -> Support {
        let bit = 1 << at;
        let is_named = context.own() & bit != 0
            || !self.phrases.is_empty() && self.named_by(&mut Words::of_text(scope(text, start))) & bit != 0;
        if is_named { Support::For } else { Support::Neutral }
    }

    /// Whose phrases are among the words.
    fn named_by(&self, words: &mut Words<'_>) -> u64 {
        let (mut named, mut from) = (0, 0);
        while words.word(from).is_some() {
            let mut letters = Letters::NONE;
            for index in from..from + LONGEST_PHRASE {
                let Some(word) = words.word(index) else { break };
                letters = letters.behind(word.letters);
                named |= self.phrases.get(&letters.hash).copied().unwrap_or(0);
            }
            from += 1;
        }
        named
    }
}

/// The custom detectors that a [`super::Detector`] runs.
#[derive(Debug, Clone)]
pub(super) struct Own {
    pub customs: Arc<Customs>,
    /// The shortest match, in bytes.
    pub shortest: usize,
    /// The longest match, in bytes.
    pub longest: usize,
}

impl Own {
    /// Those of `customs` that are in `entities`; `None`: there is none.
    pub fn of(customs: &Arc<Customs>, entities: EntitySet) -> Option<Self> {
        let wanted = customs.list.iter().enumerate().filter(|(at, _)| entities.contains(EntityId::own(*at)));
        let patterns = wanted.map(|(_, custom)| &custom.pattern);
        let (shortest, longest) = patterns.fold((usize::MAX, 0), |(shortest, longest), pattern| {
            (shortest.min(pattern.shortest), longest.max(pattern.longest))
        });
        (longest > 0).then(|| Self { customs: customs.clone(), shortest, longest })
    }
}

/// Whether `phrase` can be a context word: it has letters, and not too many words.
pub fn is_phrase(phrase: &str) -> bool {
    let mut words = Words::of_name(phrase);
    words.word(0).is_some() && words.word(LONGEST_PHRASE).is_none()
}

#[cfg(test)]
mod tests;
