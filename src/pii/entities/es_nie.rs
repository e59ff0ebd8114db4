//! Spanish identity numbers of foreigners: X, Y or Z, seven digits, a letter that follows from them.

use super::Entity;
use super::es_nif::letter;
use crate::pii::code::{Code, letters_before};
use crate::pii::evidence::{Evidence, Reader, Sighting};
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "es_nie",
    groups: &["pii", "es"],
    standard: "Real Decreto 557/2011, art. 206",
    check: "letter by the number mod 23, X, Y, Z counting as 0, 1, 2",
    keys: "nie, documento, documento identidad, documento de identidad, numero de identidad de extranjero, \
            tarjeta de residencia, numero de extranjero, extranjero, nie number",
    words: "con nie",
    reader: Reader::Any(&[
        Reader::Shaped(&[Shape::of("A9999999A"), Shape::of("A9999999").then("- ")], read),
        Reader::Shaped(&[Shape::of("9999999").behind("-"), Shape::of("9999999A").behind("-")], read_joined),
    ]),
    examples: &[
        ("nie", "«X1234567L»"),
        ("note", "número de identidad de extranjero «Z2836040F»."),
        ("documento_identidad", "«Y-1234567-X»"),
        ("value", "«X1234567-L»"),
    ],
    counter_examples: &[
        ("nie", "X1234567A"),
        ("nie", "W1234567L"),
        ("nie", "X123456L"),
        ("serial", "X1234567L"),
        ("note", "AX1234567L"),
    ],
};

fn read(text: &str, start: usize) -> Option<Sighting> {
    let code = Code::<9>::at(text, start, b"- ").filter(|code| code.is_like(b"A9999999A"))?;
    let kind = match code.chars.first()? {
        b'X' => 0,
        b'Y' => 1,
        b'Z' => 2,
        _ => return None,
    };
    let is_grouped = matches!(code.groups(), [9] | [8, 1] | [1, 7, 1] | [1, 8]);
    let number = kind * 10_000_000 + code.value(1, 8)?;
    (is_grouped && code.chars.last() == Some(&letter(number))).then(|| code.seen(Evidence::Checked))
}

fn read_joined(text: &str, digits: usize) -> Option<Sighting> {
    read(text, letters_before(text, digits, 1, b"-")?)
}
