//! JSON web tokens: what begins like base64url of `{"` and has a header that decodes to JSON with an algorithm.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::Entity;
use crate::pii::evidence::{Evidence, Reader, Sighting};

pub(super) const ENTITY: Entity = Entity {
    name: "jwt",
    groups: &["secrets"],
    standard: "RFC 7519, RFC 7515, RFC 7516",
    check: "three or five base64url parts (the last may be empty), header decodes to JSON with `alg`",
    keys: "jwt, token, access token, id token, refresh token, authorization, bearer",
    words: "",
    reader: Reader::Prefix { starts: &["eyJ"], shortest: 24, read },
    examples: &[
        ("token", "«eyJ¦hbGciOiJIUzI1NiJ9.eyJ¦zdWIiOiIxIn0.c2lnbmF0dXJl»"),
        ("note", "Authorization: Bearer «eyJ¦hbGciOiJIUzI1NiJ9.eyJ¦zdWIiOiIxIn0.c2lnbmF0dXJl»."),
        ("token", "«eyJ¦hbGciOiJub25lIn0.eyJ¦zdWIiOiIxIn0.»"),
        ("url", "/cb?id_token=«eyJ¦hbGciOiJIUzI1NiJ9.eyJ¦zdWIiOiIxIn0.c2lnbmF0dXJl»&x=1"),
    ],
    counter_examples: &[
        ("token", "eyJ¦zdWIiOiIxIn0.eyJ¦zdWIiOiIxIn0.c2lnbmF0dXJl"),
        ("token", "eyJ¦hbGciOiJIUzI1NiJ9"),
        ("blob", "AeyJ¦hbGciOiJIUzI1NiJ9.eyJ¦zdWIiOiIxIn0.c2lnbmF0dXJl"),
        ("token", "eyJ¦hbGciOiJIUzI1NiJ.eyJ¦zdWIiOiIxIn0.c2lnbmF0dXJl"),
        ("token", "eyJ¦hbGciOiJIUzI1NiJ9.."),
    ],
};

/// Headers that carry certificates are some KiB long.
const MAX_HEADER: usize = 8 * 1024;

/// What follows a valid header in so many bytes is a payload, even if no signature is in sight.
const ENDLESS: usize = 8 * 1024;

#[derive(Deserialize)]
struct Header {
    #[expect(dead_code, reason = "that it is there is all that counts")]
    alg: IgnoredAny,
}

fn read(text: &str, start: usize) -> Option<Sighting> {
    let bytes = text.as_bytes();
    if start.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(|&byte| is_base64url(byte)) {
        return None;
    }
    let header = part(bytes, start);
    let payload_start = next_part(bytes, start + header.len())?;
    if header.len() > MAX_HEADER || serde_json::from_slice::<Header>(&decode(header)?).is_err() {
        return None;
    }
    let payload = part(bytes, payload_start);
    let Some(signature_start) = next_part(bytes, payload_start + payload.len()) else {
        // SECURITY: in a window over a stream the end of a long token is not there yet; nothing else goes on for so long.
        let (end, evidence) = (payload_start + payload.len(), Evidence::Unmistakable);
        return (payload.len() >= ENDLESS).then_some(Sighting { start, end, evidence });
    };
    let mut end = signature_start + part(bytes, signature_start).len();
    // An encrypted token has two parts more, and its second may be empty.
    let fifth = next_part(bytes, end).filter(|&at| !part(bytes, at).is_empty()).and_then(|fourth| {
        let fifth = next_part(bytes, fourth + part(bytes, fourth).len())?;
        (!part(bytes, fifth).is_empty()).then_some(fifth)
    });
    if let Some(fifth) = fifth {
        end = fifth + part(bytes, fifth).len();
    } else if payload.is_empty() {
        return None;
    }
    Some(Sighting { start, end, evidence: Evidence::Unmistakable })
}

const fn is_base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

fn part(bytes: &[u8], start: usize) -> &[u8] {
    let rest = bytes.get(start..).unwrap_or_default();
    let length = rest.iter().take_while(|&&byte| is_base64url(byte)).count();
    rest.get(..length).unwrap_or_default()
}

/// Where the part behind the dot at `end` begins.
fn next_part(bytes: &[u8], end: usize) -> Option<usize> {
    (bytes.get(end) == Some(&b'.')).then_some(end + 1)
}

/// base64url without padding (RFC 7515, appendix C).
fn decode(part: &[u8]) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(part.len() * 3 / 4);
    for quad in part.chunks(4) {
        let mut bits = 0_u32;
        for &byte in quad {
            let six = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'-' => 62,
                b'_' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(six);
        }
        let [_, high, middle, low] = (bits << (6 * (4 - quad.len()))).to_be_bytes();
        decoded.extend([high, middle, low].iter().take(quad.len() * 3 / 4));
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_base64url() {
        for (encoded, plain) in [("", ""), ("YQ", "a"), ("YWI", "ab"), ("YWJj", "abc"), ("_-8", "\u{ff}\u{ef}")] {
            let plain: Vec<u8> = plain.chars().map(|letter| letter as u8).collect();
            assert_eq!(decode(encoded.as_bytes()), Some(plain), "{encoded}");
        }
        assert_eq!(decode(b"a+b"), None);
    }
}
