//! Australian Medicare card numbers, with or without the number of the person on the card.

use super::Entity;
use crate::pii::checksum::weighted;
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::Number;

pub(super) const ENTITY: Entity = Entity {
    name: "au_medicare",
    groups: &["pii", "health", "au"],
    standard: "Services Australia, Medicare card number",
    check: "first digit 2 to 6, weights 1, 3, 7, 9, mod 10 over eight digits; context",
    keys: "medicare, medicare number, medicare no, medicare card, medicare card number, medicare num, medicare \
            card no, ihi",
    words: "",
    reader: Reader::Number(lengths(10, 11), judge),
    examples: &[
        ("medicare_number", "«2123 45670 1»"),
        ("note", "Medicare card «2123456701»"),
        ("medicare", "«2123 45670 1/1»"),
        ("medicare", "«2123 45670 1-2»"),
    ],
    counter_examples: &[
        ("medicare", "2123 45671 1"),
        ("note", "2123 45670 1"),
        ("medicare", "1123 45670 1"),
        ("medicare", "212 345 6701"),
        ("order", "2123456701"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let is_grouped = matches!(number.groups, [10 | 11] | [4, 5, 1 | 2] | [4, 5, 1, 1] | [10, 1]);
    let sum = weighted(number.digits, &[1, 3, 7, 9, 1, 3, 7, 9]);
    let is_valid = matches!(number.digits, [b'2'..=b'6', ..]) && sum % 10 == number.value(8, 9);
    (is_grouped && is_valid && !number.plus).then_some(Evidence::Weak)
}
