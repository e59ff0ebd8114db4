//! Cuts names and texts into words, from the end on, and hashes them. It promises to read no letter twice and no word that
//! nobody asks for; what a word means is the lexicon's business.

use icu_normalizer::properties::{CanonicalDecompositionBorrowed, Decomposed};

/// Most words of a name or text that are looked at.
const MAX_WORDS: usize = 16;

/// So many of the words read last are kept: as many as the longest phrase has.
pub(super) const KEPT: usize = 8;

const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

/// A number with so many digits has used up the words before it: in `SSN 078-05-1121, passport 404846809` the first word is
/// about the first number, but in `SSNs: 078-05-1121 and 219-09-9998` about both.
const OWN_NUMBER: usize = 4;

/// Words between the members of a list.
static JOINTS: [u64; 16] = {
    let joints = ["and", "or", "und", "oder", "et", "ou", "y", "o", "e", "i", "en", "of", "och", "og", "to", "&"];
    let mut hashes = [0_u64; 16];
    let mut n = 0;
    while n < joints.len() {
        let word = joints[n].as_bytes();
        let mut at = 0;
        while at < word.len() {
            hashes[n] = hashes[n].wrapping_mul(BASE).wrapping_add(word[at] as u64);
            at += 1;
        }
        n += 1;
    }
    hashes
};

/// No joint takes more bytes: four letters of two bytes.
const LONGEST_JOINT: usize = 8;

/// The letters of a word or of several: their number and a polynomial of them.
///
/// PERF: so the hash of a phrase follows from those of its words. A collision that somebody constructs can only add context
/// to his own values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Letters {
    pub hash: u64,
    /// [`BASE`] to the power of their number.
    power: u64,
}

impl Letters {
    pub const NONE: Self = Self { hash: 0, power: 1 };

    /// All letters of `phrase`, whatever joins them.
    pub fn of(phrase: &str) -> Self {
        let letters = phrase.chars().rev().filter(|&letter| case_of(letter) != Case::Gap);
        letters.fold(Self::NONE, Self::after)
    }

    /// With `before` in front.
    #[must_use]
    pub const fn behind(self, before: Self) -> Self {
        let hash = self.hash.wrapping_add(before.hash.wrapping_mul(self.power));
        Self { hash, power: self.power.wrapping_mul(before.power) }
    }

    /// With `letter` in front: in lower case, without its accent.
    #[inline]
    #[must_use]
    pub fn after(self, letter: char) -> Self {
        if letter.is_ascii() {
            return self.after_ascii(letter as u8);
        }
        self.after_beyond_ascii(letter)
    }

    #[inline]
    const fn after_ascii(self, letter: u8) -> Self {
        let lower = (letter | 0x20) as u64;
        Self { hash: self.hash.wrapping_add(lower.wrapping_mul(self.power)), power: self.power.wrapping_mul(BASE) }
    }

    // PERF: out of line, or the loop over ASCII saves registers for it.
    #[inline(never)]
    fn after_beyond_ascii(self, letter: char) -> Self {
        let mut own = Self::NONE;
        spell(letter, |byte| own = Self { hash: u64::from(byte), power: BASE }.behind(own));
        self.behind(own)
    }
}

/// The words of a name or text, the last one first. Split at case changes, digits, and everything that is not a letter.
pub(super) struct Words<'a> {
    text: &'a str,
    /// What is not read yet ends here.
    at: usize,
    /// Word n is at n modulo [`KEPT`].
    kept: [Word; KEPT],
    count: usize,
    /// Whether what is read of the text from its end on holds no line break and no digit.
    is_line: bool,
    /// Whether a word was read that is not only a joint between the members of a list.
    has_word: bool,
    /// Digits read since the last word.
    digits: usize,
    /// With so many digits the text ends.
    own_number: usize,
}

/// One word.
#[derive(Clone, Copy)]
pub(super) struct Word {
    pub letters: Letters,
    /// Whether no line break and no digit stands between it and the end.
    pub is_of_line: bool,
}

