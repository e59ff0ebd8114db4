//! South Korean resident registration numbers: day of birth, century and sex, place, check digit.

use super::Entity;
use crate::pii::checksum::{is_day, weighted};
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::{Number, sep};

pub(super) const ENTITY: Entity = Entity {
    name: "kr_rrn",
    groups: &["pii", "kr"],
    standard: "Resident Registration Act; since October 2020 six random digits",
    check: "day of birth exists, weights 2 to 9 and 2 to 5, mod 11; without the dash only in context",
    keys: "rrn, jumin, jumin number, resident registration number, resident number, korean rrn, jumin deungnok \
            beonho, 주민등록번호, 주민번호, 외국인등록번호",
    words: "",
    reader: Reader::Number(lengths(13, 13), judge),
    examples: &[
        ("rrn", "«031126-2920755»"),
        ("value", "«920417-1098276»"),
        ("note", "주민등록번호: «920417-1098276»"),
        ("rrn", "«9204171098276»"),
        ("rrn", "«201103-3123456»"),
    ],
    counter_examples: &[
        ("rrn", "921317-1098276"),
        ("note", "9204171098276"),
        ("rrn", "92-04171098276"),
        ("rrn", "870417-1098276"),
        ("ean", "920417-1098276"),
        ("value", "201103-3123456"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let is_dashed = matches!(number.groups, [6, 7]) && number.separators == sep::DASH;
    if number.plus || !(is_dashed || matches!(number.groups, [13])) {
        return None;
    }
    let century = match number.value(6, 7) {
        1 | 2 | 5 | 6 => 1900,
        3 | 4 | 7 | 8 => 2000,
        _ => 1800,
    };
    let year = century + number.value(0, 2);
    if !is_day(year, number.value(2, 4), number.value(4, 6)) {
        return None;
    }
    let sum = weighted(number.digits, &[2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]);
    let check = number.value(12, 13);
    // Foreigners' numbers have 13 instead of 11.
    let foreign = matches!(number.value(6, 7), 5..=8);
    let is_checked = (11 - sum % 11) % 10 == check || foreign && (13 - sum % 11) % 10 == check;
    match (is_checked, is_dashed) {
        (true, true) => Some(Evidence::Checked),
        (true, false) => Some(Evidence::Weak),
        // Newer numbers have no check digit; whoever got one is born then or took a new one.
        (false, true) if (2020..2050).contains(&year) => Some(Evidence::Shape),
        (false, _) => None,
    }
}
