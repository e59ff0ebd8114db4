//! AWS secret access keys: forty characters of base 64, which a hash may be too, so that context decides.

use super::Entity;
use super::token::is_filling;
use crate::pii::evidence::{Evidence, Reader, Sighting};

pub(super) const ENTITY: Entity = Entity {
    name: "aws_secret_key",
    groups: &["secrets"],
    standard: "AWS IAM access keys",
    check: "40 characters of base 64 in three classes, not hexadecimal, nothing joined; context",
    keys: "aws secret, aws secret key, aws secret access key, secret access key, secret key, aws secret accesskey, s secret \
            key, minio secret key",
    words: "",
    reader: Reader::Any(&[
        Reader::Whole(judge),
        Reader::Prefix { starts: &["secret", "Secret", "SECRET"], shortest: LENGTH, read },
    ]),
    examples: &[
        ("aws_secret_access_key", "«wJalrXUtnFEMI/K7MDENG/¦bPxRfiCYEXAMPLEKEY»"),
        ("note", "AWS secret key: «12r5F5NNOQLYa7OiF+¦D5B0gI1s4j0V5dJMROb7Bc»."),
        ("note", "aws_secret_access_key=«5oTm+uv+rUn5Oc0HA5¦lkC67nRnWlwD2PushctSV0»"),
        ("text", "{\"SecretAccessKey\": \"«5oTm+uv+rUn5Oc0HA5¦lkC67nRnWlwD2PushctSV0»\"}"),
    ],
    counter_examples: &[
        ("commit", "wJalrXUtnFEMI/K7MDENG/¦bPxRfiCYEXAMPLEKEY"),
        ("secret_key", "8f72e74288027d195c28f324¦00147c47cc552632"),
        ("secret_key", "wJalrXUtnFEMI/K7MDENG/¦bPxRfiCYEXAMPLEKE"),
        ("secret_key", "wJalrXUtnFEMI/K7MDENG/¦bPxRfiCYEXAMPLEKEYX"),
        ("note", "secretary: wJalrXUtnFEMI/K7MDENG/¦bPxRfiCYEXAMPLEKEY"),
    ],
};

const LENGTH: usize = 40;
/// How much may stand between `secret` and its value.
const MAX_NAME: usize = 24;

fn judge(value: &str) -> Option<Evidence> {
    let key = value.trim();
    (key.len() == value.len() && is_key(key.as_bytes())).then_some(Evidence::Checked)
}

fn read(text: &str, start: usize) -> Option<Sighting> {
    let rest = text.as_bytes().get(start..)?;
    // The name ends at `=`, `:` or a space, and spaces and quotes may follow.
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b' ' | b'.');
    let is_between = |byte: u8| matches!(byte, b'=' | b':' | b' ' | b'"' | b'\'' | b'>');
    let name = rest.iter().take(MAX_NAME).take_while(|&&byte| is_name(byte)).count();
    let between = rest.get(name..)?.iter().take(6).take_while(|&&byte| is_between(byte)).count();
    let at = name + between;
    let key = rest.get(at..at + LENGTH).filter(|key| between > 0 && is_key(key))?;
    let is_joined = rest.get(at + LENGTH).is_some_and(|&byte| is_base64(byte) || byte == b'=');
    let (start, end) = (start + at, start + at + key.len());
    (!is_joined).then_some(Sighting { start, end, evidence: Evidence::Weak })
}

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

fn is_key(key: &[u8]) -> bool {
    let has = |class: fn(&u8) -> bool| key.iter().any(class);
    key.len() == LENGTH
        && key.iter().all(|&byte| is_base64(byte))
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && !key.iter().all(u8::is_ascii_hexdigit)
        && !is_filling(key)
}
