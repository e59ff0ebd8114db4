//! Singaporean identity numbers of citizens, residents and foreigners.

use super::Entity;
use crate::pii::checksum::weighted;
use crate::pii::code::Code;
use crate::pii::evidence::{Evidence, Reader, Sighting};
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "sg_nric",
    groups: &["pii", "sg"],
    standard: "National Registration Act 1965, ICA",
    check: "S, T, F, G or M, seven digits, check letter by weights 2, 7, 6, 5, 4, 3, 2 mod 11",
    keys: "nric, fin, nric fin, nric no, nric number, fin no, fin number, identification no, singapore id, ic \
            number",
    words: "",
    reader: Reader::Shaped(&[Shape::of("A9999999A")], read),
    examples: &[
        ("nric", "«S1234567D»"),
        ("note", "his NRIC is «T0123456G»."),
        ("value", "«G1234567X»"),
        ("fin", "«M1234567K»"),
    ],
    counter_examples: &[
        ("nric", "S1234567E"),
        ("nric", "A1234567D"),
        ("nric", "S123456D"),
        ("serial", "S1234567D"),
        ("note", "XS1234567D"),
    ],
};

fn read(text: &str, start: usize) -> Option<Sighting> {
    let code = Code::<9>::at(text, start, b"").filter(|code| code.is_like(b"A9999999A"))?;
    let (offset, letters): (u32, &[u8; 11]) = match code.chars.first()? {
        b'S' => (0, b"JZIHGFEDCBA"),
        b'T' => (4, b"JZIHGFEDCBA"),
        b'F' => (0, b"XWUTRQPNMLK"),
        b'G' => (4, b"XWUTRQPNMLK"),
        b'M' => (3, b"XWUTRQPNJLK"),
        _ => return None,
    };
    let rest = (weighted(code.digits(1, 8)?, &[2, 7, 6, 5, 4, 3, 2]) + offset) as usize % 11;
    (letters.get(rest) == code.chars.last()).then(|| code.seen(Evidence::Checked))
}
