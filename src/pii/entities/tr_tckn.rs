//! Turkish identity numbers.

use super::Entity;
use crate::pii::checksum::weighted;
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::Number;

pub(super) const ENTITY: Entity = Entity {
    name: "tr_tckn",
    groups: &["pii", "tr"],
    standard: "Nüfus Hizmetleri Kanunu 5490",
    check: "eleven digits, two check digits, not beginning with 0; context",
    keys: "tckn, tc kimlik, tc kimlik no, tc kimlik numarasi, kimlik no, kimlik numarasi, tc no, tc, turkish id \
            number, t c kimlik no",
    words: "",
    reader: Reader::Number(lengths(11, 11), judge),
    examples: &[("tckn", "«10000000146»"), ("note", "TC kimlik no «10000000146»."), ("tcKimlikNo", "«10000000146»")],
    counter_examples: &[
        ("tckn", "10000000147"),
        ("note", "10000000146"),
        ("tckn", "01000000146"),
        ("tckn", "100 00000146"),
        ("siparis", "10000000146"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let odd = weighted(number.digits, &[1, 0, 1, 0, 1, 0, 1, 0, 1]);
    let even = weighted(number.digits, &[0, 1, 0, 1, 0, 1, 0, 1]);
    let tenth = (odd * 7 + 90 - even) % 10;
    let eleventh = (odd + even + tenth) % 10;
    let is_valid = tenth == number.value(9, 10) && eleventh == number.value(10, 11);
    (matches!(number.groups, [11]) && !number.plus && !number.digits.starts_with(b"0") && is_valid)
        .then_some(Evidence::Weak)
}
