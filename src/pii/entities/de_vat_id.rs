//! German VAT numbers, which freelancers have too.

use super::Entity;
use crate::pii::checksum::mod_11_10;
use crate::pii::code::{Code, letters_before};
use crate::pii::evidence::{Evidence, Reader, Sighting};
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "de_vat_id",
    groups: &["pii", "financial", "de"],
    standard: "UStG § 27a; ISO 7064 MOD 11,10",
    check: "DE, nine digits, not beginning with 0, ISO 7064 MOD 11,10",
    keys: "ust id, ust idnr, ust id nr, ustid, ustidnr, umsatzsteuer id, umsatzsteuer identifikationsnummer, \
            umsatzsteueridentifikationsnummer, vat, vat id, vat number, vat no, vat reg no, mwst nr, mwst \
            nummer, vat identification number, uid",
    words: "",
    reader: Reader::Any(&[
        Reader::Shaped(&[Shape::of("AA999999999")], read),
        Reader::Shaped(&[Shape::of("999999999").behind(" "), Shape::of("999").behind(" ")], read_spaced),
    ]),
    examples: &[
        ("ustId", "«DE136695976»"),
        ("note", "USt-IdNr. «DE 136695976»"),
        ("value", "«DE136695976»"),
        ("vat", "«DE 136 695 976»"),
        ("q", "vat=«DE%20136695976»&x=1"),
    ],
    counter_examples: &[
        ("ustId", "DE136695977"),
        ("ustId", "DE036695976"),
        ("ustId", "XDE136695976"),
        ("ustId", "DE1366959761"),
        ("order", "DE136695976"),
    ],
};

fn read(text: &str, start: usize) -> Option<Sighting> {
    let code = Code::<11>::at(text, start, b" ").filter(|code| code.is_like(b"DE999999999"))?;
    let digits = code.digits(2, 11)?;
    let is_grouped = matches!(code.groups(), [11] | [2, 9] | [2, 3, 3, 3]);
    (is_grouped && !digits.starts_with(b"0") && mod_11_10(digits)).then(|| code.seen(Evidence::Checked))
}

fn read_spaced(text: &str, digits: usize) -> Option<Sighting> {
    read(text, letters_before(text, digits, 2, b" ")?)
}
