//! No client holds a connection by doing nothing, and none takes more than its share.

use std::time::{Duration, Instant};

use crate::support::{Gateway, Upstream, client::Connection, no_rules, request_rules, until};

#[test]
fn half_a_head_is_closed_at_the_deadline() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start_with(&no_rules(&upstream), &["--header-timeout", "500ms"]);
    let began = Instant::now();
    let mut slow = Connection::open(gateway.address);
    slow.send(b"GET / HTTP/1.1\r\nHo");
    assert_eq!(slow.read(false).map(|r| r.status), None);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

#[test]
fn half_a_body_is_refused_at_the_deadline() {
    let upstream = Upstream::json("{}");
    let rules = request_rules(&upstream, "- {select: $.a, action: remove}");
    let gateway = Gateway::start_with(&rules, &["--body-timeout", "500ms"]);
    let mut slow = Connection::open(gateway.address);
    slow.send(b"POST / HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{\"a\":");
    let reply = slow.read(false).expect("answer");
    assert_eq!((reply.status, reply.code().as_str()), (408, "client_timeout"));
    assert_eq!(gateway.record_of(&reply)["outcome"], "client_timeout");
    assert!(upstream.seen().is_empty());
}

#[test]
fn what_is_left_of_a_refused_request_is_not_the_next_one() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&no_rules(&upstream).replace("/{*rest}", "/only"));
    let mut connection = Connection::open(gateway.address);
    let hidden = "GET /only HTTP/1.1\r\nHost: t\r\n\r\n";
    connection
        .send(format!("POST /no HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n{hidden}", hidden.len()).as_bytes());
    assert_eq!(connection.read(false).expect("answer").status, 404);
    // Either the connection is closed, or what comes next on it is what was sent next.
    if let Some(next) = connection.get("/other") {
        assert_eq!(next.status, 404);
    }
    assert!(upstream.seen().is_empty(), "{:?}", upstream.seen());
}

#[test]
fn connections_beyond_the_cap_wait_their_turn() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start_with(&no_rules(&upstream), &["--max-connections", "2", "--header-timeout", "20s"]);
    let mut first = Connection::open(gateway.address);
    let mut second = Connection::open(gateway.address);
    assert_eq!(first.get("/").expect("answer").status, 200);
    assert_eq!(second.get("/").expect("answer").status, 200);
    let mut third = Connection::open(gateway.address);
    third.send(b"GET /third HTTP/1.1\r\nHost: t\r\n\r\n");
    assert_eq!(first.get("/").expect("answer").status, 200);
    assert!(!upstream.seen().iter().any(|s| s.target() == "/third"), "not before its turn");
    drop(first);
    assert_eq!(third.read(false).expect("answer").status, 200);
    until("it arrived", || upstream.seen().iter().any(|s| s.target() == "/third"));
}

#[test]
fn a_head_that_is_too_large_is_refused() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&no_rules(&upstream));
    for head in [
        format!("GET / HTTP/1.1\r\nHost: t\r\nX: {}\r\n\r\n", "x".repeat(100_000)),
        format!("GET / HTTP/1.1\r\nHost: t\r\n{}\r\n", "X: 1\r\n".repeat(200)),
    ] {
        let mut connection = Connection::open(gateway.address);
        connection.send(head.as_bytes());
        let status = connection.read(false).map(|r| r.status);
        assert!(status.is_none_or(|s| s == 431 || s == 400), "{status:?}");
    }
    assert!(upstream.seen().is_empty());
}

#[test]
fn bodies_that_are_held_share_a_memory_that_ends() {
    let upstream = Upstream::json("{}");
    let rules = request_rules(&upstream, "- {select: $.ssn, action: block}");
    let gateway = Gateway::start_with(&rules, &["--body-memory", "1MiB"]);
    let head = "POST / HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: 400002\r\n\r\n";
    let (front, back) = ([head, "\"", &"x".repeat(399_900)].concat(), "x".repeat(100) + "\"");
    let half = || {
        let mut connection = Connection::open(gateway.address);
        connection.send(front.as_bytes());
        connection
    };
    let refused = || {
        let mut second = Connection::open(gateway.address);
        second.send((front.clone() + &back).as_bytes());
        second.read(false).filter(|reply| reply.status != 200)
    };
    let (mut first, mut reply) = (half(), None);
    until("there is no room for a second", || {
        reply = refused();
        if reply.is_none() {
            // Where the second was there before all of the first, it is the first that was refused.
            first = half();
        }
        reply.is_some()
    });
    let reply = reply.expect("refused");
    assert_eq!((reply.status, reply.code().as_str(), reply.header("retry-after")), (503, "memory_full", Some("1")));
    assert_eq!(gateway.record_of(&reply)["outcome"], "memory_full");
    first.send(back.as_bytes());
    assert_eq!(first.read(false).expect("answer").status, 200);
    drop(first);
    until("there is room again", || refused().is_none());
}

#[test]
fn fields_are_counted() {
    let upstream = Upstream::json("{}");
    for (flags, most) in [(&[][..], 100), (&["--max-headers", "20"], 20)] {
        let gateway = Gateway::start_with(&no_rules(&upstream), flags);
        let answer = |fields: usize| {
            // One more is the Host field.
            let fields = (1..fields).map(|n| format!("X-{n}: 1\r\n")).collect::<Vec<_>>().concat();
            let mut connection = Connection::open(gateway.address);
            connection.send(format!("GET / HTTP/1.1\r\nHost: t\r\n{fields}\r\n").as_bytes());
            connection.read(false).map(|reply| reply.status)
        };
        assert_eq!((answer(most), answer(most + 1)), (Some(200), Some(431)), "{most}");
    }
}
