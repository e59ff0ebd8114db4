//! Our own cases of what is JSON and what is not, with the byte and the words of every refusal: `syntax.txt`. With
//! `FIELDGATE_UPDATE=1` byte and words are written anew, to be read before they are kept.

use std::fmt::Write as _;

use super::identity::read;
use crate::content::json::Fault;

const CASES: &str = include_str!("syntax.txt");

/// The bytes that a case writes.
fn bytes(written: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = written;
    while let Some((plain, escape)) = rest.split_once('\\') {
        bytes.extend_from_slice(plain.as_bytes());
        let (byte, length) = match escape.as_bytes() {
            [b'\\', ..] => (b'\\', 1),
            [b't', ..] => (b'\t', 1),
            [b'n', ..] => (b'\n', 1),
            [b'r', ..] => (b'\r', 1),
            [b'x', ..] => (u8::from_str_radix(escape.get(1..3).unwrap(), 16).unwrap(), 3),
            other => panic!("{written}: {other:?}"),
        };
        bytes.push(byte);
        rest = escape.get(length..).unwrap();
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

#[test]
fn our_own_cases_are_judged_as_written() {
    let (mut judged, mut counts) = (String::new(), [0; 4]);
    for line in CASES.lines() {
        let Some((head, body)) = line.split_once('<').filter(|_| !line.starts_with('#')) else {
            writeln!(judged, "{line}").unwrap();
            continue;
        };
        let word = head.split(' ').next().unwrap();
        let body = body.strip_suffix('>').unwrap_or_else(|| panic!("{line}: no `>` at the end"));
        let found = match read(&bytes(body)) {
            Ok(()) => word.replace("refuse", "accept"),
            Err(Fault::Malformed { at, what }) => {
                let word = word.replace("accept", "refuse");
                format!("{word} {at} {}", what.replace(' ', "_"))
            }
            Err(other) => panic!("{line}: {other:?}"),
        };
        assert_eq!(found.split(' ').next(), Some(word), "{line}");
        counts[["accept", "accept!", "refuse", "refuse!"].iter().position(|known| *known == word).unwrap()] += 1;
        writeln!(judged, "{found} <{body}>").unwrap();
    }
    assert!(counts.iter().all(|count| *count >= 15), "{counts:?}");
    if std::env::var_os("FIELDGATE_UPDATE").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/content/json/rewriter/tests/syntax.txt");
        std::fs::write(path, judged).unwrap();
        return;
    }
    for (expected, found) in CASES.lines().zip(judged.lines()) {
        assert_eq!(found, expected);
    }
}
