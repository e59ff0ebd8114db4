//! Swedish personal and coordination numbers.

use super::Entity;
use crate::pii::checksum::{is_day, is_day_of_century, luhn, remainder};
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::{Number, sep};

pub(super) const ENTITY: Entity = Entity {
    name: "se_personnummer",
    groups: &["pii", "se"],
    standard: "Folkbokföringslag 1991:481, SKV 704",
    check: "day of birth exists (coordination: day + 60), Luhn over ten digits; context",
    keys: "personnummer, pnr, personal number, personal identity number, samordningsnummer, person nr, swedish \
            personal number, personnr, persnr",
    words: "",
    reader: Reader::Number(lengths(10, 10) | lengths(12, 12), judge),
    examples: &[
        ("personnummer", "«811228-9874»"),
        ("note", "mitt personnummer är «19811228-9874»."),
        ("pnr", "«198112289874»"),
        ("pnr", "«670919+9530»"),
        ("pnr", "«701063-2391»"),
    ],
    counter_examples: &[
        ("personnummer", "811228-9875"),
        ("note", "811228-9874"),
        ("personnummer", "811328-9874"),
        ("personnummer", "81 1228-9874"),
        ("order", "8112289874"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let is_grouped = match number.groups {
        [10 | 12] => true,
        [6 | 8, 4] => matches!(number.separators, sep::DASH | sep::PLUS | sep::SPACE),
        _ => false,
    };
    let ten = number.digits.get(number.digits.len().checked_sub(10)?..)?;
    let value = |from: usize, to: usize| remainder(ten.get(from..to).unwrap_or_default(), 100) as u32;
    let day = value(4, 6);
    let day = if day > 60 { day - 60 } else { day };
    let is_born = match number.digits.len() {
        12 => (1800..2100).contains(&number.value(0, 4)) && is_day(number.value(0, 4), value(2, 4), day),
        _ => is_day_of_century(value(0, 2), value(2, 4), day),
    };
    (is_grouped && is_born && luhn(ten) && !number.plus).then_some(Evidence::Weak)
}
