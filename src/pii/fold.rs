//! Makes other writings of the same characters look alike: digits of other scripts, full-width forms, dashes and spaces
//! beyond ASCII, invisible characters between them, percent-encoding, character references of HTML. It keeps where everything came from, so that a
//! match is reported in the bytes as they were. It refuses to touch letters.

/// Bit n: the lead byte 0xC0 + n can begin a character that folds.
const LEADS: u64 = {
    let leads = [0xC2, 0xD9, 0xDB, 0xDF, 0xE0, 0xE1, 0xE2, 0xE3, 0xEF, 0xF0];
    let mut mask = 0_u64;
    let mut n = 0;
    while n < leads.len() {
        mask |= 1 << (leads[n] - 0xC0);
        n += 1;
    }
    mask
};

/// The first digit of each run of ten that Unicode calls decimal digits, in the scripts that people type numbers in.
const ZEROS: [u32; 21] = [
    0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xE50, 0xED0, 0xF20, 0x1040,
    0x17E0, 0x1810, 0x1D7CE, 0x1D7D8, 0x1D7E2,
];

enum Folded {
    Kept,
    Removed,
    Ascii(u8),
}

fn fold(letter: char) -> Folded {
    let code = u32::from(letter);
    match letter {
        '\u{AD}'
        | '\u{180E}'
        | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{2069}'
        | '\u{FEFF}' => Folded::Removed,
        '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => Folded::Ascii(b' '),
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FE58}' | '\u{FE63}' => Folded::Ascii(b'-'),
        '\u{2024}' | '\u{FE52}' => Folded::Ascii(b'.'),
        '\u{FE6B}' => Folded::Ascii(b'@'),
        '\u{FF01}'..='\u{FF5E}' => Folded::Ascii((code - 0xFEE0) as u8),
        '\u{1D7EC}'..='\u{1D7FF}' => Folded::Ascii(b'0' + ((code - 0x1D7EC) % 10) as u8),
        _ => ZEROS
            .iter()
            .find(|&&zero| code.wrapping_sub(zero) < 10)
            .map_or(Folded::Kept, |zero| Folded::Ascii(b'0' + (code - zero) as u8)),
    }
}

/// Whether anything in `text` folds that could matter. `has_trigger`: it holds an ASCII digit or `@`.
pub(super) fn is_needed(text: &str, has_trigger: bool) -> bool {
    let mut folds = false;
    for (at, byte) in text.bytes().enumerate() {
        // PERF: most non-ASCII letters (Latin with accents, Greek, Cyrillic, Han) are told apart by their lead byte.
        if byte < 0xC0 || LEADS >> (byte - 0xC0) & 1 == 0 {
            continue;
        }
        match text.get(at..).and_then(|rest| rest.chars().next()).map(fold) {
            Some(Folded::Ascii(b'0'..=b'9' | b'@')) => return true,
            Some(Folded::Ascii(_) | Folded::Removed) => folds = true,
            Some(Folded::Kept) | None => {}
        }
        if folds && has_trigger {
            return true;
        }
    }
    false
}

/// A folded copy of a text that remembers where it came from.
pub(super) struct FoldedText {
    pub text: String,
    /// Places where the distance between the copy and the text changes: (offset in the copy, offset in the text).
    turns: Vec<(usize, usize)>,
}

impl FoldedText {
    pub fn of(text: &str) -> Self {
        let mut folded = Self { text: String::with_capacity(text.len()), turns: Vec::new() };
        let mut rest = text.char_indices();
        while let Some((at, letter)) = rest.next() {
            if letter.is_ascii() && !matches!(letter, '%' | '&') {
                folded.text.push(letter);
                continue;
            }
            let encoded = match letter {
                '%' => text.as_bytes().get(at..).and_then(percent_encoded),
                '&' => text.get(at..).and_then(character_reference),
                _ => None,
            };
            let (letter, length) = encoded.unwrap_or((letter, letter.len_utf8()));
            if encoded.is_some() {
                rest.nth(length - 2);
            }
            match fold(letter) {
                Folded::Kept => {
                    folded.text.push(letter);
                    if encoded.is_some() {
                        folded.turns.push((folded.text.len(), at + length));
                    }
                }
                Folded::Ascii(ascii) => {
                    folded.text.push(char::from(ascii));
                    folded.turns.push((folded.text.len(), at + length));
                }
                Folded::Removed => {
                    // Two turns in one place: a match that ends here ends before what is removed, one that begins here
                    // begins behind it.
                    folded.turns.push((folded.text.len(), at));
                    folded.turns.push((folded.text.len(), at + length));
                }
            }
        }
        folded
    }

    /// Where `start`, the first byte of a match in the copy, is in the text.
    pub fn start(&self, start: usize) -> usize {
        let turn = self.turns.partition_point(|&(folded, _)| folded <= start);
        self.after_turn(turn, start)
    }

    /// Where `end`, one past the last byte of a match in the copy, is in the text.
    pub fn end(&self, end: usize) -> usize {
        let turn = self.turns.partition_point(|&(folded, _)| folded < end);
        match self.turns.get(turn) {
            Some(&(folded, text)) if folded == end => text,
            Some(_) | None => self.after_turn(turn, end),
        }
    }

    fn after_turn(&self, turn: usize, at: usize) -> usize {
        match turn.checked_sub(1).and_then(|turn| self.turns.get(turn)) {
            Some(&(folded, text)) => text + (at - folded),
            None => at,
        }
    }
}

