//! Rules about what may come in: bodies, query parameters, paths and header fields.

use crate::support::{Gateway, Upstream, get, post, request, request_rules};

#[test]
fn bodies_are_rewritten_on_their_way_in() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&request_rules(&upstream, "- {select: $.card, action: {mask: {keep_last: 4}}}"));
    let reply = post(gateway.address, "/", r#"{"card":"4111111111111111","n":1.10}"#);
    assert_eq!(reply.status, 200);
    assert_eq!(upstream.last().text(), r#"{"card":"************1111","n":1.10}"#);
    let record = gateway.record_of(&reply);
    assert_eq!(record["findings"][0]["direction"], "request");
    assert_eq!(record["verdict"], "edit");
}

#[test]
fn large_bodies_are_rewritten_while_they_stream() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&request_rules(&upstream, "- {select: '$[*].card', action: remove}"));
    let body = format!("[{}1]", r#"{"card":"4111111111111111","n":1.10},"#.repeat(20_000));
    let reply = post(gateway.address, "/", &body);
    assert_eq!(reply.status, 200);
    assert_eq!(upstream.last().text(), format!("[{}1]", r#"{"n":1.10},"#.repeat(20_000)));
    assert_eq!(gateway.record_of(&reply)["findings"][0]["count"], 20_000);
}

#[test]
fn what_is_blocked_never_arrives() {
    let upstream = Upstream::json("{}");
    let rules = "- {detect: [credit_card, us_ssn], in: [body, query, path], action: {block: {status: 422}}}";
    let gateway = Gateway::start(&request_rules(&upstream, rules));
    let big = format!(r#"{{"pad":"{}","card":"4111 1111 1111 1111"}}"#, "x".repeat(300_000));
    for reply in [
        post(gateway.address, "/", r#"{"card":"4111111111111111"}"#),
        post(gateway.address, "/", r#"{"a":[{"card":4111111111111111}]}"#),
        post(gateway.address, "/", r#"{"card":"\u0034111111111111111"}"#),
        post(gateway.address, "/", &big),
        request(gateway.address, "POST", "/", &[("Content-Type", "text/plain")], br#"{"card":"4111111111111111"}"#),
        request(
            gateway.address,
            "DELETE",
            "/",
            &[("Content-Type", "application/json")],
            br#"{"card":"4111111111111111"}"#,
        ),
        get(gateway.address, "/?ssn=123-45-6789"),
        get(gateway.address, "/?card=4111%201111%201111%201111"),
        get(gateway.address, "/cards/4111111111111111"),
    ] {
        assert_eq!((reply.status, reply.code().as_str()), (422, "blocked"), "{}", reply.text());
        let record = gateway.record_of(&reply).to_string();
        assert!(!record.contains("4111") && !record.contains("123-45"), "{record}");
    }
    assert_eq!(upstream.seen().len(), 0, "nothing was forwarded");
    assert_eq!(post(gateway.address, "/", r#"{"order":"4111111111111112"}"#).status, 200);
}

#[test]
fn query_and_header_fields_are_edited() {
    let upstream = Upstream::json("{}");
    let rules = "- {query: [token], action: remove}\n- {headers: [x-user-*], action: redact}\n- {detect: [email], in: [query], action: redact}";
    let gateway = Gateway::start(&request_rules(&upstream, rules));
    let reply = request(
        gateway.address,
        "GET",
        "/a?x=1&token=abc&to=jane%40example.com&y=%C3%A9",
        &[("X-User-Ssn", "123")],
        b"",
    );
    assert_eq!(reply.status, 200);
    let seen = upstream.last();
    assert_eq!(seen.header("x-user-ssn"), Some("[REDACTED]"));
    let target = seen.target();
    assert!(target.starts_with("/a?x=1&to=") && target.ends_with("&y=%C3%A9"), "{target}");
    assert!(!target.contains("jane") && !target.contains("abc"), "{target}");
}
