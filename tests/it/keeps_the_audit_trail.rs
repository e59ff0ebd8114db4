//! Who saw which field, under which rule, when: one record for each exchange, that survives `kill -9` and holds no value.

use std::collections::HashMap;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{
    Answer, Gateway, Upstream, client::Connection, get, no_rules, post, request, request_rules, response_rules, until,
};

fn verify(gateway: &Gateway) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fieldgate"))
        .args(["audit", "verify"])
        .arg(gateway.folder.path().join("data"))
        .output()
        .expect("verify");
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_record_tells_the_whole_story_and_no_value() {
    let upstream =
        Upstream::json(r#"{"users":[{"email":"jane@example.com"},{"email":"joe@example.com"}],"joe@example.org":1}"#);
    let rules = "- {id: mails, detect: [email], action: redact}";
    let gateway = Gateway::start(&response_rules(&upstream, rules));
    let reply = post(gateway.address, "/people/jane.doe@example.com?q=secret", "{}");
    assert_eq!(reply.status, 200);
    let record = gateway.record_of(&reply);
    for (field, expected) in
        [("method", "POST"), ("route", "all"), ("upstream", "u"), ("outcome", "completed"), ("verdict", "edit")]
    {
        assert_eq!(record[field], expected, "{field}");
    }
    assert_eq!(record["path"], "/people/[email]");
    let finding = &record["findings"][0];
    for (field, expected) in
        [("place", "$.users[*].email"), ("entity", "email"), ("rule", "mails"), ("policy", "p"), ("action", "redact")]
    {
        assert_eq!(finding[field], expected, "{field}");
    }
    assert_eq!(finding["count"], 2);
    assert!(record["phases"]["total_us"].as_u64().expect("total") > 0);
    let text = record.to_string();
    for value in ["jane", "joe", "secret"] {
        assert!(!text.contains(value), "{value} in {text}");
    }
}

#[test]
fn every_ending_has_exactly_one_record() {
    let upstream = Upstream::new(|seen| match seen.target() {
        "/slow" => Answer::Stream(Box::new(|stream| {
            use std::io::Write;
            drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"));
            while stream.write_all(&[b'x'; 1000]).is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        })),
        _ => Answer::json("{}"),
    });
    let gateway = Gateway::start(&no_rules(&upstream));
    assert_eq!(get(gateway.address, "/ok").status, 200);
    assert_eq!(get(gateway.address, "/a/../b").status, 400);
    let mut leaver = Connection::open(gateway.address);
    leaver.send(b"GET /slow HTTP/1.1\r\nHost: t\r\n\r\n");
    until("the upstream was asked", || upstream.seen().iter().any(|s| s.target() == "/slow"));
    drop(leaver);
    let outcomes = || {
        let mut counts = HashMap::new();
        for record in gateway.records() {
            *counts.entry(record["outcome"].as_str().expect("outcome").to_owned()).or_insert(0) += 1;
        }
        counts
    };
    until("three records are there", || gateway.records().len() == 3);
    let expected = [("completed", 1), ("bad_target", 1), ("client_aborted", 1)];
    assert_eq!(outcomes(), expected.map(|(k, v)| (k.to_owned(), v)).into());
    let (whole, text) = verify(&gateway);
    assert!(whole, "{text}");
}

#[test]
fn kill_nine_loses_no_record_of_an_answered_request() {
    let upstream = Upstream::json(r#"{"ssn":"123-45-6789"}"#);
    let rules = response_rules(&upstream, "- {select: $.ssn, action: remove}");
    let mut gateway = Gateway::start(&rules);
    let answered = Arc::new(Mutex::new(Vec::new()));
    for round in 0..5_u64 {
        let clients: Vec<_> = (0..4)
            .map(|_| {
                let (address, answered) = (gateway.address, Arc::clone(&answered));
                std::thread::spawn(move || {
                    let mut connection = Connection::open(address);
                    while let Some(reply) = connection.get("/").filter(|r| r.complete) {
                        let id = reply.header("x-request-id").expect("id").to_owned();
                        answered.lock().expect("lock").push(id);
                    }
                })
            })
            .collect();
        let before = answered.lock().expect("lock").len();
        until("requests were answered", || answered.lock().expect("lock").len() > before + 100 + 37 * round as usize);
        gateway.signal("KILL");
        for client in clients {
            client.join().expect("client");
        }
        gateway.wait();
        gateway = Gateway::start_in(Arc::clone(&gateway.folder), &[]);
    }
    let records = gateway.records();
    let mut seen = HashMap::new();
    for record in &records {
        *seen.entry(record["id"].as_str().expect("id").to_owned()).or_insert(0) += 1;
    }
    let answered = answered.lock().expect("lock");
    let lost: Vec<_> = answered.iter().filter(|id| !seen.contains_key(*id)).collect();
    assert!(lost.is_empty(), "{} of {} lost", lost.len(), answered.len());
    assert!(seen.values().all(|count| *count == 1), "a record twice");
    let (whole, text) = verify(&gateway);
    assert!(whole, "{text}");
}

#[test]
fn an_edited_log_is_found_out() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&response_rules(&upstream, "- {select: $.a, action: remove}"));
    for n in 0..5 {
        get(gateway.address, &format!("/{n}"));
    }
    until("the records are there", || gateway.records().len() == 5);
    assert!(verify(&gateway).0);
    let file = std::fs::read_dir(gateway.folder.path().join("data"))
        .expect("data")
        .flatten()
        .map(|e| e.path())
        .find(|p| p.extension().is_some_and(|e| e == "jsonl"))
        .expect("log");
    let text = std::fs::read_to_string(&file).expect("read");
    std::fs::write(&file, text.replace("\"/2\"", "\"/7\"")).expect("write");
    let (whole, text) = verify(&gateway);
    assert!(!whole && text.contains(":3"), "{text}");
}

