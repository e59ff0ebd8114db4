//! Clients are spoken to over TLS: with the certificate that is there now, in the versions that are safe, and never in clear
//! text by accident.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::client::Connection;
use crate::support::tls::{Authority, Pair, through};
use crate::support::{Gateway, Upstream, get, http2, no_rules, raw, until};

/// A gateway that speaks TLS with this pair.
fn secured(upstream: &Upstream, pair: &Pair, flags: &[&str]) -> (Gateway, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("folder");
    let (cert, key) = pair.write_to(folder.path());
    let (cert, key) = (cert.to_string_lossy(), key.to_string_lossy());
    let flags = [&["--tls-cert", &cert, "--tls-key", &key], flags].concat();
    (Gateway::start_with(&no_rules(upstream), &flags), folder)
}

/// The certificate that is shown, if a handshake comes about.
fn shown(config: &rustls::ClientConfig, gateway: &Gateway) -> Option<Vec<u8>> {
    http2::talk(async {
        let tcp = tokio::net::TcpStream::connect(gateway.address).await.expect("connect");
        let connector = tokio_rustls::TlsConnector::from(Arc::new(config.clone()));
        let stream = connector.connect(crate::support::tls::name(), tcp).await.ok()?;
        Some(stream.get_ref().1.peer_certificates()?.first()?.to_vec())
    })
}

#[test]
fn both_safe_versions_are_spoken_and_the_record_says_so() {
    let upstream = Upstream::json("{}");
    let authority = Authority::new();
    let (gateway, _files) = secured(&upstream, &authority.issue("localhost"), &[]);
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        for protocols in [&["http/1.1"][..], &[]] {
            let address = through(authority.client_of(protocols, &[version]), gateway.address);
            let reply = get(address, "/a");
            assert_eq!((reply.status, reply.complete), (200, true));
            assert_eq!(upstream.last().header("x-forwarded-proto"), Some("https"));
            assert_eq!(gateway.record_of(&reply)["protocol"], "https/1.1");
        }
    }
}

#[test]
fn older_versions_are_refused() {
    let upstream = Upstream::json("{}");
    let (gateway, _files) = secured(&upstream, &Authority::new().issue("localhost"), &[]);
    // A ClientHello of TLS 1.0, written by hand: the library has long forgotten it.
    let suites = [0xc0, 0x13, 0x00, 0x2f];
    let hello = [&[3, 1][..], &[7; 32], &[0], &[0, 4], &suites, &[1, 0]].concat();
    let length = |bytes: &[u8]| u16::try_from(bytes.len()).expect("length").to_be_bytes();
    let handshake = [&[1, 0][..], &length(&hello), &hello].concat();
    let record = [&[22, 3, 1][..], &length(&handshake), &handshake].concat();
    let mut socket = TcpStream::connect(gateway.address).expect("connect");
    socket.write_all(&record).expect("hello");
    let mut answer = Vec::new();
    drop(socket.read_to_end(&mut answer));
    // An alert (21) that is fatal (2), and nothing else.
    assert_eq!((answer.len(), answer.first(), answer.get(5)), (7, Some(&21), Some(&2)), "{answer:?}");
    let metrics = || get(gateway.admin, "/metrics").text();
    until("it is counted", || metrics().contains("fieldgate_refused_total{reason=\"tls_handshake\"} 1"));
}

#[test]
fn an_absolute_target_must_fit_the_connection() {
    let upstream = Upstream::json("{}");
    let authority = Authority::new();
    let (gateway, _files) = secured(&upstream, &authority.issue("localhost"), &[]);
    let address = through(authority.client(&["http/1.1"]), gateway.address);
    let status = |target: &str| {
        let request = format!("GET {target} HTTP/1.1\r\nHost: t.example\r\nConnection: close\r\n\r\n");
        raw(address, request.as_bytes(), false).expect("answer").status
    };
    assert_eq!(status("https://t.example/a"), 200);
    assert_eq!(upstream.last().target(), "/a");
    assert_eq!(status("http://t.example/a"), 400);
    assert_eq!(status("https://other.example/a"), 400);
}

