//! Dutch citizen service numbers.

use super::Entity;
use crate::pii::checksum::{is_one_digit, weighted};
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::Number;

pub(super) const ENTITY: Entity = Entity {
    name: "nl_bsn",
    groups: &["pii", "nl"],
    standard: "Wet algemene bepalingen burgerservicenummer",
    check: "weights 9 to 2 and -1, mod 11 (elfproef); context",
    keys: "bsn, bsn nummer, burgerservicenummer, citizen service number, sofinummer, sofi nummer, sofi, \
            persoonsnummer",
    words: "",
    reader: Reader::Number(lengths(8, 9), judge),
    examples: &[
        ("bsn", "«111222333»"),
        ("note", "burgerservicenummer: «123456782»."),
        ("bsn", "«1112.22.333»"),
        ("bsn", "«10000008»"),
    ],
    counter_examples: &[
        ("bsn", "111222334"),
        ("note", "111222333"),
        ("bsn", "000000000"),
        ("bsn", "11-1222333"),
        ("order", "111222333"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let is_grouped = matches!(number.groups, [8 | 9] | [4, 2, 3] | [3, 3, 3]) && number.is_uniform() && !number.plus;
    let (check, payload) = number.digits.split_last()?;
    // Eight digits are nine whose first is 0; the last has the weight -1.
    let weights: &[u8] = if payload.len() == 8 { &[9, 8, 7, 6, 5, 4, 3, 2] } else { &[8, 7, 6, 5, 4, 3, 2] };
    let is_valid = weighted(payload, weights) % 11 == u32::from(check - b'0');
    (is_grouped && is_valid && !is_one_digit(number.digits)).then_some(Evidence::Weak)
}
