//! IPv4 addresses: personal data in most logs, and hard to tell from versions.

use super::Entity;
use crate::pii::evidence::{Evidence, Reader, Sighting};

pub(super) const ENTITY: Entity = Entity {
    name: "ipv4",
    groups: &["pii", "network"],
    standard: "RFC 791, RFC 6943 (dotted decimal)",
    check: "four octets without leading zeros, not 0.x.x.x or a netmask, no further dotted groups, not called a version",
    keys: "ip, ip address, ip addr, ipv, ipv address, client ip, remote ip, remote addr, remote address, x forwarded \
            for, forwarded for, x real ip, source ip, src ip, dest ip, dst ip, peer, host, adresse ip, direccion ip, \
            indirizzo ip, ip adresse, ip adres, endereco ip, adres ip, inet",
    words: "login from, connected from, connection from, address, addr, peer, server, ping",
    reader: Reader::Dotted(read),
    examples: &[
        ("client_ip", "«203.0.113.7»"),
        ("note", "Login from «10.38.202.154» was denied."),
        ("text", "[«122.145.15.217»]"),
        ("peer", "«192.0.2.1»:8080"),
        ("net", "«10.0.0.0»/8"),
        ("x_forwarded_for", "«198.51.100.4», 10.0.0.1"),
        ("url", "http://«192.0.2.44»/index.html"),
        ("note", "updated: «10.99.248.114»"),
        ("note", "Item P/N 8617-909-810 is back. («192.168.2.172»)"),
        ("range", "«192.0.2.1»-192.0.2.9"),
    ],
    counter_examples: &[
        ("version", "1.2.3.4"),
        ("appVersion", "10.36.4.77"),
        ("note", "version 1.2.3.4"),
        ("note", "v1.2.3.4"),
        ("note", "build 9.8.28.15 failed"),
        ("oid", "1.3.6.1.4.1"),
        ("ip", "1.2.3.4.5"),
        ("ip", "256.1.1.1"),
        ("ip", "0.0.0.0"),
        ("ip", "01.2.3.4"),
        ("mask", "255.255.255.0"),
        ("file", "lib-1.2.3.4.jar"),
        ("file", "release-1.2.3.4"),
        ("package", "pkg@1.2.3.4"),
    ],
};

fn read(text: &str, start: usize) -> Option<Sighting> {
    let bytes = text.as_bytes();
    let before = bytes.get(..start)?;
    // What hangs in front by a dot or dash is a longer number, a name with a version, or the first half of a range.
    match before {
        [.., b'.' | b'@' | b'_'] => return None,
        [.., last, b'-'] if !last.is_ascii_digit() && !last.is_ascii_whitespace() => return None,
        [.., last] if last.is_ascii_alphanumeric() => return None,
        _ => {}
    }
    let (mut end, mut octets) = (start, [0_u16; 4]);
    for (index, octet) in octets.iter_mut().enumerate() {
        if index > 0 {
            (bytes.get(end) == Some(&b'.')).then_some(())?;
            end += 1;
        }
        let digits = bytes.get(end..)?.iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
        let group = bytes.get(end..end + digits)?;
        if !matches!(digits, 1..=3) || (digits > 1 && group.first() == Some(&b'0')) {
            return None;
        }
        *octet = group.iter().fold(0, |value, digit| value * 10 + u16::from(digit - b'0'));
        end += digits;
    }
    let is_open = match bytes.get(end..)? {
        [b'.' | b'-', next, ..] if next.is_ascii_alphabetic() => false,
        [b'.', next, ..] if next.is_ascii_digit() => false,
        [b'_' | b'%', ..] => false,
        [next, ..] => !next.is_ascii_alphanumeric(),
        [] => true,
    };
    let is_address = matches!(octets, [1..=254, ..]) && octets.iter().all(|&octet| octet <= 255);
    (is_open && is_address).then_some(Sighting { start, end, evidence: Evidence::Checked })
}
