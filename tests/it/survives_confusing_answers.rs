//! Whatever an upstream answers, the client gets one well-framed answer or none, and the next exchange its own.

use std::sync::Arc;

use crate::support::{Answer, Gateway, Upstream, client::Connection, get, no_rules, request, response_rules};

#[test]
fn answers_without_a_body_hang_nobody() {
    let upstream = Upstream::new(|seen| {
        Answer::Keep(match seen.target() {
            "/204" => b"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n".to_vec(),
            "/304" => b"HTTP/1.1 304 Not Modified\r\nContent-Length: 50\r\nETag: \"x\"\r\n\r\n".to_vec(),
            _ => b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n".to_vec(),
        })
    });
    for rules in [no_rules(&upstream), response_rules(&upstream, "- {select: $.ssn, action: remove}")] {
        let gateway = Gateway::start(&rules);
        let mut connection = Connection::open(gateway.address);
        for (method, path, status) in
            [("GET", "/204", 204), ("GET", "/304", 304), ("HEAD", "/", 200), ("GET", "/204", 204)]
        {
            connection.send(format!("{method} {path} HTTP/1.1\r\nHost: t\r\n\r\n").as_bytes());
            let reply = connection.read(true).expect("answer");
            assert_eq!(reply.status, status);
            assert!(status != 204 || reply.header("content-length").is_none());
        }
    }
}

/// Each answer, on a path that is inspected, ends in one of these statuses, and the next exchange gets its own answer.
#[test]
fn confusing_answers() {
    let answers: [(&str, &[u16]); 9] = [
        ("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nevil", &[502]),
        ("HTTP/1.1 206 Partial Content\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\nevil", &[502]),
        (
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\nevil",
            &[502],
        ),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 4\r\n\r\nevil", &[502]),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n4\r\nevil\r\n0\r\n\r\n", &[502]),
        (
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
            &[200, 502],
        ),
        (
            "HTTP/1.1 103 Early Hints\r\nLink: </evil>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
            &[200],
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nSet-Cookie: evil\r\n\r\n",
            &[200],
        ),
        ("HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nevil", &[204]),
    ];
    let upstream = Upstream::new(move |seen| match seen.target().strip_prefix("/confusing/") {
        Some(n) => Answer::Keep(answers[n.parse::<usize>().expect("number")].0.as_bytes().to_vec()),
        None => Answer::json("[1]"),
    });
    let gateway = Gateway::start(&response_rules(&upstream, "- {select: $.ssn, action: remove}"));
    for (n, (answer, statuses)) in answers.iter().enumerate() {
        let reply = get(gateway.address, &format!("/confusing/{n}"));
        assert!(statuses.contains(&reply.status), "{answer:?}: {reply:?}");
        assert!(!format!("{reply:?}{}", reply.text()).contains("evil"), "{answer:?}: {reply:?}");
        assert_eq!(get(gateway.address, "/next").text(), "[1]", "{answer:?}");
    }
}

#[test]
fn the_way_to_an_upstream_is_the_rules_way() {
    let trap = Upstream::json("\"evil\"");
    let place = format!("http://{}/", trap.address);
    let upstream = Upstream::new(move |_| {
        Answer::Keep(
            format!("HTTP/1.1 302 Found\r\nLocation: {place}\r\nAlt-Svc: h2=\":1\"\r\nContent-Length: 0\r\n\r\n")
                .into_bytes(),
        )
    });
    let folder = Arc::new(tempfile::tempdir().expect("folder"));
    std::fs::create_dir(folder.path().join("rules")).expect("folder");
    std::fs::write(folder.path().join("rules/main.yaml"), no_rules(&upstream)).expect("rules");
    let proxy = format!("http://{}", trap.address);
    let names = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    let gateway = Gateway::start_among(folder, &[], &names.map(|name| (name, proxy.as_str())));
    let reply = get(gateway.address, "/a");
    assert_eq!((reply.status, reply.header("alt-svc")), (302, None));
    assert!(trap.seen().is_empty(), "neither a redirect nor a proxy of the environment is followed");
}

#[test]
fn slices_and_conditions_are_for_the_gateway_to_answer() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&response_rules(&upstream, "- {select: $.ssn, action: remove}"));
    let fields = [("Range", "bytes=0-1"), ("If-Range", "\"a\""), ("If-None-Match", "\"a\""), ("If-Match", "\"a\"")];
    let arrived = |method: &str, body: &[u8]| {
        request(gateway.address, method, "/a", &fields, body);
        let seen = upstream.last();
        fields.map(|(name, _)| seen.header(&name.to_ascii_lowercase()).is_some())
    };
    assert_eq!(arrived("GET", b""), [false; 4]);
    assert_eq!(arrived("PUT", b"{}"), [false, false, true, true], "a write stays conditional");
}
