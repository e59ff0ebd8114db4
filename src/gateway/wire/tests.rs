use proptest::prelude::*;

use super::grammar::{Grammar, Step};

const OK: &str = "GET /a HTTP/1.1\r\nHost: t\r\n\r\n";

fn head(fields: &str) -> String {
    format!("POST /a HTTP/1.1\r\nHost: t\r\n{fields}\r\n")
}

fn step(bytes: &[u8]) -> Step {
    Grammar::default().read(bytes)
}

/// Where it stops being good, whatever pieces the bytes come in.
fn in_pieces(bytes: &[u8], cuts: &[usize]) -> Option<usize> {
    let mut grammar = Grammar::default();
    let mut at = 0;
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    ends.push(bytes.len());
    ends.sort_unstable();
    for end in ends {
        match grammar.read(&bytes[at..end]) {
            Step::Good => at = end,
            Step::Last(good) => return Some(at + good),
            // The fault may be known at its line's beginning or, if that has been handed over, where the line goes on.
            Step::BadHead(_) | Step::BadBody(_) => return None,
        }
    }
    Some(bytes.len())
}

#[test]
fn good_requests_pass_one_after_the_other() {
    for good in [
        OK.to_owned(),
        format!("\r\n{OK}"),
        format!("{}AAAAA{OK}", head("Content-Length: 5\r\n")),
        format!("{}{OK}", head("Content-Length: 0\r\n")),
        format!("{}AAAAA{OK}", head("content-length:\t005 \r\n")),
        format!("{}5\r\nAA\r\nA\r\n0\r\n\r\n{OK}", head("Transfer-Encoding: Chunked\r\n")),
        format!("{}5;a=\"b\" ; c\r\n#####\r\n00\r\nX-Trail: 1\r\n\r\n{OK}", head("Transfer-Encoding: chunked\r\n")),
        format!("{}a\r\n\n\n\n\n\r\r\r\r\r\r\r\n0\r\n\r\n{OK}", head("Transfer-Encoding: chunked\r\n")),
        format!("{}\n\n\r\n#{OK}", head("Content-Length: 5\r\n")),
        format!("GET /{} HTTP/1.1\r\n{}: {}\r\n\r\n{OK}", "a".repeat(9000), "x".repeat(900), "y".repeat(9000)),
    ] {
        assert_eq!(step(good.as_bytes()), Step::Good, "{good:?}");
    }
}

#[test]
fn bad_heads_end_where_they_are_bad() {
    for bad in [
        "GET /a HTTP/1.1\nHost: t\n\n",
        "GET /a HTTP/1.1\r\nHost: t\nX: 1\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: t\r\n\n",
        "GET /a HTTP/1.1\r\nHost: t\r\nX: a\rb\r\n\r\n",
        "GET /a HTTP/1.1\rHost: t\r\n\r\n",
        "\nGET /a HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET /a#b HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET /a HTTP/1.1\r\n Host: t\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: t\r\nX: a\r\n b\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: t\r\nX: a\r\n\tb\r\n\r\n",
    ] {
        assert!(matches!(step(bad.as_bytes()), Step::BadHead(_)), "{bad:?}");
    }
    for length in ["", "+5", "-5", "5 5", "5,5", "0x5", "5_0", "1e1", "5;a", "99999999999999999999999", "\u{b}5"] {
        let bad = head(&format!("Content-Length: {length}\r\n"));
        assert!(matches!(step(bad.as_bytes()), Step::BadHead(_)), "{bad:?}");
    }
}

#[test]
fn nothing_follows_a_head_that_says_two_things() {
    for fields in [
        "Content-Length: 5\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding:\r\n",
    ] {
        let head = head(fields);
        assert_eq!(step(format!("{head}{OK}").as_bytes()), Step::Last(head.len()), "{fields:?}");
    }
    let connect = "CONNECT t:443 HTTP/1.1\r\nHost: t\r\n\r\n";
    assert_eq!(step(format!("{connect}{OK}").as_bytes()), Step::Last(connect.len()));
}

#[test]
fn bad_chunks_end_where_they_are_bad() {
    let head = head("Transfer-Encoding: chunked\r\n");
    for bad in [
        "5\nAAAAA\r\n0\r\n\r\n",
        "5\r\nAAAAA\n0\r\n\r\n",
        "5\r\nAAAAAAAA\r\n0\r\n\r\n",
        "5\r\nAAAAA0\r\n\r\n",
        "5\r\nAAAAA\r\n0\n\r\n",
        "5\r\nAAAAA\r\n0\r\n\n",
        "5\r\nAAAAA\r\n0\r\nX\r\n\r\n",
        "5\r\nAAAAA\r\n0\r\nX Y: 1\r\n\r\n",
        "5\r\nAAAAA\r\n0\r\n: 1\r\n\r\n",
        "5\r\nAAAAA\r\n0\r\nX: 1\nY: 2\r\n\r\n",
        "5\r\nAAAAA\r\n0\r\nX: 1\r\n Y: 2\r\n\r\n",
        "\r\nAAAAA\r\n0\r\n\r\n",
        ";a\r\nAAAAA\r\n0\r\n\r\n",
        "5 \r\nAAAAA\r\n0\r\n\r\n",
        " 5\r\nAAAAA\r\n0\r\n\r\n",
        "+5\r\nAAAAA\r\n0\r\n\r\n",
        "0x5\r\nAAAAA\r\n0\r\n\r\n",
        "5xyz\r\nAAAAA\r\n0\r\n\r\n",
        "5;a=\rb\r\nAAAAA\r\n0\r\n\r\n",
        "5;a=\nAAAAA\r\n0\r\n\r\n",
        "5;a=\0\r\nAAAAA\r\n0\r\n\r\n",
        "10000000000000005\r\nAAAAA\r\n0\r\n\r\n",
    ] {
        assert!(matches!(step(format!("{head}{bad}").as_bytes()), Step::BadBody(_)), "{bad:?}");
    }
    let long = format!("{head}5;{}\r\nAAAAA\r\n0\r\n\r\n", "a".repeat(2000));
    assert!(matches!(step(long.as_bytes()), Step::BadBody(_)));
}

#[test]
fn after_a_switch_of_protocols_anything_goes() {
    let mut grammar = Grammar::default();
    assert_eq!(grammar.read(b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"), Step::Good);
    grammar.answered(b"HTTP/1.1 101 Switching Protocols\r\n");
    assert_eq!(grammar.read(b"\x81\x05\n\n\r\0#"), Step::Good);
    assert!(!grammar.is_within_request(), "its bytes are not for us to read away");
    let mut grammar = Grammar::default();
    assert_eq!(grammar.read(OK.as_bytes()), Step::Good);
    grammar.answered(b"HTTP/1.1 101 Switching Protocols\r\n");
    assert!(matches!(grammar.read(b"\n"), Step::BadHead(0)), "nobody asked for it");
}

proptest! {
    #[test]
    fn pieces_do_not_matter(
        parts in prop::collection::vec(prop::sample::select(vec![
            "GET /a HTTP/1.1\r\n", "Host: t\r\n", "\r\n", "\r", "\n", "#", " ", "Content-Length: 3\r\n", "AAA", "0\r\n",
            "Transfer-Encoding: chunked\r\n", "3\r\n", "X: y\r\n", "5;a=b\r\n", "POST / HTTP/1.1\r\n",
        ]), 1..12),
        cuts in prop::collection::vec(any::<usize>(), 0..20),
    ) {
        let bytes = parts.concat().into_bytes();
        prop_assert_eq!(in_pieces(&bytes, &cuts), in_pieces(&bytes, &[]));
    }
}
