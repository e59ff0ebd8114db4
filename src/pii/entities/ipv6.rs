//! IPv6 addresses in all their writings, told apart from times, fingerprints and paths with `::`.

use std::net::Ipv6Addr;

use super::Entity;
use crate::pii::evidence::{Evidence, Reader, Sighting};
use crate::pii::shape::Shape;

pub(super) const ENTITY: Entity = Entity {
    name: "ipv6",
    groups: &["pii", "network"],
    standard: "RFC 4291, RFC 5952",
    check: "parses as an address, not the unspecified one, nothing joined",
    keys: "ip, ip address, ip addr, ipv, ipv address, client ip, remote ip, remote addr, remote address, x forwarded \
            for, forwarded for, x real ip, source ip, src ip, dest ip, dst ip, peer, host, adresse ip, direccion ip, \
            indirizzo ip, ip adresse, ip adres, endereco ip, adres ip, inet",
    words: "login from, connected from, connection from, address, addr, peer, server, ping",
    reader: Reader::Shaped(
        &[
            Shape::of("*").then(":"),
            Shape::of("*").behind(":"),
            Shape::of("**").then(":"),
            Shape::of("**").behind(":"),
            Shape::of("***").then(":"),
            Shape::of("***").behind(":"),
            Shape::of("****").then(":"),
            Shape::of("****").behind(":"),
        ],
        read,
    ),
    examples: &[
        ("client_ip", "«2001:db8::3a52:833e»"),
        ("value", "«2001:0db8:0000:0000:86a9:0e3b:ba8d:efb3»"),
        ("note", "Login from «fe80::1ff:fe23:4567:890a»%eth0 was denied."),
        ("url", "http://[«2001:db8::1»]:8080/"),
        ("net", "«2001:db8:85a3::»/48"),
        ("ip", "«::ffff:192.0.2.128»"),
        ("ip", "«::1»"),
        ("q", "ip=«2001%3ADB8%3ACA94%3A891C%3A9455%3A7984%3A66CC%3A64AF»&x=1"),
        ("note", "from «2001:db8::7334»."),
        ("note", "(«FE80::0202:B3FF:FE1E:8329»)"),
    ],
    counter_examples: &[
        ("ip", "::"),
        ("ip", "1::2::3"),
        ("time", "12:34:56"),
        ("fingerprint", "AA:12:62:50:62:BB:D2:97"),
        ("fingerprint", "A1:62:62:50:62:BB:D2:97:CE:0E:A9:BE:96:C6:1A:BD:ED:AA:59:27"),
        ("mac", "31:3d:ef:6e:5d:41"),
        ("note", "std::vec1 and a::b1"),
        ("note", "Foo::c1"),
        ("ip", "2001:db8:12345::1"),
        ("ip", "2001:db8:0:0:0:0:0:0:1"),
        ("note", "ratio 1:2"),
        ("urn", "urn:2001:db8::1x"),
    ],
};

/// The longest address: six groups and an IPv4 one.
const LONGEST: usize = 45;

fn read(text: &str, word: usize) -> Option<Sighting> {
    let bytes = text.as_bytes();
    let is_ours = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b':';
    let mut start = word;
    while let Some(&byte) = start.checked_sub(1).and_then(|at| bytes.get(at)).filter(|byte| is_ours(byte)) {
        // Where a digit is before, this was asked there; and nothing so long is an address.
        if byte.is_ascii_digit() || word - start > LONGEST {
            return None;
        }
        start -= 1;
    }
    // PERF: times of day end here: an address has two colons side by side, or six at least.
    let colons = bytes.get(start..)?.iter().take(LONGEST + 2).take_while(|&byte| is_ours(byte) || *byte == b'.');
    let (count, has_pair, _) = colons.fold((0, false, false), |(count, has_pair, was_colon), &byte| {
        let is_colon = byte == b':';
        (count + u32::from(is_colon), has_pair || is_colon && was_colon, is_colon)
    });
    if count < 6 && !has_pair {
        return None;
    }
    // `ip:2001:…`: the first colon belongs to the word before.
    let is_label = matches!(bytes.get(start.saturating_sub(1)..start + 2), Some([letter, b':', first]) if letter.is_ascii_alphabetic() && first.is_ascii_hexdigit());
    let start = start + usize::from(is_label);
    let joined = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    if bytes.get(..start)?.last().is_some_and(joined) {
        return None;
    }
    let rest = bytes.get(start..)?;
    let ours = rest.iter().take(LONGEST + 2).take_while(|&byte| is_ours(byte) || *byte == b'.').count();
    let run = text.get(start..start + ours)?;
    // What ends a sentence or opens a list is not part of it.
    let run = run.trim_end_matches('.');
    let run = if run.ends_with("::") { run } else { run.trim_end_matches(':') };
    let end = start + run.len();
    let address: Ipv6Addr = run.parse().ok()?;
    // Eight pairs are an EUI-64 or a piece of a fingerprint.
    if run.split(':').all(|group| group.len() == 2) {
        return None;
    }
    let is_joined = match bytes.get(end..)? {
        [b'-' | b'_', ..] => true,
        [b':' | b'.', next, ..] => next.is_ascii_alphanumeric(),
        [first, ..] => first.is_ascii_alphanumeric(),
        [] => false,
    };
    (!is_joined && !address.is_unspecified()).then_some(Sighting { start, end, evidence: evidence(run) })
}

/// `a::b1` is also how programs name things.
fn evidence(run: &str) -> Evidence {
    let longest_group = run.split(':').map(str::len).max().unwrap_or_default();
    match run.bytes().filter(|&byte| byte == b':').count() {
        0..=2 if longest_group < 3 => Evidence::Shape,
        0..=2 => Evidence::Checked,
        _ => Evidence::Strong,
    }
}
