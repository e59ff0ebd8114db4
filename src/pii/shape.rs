//! What a word must look like from outside before anybody reads it: letters and digits by place, and what touches it. It
//! promises a few instructions for a word that cannot be meant; it knows no entity.

/// A description of words for [`super::evidence::Reader::Shaped`].
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Place by place: `A` a letter, `9` a digit, `*` either.
    word: &'static str,
    /// What may stand before it: bytes of [`MARKS`], or as [`class_of_mark`] says. Empty: anything.
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
        let around = |marks: &str| match marks {
            "" => ANYTHING,
            marks => marks.bytes().fold(0, |bits, mark| bits | 1 << class_of_mark(mark)),
        };
        let (letters, digits): (u32, u32) = (places(b'A'), places(b'9'));
        let takes_digits = letters == 0;
        let takes_letters = digits.count_ones() as usize != self.len();
        Gate {
            fixed: letters | digits,
            letters,
            before: around(self.before),
            after: around(self.after),
            takes_digits,
            takes_letters,
        }
    }
}

/// What touches a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Around {
    before: u8,
    after: u8,
}

impl Around {
    /// What touches the word from `start` to `end`.
    #[inline]
    pub fn of(bytes: &[u8], start: usize, end: usize) -> Self {
        let before = start.checked_sub(1).and_then(|at| bytes.get(at));
        Self {
            before: before.map_or(EDGE, |&byte| class_of(byte)),
            after: bytes.get(end).map_or(EDGE, |&byte| class_of(byte)),
        }
    }
}

/// Where the letters of a word are: bit n for place n.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Letters(u32);

impl Letters {
    /// In a word of digits.
    pub const NONE: Self = Self(0);

    /// In the first places of `word`, which is of letters and digits.
    #[inline]
    pub fn of(word: &[u8]) -> Self {
        Self(word.iter().take(32).rev().fold(0_u32, |bits, byte| bits << 1 | u32::from(*byte >= b'A')))
    }
}

/// A [`Shape`] made ready for comparing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gate {
    /// The places whose class is given.
    fixed: u32,
    letters: u32,
    /// The classes of what may touch it.
    before: u16,
    after: u16,
    /// Whether a word of digits alone may be meant, and any other.
    takes_digits: bool,
    takes_letters: bool,
}

impl Gate {
    /// Lets everything through.
    pub const OPEN: Self =
        Self { fixed: 0, letters: 0, before: ANYTHING, after: ANYTHING, takes_digits: true, takes_letters: true };
    /// Lets nothing through.
    pub const SHUT: Self =
        Self { fixed: 0, letters: 0, before: 0, after: 0, takes_digits: false, takes_letters: false };

    /// Whether a word of the right length with its letters there, and that around it, may be meant.
    #[inline]
    pub const fn lets(&self, letters: Letters, around: Around) -> bool {
        (letters.0 ^ self.letters) & self.fixed == 0
            && self.before >> around.before & self.after >> around.after & 1 == 1
    }
}

/// Looks at many gates at once. Bit n of its answers says that gate n may let the word through; no other does.
///
/// PERF: most words are refused by what touches them, before anybody looks where their letters are.
#[derive(Debug, Clone, Default)]
pub struct Sieve {
    before: [u64; CLASSES],
    after: [u64; CLASSES],
    digits: u64,
    letters: u64,
}

impl Sieve {
    /// Most gates that it holds apart.
    pub const MOST: usize = 64;

    /// With `gate` under the number `n`, which is less than [`Self::MOST`]. One number may have several.
    pub fn add(&mut self, n: usize, gate: Gate) {
        let enter = |slots: &mut [u64; CLASSES], classes: u16| {
            slots.iter_mut().zip(0..).for_each(|(slot, class)| *slot |= u64::from(classes >> class & 1) << n);
        };
        enter(&mut self.before, gate.before);
        enter(&mut self.after, gate.after);
        self.digits |= u64::from(gate.takes_digits) << n;
        self.letters |= u64::from(gate.takes_letters) << n;
    }

    /// The gates worth comparing with a word of digits alone that is touched so.
    #[inline]
    pub fn of_digits(&self, around: Around) -> u64 {
        self.digits & self.around(around)
    }

    /// The gates worth comparing with a word with letters that is touched so.
    #[inline]
    pub fn of_letters(&self, around: Around) -> u64 {
        self.letters & self.around(around)
    }

    #[inline]
    fn around(&self, Around { before, after }: Around) -> u64 {
        let bits = |slots: &[u64; CLASSES], class: u8| slots.get(usize::from(class)).copied().unwrap_or_default();
        bits(&self.before, before) & bits(&self.after, after)
    }
}

/// The bytes that shapes speak of, each a class of its own.
const MARKS: &[u8; 8] = b" -./:,+_";

/// The classes of what can touch a word: [`MARKS`], then these.
const CLASSES: usize = 16;
const ANYTHING: u16 = u16::MAX;
/// The beginning or the end of the text.
const EDGE: u8 = 8;
const BEYOND_ASCII: u8 = 9;
const OTHER: u8 = 10;

/// The class of a byte.
#[inline]
fn class_of(byte: u8) -> u8 {
    static CLASS: [u8; 256] = {
        let mut class = [OTHER; 256];
        let mut byte = 0x80;
        while byte < 256 {
            class[byte] = BEYOND_ASCII;
            byte += 1;
        }
        let mut n = 0;
        while n < MARKS.len() {
            class[MARKS[n] as usize] = n as u8;
            n += 1;
        }
        class
    };
    CLASS[usize::from(byte)]
}

/// The class that a byte of [`Shape::before`] or [`Shape::after`] stands for.
fn class_of_mark(mark: u8) -> u8 {
    match mark {
        b'^' | b'$' => EDGE,
        b'~' => BEYOND_ASCII,
        mark => class_of(mark),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lets(shape: Shape, text: &str, word: &str) -> bool {
        let start = text.find(word).unwrap();
        let around = Around::of(text.as_bytes(), start, start + word.len());
        let (gate, letters) = (shape.gate(), Letters::of(word.as_bytes()));
        let is_let = shape.len() == word.len() && gate.lets(letters, around);
        let mut sieve = Sieve::default();
        sieve.add(7, gate);
        let sieved = if letters == Letters::NONE { sieve.of_digits(around) } else { sieve.of_letters(around) };
        assert!(!is_let || sieved == 1 << 7, "{shape:?} is sieved out of {text}");
        is_let
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
        let (letters, around) = (Letters::of(b"a1"), Around::of(b"a1", 0, 2));
        assert!(Gate::OPEN.lets(letters, around) && !Gate::SHUT.lets(letters, around));
    }

    #[test]
    fn a_sieve_keeps_gates_apart() {
        let mut sieve = Sieve::default();
        for (n, shape) in [Shape::of("99"), Shape::of("9A"), Shape::of("**").behind("-"), Shape::of("9*").then("$")]
            .iter()
            .enumerate()
        {
            sieve.add(n, shape.gate());
        }
        let around = |text: &str| Around::of(text.as_bytes(), 1, 3);
        assert_eq!(sieve.of_digits(around(" 12 ")), 0b0001);
        assert_eq!(sieve.of_letters(around(" 1a ")), 0b0010);
        assert_eq!(sieve.of_digits(around("-12")), 0b1101);
        assert_eq!(sieve.of_letters(around("-1a")), 0b1110);
    }
}
