//! A connection becomes a WebSocket where a route says so, when both sides agree, and nowhere else; the record says that
//! nobody looked inside.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::support::client::Connection;
use crate::support::tls::{Authority, before, through};
use crate::support::upstream::Seen;
use crate::support::{Answer, Gateway, Upstream, get, no_rules, until};

const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

fn handshake(path: &str) -> Vec<u8> {
    format!(
        "GET {path} HTTP/1.1\r\nHost: t.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: chat\r\n\r\n"
    )
    .into_bytes()
}

/// What proves that the key was read (RFC 6455 section 1.3).
fn proof(seen: &Seen) -> String {
    let key = seen.header("sec-websocket-key").unwrap_or_default();
    let text = format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    BASE64_STANDARD.encode(ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes()))
}

/// Agrees to every handshake and says back whatever it is told.
fn echo() -> Upstream {
    Upstream::new(|seen| {
        if seen.header("upgrade").is_none() {
            return Answer::json("{}");
        }
        let head = format!(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Accept: {}\r\nSec-WebSocket-Protocol: chat\r\nX-Secret: 1\r\n\r\n",
            proof(seen)
        );
        Answer::Stream(Box::new(move |stream| {
            drop(stream.write_all(head.as_bytes()));
            let mut piece = [0; 4096];
            while let Ok(n) = stream.read(&mut piece) {
                if n == 0 || stream.write_all(&piece[..n]).is_err() {
                    return;
                }
            }
        }))
    })
}

fn tunnelling(upstream: &Upstream) -> String {
    let rules = no_rules(upstream).replace("upstream: u}", "upstream: u, upgrade: [websocket], policies: [p]}");
    rules + "policies:\n  p:\n    response:\n      - {headers: [x-secret], action: remove}\n"
}

/// Sends what follows a handshake and reads as much back.
fn says_back(connection: &mut Connection, text: &str) -> bool {
    connection.send(text.as_bytes());
    connection.take(text.len()) == text.as_bytes()
}

#[test]
fn bytes_go_both_ways_and_the_record_says_so() {
    let upstream = echo();
    let gateway = Gateway::start(&tunnelling(&upstream));
    let mut connection = Connection::open(gateway.address);
    // The first words may come with the handshake.
    connection.send(&[&handshake("/chat?room=1")[..], b"early"].concat());
    let reply = connection.read(true).expect("answer");
    assert_eq!((reply.status, reply.header("upgrade")), (101, Some("websocket")));
    assert_eq!(reply.header("connection").map(str::to_ascii_lowercase).as_deref(), Some("upgrade"));
    assert_eq!((reply.header("sec-websocket-protocol"), reply.header("x-secret")), (Some("chat"), None));
    let seen = upstream.last();
    assert_eq!((seen.target(), seen.header("x-forwarded-host")), ("/chat?room=1", Some("t.example")));
    assert_eq!(connection.take(5), b"early");
    let large = "x".repeat(100_000);
    for text in ["hello", &large, "bye"] {
        assert!(says_back(&mut connection, text), "{}", text.len());
    }
    assert!(gateway.records().is_empty(), "it is not over");
    drop(connection);
    let record = gateway.record_of(&reply);
    assert_eq!((&record["status"], &record["outcome"]), (&101.into(), &"tunnel_closed".into()));
    assert_eq!((&record["bytes_in"], &record["bytes_out"]), (&100_013.into(), &100_013.into()));
    let uninspected = record["uninspected"].as_array().expect("uninspected");
    assert_eq!(uninspected.len(), 2, "both directions");
    assert!(uninspected.iter().all(|one| one["reason"] == "a websocket tunnel is not inspected"), "{record}");
    let metrics = get(gateway.admin, "/metrics").text();
    assert!(metrics.contains("fieldgate_outcomes_total{outcome=\"tunnel_closed\"} 1"), "{metrics}");
}

#[test]
fn tls_makes_no_difference() {
    let (authority, files) = (Authority::new(), tempfile::tempdir().expect("folder"));
    let upstream = echo();
    let secure = before(authority.issue("localhost").server(&["h2", "http/1.1"], None), upstream.address);
    let (cert, key) = authority.issue("localhost").write_to(files.path());
    let ca = files.path().join("ca.pem");
    std::fs::write(&ca, authority.pem()).expect("file");
    let target = format!("https://localhost:{}\"], tls: {{ca: \"file:{}\"}}", secure.port(), ca.display());
    let rules = tunnelling(&upstream).replace(&format!("http://{}\"]", upstream.address), &target);
    let (cert, key) = (cert.to_string_lossy(), key.to_string_lossy());
    let gateway = Gateway::start_with(&rules, &["--tls-cert", &cert, "--tls-key", &key]);
    let mut connection = Connection::open(through(authority.client(&["http/1.1"]), gateway.address));
    connection.send(&handshake("/"));
    assert_eq!(connection.read(true).expect("answer").status, 101);
    assert!(says_back(&mut connection, "hello"));
}

#[test]
fn elsewhere_an_upgrade_goes_no_further() {
    let upstream = echo();
    let gateway = Gateway::start(&no_rules(&upstream));
    let mut connection = Connection::open(gateway.address);
    connection.send(&handshake("/"));
    assert_eq!(connection.read(false).expect("answer").status, 200);
    assert_eq!((upstream.last().header("upgrade"), upstream.last().header("connection")), (None, None));
}

