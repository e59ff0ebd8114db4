//! UK national insurance numbers.

use super::Entity;
use crate::pii::code::{Code, letters_before};
use crate::pii::evidence::{Evidence, Reader, Sighting};
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "uk_nino",
    groups: &["pii", "uk"],
    standard: "HMRC NIM39110",
    check: "two prefix letters that are in use, six digits, suffix A to D; context",
    keys: "nino, ni number, ni no, ni num, national insurance, national insurance number, national insurance \
            no, nat ins, nat ins no, insurance number",
    words: "",
    reader: Reader::Any(&[
        Reader::Shaped(&[Shape::of("AA999999A")], read),
        Reader::Shaped(&[Shape::of("99").behind(" -"), Shape::of("999999").behind(" -")], read_spaced),
    ]),
    examples: &[
        ("nino", "«AB123456C»"),
        ("note", "NI number «AB 12 34 56 C»."),
        ("nationalInsurance", "«ab123456c»"),
        ("ni", "NI no «AB 123456 C»"),
    ],
    counter_examples: &[
        ("nino", "DB123456C"),
        ("note", "AB123456C"),
        ("nino", "AB123456E"),
        ("nino", "BG123456A"),
        ("nino", "AB12345C"),
        ("serial", "AB123456C"),
    ],
};

fn read(text: &str, start: usize) -> Option<Sighting> {
    let code = Code::<9>::at(text, start, b" -").filter(|code| code.is_like(b"AA999999A"))?;
    let [first, second, .., suffix] = code.chars;
    let is_used = !matches!(first, b'D' | b'F' | b'I' | b'Q' | b'U' | b'V')
        && !matches!(second, b'D' | b'F' | b'I' | b'O' | b'Q' | b'U' | b'V')
        && !matches!(&[first, second], b"BG" | b"GB" | b"KN" | b"NK" | b"NT" | b"TN" | b"ZZ");
    let is_grouped = matches!(code.groups(), [9] | [2, 2, 2, 2, 1] | [2, 6, 1] | [8, 1]);
    (is_used && is_grouped && matches!(suffix, b'A'..=b'D')).then(|| code.seen(Evidence::Shape))
}

fn read_spaced(text: &str, digits: usize) -> Option<Sighting> {
    read(text, letters_before(text, digits, 2, b" -")?)
}
