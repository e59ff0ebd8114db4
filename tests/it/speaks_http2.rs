//! HTTP/2 is HTTP: judged, bounded and drained like HTTP/1.1.

use std::time::{Duration, Instant};

use bytes::Bytes;
use h2::client::Builder;
use http::Request;
use rustls::ClientConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::http2::{self, Client, frame, talk};
use crate::support::tls::Authority;
use crate::support::{Answer, Gateway, Upstream, no_rules, request_rules, response_rules, until};

struct Secured {
    gateway: Gateway,
    config: ClientConfig,
    _files: tempfile::TempDir,
}

fn secured(rules: &str, flags: &[&str]) -> Secured {
    let authority = Authority::new();
    let files = tempfile::tempdir().expect("folder");
    let (cert, key) = authority.issue("localhost").write_to(files.path());
    let (cert, key) = (cert.to_string_lossy(), key.to_string_lossy());
    let flags = [&["--tls-cert", &cert, "--tls-key", &key], flags].concat();
    Secured { gateway: Gateway::start_with(rules, &flags), config: authority.client(&["h2"]), _files: files }
}

impl Secured {
    async fn client(&self) -> Client {
        Client::open(&self.config, self.gateway.address).await
    }

    fn refused(&self, reason: &str) -> bool {
        let metrics = crate::support::get(self.gateway.admin, "/metrics").text();
        let line = format!("fieldgate_refused_total{{reason=\"{reason}\"}} ");
        metrics.lines().any(|l| l.strip_prefix(&line).is_some_and(|n| n != "0"))
    }
}

