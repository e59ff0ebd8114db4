//! Ethereum addresses: forty hex digits behind `0x`, whose letters' case is a checksum where it is mixed.

use sha3::{Digest as _, Keccak256};

use super::Entity;
use crate::pii::code::{begins_freely, ends_freely};
use crate::pii::evidence::{Evidence, Reader, Sighting};

pub(super) const ENTITY: Entity = Entity {
    name: "eth_address",
    groups: &["pii", "financial"],
    standard: "ERC-55 (EIP-55)",
    check: "0x and 40 hex digits; in mixed case the EIP-55 checksum; not all zeros",
    keys: "eth, ethereum, eth address, ethereum address, wallet, wallet address, payout address, ethereum adresse, direccion \
            ethereum, adresse ethereum, crypto address, contract address",
    words: "send eth to",
    reader: Reader::Code(1 << 31, read),
    examples: &[
        ("wallet", "«0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed»"),
        ("note", "send ETH to «0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359»."),
        ("to", "«0xFB6916095CA1DF60BB79CE92CE3EA74C37C5D359»"),
        ("q", "to=«0x11f3e77d3537ad2788c25d3512b71a98cbfbf0b3»&x=1"),
    ],
    counter_examples: &[
        ("wallet", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD"),
        ("wallet", "0x0000000000000000000000000000000000000000"),
        ("wallet", "0xfb6916095ca1df60bb79ce92ce3ea74c37c5d35"),
        ("tx", "0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359aa"),
        ("commit", "fb6916095ca1df60bb79ce92ce3ea74c37c5d359"),
    ],
};

const LENGTH: usize = 42;

fn read(text: &str, start: usize) -> Option<Sighting> {
    let bytes = text.as_bytes();
    let hex = bytes.get(start..start + LENGTH)?.strip_prefix(b"0x")?;
    let end = start + LENGTH;
    let is_whole = begins_freely(bytes, start) && ends_freely(bytes, end);
    let is_hex = hex.iter().all(u8::is_ascii_hexdigit) && hex.iter().any(|&byte| byte != b'0');
    (is_whole && is_hex && is_cased_right(hex)).then_some(Sighting { start, end, evidence: Evidence::Strong })
}

fn is_cased_right(hex: &[u8]) -> bool {
    let (has_upper, has_lower) = (hex.iter().any(u8::is_ascii_uppercase), hex.iter().any(u8::is_ascii_lowercase));
    if !(has_upper && has_lower) {
        return true;
    }
    let hash = Keccak256::digest(hex.to_ascii_lowercase());
    let nibbles = hash.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    hex.iter()
        .zip(nibbles)
        .all(|(letter, nibble)| letter.is_ascii_digit() || letter.is_ascii_uppercase() == (nibble > 7))
}
