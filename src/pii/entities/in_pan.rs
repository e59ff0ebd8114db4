//! Indian permanent account numbers: format only, the fourth letter says what kind of holder it is.

use super::Entity;
use crate::pii::code::Code;
use crate::pii::evidence::{Evidence, Reader, Sighting};
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "in_pan",
    groups: &["pii", "financial", "in"],
    standard: "Income Tax Rules 1962, rule 114",
    check: "three letters, a holder letter, a letter, four digits, a letter; context",
    keys: "pan, pan number, pan no, pan card, pan card number, permanent account number, income tax pan, \
            पैन, पैन कार्ड, पैन नंबर, पैन संख्या",
    words: "",
    reader: Reader::Shaped(&[Shape::of("AAAAA9999A")], read),
    examples: &[
        ("pan", "«ABCPE1234F»"),
        ("note", "my PAN is «AFZPK7190K»."),
        ("panNumber", "«afzpk7190k»"),
        ("पैन", "«ABCPE1234F»"),
    ],
    counter_examples: &[
        ("pan", "ABCPE1234"),
        ("note", "ABCPE1234F"),
        ("pan", "ABCXE1234F"),
        ("pan", "ABCPE0000F"),
        ("serial", "ABCPE1234F"),
    ],
};

fn read(text: &str, start: usize) -> Option<Sighting> {
    let code = Code::<10>::at(text, start, b"").filter(|code| code.is_like(b"AAAAA9999A"))?;
    let is_holder =
        matches!(code.chars.get(3)?, b'A' | b'B' | b'C' | b'F' | b'G' | b'H' | b'J' | b'K' | b'L' | b'P' | b'T' | b'E');
    (is_holder && code.value(5, 9)? != 0).then(|| code.seen(Evidence::Shape))
}
