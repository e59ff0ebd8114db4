//! A text without what was changed in it: each change leaves one character that no detector takes for a part of anything.
//! It promises to lead every place back to the text; it refuses to know who looks for what.

use std::borrow::Cow;
use std::ops::Range;

use crate::content::json::Change;

/// Stands where something was changed. A control character: no entity holds one, and JSON holds none as it is.
const GAP: char = '\u{1}';

/// The text that is left.
#[derive(Debug)]
pub(super) struct Remainder<'a> {
    text: Cow<'a, str>,
    changes: &'a [Change],
}

impl<'a> Remainder<'a> {
    /// `changes` are ascending and do not overlap.
    pub(super) fn new(text: &'a str, changes: &'a [Change]) -> Self {
        if changes.is_empty() {
            return Self { text: Cow::Borrowed(text), changes };
        }
        let mut left = String::with_capacity(text.len());
        let mut from = 0;
        for change in changes {
            left.push_str(text.get(from..change.range.start).unwrap_or_default());
            left.push(GAP);
            from = change.range.end;
        }
        left.push_str(text.get(from..).unwrap_or_default());
        Self { text: Cow::Owned(left), changes }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Where a range of what is left lies in the text: with all of every change whose gap it holds.
    pub(super) fn origin(&self, range: Range<usize>) -> Range<usize> {
        self.start(range.start)..self.end(range.end)
    }

    /// In the text, the byte at `at`.
    fn start(&self, at: usize) -> usize {
        let (mut left, mut from) = (0, 0);
        for change in self.changes {
            let gap = left + (change.range.start - from);
            if at < gap {
                break;
            }
            if at == gap {
                return change.range.start;
            }
            (left, from) = (gap + 1, change.range.end);
        }
        from + (at - left)
    }

    /// In the text, where the byte before `at` ends.
    fn end(&self, at: usize) -> usize {
        let (mut left, mut from) = (0, 0);
        for change in self.changes {
            let gap = left + (change.range.start - from);
            if at <= gap {
                break;
            }
            (left, from) = (gap + 1, change.range.end);
        }
        from + (at - left)
    }

    /// All changes with `more`, which are ascending; one of `more` stands for those that it covers.
    pub(super) fn joined(&self, more: &[Change]) -> Vec<Change> {
        let covered =
            |old: &&Change| more.iter().any(|new| new.range.start <= old.range.start && old.range.end <= new.range.end);
        let mut all: Vec<Change> = self.changes.iter().filter(|old| !covered(old)).cloned().collect();
        all.extend(more.iter().cloned());
        all.sort_by_key(|change| (change.range.start, change.range.end));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(range: Range<usize>, with: &str) -> Change {
        Change { range, with: with.to_owned() }
    }

    #[test]
    fn leads_back_to_the_text() {
        let changes = [change(2..5, "X"), change(5..6, ""), change(8..9, "YYYY")];
        let rest = Remainder::new("abcdefghijk", &changes);
        assert_eq!(rest.text(), "ab\u{1}\u{1}gh\u{1}jk");
        assert_eq!(rest.origin(0..2), 0..2);
        assert_eq!(rest.origin(4..6), 6..8);
        assert_eq!(rest.origin(7..9), 9..11);
        assert_eq!(rest.origin(1..3), 1..5);
        assert_eq!(rest.origin(2..4), 2..6);
        assert_eq!(rest.origin(3..7), 5..9);
        assert_eq!(Remainder::new("abc", &[]).origin(1..2), 1..2);
    }

    #[test]
    fn a_change_stands_for_those_that_it_covers() {
        let changes = [change(2..5, "X"), change(8..9, "Y")];
        let rest = Remainder::new("abcdefghijk", &changes);
        let joined = rest.joined(&[change(1..6, "new"), change(9..10, "Z")]);
        assert_eq!(joined, [change(1..6, "new"), change(8..9, "Y"), change(9..10, "Z")]);
    }
}
