//! A record as one line of JSON. It promises the very text that serde would write; it refuses to know what a record means, and
//! that it must fit somewhere.
//!
//! PERF: written by hand, because it is written for every exchange: a quarter of the instructions that serde took, which were
//! as many as all of the parsing of a request.

use super::record::{FindingRecord, Phases, Record, Uninspected};

/// Appends `record` to `out`.
pub(super) fn print(record: &Record<'_>, out: &mut Vec<u8>) {
    let Record { id, time, generation, client, method, protocol, host, path, route, upstream, target, .. } = record;
    let Record { status, upstream_status, outcome, verdict, phases, bytes_in, bytes_out, retries, .. } = record;
    let Record { findings, findings_more, uninspected, .. } = record;
    text(out, b"{\"id\":\"", id);
    text(out, b",\"time\":\"", time);
    number(out, b",\"generation\":", *generation);
    text(out, b",\"client\":\"", client);
    text(out, b",\"method\":\"", method);
    text_if_any(out, b",\"protocol\":\"", protocol);
    text(out, b",\"host\":\"", host);
    text(out, b",\"path\":\"", path);
    text(out, b",\"route\":\"", route);
    text(out, b",\"upstream\":\"", upstream);
    text_if_any(out, b",\"target\":\"", target);
    number(out, b",\"status\":", (*status).into());
    number(out, b",\"upstream_status\":", (*upstream_status).into());
    text(out, b",\"outcome\":\"", outcome);
    text(out, b",\"verdict\":\"", verdict);
    let Phases { request_us, upstream_us, response_us, total_us } = phases;
    number(out, b",\"phases\":{\"request_us\":", *request_us);
    number(out, b",\"upstream_us\":", *upstream_us);
    number(out, b",\"response_us\":", *response_us);
    number(out, b",\"total_us\":", *total_us);
    number(out, b"},\"bytes_in\":", *bytes_in);
    number(out, b",\"bytes_out\":", *bytes_out);
    number_if_any(out, b",\"retries\":", (*retries).into());
    list(out, b",\"findings\":[", findings, finding);
    number_if_any(out, b",\"findings_more\":", *findings_more);
    list(out, b",\"uninspected\":[", uninspected, not_inspected);
    out.push(b'}');
}

/// Appends one finding.
pub(super) fn finding(one: &FindingRecord<'_>, out: &mut Vec<u8>) {
    let FindingRecord { direction, place, entity, policy, rule, action, shadow, count } = one;
    text(out, b"{\"direction\":\"", direction);
    text(out, b",\"place\":\"", place);
    text_if_any(out, b",\"entity\":\"", entity);
    text(out, b",\"policy\":\"", policy);
    text(out, b",\"rule\":\"", rule);
    text(out, b",\"action\":\"", action);
    if *shadow {
        out.extend_from_slice(b",\"shadow\":true");
    }
    number(out, b",\"count\":", *count);
    out.push(b'}');
}

/// Appends one reason why rules did not run.
pub(super) fn not_inspected(one: &Uninspected<'_>, out: &mut Vec<u8>) {
    let Uninspected { direction, failure, reason, decision } = one;
    text(out, b"{\"direction\":\"", direction);
    text(out, b",\"failure\":\"", failure);
    text(out, b",\"reason\":\"", reason);
    text(out, b",\"decision\":\"", decision);
    out.push(b'}');
}

fn list<T>(out: &mut Vec<u8>, before: &[u8], items: &[T], print: impl Fn(&T, &mut Vec<u8>)) {
    let Some((first, rest)) = items.split_first() else { return };
    out.extend_from_slice(before);
    print(first, out);
    for item in rest {
        out.push(b',');
        print(item, out);
    }
    out.push(b']');
}

fn number(out: &mut Vec<u8>, before: &[u8], n: u64) {
    out.extend_from_slice(before);
    out.extend_from_slice(itoa::Buffer::new().format(n).as_bytes());
}

fn number_if_any(out: &mut Vec<u8>, before: &[u8], n: u64) {
    if n > 0 {
        number(out, before, n);
    }
}

fn text_if_any(out: &mut Vec<u8>, before: &[u8], value: &str) {
    if !value.is_empty() {
        text(out, before, value);
    }
}

