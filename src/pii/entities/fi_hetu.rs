//! Finnish personal identity codes: day of birth, a sign for the century, serial number, check character.

use super::Entity;
use crate::pii::checksum::{is_day, remainder};
use crate::pii::code::{begins_freely, ends_freely};
use crate::pii::evidence::{Evidence, Reader, Sighting};
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "fi_hetu",
    groups: &["pii", "fi"],
    standard: "Laki 661/2009, DVV",
    check: "day of birth exists, check character by the nine digits mod 31",
    keys: "hetu, henkilotunnus, henkilotunnukseni, sotu, personal identity code, personbeteckning, finnish \
            personal identity code, henkilo tunnus",
    words: "",
    reader: Reader::Shaped(&[Shape::of("999999A999*"), Shape::of("999999").then("+-")], read),
    examples: &[
        ("hetu", "«131052-308T»"),
        ("note", "henkilötunnus «131052A308T»."),
        ("value", "«040295-088J»"),
        ("hetu", "«010100A002H»"),
    ],
    counter_examples: &[
        ("hetu", "131052-308U"),
        ("hetu", "311152-308T"),
        ("hetu", "131052/308T"),
        ("hetu", "131052-001A"),
        ("hetu", "1131052-308T"),
        ("hetu", "131052-308TX"),
    ],
};

fn read(text: &str, start: usize) -> Option<Sighting> {
    let bytes = text.as_bytes();
    let end = start + 11;
    let code: &[u8; 11] = bytes.get(start..end)?.try_into().ok()?;
    let century = match code.get(6)?.to_ascii_uppercase() {
        b'+' => 1800,
        b'-' | b'U'..=b'Y' => 1900,
        b'A'..=b'F' => 2000,
        _ => return None,
    };
    let (birthday, rest) = (code.get(..6)?, code.get(7..)?);
    let (serial, check) = (rest.get(..3)?, rest.get(3)?);
    if !birthday.iter().chain(serial).all(u8::is_ascii_digit)
        || !begins_freely(bytes, start)
        || !ends_freely(bytes, end)
    {
        return None;
    }
    let part = |from: usize| remainder(birthday.get(from..from + 2).unwrap_or_default(), 100) as u32;
    let number = remainder(birthday, 1_000_000) * 1000 + remainder(serial, 1000);
    let is_checked = b"0123456789ABCDEFHJKLMNPRSTUVWXY".get(number as usize % 31) == Some(&check.to_ascii_uppercase());
    let is_serial = remainder(serial, 1000) >= 2;
    (is_checked && is_serial && is_day(century + part(4), part(2), part(0))).then_some(Sighting {
        start,
        end,
        evidence: if check.is_ascii_digit() && code.get(6) == Some(&b'-') {
            Evidence::Checked
        } else {
            Evidence::Strong
        },
    })
}
