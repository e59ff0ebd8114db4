//! Bodies that are not one JSON text: lines, events as they come, forms, text.

use std::io::Write;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::support::client::Connection;
use crate::support::{Answer, Gateway, Upstream, get, request, request_rules, response_rules};

const RULES: &str = "- {select: $..ssn, action: remove}\n- {detect: [email], action: redact}";

#[track_caller]
fn check(content_type: &'static str, rules: &str, body: &'static str, expected: &str) {
    let upstream = Upstream::new(move |_| Answer::typed(content_type, body));
    let gateway = Gateway::start(&response_rules(&upstream, rules));
    let reply = get(gateway.address, "/");
    assert_eq!((reply.status, reply.text().as_str()), (200, expected));
    assert_eq!(gateway.record_of(&reply)["verdict"], if body == expected { "pass" } else { "edit" });
}

/// An upstream that sends a piece of its body whenever it is told to, and ends with the last one.
fn told(content_type: &'static str, pieces: &'static [&'static str]) -> (Upstream, Sender<()>) {
    let (tell, told): (Sender<()>, Receiver<()>) = channel();
    let told = Mutex::new(Some(told));
    let upstream = Upstream::new(move |_| {
        let told = told.lock().expect("lock").take().expect("one request");
        Answer::Stream(Box::new(move |stream| {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\n\r\n");
            let mut send = |text: String| stream.write_all(text.as_bytes()).is_ok();
            if !send(head) {
                return;
            }
            for piece in pieces {
                if told.recv().is_err() || !send(format!("{:x}\r\n{piece}\r\n", piece.len())) {
                    return;
                }
            }
            send("0\r\n\r\n".to_owned());
        }))
    });
    (upstream, tell)
}

#[test]
fn lines_are_documents_of_their_own() {
    check(
        "application/x-ndjson",
        RULES,
        "{\"ssn\":1,\"n\":1.10}\r\n\n{\"m\":\"a@b.com\",\"ssn\":2}",
        "{\"n\":1.10}\r\n\n{\"m\":\"[REDACTED:email]\"}",
    );
    check("application/json-seq", RULES, "\u{1e}{\"ssn\":1}\n\u{1e}[1]\n", "\u{1e}{}\n\u{1e}[1]\n");
}

#[test]
fn events_arrive_before_the_stream_ends() {
    let (upstream, tell) = told(
        "text/event-stream",
        &["id: 1\ndata: {\"ssn\":1,\"a\":1}\n\n: ping\n\ndata: {\"a\":", "\"a@b.com\"}\r\n\r\n", "data: [DONE]\n\n"],
    );
    let gateway = Gateway::start(&response_rules(&upstream, RULES));
    let mut client = Connection::open(gateway.address);
    client.send(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n");
    tell.send(()).expect("told");
    client.read_until("id: 1\ndata: {\"a\":1}\n\n: ping\n\n");
    tell.send(()).expect("told");
    client.read_until("data: {\"a\":\"[REDACTED:email]\"}\r\n");
    tell.send(()).expect("told");
    let reply = client.read(false).expect("answer");
    assert!(reply.complete);
    assert_eq!(
        reply.text(),
        "id: 1\ndata: {\"a\":1}\n\n: ping\n\ndata: {\"a\":\"[REDACTED:email]\"}\r\n\r\ndata: [DONE]\n\n"
    );
    let record = gateway.record_of(&reply);
    assert_eq!((&record["verdict"], &record["outcome"]), (&"edit".into(), &"completed".into()));
}

#[test]
fn a_quiet_stream_is_connected_all_the_same() {
    let (upstream, tell) = told("text/event-stream", &["data: 1\n\n"]);
    let gateway = Gateway::start(&response_rules(&upstream, RULES));
    let mut client = Connection::open(gateway.address);
    client.send(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n");
    assert!(client.read_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
    tell.send(()).expect("told");
    assert_eq!(client.read(false).expect("answer").text(), "data: 1\n\n");
}

#[test]
fn a_blocked_event_cuts_the_stream_before_it() {
    let block = "- {detect: [us_ssn], action: {block: {status: 451}}}";
    for kind in ["text/event-stream", "application/jsonl"] {
        let pieces: &[&str] = &["{\"a\":1}\n", "{\"ssn\":\"123-45-6789\"}\n", "{\"a\":2}\n"];
        let events: &[&str] = &["data: {\"a\":1}\n\n", "data: {\"ssn\":\"123-45-6789\"}\n\n", "data: {\"a\":2}\n\n"];
        let pieces = if kind == "text/event-stream" { events } else { pieces };
        let (upstream, tell) = told(kind, pieces);
        let gateway = Gateway::start(&response_rules(&upstream, block));
        let mut client = Connection::open(gateway.address);
        client.send(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n");
        tell.send(()).expect("told");
        client.read_until("{\"a\":1}\n");
        tell.send(()).expect("told");
        let reply = client.read(false).expect("answer");
        assert!(!reply.complete);
        assert_eq!((reply.status, reply.text().as_str()), (200, pieces[0]));
        let record = gateway.record_of(&reply);
        assert_eq!((&record["verdict"], &record["outcome"]), (&"block".into(), &"blocked".into()));
    }
}

#[test]
fn a_stream_that_begins_with_what_is_blocked_is_refused() {
    let (upstream, tell) = told("text/event-stream", &["data: ssn 123-45-6789\n\n"]);
    let gateway = Gateway::start(&response_rules(&upstream, "- {detect: [us_ssn], action: {block: {status: 451}}}"));
    tell.send(()).expect("told");
    let reply = get(gateway.address, "/");
    assert_eq!((reply.status, reply.code().as_str()), (451, "blocked"), "{reply:?}");
}

#[test]
fn a_broken_line_ends_the_stream_or_passes_alone() {
    let body: &'static str = "{\"ssn\":1}\n{\"ssn\":2,}\n{\"ssn\":3}\n";
    let upstream = Upstream::new(move |_| {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
        Answer::Keep(format!("{head}{:x}\r\n{body}\r\n0\r\n\r\n", body.len()).into_bytes())
    });
    let rules = response_rules(&upstream, RULES);
    let gateway = Gateway::start(&rules);
    let reply = get(gateway.address, "/");
    assert_eq!((reply.text().as_str(), reply.complete), ("{}\n", false));
    assert_eq!(gateway.record_of(&reply)["outcome"], "malformed");

    let gateway = Gateway::start(&rules.replace("  p:\n", "  p:\n    on_failure: {malformed: pass}\n"));
    let reply = get(gateway.address, "/");
    assert_eq!((reply.text().as_str(), reply.complete), ("{}\n{\"ssn\":2,}\n{}\n", true));
    let record = gateway.record_of(&reply);
    assert_eq!(record["uninspected"][0]["decision"], "pass");
    assert_eq!(record["findings"][0]["count"], 2);
}

#[test]
fn many_lines_stream_in_bounded_memory() {
    let line = "{\"ssn\":\"123-45-6789\",\"x\":\"é\\u00e9\"}\n";
    let body: &'static str = line.repeat(20_000).leak();
    check("application/x-ndjson", RULES, body, &"{\"x\":\"é\\u00e9\"}\n".repeat(20_000));
}

#[test]
fn text_is_searched() {
    let rules = "- {detect: [email], action: redact}";
    check("text/plain", rules, "write to a@b.com", "write to [REDACTED:email]");
    check("text/html", rules, "<a href='mailto:a@b.com'>é</a>", "<a href='mailto:[REDACTED:email]'>é</a>");
    check(
        "application/xml",
        rules,
        "<?xml version='1.0'?><m>a@b.com</m>",
        "<?xml version='1.0'?><m>[REDACTED:email]</m>",
    );
    let long: &'static str = "words and jane.doe@example.com; ".repeat(20_000).leak();
    check("text/plain", rules, long, &long.replace("jane.doe@example.com", "[REDACTED:email]"));
    check("text/plain", rules, "nothing", "nothing");
}

#[test]
fn forms_are_judged_field_by_field() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&request_rules(
        &upstream,
        "- {detect: [email], action: redact}\n- {detect: [us_ssn], action: {block: {status: 422}}}",
    ));
    let form = &[("Content-Type", "application/x-www-form-urlencoded")];
    let reply = request(gateway.address, "POST", "/", form, b"a=1&mail=x+a%40b.com&n=%31");
    assert_eq!(reply.status, 200);
    assert_eq!(upstream.last().text(), "a=1&mail=x+%5BREDACTED%3Aemail%5D&n=%31");
    assert_eq!(gateway.record_of(&reply)["findings"][0]["place"], "form.mail");
    let reply = request(gateway.address, "POST", "/", form, b"ssn=123-45-6789");
    assert_eq!((reply.status, reply.code().as_str()), (422, "blocked"));
}

#[test]
fn selectors_cannot_run_on_text_and_forms() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&request_rules(&upstream, RULES));
    for kind in ["text/plain", "application/x-www-form-urlencoded"] {
        let reply = request(gateway.address, "POST", "/", &[("Content-Type", kind)], b"a=1");
        assert_eq!((reply.status, reply.code().as_str()), (415, "unsupported"), "{kind}");
    }
    assert_eq!(upstream.seen().len(), 0);
}

#[test]
fn lines_flow_up_as_well() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&request_rules(&upstream, RULES));
    let lines = "{\"ssn\":1}\n{\"a\":\"a@b.com\"}\n";
    let head = "POST / HTTP/1.1\r\nHost: t\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut client = Connection::open(gateway.address);
    client.send(format!("{head}{:x}\r\n{lines}\r\n0\r\n\r\n", lines.len()).as_bytes());
    assert_eq!(client.read(false).expect("answer").status, 200);
    assert_eq!(upstream.last().text(), "{}\n{\"a\":\"[REDACTED:email]\"}\n");
}
