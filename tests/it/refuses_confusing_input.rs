//! What two programs could read differently goes nowhere: raw bytes on real sockets, kind by kind. `tests/wire` has the long
//! list; here each kind stands once, and what the list cannot say.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::support::{
    Answer, Gateway, Upstream, client::Connection, get, no_rules, post, raw, request, request_rules, response_rules,
};

const HIDDEN: &str = "GET /hidden HTTP/1.1\r\nHost: t.example\r\n\r\n";

/// Each is refused or not answered, the connection is closed, and neither it nor a request hidden behind it arrives.
fn refuse(cases: &[String]) {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&no_rules(&upstream));
    for case in cases {
        let mut connection = Connection::open(gateway.address);
        connection.send(case.as_bytes());
        connection.send(HIDDEN.as_bytes());
        let status = connection.read(false).map(|reply| reply.status);
        assert!(status.is_none_or(|s| (400..600).contains(&s)), "{case:?}: {status:?}");
        assert!(connection.ends(), "{case:?}: the connection stays open");
    }
    let arrived: Vec<String> = upstream.seen().into_iter().map(|seen| seen.head).collect();
    assert!(arrived.is_empty(), "{arrived:?}");
}

fn with_fields(fields: &str) -> String {
    format!("POST /a HTTP/1.1\r\nHost: t.example\r\n{fields}\r\n")
}

#[test]
fn start_lines() {
    let lines = [
        "GET /a",
        "GET  HTTP/1.1",
        "GET\t/a HTTP/1.1",
        "GET /a HTTP/1.1 b",
        "G\"ET /a HTTP/1.1",
        "GET /a http/1.1",
        "GET /a HTTP/2.0",
        "GET a HTTP/1.1",
        "GET ?a HTTP/1.1",
        "GET * HTTP/1.1",
        "GET @evil/ HTTP/1.1",
        "GET /a#b HTTP/1.1",
        "GET \\a HTTP/1.1",
        "GET http://evil/a HTTP/1.1",
        "GET ftp://t.example/a HTTP/1.1",
        "CONNECT t.example:443 HTTP/1.1",
        "TRACE /a HTTP/1.1",
        "get /a HTTP/1.1",
        "GET /a\0 HTTP/1.1",
    ];
    refuse(&lines.map(|line| format!("{line}\r\nHost: t.example\r\n\r\n")));
}

#[test]
fn line_ends() {
    refuse(&[
        "\nGET /a HTTP/1.1\r\nHost: t.example\r\n\r\n".into(),
        "GET /a HTTP/1.1\nHost: t.example\n\n".into(),
        "GET /a HTTP/1.1\r\nHost: t.example\r\n\n".into(),
        with_fields("X: a\nY: b\r\n"),
        with_fields("X: a\rY: b\r\n"),
        with_fields("X: a\r\r\n"),
        with_fields("X: a\n\n"),
        with_fields("X: a\r\n b\r\n"),
        with_fields(" X: a\r\n"),
    ]);
}

#[test]
fn fields() {
    refuse(&["X\r\n", ": a\r\n", "X : a\r\n", "X Y: a\r\n", "X\0: a\r\n", "X: a\0b\r\n"].map(with_fields));
}

#[test]
fn hosts() {
    let hosts = [
        "",
        "Host: a\r\nHost: b\r\n",
        "Host: a b\r\n",
        "Host: a, b\r\n",
        "Host: a/b\r\n",
        "Host: u@a\r\n",
        "Host: a:b\r\n",
    ];
    refuse(&hosts.map(|host| format!("GET /a HTTP/1.1\r\n{host}\r\n")));
}

#[test]
fn paths() {
    let paths = [
        "/a/../b",
        "/a/%2e%2e/b",
        "/./b",
        "/a/..;/b",
        "/a/..%2fb",
        "/a%2fb",
        "/a%5cb",
        "/a//b",
        "/a%00",
        "/a%0d%0ab",
        "/a%zz",
        "/%c0%ae/b",
    ];
    refuse(&paths.map(|path| format!("GET {path} HTTP/1.1\r\nHost: t.example\r\n\r\n")));
}

#[test]
fn lengths() {
    let lengths = ["+5", "-5", "5_0", "0x5", "5 5", "5, 6", "5;a", "99999999999999999999999", "", "1e1"];
    refuse(&lengths.map(|length| with_fields(&format!("Content-Length: {length}\r\n")) + "HELLO"));
    refuse(&[
        with_fields("Content-Length: 5\r\nContent-Length: 0\r\n") + "HELLO",
        with_fields("Content-Length 5\r\n") + "HELLO",
    ]);
}