#[test]
fn a_new_certificate_is_shown_without_a_restart() {
    let upstream = Upstream::json("{}");
    let authority = Authority::new();
    let (gateway, files) = secured(&upstream, &authority.issue("localhost"), &[]);
    let config = authority.client(&["http/1.1"]);
    let first = shown(&config, &gateway).expect("certificate");
    let mut kept = Connection::open(through(config.clone(), gateway.address));
    assert_eq!(kept.get("/").expect("answer").status, 200);

    authority.issue("localhost").write_to(files.path());
    until("the new one is shown", || shown(&config, &gateway).is_some_and(|now| now != first));
    assert_eq!(kept.get("/").expect("answer").status, 200, "who was there before is not disturbed");

    let second = shown(&config, &gateway);
    std::fs::write(files.path().join("key.pem"), authority.issue("localhost").key).expect("key file");
    until("it is told", || gateway.log().contains("the new certificate is not used"));
    assert_eq!(shown(&config, &gateway), second, "a broken pair changes nothing");
    let page = get(gateway.admin, "/system").text();
    assert!(page.contains("The newer certificate is not used"), "{page}");
    assert!(get(gateway.admin, "/metrics").text().contains("fieldgate_tls_certificate_refused 1"));
}

#[test]
fn a_handshake_has_a_deadline() {
    let upstream = Upstream::json("{}");
    let authority = Authority::new();
    let (gateway, _files) = secured(&upstream, &authority.issue("localhost"), &["--tls-timeout", "500ms"]);
    let began = Instant::now();
    let mut silent: Vec<_> = (0..50).map(|_| TcpStream::connect(gateway.address).expect("connect")).collect();
    for (n, socket) in silent.iter_mut().enumerate() {
        // Some say nothing, some begin and stop.
        if n % 2 == 0 {
            socket.write_all(&[22, 3, 1, 0, 200, 1]).expect("half a hello");
        }
    }
    assert_eq!(get(through(authority.client(&["http/1.1"]), gateway.address), "/").status, 200);
    for socket in &mut silent {
        socket.set_read_timeout(Some(Duration::from_secs(10))).expect("timeout");
        let mut rest = Vec::new();
        drop(socket.read_to_end(&mut rest));
    }
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    let metrics = || get(gateway.admin, "/metrics").text();
    until("they are counted", || metrics().contains("fieldgate_refused_total{reason=\"tls_timeout\"} 50"));
}

#[test]
fn clear_text_is_not_spoken_where_tls_is() {
    let upstream = Upstream::json("{}");
    let (gateway, _files) = secured(&upstream, &Authority::new().issue("localhost"), &[]);
    let reply = raw(gateway.address, b"GET / HTTP/1.1\r\nHost: t\r\n\r\n", false);
    assert_eq!(reply, None);
    assert!(upstream.seen().is_empty());
}

#[test]
fn http2_is_not_spoken_in_clear_text() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&no_rules(&upstream));
    let mut connection = Connection::open(gateway.address);
    connection.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    assert!(connection.read(false).is_none_or(|reply| reply.status == 400 || reply.status == 505));
    // Nor by an upgrade: the request is answered as what it is, and goes on without it.
    let upgrade = "GET /a HTTP/1.1\r\nHost: t\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\n\
                   HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n";
    assert_eq!(raw(gateway.address, upgrade.as_bytes(), false).expect("answer").status, 200);
    let seen = upstream.last();
    assert_eq!((seen.header("upgrade"), seen.header("http2-settings")), (None, None));
}

#[test]
fn a_start_without_a_good_certificate_says_what_is_wrong() {
    let authority = Authority::new();
    let folder = tempfile::tempdir().expect("folder");
    std::fs::create_dir(folder.path().join("rules")).expect("rules folder");
    std::fs::write(folder.path().join("rules/main.yaml"), no_rules(&Upstream::json("{}"))).expect("rules");
    let start = |pair: &Pair| {
        let (cert, key) = pair.write_to(folder.path());
        let output = Command::new(env!("CARGO_BIN_EXE_fieldgate"))
            .args(["run", "--listen", "127.0.0.1:0", "--admin", "off", "--rules"])
            .arg(folder.path().join("rules"))
            .arg("--tls-cert")
            .arg(cert)
            .arg("--tls-key")
            .arg(key)
            .output()
            .expect("start");
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let good = authority.issue("localhost");
    let with_key = |key: String| Pair { cert: good.cert.clone(), key };
    let other = start(&with_key(authority.issue("localhost").key));
    assert!(other.contains("key.pem`: the private key does not belong"), "{other}");
    let encrypted = start(&with_key(good.key.replace("PRIVATE", "ENCRYPTED PRIVATE")));
    assert!(encrypted.contains("is encrypted"), "{encrypted}");
    let none = start(&Pair { cert: good.key.clone(), key: good.key.clone() });
    assert!(none.contains("cert.pem`: there is no certificate"), "{none}");
}

#[test]
fn an_expired_certificate_is_told_loudly() {
    let upstream = Upstream::json("{}");
    let (gateway, _files) = secured(&upstream, &Authority::new().issue_expired("localhost"), &[]);
    until("it is told", || gateway.log().contains("the certificate has expired"));
    assert!(get(gateway.admin, "/").text().contains("the certificate has expired"));
}
