//! German tax identification numbers of persons.

use super::Entity;
use crate::pii::checksum::mod_11_10;
use crate::pii::evidence::{Evidence, Reader, lengths};
use crate::pii::number::Number;

pub(super) const ENTITY: Entity = Entity {
    name: "de_tax_id",
    groups: &["pii", "financial", "de"],
    standard: "Abgabenordnung § 139b; ISO 7064 MOD 11,10",
    check: "eleven digits, among the first ten one twice or three times, ISO 7064 MOD 11,10; context",
    keys: "steuer id, steuer id nummer, steuer id no, steuer id number, steueridnr, steuer idnr, steuer identifikationsnummer, steueridentifikationsnummer, idnr, \
            id nr, steuernummer, tin, tax id, tax identification number, tax number, steuerliche \
            identifikationsnummer, tax identifier",
    words: "",
    reader: Reader::Number(lengths(11, 11), judge),
    examples: &[
        ("steuer_id", "«86 095 742 719»"),
        ("note", "Meine Steuer-ID lautet «86095742719»."),
        ("taxId", "«65 929 970 489»"),
        ("steuerIdentifikationsnummer", "«86095742719»"),
    ],
    counter_examples: &[
        ("steuer_id", "86 095 742 718"),
        ("note", "86095742719"),
        ("steuer_id", "06 095 742 719"),
        ("steuer_id", "11 111 111 111"),
        ("auftrag", "86095742719"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    let is_grouped = matches!(number.groups, [11] | [2, 3, 3, 3]) && number.is_uniform() && !number.plus;
    (is_grouped && is_drawn(number.digits) && mod_11_10(number.digits)).then_some(Evidence::Weak)
}

/// Ten digits of which one stands twice or three times, the others at most once, and the first is not 0.
fn is_drawn(digits: &[u8]) -> bool {
    let Some(drawn) = digits.get(..10).filter(|drawn| drawn.first() != Some(&b'0')) else { return false };
    let count = |digit: u8| memchr::memchr_iter(digit, drawn).count();
    let (mut repeated, mut most) = (0, 0);
    for digit in b'0'..=b'9' {
        repeated += usize::from(count(digit) > 1);
        most = most.max(count(digit));
    }
    repeated == 1 && most <= 3
}
