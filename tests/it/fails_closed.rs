//! When protection cannot be given, nothing passes, and the reply and the record say why.

use crate::support::{Answer, Gateway, Upstream, get, no_rules, post, raw, request, request_rules, response_rules};

const RULE: &str = "- {select: $.ssn, action: remove}";

/// A body, its fields, the expected status and code.
type Case<'a> = (&'a [u8], &'a [(&'a str, &'a str)], u16, &'a str);

#[test]
fn requests_that_cannot_be_read_are_refused() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&request_rules(&upstream, RULE));
    let json = &[("Content-Type", "application/json")];
    let deep = "[".repeat(200) + &"]".repeat(200);
    let bodies: &[Case<'_>] = &[
        (br#"{"ssn":1,}"#, json, 422, "malformed"),
        (br#"{"ssn":1} {"ssn":2}"#, json, 422, "malformed"),
        (br#"{"ssn":1,"ssn":2}"#, json, 422, "malformed"),
        (br#"{"ssn":1,"\u0073sn":2}"#, json, 422, "malformed"),
        (b"\xef\xbb\xbf{}", json, 422, "malformed"),
        (b"{\"a\":\"\xff\"}", json, 422, "malformed"),
        (br#"{"a":"\ud800"}"#, json, 422, "malformed"),
        (br"{'a':1}", json, 422, "malformed"),
        (deep.as_bytes(), json, 422, "malformed"),
        (b"{}", &[("Content-Type", "application/json; charset=utf-16")], 415, "unsupported"),
        (b"{}", &[("Content-Type", "application/json"), ("Content-Encoding", "compress")], 415, "unsupported"),
        (b"\x00\x01binary", &[("Content-Type", "application/octet-stream")], 415, "unsupported"),
    ];
    for (body, headers, status, code) in bodies {
        let reply = request(gateway.address, "POST", "/", headers, body);
        assert_eq!((reply.status, reply.code().as_str()), (*status, *code), "{:?}", String::from_utf8_lossy(body));
        let record = gateway.record_of(&reply);
        assert_eq!(record["uninspected"][0]["failure"], *code);
        assert_eq!(record["uninspected"][0]["decision"], "block");
    }
    assert_eq!(upstream.seen().len(), 0);
    assert_eq!(get(gateway.address, "/").status, 200, "no body: nothing to inspect");
}

#[test]
fn responses_that_cannot_be_read_are_refused() {
    let upstream = Upstream::new(|seen| {
        match seen.target() {
        "/html" => Answer::typed("text/html", "<b>123-45-6789</b>"),
        "/broken" => Answer::json(r#"{"ssn":"123-45-6789""#),
        "/partial" => Answer::Keep(
            b"HTTP/1.1 206 Partial Content\r\nContent-Type: application/json\r\nContent-Range: bytes 0-1/9\r\nContent-Length: 2\r\n\r\n{}".to_vec(),
        ),
        "/gzip" => Answer::Keep(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}".to_vec(),
        ),
        "/switch" => Answer::Close(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nraw".to_vec()),
        "/short" => Answer::Close(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{".to_vec()),
        "/label" => Answer::typed("text/plain", r#"{"ssn":"123-45-6789"}"#),
        _ => Answer::json("{}"),
    }
    });
    let gateway = Gateway::start(&response_rules(&upstream, RULE));
    for path in ["/html", "/broken", "/partial", "/gzip", "/switch", "/short"] {
        let reply = get(gateway.address, path);
        assert_eq!(reply.status, 502, "{path}: {}", reply.text());
        assert!(!reply.text().contains("123-45"), "{path}");
    }
    assert_eq!(get(gateway.address, "/label").text(), "{}", "JSON whatever its label");
}

#[test]
fn a_stream_that_turns_out_malformed_is_cut_not_ended() {
    let body: &'static str = format!("[{}", r#"{"ssn":"123-45-6789","x":1},"#.repeat(20_000)).leak();
    let upstream = Upstream::json(body);
    let gateway = Gateway::start(&response_rules(&upstream, "- {select: $..ssn, action: remove}"));
    let reply = get(gateway.address, "/");
    assert!(!reply.complete, "status {} with {} bytes", reply.status, reply.body.len());
    assert!(!reply.text().contains("123-45"));
    let record = gateway.record_of(&reply);
    assert_eq!(record["outcome"], "malformed");
}

#[test]
fn a_policy_may_let_what_it_cannot_read_pass_and_the_record_says_so() {
    let upstream = Upstream::new(|_| Answer::typed("text/html", "<b>hello</b>"));
    let rules = response_rules(&upstream, RULE).replace("  p:\n", "  p:\n    on_failure: {unsupported: pass}\n");
    let gateway = Gateway::start(&rules);
    let reply = get(gateway.address, "/");
    assert_eq!((reply.status, reply.text().as_str()), (200, "<b>hello</b>"));
    assert_eq!(gateway.record_of(&reply)["uninspected"][0]["decision"], "pass");
}

#[test]
fn a_body_that_must_be_held_has_a_limit() {
    let upstream = Upstream::json("{}");
    let rules = request_rules(&upstream, "- {detect: [us_ssn], action: block}")
        .replace("upstream: u,", "upstream: u, limits: {body: 100KiB},");
    let gateway = Gateway::start(&rules);
    let body = |n: usize| format!(r#"{{"a":"{}"}}"#, "x".repeat(n));
    assert_eq!(post(gateway.address, "/", body(90_000)).status, 200);
    let reply = post(gateway.address, "/", body(110_000));
    assert_eq!((reply.status, reply.code().as_str()), (413, "oversize"));
}

#[test]
fn upstream_troubles_are_told_apart() {
    let silent = Upstream::new(|_| Answer::Stream(Box::new(|_| std::thread::sleep(std::time::Duration::from_secs(5)))));
    let gateway = Gateway::start(&no_rules(&silent));
    let reply = get(gateway.address, "/");
    assert_eq!((reply.status, reply.code().as_str()), (504, "upstream_timeout"));

    let garbage = Upstream::new(|_| Answer::Close(b"SSH-2.0-OpenSSH\r\n\r\n".to_vec()));
    let gateway = Gateway::start(&no_rules(&garbage));
    let reply = get(gateway.address, "/");
    assert_eq!((reply.status, reply.code().as_str()), (502, "upstream_broken"));

    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("bind");
        listener.local_addr().expect("address")
    };
    let rules = no_rules(&garbage).replace(&garbage.address.to_string(), &closed.to_string());
    let gateway = Gateway::start(&rules);
    let reply = get(gateway.address, "/");
    assert_eq!((reply.status, reply.code().as_str()), (502, "upstream_connect"));
    assert!(!reply.text().contains(&closed.port().to_string()), "the reply names no address");
    assert_eq!(gateway.record_of(&reply)["outcome"], "upstream_connect");
}

#[test]
fn no_route_is_404_and_recorded() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&no_rules(&upstream).replace("/{*rest}", "/only"));
    let reply = get(gateway.address, "/other");
    assert_eq!((reply.status, reply.code().as_str()), (404, "no_route"));
    assert_eq!(gateway.record_of(&reply)["route"], "");
}

#[test]
fn a_cut_answer_never_looks_complete_to_an_old_client() {
    let body = format!("[{}", r#"{"x":1},"#.repeat(20_000));
    let upstream = Upstream::new(move |_| {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
        Answer::Close(format!("{head}{:x}\r\n{body}\r\n", body.len()).into_bytes())
    });
    for rules in [no_rules(&upstream), response_rules(&upstream, RULE)] {
        let gateway = Gateway::start(&rules);
        let reply = raw(gateway.address, b"GET / HTTP/1.0\r\nHost: t\r\n\r\n", false).expect("answer");
        assert_eq!(reply.status, 502, "{} bytes", reply.body.len());
    }
}

#[test]
fn a_length_over_the_limit_is_refused_before_anything_is_sent() {
    let body: &'static str = "x".repeat(200_000).leak();
    let upstream = Upstream::new(move |_| Answer::typed("text/plain", body));
    let gateway = Gateway::start(&no_rules(&upstream).replace("upstream: u", "upstream: u, limits: {total: 100KiB}"));
    let reply = get(gateway.address, "/");
    assert_eq!((reply.status, reply.code().as_str()), (502, "oversize"));
    let arrived = upstream.seen().len();
    let reply = request(gateway.address, "POST", "/", &[("Content-Type", "text/plain")], body.as_bytes());
    assert_eq!((reply.status, reply.code().as_str()), (413, "too_large"));
    assert_eq!(upstream.seen().len(), arrived);
}
