//! US social security numbers. They carry no check digit, so context decides.

use super::Entity;
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::{Number, sep};

pub(super) const ENTITY: Entity = Entity {
    name: "us_ssn",
    groups: &["pii", "us"],
    standard: "SSA, 42 CFR; randomised since 2011",
    check: "area not 000, 666, 9xx; group not 00; serial not 0000; separated alone is possible, else context",
    keys: "ssn, social security, social security number, social security no, soc sec, ss number, social sec \
            no, us ssn, tax id, tax identifier, taxpayer id, taxpayer identification number, tin, \
            sozialversicherungsnummer usa, numero de seguro social, seguro social, numero de securite sociale us",
    words: "ss",
    reader: Reader::Number(lengths(9, 9), judge),
    examples: &[
        ("ssn", "«123-45-6789»"),
        ("note", "SSN «123-45-6789»"),
        ("applicant.socialSecurityNumber", "«856456789»"),
        ("SSN", "«001 57 0466»"),
        ("text", "His social security number: «742153126», born in May."),
        ("ssn", "«123\u{2011}45\u{2011}6789»"),
        ("ssn", "«123%2D45%2D6789»"),
        ("ssn", "«１２３-４５-６７８９»"),
        ("text", "ssn=«123-45-6789»&x=1"),
        ("text", "SSNs: 123-45-6789 and «223-45-6789»"),
    ],
    counter_examples: &[
        ("note", "123-45-6789"),
        ("note", "123456789"),
        ("ssn", "000-12-3456"),
        ("ssn", "666-12-3456"),
        ("ssn", "912-34-5678"),
        ("ssn", "123-00-6789"),
        ("ssn", "123-45-0000"),
        ("order_number", "123-45-6789"),
        ("ssn", "1123-45-6789"),
        ("ssn", "123-45-67891"),
        ("ssn", "12-345-6789"),
        ("ssn_hash", "123456789"),
        ("note", "SSN on file. Order 123456789"),
        ("social_insurance_number", "728459284"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let (area, group, serial) = (number.value(0, 3), number.value(3, 5), number.value(5, 9));
    if number.plus || matches!(area, 0 | 666 | 900..) || group == 0 || serial == 0 {
        return None;
    }
    let is_separated = number.is_uniform() && number.separators & (sep::SLASH | sep::PLUS) == 0;
    match number.groups {
        [3, 2, 4] if is_separated => Some(Evidence::Shape),
        [9] | [3, 2, 4] => Some(Evidence::Hint),
        _ => None,
    }
}