/// A percent-encoded character that can stand inside a value, also encoded twice, and its length. Others stay: `100%41`
/// is not ours to read.
fn percent_encoded(bytes: &[u8]) -> Option<(char, usize)> {
    let (first, once) = percent_byte(bytes)?;
    match first {
        b' ' | b'\'' | b'(' | b')' | b'+' | b'-' | b'.' | b'/' | b':' | b'=' | b'@' => Some((char::from(first), once)),
        0xC2..=0xF4 => {
            // A character beyond ASCII is encoded byte by byte.
            let (mut utf8, mut length) = ([first, 0, 0, 0], once);
            let count = first.leading_ones() as usize;
            for slot in utf8.get_mut(1..count)? {
                let (byte, more) = percent_byte(bytes.get(length..)?)?;
                (*slot, length) = (byte, length + more);
            }
            let letter = std::str::from_utf8(utf8.get(..count)?).ok()?.chars().next()?;
            Some((letter, length))
        }
        _ => None,
    }
}

/// HTML: what stands for a character that can stand inside a value. Whoever hides an address from harvesters writes each letter
/// so.
const NAMED: [(&str, char); 9] = [
    ("&nbsp;", ' '),
    ("&commat;", '@'),
    ("&plus;", '+'),
    ("&hyphen;", '-'),
    ("&dash;", '-'),
    ("&ndash;", '-'),
    ("&period;", '.'),
    ("&shy;", '\u{AD}'),
    ("&lowbar;", '_'),
];

/// The character that a reference at the start of `text` stands for, and its length. Others stay: `&lt;` separates.
fn character_reference(text: &str) -> Option<(char, usize)> {
    const LONGEST: usize = 10;
    let Some(number) = text.strip_prefix("&#") else {
        return NAMED.iter().find(|(name, _)| text.starts_with(name)).map(|(name, letter)| (*letter, name.len()));
    };
    let end = number.bytes().take(LONGEST).position(|byte| byte == b';')?;
    let digits = number.get(..end)?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    let letter =
        char::from_u32(code).filter(|&letter| letter.is_alphanumeric() || !letter.is_ascii() || is_inside(letter))?;
    Some((letter, "&#;".len() + end))
}

/// Whether `text` holds a reference that folds.
pub(super) fn has_reference(text: &str) -> bool {
    memchr::memchr_iter(b'&', text.as_bytes())
        .any(|at| text.get(at..).is_some_and(|rest| character_reference(rest).is_some()))
}

/// Punctuation that can stand inside a value.
const fn is_inside(letter: char) -> bool {
    matches!(letter, ' ' | '\'' | '(' | ')' | '+' | '-' | '.' | '/' | ':' | '=' | '@' | '_')
}

/// The byte behind `%` or `%25`, and how long that is.
fn percent_byte(bytes: &[u8]) -> Option<(u8, usize)> {
    let (high, low, length) = match bytes {
        [b'%', b'2', b'5', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => (*high, *low, 5),
        [b'%', high, low, ..] => (*high, *low, 3),
        _ => return None,
    };
    let nibble = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    Some((nibble(high)? << 4 | nibble(low)?, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, folded: &str) {
        assert_eq!(FoldedText::of(text).text, folded);
    }

    #[test]
    fn folds_what_looks_alike() {
        check("１２３－４５", "123-45");
        check("٠١٢٣ ۴۵", "0123 45");
        check("4111\u{a0}1111\u{2011}1111", "4111 1111-1111");
        check("41\u{200b}11\u{ad}", "4111");
        check("müller＠x.de", "müller@x.de");
        check("𝟗𝟬𝟿", "909");
        check("john%40x.com 12%2D34 %2540 100%", "john@x.com 12-34 @ 100%");
        check("%C2%A0%e4%be%8b%41%C2%41%FF", " 例%41%C2%41%FF");
    }

    #[test]
    fn folds_references_of_html() {
        check("a&#64;b&#x2D;c&nbsp;&#49;2 &commat;&#8203;", "a@b-c 12 @");
        check(
            "&lt;a&gt; &amp; &#60; &#; &#x; &#99999999; a=1&b=2 &",
            "&lt;a&gt; &amp; &#60; &#; &#x; &#99999999; a=1&b=2 &",
        );
        assert!(has_reference("1 &#49;") && !has_reference("a=1&b=2&lt;") && !has_reference("1"));
    }

    #[test]
    fn needs_no_copy_for_plain_letters() {
        assert!(!is_needed("Grüße aus Köln, 12345", true));
        assert!(!is_needed("dash – without numbers", false));
        assert!(is_needed("dash – with 1", true));
        assert!(is_needed("٣", false));
    }

    #[test]
    fn maps_back() {
        let text = "a\u{200b}４1\u{a0}é%40b&#65;c";
        let folded = FoldedText::of(text);
        assert_eq!(folded.text, "a41 é@bAc");
        for (part, original) in [
            ("a", "a"),
            ("4", "４"),
            ("41", "４1"),
            ("1 ", "1\u{a0}"),
            ("é", "é"),
            ("@b", "%40b"),
            ("A", "&#65;"),
            ("c", "c"),
        ] {
            let start = folded.text.find(part).unwrap();
            let back = folded.start(start)..folded.end(start + part.len());
            assert_eq!(text.get(back), Some(original), "{part}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_span_maps_to_a_span(text in "([a-c1٣４\u{a0}\u{200b}é%@02;]|&#64;|&#x200b;|&nbsp;|&){0,30}") {
            let folded = FoldedText::of(&text);
            let offsets: Vec<usize> = folded.text.char_indices().map(|(at, _)| at).chain([folded.text.len()]).collect();
            for pair in offsets.windows(2) {
                let (start, end) = (folded.start(pair[0]), folded.end(pair[1]));
                proptest::prop_assert!(start < end && text.get(start..end).is_some());
            }
        }
    }
}
