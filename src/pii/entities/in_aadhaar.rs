//! Indian Aadhaar numbers: twelve digits with a check that finds every typing slip.

use super::Entity;
use crate::pii::checksum::verhoeff;
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::Number;

pub(super) const ENTITY: Entity = Entity {
    name: "in_aadhaar",
    groups: &["pii", "in"],
    standard: "UIDAI, Verhoeff",
    check: "first digit 2 to 9, Verhoeff, not a palindrome; context",
    keys: "aadhaar, aadhar, adhaar, aadhaar number, aadhaar no, aadhar number, aadhar no, uidai, aadhaar card, \
            uid number, आधार, आधार नंबर, आधार संख्या, आधार कार्ड",
    words: "",
    reader: Reader::Number(lengths(12, 12), judge),
    examples: &[
        ("aadhaar", "«2341 2341 2346»"),
        ("note", "Aadhaar number «234123412346»."),
        ("aadhar_no", "«2341-2341-2346»"),
    ],
    counter_examples: &[
        ("aadhaar", "2341 2341 2347"),
        ("note", "2341 2341 2346"),
        ("aadhaar", "1341 2341 2346"),
        ("aadhaar", "234 123 412 346"),
        ("order", "234123412346"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let is_grouped = matches!(number.groups, [12] | [4, 4, 4]) && number.is_uniform() && !number.plus;
    let is_palindrome = number.digits.iter().eq(number.digits.iter().rev());
    let is_valid = matches!(number.digits, [b'2'..=b'9', ..]) && !is_palindrome && verhoeff(number.digits);
    (is_grouped && is_valid).then_some(Evidence::Weak)
}
