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
    /// One `_`.
    pub const LOW: u8 = 64;
    /// Two spaces.
    pub const WIDE: u8 = 128;
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

/// One group of digits and what joins it to the next.
#[derive(Clone, Copy)]
struct Group {
    start: usize,
    end: usize,
    separator: Option<Separator>,
}

impl Group {
    const NONE: Self = Self { start: 0, end: 0, separator: None };

    fn at(text: &[u8], start: usize) -> Self {
        Self::between(text, start, start + digits_at(text, start))
    }

    /// Brackets around more digits than an area code has end there.
    fn between(text: &[u8], start: usize, end: usize) -> Self {
        let is_bracketed = end - start > LONGEST_AREA && text.get(end) == Some(&b')');
        Self { start, end, separator: if is_bracketed { None } else { separator_at(text, end) } }
    }

    /// Whether a candidate may end here.
    fn may_end(&self) -> bool {
        self.separator.is_none_or(|separator| separator.breaks)
    }
}

/// Digits of the longest area code.
const LONGEST_AREA: usize = 6;

/// Groups that are cut at once: twice as many as a candidate can have, so that a group is cut at most twice.
const CUT_AT_ONCE: usize = 2 * MAX_GROUPS;

/// What [`candidates`] went through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// Where to go on looking.
    pub end: usize,
    /// Whether a dot joins any of the groups.
    pub has_dot: bool,
}

