//! Cuts digits with separators into candidates: each is read once, as plain digits with their grouping, whatever the
//! separators were. It knows no entity; it only refuses what is visibly a part of something larger: a UUID, a float, a
//! time, a longer number.

/// Separators between groups, as bits of [`Number::separators`].
pub mod sep {
    /// One space.
    pub const SPACE: u8 = 1;
    /// One `-`.
    pub const DASH: u8 = 2;
    /// One `.`.
    pub const DOT: u8 = 4;
    /// One `/`.
    pub const SLASH: u8 = 8;
    /// One `+`: a space in a form value.
    pub const PLUS: u8 = 16;
    /// Parentheses, or a separator of several characters.
    pub const OTHER: u8 = 32;
}

/// Most groups of one candidate: `2 02 04 75 389 138 01` has seven.
const MAX_GROUPS: usize = 8;
/// Most digits of one candidate.
pub(super) const MAX_DIGITS: usize = 24;

/// One candidate.
#[derive(Debug, Clone, Copy)]
pub struct Number<'a> {
    /// Its digits, as ASCII, without separators.
    pub digits: &'a [u8],
    /// How many digits each group has.
    pub groups: &'a [u8],
    /// Which separators stand between the groups.
    pub separators: u8,
    /// Whether a `+` leads.
    pub plus: bool,
    /// First byte, with a leading `+` or `(`.
    pub start: usize,
    /// One past the last digit.
    pub end: usize,
    /// Whether it hangs on a word by `-`, `_`, `#` or the like (`INV-4111...`): believed only if that word speaks for it.
    pub hangs_on_word: bool,
}

impl Number<'_> {
    /// Whether all groups are separated alike (or there is only one).
    pub fn is_uniform(&self) -> bool {
        self.separators.count_ones() <= 1 && self.separators & sep::OTHER == 0
    }

    /// The value of the digits from `from` up to `to`; 0 if there are not so many.
    pub fn value(&self, from: usize, to: usize) -> u32 {
        self.digits.get(from..to).unwrap_or_default().iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'))
    }
}

/// What a candidate touches on one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    Free,
    Word,
    Joined,
}

/// A run of groups from one start, as far as one candidate can go.
struct Run {
    digits: [u8; MAX_DIGITS],
    digits_len: usize,
    groups: [u8; MAX_GROUPS],
    groups_len: usize,
}

