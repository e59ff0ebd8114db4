//! Australian tax file numbers.

use super::Entity;
use crate::pii::checksum::{is_one_digit, weighted};
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::Number;

pub(super) const ENTITY: Entity = Entity {
    name: "au_tfn",
    groups: &["pii", "financial", "au"],
    standard: "ATO, Taxation Administration Act 1953",
    check: "weights 1, 4, 3, 7, 5, 8, 6, 9, 10 (8 digits: 10, 7, 8, 4, 6, 3, 5, 1), mod 11; context",
    keys: "tfn, tfn number, tax file number, tax file no, tax file num",
    words: "",
    reader: Reader::Number(lengths(8, 9), judge),
    examples: &[("tfn", "«123 456 782»"), ("note", "tax file number «876543210»."), ("tfn", "«459 599 230»")],
    counter_examples: &[
        ("tfn", "123 456 789"),
        ("note", "123 456 782"),
        ("tfn", "000 000 000"),
        ("tfn", "12 3456 782"),
        ("order", "123456782"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let is_grouped = matches!(number.groups, [8 | 9] | [3 | 2, 3, 3]) && number.is_uniform() && !number.plus;
    let weights: &[u8] =
        if number.digits.len() == 9 { &[1, 4, 3, 7, 5, 8, 6, 9, 10] } else { &[10, 7, 8, 4, 6, 3, 5, 1] };
    let is_valid = weighted(number.digits, weights).is_multiple_of(11);
    (is_grouped && is_valid && !is_one_digit(number.digits)).then_some(Evidence::Weak)
}
