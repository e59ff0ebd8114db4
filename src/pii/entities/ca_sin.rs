//! Canadian social insurance numbers.

use super::Entity;
use crate::pii::checksum::{is_one_digit, luhn};
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::Number;

pub(super) const ENTITY: Entity = Entity {
    name: "ca_sin",
    groups: &["pii", "ca"],
    standard: "Employment and Social Insurance Act, Service Canada",
    check: "nine digits, Luhn, first digit not 8; context",
    keys: "sin, sin number, sin no, social insurance, social insurance number, social insurance no, canadian \
            sin, nas, numero d assurance sociale, assurance sociale",
    words: "",
    reader: Reader::Number(lengths(9, 9), judge),
    examples: &[
        ("sin", "«046 454 286»"),
        ("note", "social insurance number «130-692-544»."),
        ("socialInsuranceNumber", "«130692544»"),
        ("text", "numéro d'assurance sociale: «046454286»"),
    ],
    counter_examples: &[
        ("sin", "046 454 287"),
        ("note", "046 454 286"),
        ("sin", "000 000 000"),
        ("sin", "0464 54286"),
        ("order", "130692544"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let is_grouped = matches!(number.groups, [9] | [3, 3, 3]) && number.is_uniform() && !number.plus;
    (is_grouped && luhn(number.digits) && !is_one_digit(number.digits)).then_some(Evidence::Weak)
}