/// Shows every candidate in the digits from `at` on to `judge`. Returns where to go on looking.
///
/// INVARIANT: `at` is the first digit of an all-digit word.
pub(super) fn candidates(text: &[u8], at: usize, mut judge: impl FnMut(&Number<'_>)) -> usize {
    let mut start = at;
    // A candidate may begin where the run begins or after a space; what is joined more tightly is one thing.
    loop {
        let (next, resume) = from(text, start, &mut judge);
        match next {
            Some(next) => start = next,
            None => return resume,
        }
    }
}

/// Judges the candidates that begin at `start`. Returns the next place in this run where one can begin, and the end of
/// what was read.
fn from(text: &[u8], start: usize, judge: &mut impl FnMut(&Number<'_>)) -> (Option<usize>, usize) {
    let (lead, plus, opened) = lead(text, start);
    let left = left_edge(text, lead);
    let mut run = Run { digits: [0; MAX_DIGITS], digits_len: 0, groups: [0; MAX_GROUPS], groups_len: 0 };
    let (mut separators, mut at, mut next_start) = (0, start, None);
    loop {
        let end = at + digits_at(text, at);
        let fits = run.push(text.get(at..end).unwrap_or_default());
        let separator = separator_at(text, end);
        if !fits {
            // Too long for anything: skip to where something else can begin.
            return (next_start, skip_tight(text, end));
        }
        let may_end = separator.is_none_or(|separator| separator.breaks);
        if may_end && left != Edge::Joined {
            let right = if separator.is_some() { Edge::Free } else { right_edge(text, end) };
            if right != Edge::Joined && (!opened || separators & sep::OTHER != 0 || separator.is_none()) {
                judge(&Number {
                    digits: run.digits.get(..run.digits_len).unwrap_or_default(),
                    groups: run.groups.get(..run.groups_len).unwrap_or_default(),
                    separators,
                    plus,
                    start: lead,
                    end,
                    hangs_on_word: left == Edge::Word || right == Edge::Word,
                });
            }
        }
        match separator {
            Some(separator) => {
                if separator.breaks && next_start.is_none() {
                    next_start = Some(separator.end);
                }
                separators |= separator.kind;
                at = separator.end;
            }
            None => return (next_start, end),
        }
    }
}

impl Run {
    fn push(&mut self, group: &[u8]) -> bool {
        let end = self.digits_len + group.len();
        let (Some(digits), Some(length)) =
            (self.digits.get_mut(self.digits_len..end), self.groups.get_mut(self.groups_len))
        else {
            return false;
        };
        digits.copy_from_slice(group);
        *length = group.len() as u8;
        self.digits_len = end;
        self.groups_len += 1;
        true
    }
}

/// Where the candidate begins if `+` and `(` before the digits belong to it; whether there is a `+`, a `(`.
fn lead(text: &[u8], start: usize) -> (usize, bool, bool) {
    let before = |n: usize| start.checked_sub(n).and_then(|at| text.get(at)).copied();
    let closes = || {
        let after = start + digits_at(text, start);
        text.get(after) == Some(&b')')
    };
    match (before(2), before(1)) {
        (Some(b'+'), Some(b'(')) | (Some(b'('), Some(b'+')) if closes() => (start - 2, true, true),
        (_, Some(b'+')) => (start - 1, true, false),
        (_, Some(b'(')) if closes() => (start - 1, false, true),
        _ => (start, false, false),
    }
}

#[derive(Clone, Copy)]
struct Separator {
    kind: u8,
    /// Whether a candidate may end before it and another begin after it.
    breaks: bool,
    end: usize,
}

/// The separator at `at`, if an all-digit word follows it.
fn separator_at(text: &[u8], at: usize) -> Option<Separator> {
    let (kind, length) = match text.get(at..)? {
        [b' ', b'-', b' ', ..] | [b')', b'-' | b'.' | b'/', b' ', ..] => (sep::OTHER, 3),
        [b')', b' ' | b'-' | b'.' | b'/' | b'(', ..] | [b' ', b'(', ..] => (sep::OTHER, 2),
        [b' ', ..] => (sep::SPACE, 1),
        [b'-', ..] => (sep::DASH, 1),
        [b'.', ..] => (sep::DOT, 1),
        [b'/', ..] => (sep::SLASH, 1),
        [b'+', ..] => (sep::PLUS, 1),
        [b'(' | b')', ..] => (sep::OTHER, 1),
        _ => return None,
    };
    let end = at + length;
    let after = end + digits_at(text, end);
    let is_whole = after > end && !text.get(after).is_some_and(|&byte| is_word(byte));
    let separator = text.get(at..end)?;
    (is_whole).then(|| Separator { kind, breaks: separator.contains(&b' ') && separator != b") ", end })
}

fn skip_tight(text: &[u8], mut at: usize) -> usize {
    while let Some(separator) = separator_at(text, at) {
        if separator.breaks {
            break;
        }
        at = separator.end + digits_at(text, separator.end);
    }
    at
}

fn digits_at(text: &[u8], at: usize) -> usize {
    text.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// How far a word is looked at to tell letters from a mixture.
const WORD_LOOK: usize = 24;

fn left_edge(text: &[u8], start: usize) -> Edge {
    let (before, last) = match text.get(..start).unwrap_or_default() {
        [] => return Edge::Free,
        [before @ .., last] => (before, *last),
    };
    let ends_in_digit = before.last().is_some_and(u8::is_ascii_digit);
    let word = before.iter().rev().take(WORD_LOOK).take_while(|&&byte| is_word(byte));
    match last {
        b'$' | b'%' => Edge::Joined,
        b'#' => Edge::Word,
        _ if is_word(last) => Edge::Joined,
        b'.' | b':' | b',' | b'/' | b'+' if ends_in_digit && last != b',' => Edge::Joined,
        b'.' | b'+' if word.clone().next().is_some() => Edge::Word,
        b'-' | b'_' => {
            let (mut letters, mut digits) = (false, false);
            word.for_each(|byte| if byte.is_ascii_digit() { digits = true } else { letters = true });
            match (letters, digits) {
                (_, true) => Edge::Joined,
                (true, false) => Edge::Word,
                (false, false) => Edge::Free,
            }
        }
        _ => Edge::Free,
    }
}

fn right_edge(text: &[u8], end: usize) -> Edge {
    let (first, after) = match text.get(end..).unwrap_or_default() {
        [] => return Edge::Free,
        [first, after @ ..] => (*first, after),
    };
    let begins_with_digit = after.first().is_some_and(u8::is_ascii_digit);
    let mut word = after.iter().take(WORD_LOOK).take_while(|&&byte| is_word(byte)).peekable();
    match first {
        b'%' | b'@' => Edge::Joined,
        _ if is_word(first) => Edge::Joined,
        b'.' | b':' | b'/' if begins_with_digit => Edge::Joined,
        b'-' | b'_' | b'.' if word.peek().is_some() => {
            if word.any(u8::is_ascii_digit) {
                Edge::Joined
            } else {
                Edge::Word
            }
        }
        _ => Edge::Free,
    }
}

/// The digits of a JSON number that is whole, without sign, point and exponent. `None`: it is not whole, or longer than
/// any number that is looked for.
pub(super) fn written_plainly(lexeme: &str) -> Option<String> {
    let unsigned = lexeme.strip_prefix('-').unwrap_or(lexeme);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.len() + fraction.len() > 2 * MAX_DIGITS {
        return None;
    }
    let mut digits = [whole, fraction].concat();
    // How many digits stand before the point.
    let point = usize::try_from(i32::try_from(whole.len()).ok()? + exponent).ok()?;
    while digits.len() > point && digits.ends_with('0') {
        digits.pop();
    }
    if digits.len() > point || point > MAX_DIGITS {
        return None;
    }
    digits.extend(std::iter::repeat_n('0', point - digits.len()));
    Some(digits)
}

#[cfg(test)]
#[expect(clippy::string_slice, reason = "the offsets are on boundaries, or the test fails")]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_whole_however_they_are_written() {
        for text in [
            "4111111111111111.0",
            "-4111111111111111",
            "4.111111111111111e15",
            "4111111111111111e0",
            "41111111111111110e-1",
        ] {
            assert_eq!(written_plainly(text).as_deref(), Some("4111111111111111"), "{text}");
        }
        for text in ["1.5", "1e400", "1e-3", "0.1", "1e999999999999"] {
            assert_eq!(written_plainly(text), None, "{text}");
        }
    }

    fn check(text: &str, expected: &[&str]) {
        let mut seen = Vec::new();
        let at = text.find(|c: char| c.is_ascii_digit()).unwrap();
        candidates(text.as_bytes(), at, |number| {
            let mark = if number.hangs_on_word { "~" } else { "" };
            seen.push(format!("{mark}{}", &text[number.start..number.end]));
        });
        assert_eq!(seen, expected, "{text}");
    }

    #[test]
    fn cuts_at_spaces_only() {
        check("123-45-6789", &["123-45-6789"]);
        check("call 12 34 now", &["12", "12 34", "34"]);
        check("(604) 701-1500.", &["(604) 701-1500"]);
        check("+44 (0)20 7946", &["+44", "+44 (0)20", "+44 (0)20 7946", "(0)20", "(0)20 7946", "7946"]);
    }

    #[test]
    fn refuses_parts_of_larger_things() {
        check("12345678-1234-1234-1234-1234567890ab", &[]);
        check("1.23e5", &[]);
        check("12:34", &[]);
        check("3.14-x9", &[]);
        check("$1234", &[]);
    }

    #[test]
    fn sees_words_it_hangs_on() {
        check("INV-1234", &["~1234"]);
        check("#1234", &["~1234"]);
        check("- 1234", &["1234"]);
        check("a=-1234", &["1234"]);
    }

    #[test]
    fn too_many_groups_are_skipped_in_one_go() {
        let text = "1-".repeat(1000) + "1";
        assert_eq!(candidates(text.as_bytes(), 0, |_| panic!("no candidate")), text.len());
    }
}
