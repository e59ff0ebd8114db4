//! NHS numbers of England, Wales and the Isle of Man: ten digits with a check that one number in eleven passes.

use super::Entity;
use crate::pii::checksum::{is_one_digit, weighted};
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::Number;

pub(super) const ENTITY: Entity = Entity {
    name: "uk_nhs",
    groups: &["pii", "health", "uk"],
    standard: "NHS Data Dictionary, ISB 0149",
    check: "weights 10 to 2, mod 11, check digit not 10; context",
    keys: "nhs, nhs number, nhs no, nhs num, national health service number, health service number, patient \
            nhs, chi number",
    words: "",
    reader: Reader::Number(lengths(10, 10), judge),
    examples: &[
        ("nhsNumber", "«943 476 5919»"),
        ("note", "NHS no: «9434765919»."),
        ("nhs", "«943-476-5919»"),
        ("patient.nhs_number", "«943\u{a0}476\u{a0}5919»"),
    ],
    counter_examples: &[
        ("nhs", "943 476 5918"),
        ("note", "9434765919"),
        ("phone", "943 476 5919"),
        ("order_id", "9434765919"),
        ("nhs", "94-34765-919"),
        ("nhs", "0000000000"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let is_grouped = matches!(number.groups, [10] | [3, 3, 4]) && number.is_uniform() && !number.plus;
    let is_valid = weighted(number.digits, &[10, 9, 8, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11);
    (is_grouped && is_valid && !is_one_digit(number.digits)).then_some(Evidence::Weak)
}