#[test]
fn transfer_codings() {
    let codings = [
        "gzip, chunked",
        "gzip",
        "identity",
        "chunked, identity",
        "chunked, chunked",
        "xchunked",
        "chunked;q=1",
        "\"chunked\"",
        "chunked\r\nTransfer-Encoding: chunked",
        "chunked\r\nContent-Length: 6",
        "chunked\0",
        "",
    ];
    refuse(&codings.map(|coding| with_fields(&format!("Transfer-Encoding: {coding}\r\n")) + "5\r\nHELLO\r\n0\r\n\r\n"));
    refuse(&[
        with_fields("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\nX",
        with_fields("Transfer-Encoding: chunked\r\n").replace("/1.1", "/1.0") + "0\r\n\r\n",
        with_fields("Transfer-Encoding : chunked\r\n") + "0\r\n\r\n",
    ]);
}

#[test]
fn chunks_and_trailers() {
    let bodies = [
        "5\nHELLO\r\n0\r\n\r\n",
        "+5\r\nHELLO\r\n0\r\n\r\n",
        "0x5\r\nHELLO\r\n0\r\n\r\n",
        "5x\r\nHELLO\r\n0\r\n\r\n",
        "5\r\nHELLO\n0\r\n\r\n",
        "5\r\nHELLOO\r\n0\r\n\r\n",
        "5\r\nHELLO\r\n0\n\r\n",
        "5;a=\nHELLO\r\n0\r\n\r\n",
        "5;a=\rb\r\nHELLO\r\n0\r\n\r\n",
        "10000000000000005\r\nHELLO\r\n0\r\n\r\n",
        "\r\nHELLO\r\n0\r\n\r\n",
        "5\r\nHELLO\r\n0\r\nX: 1\nY: 2\r\n\r\n",
        "5\r\nHELLO\r\n0\r\nX\r\n\r\n",
        "5\r\nHELLO\r\n0\r\n\n",
    ];
    refuse(&bodies.map(|body| with_fields("Transfer-Encoding: chunked\r\n") + body));
}

#[test]
fn bytes_one_by_one_are_read_alike() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&no_rules(&upstream));
    let good = with_fields("Transfer-Encoding: chunked\r\n") + "5;a=b\r\nHELLO\r\n0\r\nX: 1\r\n\r\n";
    let mut connection = Connection::open(gateway.address);
    for (case, status) in [(good.clone(), 200), (good.replace("\r\nHost", "\nHost"), 400)] {
        for byte in case.as_bytes() {
            connection.send(&[*byte]);
        }
        assert_eq!(connection.read(false).unwrap_or_else(|| panic!("answer to {case:?}")).status, status);
    }
    assert_eq!(upstream.seen().len(), 1);
    assert_eq!((upstream.last().text().as_str(), upstream.last().header("x")), ("HELLO", None));
}

#[test]
fn good_requests_before_a_bad_one_are_answered() {
    let upstream = Upstream::json("[1]");
    let gateway = Gateway::start(&no_rules(&upstream));
    let mut connection = Connection::open(gateway.address);
    connection.send(format!("{HIDDEN}{HIDDEN}GET /a HTTP/1.1\nHost: t\n\n").as_bytes());
    let statuses: Vec<_> = (0..3).map(|_| connection.read(false).map(|reply| reply.status)).collect();
    assert_eq!(statuses, [Some(200), Some(200), Some(400)]);
    assert!(connection.ends());
}

#[test]
fn a_refused_upload_still_gets_its_answer() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&no_rules(&upstream));
    let head = "POST /a/../b HTTP/1.1\r\nHost: t.example\r\nContent-Length: 20000000\r\n\r\n";
    let began = Instant::now();
    let reply = raw(gateway.address, &[head.as_bytes(), &vec![b'x'; 20_000_000]].concat(), false).expect("answer");
    assert_eq!((reply.status, reply.code().as_str()), (400, "bad_target"));
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn expectations_are_decided_on_the_head() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&no_rules(&upstream));
    let head = |path: &str, expect: &str| {
        format!("POST {path} HTTP/1.1\r\nHost: t.example\r\nExpect: {expect}\r\nContent-Length: 5\r\n\r\n")
    };
    for (path, expect, status) in [("/a/../b", "100-continue", 400), ("/a", "200-ok", 417)] {
        let mut connection = Connection::open(gateway.address);
        connection.send(head(path, expect).as_bytes());
        let told = connection.read_until("\r\n\r\n");
        assert!(told.starts_with(&format!("HTTP/1.1 {status} ")), "{told}");
        connection.send(HIDDEN.as_bytes());
        assert_eq!(
            connection.read(false).map(|reply| reply.header("connection").map(str::to_owned)),
            Some(Some("close".into()))
        );
        assert!(connection.ends());
    }
    assert!(upstream.seen().is_empty());
    let mut connection = Connection::open(gateway.address);
    connection.send(head("/a", "100-continue").as_bytes());
    connection.read_until("HTTP/1.1 100 Continue\r\n\r\n");
    connection.send(b"HELLO");
    assert_eq!(connection.read(false).expect("answer").status, 200);
    assert_eq!((upstream.last().text().as_str(), upstream.last().header("expect")), ("HELLO", None));
}

