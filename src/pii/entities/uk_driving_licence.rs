//! UK driving licence numbers: surname, birthday and sex, initials, a check that is not public.

use super::Entity;
use crate::pii::code::{Code, letters_before};
use crate::pii::evidence::{Evidence, Reader, Sighting};
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "uk_driving_licence",
    groups: &["pii", "uk"],
    standard: "DVLA, driver number format",
    check: "classes of the sixteen places, month and day of birth",
    keys: "driving licence, driving licence number, driving licence no, driver licence, driver licence number, \
            licence no, licence number, driving license, driving license number, dvla, driver number, drivers \
            licence, licence num",
    words: "",
    reader: Reader::Any(&[
        Reader::Shaped(&[Shape::of("A****999999A**AA")], read),
        Reader::Shaped(&[Shape::of("999999").behind(" ")], read_spaced),
    ]),
    examples: &[
        ("drivingLicence", "«MORGA657054SM9IJ»"),
        ("value", "«JORDA561011Q96NK»"),
        ("note", "UK driving licence number: «MORGA 657054 SM9IJ»."),
        ("licence_no", "«FOX99808124AB9CD»"),
    ],
    counter_examples: &[
        ("licence", "MORGA677054SM9IJ"),
        ("licence", "MORGA653954SM9IJ"),
        ("licence", "MORGA657054SM9I"),
        ("licence", "9ORGA657054SM9IJ"),
        ("serial", "MORGA657054SM9IJ"),
        ("licence", "MO9GA657054SM9IJ"),
    ],
};

fn read(text: &str, start: usize) -> Option<Sighting> {
    let code = Code::<16>::at(text, start, b" ").filter(|code| code.is_like(b"A****999999A**AA"))?;
    let surname = code.chars.get(..5)?;
    let letters = surname.iter().take_while(|char| char.is_ascii_uppercase()).count();
    let is_padded = surname.iter().skip(letters).all(|&char| char == b'9');
    let month = code.value(6, 8)?;
    // Women's months have 50 added; the year is split around month and day.
    let is_born = matches!(month, 1..=12 | 51..=62) && matches!(code.value(8, 10)?, 1..=31);
    let is_initial = code.chars.get(12).is_some_and(|&char| char == b'9' || char.is_ascii_uppercase());
    let is_grouped = matches!(code.groups(), [16] | [5, 6, 5] | [5, 6, 3, 2]);
    (is_padded && is_born && is_initial && is_grouped).then(|| code.seen(Evidence::Checked))
}

fn read_spaced(text: &str, birthday: usize) -> Option<Sighting> {
    read(text, letters_before(text, birthday, 5, b" ")?)
}
