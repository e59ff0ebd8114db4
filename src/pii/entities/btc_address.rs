//! Bitcoin addresses: base58 with a checksum, and the two kinds of bech32.

use sha2::{Digest as _, Sha256};

use super::Entity;
use crate::pii::code::{begins_freely, ends_freely};
use crate::pii::evidence::{Evidence, Reader, Sighting};

pub(super) const ENTITY: Entity = Entity {
    name: "btc_address",
    groups: &["pii", "financial"],
    standard: "Base58Check; BIP 173, BIP 350",
    check: "base58check of version 0 or 5, or bech32 (version 0) and bech32m (others) with their lengths",
    keys: "btc, bitcoin, btc address, bitcoin address, wallet, wallet address, payout address, bitcoin adresse, direccion \
            bitcoin, adresse bitcoin, indirizzo bitcoin, crypto address",
    words: "send btc to",
    reader: Reader::Code(0b111_111 << 26, read),
    examples: &[
        ("wallet", "«1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2»"),
        ("note", "send BTC to «3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy»."),
        ("value", "«bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq»"),
        ("value", "«BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4»"),
        ("value", "«bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0»"),
        ("url", "bitcoin:«1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2»?amount=1"),
    ],
    counter_examples: &[
        ("wallet", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3"),
        ("wallet", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdp"),
        ("wallet", "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3t4"),
        ("wallet", "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7k7grplx"),
        ("wallet", "x1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"),
        ("commit", "3f2504e04f8911d39a0c0305e82c3301"),
    ],
};

const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BECH32: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

fn read(text: &str, start: usize) -> Option<Sighting> {
    let bytes = text.as_bytes();
    let is_valid: fn(&[u8]) -> bool = match bytes.get(start..)? {
        [b'1' | b'3', ..] => is_base58check,
        [b'b', b'c', b'1', ..] | [b'B', b'C', b'1', ..] => is_bech32,
        _ => return None,
    };
    let length = bytes.get(start..)?.iter().take(64).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let end = start + length;
    let is_whole = begins_freely(bytes, start) && ends_freely(bytes, end);
    (is_whole && is_valid(bytes.get(start..end)?)).then_some(Sighting { start, end, evidence: Evidence::Strong })
}

/// A version, twenty bytes of hash, and the first four of the doubled SHA-256 over them.
fn is_base58check(address: &[u8]) -> bool {
    let mut decoded = [0_u8; 25];
    if !(26..=35).contains(&address.len()) {
        return false;
    }
    for byte in address {
        let Some(digit) = ALPHABET.iter().position(|letter| letter == byte) else { return false };
        let mut carry = digit as u32;
        for place in decoded.iter_mut().rev() {
            carry += u32::from(*place) * 58;
            *place = carry as u8;
            carry >>= 8;
        }
        if carry != 0 {
            return false;
        }
    }
    let (payload, check) = decoded.split_at(21);
    let zeros = address.iter().take_while(|&&byte| byte == b'1').count();
    let is_padded_right = decoded.iter().take_while(|&&byte| byte == 0).count() == zeros;
    let is_known = matches!(payload.first(), Some(0 | 5));
    is_known && is_padded_right && Sha256::digest(Sha256::digest(payload)).as_slice().starts_with(check)
}

fn is_bech32(address: &[u8]) -> bool {
    let is_one_case = !address.iter().any(u8::is_ascii_uppercase) || !address.iter().any(u8::is_ascii_lowercase);
    let Some((_, data)) = address.split_at_checked(3) else { return false };
    // The part before the `1`, `bc`, expanded as BIP 173 says.
    let mut check = [3, 3, 0, 2, 3].into_iter().fold(1, polymod);
    let mut version = None;
    for byte in data {
        let Some(value) = BECH32.iter().position(|letter| *letter == byte.to_ascii_lowercase()) else { return false };
        version = version.or(Some(value));
        check = polymod(check, value as u32);
    }
    let is_checked = match (version, address.len()) {
        (Some(0), 42 | 62) => check == 1,
        (Some(1..=16), 14..=74) => check == 0x2bc8_30a3,
        _ => false,
    };
    is_one_case && is_checked
}

const fn polymod(check: u32, value: u32) -> u32 {
    const GENERATOR: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
    let top = check >> 25;
    let mut next = (check & 0x01ff_ffff) << 5 ^ value;
    let mut bit = 0;
    while bit < GENERATOR.len() {
        if top >> bit & 1 == 1 {
            next ^= GENERATOR[bit];
        }
        bit += 1;
    }
    next
}
