//! What no rule speaks of goes through as it came, and what belongs to one hop stays there.

use crate::support::{Answer, Gateway, Upstream, client, get, no_rules, post, raw, request};

#[test]
fn bodies_are_the_very_same_bytes() {
    let odd =
        r#"{ "big":9007199254740993 ,"price":1.10,"huge":1e400,"list":[],"map":{},"esc":"\u00e9\/","a":1,"a":2 }"#;
    let upstream = Upstream::new(move |_| Answer::json(odd));
    let gateway = Gateway::start(&no_rules(&upstream));
    let reply = post(gateway.address, "/x?q=%27a%27&b", odd);
    assert_eq!(reply.status, 200);
    assert_eq!(reply.text(), odd);
    assert_eq!(upstream.last().text(), odd);
    assert_eq!(upstream.last().target(), "/x?q=%27a%27&b");
    assert_eq!(reply.header("content-length"), Some(odd.len().to_string().as_str()));
}

#[test]
fn every_exchange_has_an_id_and_a_trace() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&no_rules(&upstream));
    let reply = request(gateway.address, "GET", "/", &[("X-Request-Id", "mine"), ("X-Forwarded-For", "1.2.3.4")], b"");
    let id = reply.header("x-request-id").expect("id").to_owned();
    assert_eq!(id.len(), 36);
    assert_eq!(&id[14..15], "7", "a version 7 UUID");
    let seen = upstream.last();
    assert_eq!(seen.header("x-request-id"), Some(id.as_str()));
    assert_eq!(seen.header("x-forwarded-for"), Some("127.0.0.1"));
    assert_eq!(seen.header("x-forwarded-proto"), Some("http"));
    assert!(seen.header("via").is_some_and(|v| v.starts_with("1.1 fieldgate")));
    assert!(seen.header("traceparent").is_some_and(|v| v.len() == 55));
    assert!(reply.header("via").is_some());
    assert_eq!(gateway.record_of(&reply)["status"], 200);
}

#[test]
fn hop_by_hop_fields_stay_on_their_hop() {
    let upstream = Upstream::new(|_| {
        Answer::Keep(
            b"HTTP/1.1 200 OK\r\nConnection: X-Int\r\nX-Int: 1\r\nKeep-Alive: timeout=1\r\nX-End: 1\r\nContent-Length: 2\r\n\r\n{}"
                .to_vec(),
        )
    });
    let gateway = Gateway::start(&no_rules(&upstream));
    let head =
        "GET / HTTP/1.1\r\nHost: t\r\nConnection: close, X-Secret\r\nX-Secret: 1\r\nX_Under: 1\r\nTE: trailers\r\n\r\n";
    let reply = raw(gateway.address, head.as_bytes(), false).expect("answer");
    assert_eq!(reply.header("x-int"), None);
    assert_eq!(reply.header("keep-alive"), None);
    assert_eq!(reply.header("x-end"), Some("1"));
    let seen = upstream.last();
    for name in ["x-secret", "x_under", "te", "connection"] {
        assert_eq!(seen.header(name), None, "{name}");
    }
}

#[test]
fn statuses_and_empty_bodies_pass() {
    let upstream = Upstream::new(|seen| {
        Answer::Keep(match seen.target() {
            "/204" => b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(),
            "/304" => b"HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n".to_vec(),
            "/500" => b"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops".to_vec(),
            _ => b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n".to_vec(),
        })
    });
    let gateway = Gateway::start(&no_rules(&upstream));
    assert_eq!(get(gateway.address, "/204").status, 204);
    assert_eq!(get(gateway.address, "/304").header("etag"), Some("\"x\""));
    assert_eq!(get(gateway.address, "/500").text(), "oops");
    let head = request(gateway.address, "HEAD", "/", &[], b"");
    assert_eq!((head.status, head.header("content-length")), (200, Some("1234")));
}

#[test]
fn a_client_connection_serves_many_requests() {
    let upstream = Upstream::json("[1]");
    let gateway = Gateway::start(&no_rules(&upstream));
    let mut connection = client::Connection::open(gateway.address);
    for _ in 0..20 {
        assert_eq!(connection.get("/").expect("answer").text(), "[1]");
    }
}

#[test]
fn large_bodies_stream_both_ways() {
    let size = 3_000_000;
    let upstream = Upstream::new(|seen| Answer::typed("application/octet-stream", &seen.body));
    let gateway = Gateway::start(&no_rules(&upstream));
    let body: Vec<u8> = (0..size).map(|n: u32| (n * 7 % 251) as u8).collect();
    let reply = request(gateway.address, "PUT", "/", &[("Content-Type", "application/octet-stream")], &body);
    assert!(reply.complete);
    assert!(reply.body == body, "{} bytes of {size}", reply.body.len());
}

#[test]
fn confusing_requests_are_refused() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&no_rules(&upstream));
    for bad in [
        "GET /a/../b HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET /a/%2e%2e/b HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET /a%2fb HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET /a%5cb HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET http://other/ HTTP/1.1\r\nHost: t\r\n\r\n",
        "CONNECT t:443 HTTP/1.1\r\nHost: t:443\r\n\r\n",
        "TRACE / HTTP/1.1\r\nHost: t\r\n\r\n",
        "get / HTTP/1.1\r\nHost: t\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ] {
        let reply = raw(gateway.address, bad.as_bytes(), false);
        assert!(reply.as_ref().is_none_or(|r| (400..600).contains(&r.status)), "{bad:?}: {reply:?}");
    }
    assert_eq!(upstream.seen().len(), 0, "nothing was forwarded");
}
