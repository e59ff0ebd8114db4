//! US passport numbers: nine digits, or a letter and eight.

use super::Entity;
use crate::pii::checksum::is_one_digit;
use crate::pii::code::Code;
use crate::pii::evidence::{Evidence, Reader, Sighting, lengths};
use crate::pii::number::Number;
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "us_passport",
    groups: &["pii", "us"],
    standard: "22 CFR 51; DS-11",
    check: "a letter and eight digits, or nine digits; context",
    keys: "passport, passport number, passport no, passport num, us passport, us passport number, us passport \
            no, american passport, american passport number, usa passport, passport us, passport usa, passport number us, passport \
            number usa, passport no us, passport no usa, passport united states, united states passport, passeport, \
            pasaporte",
    words: "",
    reader: Reader::Any(&[Reader::Number(lengths(9, 9), judge), Reader::Shaped(&[Shape::of("A99999999")], read)]),
    examples: &[
        ("us_passport", "«600738989»"),
        ("note", "US passport number «T14029851»."),
        ("passport_no", "«N86264939»"),
        ("note", "U.S. passport number «600738989»"),
        ("note", "passport no. (USA) «600738989»"),
    ],
    counter_examples: &[
        ("passport", "60073898"),
        ("note", "600738989"),
        ("note", "T14029851"),
        ("passport", "T1402985"),
        ("order", "600738989"),
        ("passport", "000000000"),
        ("passport", "600-738-989"),
        ("british_passport", "600738989"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    (matches!(number.groups, [9]) && !number.plus && !is_one_digit(number.digits)).then_some(Evidence::Hint)
}

fn read(text: &str, start: usize) -> Option<Sighting> {
    let code = Code::<9>::at(text, start, b"").filter(|code| code.is_like(b"A99999999"))?;
    (code.value(1, 9)? != 0).then(|| code.seen(Evidence::Hint))
}
