//! Bodies with content codings: what they stand for is judged, in both directions, and goes on as it is then.

use std::io::Write;
use std::sync::Mutex;
use std::sync::mpsc::channel;

use crate::support::client::Connection;
use crate::support::{Answer, Gateway, Upstream, client, get, request, request_rules, response_rules};

const RULE: &str = "- {select: $..ssn, action: remove}";
const CODINGS: [&str; 5] = ["gzip", "deflate", "br", "zstd", "br, X-GZIP"];

/// `body` with the codings of a `Content-Encoding` line put on.
fn encoded(label: &str, body: &[u8]) -> Vec<u8> {
    label.split(", ").fold(body.to_vec(), |body, coding| match coding {
        "deflate" => {
            let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            writer.write_all(&body).expect("memory");
            writer.finish().expect("memory")
        }
        "br" => {
            let mut out = Vec::new();
            let params = brotli::enc::BrotliEncoderParams { quality: 2, ..Default::default() };
            brotli::BrotliCompress(&mut body.as_slice(), &mut out, &params).expect("memory");
            out
        }
        "zstd" => zstd::encode_all(body.as_slice(), 1).expect("memory"),
        _ => {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            writer.write_all(&body).expect("memory");
            writer.finish().expect("memory")
        }
    })
}

fn answer(label: &str, fields: &str, body: &[u8]) -> Answer {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: {label}\r\n{fields}Content-Length: {}\r\n\r\n",
        body.len()
    );
    Answer::Keep([head.as_bytes(), body].concat())
}

/// An upstream that answers with this, whatever it is asked.
fn upstream(label: &'static str, body: Vec<u8>) -> Upstream {
    Upstream::new(move |_| answer(label, "ETag: \"a\"\r\nVary: Accept-Encoding\r\n", &body))
}

fn send(gateway: &Gateway, label: &str, body: &[u8]) -> client::Reply {
    let fields = [("Content-Type", "application/json"), ("Content-Encoding", label), ("Content-Digest", "x")];
    request(gateway.address, "POST", "/", &fields, body)
}

fn items(count: usize, item: &str) -> String {
    format!("[{}null]", item.repeat(count))
}