#[test]
fn what_is_no_proper_handshake_is_an_ordinary_request() {
    let upstream = echo();
    let gateway = Gateway::start(&tunnelling(&upstream));
    let good = String::from_utf8(handshake("/")).expect("text");
    for bad in [
        good.replace("websocket\r\n", "h2c\r\n"),
        good.replace(KEY, "c2hvcnQ="),
        good.replace("Version: 13", "Version: 12"),
        good.replace("GET", "POST").replace("\r\n\r\n", "\r\nContent-Length: 0\r\n\r\n"),
        good.replace("Connection: Upgrade", "Connection: keep-alive"),
    ] {
        let mut connection = Connection::open(gateway.address);
        connection.send(bad.as_bytes());
        assert_eq!(connection.read(false).expect("answer").status, 200, "{bad}");
        assert_eq!(upstream.last().header("upgrade"), None, "{bad}");
    }
}

#[test]
fn an_upstream_that_agrees_to_something_else_is_broken() {
    const LINE: &str = "HTTP/1.1 101 Switching Protocols\r\n";
    for (answer, asks) in [
        (format!("{LINE}Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: AAAA\r\n\r\n"), true),
        (format!("{LINE}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n"), true),
        (
            format!(
                "{LINE}Connection: upgrade\r\nUpgrade: h2c\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
            ),
            true,
        ),
        (format!("{LINE}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n"), false),
    ] {
        let answered = answer.clone();
        let upstream = Upstream::new(move |_| Answer::Close(answered.clone().into_bytes()));
        let gateway = Gateway::start(&tunnelling(&upstream));
        let mut connection = Connection::open(gateway.address);
        let plain = b"GET / HTTP/1.1\r\nHost: t\r\n\r\n".to_vec();
        connection.send(&if asks { handshake("/") } else { plain });
        let reply = connection.read(false).expect("answer");
        assert_eq!((reply.status, reply.code().as_str()), (502, "upstream_broken"), "{answer}");
    }
}

#[test]
fn an_upstream_that_declines_is_heard() {
    let upstream = Upstream::json(r#"{"no":1}"#);
    let gateway = Gateway::start(&tunnelling(&upstream));
    let mut connection = Connection::open(gateway.address);
    connection.send(&handshake("/"));
    let reply = connection.read(false).expect("answer");
    assert_eq!((reply.status, reply.text().as_str()), (200, r#"{"no":1}"#));
    assert_eq!(connection.get("/next").expect("answer").status, 200, "it is still a connection of HTTP");
}

#[test]
fn a_silent_tunnel_ends() {
    let upstream = echo();
    let gateway = Gateway::start(&tunnelling(&upstream).replace("idle: 2s", "idle: 500ms"));
    let mut connection = Connection::open(gateway.address);
    connection.send(&handshake("/"));
    let reply = connection.read(true).expect("answer");
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(1) {
        assert!(says_back(&mut connection, "still here"), "not silent yet");
    }
    assert!(connection.take(1).is_empty(), "closed");
    assert_eq!(gateway.record_of(&reply)["outcome"], "tunnel_idle");
}

#[test]
fn one_side_may_end_before_the_other() {
    let upstream = echo();
    let gateway = Gateway::start(&tunnelling(&upstream));
    let mut socket = TcpStream::connect(gateway.address).expect("connect");
    socket.write_all(&[&handshake("/")[..], b"last words"].concat()).expect("write");
    socket.shutdown(Shutdown::Write).expect("shutdown");
    let mut all = Vec::new();
    socket.read_to_end(&mut all).expect("read");
    assert!(all.ends_with(b"\r\n\r\nlast words"), "{}", String::from_utf8_lossy(&all));
}

#[test]
fn a_tunnel_counts_as_a_connection_and_a_stop_ends_it() {
    let upstream = echo();
    let mut gateway = Gateway::start_with(&tunnelling(&upstream), &["--max-connections", "1"]);
    let mut tunnel = Connection::open(gateway.address);
    tunnel.send(&handshake("/"));
    assert_eq!(tunnel.read(true).expect("answer").status, 101);
    let mut second = Connection::open(gateway.address);
    second.send(b"GET /second HTTP/1.1\r\nHost: t\r\n\r\n");
    assert!(says_back(&mut tunnel, "hello"));
    assert!(upstream.seen().iter().all(|seen| seen.target() != "/second"), "not before its turn");
    drop(tunnel);
    assert_eq!(second.read(false).expect("answer").status, 200);
    drop(second);

    let mut tunnel = Connection::open(gateway.address);
    tunnel.send(&handshake("/"));
    assert_eq!(tunnel.read(true).expect("answer").status, 101);
    let began = Instant::now();
    gateway.signal("TERM");
    assert!(says_back(&mut tunnel, "last words"), "what is said is still carried");
    assert!(tunnel.take(1).is_empty());
    assert!(gateway.wait().success());
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    until("it is recorded", || gateway.records().iter().any(|r| r["outcome"] == "cut_by_shutdown"));
}
