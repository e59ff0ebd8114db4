//! Italian VAT numbers (partita IVA), which freelancers have too.

use super::Entity;
use crate::pii::checksum::{luhn, remainder};
use crate::pii::code::Code;
use crate::pii::evidence::{Evidence, Reader, Sighting, lengths};
use crate::pii::number::Number;
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "it_vat",
    groups: &["pii", "financial", "it"],
    standard: "DPR 633/1972, Agenzia delle Entrate",
    check: "eleven digits, office 001-100 or a special one, Luhn; context",
    keys: "partita iva, p iva, piva, iva, vat, vat id, vat number, vat no, vatnumber, numero iva, it vat, \
            codice iva",
    words: "",
    reader: Reader::Any(&[Reader::Number(lengths(11, 11), judge), Reader::Shaped(&[Shape::of("AA99999999999")], read)]),
    examples: &[("partita_iva", "«00743110157»"), ("note", "P.IVA «00743110157»."), ("vat_number", "«IT00743110157»")],
    counter_examples: &[
        ("partita_iva", "00743110158"),
        ("note", "00743110157"),
        ("partita_iva", "00000000000"),
        ("partita_iva", "007 43110157"),
        ("ordine", "00743110157"),
    ],
};

fn judge(number: &Number<'_>) -> Option<Evidence> {
    (matches!(number.groups, [11]) && !number.plus && is_valid(number.digits)).then_some(Evidence::Weak)
}

fn read(text: &str, start: usize) -> Option<Sighting> {
    let code = Code::<13>::at(text, start, b"").filter(|code| code.is_like(b"IT99999999999"))?;
    is_valid(code.digits(2, 13)?).then(|| code.seen(Evidence::Checked))
}

fn is_valid(digits: &[u8]) -> bool {
    let office = remainder(digits.get(7..10).unwrap_or_default(), 1000);
    let is_office = matches!(office, 1..=100 | 120 | 121 | 888 | 999);
    is_office && !digits.starts_with(b"0000000") && luhn(digits)
}
