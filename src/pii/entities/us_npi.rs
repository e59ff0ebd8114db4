//! National provider identifiers of US health care: Luhn over the number behind the card prefix 80840.

use super::Entity;
use crate::pii::checksum::luhn_sum;
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::Number;

pub(super) const ENTITY: Entity = Entity {
    name: "us_npi",
    groups: &["pii", "health", "us"],
    standard: "45 CFR 162.406, CMS NPI check digit",
    check: "first digit 1 or 2, Luhn with 80840 before it; context",
    keys: "npi, npi number, npi no, national provider identifier, national provider id, provider npi, provider \
            id, billing npi, rendering npi, prescriber npi",
    words: "",
    reader: Reader::Number(lengths(10, 10), judge),
    examples: &[
        ("npi", "«1234567893»"),
        ("note", "provider NPI number «1245319599»"),
        ("provider.npiNumber", "«1234567893»"),
    ],
    counter_examples: &[
        ("npi", "1234567890"),
        ("note", "1234567893"),
        ("npi", "3234567891"),
        ("npi", "123-456-7893"),
        ("phone", "1234567893"),
    ],
};

/// What the five digits `80840` add to the sum.
const PREFIX_SUM: u32 = 24;

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let is_valid = (luhn_sum(number.digits) + PREFIX_SUM).is_multiple_of(10);
    (matches!(number.groups, [10]) && !number.plus && matches!(number.digits, [b'1' | b'2', ..]) && is_valid)
        .then_some(Evidence::Weak)
}