/// Shows every candidate in the digits from `start` on to `judge` that has a wanted number of digits (bit n: n digits).
///
/// INVARIANT: an all-digit word stands from `start` to `end`.
pub(super) fn candidates(
    text: &[u8],
    start: usize,
    end: usize,
    wanted: u32,
    mut judge: impl FnMut(&Number<'_>),
) -> Cut {
    let first = Group::between(text, start, end);
    // PERF: most numbers are one group.
    if first.separator.is_none() {
        if is_wanted(wanted, end - start) {
            from(text, &[first], wanted, &mut judge);
        }
        return Cut { end, has_dot: false };
    }
    run(text, first, wanted, &mut judge)
}

/// A candidate may begin where the run begins or after a space; what is joined more tightly is one thing.
fn run(text: &[u8], first: Group, wanted: u32, judge: &mut impl FnMut(&Number<'_>)) -> Cut {
    let mut groups = [Group::NONE; CUT_AT_ONCE];
    let (mut next, mut has_dot) = (first, false);
    loop {
        let (mut count, mut following) = (0, Some(next));
        while let (Some(group), Some(slot)) = (following, groups.get_mut(count)) {
            *slot = group;
            count += 1;
            following = group.separator.map(|separator| {
                has_dot |= separator.kind & (sep::DOT | sep::OTHER) != 0;
                Group::at(text, separator.end)
            });
        }
        let cut = groups.get(..count).unwrap_or_default();
        let (mut starts, mut again) = (true, None);
        for (index, group) in cut.iter().enumerate() {
            let here = cut.get(index..).unwrap_or_default();
            if starts && following.is_some() && here.len() < MAX_GROUPS {
                // Its candidates may reach beyond what is cut.
                again = Some(*group);
                break;
            }
            if starts {
                from(text, here, wanted, judge);
            }
            starts = group.separator.is_some_and(|separator| separator.breaks);
        }
        next = match (again, following) {
            (Some(again), _) => again,
            (None, Some(beyond)) if starts => beyond,
            (None, Some(beyond)) => match loosened(text, beyond) {
                Ok(beyond) => beyond,
                Err(end) => return Cut { end, has_dot: true },
            },
            (None, None) => return Cut { end: cut.last().map_or(next.end, |group| group.end), has_dot },
        };
    }
}

/// The first group behind `group` that is not joined tightly to it, or where the run ends.
fn loosened(text: &[u8], mut group: Group) -> Result<Group, usize> {
    while let Some(separator) = group.separator {
        group = Group::at(text, separator.end);
        if separator.breaks {
            return Ok(group);
        }
    }
    Err(group.end)
}

const fn is_wanted(wanted: u32, digits: usize) -> bool {
    digits <= MAX_DIGITS && wanted >> digits & 1 == 1
}

/// Judges the candidates that begin with the first of `groups`.
fn from(text: &[u8], groups: &[Group], wanted: u32, judge: &mut impl FnMut(&Number<'_>)) {
    let mut run = Digits { bytes: [0; MAX_DIGITS], length: 0, groups: [0; MAX_GROUPS], copied: 0 };
    let (mut length, mut separators, mut lead) = (0, 0, None);
    for (group, end) in groups.iter().zip(1..=MAX_GROUPS) {
        length += group.end - group.start;
        if length > MAX_DIGITS {
            return;
        }
        // PERF: the count says of most candidates that nobody wants them, before anything is looked at or copied.
        if group.may_end() && is_wanted(wanted, length) {
            let whole = *lead.get_or_insert_with(|| Lead::of(text, groups));
            // Brackets around all of it are not of it; around its first group they are.
            let lead = if end == 1 { whole.without_bracket(text) } else { whole };
            if lead.edge == Edge::Joined {
                return;
            }
            let right = if group.separator.is_some() { Edge::Free } else { right_edge(text, group.end) };
            if right != Edge::Joined && (!lead.opened || separators & sep::OTHER != 0) {
                run.copy(text, groups.get(..end).unwrap_or_default());
                judge(&Number {
                    digits: run.bytes.get(..length).unwrap_or_default(),
                    groups: run.groups.get(..end).unwrap_or_default(),
                    separators,
                    plus: lead.plus,
                    start: lead.start,
                    end: group.end,
                    hangs_on_word: lead.edge == Edge::Word || right == Edge::Word,
                });
            }
        }
        separators |= group.separator.map_or(0, |separator| separator.kind);
    }
}

/// The digits of one candidate and of those that begin with it.
struct Digits {
    bytes: [u8; MAX_DIGITS],
    length: usize,
    groups: [u8; MAX_GROUPS],
    copied: usize,
}

impl Digits {
    fn copy(&mut self, text: &[u8], groups: &[Group]) {
        for group in groups.get(self.copied..).unwrap_or_default() {
            let digits = text.get(group.start..group.end).unwrap_or_default();
            let end = self.length + digits.len();
            let (Some(slot), Some(length)) = (self.bytes.get_mut(self.length..end), self.groups.get_mut(self.copied))
            else {
                return;
            };
            // PERF: groups are short; a call to copy memory costs more than these few bytes.
            slot.iter_mut().zip(digits).for_each(|(slot, digit)| *slot = *digit);
            *length = digits.len() as u8;
            self.length = end;
            self.copied += 1;
        }
    }
}

/// What stands before the first digit of a candidate.
#[derive(Clone, Copy)]
struct Lead {
    /// Where the candidate begins if `+` and `(` belong to it.
    start: usize,
    plus: bool,
    opened: bool,
    edge: Edge,
}

impl Lead {
    fn of(text: &[u8], groups: &[Group]) -> Self {
        let Some(first) = groups.first() else {
            return Self { start: 0, plus: false, opened: false, edge: Edge::Joined };
        };
        let before = |n: usize| first.start.checked_sub(n).and_then(|at| text.get(at)).copied();
        let closes = || text.get(first.end) == Some(&b')');
        let (length, plus, opened) = match (before(2), before(1)) {
            (Some(b'+'), Some(b'(')) | (Some(b'('), Some(b'+')) if closes() => (2, true, true),
            (_, Some(b'+')) => (1, true, false),
            (_, Some(b'(')) if closes() => (1, false, true),
            _ => (0, false, false),
        };
        let start = first.start - length;
        Self { start, plus, opened, edge: left_edge(text, start) }
    }

    fn without_bracket(self, text: &[u8]) -> Self {
        if !self.opened {
            return self;
        }
        let start = self.start + usize::from(text.get(self.start) == Some(&b'('));
        Self { start, opened: false, edge: left_edge(text, start), ..self }
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
        [b' ', b' ', ..] => (sep::WIDE, 2),
        [b' ', ..] => (sep::SPACE, 1),
        [b'-', ..] => (sep::DASH, 1),
        [b'.', ..] => (sep::DOT, 1),
        [b'/', ..] => (sep::SLASH, 1),
        [b'+', ..] => (sep::PLUS, 1),
        [b'_', ..] => (sep::LOW, 1),
        [b'(' | b')', ..] => (sep::OTHER, 1),
        _ => return None,
    };
    let end = at + length;
    let after = end + digits_at(text, end);
    let is_whole = after > end && !text.get(after).is_some_and(|&byte| is_word(byte));
    let separator = text.get(at..end)?;
    (is_whole).then(|| Separator { kind, breaks: separator.contains(&b' ') && separator != b") ", end })
}

fn digits_at(text: &[u8], at: usize) -> usize {
    text.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Whether `byte` is an ASCII letter or digit.
#[inline]
pub(super) fn is_word(byte: u8) -> bool {
    // PERF: one load; five instructions otherwise, for most bytes of most values.
    static WORD: [bool; 256] = {
        let mut word = [false; 256];
        let mut byte = 0;
        while byte < 128 {
            word[byte] = (byte as u8).is_ascii_alphanumeric();
            byte += 1;
        }
        word
    };
    WORD[usize::from(byte)]
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
    // PERF: measurements, which most fractions are, end here without an allocation.
    if exponent >= 0 && i32::try_from(fraction.trim_end_matches('0').len()).ok()? > exponent {
        return None;
    }
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
        let end = at + digits_at(text.as_bytes(), at);
        candidates(text.as_bytes(), at, end, u32::MAX, |number| {
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
        check("(4701604) 70", &["4701604"]);
        check("(604) 70.", &["(604) 70"]);
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
        assert_eq!(candidates(text.as_bytes(), 0, 1, u32::MAX, |_| panic!("no candidate")).end, text.len());
    }
}
