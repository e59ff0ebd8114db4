//! Medicare beneficiary identifiers: eleven characters, each place with its own class.

use super::Entity;
use crate::pii::code::Code;
use crate::pii::evidence::{Evidence, Reader, Sighting};
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "us_mbi",
    groups: &["pii", "health", "us"],
    standard: "CMS, Medicare Beneficiary Identifier format",
    check: "classes of the eleven places, without S, L, O, I, B, Z; context",
    keys: "mbi, medicare id, medicare number, medicare beneficiary id, medicare beneficiary identifier, \
            medicare beneficiary number, beneficiary id, medicare mbi, hicn, medicare",
    words: "",
    reader: Reader::Shaped(&[Shape::of("9A*9A*9AA99"), Shape::of("9A*9").then("- ")], read),
    examples: &[
        ("mbi", "«1EG4-TE5-MK73»"),
        ("note", "Medicare MBI «1EG4TE5MK73»."),
        ("medicareBeneficiaryId", "«1eg4te5mk73»"),
    ],
    counter_examples: &[
        ("mbi", "1EG4-TE5-MK7"),
        ("note", "1EG4-TE5-MK73"),
        ("mbi", "0EG4TE5MK73"),
        ("mbi", "1SG4TE5MK73"),
        ("mbi", "1EG-4TE5-MK73"),
        ("serial", "1EG4TE5MK73"),
    ],
};

fn read(text: &str, start: usize) -> Option<Sighting> {
    let code = Code::<11>::at(text, start, b"- ")?;
    let is_grouped = matches!(code.groups(), [11] | [4, 3, 4]);
    let is_shaped = code.chars.iter().zip(b"CAX9AX9AA99").all(|(char, class)| match class {
        b'C' => matches!(char, b'1'..=b'9'),
        b'A' => is_letter(*char),
        b'X' => is_letter(*char) || char.is_ascii_digit(),
        _ => char.is_ascii_digit(),
    });
    (is_grouped && is_shaped).then(|| code.seen(Evidence::Shape))
}

/// A letter that cannot be taken for a digit.
const fn is_letter(char: u8) -> bool {
    char.is_ascii_uppercase() && !matches!(char, b'S' | b'L' | b'O' | b'I' | b'B' | b'Z')
}
