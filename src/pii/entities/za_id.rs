//! South African identity numbers: day of birth, serial number, citizenship, Luhn.

use super::Entity;
use crate::pii::checksum::{is_day_of_century, luhn};
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::Number;

pub(super) const ENTITY: Entity = Entity {
    name: "za_id",
    groups: &["pii", "za"],
    standard: "Identification Act 68 of 1997",
    check: "thirteen digits, day of birth exists, citizenship 0 to 2, Luhn; context",
    keys: "za id, sa id, sa id number, rsa id, rsa id number, id number, id no, identity number, identity no, \
            south african id, south african id number, said, identiteitsnommer",
    words: "",
    reader: Reader::Number(lengths(13, 13), judge),
    examples: &[
        ("sa_id", "«8001015009087»"),
        ("note", "South African ID number «8001015009087»."),
        ("identityNumber", "«800101 5009 087»"),
    ],
    counter_examples: &[
        ("sa_id", "8001015009088"),
        ("note", "8001015009087"),
        ("sa_id", "8013015009087"),
        ("ean", "8001015009087"),
        ("created_at", "8001015009087"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let is_grouped = matches!(number.groups, [13] | [6, 4, 3] | [6, 4, 2, 1]) && number.is_uniform() && !number.plus;
    let is_born = is_day_of_century(number.value(0, 2), number.value(2, 4), number.value(4, 6));
    let is_citizenship = number.value(10, 11) <= 2;
    (is_grouped && is_born && is_citizenship && luhn(number.digits)).then_some(Evidence::Weak)
}
