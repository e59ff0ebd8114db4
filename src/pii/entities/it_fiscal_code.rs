//! Italian fiscal codes: letters of the names, birthday and sex, place of birth, a check letter.

use super::Entity;
use crate::pii::code::{Code, letters_before};
use crate::pii::evidence::{Evidence, Reader, Sighting};
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "it_fiscal_code",
    groups: &["pii", "it"],
    standard: "DM 23/12/1976, Agenzia delle Entrate",
    check: "classes of the sixteen places (with replaced digits), month and day, check letter mod 26",
    keys: "codice fiscale, cod fiscale, codicefiscale, cf, c f, fiscal code, tax code, codice fisc",
    words: "",
    reader: Reader::Any(&[
        Reader::Shaped(&[Shape::of("AAAAAA**A**A***A")], read),
        Reader::Shaped(&[Shape::of("**A**").behind(" ")], read_spaced),
    ]),
    examples: &[
        ("codice_fiscale", "«RSSMRA85T10A562S»"),
        ("value", "«rssmra85t10a562s»"),
        ("note", "C.F. «RSS MRA 85T10 A562S»."),
        ("value", "«RSSMRA85T10A56NH»"),
    ],
    counter_examples: &[
        ("cf", "RSSMRA85T10A562T"),
        ("cf", "RSSMRA85S40A562S"),
        ("cf", "RSSMRA85T10A562"),
        ("blob", "XRSSMRA85T10A562S"),
        ("cf", "RSSMRAXXT10A562S"),
    ],
};

fn read(text: &str, start: usize) -> Option<Sighting> {
    let code = Code::<16>::at(text, start, b" ").filter(|code| code.is_like(b"AAAAAA**A**A***A"))?;
    let digits = |from: usize, to: usize| {
        code.chars.get(from..to)?.iter().try_fold(0, |sum, &char| Some(sum * 10 + u32::from(digit(char)?)))
    };
    let day = digits(9, 11)?;
    let is_born =
        matches!(day, 1..=31 | 41..=71) && code.chars.get(8).is_some_and(|month| b"ABCDEHLMPRST".contains(month));
    let is_shaped = digits(6, 8).is_some() && digits(12, 15).is_some();
    let is_grouped = matches!(code.groups(), [16] | [3, 3, 5, 5]);
    (is_grouped && is_born && is_shaped && is_checked(&code)?).then(|| code.seen(Evidence::Strong))
}

fn read_spaced(text: &str, birthday: usize) -> Option<Sighting> {
    let second = letters_before(text, birthday, 3, b" ")?;
    read(text, letters_before(text, second, 3, b" ")?)
}

/// A digit, or the letter that stands for it where two people would have the same code.
fn digit(char: u8) -> Option<u8> {
    if char.is_ascii_digit() {
        return Some(char - b'0');
    }
    b"LMNPQRSTUV".iter().position(|&letter| letter == char).map(|digit| digit as u8)
}

/// What a character in an odd place (counted from 1) is worth: 0 to 9 as A to J.
const ODD: &[u8; 26] = &[1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

fn is_checked(code: &Code<16>) -> Option<bool> {
    let (check, payload) = code.chars.split_last()?;
    let sum = payload.iter().enumerate().try_fold(0, |sum, (index, &char)| {
        let plain = if char.is_ascii_digit() { char - b'0' } else { char.checked_sub(b'A')? };
        Some(sum + u32::from(if index % 2 == 0 { *ODD.get(usize::from(plain))? } else { plain }))
    })?;
    Some(sum % 26 == u32::from(check - b'A'))
}
