//! French social security numbers: sex, month of birth, place, serial number, key.

use super::Entity;
use crate::pii::checksum::remainder;
use crate::pii::code::Code;
use crate::pii::evidence::{Evidence, Reader, Sighting, lengths};
use crate::pii::number::Number;
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "fr_nir",
    groups: &["pii", "health", "fr"],
    standard: "INSEE, décret 82-103",
    check: "fifteen characters, sex, month, department (also 2A, 2B), 97 less the number mod 97",
    keys: "nir, insee, numero insee, numero secu, no secu, secu, securite sociale, numero de securite sociale, \
            numero securite sociale, n de securite sociale, numero de secu, social security, social security \
            number, carte vitale, ssn",
    words: "",
    reader: Reader::Any(&[
        Reader::Number(lengths(15, 15), judge),
        Reader::Shaped(
            &[Shape::of("9").then(" .-"), Shape::of("999999A999999").then(" .-"), Shape::of("999999A99999999")],
            read,
        ),
    ]),
    examples: &[
        ("nir", "«2 55 08 14 168 025 38»"),
        ("value", "«255081416802538»"),
        ("note", "numéro de sécurité sociale «1 59 04 2A 266 293 74»"),
        ("note", "see «189052A33000988», thanks"),
        ("q", "nir=«2%2055%2008%2014%20168%20025%2038»&x=1"),
    ],
    counter_examples: &[
        ("nir", "2 55 08 14 168 025 39"),
        ("nir", "255 081416802538"),
        ("nir", "3 55 08 14 168 025 35"),
        ("nir", "2 55 13 14 168 025 00"),
        ("order_id", "255081416802538"),
        ("blob", "x255081416802538"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let is_grouped = is_grouped(number.groups) && number.is_uniform() && !number.plus;
    let digits: [u8; 15] = number.digits.try_into().ok()?;
    (is_grouped && is_valid(digits, 0)).then_some(if number.groups.len() > 2 {
        Evidence::Strong
    } else {
        Evidence::Checked
    })
}

/// Numbers with a letter: people born in Corsica.
fn read(text: &str, start: usize) -> Option<Sighting> {
    let code = Code::<15>::at(text, start, b" .-").filter(|code| code.is_like(b"999999A99999999"))?;
    // The rule: the letter counts as 0 and one or two millions are taken off.
    let less = match code.chars.get(5..7)? {
        b"2A" => 1_000_000,
        b"2B" => 2_000_000,
        _ => return None,
    };
    let mut digits = code.chars;
    *digits.get_mut(6)? = b'0';
    (is_grouped(code.groups()) && is_valid(digits, less)).then(|| code.seen(Evidence::Strong))
}

const fn is_grouped(groups: &[u8]) -> bool {
    matches!(groups, [15] | [13, 2] | [1, 2, 2, 2, 3, 3, 2] | [1, 2, 2, 2, 3, 3])
}

fn is_valid(digits: [u8; 15], less: u64) -> bool {
    let (number, key) = digits.split_at(13);
    let part = |from: usize, to: usize| remainder(number.get(from..to).unwrap_or_default(), 1000);
    // Months from 20 on: the civil register did not know it.
    let is_month = matches!(part(3, 5), 1..=12 | 20..=42 | 50..=99);
    let is_place = part(5, 7) != 0 && part(10, 13) != 0;
    let value = remainder(number, u64::MAX / 16).wrapping_sub(less);
    matches!(number, [b'1' | b'2' | b'7' | b'8', ..]) && is_month && is_place && remainder(key, 100) == 97 - value % 97
}
