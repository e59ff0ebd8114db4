//! What is long, or never ends, flows: event by event, for as long as it flows, in memory that does not grow, and no faster
//! than the other side takes it.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use crate::support::client::Connection;
use crate::support::http2::{self, Client, talk};
use crate::support::tls::Authority;
use crate::support::{Answer, Gateway, Upstream, no_rules, response_rules, until};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Sends each event when it is told to, and ends when nobody tells any more.
fn events() -> (Upstream, Sender<&'static str>) {
    let (say, said) = channel::<&'static str>();
    let said: Arc<std::sync::Mutex<Receiver<&'static str>>> = Arc::new(said.into());
    let upstream = Upstream::new(move |_| {
        let said = Arc::clone(&said);
        Answer::Stream(Box::new(move |stream| {
            drop(stream.write_all(HEAD));
            while let Ok(event) = said.lock().expect("lock").recv() {
                let event = format!("data: {event}\n\n");
                if stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).is_err() {
                    return;
                }
            }
            drop(stream.write_all(b"0\r\n\r\n"));
        }))
    });
    (upstream, say)
}

/// With deadlines that the whole stream would not meet, but each event does.
fn hasty(rules: &str) -> String {
    rules.replace("response: 2s, idle: 2s", "response: 500ms, idle: 500ms")
}

#[test]
fn events_arrive_one_by_one_for_as_long_as_they_come() {
    for rules in [no_rules, |upstream: &_| response_rules(upstream, "- {select: $.email, action: remove}")] {
        let (upstream, say) = events();
        let gateway = Gateway::start(&hasty(&rules(&upstream)));
        let mut connection = Connection::open(gateway.address);
        connection.send(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n");
        let began = Instant::now();
        for event in ["{\"n\":1}", "{\"n\":2}", "{\"n\":3}", "{\"n\":4}", "{\"n\":5}", "{\"n\":6}"] {
            say.send(event).expect("upstream");
            connection.read_until(event);
            // The pause is what is tested.
            std::thread::sleep(Duration::from_millis(250));
        }
        assert!(began.elapsed() > Duration::from_secs(1), "longer than any deadline");
        drop(say);
        assert!(connection.read(false).expect("answer").complete);
    }
}

#[test]
fn events_arrive_one_by_one_over_http2() {
    let (authority, files) = (Authority::new(), tempfile::tempdir().expect("folder"));
    let (cert, key) = authority.issue("localhost").write_to(files.path());
    let (upstream, say) = events();
    let flags = ["--tls-cert", &cert.to_string_lossy(), "--tls-key", &key.to_string_lossy()];
    let gateway = Gateway::start_with(&hasty(&no_rules(&upstream)), &flags);
    talk(async {
        let client = Client::open(&authority.client(&["h2"]), gateway.address).await;
        let mut send = client.send.clone().ready().await.expect("ready");
        say.send("first").expect("upstream");
        let (answer, _) = send.send_request(http2::get("/"), true).expect("request");
        let mut body = answer.await.expect("head").into_body();
        for next in ["second", "third", "fourth"] {
            let event = body.data().await.expect("event").expect("event");
            assert!(event.starts_with(b"data: ") && event.ends_with(b"\n\n"), "{event:?}");
            tokio::time::sleep(Duration::from_millis(250)).await;
            say.send(next).expect("upstream");
        }
        assert_eq!(body.data().await.expect("event").expect("event"), &b"data: fourth\n\n"[..]);
    });
}

#[test]
fn a_stream_that_stops_flowing_is_cut() {
    let (upstream, say) = events();
    let gateway = Gateway::start(&hasty(&no_rules(&upstream)));
    let mut connection = Connection::open(gateway.address);
    connection.send(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n");
    say.send("one").expect("upstream");
    connection.read_until("one");
    let reply = connection.read(false).expect("answer");
    assert!(!reply.complete, "an end that was none must not look like one");
    assert_eq!(gateway.record_of(&reply)["outcome"], "upstream_timeout");
}

/// So much goes through; `FIELDGATE_LONG_BODY` (bytes) asks for more.
fn long_body() -> u64 {
    std::env::var("FIELDGATE_LONG_BODY").ok().and_then(|bytes| bytes.parse().ok()).unwrap_or(200 << 20)
}

/// Most memory that the process has had, in bytes.
fn peak(gateway: &Gateway) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", gateway.pid())).expect("status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("VmHWM");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("number") << 10
}

fn write_long(mut stream: impl Write) -> std::io::Result<u64> {
    let piece = vec![7; 256 << 10];
    let mut left = long_body();
    while left > 0 {
        let some = left.min(piece.len() as u64) as usize;
        stream.write_all(&piece[..some])?;
        left -= some as u64;
    }
    Ok(long_body())
}

/// An upstream that takes a long body, counts it, and sends as long a one.
fn long_upstream() -> (Upstream, Arc<AtomicU64>) {
    let taken = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&taken);
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let address = listener.local_addr().expect("address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let taken = Arc::clone(&counter);
            std::thread::spawn(move || {
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", long_body());
                let mut piece = vec![0; 256 << 10];
                let mut seen = Vec::new();
                let rest = loop {
                    let n = stream.read(&mut piece).expect("head");
                    seen.extend_from_slice(&piece[..n]);
                    if let Some(end) = seen.windows(4).position(|w| w == b"\r\n\r\n") {
                        break seen.len() - end - 4;
                    }
                };
                if seen.starts_with(b"POST") {
                    taken.fetch_add(rest as u64, Ordering::SeqCst);
                    while taken.load(Ordering::SeqCst) < long_body() {
                        match stream.read(&mut piece) {
                            Ok(0) | Err(_) => return,
                            Ok(n) => taken.fetch_add(n as u64, Ordering::SeqCst),
                        };
                    }
                }
                drop(stream.write_all(head.as_bytes()).and_then(|()| write_long(&stream)));
            });
        }
    });
    (Upstream::at(address), taken)
}

