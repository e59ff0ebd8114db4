//! No upstream breaks it: whatever one does to a connection, the client gets a whole answer or learns that it has none, in
//! time, and the record says why.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::client::{Connection, Reply};
use crate::support::faulty::{Faulty, black_hole, closed_port, request, reset};
use crate::support::{Answer, Gateway, Upstream, get, raw, until};

/// One upstream with these settings, and a route for everything.
fn rules(address: SocketAddr, settings: &str) -> String {
    format!(
        "version: 1
upstreams:
  u: {{targets: [\"http://{address}\"], {settings}}}
routes:
  all: {{match: {{paths: [\"/{{*rest}}\"]}}, upstream: u}}
"
    )
}

const SHORT: &str = "timeouts: {connect: 1s, response: 1s, idle: 1s}";

/// Asks once, and checks the status, the outcome and that it took about this long.
fn check(gateway: &Gateway, status: u16, outcome: &str, seconds: std::ops::Range<f64>) -> Reply {
    let began = Instant::now();
    let reply = get(gateway.address, "/");
    let took = began.elapsed().as_secs_f64();
    assert_eq!((reply.status, reply.code().as_str()), (status, outcome));
    assert!(seconds.contains(&took), "{outcome} after {took} s");
    assert_eq!(gateway.record_of(&reply)["outcome"], outcome);
    reply
}

#[test]
fn a_closed_port_is_told_at_once() {
    let gateway = Gateway::start(&rules(closed_port(), &format!("{SHORT}, circuit_breaker: {{failures: 3}}")));
    for _ in 0..3 {
        check(&gateway, 502, "upstream_connect", 0.0..0.5);
    }
    let refused = check(&gateway, 503, "circuit_open", 0.0..0.5);
    assert!((1..=5).contains(&refused.header("retry-after").expect("when").parse().expect("a number")));
}

#[test]
fn a_black_hole_is_given_up_at_the_connect_deadline() {
    let (address, _hole) = black_hole();
    let gateway = Gateway::start(&rules(address, "timeouts: {connect: 700ms, response: 30s, idle: 30s}"));
    check(&gateway, 504, "upstream_timeout", 0.63..1.5);
}

#[test]
fn silence_is_given_up_at_the_response_deadline() {
    let silent = Faulty::new(|mut stream| {
        request(&mut stream);
        // Until the gateway has enough of it.
        request(&mut stream);
    });
    let gateway = Gateway::start(&rules(silent.address, SHORT));
    check(&gateway, 504, "upstream_timeout", 0.9..2.0);
    assert_eq!(silent.connections(), 1, "what may have arrived and takes long is not asked for again");
}

/// Writes a byte from time to time, until somebody has enough of it.
fn trickle(stream: &mut TcpStream, byte: u8) {
    while stream.write_all(&[byte]).is_ok() {
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_head_that_trickles_does_not_move_the_deadline() {
    let slow = Faulty::new(|mut stream| {
        request(&mut stream);
        drop(stream.write_all(b"HTTP/1.1 200 OK\r\nX-Slow: "));
        trickle(&mut stream, b'a');
    });
    let gateway = Gateway::start(&rules(slow.address, SHORT));
    check(&gateway, 504, "upstream_timeout", 0.9..2.0);
}

#[test]
fn a_body_that_stalls_is_cut_at_the_idle_deadline_and_one_that_trickles_at_the_total_one() {
    let slow = Faulty::new(|mut stream| {
        let asked = request(&mut stream).unwrap_or_default();
        drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nstart"));
        if asked.starts_with("GET /stalls") {
            request(&mut stream);
        } else {
            trickle(&mut stream, b'a');
        }
    });
    for (path, settings) in [("/stalls", SHORT), ("/trickles", "timeouts: {idle: 1s, total: 1s}")] {
        let gateway = Gateway::start(&rules(slow.address, settings));
        let began = Instant::now();
        let reply = get(gateway.address, path);
        assert!((0.9..2.0).contains(&began.elapsed().as_secs_f64()), "{path}: {:?}", began.elapsed());
        assert!(!reply.complete && reply.text().starts_with("start"), "{path}");
        let record = gateway.record_of(&reply);
        assert_eq!((&record["status"], &record["outcome"]), (&200.into(), &"upstream_timeout".into()), "{path}");
    }
}

/// A response of two kilobytes, with a length or in chunks.
fn two_kilobytes(chunked: bool) -> Vec<u8> {
    let mut answer = if chunked {
        let chunk = format!("200\r\n{}\r\n", "x".repeat(0x200));
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{}0\r\n", chunk.repeat(3))
    } else {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1990\r\nX-Pad: ab\r\n\r\n";
        format!("{head}{}", "x".repeat(1990))
    };
    if chunked {
        answer.push_str("\r\n");
    }
    answer.into_bytes()
}

#[test]
fn an_answer_that_is_cut_at_any_byte_is_never_delivered_as_complete() {
    const CLIENTS: usize = 8;
    let upstream = Faulty::new(|mut stream| {
        let asked = request(&mut stream).unwrap_or_default();
        let mut words = asked.split(['/', ' ']).filter(|word| !word.is_empty()).skip(1);
        let (Some(framing), Some(ending), Some(at)) = (words.next(), words.next(), words.next()) else { return };
        let answer = two_kilobytes(framing == "chunked");
        let at: usize = at.parse().expect("a number");
        drop(stream.write_all(&answer[..at]));
        if ending == "rst" {
            reset(stream);
        }
    });
    let gateway = Arc::new(Gateway::start(&rules(upstream.address, SHORT)));
    let mut cuts: Vec<(String, bool)> = Vec::new();
    for (framing, step) in [("length", 1), ("chunked", 3)] {
        let whole = two_kilobytes(framing == "chunked").len();
        for at in (0..whole).step_by(step).chain([whole]) {
            for ending in ["fin", "rst"] {
                cuts.push((format!("/{framing}/{ending}/{at}"), at == whole));
            }
        }
    }
    let total = cuts.len();
    assert!(total > 5000);
    let cuts = Arc::new(cuts);
    let delivered = Arc::new(AtomicUsize::new(0));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|n| {
            let (gateway, cuts, delivered) = (Arc::clone(&gateway), Arc::clone(&cuts), Arc::clone(&delivered));
            std::thread::spawn(move || {
                for (path, is_whole) in cuts.iter().skip(n).step_by(CLIENTS) {
                    let asked = format!("GET {path} HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
                    match raw(gateway.address, asked.as_bytes(), false) {
                        Some(reply) if reply.status == 200 && reply.complete => {
                            assert!(is_whole, "{path} was delivered as complete: {} bytes", reply.body.len());
                            delivered.fetch_add(1, Ordering::SeqCst);
                        }
                        Some(reply) => assert!(reply.status == 502 || !reply.complete, "{path}: {reply:?}"),
                        // Cut before its head could leave.
                        None => {}
                    }
                }
            })
        })
        .collect();
    for client in clients {
        client.join().expect("client");
    }
    assert!(delivered.load(Ordering::SeqCst) >= 2, "an answer that ends properly gets through");
    until("every exchange is recorded", || gateway.records().len() == total);
    let outcomes: Vec<_> =
        gateway.records().iter().map(|r| r["outcome"].as_str().unwrap_or_default().to_owned()).collect();
    let complete = outcomes.iter().filter(|outcome| *outcome == "completed").count();
    assert!(complete <= 4, "{complete} are recorded as completed");
    assert!(outcomes.iter().all(|outcome| ["completed", "upstream_broken"].contains(&outcome.as_str())));
}

#[test]
fn what_follows_an_answer_is_never_the_next_answer() {
    const CLIENTS: usize = 8;
    const PAIRS: usize = 1250;
    let upstream = Upstream::new(|seen| {
        let body = seen.target();
        let extra = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
        Answer::Keep(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}{extra}", body.len()).into_bytes())
    });
    let gateway = Arc::new(Gateway::start(&rules(upstream.address, SHORT)));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let gateway = Arc::clone(&gateway);
            std::thread::spawn(move || {
                let mut connection = Connection::open(gateway.address);
                for n in 0..2 * PAIRS {
                    let path = format!("/{client}/{n}");
                    assert_eq!(connection.get(&path).expect("answer").text(), path);
                }
            })
        })
        .collect();
    for client in clients {
        client.join().expect("client");
    }
}

#[test]
fn a_storm_of_interim_answers_ends_with_the_answer_or_at_the_deadline() {
    let upstream = Faulty::new(|mut stream| {
        let asked = request(&mut stream).unwrap_or_default();
        let hint = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
        for _ in 0..200 {
            drop(stream.write_all(hint));
        }
        if asked.starts_with("GET /ends") {
            drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
        } else {
            while stream.write_all(hint).is_ok() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    });
    let gateway = Gateway::start(&rules(upstream.address, SHORT));
    assert_eq!(get(gateway.address, "/ends").text(), "ok");
    check(&gateway, 504, "upstream_timeout", 0.9..2.0);
}

#[test]
fn a_name_without_an_address_is_told_apart() {
    let rules = rules(closed_port(), SHORT).replace("http://127.0.0.1", "http://nowhere.invalid");
    let gateway = Gateway::start(&rules);
    let reply = check(&gateway, 503, "upstream_dns", 0.0..1.5);
    assert!(reply.header("retry-after").is_some());
}

#[test]
fn what_a_client_does_wrong_is_not_the_upstreams_fault() {
    let upstream = Upstream::json("{}");
    let settings = format!("{SHORT}, circuit_breaker: {{failures: 1, open: 1m}}");
    let gateway = Gateway::start(&rules(upstream.address, &settings));
    let start = format!(
        "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{}",
        100_000,
        "x".repeat(70_000)
    );
    let bad = [start.as_str(), "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nZZ\r\n"];
    for _ in 0..3 {
        // Breaks off in the middle of a chunk.
        let mut connection = Connection::open(gateway.address);
        connection.send(bad[0].as_bytes());
        drop(connection);
        // And frames one wrongly.
        let reply = raw(gateway.address, bad[1].as_bytes(), false).expect("answer");
        assert_eq!((reply.status, reply.code().as_str()), (400, "client_body"));
    }
    until("all are recorded", || gateway.records().len() == 6);
    let outcomes: Vec<_> = gateway.records().iter().map(|record| record["outcome"].to_string()).collect();
    assert!(outcomes.iter().all(|outcome| outcome.contains("client_")), "{outcomes:?}");
    assert_eq!(get(gateway.address, "/").status, 200, "the circuit is closed");
}
