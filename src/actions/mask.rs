//! `mask`: all but a few characters are hidden, the length stays. Numbers stay valid JSON numbers.

use std::ops::Range;

/// `mask {keep_first, keep_last, char, as}`. Counts are characters (Unicode scalar values).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    /// Characters left at the start.
    pub keep_first: usize,
    /// Characters left at the end. A value not longer than what is kept is masked whole.
    pub keep_last: usize,
    /// What stands for each hidden character.
    pub with: char,
    /// Whether a number becomes a string. Otherwise digits become 0 with a leading 1.
    pub as_string: bool,
}

impl Default for Mask {
    fn default() -> Self {
        Self { keep_first: 0, keep_last: 0, with: '*', as_string: false }
    }
}

impl Mask {
    /// The bytes of `text` that are hidden, and how many characters they are.
    pub(crate) fn hidden(&self, text: &str) -> (Range<usize>, usize) {
        let is_ascii = text.is_ascii();
        let total = if is_ascii { text.len() } else { text.chars().count() };
        let kept = self.keep_first.saturating_add(self.keep_last);
        if total <= kept {
            return (0..text.len(), total);
        }
        let byte_at = |n: usize| if is_ascii { n } else { text.char_indices().nth(n).map_or(text.len(), |(at, _)| at) };
        (byte_at(self.keep_first)..byte_at(total - self.keep_last), total - kept)
    }

    /// Appends what stands for `count` hidden characters.
    pub(crate) fn push_hidden(&self, count: usize, out: &mut String) {
        out.extend(std::iter::repeat_n(self.with, count));
    }

    /// Appends `text`, masked.
    pub(crate) fn push_text(&self, text: &str, out: &mut String) {
        let (hidden, count) = self.hidden(text);
        out.push_str(text.get(..hidden.start).unwrap_or(""));
        self.push_hidden(count, out);
        out.push_str(text.get(hidden.end..).unwrap_or(""));
    }

    /// Masks the digits of a JSON number that lie in `range`, in place: a hidden digit becomes 0, the number's first one 1.
    /// What is kept counts digits, those of a fraction and an exponent included; sign, point and `e` stay.
    ///
    /// INVARIANT: a valid JSON number goes in, a valid JSON number of the same length comes out: an integer part never
    /// starts with a 0 that it did not start with.
    pub(crate) fn number(&self, lexeme: &mut [u8], range: Range<usize>) {
        let first_digit = lexeme.iter().position(u8::is_ascii_digit);
        let Some(part) = lexeme.get_mut(range.clone()) else { return };
        let total = part.iter().filter(|byte| byte.is_ascii_digit()).count();
        let kept = self.keep_first.saturating_add(self.keep_last);
        let hidden = if total <= kept { 0..total } else { self.keep_first..total - self.keep_last };
        let digits = part.iter_mut().zip(range.start..).filter(|(byte, _)| byte.is_ascii_digit());
        for (nth, (byte, at)) in digits.enumerate() {
            if hidden.contains(&nth) {
                *byte = if Some(at) == first_digit { b'1' } else { b'0' };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Mask;
    use proptest::prelude::*;

    fn mask(keep_first: usize, keep_last: usize) -> Mask {
        Mask { keep_first, keep_last, ..Mask::default() }
    }

    #[track_caller]
    fn text(mask: &Mask, given: &str, expected: &str) {
        let mut out = String::new();
        mask.push_text(given, &mut out);
        assert_eq!(out, expected);
    }

    #[track_caller]
    fn number(mask: &Mask, given: &str, expected: &str) {
        let mut bytes = given.as_bytes().to_vec();
        mask.number(&mut bytes, 0..given.len());
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn text_keeps_what_it_is_told() {
        text(&mask(0, 4), "4111111111111111", "************1111");
        text(&mask(2, 1), "abcdef", "ab***f");
        text(&mask(0, 0), "abc", "***");
        text(&mask(0, 0), "", "");
    }

    #[test]
    fn text_not_longer_than_what_is_kept_is_masked_whole() {
        text(&mask(0, 4), "1111", "****");
        text(&mask(0, 4), "11111", "*1111");
        text(&mask(3, 3), "abc", "***");
        text(&mask(usize::MAX, usize::MAX), "abc", "***");
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        text(&mask(1, 1), "żółć", "ż**ć");
        text(&Mask { with: '•', ..mask(0, 1) }, "日本語", "••語");
    }

    #[test]
    fn numbers_stay_numbers() {
        number(&mask(0, 4), "4111111111111111", "1000000000001111");
        number(&mask(0, 0), "7", "1");
        number(&mask(0, 0), "0", "1");
        number(&mask(0, 0), "-123.45", "-100.00");
        number(&mask(0, 0), "0.5e+300", "1.0e+000");
        number(&mask(0, 2), "12.34", "10.34");
        number(&mask(1, 0), "902", "900");
        number(&mask(0, 4), "1234", "1000");
    }

    #[test]
    fn only_the_range_is_masked() {
        let mut bytes = *b"123456";
        mask(0, 1).number(&mut bytes, 2..5);
        assert_eq!(&bytes, b"120056");
        mask(0, 0).number(&mut bytes, 4..99);
        assert_eq!(&bytes, b"120056");
    }

    proptest! {
        #[test]
        fn a_masked_number_is_a_number_of_the_same_length(
            given in "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,9})?([eE][+-]?[0-9]{1,3})?", first in 0_usize..6, last in 0_usize..6,
        ) {
            let mut bytes = given.as_bytes().to_vec();
            mask(first, last).number(&mut bytes, 0..given.len());
            prop_assert_eq!(bytes.len(), given.len());
            prop_assert!(serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_ok(), "{}", given);
        }

        #[test]
        fn a_mask_shows_no_more_than_it_keeps(given in "[a-z]{0,12}", first in 0_usize..6, last in 0_usize..6) {
            let mut out = String::new();
            mask(first, last).push_text(&given, &mut out);
            prop_assert_eq!(out.len(), given.len());
            let shown = out.chars().filter(|c| *c != '*').count();
            prop_assert_eq!(shown, if given.len() <= first + last { 0 } else { first + last });
        }
    }
}
