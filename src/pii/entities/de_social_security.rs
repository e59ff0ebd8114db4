//! German pension insurance numbers: area, day of birth, initial, serial number, check digit.

use super::Entity;
use crate::pii::checksum::is_day_of_century;
use crate::pii::code::Code;
use crate::pii::evidence::{Evidence, Reader, Sighting};
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "de_social_security",
    groups: &["pii", "de"],
    standard: "SGB VI § 147, VKVV § 4",
    check: "day of birth exists, weights 2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1 with digit sums, mod 10; context",
    keys: "sozialversicherungsnummer, sozialversicherung, sv nummer, sv nr, rvnr, rv nummer, \
            rentenversicherungsnummer, rentenversicherung, versicherungsnummer, vsnr, svnr, \
            sozialversicherungsausweis, german social security number, pension insurance number",
    words: "",
    reader: Reader::Shaped(
        &[Shape::of("99999999A999"), Shape::of("99999999").then(" "), Shape::of("99").then(" ")],
        read,
    ),
    examples: &[
        ("rvnr", "«15 070649 C 103»"),
        ("note", "Sozialversicherungsnummer «15070649C103»."),
        ("sv_nummer", "«65 170839 J 003»"),
    ],
    counter_examples: &[
        ("rvnr", "15 070649 C 104"),
        ("note", "15070649C103"),
        ("rvnr", "15 074049 C 103"),
        ("rvnr", "150 70649 C 103"),
        ("serial", "15070649C103"),
    ],
};

fn read(text: &str, start: usize) -> Option<Sighting> {
    let code = Code::<12>::at(text, start, b" ").filter(|code| code.is_like(b"99999999A999"))?;
    let is_grouped = matches!(code.groups(), [12] | [2, 6, 1, 3] | [8, 1, 3] | [2, 6, 4] | [8, 4]);
    let day = code.value(2, 4)?;
    // Where a day's serial numbers are used up, 50 is added to it.
    let is_born = is_day_of_century(code.value(6, 8)?, code.value(4, 6)?, if day > 50 { day - 50 } else { day });
    (is_grouped && is_born && is_checked(&code)?).then(|| code.seen(Evidence::Weak))
}

fn is_checked(code: &Code<12>) -> Option<bool> {
    let letter = code.chars.get(8)?.checked_sub(b'A')? + 1;
    let (head, tail) = (code.digits(0, 8)?, code.digits(9, 11)?);
    let digits = head.iter().map(|digit| digit - b'0').chain([letter / 10, letter % 10]);
    let digits = digits.chain(tail.iter().map(|digit| digit - b'0'));
    let sum: u8 = digits
        .zip([2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1])
        .map(|(digit, weight)| digit * weight / 10 + digit * weight % 10)
        .sum();
    Some(u32::from(sum % 10) == code.value(11, 12)?)
}
