//! The hash chain: how a record becomes a line of the log, and how a line is checked. Bytes in, bytes out; it knows
//! no files.
//!
//! # The line
//!
//! ```text
//! {"seq":7,"prev":"<64 hex digits>",<the record's fields>,"hash":"<64 hex digits>"}
//! ```
//!
//! `seq` counts from 1 and never skips. `prev` is the `hash` of the line before, 64 zeros for the first. `hash` is
//! SHA-256 (lower-case hex) over the line's bytes from its `{` up to, and without, the last `,"hash":`; the line ends
//! with a single line feed, which is not hashed. Files are `audit-<seq of the first line, 12 digits>.jsonl`, and the
//! chain runs on from one to the next. So an outsider checks a log with these lines of Python and nothing of ours:
//!
//! ```text
//! import glob, hashlib, json
//! seq, prev = 0, "0" * 64
//! for name in sorted(glob.glob("audit-*.jsonl")):
//!     for line in open(name, "rb"):
//!         said = json.loads(line)
//!         head = line[: line.rindex(b',"hash":')]
//!         assert said["seq"] == seq + 1 and said["prev"] == prev, (name, seq + 1)
//!         assert said["hash"] == hashlib.sha256(head).hexdigest(), (name, seq + 1)
//!         seq, prev = said["seq"], said["hash"]
//! print(seq, prev)
//! ```
//!
//! # What it protects against, and what not
//!
//! It shows accidental damage, edits, deletions, insertions, reordering and replays, and lines missing from the front
//! or the middle. There is no key in it: somebody who may write the folder can recompute every line, or cut whole
//! lines off the end (and put `audit.head` right as well), and the chain alone will not tell. Against those, keep a
//! copy of the last `seq` and `hash` elsewhere: `fieldgate audit verify` prints them, and the running gateway shows
//! them.

use std::io::Write as _;

use ring::digest::{SHA256, digest};

/// A SHA-256 in lower-case hex.
pub type HexHash = [u8; 64];

/// What the first line names as the one before it.
pub const BEFORE_THE_FIRST: HexHash = [b'0'; 64];

const OPEN: &[u8] = b"{\"seq\":";
const PREV: &[u8] = b",\"prev\":\"";
const HASH: &[u8] = b",\"hash\":\"";

/// The end of a chain: what the next line has to name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    /// The last line's number; 0 before the first.
    pub seq: u64,
    /// The last line's hash.
    pub hash: HexHash,
}

impl Chain {
    /// Before the first record.
    pub const fn start() -> Self {
        Self { seq: 0, hash: BEFORE_THE_FIRST }
    }

    /// Appends `record` (a JSON object in one line, with at least one field) as the next line to `out`.
    pub fn seal(&mut self, record: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        let fields = record.get(1..record.len().saturating_sub(1)).unwrap_or_default();
        self.seq += 1;
        out.extend_from_slice(OPEN);
        // Writing to a `Vec` does not fail.
        write!(out, "{}", self.seq).ok();
        out.extend_from_slice(PREV);
        out.extend_from_slice(&self.hash);
        out.extend_from_slice(b"\",");
        out.extend_from_slice(fields);
        self.hash = sha256(out.get(start..).unwrap_or_default());
        out.extend_from_slice(HASH);
        out.extend_from_slice(&self.hash);
        out.extend_from_slice(b"\"}\n");
    }

    /// The last hash as text.
    pub fn hash_text(&self) -> String {
        String::from_utf8_lossy(&self.hash).into_owned()
    }
}

/// What a line says about its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// Its number.
    pub seq: u64,
    /// The hash that it names as the one before.
    pub prev: HexHash,
    /// The hash that it claims for itself.
    pub hash: HexHash,
    /// Whether that is the hash of its bytes.
    pub is_intact: bool,
}

impl Link {
    /// Reads a line, without its line feed. `None`: this is no line of ours, whatever it is.
    pub fn read(line: &[u8]) -> Option<Self> {
        let (head, end) = line.split_at_checked(line.len().checked_sub(HASH.len() + 64 + 2)?)?;
        let hash = hex_field(end.strip_prefix(HASH)?.strip_suffix(b"\"}")?)?;
        let (seq, rest) = number(head)?;
        let (prev, fields) = rest.strip_prefix(PREV)?.split_at_checked(64)?;
        if !fields.starts_with(b"\",\"") || line.contains(&b'\n') {
            return None;
        }
        Some(Self { seq, prev: hex_field(prev)?, hash, is_intact: sha256(head) == hash })
    }

    /// The chain's end when this line is its last.
    pub fn end(&self) -> Chain {
        Chain { seq: self.seq, hash: self.hash }
    }
}

/// PERF: on a core without SHA instructions this takes about half the time of the portable implementation.
fn sha256(bytes: &[u8]) -> HexHash {
    hex(digest(&SHA256, bytes).as_ref())
}

/// A line's number, taken at its word. PERF: for lines that are only shown; hashing the newest 2,000 would be most of
/// a start.
pub fn seq(line: &[u8]) -> Option<u64> {
    number(line).map(|(seq, _)| seq)
}

fn number(line: &[u8]) -> Option<(u64, &[u8])> {
    let rest = line.strip_prefix(OPEN)?;
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let (number, rest) = rest.split_at_checked(digits)?;
    // One way to write a number: no leading zeros.
    let seq = str::from_utf8(number).ok().filter(|text| !text.starts_with('0'))?.parse().ok()?;
    Some((seq, rest))
}

/// Whether `text` is a hash as we write it.
pub fn hex_field(text: &[u8]) -> Option<HexHash> {
    let hash: HexHash = text.try_into().ok()?;
    hash.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')).then_some(hash)
}

fn hex(bytes: &[u8]) -> HexHash {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = BEFORE_THE_FIRST;
    for (pair, byte) in out.chunks_exact_mut(2).zip(bytes) {
        // INVARIANT: both indices are below 16, both pairs two long.
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_back_and_names_the_one_before() {
        let mut chain = Chain::start();
        let (mut first, mut second) = (Vec::new(), Vec::new());
        chain.seal(br#"{"id":"a"}"#, &mut first);
        let after_first = chain;
        chain.seal(br#"{"id":"b"}"#, &mut second);
        let first = Link::read(first.trim_ascii_end()).unwrap();
        let second = Link::read(second.trim_ascii_end()).unwrap();
        assert_eq!((first.seq, first.prev, first.is_intact), (1, BEFORE_THE_FIRST, true));
        assert_eq!(first.end(), after_first);
        assert_eq!((second.seq, second.prev, second.is_intact), (2, first.hash, true));
    }

    #[test]
    fn the_hash_is_the_documented_one() {
        let mut line = Vec::new();
        Chain::start().seal(br#"{"id":"a"}"#, &mut line);
        let head = format!(r#"{{"seq":1,"prev":"{}","id":"a""#, "0".repeat(64));
        // Computed by Python's `hashlib`.
        let hash = "bfeba6129b2c2c30d99d519761e52e7a1fc7800f83106e598ee59cb870f7ad0f";
        assert_eq!(String::from_utf8(line).unwrap(), format!("{head},\"hash\":\"{hash}\"}}\n"));
    }

    #[test]
    fn any_flipped_bit_shows() {
        let mut line = Vec::new();
        Chain::start().seal(br#"{"id":"a","path":"/customers"}"#, &mut line);
        line.pop();
        for index in 0..line.len() {
            for bit in 0..8 {
                let mut bent = line.clone();
                bent[index] ^= 1 << bit;
                assert!(Link::read(&bent).is_none_or(|link| !link.is_intact), "byte {index}, bit {bit}");
            }
        }
    }
}
