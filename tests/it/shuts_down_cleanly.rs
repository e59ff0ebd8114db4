//! A stop ends what is under way, takes nothing new, loses nothing and takes no longer than it may.

use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::{Answer, Gateway, Upstream, client::Connection, get, no_rules, until};

#[test]
fn what_is_under_way_ends_and_the_exit_is_clean() {
    let upstream = Upstream::new(|_| {
        std::thread::sleep(Duration::from_millis(400));
        Answer::json("[1]")
    });
    let mut gateway = Gateway::start(&no_rules(&upstream));
    let mut connection = Connection::open(gateway.address);
    connection.send(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n");
    until("the upstream was asked", || gateway.log().contains("ready") && upstream.connections() == 1);
    gateway.signal("TERM");
    let reply = connection.read(false).expect("answer");
    assert_eq!((reply.status, reply.text().as_str()), (200, "[1]"));
    assert!(gateway.wait().success());
    assert_eq!(gateway.records().len(), 1);
}

#[test]
fn idle_and_half_open_connections_do_not_hold_it_up() {
    let upstream = Upstream::json("{}");
    let mut gateway = Gateway::start_with(&no_rules(&upstream), &["--drain", "1s"]);
    let mut idle = Connection::open(gateway.address);
    assert_eq!(idle.get("/").expect("answer").status, 200);
    let mut half = Connection::open(gateway.address);
    half.send(b"GET / HTTP/1.1\r\nHo");
    let began = Instant::now();
    gateway.signal("TERM");
    assert!(gateway.wait().success());
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

#[test]
fn a_hung_exchange_is_cut_at_the_drain_deadline_and_recorded() {
    let upstream = Upstream::new(|_| Answer::Stream(Box::new(|_| std::thread::sleep(Duration::from_secs(30)))));
    let rules = no_rules(&upstream).replace("response: 2s", "response: 30s");
    let mut gateway = Gateway::start_with(&rules, &["--drain", "500ms"]);
    let mut connection = Connection::open(gateway.address);
    connection.send(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n");
    until("the upstream was asked", || !upstream.seen().is_empty());
    gateway.signal("TERM");
    assert!(gateway.wait().success());
    assert_eq!(gateway.records()[0]["outcome"], "cut_by_shutdown");
}

#[test]
fn nobody_is_told_ready_while_what_is_under_way_ends() {
    let upstream = Upstream::new(|_| {
        std::thread::sleep(Duration::from_millis(800));
        Answer::json("{}")
    });
    let gateway = Gateway::start(&no_rules(&upstream));
    assert_eq!(get(gateway.admin, "/readyz").status, 200);
    assert_eq!(get(gateway.admin, "/healthz").status, 200);
    let mut connection = Connection::open(gateway.address);
    connection.send(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n");
    until("the upstream was asked", || upstream.connections() == 1);
    gateway.signal("TERM");
    until("it says that it is not ready", || get(gateway.admin, "/readyz").status == 503);
    assert_eq!(connection.read(false).expect("answer").status, 200, "what was under way has ended well");
}

#[test]
fn the_service_manager_is_told() {
    let upstream = Upstream::json("{}");
    let folder = Arc::new(tempfile::tempdir().expect("folder"));
    std::fs::create_dir(folder.path().join("rules")).expect("rules folder");
    std::fs::write(folder.path().join("rules/main.yaml"), no_rules(&upstream)).expect("rule file");
    let path = folder.path().join("notify");
    let manager = UnixDatagram::bind(&path).expect("bind");
    manager.set_read_timeout(Some(Duration::from_secs(20))).expect("read timeout");
    let told = || {
        let mut text = [0; 512];
        let length = manager.recv(&mut text).expect("word of the process");
        String::from_utf8_lossy(&text[..length]).trim().to_owned()
    };
    let socket = path.to_str().expect("path");
    let mut gateway =
        Gateway::start_among(Arc::clone(&folder), &[], &[("NOTIFY_SOCKET", socket), ("WATCHDOG_USEC", "100000")]);
    assert_eq!(told(), "READY=1");
    assert_eq!((told(), told()), ("WATCHDOG=1".to_owned(), "WATCHDOG=1".to_owned()));
    gateway.signal("TERM");
    while told() != "STOPPING=1" {}
    assert!(gateway.wait().success());
}
