//! Private keys in PEM: from `BEGIN` through `END`, or as far as the key goes where it was cut.

use super::Entity;
use crate::pii::evidence::{Evidence, Reader, Sighting};

pub(super) const ENTITY: Entity = Entity {
    name: "private_key",
    groups: &["secrets"],
    standard: "RFC 7468, RFC 4716, OpenPGP armor",
    check: "a BEGIN line whose label ends in PRIVATE KEY, through the END line when there is one",
    keys: "private key, pem, key material, ssh key, rsa key, privater schluessel, cle privee, clave privada",
    words: "",
    reader: Reader::Prefix { starts: &["-----BEGIN "], shortest: 30, read },
    examples: &[
        ("pem", "«-----BEGIN PRIVATE¦ KEY-----\nMIIB\nAgEA==\n-----END PRIVATE¦ KEY-----»\n"),
        ("note", "here: «-----BEGIN RSA PRIVATE¦ KEY-----\\nMIIB\\n-----END RSA PRIVATE¦ KEY-----» ok"),
        ("note", "«-----BEGIN OPENSSH PRIVATE¦ KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA»"),
        ("note", "«-----BEGIN PGP PRIVATE¦ KEY BLOCK-----\n\nlQO+\n=a1b2\n-----END PGP PRIVATE¦ KEY BLOCK-----»"),
    ],
    counter_examples: &[
        ("pem", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"),
        ("pem", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----"),
        ("note", "a file that starts with -----BEGIN and so on"),
    ],
};

const DASHES: &str = "-----";
/// The longest label is `ENCRYPTED PRIVATE KEY` or the like.
const MAX_LABEL: usize = 48;
/// A key of 16,384 bits is 13 KB long. What has no `END` within this is cut here.
const MAX_KEY: usize = 15 * 1024;

fn read(text: &str, start: usize) -> Option<Sighting> {
    let rest = text.get(start..)?;
    let label = rest.strip_prefix("-----BEGIN ")?;
    let label_len = label.bytes().take(MAX_LABEL).position(|byte| byte == b'-')?;
    let label = label.get(..label_len)?;
    if !(label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK")) {
        return None;
    }
    let body_start = "-----BEGIN ".len() + label_len + DASHES.len();
    let body = rest.get(body_start..).filter(|_| rest.get(..body_start).is_some_and(|head| head.ends_with(DASHES)))?;
    // Armor headers (`Proc-Type: 4,ENCRYPTED`) have other letters than the key; dashes end it.
    let is_ours = |byte: u8| byte.is_ascii_graphic() && byte != b'"' || byte.is_ascii_whitespace();
    let mut length = body.bytes().take(MAX_KEY).take_while(|&byte| is_ours(byte)).count();
    let end_line = memchr::memmem::find(body.as_bytes().get(..length)?, b"-----END ");
    if let Some(at) = end_line {
        let end_label = at + "-----END ".len();
        let closing = memchr::memmem::find(
            body.as_bytes().get(end_label..)?.get(..MAX_LABEL + 5).unwrap_or(body.as_bytes().get(end_label..)?),
            DASHES.as_bytes(),
        );
        length = closing.map_or(end_label, |closing| end_label + closing + DASHES.len());
    } else {
        let key = body.bytes().take(length).take_while(|&byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\\' | b'\n' | b'\r')
        });
        length = key.count();
    }
    let end = start + body_start + length;
    let end = start + text.get(start..end)?.trim_end().len();
    Some(Sighting { start, end, evidence: Evidence::Unmistakable })
}
