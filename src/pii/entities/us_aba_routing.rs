//! Routing numbers of US banks: nine digits, of which the first two name a district.

use super::Entity;
use crate::pii::checksum::{is_one_digit, weighted};
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::Number;

pub(super) const ENTITY: Entity = Entity {
    name: "us_aba_routing",
    groups: &["financial", "us"],
    standard: "ABA routing number policy, ANSI X9.100-160",
    check: "district 00-12, 21-32, 61-72 or 80, weights 3, 7, 1, mod 10; context",
    keys: "aba, routing, routing number, routing no, routing num, aba routing, aba number, aba routing number, \
            aba rtn, rtn, routing transit number, bank routing, ach routing, wire routing",
    words: "aba no",
    reader: Reader::Number(lengths(9, 9), judge),
    examples: &[
        ("routing_number", "«021000021»"),
        ("note", "ABA routing number «011401533»."),
        ("aba", "«0910-0001-9»"),
    ],
    counter_examples: &[
        ("routing", "021000022"),
        ("note", "021000021"),
        ("routing", "500000005"),
        ("routing", "000000000"),
        ("ssn", "021000021"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let is_district = matches!(number.value(0, 2), 0..=12 | 21..=32 | 61..=72 | 80);
    let is_valid = weighted(number.digits, &[3, 7, 1, 3, 7, 1, 3, 7, 1]).is_multiple_of(10);
    let is_grouped = matches!(number.groups, [9] | [4, 4, 1]) && number.is_uniform() && !number.plus;
    (is_district && is_valid && is_grouped && !is_one_digit(number.digits)).then_some(Evidence::Weak)
}
