//! Polish PESEL numbers: the day of birth with the century in the month, a serial number, a check digit.

use super::Entity;
use crate::pii::checksum::{is_day, weighted};
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::Number;

pub(super) const ENTITY: Entity = Entity {
    name: "pl_pesel",
    groups: &["pii", "pl"],
    standard: "Ustawa o ewidencji ludności, art. 15",
    check: "day of birth exists, weights 1, 3, 7, 9, mod 10; context",
    keys: "pesel, numer pesel, nr pesel, pesel number",
    words: "",
    reader: Reader::Number(lengths(11, 11), judge),
    examples: &[
        ("pesel", "«44051401359»"),
        ("note", "mój numer PESEL to «44051401359»."),
        ("numer_pesel", "«02070803628»"),
    ],
    counter_examples: &[
        ("pesel", "44051401358"),
        ("note", "44051401359"),
        ("pesel", "44133201359"),
        ("pesel", "440514 01359"),
        ("zamowienie", "44051401359"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let (year, month, day) = (number.value(0, 2), number.value(2, 4), number.value(4, 6));
    // 20 is added to the month for each century from 1900 on; 80 is the one before.
    let century = match month / 20 {
        4 => 1800,
        centuries => 1900 + centuries * 100,
    };
    let is_valid = weighted(number.digits, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]).is_multiple_of(10);
    (matches!(number.groups, [11]) && !number.plus && is_day(century + year, month % 20, day) && is_valid)
        .then_some(Evidence::Weak)
}