impl<'a> Words<'a> {
    /// The words of a name: of a key.
    pub fn of_name(text: &'a str) -> Self {
        Self { own_number: usize::MAX, ..Self::of_text(text) }
    }

    /// The words before something in a text, up to a number that has used up the others.
    #[inline]
    pub fn of_text(text: &'a str) -> Self {
        // PERF: all zeros, which is a few vector stores.
        let kept = [Word { letters: Letters { hash: 0, power: 0 }, is_of_line: false }; KEPT];
        let own_number = OWN_NUMBER;
        Self { text, at: text.len(), kept, count: 0, is_line: true, has_word: false, digits: 0, own_number }
    }

    /// The word with so many others behind it: one of the last [`KEPT`] that were asked for, or one that was not yet.
    #[inline]
    pub fn word(&mut self, index: usize) -> Option<Word> {
        debug_assert!(index + KEPT >= self.count, "a word that is not kept any more");
        while index >= self.count {
            self.read()?;
        }
        self.kept.get(index % KEPT).copied()
    }

    fn read(&mut self) -> Option<()> {
        if self.count == MAX_WORDS || !self.pass_gap() {
            return None;
        }
        let (end, mut letters) = (self.at, Letters::NONE);
        // PERF: most words are of small letters and end where there is no letter: six instructions a letter.
        let before = self.text.as_bytes().get(..end).unwrap_or_default();
        for &byte in before.iter().rev().take_while(|byte| byte.is_ascii_lowercase()) {
            letters = letters.after_ascii(byte);
            self.at -= 1;
        }
        let next = self.at.checked_sub(1).and_then(|last| before.get(last));
        if next.is_some_and(|&byte| byte.is_ascii_uppercase() || byte >= 0x80) {
            letters = self.read_on(letters, end - self.at);
        }
        *self.kept.get_mut(self.count % KEPT)? = Word { letters, is_of_line: self.is_line };
        self.count += 1;
        self.digits = 0;
        self.has_word = self.has_word || end - self.at > LONGEST_JOINT || !JOINTS.contains(&letters.hash);
        Some(())
    }

    /// Reads the rest of a word that ends in so many small letters, up to where its case says that another begins.
    fn read_on(&mut self, mut letters: Letters, small: usize) -> Letters {
        let (bytes, mut at) = (self.text.as_bytes(), self.at);
        // The letter to the right, whether it is small ASCII, and whether the one behind it is.
        let mut right = if small > 0 { Case::Lower } else { Case::Gap };
        let (mut is_small, mut is_small_behind) = (small > 0, small > 1);
        while let Some(&byte) = at.checked_sub(1).and_then(|last| bytes.get(last)) {
            let (letter, case) = match byte {
                b'a'..=b'z' => (char::from(byte), Case::Lower),
                b'A'..=b'Z' => (char::from(byte), Case::Upper),
                ..0x80 => break,
                _ => {
                    let Some(letter) = self.text.get(..at).and_then(|text| text.chars().next_back()) else { break };
                    (letter, case_of(letter))
                }
            };
            let begins_before = match (case, right) {
                (Case::Gap, _) | (Case::Lower, Case::Upper) => true,
                (Case::Upper, Case::Upper) => is_small_behind,
                (Case::Lower | Case::Upper, Case::Gap | Case::Lower) => false,
            };
            if begins_before {
                break;
            }
            at -= letter.len_utf8();
            letters = letters.after(letter);
            (right, is_small_behind) = (case, is_small);
            is_small = byte.is_ascii_lowercase();
        }
        self.at = at;
        letters
    }

