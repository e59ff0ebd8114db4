//! Rules about what may leave: every action, on real bodies, byte for byte.

use crate::support::{Answer, Gateway, Upstream, client, get, response_rules};

const RECORD: &str = r#"{ "id":1, "card":{"number":"4111111111111111"}, "ssn":"123-45-6789","phone":"+1 415-555-0132", "n":9007199254740993,"note":"write to jane.doe@example.com now","tags":[ ] }"#;

fn check(rules: &str, body: &'static str, expected: &str) {
    let upstream = Upstream::json(body);
    let gateway = Gateway::start(&response_rules(&upstream, rules));
    let reply = get(gateway.address, "/");
    assert_eq!((reply.status, reply.text().as_str()), (200, expected), "{rules}");
}

#[test]
fn fields_are_masked_removed_renamed_set_and_kept() {
    check(
        "- {select: $..card.number, action: {mask: {keep_last: 4}}}",
        RECORD,
        &RECORD.replace("411111111111", "************"),
    );
    check("- {select: $.ssn, action: remove}", RECORD, &RECORD.replace(r#", "ssn":"123-45-6789""#, ""));
    check("- {select: $.phone, action: {rename: tel}}", RECORD, &RECORD.replace("phone", "tel"));
    check("- {select: $.gateway, action: {set: v1}}", r#"{"a":1}"#, r#"{"a":1,"gateway":"v1"}"#);
    check(
        "- {select: $.n, action: {replace: {why: gone}}}",
        RECORD,
        &RECORD.replace("9007199254740993", r#"{"why":"gone"}"#),
    );
    check("- {select: $.ssn, action: redact}", RECORD, &RECORD.replace("123-45-6789", "[REDACTED]"));
    check("- {keep_only: [$.id, $.tags]}", RECORD, r#"{ "id":1,"tags":[ ] }"#);
    check("- {detect: [email], action: redact}", RECORD, &RECORD.replace("jane.doe@example.com", "[REDACTED:email]"));
    check("- {select: $.nothing, action: remove}", RECORD, RECORD);
}

#[test]
fn keys_are_compared_decoded() {
    check("- {select: $.ssn, action: remove}", r#"{"\u0073sn":"123-45-6789","a":1}"#, r#"{"a":1}"#);
}

#[test]
fn keys_can_be_compared_whatever_their_case() {
    let body = r#"{"Ssn":"1","SSN":"2","\uff33\uff33\uff2e":"3","ssn2":"4"}"#;
    check("- {select: $.ssn, fold_case: true, action: remove}", body, r#"{"ssn2":"4"}"#);
    check("- {select: $.ssn, action: remove}", body, body);
}

#[test]
fn json_in_strings_is_protected() {
    const BODY: &str = r#"{"events":[{"payload":"{\"to\":\"jane.doe@example.com\",\"\u006eote\":\"a\\/b\",\"n\":1.10}"},{"payload":"[]"}]}"#;
    let rule = r#"- {select: "$.events[*].payload", parse: json, detect: [email], action: redact}"#;
    check(rule, BODY, &BODY.replace("jane.doe@example.com", "[REDACTED:email]"));
    let upstream = Upstream::json(r#"{"events":[{"payload":"nothing of that kind"}]}"#);
    let gateway = Gateway::start(&response_rules(&upstream, rule));
    let reply = get(gateway.address, "/");
    assert_eq!(reply.status, 502);
    assert!(reply.text().contains("malformed") && !reply.text().contains("of that kind"), "{}", reply.text());
}

#[test]
fn every_status_is_protected() {
    let upstream = Upstream::new(|_| {
        Answer::Keep(
            b"HTTP/1.1 500 Oops\r\nContent-Type: application/json\r\nContent-Length: 21\r\n\r\n{\"ssn\":\"123-45-6789\"}".to_vec(),
        )
    });
    let gateway = Gateway::start(&response_rules(&upstream, "- {select: $.ssn, action: remove}"));
    let reply = get(gateway.address, "/");
    assert_eq!((reply.status, reply.text().as_str()), (500, "{}"));
}

#[test]
fn an_edited_body_has_no_old_validators() {
    let upstream = Upstream::new(|_| {
        Answer::Keep(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nETag: \"a\"\r\nContent-MD5: x\r\nDigest: y\r\nAccept-Ranges: bytes\r\nContent-Length: 21\r\n\r\n{\"ssn\":\"123-45-6789\"}".to_vec(),
        )
    });
    let gateway = Gateway::start(&response_rules(&upstream, "- {select: $.ssn, action: remove}"));
    let head = "GET / HTTP/1.1\r\nHost: t\r\nRange: bytes=0-1\r\nIf-None-Match: \"a\"\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n";
    let reply = client::raw(gateway.address, head.as_bytes(), false).expect("answer");
    assert_eq!(reply.text(), "{}");
    assert_eq!(reply.header("content-length"), Some("2"));
    for name in ["etag", "content-md5", "digest", "accept-ranges"] {
        assert_eq!(reply.header(name), None, "{name}");
    }
    let seen = upstream.last();
    assert_eq!((seen.header("range"), seen.header("if-none-match")), (None, None));
    assert_eq!(seen.header("accept-encoding"), Some("gzip"));
}

#[test]
fn fields_are_judged_whatever_the_status() {
    let upstream = Upstream::new(|seen| {
        let status = seen.target().trim_start_matches('/').to_owned();
        let length = if status == "200" { "Content-Length: 2\r\n" } else { "" };
        let body = if status == "200" && seen.method() == "GET" { "{}" } else { "" };
        Answer::Keep(
            format!("HTTP/1.1 {status} X\r\nLocation: /u?ssn=1\r\nSet-Cookie: ssn=1\r\n{length}\r\n{body}")
                .into_bytes(),
        )
    });
    let gateway = Gateway::start(&response_rules(&upstream, "- {headers: [location, set-cookie], action: redact}"));
    for (method, path) in [("GET", "/204"), ("GET", "/304"), ("HEAD", "/200"), ("GET", "/200")] {
        let head = format!("{method} {path} HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
        let reply = client::raw(gateway.address, head.as_bytes(), method == "HEAD").expect("answer");
        let fields = (reply.header("location"), reply.header("set-cookie"));
        assert_eq!(fields, (Some("[REDACTED]"), Some("[REDACTED]")), "{method} {path}");
    }
}

#[test]
fn shadow_mode_records_and_changes_nothing() {
    let upstream = Upstream::json(RECORD);
    let rules = response_rules(&upstream, "- {id: pan, select: $.card.number, action: block}")
        .replace("  p:\n", "  p:\n    mode: shadow\n");
    let gateway = Gateway::start(&rules);
    let reply = get(gateway.address, "/");
    assert_eq!(reply.text(), RECORD);
    let record = gateway.record_of(&reply);
    assert_eq!(record["verdict"], "pass");
    assert_eq!(record["findings"][0]["shadow"], true);
    assert_eq!(record["findings"][0]["place"], "$.card.number");
}

#[test]
fn a_blocked_response_says_so_and_nothing_else() {
    let upstream = Upstream::json(RECORD);
    let gateway = Gateway::start(&response_rules(
        &upstream,
        "- {detect: [us_ssn], action: {block: {status: 451, message: not for you}}}",
    ));
    let reply = get(gateway.address, "/");
    assert_eq!((reply.status, reply.code().as_str()), (451, "blocked"));
    assert!(reply.text().contains("not for you"));
    assert!(!reply.text().contains("123-45"));
    assert_eq!(gateway.record_of(&reply)["verdict"], "block");
}

#[test]
fn a_large_body_streams_through_the_same_rules() {
    let item = r#"{"ssn":"123-45-6789","x":"é\u00e9","n":[1.10,1e400]},"#;
    let body: &'static str = format!("[{}null]", item.repeat(20_000)).leak();
    let expected = format!("[{}null]", r#"{"x":"é\u00e9","n":[1.10,1e400]},"#.repeat(20_000));
    let upstream = Upstream::json(body);
    let gateway = Gateway::start(&response_rules(&upstream, "- {select: $..ssn, action: remove}"));
    let reply = get(gateway.address, "/");
    assert!(reply.complete && reply.text() == expected, "{} bytes", reply.body.len());
    let record = gateway.record_of(&reply);
    assert_eq!(record["findings"][0]["count"], 20_000);
    assert_eq!(record["verdict"], "edit");
}

#[test]
fn a_number_is_judged_however_it_is_written() {
    for number in ["4111111111111111", "4111111111111111.0", "-4111111111111111", "4.111111111111111e15"] {
        let body: &'static str = format!(r#"{{"n":{number},"m":1.5}}"#).leak();
        check("- {detect: [credit_card], action: redact}", body, r#"{"n":0,"m":1.5}"#);
    }
}

#[test]
fn head_does_not_promise_a_length_that_get_would_not_have() {
    let upstream = Upstream::new(|_| {
        Answer::Keep(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 21\r\n\r\n".to_vec())
    });
    let gateway = Gateway::start(&response_rules(&upstream, "- {select: $.ssn, action: remove}"));
    let reply = client::request(gateway.address, "HEAD", "/", &[], b"");
    assert_eq!((reply.status, reply.header("content-length")), (200, None));
}
