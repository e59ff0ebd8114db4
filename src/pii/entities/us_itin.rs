//! US taxpayer identification numbers of those without a social security number.

use super::Entity;
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::{Number, sep};

pub(super) const ENTITY: Entity = Entity {
    name: "us_itin",
    groups: &["pii", "financial", "us"],
    standard: "IRS Publication 4757, IRM 3.21.263",
    check: "area 9xx, groups 50-65, 70-88, 90-92, 94-99; context",
    keys: "itin, itin number, itin no, taxpayer id, taxpayer identification number, individual taxpayer \
            identification number, taxpayer itin, tin, tax id, tax identifier, ssn, ssn itin",
    words: "",
    reader: Reader::Number(lengths(9, 9), judge),
    examples: &[
        ("itin", "«900-70-0000»"),
        ("note", "ITIN «912859456»"),
        ("taxpayer_id", "«962-71-7588»"),
        ("itin", "«962 71 7588»"),
    ],
    counter_examples: &[
        ("itin", "900-49-0000"),
        ("itin", "800-70-0000"),
        ("note", "912859456"),
        ("value", "962-71-7588"),
        ("itin", "962-93-7588"),
        ("order", "962717588"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let is_group = matches!(number.value(3, 5), 50..=65 | 70..=88 | 90..=92 | 94..=99);
    if number.plus || !number.digits.starts_with(b"9") || !is_group {
        return None;
    }
    match number.groups {
        [3, 2, 4] if matches!(number.separators, sep::DASH | sep::SPACE | sep::DOT) => Some(Evidence::Shape),
        [9] => Some(Evidence::Hint),
        _ => None,
    }
}