    /// Goes over what is no letter. Answers whether a word that counts ends there.
    fn pass_gap(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = self.at.checked_sub(1).and_then(|last| bytes.get(last)) {
            let mut length = 1;
            match byte {
                b'-' | b' ' | b'.' | b'(' | b')' => {}
                b'0'..=b'9' => {
                    self.is_line = false;
                    self.digits += 1;
                    if self.has_word && self.digits >= self.own_number {
                        return false;
                    }
                }
                b'a'..=b'z' | b'A'..=b'Z' => return true,
                ..0x80 => {
                    self.is_line &= byte != b'\n';
                    self.digits = 0;
                }
                _ => {
                    let Some(letter) = self.text.get(..self.at).and_then(|text| text.chars().next_back()) else {
                        return false;
                    };
                    if case_of(letter) != Case::Gap {
                        return true;
                    }
                    length = letter.len_utf8();
                    self.has_word = true;
                    self.digits = 0;
                }
            }
            self.at -= length;
        }
        false
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Gap,
    Lower,
    Upper,
}

#[inline]
fn case_of(letter: char) -> Case {
    match letter {
        'a'..='z' => Case::Lower,
        'A'..='Z' => Case::Upper,
        _ if letter.is_ascii() => Case::Gap,
        _ => case_beyond_ascii(letter),
    }
}

#[inline(never)]
fn case_beyond_ascii(letter: char) -> Case {
    match letter {
        // "of" and "is" where no space is written: `我的电话是`, `カードの番号`.
        '的' | '是' | 'の' => Case::Gap,
        _ if letter.is_uppercase() => Case::Upper,
        _ if letter.is_alphabetic() => Case::Lower,
        _ => Case::Gap,
    }
}

/// The bytes that count for a letter: lower case, without accents.
fn spell(letter: char, mut put: impl FnMut(u8)) {
    if letter.is_ascii() {
        return put(letter.to_ascii_lowercase() as u8);
    }
    for lower in letter.to_lowercase() {
        let plain = match without_accents(lower) {
            'æ' => "ae",
            'đ' => "d",
            'ı' => "i",
            'ł' => "l",
            'ø' => "o",
            'ß' => "ss",
            'ς' => "σ",
            '\u{300}'..='\u{36f}' => "",
            other => {
                let mut buffer = [0; 4];
                other.encode_utf8(&mut buffer).bytes().for_each(&mut put);
                continue;
            }
        };
        plain.bytes().for_each(&mut put);
    }
}

/// The letter under the accents of the Latin, Greek and Cyrillic scripts. Those of others make another letter of it.
fn without_accents(letter: char) -> char {
    const DECOMPOSITION: CanonicalDecompositionBorrowed<'_> = CanonicalDecompositionBorrowed::new();
    let mut base = letter;
    // `ệ` has two.
    while let Decomposed::Expansion(first, '\u{300}'..='\u{36f}') = DECOMPOSITION.decompose(base) {
        base = first;
    }
    base
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let mut words = Words::of_text(text);
        for (index, word) in expected.iter().enumerate() {
            assert_eq!(words.word(index).map(|word| word.letters), Some(Letters::of(word)), "{text}: {word}");
        }
        assert!(words.word(expected.len()).is_none(), "{text}");
    }

    #[test]
    fn splits_where_the_case_changes() {
        check("cardNumber", &["number", "card"]);
        check("XMLParser2 IBANs", &["ns", "iba", "parser", "xml"]);
        check("aBCd", &["cd", "b", "a"]);
        check("ÉtéPhone", &["phone", "ete"]);
        check("..12--", &[]);
    }

    #[test]
    fn a_number_of_its_own_ends_the_text() {
        check("SSN 078-05-1121, passport ", &["passport"]);
        check("SSNs: 078-05-1121 and ", &["and", "ns", "ss"]);
    }

    #[test]
    fn phrases_are_made_of_words() {
        let (card, number) = (Letters::of("card"), Letters::of("number"));
        assert_eq!(number.behind(card), Letters::of("cardNumber"));
        for (one, other) in [
            ("Téléphone", "TELEPHONE"),
            ("Ngày sinh, mật khẩu", "ngay sinh mat khau"),
            ("data nașterii", "DATA NASTERII"),
            ("Straße", "STRASSE"),
            ("ΚΩΔΙΚΟΣ", "κωδικός"),
            ("Łódź Ðø", "lodz ðo"),
        ] {
            assert_eq!(Letters::of(one), Letters::of(other), "{one}");
        }
        for (one, other) in [("が", "か"), ("한", "하"), ("फ़", "ख")] {
            assert_ne!(Letters::of(one), Letters::of(other), "{one}");
        }
    }
}
