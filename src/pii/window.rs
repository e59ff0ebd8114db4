//! Matches that are longer than what is shown of a text at once. It promises that once a match was begun, what goes on in the
//! next window is a part of it; it refuses to know what a window is for.

use super::detector::Match;
use super::entity::{Confidence, EntityId};

/// The match that goes on behind the window that was shown last.
#[derive(Debug, Default, Clone, Copy)]
pub struct Open(Option<(EntityId, Confidence)>);

impl Open {
    /// Adds what goes on at `from`, where what was decided before ends, to the matches in `text`. The first window of a text
    /// has nothing before `from`, and nothing goes on there.
    pub fn resume(&mut self, text: &str, from: usize, found: &mut Vec<Match>) {
        let Some((entity, confidence)) = self.0.take().filter(|_| from > 0) else { return };
        let rest = text.as_bytes().get(from..).unwrap_or_default();
        let end = from + rest.iter().take_while(|byte| is_token(**byte)).count();
        if end > from {
            // SECURITY: the union: another match that overlaps may reach further.
            let over = found.iter().filter(|one| one.start < end && one.end > from);
            let end = over.map(|one| one.end).fold(end, usize::max);
            found.retain(|one| one.end <= from || one.start >= end);
            let at = found.partition_point(|one| one.start < from);
            found.insert(at, Match { entity, start: from, end, confidence });
        }
    }

    /// Cuts the matches to what is decided, and remembers the one that goes on behind it.
    pub fn cut(&mut self, from: usize, decided: usize, found: &mut Vec<Match>) {
        let over = found.iter().find(|one| one.start < decided && decided < one.end);
        self.0 = over.map(|one| (one.entity, one.confidence));
        found.retain_mut(|one| {
            (one.start, one.end) = (one.start.max(from), one.end.min(decided));
            one.start < one.end
        });
    }
}

/// Whether a byte can stand inside of a long token.
pub(super) const fn is_token(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'<' | b'>' | b',' | b';')
}
