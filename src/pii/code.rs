//! Cuts codes of letters and digits out of a text: so many characters over single separators, as upper case, with their
//! grouping. It knows no entity; it only refuses what is visibly a part of something longer.

use super::evidence::{Evidence, Sighting};

/// Most groups of one code.
const MAX_GROUPS: usize = 8;

/// `N` letters and digits.
#[derive(Debug, Clone, Copy)]
pub struct Code<const N: usize> {
    /// Upper case, without separators.
    pub chars: [u8; N],
    groups: [u8; MAX_GROUPS],
    groups_len: usize,
    start: usize,
    end: usize,
}

impl<const N: usize> Code<N> {
    /// The code that begins at `start` and may have one of `separators` between two characters. `None`: there are not so
    /// many, too many groups, or it is joined to more.
    pub fn at(text: &str, start: usize, separators: &[u8]) -> Option<Self> {
        let bytes = text.as_bytes();
        if !begins_freely(bytes, start) {
            return None;
        }
        let mut code = Self { chars: [0; N], groups: [0; MAX_GROUPS], groups_len: 1, start, end: start };
        for index in 0..N {
            if index > 0 && bytes.get(code.end).is_some_and(|byte| separators.contains(byte)) {
                code.end += 1;
                code.groups_len += 1;
            }
            let byte = bytes.get(code.end).filter(|byte| byte.is_ascii_alphanumeric())?;
            *code.chars.get_mut(index)? = byte.to_ascii_uppercase();
            *code.groups.get_mut(code.groups_len - 1)? += 1;
            code.end += 1;
        }
        ends_freely(bytes, code.end).then_some(code)
    }

    /// How many characters each group has.
    pub fn groups(&self) -> &[u8] {
        self.groups.get(..self.groups_len).unwrap_or_default()
    }

    /// Whether each character is of its class: `A` a letter, `9` a digit, `*` either, others themselves.
    pub fn is_like(&self, classes: &[u8; N]) -> bool {
        self.chars.iter().zip(classes).all(|(char, class)| match class {
            b'A' => char.is_ascii_uppercase(),
            b'9' => char.is_ascii_digit(),
            b'*' => true,
            own => char == own,
        })
    }

    /// The digits from `from` up to `to`; nothing if one is no digit.
    pub fn digits(&self, from: usize, to: usize) -> Option<&[u8]> {
        self.chars.get(from..to).filter(|part| part.iter().all(u8::is_ascii_digit))
    }

    /// Their value.
    pub fn value(&self, from: usize, to: usize) -> Option<u32> {
        Some(self.digits(from, to)?.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')))
    }

    /// What was seen.
    pub const fn seen(&self, evidence: Evidence) -> Sighting {
        Sighting { start: self.start, end: self.end, evidence }
    }
}

/// Where the `count` letters (with `separator` behind them) before `start` begin: `DE 123` read at the digits.
pub fn letters_before(text: &str, start: usize, count: usize, separator: &[u8]) -> Option<usize> {
    let first = start.checked_sub(count + 1)?;
    match text.as_bytes().get(first..start)? {
        [letters @ .., last] if separator.contains(last) && letters.iter().all(u8::is_ascii_alphabetic) => Some(first),
        _ => None,
    }
}

/// Whether nothing before `start` makes one word of it: no letter or digit, none with a joint between.
pub fn begins_freely(bytes: &[u8], start: usize) -> bool {
    match bytes.get(..start).unwrap_or_default() {
        [] => true,
        [.., before, b'-' | b'.' | b'_' | b'@' | b'+' | b'/' | b'\\'] if before.is_ascii_digit() => false,
        [.., before, b'-' | b'.' | b'_' | b'@'] => !before.is_ascii_alphanumeric(),
        [.., last] => !last.is_ascii_alphanumeric() && *last != b'_',
    }
}

/// As [`begins_freely`], for what follows `end`. A dot ends a sentence if no lower-case letter or digit follows.
pub fn ends_freely(bytes: &[u8], end: usize) -> bool {
    match bytes.get(end..).unwrap_or_default() {
        [b'_' | b'@', ..] => false,
        [b'-', next, ..] => !next.is_ascii_alphanumeric(),
        [b'.', next, ..] => !next.is_ascii_lowercase() && !next.is_ascii_digit(),
        [b':' | b'/', next, ..] => !next.is_ascii_digit(),
        [first, ..] => !first.is_ascii_alphanumeric(),
        [] => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, start: usize, expected: Option<(&str, &[u8])>) {
        let code = Code::<5>::at(text, start, b" -");
        let seen = code.as_ref().map(|code| (std::str::from_utf8(&code.chars).unwrap(), code.groups()));
        assert_eq!(seen, expected, "{text}");
    }

    #[test]
    fn reads_over_separators() {
        check("a1 b2-c", 0, Some(("A1B2C", &[2, 2, 1])));
        check("x a1b2c.", 2, Some(("A1B2C", &[5])));
        check("a1b2c. Next", 0, Some(("A1B2C", &[5])));
        check("a1  b2c", 0, None);
        check("a1b2", 0, None);
    }

    #[test]
    fn refuses_parts_of_longer_things() {
        for text in ["a1b2cd", "a1b2c_d", "a1b2c-d", "a1b2c.d", "a1b2c@d", "a1b2c:8"] {
            check(text, 0, None);
        }
        for (text, start) in [("xa1b2c", 1), ("x-a1b2c", 2), ("1/a1b2c", 2), ("x.a1b2c", 2), ("_a1b2c", 1)] {
            check(text, start, None);
        }
        for (text, start) in [("x/a1b2c", 2), ("x:a1b2c", 2), ("=a1b2c", 1), ("- a1b2c", 2)] {
            check(text, start, Some(("A1B2C", &[5])));
        }
    }

    #[test]
    fn classes_and_values() {
        let code = Code::<5>::at("ab129", 0, b"").unwrap();
        assert!(code.is_like(b"AA999") && code.is_like(b"AB1**") && !code.is_like(b"A9999"));
        assert_eq!(code.value(2, 5), Some(129));
        assert_eq!(code.value(1, 3), None);
        assert_eq!(letters_before("x DE 123", 5, 2, b" "), Some(2));
        assert_eq!(letters_before("E 123", 2, 2, b" "), None);
    }
}