#[test]
fn requests_are_judged_and_recorded_like_any() {
    let upstream = Upstream::json(r#"{"email":"ada@example.com","n":1}"#);
    let secured = secured(&response_rules(&upstream, "- {select: $.email, action: remove}"), &[]);
    talk(async {
        let client = secured.client().await;
        let answers = futures_util::future::join_all((0..40).map(|n| {
            let path = format!("/items/{n}?q={n}");
            let client = &client;
            async move { client.get(&path).await.expect("answer") }
        }));
        for answer in answers.await {
            assert_eq!((answer.status, answer.text().as_str()), (200, r#"{"n":1}"#));
        }
        let request = Request::post("https://T.example/up")
            .header("cookie", "a=1")
            .header("cookie", "b=2")
            .header("te", "trailers")
            .header("x-forwarded-proto", "http")
            .body(())
            .expect("request");
        let answer = client.ask(request, Bytes::from_static(b"[1]")).await.expect("answer");
        assert_eq!(answer.status, 200);
        let seen = upstream.last();
        assert_eq!((seen.method(), seen.target(), seen.text().as_str()), ("POST", "/up", "[1]"));
        assert_eq!(seen.header("cookie"), Some("a=1; b=2"));
        assert_eq!(seen.header("x-forwarded-host"), Some("t.example"));
        assert_eq!(seen.header("x-forwarded-proto"), Some("https"));
        assert_eq!((seen.header("te"), seen.header("host").is_some()), (None, true));
        let id = answer.header("x-request-id").expect("id").to_owned();
        let record = || secured.gateway.records().into_iter().find(|r| r["id"] == id.as_str());
        until("it is recorded", || record().is_some());
        assert_eq!(record().expect("record")["protocol"], "https/2");
    });
}

#[test]
fn what_two_programs_read_differently_is_refused() {
    let upstream = Upstream::json("{}");
    let secured = secured(&no_rules(&upstream), &[]);
    talk(async {
        let client = secured.client().await;
        let status = async |request: http::request::Builder| {
            client.ask(request.body(()).expect("request"), Bytes::new()).await.map(|answer| answer.status).ok()
        };
        let get = |uri: &str| Request::get(uri);
        assert_eq!(status(get("https://t.example/").header("host", "t.example")).await, Some(200));
        assert_eq!(status(get("https://t.example/").header("host", "other.example")).await, Some(400));
        assert_eq!(status(get("http://t.example/")).await, Some(400));
        assert_eq!(status(get("https://t.example/public/%2e%2e/admin")).await, Some(400));
        assert_eq!(status(get("https://user@t.example/")).await, Some(400));
        assert_eq!(status(Request::builder().method("TRACE").uri("https://t.example/")).await, Some(405));
        let connect = Request::builder().method("CONNECT").uri("t.example:443");
        assert_eq!(status(connect).await, Some(405));
        assert_eq!(upstream.seen().len(), 1);
    });
    // What a library would not send: fields of one hop, and a body that is not as long as it says. The pseudo-fields stand in
    // the static table (RFC 7541 appendix A): GET, https, `/`, then `:authority: t`.
    let head = [0x82, 0x87, 0x84, 0x41, 1, b't'];
    let literal = |name: &str, value: &str| {
        [&[0, name.len() as u8], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
    };
    for (name, value) in [
        ("connection", "close"),
        ("transfer-encoding", "chunked"),
        ("upgrade", "h2c"),
        ("keep-alive", "5"),
        ("proxy-connection", "x"),
        ("te", "gzip"),
        ("X-Upper", "1"),
        ("content-length", "3"),
    ] {
        talk(async {
            let mut stream = http2::raw(&secured.config, secured.gateway.address).await;
            let block = [&head[..], &literal(name, value)].concat();
            // END_HEADERS and END_STREAM.
            stream.write_all(&frame(1, 5, 1, &block)).await.expect("headers");
            let kinds = kinds(&mut stream).await;
            assert!(kinds.iter().any(|kind| [3, 7].contains(kind)), "{name}: {kinds:?}");
        });
    }
    assert_eq!(upstream.seen().len(), 1);
}

/// The kinds of the frames that come, until one resets a stream, ends the connection, or begins an answer.
async fn kinds(stream: &mut (impl AsyncReadExt + Unpin)) -> Vec<u8> {
    let mut kinds = Vec::new();
    loop {
        let mut head = [0; 9];
        if stream.read_exact(&mut head).await.is_err() {
            kinds.push(7);
            return kinds;
        }
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        stream.read_exact(&mut payload).await.expect("payload");
        kinds.push(head[3]);
        if [1, 3, 7].contains(&head[3]) {
            return kinds;
        }
    }
}

#[test]
fn heads_are_as_bounded_as_in_http1() {
    let upstream = Upstream::json("{}");
    let secured = secured(&no_rules(&upstream), &["--header-size", "16KiB", "--max-headers", "20"]);
    talk(async {
        let client = secured.client().await;
        let many = (0..30).fold(Request::get("https://t/"), |request, n| request.header(format!("x-{n}"), "1"));
        let answer = client.ask(many.body(()).expect("request"), Bytes::new()).await.expect("answer");
        assert_eq!(answer.status, 431);
        let large = Request::get("https://t/").header("x-large", "x".repeat(15_000)).header("x-2", "x".repeat(15_000));
        let answer = client.ask(large.body(()).expect("request"), Bytes::new()).await;
        assert!(answer.as_ref().map_or(true, |answer| answer.status == 431), "{answer:?}");
        assert!(upstream.seen().is_empty());
    });
}

#[test]
fn more_streams_than_allowed_are_refused() {
    let upstream = Upstream::new(|_| Answer::Stream(Box::new(|_| std::thread::sleep(Duration::from_secs(1)))));
    let secured = secured(&no_rules(&upstream), &["--http2-streams", "3"]);
    talk(async {
        let mut stream = http2::raw(&secured.config, secured.gateway.address).await;
        let head = [0x82, 0x87, 0x84, 0x41, 1, b't'];
        let requests: Vec<u8> = (0..10).flat_map(|n| frame(1, 5, 2 * n + 1, &head)).collect();
        stream.write_all(&requests).await.expect("headers");
        let kinds = kinds(&mut stream).await;
        assert_eq!(kinds.last(), Some(&3), "the fourth is refused before any is answered: {kinds:?}");
    });
    assert!(upstream.connections() <= 3);
}

#[test]
fn a_client_that_resets_what_it_asks_for_is_cut() {
    let upstream = Upstream::new(|_| {
        std::thread::sleep(Duration::from_millis(200));
        Answer::json("{}")
    });
    let secured = secured(&no_rules(&upstream), &[]);
    talk(async {
        let mut stream = http2::raw(&secured.config, secured.gateway.address).await;
        let head = [0x82, 0x87, 0x84, 0x41, 1, b't'];
        let (mut asked, cancel) = (0_u32, 8_u32.to_be_bytes());
        // One by one, so that each is seen before it is taken back; and all at once.
        let ended = loop {
            let id = 2 * asked + 1;
            let rapid = [frame(1, 5, id, &head), frame(3, 0, id, &cancel)].concat();
            if asked == 5_000 || stream.write_all(&rapid).await.is_err() || stream.flush().await.is_err() {
                break asked;
            }
            asked += 1;
            let mut some = [0; 4096];
            // Until the other end closes.
            if let Ok(Ok(0) | Err(_)) = tokio::time::timeout(Duration::from_millis(1), stream.read(&mut some)).await {
                break asked;
            }
        };
        assert!(ended < 1_000, "{ended} streams were opened and reset");
    });
    talk(async {
        let client = secured.client().await;
        assert_eq!(client.get("/").await.expect("answer").status, 200, "others are served");
    });
}

#[test]
fn floods_of_frames_end_the_connection() {
    let upstream = Upstream::json("{}");
    let secured = secured(&no_rules(&upstream), &[]);
    let head = [0x82, 0x87, 0x84, 0x41, 1, b't'];
    let post = [0x83, 0x87, 0x84, 0x41, 1, b't'];
    let field = [&[0x40, 4][..], b"aaaa", &[4], b"bbbb"].concat();
    let floods: [(&str, Vec<u8>, Vec<u8>); 3] = [
        // A header block that never ends.
        ("continuation", frame(1, 1, 1, &head), frame(9, 0, 1, &field.repeat(100))),
        ("empty continuation", frame(1, 1, 1, &head), frame(9, 0, 1, b"")),
        // A body of nothing that never ends.
        ("empty data", frame(1, 4, 1, &post), frame(0, 0, 1, b"")),
    ];
    let before = resident(&secured.gateway);
    for (name, begin, again) in floods {
        talk(async {
            let mut stream = http2::raw(&secured.config, secured.gateway.address).await;
            stream.write_all(&begin).await.expect("begin");
            let many = again.repeat(100);
            let mut ended = false;
            for _ in 0..2_000 {
                if stream.write_all(&many).await.is_err() {
                    ended = true;
                    break;
                }
            }
            ended = ended || kinds(&mut stream).await.iter().any(|kind| [3, 7].contains(kind));
            assert!(ended, "{name} went on for ever");
        });
    }
    assert!(resident(&secured.gateway) < before + (32 << 20), "memory grew");
    until("they are counted", || secured.refused("malformed"));
}

#[test]
fn answers_that_nobody_reads_are_not_kept() {
    let secured = secured(&no_rules(&Upstream::json("{}")), &[]);
    let before = resident(&secured.gateway);
    for kind in [frame(6, 0, 0, b"12345678"), frame(4, 0, 0, b"")] {
        talk(async {
            let mut stream = http2::raw(&secured.config, secured.gateway.address).await;
            let many = kind.repeat(1_000);
            let flood = async { while stream.write_all(&many).await.is_ok() {} };
            // Ended by the other side, or held up by it: who does not read is not read.
            drop(tokio::time::timeout(Duration::from_secs(2), flood).await);
        });
    }
    assert!(resident(&secured.gateway) < before + (32 << 20), "memory grew");
}

#[test]
fn ten_thousand_streams_cost_no_more_than_a_hundred() {
    let upstream = Upstream::new(|_| Answer::Stream(Box::new(|_| std::thread::sleep(Duration::from_secs(3)))));
    let secured = secured(&no_rules(&upstream), &["--write-timeout", "1s"]);
    let before = resident(&secured.gateway);
    talk(async {
        let mut stream = http2::raw(&secured.config, secured.gateway.address).await;
        let head = [0x82, 0x87, 0x84, 0x41, 1, b't'];
        for n in 0..10_000 {
            if stream.write_all(&frame(1, 5, 2 * n + 1, &head)).await.is_err() {
                break;
            }
        }
        assert!(kinds(&mut stream).await.iter().any(|kind| [3, 7].contains(kind)));
    });
    assert!(upstream.connections() <= 100, "{}", upstream.connections());
    assert!(resident(&secured.gateway) < before + (32 << 20), "memory grew");
}

/// Resident memory of the process, in bytes.
fn resident(gateway: &Gateway) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", gateway.pid())).expect("status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("VmRSS");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("number") << 10
}

/// Whether a connection ended without an error of HTTP/2. That the other side is gone when we say goodbye is none.
fn ended_politely(ended: Result<Result<(), h2::Error>, tokio::task::JoinError>) -> bool {
    ended.expect("task").err().is_none_or(|error| error.is_io() || error.reason() == Some(h2::Reason::NO_ERROR))
}

#[test]
fn idle_and_half_open_connections_are_closed() {
    let upstream = Upstream::json("{}");
    let secured = secured(&no_rules(&upstream), &["--header-timeout", "500ms"]);
    talk(async {
        let began = Instant::now();
        let client = secured.client().await;
        assert_eq!(client.get("/").await.expect("answer").status, 200);
        let Client { send, ended } = client;
        assert!(ended_politely(ended.await));
        drop(send);
        // Neither an answer to a goodbye nor the end of a head can be waited for.
        let head = [0x82, 0x87, 0x84];
        for begin in [Vec::new(), frame(1, 1, 1, &head)] {
            let mut silent = http2::raw(&secured.config, secured.gateway.address).await;
            silent.write_all(&begin).await.expect("write");
            let mut rest = Vec::new();
            drop(silent.read_to_end(&mut rest).await);
        }
        assert!(began.elapsed() < Duration::from_secs(12), "{:?}", began.elapsed());
    });
}

#[test]
fn a_stream_that_nobody_reads_is_reset_and_the_others_go_on() {
    let body = "x".repeat(1 << 20);
    let upstream =
        Upstream::new(
            move |seen| {
                if seen.target() == "/large" { Answer::typed("text/plain", &body) } else { Answer::json("{}") }
            },
        );
    let secured = secured(&no_rules(&upstream), &["--write-timeout", "1s"]);
    talk(async {
        // Room on the connection, none on the stream.
        let mut window = Builder::new();
        window.initial_connection_window_size(8 << 20);
        let client = Client::open_with(&secured.config, secured.gateway.address, &window).await;
        let mut send = client.send.clone().ready().await.expect("ready");
        let (answer, _) = send.send_request(http2::get("/large"), true).expect("request");
        let mut stalled = answer.await.expect("head").into_body();
        let began = Instant::now();
        let error = loop {
            match stalled.data().await.expect("an end that is none") {
                // Taken, but no window is given back.
                Ok(_) => {}
                Err(error) => break error,
            }
            assert_eq!(client.get("/small").await.expect("answer").status, 200);
        };
        assert!(error.is_reset(), "{error}");
        assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
        assert_eq!(client.get("/small").await.expect("answer").status, 200);
    });
    let record = || secured.gateway.records().into_iter().find(|r| r["path"] == "/large");
    until("it is recorded", || record().is_some());
    assert_eq!(record().expect("record")["outcome"], "client_aborted");
}

#[test]
fn a_slow_body_is_refused_at_the_deadline() {
    let upstream = Upstream::json("{}");
    let rules = request_rules(&upstream, "- {select: $.a, action: remove}");
    let secured = secured(&rules, &["--body-timeout", "500ms"]);
    talk(async {
        let client = secured.client().await;
        let mut send = client.send.clone().ready().await.expect("ready");
        let request = Request::post("https://t/").header("content-type", "application/json").body(()).expect("request");
        let (answer, mut stream) = send.send_request(request, false).expect("request");
        stream.send_data(Bytes::from_static(b"{\"a\":"), false).expect("data");
        assert_eq!(answer.await.expect("answer").status(), 408);
    });
    assert!(upstream.seen().is_empty());
}

#[test]
fn large_bodies_flow_both_ways() {
    let upstream = Upstream::new(|seen| Answer::typed("application/octet-stream", &seen.body));
    let secured = secured(&no_rules(&upstream), &[]);
    talk(async {
        let mut window = Builder::new();
        window.initial_window_size(1 << 20).initial_connection_window_size(1 << 20);
        let client = Client::open_with(&secured.config, secured.gateway.address, &window).await;
        let body: Bytes = (0..5_000_000_u32).map(|n| (n % 251) as u8).collect();
        let request = Request::post("https://t/").body(()).expect("request");
        let answer = client.ask(request, body.clone()).await.expect("answer");
        assert_eq!(answer.status, 200);
        assert!(answer.body == body, "{} bytes came back", answer.body.len());
    });
}

#[test]
fn answers_without_a_body_have_none() {
    let upstream = Upstream::new(|seen| match seen.target() {
        "/204" => Answer::Keep(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()),
        "/304" => Answer::Keep(b"HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n".to_vec()),
        "/empty" => Answer::Keep(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec()),
        _ if seen.method() == "HEAD" => Answer::Keep(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n".to_vec()),
        _ => Answer::json("{}"),
    });
    let secured = secured(&no_rules(&upstream), &[]);
    talk(async {
        let client = secured.client().await;
        for (path, status) in [("/204", 204), ("/304", 304), ("/empty", 200)] {
            let answer = client.get(path).await.expect("answer");
            assert_eq!((answer.status, answer.body.len()), (status, 0), "{path}");
        }
        let head = Request::head("https://t.example/").body(()).expect("request");
        let answer = client.ask(head, Bytes::new()).await.expect("answer");
        assert_eq!((answer.status, answer.header("content-length"), answer.body.len()), (200, Some("12"), 0));
    });
}

#[test]
fn a_hung_stream_is_cut_at_the_drain_deadline_and_recorded() {
    let upstream = Upstream::new(|_| Answer::Stream(Box::new(|_| std::thread::sleep(Duration::from_secs(30)))));
    let rules = no_rules(&upstream).replace("response: 2s", "response: 30s");
    let mut secured = secured(&rules, &["--drain", "500ms"]);
    talk(async {
        let client = secured.client().await;
        let stopped = async {
            http2::until("the upstream was asked", || !upstream.seen().is_empty()).await;
            secured.gateway.signal("TERM");
        };
        let (answer, ()) = tokio::join!(client.get("/"), stopped);
        assert!(answer.is_err(), "{answer:?}");
    });
    assert!(secured.gateway.wait().success());
    assert_eq!(secured.gateway.records()[0]["outcome"], "cut_by_shutdown");
}

#[test]
fn a_stop_lets_streams_end_and_takes_no_new_ones() {
    let upstream = Upstream::new(|_| {
        std::thread::sleep(Duration::from_millis(600));
        Answer::json("[1]")
    });
    let mut secured = secured(&no_rules(&upstream), &[]);
    talk(async {
        let client = secured.client().await;
        let stopped = async {
            http2::until("the upstream was asked", || upstream.connections() == 1).await;
            secured.gateway.signal("TERM");
        };
        let (answer, ()) = tokio::join!(client.get("/slow"), stopped);
        let answer = answer.expect("what was under way ends well");
        assert_eq!((answer.status, answer.text().as_str()), (200, "[1]"));
        let Client { send, ended } = client;
        assert!(ended_politely(ended.await));
        drop(send);
    });
    let began = Instant::now();
    assert!(secured.gateway.wait().success());
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert_eq!(secured.gateway.records().len(), 1);
}
