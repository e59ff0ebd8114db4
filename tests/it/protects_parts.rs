//! Forms with files, and other bodies in parts: what a rule is about is found in every part, and only that changes.

use std::io::Write;

use crate::support::{Answer, Gateway, Upstream, client, get, request, request_rules, response_rules};

const RULES: &str = "- {detect: [email, us_ssn], action: redact}";
const TYPE: &str = "multipart/form-data; boundary=\"----WebKitFormBoundary7MA4YWxk\"";

/// What a browser sends for a form with a field and a file.
fn form(field: &str, file_name: &str, content_type: &str, file: &str) -> String {
    [
        "------WebKitFormBoundary7MA4YWxk\r\nContent-Disposition: form-data; name=\"ssn\"\r\n\r\n",
        field,
        "\r\n------WebKitFormBoundary7MA4YWxk\r\nContent-Disposition: form-data; name=\"upload\"; filename=\"",
        file_name,
        "\"\r\nContent-Type: ",
        content_type,
        "\r\n\r\n",
        file,
        "\r\n------WebKitFormBoundary7MA4YWxk--\r\n",
    ]
    .concat()
}

fn send(gateway: &Gateway, body: &[u8]) -> client::Reply {
    request(gateway.address, "POST", "/", &[("Content-Type", TYPE)], body)
}

#[test]
fn every_part_of_a_request_is_judged() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&request_rules(&upstream, RULES));
    let rows = "7,jane@example.com,1.10\r\n".repeat(20_000);
    for (file, edited) in [
        ("{ \"a\" : \"jane@example.com\" }", "{ \"a\" : \"[REDACTED:email]\" }".to_owned()),
        (&*rows, rows.replace("jane@example.com", "[REDACTED:email]")),
    ] {
        let kind = if file.starts_with('{') { "application/json" } else { "text/csv" };
        let reply = send(&gateway, form("123-45-6789", "jane@example.com.csv", kind, file).as_bytes());
        assert_eq!(reply.status, 200, "{}", reply.text());
        let seen = upstream.last();
        let expected = form("[REDACTED:us_ssn]", "[REDACTED:email].csv", kind, &edited);
        assert!(seen.text() == expected, "{}", seen.text().get(..400).unwrap_or_default());
        assert_eq!(seen.header("content-type"), Some(TYPE));
        let record = gateway.record_of(&reply);
        assert_eq!(record["verdict"], "edit");
        let places: Vec<_> = record["findings"].as_array().expect("list").iter().map(|it| &it["place"]).collect();
        assert!(places.iter().any(|place| *place == "form.ssn") && places.iter().any(|place| *place == "form.upload"));
    }
    let same = form("none", "a.txt", "text/plain", "nothing\r\n--\r\n");
    assert_eq!(send(&gateway, same.as_bytes()).status, 200);
    assert_eq!(upstream.last().text(), same);
}

#[test]
fn a_file_that_nobody_can_read_is_refused_unless_policy_lets_it_pass() {
    let upstream = Upstream::json("{}");
    let rules = request_rules(&upstream, RULES);
    let body = form("123-45-6789", "a.png", "image/png", "\u{89}PNG");
    let gateway = Gateway::start(&rules);
    let reply = send(&gateway, body.as_bytes());
    assert_eq!((reply.status, reply.code().as_str()), (415, "unsupported"));
    assert_eq!(gateway.record_of(&reply)["uninspected"][0]["reason"], "binary");
    assert!(upstream.seen().is_empty());
    let gateway = Gateway::start(&rules.replace("  p:\n", "  p:\n    on_failure: {unsupported: pass}\n"));
    let reply = send(&gateway, body.as_bytes());
    assert_eq!(reply.status, 200);
    assert_eq!(upstream.last().text(), body.replace("123-45-6789", "[REDACTED:us_ssn]"));
    let record = gateway.record_of(&reply);
    assert_eq!((&record["verdict"], &record["uninspected"][0]["decision"]), (&"edit".into(), &"pass".into()));
}

#[test]
fn a_form_with_two_readings_is_refused() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&request_rules(&upstream, RULES));
    let hidden = "x\n------WebKitFormBoundary7MA4YWxk\n\n123-45-6789";
    for (body, status, code) in [
        (form(hidden, "a", "text/plain", "x"), 422, "malformed"),
        (form("x", "a\"; filename=\"b", "text/plain", "x"), 422, "malformed"),
        (form("x", "a", "multipart/mixed; boundary=x", "--x--"), 415, "unsupported"),
        (form("x", "a", "text/plain\r\nContent-Transfer-Encoding: base64", "eA=="), 415, "unsupported"),
        (form("x", "a", "text/plain", "x").replace("YWxk--", "YWxk"), 422, "malformed"),
    ] {
        let reply = send(&gateway, body.as_bytes());
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{body}");
    }
    let types = [("Content-Type", "multipart/form-data; boundary=a; boundary=b")];
    let reply = request(gateway.address, "POST", "/", &types, b"--a\r\n\r\n123-45-6789\r\n--a--");
    assert_eq!((reply.status, reply.code().as_str()), (415, "unsupported"));
    assert!(upstream.seen().is_empty());
}

#[test]
fn selectors_reach_into_json_parts() {
    let part = |json: &str| {
        format!("--b\r\nContent-Type: application/json\r\n\r\n{json}\r\n--b\r\nContent-ID: <2>\r\n\r\n[1]\r\n--b--")
    };
    let body = part("{\"ssn\":\"123-45-6789\",\"n\":1.10}");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(body.as_bytes()).expect("memory");
    let packed = packed.finish().expect("memory");
    let upstream = Upstream::new(move |_| {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: multipart/related; type=\"application/json\"; boundary=b\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
            packed.len()
        );
        Answer::Keep([head.as_bytes(), &packed].concat())
    });
    let gateway = Gateway::start(&response_rules(&upstream, "- {select: $.ssn, action: remove}"));
    let reply = get(gateway.address, "/");
    assert_eq!((reply.status, reply.text()), (200, part("{\"n\":1.10}")));
    assert_eq!(reply.header("content-encoding"), None);
}