#[test]
fn long_bodies_flow_both_ways_in_flat_memory() {
    let (upstream, taken) = long_upstream();
    let gateway = Gateway::start_with(&no_rules(&upstream), &["--workers", "1"]);
    let there_and_back = || {
        taken.store(0, Ordering::SeqCst);
        let mut client = TcpStream::connect(gateway.address).expect("connect");
        let head =
            format!("POST / HTTP/1.1\r\nHost: t\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", long_body());
        client.write_all(head.as_bytes()).and_then(|()| write_long(&client)).expect("upload");
        until("all of it has arrived", || taken.load(Ordering::SeqCst) == long_body());
        let mut piece = vec![0; 256 << 10];
        let mut received = 0;
        loop {
            match client.read(&mut piece).expect("download") {
                0 => break,
                n => received += n as u64,
            }
        }
        assert!(received > long_body(), "{received} bytes came back");
        peak(&gateway)
    };
    // The first ones pay for what is made once: code, buffers, counters. What a busy machine adds is a few buffers more.
    let (_, first, second) = (there_and_back(), there_and_back(), there_and_back());
    assert!(first < 128 << 20, "{first} bytes");
    assert!(second < first + (8 << 20), "memory grew from {first} to {second} bytes");
    let record = || gateway.records().pop();
    until("it is recorded", || record().is_some());
    let record = record().expect("record");
    assert_eq!((&record["bytes_in"], &record["bytes_out"]), (&long_body().into(), &long_body().into()));
}

#[test]
fn nobody_is_sent_more_than_the_other_side_takes() {
    // A client that does not read: the upstream cannot go on.
    let (upstream, _) = long_upstream();
    let gateway = Gateway::start_with(&no_rules(&upstream), &["--workers", "1"]);
    let before = peak(&gateway);
    let mut lazy = TcpStream::connect(gateway.address).expect("connect");
    lazy.write_all(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n").expect("request");
    let mut some = [0; 1024];
    lazy.read_exact(&mut some).expect("the beginning");

    // An upstream that does not read: the client cannot go on.
    let deaf = Upstream::at({
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address");
        std::thread::spawn(move || listener.incoming().flatten().collect::<Vec<_>>());
        address
    });
    let other = Gateway::start_with(&no_rules(&deaf), &["--workers", "1"]);
    let other_before = peak(&other);
    let mut eager = TcpStream::connect(other.address).expect("connect");
    eager.set_write_timeout(Some(Duration::from_millis(500))).expect("timeout");
    let head = format!("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n", long_body());
    eager.write_all(head.as_bytes()).expect("head");
    let stuck = write_long(&eager).expect_err("nobody takes it");
    assert_eq!(stuck.kind(), ErrorKind::WouldBlock);
    assert!(peak(&other) - other_before < 32 << 20);
    assert!(peak(&gateway) - before < 32 << 20);
    drop(lazy.shutdown(Shutdown::Both));
}
