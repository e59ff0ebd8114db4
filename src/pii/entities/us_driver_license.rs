//! US driver license numbers: every state has its own formats, so that only context tells.

use super::Entity;
use crate::pii::checksum::is_one_digit;
use crate::pii::code::{begins_freely, ends_freely};
use crate::pii::evidence::{Evidence, Reader, Sighting, lengths};
use crate::pii::number::Number;
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "us_driver_license",
    groups: &["pii", "us"],
    standard: "AAMVA DL/ID standard; state formats",
    check: "7 to 12 digits, or one or two letters and 3 to 14 digits, also grouped; context",
    keys: "driver license, driver license number, driver licence no, driver licence, driver licence number, \
            drivers license, drivers license number, drivers license no, driver s license, driver s license \
            number, driver license no, dl number, dl no, dl, dln, dl num, license number, license no, driving \
            license, driving license number, operator license, us driver license",
    words: "",
    reader: Reader::Any(&[Reader::Number(lengths(7, 12), judge), Reader::Shaped(SHAPES, read)]),
    examples: &[
        ("driver_license", "«H044427375868»"),
        ("note", "driver license number: «S514-7789-0123»."),
        ("dlNumber", "«12345678»"),
        ("note", "driver's license «QB281919»"),
        ("license_number", "«A1234567»"),
    ],
    counter_examples: &[
        ("driver_license", "123456"),
        ("note", "H044427375868"),
        ("driver_license", "ABCDEFGH"),
        ("note", "12345678"),
        ("license_key", "A1B2-C3D4-E5F6"),
        ("order", "QB281919"),
        ("software_license_number", "44718270"),
        ("note", "Software licence number 44718270"),
        ("license_key", "44718270"),
    ],
};

/// Up to three letters, then digits; a group that more follow can be short.
const SHAPES: &[Shape] = &[
    Shape::of("A**9").then("-"),
    Shape::of("A**99"),
    Shape::of("A**999"),
    Shape::of("A**9999"),
    Shape::of("A**99999"),
    Shape::of("A**999999"),
    Shape::of("A**9999999"),
    Shape::of("A**99999999"),
    Shape::of("A**999999999"),
    Shape::of("A**9999999999"),
    Shape::of("A**99999999999"),
    Shape::of("A**999999999999"),
    Shape::of("A**9999999999999"),
];

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let is_grouped = matches!(number.groups, [_] | [2, 3, 4 | 3] | [3, 3, 3] | [3, 2, 4]);
    (is_grouped && number.is_uniform() && !number.plus && !is_one_digit(number.digits)).then_some(Evidence::Hint)
}

fn read(text: &str, start: usize) -> Option<Sighting> {
    let bytes = text.as_bytes();
    let word = |from: usize| {
        bytes.get(from..).unwrap_or_default().iter().take(16).take_while(|byte| byte.is_ascii_alphanumeric()).count()
    };
    let first = word(start);
    // Illinois, Florida, Wisconsin: `S514-7789-0123`, `G544-061-73-925-0`.
    let (mut end, mut groups) = (start + first, 1);
    while groups < 6 && bytes.get(end) == Some(&b'-') && matches!(word(end + 1), 1..=4) {
        end += 1 + word(end + 1);
        groups += 1;
    }
    let code = bytes.get(start..end)?;
    let letters = code.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let tail = code.get(letters..)?;
    let digits = tail.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_tail = tail.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-');
    let is_shaped = matches!((letters, digits), (1, 4..=14) | (2, 3..=8) | (3, 6..=9)) && is_tail;
    (is_shaped && begins_freely(bytes, start) && ends_freely(bytes, end)).then_some(Sighting {
        start,
        end,
        evidence: Evidence::Hint,
    })
}