#[test]
fn a_client_that_sends_no_more_gets_its_answer() {
    let upstream = Upstream::new(|_| {
        std::thread::sleep(Duration::from_millis(200));
        Answer::json("[1]")
    });
    let gateway = Gateway::start(&no_rules(&upstream));
    let mut connection = Connection::open(gateway.address);
    connection.send(HIDDEN.as_bytes());
    connection.end();
    assert_eq!(connection.read(false).expect("answer").text(), "[1]");
    let mut connection = Connection::open(gateway.address);
    connection.send((with_fields("Content-Length: 9\r\n") + "HELLO").as_bytes());
    connection.end();
    assert!(connection.read(false).is_none_or(|reply| reply.status == 400));
    assert_eq!(upstream.seen().len(), 1, "half a body is no request");
}

#[test]
fn loops_and_last_hops_end_here() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&no_rules(&upstream));
    get(gateway.address, "/a");
    let via = upstream.last().header("via").expect("via").to_owned();
    let reply = request(gateway.address, "GET", "/a", &[("Via", &format!("1.0 other, {via}, 1.1 more"))], b"");
    assert_eq!((reply.status, reply.code().as_str()), (508, "loop_detected"));
    let options = |hops: &str| request(gateway.address, "OPTIONS", "/a", &[("Max-Forwards", hops)], b"");
    let reply = options("0");
    assert_eq!((reply.status, reply.text().as_str()), (200, ""));
    assert!(reply.header("allow").is_some_and(|methods| methods.contains("GET")));
    assert_eq!(gateway.record_of(&reply)["outcome"], "last_hop");
    assert_eq!(upstream.seen().len(), 1);
    assert_eq!(options("7").status, 200);
    assert_eq!(upstream.last().header("max-forwards"), Some("6"));
    assert_eq!(options("x").status, 400);
}

const CLAIMS: [(&str, &str); 6] = [
    ("X-Forwarded-For", "6.6.6.6, 203.0.113.7"),
    ("X-Forwarded-Proto", "https"),
    ("X-Forwarded-Host", "shop.example"),
    ("Forwarded", "for=203.0.113.7"),
    ("X-Real-IP", "6.6.6.6"),
    ("X_Forwarded_For", "6.6.6.6"),
];

#[test]
fn nobody_is_trusted_who_was_not_named() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&no_rules(&upstream));
    let reply = request(gateway.address, "GET", "/a", &CLAIMS, b"");
    let seen = upstream.last();
    assert_eq!((seen.header("x-forwarded-for"), seen.header("x-forwarded-proto")), (Some("127.0.0.1"), Some("http")));
    assert_eq!(
        (seen.header("forwarded"), seen.header("x-real-ip"), seen.header("x_forwarded_for")),
        (None, None, None)
    );
    assert!(!seen.head.contains("shop.example"));
    assert_eq!(gateway.record_of(&reply)["client"], "127.0.0.1");
}

#[test]
fn a_named_proxy_is_believed() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start_with(&no_rules(&upstream), &["--trusted-addresses", "10.0.0.0/8,127.0.0.1"]);
    let reply = request(gateway.address, "GET", "/a", &CLAIMS, b"");
    let seen = upstream.last();
    assert_eq!(seen.header("x-forwarded-for"), Some("6.6.6.6, 203.0.113.7, 127.0.0.1"));
    assert_eq!(
        (seen.header("x-forwarded-proto"), seen.header("x-forwarded-host")),
        (Some("https"), Some("shop.example"))
    );
    assert_eq!((seen.header("forwarded"), seen.header("x-real-ip")), (Some("for=203.0.113.7"), None));
    assert_eq!(gateway.record_of(&reply)["client"], "203.0.113.7");
}

