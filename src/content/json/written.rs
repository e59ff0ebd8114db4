//! How a key or value stands in the body, so that what was found in it can be shown to somebody who holds the bytes. It
//! promises that no escape and no character is cut in two; what was found it refuses to know.

use std::fmt;
use std::ops::Range;

use super::string::Walk;

/// A key, a string or a number as it is written: without quotes, with its escapes.
#[derive(Clone, Copy, Default)]
pub struct Written<'a> {
    at: u64,
    raw: &'a [u8],
    shown: usize,
}

/// SECURITY: what is written is somebody's data.
impl fmt::Debug for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Written").field("at", &self.at).field("length", &self.raw.len()).finish_non_exhaustive()
    }
}

impl<'a> Written<'a> {
    /// `raw` stands in the body from `at` on.
    #[inline]
    pub(super) const fn new(at: u64, raw: &'a [u8]) -> Self {
        Self { at, raw, shown: 0 }
    }

    /// The same behind so many decoded bytes that were shown before, as context.
    pub(super) const fn behind(self, shown: usize) -> Self {
        Self { shown, ..self }
    }

    /// Offset of its first byte in the document (for one inside of a string: in that string, decoded).
    pub const fn at(self) -> u64 {
        self.at
    }

    /// From places in the decoded text to those in the document.
    pub fn places(self) -> Places<'a> {
        Places { written: self, walk: memchr::memchr(b'\\', self.raw).map(|_| Walk::new(self.raw)) }
    }
}

/// Goes through a text once, from one place to the next.
pub struct Places<'a> {
    written: Written<'a>,
    /// PERF: without escapes, what is written is what it says.
    walk: Option<Walk<'a>>,
}

impl fmt::Debug for Places<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Places").field("written", &self.written).finish_non_exhaustive()
    }
}

impl Places<'_> {
    /// Where a stretch of the decoded text is written. Stretches must come in order, and must not overlap.
    pub fn of(&mut self, range: Range<usize>) -> Range<u64> {
        let Written { at, raw, shown } = self.written;
        let (start, end) = (range.start.saturating_sub(shown), range.end.saturating_sub(shown));
        let (start, end) = match &mut self.walk {
            Some(walk) => (walk.start_of(start), walk.end_of(end)),
            None => (start.min(raw.len()), end.min(raw.len())),
        };
        at + start as u64..at + end as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Written;

    #[track_caller]
    fn check(raw: &str, shown: usize, ranges: &[(usize, usize)], expected: &[&str]) {
        let mut places = Written::new(100, raw.as_bytes()).behind(shown).places();
        let found: Vec<_> = ranges
            .iter()
            .map(|(start, end)| places.of(*start..*end))
            .map(|range| raw.get(range.start as usize - 100..range.end as usize - 100).unwrap())
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn places_are_those_of_the_written_text() {
        check("plain text", 0, &[(0, 5), (6, 10)], &["plain", "text"]);
        check(r"a\u00e9\n😀b", 0, &[(1, 3), (3, 4), (4, 8), (8, 9)], &[r"\u00e9", r"\n", "😀", "b"]);
        check(r"\ud83d\ude00x", 0, &[(0, 4), (4, 5)], &[r"\ud83d\ude00", "x"]);
    }

    #[test]
    fn what_was_shown_before_does_not_count() {
        check(r"a\tb", 7, &[(7, 8), (8, 10)], &["a", r"\tb"]);
        check("ab", 7, &[(3, 8)], &["a"]);
    }
}
