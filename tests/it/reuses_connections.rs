//! The origin story as a test: one pooled client per upstream, never one per request.

use std::sync::Arc;

use crate::support::{Answer, Gateway, Upstream, client::Connection, no_rules, until};

#[test]
fn many_requests_share_few_connections() {
    const CLIENTS: usize = 10;
    const REQUESTS: usize = 100;
    let upstream = Upstream::json("{}");
    let gateway = Arc::new(Gateway::start(&no_rules(&upstream)));
    let threads: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let gateway = Arc::clone(&gateway);
            std::thread::spawn(move || {
                let mut connection = Connection::open(gateway.address);
                for _ in 0..REQUESTS {
                    assert_eq!(connection.get("/").expect("answer").status, 200);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("client");
    }
    assert_eq!(upstream.seen().len(), CLIENTS * REQUESTS);
    assert!(upstream.connections() <= CLIENTS * 2, "{} connections", upstream.connections());
}

#[test]
fn a_reload_keeps_the_connections_of_what_did_not_change() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&no_rules(&upstream));
    let mut connection = Connection::open(gateway.address);
    connection.get("/");
    gateway.write_rules(&format!("{}# another word\n", no_rules(&upstream)));
    until("the new generation serves", || {
        connection.get("/");
        gateway.records().last().is_some_and(|r| r["generation"] == 2)
    });
    assert_eq!(upstream.connections(), 1);
}

#[test]
fn an_idempotent_request_survives_a_connection_that_died_in_the_pool() {
    // Answers the first request of each connection and closes after reading the second, the way an idle close races a reuse.
    let upstream = Upstream::new({
        let served = std::sync::atomic::AtomicUsize::new(0);
        move |_| match served.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            1 => Answer::Close(Vec::new()),
            _ => Answer::json("{}"),
        }
    });
    let gateway = Gateway::start(&no_rules(&upstream));
    let mut connection = Connection::open(gateway.address);
    assert_eq!(connection.get("/").expect("answer").status, 200);
    let second = connection.get("/").expect("answer");
    assert_eq!(second.status, 200);
    assert_eq!(gateway.record_of(&second)["retries"], 1);
}

#[test]
fn a_post_that_may_have_arrived_is_not_sent_again() {
    let upstream = Upstream::new(|seen| match seen.method() {
        "POST" => Answer::Close(Vec::new()),
        _ => Answer::json("{}"),
    });
    let gateway = Gateway::start(&no_rules(&upstream));
    let mut connection = Connection::open(gateway.address);
    assert_eq!(connection.get("/").expect("answer").status, 200);
    connection.send(b"POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\n{}");
    assert_eq!(connection.read(false).expect("answer").status, 502);
    assert_eq!(upstream.seen().iter().filter(|s| s.method() == "POST").count(), 1);
}

#[test]
fn an_answer_that_is_no_http_is_not_asked_for_again() {
    let upstream = Upstream::new(|_| {
        Answer::Close(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx".to_vec())
    });
    let gateway = Gateway::start(&no_rules(&upstream));
    let mut connection = Connection::open(gateway.address);
    assert_eq!(connection.get("/").expect("answer").status, 502);
    assert_eq!(upstream.seen().len(), 1);
}

#[test]
fn a_fresh_connection_that_dies_is_not_tried_again() {
    let upstream = Upstream::new(|_| Answer::Close(Vec::new()));
    let gateway = Gateway::start(&no_rules(&upstream));
    let mut connection = Connection::open(gateway.address);
    assert_eq!(connection.get("/").expect("answer").status, 502);
    assert_eq!(upstream.seen().len(), 1);
}