#[test]
fn overrides_and_twins_stay_here() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&no_rules(&upstream));
    let names = ["X-Original-URL", "X-Rewrite-URL", "X-HTTP-Method-Override", "X_User", "Content_Length"];
    let reply = request(gateway.address, "GET", "/a", &names.map(|name| (name, "/admin")), b"");
    assert_eq!(reply.status, 200);
    assert!(!upstream.last().head.contains("/admin"), "{}", upstream.last().head);
}

#[test]
fn bodies_are_judged_whatever_the_method() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&request_rules(&upstream, "- {select: $.ssn, action: remove}"));
    for method in ["GET", "DELETE", "PROPFIND"] {
        let json = [("Content-Type", "application/json")];
        let reply = request(gateway.address, method, "/a", &json, br#"{"ssn":"078-05-1120"}"#);
        assert_eq!((reply.status, upstream.last().text().as_str()), (200, "{}"), "{method}");
    }
}

#[test]
fn many_fields_and_long_lines_are_bounded() {
    let mut many = String::new();
    for n in 0..2000 {
        write!(many, "h{n}: v\r\n").expect("a string takes everything");
    }
    let long = "a".repeat(100_000);
    refuse(&[
        with_fields(&many),
        with_fields(&format!("X: {long}\r\n")),
        format!("GET /{long} HTTP/1.1\r\nHost: t\r\n\r\n"),
        with_fields("Transfer-Encoding: chunked\r\n") + "5;" + &long + "\r\nHELLO\r\n0\r\n\r\n",
    ]);
}

#[test]
fn a_body_that_comes_late_is_not_lost() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&no_rules(&upstream));
    for method in ["GET", "POST", "DELETE"] {
        let mut connection = Connection::open(gateway.address);
        let head = with_fields("Transfer-Encoding: chunked\r\n").replace("POST", method);
        for part in [head.as_str(), "5\r\nHE", "LLO\r\n", "0\r\n", "\r\n"] {
            connection.send(part.as_bytes());
            std::thread::sleep(Duration::from_millis(30));
        }
        assert_eq!(connection.read(false).expect("answer").status, 200, "{method}");
        assert_eq!((upstream.last().method(), upstream.last().text().as_str()), (method, "HELLO"));
    }
}

#[test]
fn a_silent_client_is_not_the_upstreams_fault() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start_with(&no_rules(&upstream), &["--body-timeout", "3s"]);
    let mut connection = Connection::open(gateway.address);
    connection.send((with_fields("Content-Length: 200000\r\n") + "HELLO").as_bytes());
    let reply = connection.read(false).expect("answer");
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (408, "client_timeout"),
        "the upstream would have had two seconds"
    );
    assert!(connection.ends());
}

#[test]
fn encodings_are_no_way_round_a_route() {
    let upstream = Upstream::json(r#"{"ssn":"078-05-1120"}"#);
    let rules = response_rules(&upstream, "- {select: $.ssn, action: remove}")
        .replace("/{*rest}", "/pay:now")
        .replace("policies:\n  p:", "  rest: {match: {paths: [\"/{*rest}\"]}, upstream: u}\npolicies:\n  p:");
    let gateway = Gateway::start(&rules);
    for path in ["/pay:now", "/pay%3Anow", "/pay%3anow", "/p%61y:now"] {
        assert_eq!(get(gateway.address, path).text(), "{}", "{path}");
        assert_eq!(upstream.last().target(), path.replace("%61", "a"));
    }
    assert_eq!(get(gateway.address, "/other").text(), r#"{"ssn":"078-05-1120"}"#);
    for path in ["/a\"b", "/a<b", "/a{b}", "/a|b", "/a^b", "/a`b"] {
        assert_eq!(
            raw(gateway.address, format!("GET {path} HTTP/1.1\r\nHost: t\r\n\r\n").as_bytes(), false).map(|r| r.status),
            Some(400),
            "{path}"
        );
    }
}

#[test]
fn a_value_split_over_chunks_is_whole_to_the_rules() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&request_rules(&upstream, "- {detect: [credit_card], action: redact}"));
    let body = r#"{"note":"4111111111111111"}"#;
    assert_eq!(post(gateway.address, "/a", body).status, 200);
    let whole = upstream.last().text();
    let mut chunked =
        with_fields("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n");
    for c in body.chars() {
        write!(chunked, "1\r\n{c}\r\n").expect("a string takes everything");
    }
    raw(gateway.address, (chunked + "0\r\n\r\n").as_bytes(), false).expect("answer");
    assert_eq!(upstream.last().text(), whole);
    assert!(!whole.contains("1111"), "{whole}");
}
