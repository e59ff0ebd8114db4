//! German identity card numbers: nine characters without vowels, with or without their check digit.

use super::Entity;
use crate::pii::code::Code;
use crate::pii::evidence::{Evidence, Reader, Sighting};
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "de_id_card",
    groups: &["pii", "de"],
    standard: "PAuswV; ICAO Doc 9303, weights 7, 3, 1",
    check: "nine of the allowed characters, check digit 7-3-1 where it is there; context",
    keys: "ausweis, ausweisnummer, ausweisnr, ausweis nr, personalausweis, personalausweisnummer, \
            personalausweisnr, personalausweis nr, perso, id card, id card number, identity card, identity card \
            number, seriennummer ausweis, reisepass, reisepassnummer, pass nr, passnummer",
    words: "",
    reader: Reader::Shaped(&[Shape::of("A********"), Shape::of("A********9")], read),
    examples: &[
        ("personalausweis", "«T220001293»"),
        ("note", "Ausweisnummer: «L01X00T47»."),
        ("id_card", "«T22000129»"),
        ("idCard", "«l01x00t471»"),
    ],
    counter_examples: &[
        ("personalausweis", "T220001294"),
        ("note", "T220001293"),
        ("personalausweis", "A220001293"),
        ("personalausweis", "122000129"),
        ("seriennummer", "T22000129"),
    ],
};

fn read(text: &str, start: usize) -> Option<Sighting> {
    if let Some(code) = Code::<10>::at(text, start, b"") {
        let (payload, check) = (code.chars.get(..9)?, code.value(9, 10)?);
        return (is_number(payload) && check_digit(payload) == check).then(|| code.seen(Evidence::Weak));
    }
    let code = Code::<9>::at(text, start, b"")?;
    is_number(&code.chars).then(|| code.seen(Evidence::Hint))
}

/// Vowels and what looks like digits are left out; the first is a letter (older: the office's).
fn is_number(payload: &[u8]) -> bool {
    let is_allowed = |char: &u8| char.is_ascii_digit() || b"CFGHJKLMNPRTVWXYZ".contains(char);
    payload.iter().all(is_allowed) && payload.first().is_some_and(u8::is_ascii_uppercase)
}

fn check_digit(payload: &[u8]) -> u32 {
    let value = |char: u8| if char.is_ascii_digit() { char - b'0' } else { char.saturating_sub(b'A') + 10 };
    payload.iter().zip([7, 3, 1].iter().cycle()).map(|(&char, weight)| u32::from(value(char)) * weight).sum::<u32>()
        % 10
}
