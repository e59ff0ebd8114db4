//! Upstreams are reached over TLS as their rules say: trusted for a reason, spoken to in HTTP/2 where they offer it, and never
//! in clear text because TLS did not work.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use tokio_rustls::TlsAcceptor;

use crate::support::tls::{Authority, Pair, before, relay};
use crate::support::{Gateway, Upstream, client, get, post, request, until};

/// One upstream at this address, reached over TLS, with these lines in `tls`.
fn rules(address: SocketAddr, tls: &str, more: &str) -> String {
    format!(
        "version: 1
upstreams:
  u:
    targets: [\"https://localhost:{}\"]
    timeouts: {{connect: 1s, response: 2s, idle: 2s}}
    tls: {{{tls}}}
{more}
routes:
  all: {{match: {{paths: [\"/{{*rest}}\"]}}, upstream: u}}
",
        address.port()
    )
}

/// The file in which an authority can be found.
fn authority_file(authority: &Authority, folder: &tempfile::TempDir) -> String {
    let path = folder.path().join("ca.pem");
    std::fs::write(&path, authority.pem()).expect("file");
    format!("ca: \"file:{}\"", path.display())
}

#[test]
fn a_private_authority_is_trusted_where_it_is_named() {
    let (authority, folder) = (Authority::new(), tempfile::tempdir().expect("folder"));
    let upstream = Upstream::json(r#"{"n":1}"#);
    let secure = before(authority.issue("localhost").server(&["http/1.1"], None), upstream.address);
    let gateway = Gateway::start(&rules(secure, &authority_file(&authority, &folder), ""));
    for _ in 0..5 {
        assert_eq!(get(gateway.address, "/a").text(), r#"{"n":1}"#);
    }
    assert_eq!(upstream.last().header("host"), Some(&*format!("localhost:{}", secure.port())));
    assert!(upstream.connections() <= 2, "a connection is kept by each worker that was asked");
}

#[test]
fn whoever_cannot_be_trusted_is_not_asked() {
    let (authority, folder) = (Authority::new(), tempfile::tempdir().expect("folder"));
    let upstream = Upstream::json("{}");
    let ca = authority_file(&authority, &folder);
    let at = |pair: Pair| before(pair.server(&["h2", "http/1.1"], None), upstream.address);
    for (case, secure, tls, code) in [
        ("expired", at(authority.issue_expired("localhost")), &*ca, "upstream_tls_expired"),
        ("wrong host", at(authority.issue("other.example")), &ca, "upstream_tls_name"),
        ("self-signed", at(Pair::self_signed("localhost")), &ca, "upstream_tls_unknown"),
        ("known to nobody", at(authority.issue("localhost")), "", "upstream_tls_unknown"),
        ("clear text", answering(b"HTTP/1.1 400 Bad Request\r\n\r\n"), &ca, "upstream_tls_handshake"),
        // Alert, fatal, `protocol_version`.
        ("TLS 1.0 only", answering(&[21, 3, 1, 0, 2, 2, 70]), &ca, "upstream_tls_handshake"),
        // Waits for the end of a request that the handshake is not.
        ("clear text, patient", upstream.address, &ca, "upstream_timeout"),
    ] {
        let gateway = Gateway::start(&rules(secure, tls, ""));
        let reply = get(gateway.address, "/");
        let status = if code == "upstream_timeout" { 504 } else { 502 };
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{case}: {}", reply.text());
        assert_eq!(gateway.record_of(&reply)["outcome"], code, "{case}");
    }
    assert!(upstream.seen().is_empty(), "never in clear text: {:?}", upstream.seen());
}

/// An upstream that answers a handshake with these bytes.
fn answering(bytes: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let address = listener.local_addr().expect("address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut hello = [0; 1024];
            drop(stream.read(&mut hello));
            drop(stream.write_all(bytes));
        }
    });
    address
}

#[test]
fn a_handshake_that_stalls_ends_at_the_connect_deadline() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let address = listener.local_addr().expect("address");
    let held = std::thread::spawn(move || listener.incoming().take(1).collect::<Vec<_>>());
    let gateway = Gateway::start(&rules(address, "", ""));
    let began = Instant::now();
    let reply = get(gateway.address, "/");
    assert_eq!((reply.status, reply.code().as_str()), (504, "upstream_timeout"));
    assert!((900..1_900).contains(&began.elapsed().as_millis()), "{:?}", began.elapsed());
    drop(held);
}

#[test]
fn our_certificate_is_shown_to_whoever_asks() {
    let (authority, ours) = (Authority::new(), Authority::new());
    let folder = tempfile::tempdir().expect("folder");
    let upstream = Upstream::json("{}");
    let server = authority.issue("localhost").server(&["http/1.1"], Some(ours.clients()));
    let secure = before(server, upstream.address);
    let ca = authority_file(&authority, &folder);
    let (cert, key) = ours.issue("gateway").write_to(folder.path());
    let with_ours = format!("{ca}, cert: \"file:{}\", key: \"file:{}\"", cert.display(), key.display());

    let gateway = Gateway::start(&rules(secure, &ca, ""));
    let reply = get(gateway.address, "/");
    assert_eq!((reply.status, reply.code().as_str()), (502, "upstream_tls_handshake"));
    assert!(upstream.seen().is_empty());
    gateway.write_rules(&rules(secure, &with_ours, ""));
    until("it is let in", || get(gateway.address, "/").status == 200);

    // A certificate that changes is a change of the rules.
    Authority::new().issue("gateway").write_to(folder.path());
    until("a stranger's is not", || get(gateway.address, "/").status == 502);
}

/// An upstream of HTTP/2 that says what it was asked, with the connections it was asked on.
fn http2_upstream(pair: &Pair, connections: &Arc<AtomicUsize>) -> SocketAddr {
    let acceptor = TlsAcceptor::from(Arc::new(pair.server(&["h2"], None)));
    let connections = Arc::clone(connections);
    relay(move |tcp| {
        connections.fetch_add(1, Ordering::SeqCst);
        let acceptor = acceptor.clone();
        async move {
            let stream = acceptor.accept(tcp).await?;
            // Of two connections that were begun at once, one is given up.
            let Ok(mut connection) = h2::server::handshake(stream).await else { return Ok(()) };
            while let Some(Ok((request, respond))) = connection.accept().await {
                tokio::spawn(async move { drop(answer(request, respond).await) });
            }
            Ok(())
        }
    })
}

async fn answer(
    request: Request<h2::RecvStream>,
    mut respond: h2::server::SendResponse<Bytes>,
) -> Result<(), h2::Error> {
    let (head, mut stream) = request.into_parts();
    let mut body = Vec::new();
    while let Some(data) = stream.data().await {
        let data = data?;
        stream.flow_control().release_capacity(data.len())?;
        body.extend_from_slice(&data);
    }
    match head.uri.path() {
        "/hinted" => {
            let hint = Response::builder().status(103).header("link", "</a>").body(()).expect("response");
            respond.send_informational(hint)?;
        }
        "/refused" => {
            respond.send_reset(h2::Reason::REFUSED_STREAM);
            return Ok(());
        }
        "/cut" => {
            let response = Response::builder().header("content-length", "10").body(()).expect("response");
            let mut stream = respond.send_response(response, false)?;
            stream.send_data(Bytes::from_static(b"half"), false)?;
            stream.send_reset(h2::Reason::INTERNAL_ERROR);
            return Ok(());
        }
        _ => {}
    }
    let mut said = format!("{} {}\n", head.method, head.uri);
    for (name, value) in &head.headers {
        writeln!(said, "{name}: {}", value.to_str().unwrap_or_default()).expect("a string takes everything");
    }
    said.push_str(&String::from_utf8_lossy(&body));
    let mut stream = respond.send_response(Response::new(()), false)?;
    stream.send_data(said.into(), true)
}

#[test]
fn http2_is_spoken_where_it_is_offered() {
    let (authority, folder) = (Authority::new(), tempfile::tempdir().expect("folder"));
    let connections = Arc::new(AtomicUsize::new(0));
    let secure = http2_upstream(&authority.issue("localhost"), &connections);
    let gateway = Gateway::start_with(&rules(secure, &authority_file(&authority, &folder), ""), &["--workers", "1"]);
    // Whether it is offered is known only when somebody has asked.
    assert_eq!(get(gateway.address, "/").status, 200);
    let said: Vec<client::Reply> = std::thread::scope(|scope| {
        let asked: Vec<_> =
            (0..20).map(|n| scope.spawn(move || post(gateway.address, &format!("/{n}?q"), format!("[{n}]")))).collect();
        asked.into_iter().map(|asked| asked.join().expect("answer")).collect()
    });
    for (n, reply) in said.iter().enumerate() {
        assert_eq!(reply.status, 200);
        let text = reply.text();
        assert!(text.starts_with(&format!("POST https://localhost:{}/{n}?q\n", secure.port())), "{text}");
        assert!(text.ends_with(&format!("[{n}]")), "{text}");
        assert!(text.contains("x-forwarded-proto: http\n") && !text.contains("\nhost:"), "{text}");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1, "streams share a connection");
    let long = format!("[{}]", "1,".repeat(1_500_000));
    let said = post(gateway.address, "/long", &long);
    assert!(said.complete && said.text().ends_with(&long), "{} bytes came back", said.body.len());
    let head = request(gateway.address, "HEAD", "/", &[], b"");
    assert_eq!((head.status, head.body.len()), (200, 0));
    let cut = get(gateway.address, "/cut");
    assert!(!cut.complete || cut.status == 502, "half an answer is never a whole one: {cut:?}");
    assert_eq!(get(gateway.address, "/hinted").status, 200, "what comes before an answer is none");
    let refused = get(gateway.address, "/refused");
    assert_eq!((refused.status, refused.code().as_str()), (502, "upstream_broken"));
    assert_eq!(gateway.record_of(&refused)["retries"], 1, "a stream that was refused was not begun");
    let refused = request(gateway.address, "POST", "/refused", &[], b"");
    assert_eq!(
        (refused.status, gateway.record_of(&refused)["retries"].as_u64()),
        (502, Some(1)),
        "whatever its method"
    );
}

#[test]
fn a_host_of_its_own_needs_http1() {
    let (authority, folder) = (Authority::new(), tempfile::tempdir().expect("folder"));
    let upstream = Upstream::json("{}");
    let secure = before(authority.issue("localhost").server(&["h2", "http/1.1"], None), upstream.address);
    let preserving = rules(secure, &authority_file(&authority, &folder), "    preserve_host: true\n");
    let gateway = Gateway::start(&preserving);
    assert_eq!(request(gateway.address, "GET", "/", &[("Host", "shop.example")], b"").status, 200);
    assert_eq!(upstream.last().header("host"), Some("shop.example"));
}

#[test]
fn an_upstream_that_goes_away_between_two_requests_is_not_noticed() {
    let (authority, folder) = (Authority::new(), tempfile::tempdir().expect("folder"));
    let acceptor = TlsAcceptor::from(Arc::new(authority.issue("localhost").server(&["h2"], None)));
    // Each connection answers one request and is closed a moment later, when the next may be on its way.
    let secure = relay(move |tcp| {
        let acceptor = acceptor.clone();
        async move {
            let stream = acceptor.accept(tcp).await?;
            // Of two connections that were begun at once, one is given up.
            let Ok(mut connection) = h2::server::handshake(stream).await else { return Ok(()) };
            if let Some(Ok((request, respond))) = connection.accept().await {
                let answered = tokio::spawn(async move { drop(answer(request, respond).await) });
                let going = async {
                    drop(answered.await);
                    tokio::time::sleep(Duration::from_millis(2)).await;
                };
                tokio::select! {
                    () = going => connection.abrupt_shutdown(h2::Reason::NO_ERROR),
                    _ = std::future::poll_fn(|cx| connection.poll_closed(cx)) => {}
                }
                drop(std::future::poll_fn(|cx| connection.poll_closed(cx)).await);
            }
            Ok(())
        }
    });
    let gateway = Gateway::start_with(&rules(secure, &authority_file(&authority, &folder), ""), &["--workers", "1"]);
    let mut connection = client::Connection::open(gateway.address);
    for n in 0..100 {
        assert_eq!(connection.get("/").expect("answer").status, 200, "{n}");
    }
}
