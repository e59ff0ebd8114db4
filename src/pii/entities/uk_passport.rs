//! UK passport numbers: nine digits, so that only context tells.

use super::Entity;
use crate::pii::checksum::is_one_digit;
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::{Number, sep};

pub(super) const ENTITY: Entity = Entity {
    name: "uk_passport",
    groups: &["pii", "uk"],
    standard: "HM Passport Office",
    check: "nine digits; context",
    keys: "passport, passport number, passport no, passport num, uk passport, uk passport number, uk passport \
            no, british passport, british passport number, gb passport, gbr passport, passport uk, passport gb, passport number uk, \
            passport no uk, passport united kingdom",
    words: "",
    reader: Reader::Number(lengths(9, 9), judge),
    examples: &[
        ("passport_number", "«529370773»"),
        ("note", "UK passport number «827321176»."),
        ("uk_passport", "«827 321 176»"),
        ("note", "British passport «827321176»"),
    ],
    counter_examples: &[
        ("passport", "52937077"),
        ("note", "529370773"),
        ("order", "529370773"),
        ("passport", "999999999"),
        ("passport", "529-370-773"),
        ("us_passport", "529370773"),
        ("note", "U.S. passport number 529370773"),
        ("note", "passport no. (USA) 529370773"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let is_grouped = matches!((number.groups, number.separators), ([9], _) | ([3, 3, 3], sep::SPACE));
    (is_grouped && !number.plus && !is_one_digit(number.digits)).then_some(Evidence::Hint)
}
