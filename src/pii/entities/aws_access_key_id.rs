//! AWS access key ids: a fixed prefix and sixteen characters of base 32.

use super::Entity;
use crate::pii::evidence::{Evidence, Reader, Sighting};
use crate::pii::number::is_word;

pub(super) const ENTITY: Entity = Entity {
    name: "aws_access_key_id",
    groups: &["secrets"],
    standard: "AWS IAM unique identifiers",
    check: "AKIA or ASIA and 16 characters of A-Z, 2-7, nothing joined",
    keys: "aws access key id, access key id, access key, aws key",
    words: "",
    reader: Reader::Prefix { starts: &["AKIA", "ASIA"], shortest: LENGTH, read },
    examples: &[
        ("aws_access_key_id", "«AKIA¦IOSFODNN7EXAMPLE»"),
        ("note", "not ASIA but «ASIA¦2UETE2BEKXC4JWJQ»!"),
        ("", "AWS_ACCESS_KEY_ID=«AKIA¦IOSFODNNAEXAMPLE»;"),
        ("url", "s3://«AKIA¦IOSFODNN7EXAMPLE»:x@bucket"),
    ],
    counter_examples: &[
        ("aws_access_key_id", "AKIA¦IOSFODNN7EXAMPL"),
        ("aws_access_key_id", "AKIA¦IOSFODNN7EXAMPLEX"),
        ("blob", "xAKIA¦IOSFODNN7EXAMPLE"),
        ("blob", "AKIA¦IOSFODNN1EXAMPLE"),
        ("blob", "akia¦iosfodnn7example"),
    ],
};

const LENGTH: usize = 20;

fn read(text: &str, start: usize) -> Option<Sighting> {
    let bytes = text.as_bytes();
    let end = start + LENGTH;
    let key = bytes.get(start + 4..end)?;
    let is_base32 = key.iter().all(|byte| matches!(byte, b'A'..=b'Z' | b'2'..=b'7'));
    let is_joined = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(|&byte| is_word(byte));
    (is_base32 && !is_joined(start.checked_sub(1)) && !is_joined(Some(end))).then_some(Sighting {
        start,
        end,
        evidence: Evidence::Unmistakable,
    })
}
