//! Spanish tax numbers of citizens: eight digits and a letter that follows from them.

use super::Entity;
use crate::pii::code::Code;
use crate::pii::evidence::{Evidence, Reader, Sighting};
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "es_nif",
    groups: &["pii", "es"],
    standard: "Real Decreto 1553/2005, Orden EHA/451/2008",
    check: "letter by the number mod 23",
    keys: "nif, dni, dni nif, documento, documento de identidad, documento nacional de identidad, numero de \
            dni, num dni, carnet de identidad, documento identidad, numero de identificacion fiscal",
    words: "identidad, con dni",
    reader: Reader::Shaped(
        &[Shape::of("99999999A"), Shape::of("99999999").then("-. "), Shape::of("99").then("-. ")],
        read,
    ),
    examples: &[
        ("nif", "«12345678Z»"),
        ("note", "mi NIF es «12345678-Z»."),
        ("dni", "«12.345.678-Z»"),
        ("value", "«54923889G»"),
    ],
    counter_examples: &[
        ("nif", "12345678A"),
        ("nif", "12345678"),
        ("nif", "X2345678Z"),
        ("serial", "12345678Z"),
        ("nif", "00000000T"),
        ("note", "INV-12345678Z"),
    ],
};

fn read(text: &str, start: usize) -> Option<Sighting> {
    let code = Code::<9>::at(text, start, b"-. ").filter(|code| code.is_like(b"99999999A"))?;
    let is_grouped = matches!(code.groups(), [9] | [8, 1] | [2, 3, 3, 1] | [2, 3, 4]);
    let number = code.value(0, 8)?;
    (is_grouped && number != 0 && code.chars.last() == Some(&letter(number))).then(|| code.seen(Evidence::Checked))
}

/// The letter of a number; those of foreigners use it too.
pub(super) fn letter(number: u32) -> u8 {
    b"TRWAGMYFPDXBNJZSQVHLCKE".get(number as usize % 23).copied().unwrap_or_default()
}
