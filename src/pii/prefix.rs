//! Finds fixed beginnings in a text, all in one pass. It knows strings, no entity.

use aho_corasick::packed::{self, Searcher};
use aho_corasick::{AhoCorasick, MatchKind};

/// A set of beginnings; each is known by its place in the list it was made from.
#[derive(Debug, Clone)]
pub(super) enum Prefixes {
    None,
    /// PERF: looks at 16 or 32 bytes at once. Some machines cannot.
    Packed(Searcher),
    Automaton(AhoCorasick),
}

impl Prefixes {
    /// The beginnings are few and fixed: they build, or there are none.
    pub fn new(starts: &[&str]) -> Self {
        let packed = || {
            let mut builder = packed::Config::new().match_kind(packed::MatchKind::LeftmostLongest).builder();
            builder.extend(starts).build()
        };
        let automaton = || AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(starts).ok();
        match starts {
            [] => Self::None,
            _ => packed().map(Self::Packed).or_else(|| automaton().map(Self::Automaton)).unwrap_or(Self::None),
        }
    }

    /// The beginnings in `text` that do not overlap, the longest at each place: which, and where.
    #[inline]
    pub fn find_iter(&self, text: &str) -> impl Iterator<Item = (usize, usize)> {
        let mut from = 0;
        std::iter::from_fn(move || {
            let (pattern, start, end) = self.find(text, from)?;
            from = end;
            Some((pattern, start))
        })
    }

    fn find(&self, text: &str, from: usize) -> Option<(usize, usize, usize)> {
        let found = match self {
            Self::None => None,
            Self::Packed(searcher) => searcher.find_in(text.as_bytes(), aho_corasick::Span::from(from..text.len())),
            Self::Automaton(automaton) => automaton.find(aho_corasick::Input::new(text).range(from..)),
        }?;
        Some((found.pattern().as_usize(), found.start(), found.end()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::entities::ids;
    use super::super::evidence::Reader;

    /// The packed search takes 64 at most; with more, all texts would be read by the slower one.
    #[test]
    fn the_beginnings_of_all_entities_are_few() {
        let mut starts = Vec::new();
        for (_, entity) in ids() {
            for way in entity.reader.ways() {
                if let Reader::Prefix { starts: own, .. } = way {
                    starts.extend_from_slice(own);
                }
            }
        }
        assert!(starts.len() <= 64, "{} beginnings", starts.len());
    }
}
