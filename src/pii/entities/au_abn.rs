//! Australian business numbers, which sole traders have too.

use super::Entity;
use crate::pii::checksum::weighted;
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::Number;

pub(super) const ENTITY: Entity = Entity {
    name: "au_abn",
    groups: &["pii", "au"],
    standard: "A New Tax System (Australian Business Number) Act 1999",
    check: "first digit less one, weights 10, 1, 3 to 19, mod 89; context",
    keys: "abn, abn number, abn no, australian business number, business number",
    words: "",
    reader: Reader::Number(lengths(11, 11), judge),
    examples: &[
        ("abn", "«51 824 753 556»"),
        ("note", "our ABN is «51824753556»."),
        ("businessNumber", "«53 004 085 616»"),
    ],
    counter_examples: &[
        ("abn", "51 824 753 557"),
        ("note", "51 824 753 556"),
        ("abn", "5182 4753 556"),
        ("order", "51824753556"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let is_grouped = matches!(number.groups, [11] | [2, 3, 3, 3]) && number.is_uniform() && !number.plus;
    let sum = weighted(number.digits, &[10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    // One less in the first place is ten less in the sum.
    let is_valid = number.digits.first() != Some(&b'0') && sum.checked_sub(10)?.is_multiple_of(89);
    (is_grouped && is_valid).then_some(Evidence::Weak)
}
