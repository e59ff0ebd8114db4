//! What a word must look like from outside before anybody reads it: letters and digits by place, and what touches it. It
//! promises a few instructions for a word that cannot be meant; it knows no entity.

/// A description of words for [`super::evidence::Reader::Shaped`].
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Place by place: `A` a letter, `9` a digit, `*` either.
    word: &'static str,
    /// What may stand before it; see [`bit_of`]. Empty: anything.
    before: &'static str,
    /// What may stand behind it. Empty: anything.
    after: &'static str,
}

impl Shape {
    /// Words like `word`, whatever touches them.
    pub const fn of(word: &'static str) -> Self {
        Self { word, before: "", after: "" }
    }

    /// Only behind one of these: `^` is the beginning of the text, `~` anything beyond ASCII.
    #[must_use]
    pub const fn behind(self, before: &'static str) -> Self {
        Self { before, ..self }
    }

    /// Only before one of these: `$` is the end of the text, `~` anything beyond ASCII.
    #[must_use]
    pub const fn then(self, after: &'static str) -> Self {
        Self { after, ..self }
    }

    /// How many letters and digits the word has.
    pub const fn len(&self) -> usize {
        self.word.len()
    }

    /// Made ready for comparing.
    pub fn gate(&self) -> Gate {
        let places = |class: u8| {
            self.word.bytes().zip(0..).filter(|(own, _)| *own == class).fold(0, |bits, (_, place)| bits | 1 << place)
        };
        let around = |bytes: &str| match bytes {
            "" => ANYTHING,
            bytes => bytes.bytes().fold(0, |bits, byte| bits | mark_bit(byte)),
        };
        let (letters, digits): (u32, u32) = (places(b'A'), places(b'9'));
        Gate { fixed: letters | digits, letters, around: around(self.before) << 16 | around(self.after) }
    }
}

/// What a word is seen to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    /// Bit n: there is a letter at n.
    letters: u32,
    /// What is before it (upper half) and behind it: one bit each.
    around: u32,
}

impl Outline {
    /// The outline of the word from `start` to `end`.
    #[inline]
    pub fn of(bytes: &[u8], start: usize, end: usize) -> Self {
        let word = bytes.get(start..end).unwrap_or_default();
        let letters = word.iter().take(32).rev().fold(0_u32, |bits, byte| bits << 1 | u32::from(*byte >= b'A'));
        Self { letters, around: Self::around(bytes, start, end) }
    }

    /// The outline of digits.
    #[inline]
    pub fn of_digits(bytes: &[u8], start: usize, end: usize) -> Self {
        Self { letters: 0, around: Self::around(bytes, start, end) }
    }

    #[inline]
    fn around(bytes: &[u8], start: usize, end: usize) -> u32 {
        let bit = |byte: Option<&u8>| byte.map_or(EDGE, |&byte| bit_of(byte));
        bit(start.checked_sub(1).and_then(|at| bytes.get(at))) << 16 | bit(bytes.get(end))
    }
}

/// A [`Shape`] made ready for comparing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gate {
    /// The places whose class is given.
    fixed: u32,
    letters: u32,
    around: u32,
}

impl Gate {
    /// Lets everything through.
    pub const OPEN: Self = Self { fixed: 0, letters: 0, around: u32::MAX };
    /// Lets nothing through.
    pub const SHUT: Self = Self { fixed: 0, letters: 0, around: 0 };

    /// Whether a word with this outline, of the right length, may be meant.
    #[inline]
    pub const fn lets(self, word: Outline) -> bool {
        (word.letters ^ self.letters) & self.fixed == 0 && word.around & !self.around == 0
    }
}

const ANYTHING: u32 = 0xFFFF;
/// The beginning or the end of the text.
const EDGE: u32 = 1;
const BEYOND_ASCII: u32 = 2;
const OTHER: u32 = 4;

/// The bytes that shapes speak of, each a class of its own.
const MARKS: &[u8; 8] = b" -./:,+_";

/// The class of a byte as one bit.
#[inline]
fn bit_of(byte: u8) -> u32 {
    static BITS: [u16; 256] = {
        let mut bits = [OTHER as u16; 256];
        let mut byte = 0x80;
        while byte < 256 {
            bits[byte] = BEYOND_ASCII as u16;
            byte += 1;
        }
        let mut n = 0;
        while n < MARKS.len() {
            bits[MARKS[n] as usize] = 8 << n;
            n += 1;
        }
        bits
    };
    u32::from(BITS[usize::from(byte)])
}

/// The class that a byte of [`Shape::before`] or [`Shape::after`] stands for.
fn mark_bit(mark: u8) -> u32 {
    match mark {
        b'^' | b'$' => EDGE,
        b'~' => BEYOND_ASCII,
        mark => bit_of(mark),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lets(shape: Shape, text: &str, word: &str) -> bool {
        let start = text.find(word).unwrap();
        shape.len() == word.len() && shape.gate().lets(Outline::of(text.as_bytes(), start, start + word.len()))
    }

    #[test]
    fn words_are_compared_place_by_place() {
        let shape = Shape::of("AA9*A");
        assert!(lets(shape, "ab1cd", "ab1cd") && lets(shape, "ab12d", "ab12d"));
        assert!(!lets(shape, "ab123", "ab123") && !lets(shape, "abccd", "abccd") && !lets(shape, "ab1cde", "ab1cde"));
    }

    #[test]
    fn what_touches_a_word_is_compared() {
        let shape = Shape::of("99").behind("^ ").then("-~");
        assert!(lets(shape, "12-", "12") && lets(shape, "a 12é", "12"));
        assert!(!lets(shape, "12", "12") && !lets(shape, ".12-", "12") && !lets(shape, "12.", "12"));
        assert!(lets(Shape::of("99").then("$"), "x12", "12"));
    }

    #[test]
    fn gates_open_and_shut() {
        let word = Outline::of(b"a1", 0, 2);
        assert!(Gate::OPEN.lets(word) && !Gate::SHUT.lets(word));
    }
}