#[test]
fn two_processes_never_share_a_data_folder() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&response_rules(&upstream, "- {select: $.a, action: remove}"));
    let output = Command::new(env!("CARGO_BIN_EXE_fieldgate"))
        .args(["run", "--listen", "127.0.0.1:0", "--admin", "off", "--rules"])
        .arg(gateway.folder.path().join("rules"))
        .arg("--data")
        .arg(gateway.folder.path().join("data"))
        .output()
        .expect("second");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.contains("data"), "{text}");
}

#[test]
fn values_are_recognised_before_texts_are_cut() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&no_rules(&upstream));
    let card = ["4111", "1111", "1111", "1111"].concat();
    let long = get(gateway.address, &format!("/x/{}/{card}", "a".repeat(1009)));
    let host = request(gateway.address, "GET", "/", &[("Host", "jo@example.com")], b"");
    let method = request(gateway.address, &card, "/", &[], b"");
    for reply in [long, host, method] {
        let text = gateway.record_of(&reply).to_string();
        assert!(!text.contains("41111") && !text.contains("jo@"), "{text}");
    }
}

#[test]
fn an_upload_that_is_answered_early_is_recorded_with_what_was_found() {
    let upstream = Upstream::early(Answer::json("{}"));
    let gateway = Gateway::start(&request_rules(&upstream, "- {select: '$[*].card', action: remove}"));
    let mut connection = Connection::open(gateway.address);
    let item = r#"{"card":"4111111111111111"},"#;
    let body = format!("[{}1]", item.repeat(8_000));
    let head = format!(
        "POST / HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    connection.send(head.as_bytes());
    connection.send(&body.as_bytes()[..150_000]);
    let reply = connection.read(false).expect("answer");
    assert_eq!(reply.status, 200);
    let record = gateway.record_of(&reply);
    assert!(record["bytes_in"].as_u64().expect("bytes") > 60_000, "{record}");
    assert!(record["findings"][0]["count"].as_u64().is_some_and(|n| n > 1_000), "{record}");
}