/// `before` ends with the opening quote.
fn text(out: &mut Vec<u8>, before: &[u8], value: &str) {
    out.extend_from_slice(before);
    let bytes = value.as_bytes();
    if is_plain(bytes) {
        out.extend_from_slice(bytes);
    } else {
        for b in bytes {
            escape(out, *b);
        }
    }
    out.push(b'"');
}

/// PERF: eight bytes at a time, the last ones of a text perhaps twice.
fn is_plain(bytes: &[u8]) -> bool {
    let (words, _) = bytes.as_chunks::<8>();
    match (bytes.last_chunk(), bytes.first_chunk(), bytes.last_chunk()) {
        (Some(last), _, _) => words.iter().chain([last]).all(|word| are_plain(u64::from_le_bytes(*word))),
        (None, Some(front), Some(back)) => {
            are_plain(u64::from(u32::from_le_bytes(*front)) | u64::from(u32::from_le_bytes(*back)) << 32)
        }
        (None, _, _) => !bytes.iter().any(|b| is_escaped(*b)),
    }
}

/// Whether none of eight bytes is escaped. In a word, the highest bit of each byte is free to say so: a byte below another number
/// borrows when that is taken away from it, which cannot be told from the borrow of a neighbour, but a neighbour that borrows is
/// escaped itself.
const fn are_plain(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    const fn below(word: u64, n: u8) -> u64 {
        word.wrapping_sub(ONES * n as u64) & !word
    }
    let escaped = below(word, b' ') | below(word ^ (ONES * b'"' as u64), 1) | below(word ^ (ONES * b'\\' as u64), 1);
    escaped & HIGH == 0
}

const fn is_escaped(b: u8) -> bool {
    b < b' ' || b == b'"' || b == b'\\'
}

fn escape(out: &mut Vec<u8>, b: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match b {
        b'"' | b'\\' => b,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        0..b' ' => {
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', HEX[usize::from(b >> 4)], HEX[usize::from(b & 15)]]);
            return;
        }
        _ => return out.push(b),
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::sample;
    use super::*;

    const STRANGE: &str = "\\PC{0,20}|[\\x00-\\x7f]{0,20}";

    fn check(record: &Record<'_>) {
        let mut line = Vec::new();
        print(record, &mut line);
        assert_eq!(String::from_utf8_lossy(&line), serde_json::to_string(record).unwrap());
    }

    #[test]
    fn a_record_is_written_as_serde_would() {
        check(&sample("0190"));
    }

    #[test]
    fn every_byte_is_told_at_every_place() {
        for b in 0..=u8::MAX {
            for neighbour in [b'a', 0xff, b' ', b'!', b'#'] {
                for (length, at) in (1..20).flat_map(|length| (0..length).map(move |at| (length, at))) {
                    let mut bytes = vec![neighbour; length];
                    bytes[at] = b;
                    assert_eq!(is_plain(&bytes), !is_escaped(b), "{b:#x} at {at} of {length}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(crate::properties::cases(64))]

        #[test]
        fn whatever_is_in_it(texts in prop::collection::vec(STRANGE, 12), numbers in prop::collection::vec(prop_oneof![Just(0), any::<u64>()], 6), more in 0_usize..3) {
            let text = |n: usize| texts[n].as_str().into();
            let finding = FindingRecord {
                direction: text(0), place: text(1), entity: text(2), policy: text(3), rule: text(4), action: text(5),
                shadow: more == 1, count: numbers[0],
            };
            let uninspected = Uninspected { direction: text(6), failure: text(7), reason: text(8), decision: text(9) };
            check(&Record {
                id: text(0), time: text(1), client: text(2), method: text(3), protocol: text(4), host: text(5), path: text(6),
                route: text(7), upstream: text(8), target: text(9), outcome: text(10), verdict: text(11),
                generation: numbers[1], status: numbers[2] as u16, upstream_status: numbers[3] as u16,
                retries: numbers[4] as u32, findings_more: numbers[5], bytes_in: numbers[0], bytes_out: numbers[1],
                findings: vec![finding; more], uninspected: vec![uninspected; more],
                ..sample("0190")
            });
        }
    }
}
