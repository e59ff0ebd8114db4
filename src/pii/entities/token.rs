//! What the readers of prefixed secrets share: how far a token goes, and what only stands for one.

use crate::pii::evidence::{Evidence, Sighting};
use crate::pii::number::is_word;

/// A token of at least `shortest` and at most `longest` characters behind its first `prefix` bytes, nothing joined.
pub(super) fn token(
    text: &str,
    start: usize,
    prefix: usize,
    lengths: std::ops::RangeInclusive<usize>,
    is_ours: impl Fn(u8) -> bool,
) -> Option<Sighting> {
    let bytes = text.as_bytes();
    if start.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(|&byte| is_word(byte) || byte == b'_') {
        return None;
    }
    let body = bytes.get(start + prefix..)?;
    let length = body.iter().take(lengths.end() + 1).take_while(|&&byte| is_ours(byte)).count();
    let secret = body.get(..length).filter(|_| lengths.contains(&length))?;
    let end = start + prefix + length;
    (!is_filling(secret)).then_some(Sighting { start, end, evidence: Evidence::Unmistakable })
}

/// base64url, and what most tokens are made of.
pub(super) const fn is_base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// `xxxxxxxx`: one character repeated.
pub(super) fn is_filling(secret: &[u8]) -> bool {
    secret.windows(2).all(|pair| matches!(pair, [one, other] if one == other))
}

/// What people write where a secret would be: `${PASSWORD}`, `<password>`, `****`, `[redacted]`, `null`.
pub(super) fn is_placeholder(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "redacted",
        "null",
        "none",
        "nil",
        "undefined",
        "true",
        "false",
        "required",
        "string",
        "password",
        "passwd",
        "pass",
        "secret",
        "changeme",
        "hidden",
        "masked",
        "removed",
        "filtered",
        "empty",
        "your_password",
        "yourpassword",
        "n/a",
        "unset",
        "missing",
        "invalid",
        "incorrect",
        "expired",
        "protected",
        "encrypted",
    ];
    let bytes = value.as_bytes();
    let is_template = matches!(bytes, [b'$' | b'#' | b'%', b'{' | b'(', ..] | [b'<' | b'{' | b'[', ..]);
    let is_variable = matches!(bytes, [b'$', name @ ..] if !name.is_empty() && name.iter().all(|&byte| byte.is_ascii_uppercase() || byte == b'_'));
    is_template
        || is_variable
        || is_filling(bytes)
        || value.contains("***")
        || value.contains('•')
        || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
}