#[test]
fn responses_are_judged_by_what_they_stand_for() {
    for (count, label) in [1, 20_000].into_iter().flat_map(|n| CODINGS.map(|label| (n, label))) {
        let body = items(count, r#"{"ssn":"123-45-6789","x":1.10},"#);
        let upstream = upstream(label, encoded(label, body.as_bytes()));
        let gateway = Gateway::start(&response_rules(&upstream, RULE));
        let reply = get(gateway.address, "/");
        let expected = items(count, r#"{"x":1.10},"#);
        assert!(reply.complete && reply.text() == expected, "{label}: {} {}", reply.status, reply.body.len());
        assert_eq!((reply.header("content-encoding"), reply.header("etag")), (None, None), "{label}");
        let length = (count == 1).then(|| expected.len().to_string());
        assert_eq!(reply.header("content-length").map(str::to_owned), length, "{label}");
        let record = gateway.record_of(&reply);
        assert_eq!((&record["verdict"], &record["outcome"]), (&"edit".into(), &"completed".into()), "{label}");
        assert_eq!(record["findings"][0]["count"], count, "{label}");
    }
}

#[test]
fn requests_are_judged_by_what_they_stand_for() {
    for (count, label) in [1, 20_000].into_iter().flat_map(|n| CODINGS.map(|label| (n, label))) {
        let upstream = Upstream::json("{}");
        let gateway = Gateway::start(&request_rules(&upstream, RULE));
        let body = encoded(label, items(count, r#"{"ssn":"123-45-6789","x":1.10},"#).as_bytes());
        let reply = send(&gateway, label, &body);
        assert_eq!(reply.status, 200, "{label}: {}", reply.text());
        let (seen, expected) = (upstream.last(), items(count, r#"{"x":1.10},"#));
        assert!(seen.text() == expected, "{label}: {}", seen.body.len());
        assert_eq!((seen.header("content-encoding"), seen.header("content-digest")), (None, None), "{label}");
        let length = (count == 1).then(|| expected.len().to_string());
        assert_eq!(seen.header("content-length").map(str::to_owned), length, "{label}");
        let record = gateway.record_of(&reply);
        assert_eq!(
            (&record["bytes_in"], &record["findings"][0]["count"]),
            (&body.len().into(), &count.into()),
            "{label}"
        );
    }
}

#[test]
fn what_nothing_is_found_in_goes_on_decoded_too() {
    let upstream = upstream("gzip", encoded("gzip", b"{ \"a\" : 1 }"));
    let gateway = Gateway::start(&response_rules(&upstream, RULE));
    let reply = get(gateway.address, "/");
    assert_eq!((reply.text().as_str(), reply.header("content-encoding")), ("{ \"a\" : 1 }", None));
    assert_eq!(gateway.record_of(&reply)["verdict"], "pass");
}

#[test]
fn a_rule_that_blocks_sees_through_codings() {
    let upstream = upstream("zstd", encoded("zstd", b"{\"ssn\":\"123-45-6789\"}"));
    let block = "- {detect: [us_ssn], action: {block: {status: 451}}}";
    let gateway = Gateway::start(&response_rules(&upstream, block));
    assert_eq!(get(gateway.address, "/").status, 451);
    let gateway = Gateway::start(&request_rules(&upstream, block));
    assert_eq!(send(&gateway, "br", &encoded("br", b"{\"ssn\":\"123-45-6789\"}")).status, 451);
    assert_eq!(send(&gateway, "br", &encoded("br", b"{\"ssn\":\"1\"}")).status, 200);
}

#[test]
fn what_is_not_what_it_says_is_refused() {
    let echo = Upstream::new(|seen| match seen.header("content-encoding") {
        Some(label) => answer(label, "", &seen.body),
        None => Answer::json(&seen.body),
    });
    let body = br#"{"ssn":"123-45-6789"}"#;
    let gzip = encoded("gzip", body);
    let mut damaged = gzip.clone();
    *damaged.last_mut().expect("bytes") ^= 1;
    let cases: &[(&str, &[u8], u16, &str)] = &[
        ("gzip", body, 422, "malformed"),
        ("br", body, 422, "malformed"),
        ("gzip", &gzip[..gzip.len() - 9], 422, "malformed"),
        ("gzip", &damaged, 422, "malformed"),
        ("gzip", &[&gzip, &b"{}"[..]].concat(), 422, "malformed"),
        ("gzip", &encoded("gzip", b"{\"ssn\":1,}"), 422, "malformed"),
        ("gzip, gzip", &gzip, 422, "malformed"),
        ("identity", &gzip, 422, "malformed"),
        ("compress", body, 415, "unsupported"),
        ("gzip, aws-chunked", &gzip, 415, "unsupported"),
        ("gzip, gzip, gzip, gzip", &gzip, 415, "unsupported"),
    ];
    let requests = Gateway::start(&request_rules(&echo, RULE));
    let responses = Gateway::start(&response_rules(&echo, RULE));
    for (label, body, status, code) in cases {
        let reply = send(&requests, label, body);
        assert_eq!((reply.status, reply.code().as_str()), (*status, *code), "{label}");
        let record = requests.record_of(&reply);
        assert_eq!((&record["uninspected"][0]["failure"], &record["outcome"]), (&(*code).into(), &(*code).into()));
        assert_eq!(echo.seen().len(), 0);
    }
    for (label, body, _, code) in cases {
        let reply = send(&responses, label, body);
        assert_eq!((reply.status, reply.code().as_str()), (502, *code), "{label}");
    }
}

#[test]
fn what_cannot_be_decoded_may_pass_as_it_came() {
    let body = b"not gzip at all";
    let upstream = Upstream::new(|_| answer("gzip", "", body));
    let rules = response_rules(&upstream, RULE).replace("  p:\n", "  p:\n    on_failure: {malformed: pass}\n");
    let gateway = Gateway::start(&rules);
    let reply = get(gateway.address, "/");
    assert_eq!((reply.status, &reply.body[..], reply.header("content-encoding")), (200, &body[..], Some("gzip")));
    let record = gateway.record_of(&reply);
    assert_eq!(record["uninspected"][0]["reason"], "not the gzip that it is said to be");
    assert_eq!(record["uninspected"][0]["decision"], "pass");
}

#[test]
fn a_body_that_breaks_off_is_cut_not_ended() {
    let whole = encoded("gzip", items(20_000, r#"{"ssn":"123-45-6789","x":1},"#).as_bytes());
    let cut: Vec<u8> = whole[..whole.len() - 4].to_vec();
    let cut_here = cut.clone();
    let upstream = Upstream::new(move |_| answer("gzip", "", &cut_here));
    // Nothing can be made of the rest, and so it cannot pass either.
    for policy in ["", "    on_failure: {malformed: pass}\n"] {
        let rules = response_rules(&upstream, RULE).replace("  p:\n", &format!("  p:\n{policy}"));
        let gateway = Gateway::start(&rules);
        let reply = get(gateway.address, "/");
        assert!(!reply.complete && !reply.text().contains("123-45"), "{} {}", reply.status, reply.body.len());
        assert_eq!(gateway.record_of(&reply)["outcome"], "malformed");
    }
    let gateway = Gateway::start(&request_rules(&upstream, RULE));
    let reply = send(&gateway, "gzip", &cut);
    assert_eq!((reply.status, reply.code().as_str()), (422, "malformed"));
    assert!(upstream.seen().iter().all(|seen| seen.method() == "GET"), "it never came to its end");
}

/// Kilobytes that the process has held at once, and holds.
fn memory(gateway: &Gateway) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{}/status", gateway.pid())).expect("status");
    let of = |name| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
        line.trim_end_matches("kB").trim().parse().expect("a number")
    };
    (of("VmHWM:"), of("VmRSS:"))
}

/// JSON that never ends, gzipped to a thousandth of its size.
fn bomb(megabytes: usize) -> Vec<u8> {
    let piece = "0".repeat(1 << 20);
    [encoded("gzip", b"[\""), encoded("gzip", piece.as_bytes()).repeat(megabytes)].concat()
}

#[test]
fn a_bomb_goes_off_in_a_small_room() {
    let bomb = bomb(1000);
    assert!(bomb.len() < 4 << 20, "{}", bomb.len());
    let stacked = encoded("gzip", &bomb);
    let upstream = Upstream::json("{}");
    let rules =
        request_rules(&upstream, RULE).replace("upstream: u,", "upstream: u, limits: {body: 8MiB, decoded: 16MiB},");
    let holding = rules.replace(RULE, "- {detect: [us_ssn], action: block}");
    for (rules, label, body) in [(&rules, "gzip", &bomb), (&rules, "gzip, gzip", &stacked), (&holding, "gzip", &bomb)] {
        let gateway = Gateway::start(rules);
        assert_eq!(send(&gateway, "gzip", &encoded("gzip", b"{}")).status, 200);
        let (_, before) = memory(&gateway);
        let reply = send(&gateway, label, body);
        assert_eq!((reply.status, reply.code().as_str()), (413, "oversize"), "{label}");
        let (most, _) = memory(&gateway);
        // What is held is held once as it came and once as it is, and doubles while it grows.
        let room = if rules == &holding { 48 << 10 } else { 16 << 10 };
        assert!(most < before + room, "{label}: {most} kB at most, {before} kB before");
        assert_eq!(gateway.record_of(&reply)["outcome"], "oversize");
    }
    assert!(upstream.seen().iter().all(|seen| seen.text() == "{}"), "no bomb came to its end");
}

#[test]
fn events_are_decoded_as_they_come() {
    for label in ["gzip", "br", "zstd"] {
        let (tell, told) = channel::<()>();
        let told = Mutex::new(Some(told));
        let upstream = Upstream::new(move |_| {
            let told = told.lock().expect("lock").take().expect("one request");
            Answer::Stream(Box::new(move |stream| {
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: {label}\r\nTransfer-Encoding: chunked\r\n\r\n"
                );
                if stream.write_all(head.as_bytes()).is_err() {
                    return;
                }
                let mut encoder: Box<dyn Flushed> = match label {
                    "gzip" => Box::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast())),
                    "br" => Box::new(brotli::CompressorWriter::new(Vec::new(), 4096, 2, 22)),
                    _ => Box::new(zstd::Encoder::new(Vec::new(), 1).expect("memory")),
                };
                for _ in 0..2 {
                    if told.recv().is_err() {
                        return;
                    }
                    let piece = encoder.flushed(b"data: {\"ssn\":1,\"a\":1}\n\n");
                    let chunk = [format!("{:x}\r\n", piece.len()).as_bytes(), &piece, b"\r\n"].concat();
                    if stream.write_all(&chunk).is_err() {
                        return;
                    }
                }
                assert!(told.recv().is_err(), "nobody tells any more");
            }))
        });
        let gateway = Gateway::start(&response_rules(&upstream, RULE));
        let mut client = Connection::open(gateway.address);
        client.send(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n");
        for _ in 0..2 {
            tell.send(()).expect("told");
            client.read_until("data: {\"a\":1}\n\n");
        }
    }
}

/// An encoder that gives out what it has.
trait Flushed {
    fn flushed(&mut self, text: &[u8]) -> Vec<u8>;
}

macro_rules! flushed {
    ($($encoder:ty),*) => {
        $(impl Flushed for $encoder {
            fn flushed(&mut self, text: &[u8]) -> Vec<u8> {
                self.write_all(text).expect("memory");
                self.flush().expect("memory");
                std::mem::take(self.get_mut())
            }
        })*
    };
}

flushed!(flate2::write::GzEncoder<Vec<u8>>, brotli::CompressorWriter<Vec<u8>>, zstd::Encoder<'static, Vec<u8>>);

#[test]
fn shadow_mode_looks_and_sends_on_what_came() {
    for count in [1, 20_000] {
        let body = encoded("gzip", items(count, r#"{"ssn":"123-45-6789","x":1},"#).as_bytes());
        let upstream = upstream("gzip", body.clone());
        let rules = response_rules(&upstream, RULE).replace("  p:\n", "  p:\n    mode: shadow\n");
        let gateway = Gateway::start(&rules);
        let reply = get(gateway.address, "/");
        assert!(reply.complete && reply.body == body, "{count}: {} bytes", reply.body.len());
        assert_eq!((reply.header("content-encoding"), reply.header("etag")), (Some("gzip"), Some("\"a\"")));
        let record = gateway.record_of(&reply);
        assert_eq!((&record["verdict"], &record["findings"][0]["count"]), (&"pass".into(), &count.into()));
    }
    // What breaks off, too, and the record says where the looking ended.
    let whole = encoded("zstd", items(20_000, r#"{"ssn":"123-45-6789","x":1},"#).as_bytes());
    let cut = whole[..whole.len() - 4].to_vec();
    let upstream = upstream("zstd", cut.clone());
    let rules = response_rules(&upstream, RULE).replace("  p:\n", "  p:\n    mode: shadow\n");
    let gateway = Gateway::start(&rules);
    let reply = get(gateway.address, "/");
    assert!(reply.complete && reply.body == cut, "{} bytes", reply.body.len());
    assert_eq!(gateway.record_of(&reply)["uninspected"][0]["reason"], "zstd that breaks off");
}

#[test]
fn what_nobody_looks_at_is_not_decoded() {
    let upstream = Upstream::new(|seen| answer("x-unheard-of", "", &seen.body));
    let gateway = Gateway::start(&response_rules(&upstream, "- {headers: [x-secret], action: remove}"));
    let reply = send(&gateway, "x-unheard-of", b"\x1f\x8bwhatever");
    assert_eq!((&reply.body[..], reply.header("content-encoding")), (&b"\x1f\x8bwhatever"[..], Some("x-unheard-of")));
    assert_eq!(upstream.last().header("content-encoding"), Some("x-unheard-of"));
}

#[test]
fn only_what_can_be_decoded_is_asked_for() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&response_rules(&upstream, RULE));
    for (said, expected) in [
        ("", "identity"),
        ("Accept-Encoding: gzip;q=0.5, dcb, br\r\nAccept-Encoding: zstd, *\r\n", "gzip;q=0.5, br, zstd"),
        ("Accept-Encoding: compress\r\n", "identity"),
    ] {
        let head = format!("GET / HTTP/1.1\r\nHost: t\r\n{said}Connection: close\r\n\r\n");
        assert_eq!(client::raw(gateway.address, head.as_bytes(), false).expect("answer").status, 200);
        assert_eq!(upstream.last().header("accept-encoding"), Some(expected));
    }
}

#[test]
fn a_body_without_a_byte_has_no_coding() {
    let upstream = Upstream::new(|seen| match seen.target() {
        "/packed" => answer("gzip", "", &encoded("gzip", b"")),
        _ => answer("gzip", "", b""),
    });
    let gateway = Gateway::start(&response_rules(&upstream, RULE));
    let reply = get(gateway.address, "/");
    assert_eq!((reply.status, &reply.body[..], reply.header("content-encoding")), (200, &b""[..], Some("gzip")));
    let reply = get(gateway.address, "/packed");
    assert_eq!((reply.status, &reply.body[..], reply.header("content-encoding")), (200, &b""[..], None));
    let reply = client::request(gateway.address, "HEAD", "/", &[], b"");
    assert_eq!((reply.status, reply.header("content-encoding")), (200, None), "as GET would say it");
}
