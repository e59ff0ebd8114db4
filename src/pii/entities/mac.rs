//! Hardware addresses of network cards, told apart from the longer rows of hex pairs in fingerprints.

use super::Entity;
use crate::pii::evidence::{Evidence, Reader, Sighting};
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "mac",
    groups: &["pii", "network"],
    standard: "IEEE 802, EUI-48",
    check: "six hex pairs with `:` or `-`, or three quads with `.`, not all alike, nothing joined",
    keys: "mac, mac address, mac addr, hwaddr, hw addr, hardware address, ethernet, ethernet address, device mac, wifi mac, \
            bssid, ether, physical address, mac adresse, adresse mac, direccion mac, indirizzo mac, endereco mac, adres mac, \
            mac adres, mac адрес",
    words: "lladdr, link ether",
    reader: Reader::Shaped(
        &[
            Shape::of("**").then(":-"),
            Shape::of("**").behind(":-"),
            Shape::of("****").then("."),
            Shape::of("****").behind("."),
        ],
        read,
    ),
    examples: &[
        ("mac", "«31:3D:EF:6E:5D:41»"),
        ("note", "device mac «1725.0f94.519b» joined"),
        ("value", "«C5-8A-BA-BC-5E-67»"),
        ("value", "«aa:bb:cc:dd:ee:f0»"),
        ("log", "hwaddr=«3e:8a:a3:18:28:98», up"),
        ("q", "mac=«3e%3A8a%3Aa3%3A18%3A28%3A98»&x=1"),
        ("hwaddr", "«01-02-03-04-05-06»"),
        ("note", "joined («aa:bb:cc:dd:ee:f0»)."),
        ("note", "joined: «aabb.ccdd.eef0»."),
        ("note", "mac:«31:3D:EF:6E:5D:41»"),
        ("note", "the MAC is «10:20:30:40:50:60»"),
    ],
    counter_examples: &[
        ("fingerprint", "A1:62:62:50:62:BB:D2:97:CE:0E:A9:BE:96:C6:1A:BD:ED:AA:59:27"),
        ("mac", "31:3D:EF:6E:5D"),
        ("mac", "31:3D:EF:6E:5D:41:22"),
        ("mac", "31:3D:EF-6E:5D:41"),
        ("mac", "00:00:00:00:00:00"),
        ("mac", "ff:ff:ff:ff:ff:ff"),
        ("time", "12:34:56:78:90:1"),
        ("sku", "12-34-56-78-90-12"),
        ("version", "1725.0f94.519"),
        ("splits", "10:20:30:40:50:60"),
        ("blob", "x31:3D:EF:6E:5D:41"),
    ],
};

fn read(text: &str, word: usize) -> Option<Sighting> {
    let bytes = text.as_bytes();
    let word_len = bytes.get(word..)?.iter().take(5).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let joins = |at: usize| bytes.get(at).filter(|&&byte| matches!((word_len, byte), (2, b':' | b'-') | (4, b'.')));
    // The last group of one that ends a sentence has its separator in front only.
    let before = word.checked_sub(1).and_then(joins);
    let &separator =
        joins(word + word_len).filter(|behind| before.is_none_or(|before| before == *behind)).or(before)?;
    let (size, count) = if word_len == 2 { (2, 6) } else { (4, 3) };
    // PERF: dates and times end here: of six pairs, two are behind this one or two before it.
    let is_separator = |at: Option<usize>| at.and_then(|at| bytes.get(at)) == Some(&separator);
    if size == 2 && !is_separator(Some(word + 5)) && !is_separator(word.checked_sub(4)) {
        return None;
    }
    // The groups before this one had no digit. One more than there may be is enough to see that it is something longer.
    let mut start = word;
    for _ in 0..count {
        let Some(first) = start.checked_sub(size + 1).filter(|&first| is_group(bytes, first, size)) else { break };
        let is_of_longer = first.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
        if bytes.get(start - 1) != Some(&separator) || is_of_longer {
            break;
        }
        start = first;
    }
    let mut end = start;
    for index in 0..count {
        if index > 0 {
            (bytes.get(end) == Some(&separator)).then_some(())?;
            end += 1;
        }
        is_group(bytes, end, size).then_some(())?;
        end += size;
    }
    let is_joined_left = match bytes.get(..start)? {
        // `mac:31:3D:…` is a word and an address.
        [.., b':'] => !is_label(bytes, start - 1),
        [.., last] => last.is_ascii_alphanumeric() || matches!(last, b':' | b'-' | b'_'),
        [] => false,
    };
    let is_joined_right = match bytes.get(end..)? {
        [b'.', next, ..] => next.is_ascii_alphanumeric(),
        [first, ..] => first.is_ascii_alphanumeric() || matches!(first, b':' | b'-' | b'_'),
        [] => false,
    };
    let address = bytes.get(start..end)?;
    let is_filling = address.iter().all(|byte| byte == &separator || matches!(byte, b'0' | b'f' | b'F'));
    if is_joined_left || is_joined_right || is_filling {
        return None;
    }
    // Lap times, versions and article numbers have no letters; six random pairs have none once in seventeen times.
    let is_digits_only = address.iter().all(|byte| byte.is_ascii_digit() || *byte == separator);
    let evidence = if is_digits_only { Evidence::Shape } else { Evidence::Checked };
    Some(Sighting { start, end, evidence })
}

/// Whether a word that is no hexadecimal number ends at `end`.
fn is_label(bytes: &[u8], end: usize) -> bool {
    let word = bytes.get(..end).unwrap_or_default().iter().rev().take(16).take_while(|byte| byte.is_ascii_alphabetic());
    word.copied().any(|byte| !byte.is_ascii_hexdigit())
}

fn is_group(bytes: &[u8], start: usize, size: usize) -> bool {
    bytes.get(start..start + size).is_some_and(|group| group.iter().all(u8::is_ascii_hexdigit))
}
