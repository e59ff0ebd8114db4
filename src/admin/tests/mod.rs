mod fixture;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use tokio::time::timeout;

use super::*;
use crate::rules::status::StatusHandle;
use crate::sensitive::Sensitive;
use crate::stats::{Circuit, Window};
use fixture::{Answer, Records, ask, busy, empty, full, get, record, request, send, status, traffic};

const PAGES: [&str; 8] = [
    "/",
    "/?window=15m",
    "/?window=24h",
    "/?window=nonsense",
    "/audit",
    "/audit?status=5xx&before=90",
    "/rules",
    "/system",
];

/// Every element that is opened is closed, in order; ids are unique.
fn assert_well_formed(path: &str, html: &str) {
    const VOID: [&str; 5] = ["meta", "link", "input", "img", "!doctype"];
    let (mut open, mut ids) = (Vec::new(), Vec::new());
    for piece in html.split('<').skip(1).filter(|piece| !piece.starts_with("!--")) {
        let tag = piece.split('>').next().unwrap();
        let name = tag.split([' ', '\n', '/']).find(|part| !part.is_empty()).unwrap();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "{path}: closing tags match");
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
        }
        if let Some(id) = tag.split(" id=\"").nth(1).and_then(|rest| rest.split('"').next()) {
            assert!(!ids.contains(&id), "{path}: id {id} is used twice");
            ids.push(id);
        }
    }
    assert!(open.is_empty(), "{path}: {open:?} stay open");
}

#[tokio::test]
async fn every_page_works_empty_and_full() {
    for state in [empty(), full()] {
        let router = router(state);
        for path in PAGES {
            let page = get(&router, path).await;
            assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"), "{path}");
            assert_well_formed(path, &page.body);
            for banned in ["<style", " style=", " onclick", "javascript:", "http-equiv"] {
                assert!(!page.body.contains(banned), "{path}: the policy forbids {banned}");
            }
            assert_eq!(page.body.matches("<script").count(), 1, "{path}");
        }
    }
}

#[tokio::test]
async fn the_overview_tells_the_truth() {
    let cold = get(&router(empty()), "/").await.body;
    assert!(
        cold.contains("No request has come through yet") && cold.contains("curl -i http://127.0.0.1:8080/customers/1")
    );
    assert!(cold.contains("Generation 1 is live since"), "{cold}");
    let busy = get(&router(full()), "/?window=1h").await.body;
    for words in [
        "▲ Attention",
        "Generation 12 is live since",
        "1 rule file rejected, so it stays",
        "5 routes to 2 upstreams",
        "since the start, 2 min ago",
        "customers",
        "credit_card",
        "Most often: ",
        "Requests per connection, ever",
    ] {
        assert!(busy.contains(words), "{words}");
    }
    let state = AdminState { rules: StatusHandle::new(status(0)), ..empty() };
    assert!(get(&router(state), "/").await.body.contains("No rules are loaded"));
}

#[tokio::test]
async fn targets_that_are_not_in_use_are_told_first() {
    let state = empty();
    let (well, ill, open) = (
        state.stats.target("crm", "http://a"),
        state.stats.target("crm", "http://<b>"),
        state.stats.target("crm", "http://c"),
    );
    well.begin();
    ill.set_unhealthy(true);
    open.set_circuit(Circuit::Open);
    open.failed();
    let router = router(state);
    let page = get(&router, "/").await.body;
    assert!(page.contains("▲ Attention") && page.contains("2 of 3 targets not in use"), "{page}");
    assert!(page.contains("✕ unhealthy") && page.contains("✕ circuit open") && page.contains("✓ in use"));
    assert!(page.find("http://c") < page.find("http://a"), "those that are not well come first");
    assert!(!page.contains("<b>"), "names are escaped");
    let metrics = get(&router, "/metrics").await.body;
    for row in [
        "fieldgate_target_up{upstream=\"crm\",target=\"http://<b>\"} 0",
        "fieldgate_target_circuit{upstream=\"crm\",target=\"http://c\"} 2",
        "fieldgate_target_in_flight{upstream=\"crm\",target=\"http://a\"} 1",
        "fieldgate_target_failures_total{upstream=\"crm\",target=\"http://c\"} 1",
    ] {
        assert!(metrics.contains(row), "{row} is not in {metrics}");
    }
}

#[tokio::test]
async fn records_are_filtered_and_paged() {
    let router = router(full());
    let numbers = |page: &Answer| -> Vec<u64> {
        let cells = page.body.split("<td class=\"n dim\">").skip(1);
        cells.map(|cell| cell.split('<').next().unwrap().parse().unwrap()).collect()
    };
    let first = get(&router, "/audit").await;
    assert_eq!(numbers(&first), (151..=200).rev().collect::<Vec<_>>());
    assert!(first.body.contains("href=\"/audit?before=151\""), "keyset paging");
    assert_eq!(numbers(&get(&router, "/audit?before=151").await)[0], 150);
    let last = get(&router, "/audit?before=31").await;
    assert_eq!(numbers(&last), (1..=30).rev().collect::<Vec<_>>());
    assert!(!last.body.contains("Older →"));
    let mut seen = 0;
    for (query, wanted) in [
        ("status=422", "422"),
        ("status=5xx", "502"),
        ("verdict=block", "422"),
        ("outcome=blocked&method=post", "422"),
        ("entity=credit_card&verdict=block", "422"),
        ("route=(none)", "404"),
    ] {
        let page = get(&router, &format!("/audit?{query}")).await;
        let statuses: Vec<_> = page.body.split("<b>").skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
        assert!(!statuses.is_empty() && statuses.iter().all(|status| *status == wanted), "{query}: {statuses:?}");
        seen += statuses.len();
    }
    assert!(seen > 20);
    let one = get(&router, "/audit?id=0192f0c4-7e1b-7c3a-9d2e-000000000007").await;
    assert_eq!(numbers(&one), [7]);
    assert!(get(&router, "/audit?entity=nothing").await.body.contains("No record matches"));
    assert!(get(&router, "/audit?status=9xx").await.body.contains("A status is a code"));
}

#[tokio::test]
async fn a_record_shows_all_but_values() {
    let router = router(full());
    let edited = (1..=200).map(record).find(|one| one.record.findings.len() == 4).unwrap();
    let before = record(edited.seq - 1);
    let page = get(&router, &format!("/audit/{}", edited.record.id)).await;
    assert_eq!(page.status, 200);
    for words in [
        "$.card.number",
        "card-data / pan",
        "shadow: would redact",
        "Upstream",
        &edited.hash,
        &before.hash,
        "10.0.3.17",
    ] {
        assert!(page.body.contains(words), "{words}");
    }
    assert_well_formed("record", &page.body);
    for path in ["/audit/none", "/audit/%3Cscript%3E", "/nowhere"] {
        let missing = get(&router, path).await;
        assert_eq!(missing.status, 404, "{path}");
        assert!(!missing.body.contains("<script>"), "{path}");
    }
    assert!(get(&router, &format!("/audit/{}", "a".repeat(5_000))).await.status == 404);
}

#[tokio::test]
async fn rejected_rules_are_shown_with_their_place() {
    let page = get(&router(full()), "/rules").await.body;
    for words in [
        "partners.yaml:14:9",
        "unknown action `maks`",
        "        ^</b>",
        "did you mean `mask`?",
        "customers.yaml",
        "2.1 KiB",
    ] {
        assert!(page.contains(words), "{words} is missing in {page}");
    }
}

#[tokio::test]
async fn strangers_text_stays_text() {
    let nasty = "/<script>alert(1)</script>\"'>\u{202e}gpj\u{0}\u{1b}[31m&amp;";
    let mut one = record(1);
    one.record.path = nasty.into();
    one.record.host = "\"><img src=x onerror=alert(1)>".into();
    one.record.method = "<b>".into();
    one.record.client = "<i>".into();
    one.record.route = nasty.into();
    one.record.outcome = nasty.into();
    one.record.verdict = "<v>".into();
    let mut long = record(4);
    long.record.path = format!("/{}", "x".repeat(100_000)).into();
    for finding in &mut one.record.findings {
        finding.place = nasty.into();
    }
    let audit = Arc::new(Records { all: vec![one.clone(), long], health: AuditHealth::default() });
    let router = router(AdminState { audit, ..empty() });
    let query = "/audit?route=%22%3E%3Cscript%3Ealert(1)%3C/script%3E";
    for path in ["/audit", query, &format!("/audit/{}", one.record.id)] {
        let page = get(&router, path).await;
        assert_eq!(page.status, 200, "{path}");
        for banned in ["<script>", "<img src=x", "<b>/", "<i>", "<v>", "\u{202e}", "\u{0}", "\u{1b}"] {
            assert!(!page.body.contains(banned), "{path}: {banned:?}");
        }
        assert!(page.body.len() < 40_000, "{path}: capped");
        assert_well_formed(path, &page.body);
    }
    assert!(get(&router, "/audit").await.body.contains("\\u{202e}gpj\\u{0}"));
}

#[tokio::test]
async fn every_answer_carries_the_headers() {
    let router = router(AdminState { token: Some(Sensitive::new("secret".into())), ..empty() });
    let foreign = Request::builder().uri("/").header("host", "evil.example").body(Body::empty()).unwrap();
    let answers = [get(&router, "/").await, get(&router, "/healthz").await, ask(&router, foreign).await];
    for answer in answers {
        assert_eq!(
            answer.header("content-security-policy"),
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
             form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        );
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), value, "{name}");
        }
    }
}

#[tokio::test]
async fn other_names_are_refused_on_every_path() {
    let state = AdminState { hosts: Hosts::new("127.0.0.1:9090".parse().unwrap(), ["gate.example".into()]), ..empty() };
    let router = router(state);
    for path in
        ["/", "/audit", "/healthz", "/readyz", "/metrics", "/live?page=rules", "/login", "/nowhere", "/static/a/b"]
    {
        for host in [Some("evil.example:9090"), Some("localhost.evil"), None] {
            let mut request = Request::builder().uri(path);
            if let Some(host) = host {
                request = request.header("host", host);
            }
            assert_eq!(ask(&router, request.body(Body::empty()).unwrap()).await.status, 421, "{path} {host:?}");
        }
    }
    for host in ["gate.example:1", "GATE.example", "[::1]:9090", "127.0.0.1", "localhost"] {
        let request = Request::builder().uri("/healthz").header("host", host).body(Body::empty()).unwrap();
        assert_eq!(ask(&router, request).await.status, 200, "{host}");
    }
    let twice = request("/").header("host", "evil.example").body(Body::empty()).unwrap();
    assert_eq!(ask(&router, twice).await.status, 421);
}

#[tokio::test]
async fn the_token_opens_what_it_should() {
    let token = ["dash", "board", "-", "token"].concat();
    let router = router(AdminState { token: Some(Sensitive::new(token.clone())), ..empty() });
    let with = |path: &str, name: &str, value: &str| request(path).header(name, value).body(Body::empty()).unwrap();
    for path in ["/", "/audit", "/rules", "/system", "/metrics", "/live?page=rules", "/nowhere"] {
        assert_eq!(get(&router, path).await.status, 401, "{path}");
        assert_eq!(ask(&router, with(path, "authorization", "Bearer wrong")).await.status, 401, "{path}");
        assert_ne!(
            send(&router, with(path, "authorization", &format!("Bearer {token}"))).await.status(),
            401,
            "{path}"
        );
    }
    for path in ["/healthz", "/readyz", "/login"] {
        assert_eq!(get(&router, path).await.status, 200, "{path}");
    }
    let form = get(&router, "/audit?route=a").await.body;
    assert!(form.contains("<form") && form.contains("value=\"/audit?route=a\"") && !form.contains(&token));

    let post = |path: &str, body: String| {
        let kind = "application/x-www-form-urlencoded";
        request(path).method("POST").header("content-type", kind).body(Body::from(body)).unwrap()
    };
    assert_eq!(ask(&router, post("/login", "token=wrong".into())).await.status, 401);
    let signed = ask(&router, post("/login", format!("token={token}&target=%2Faudit"))).await;
    assert_eq!((signed.status, signed.header("location")), (303, "/audit"));
    let cookie = signed.header("set-cookie");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains(&token), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(ask(&router, with("/", "cookie", &format!("a=b; {pair}"))).await.status, 200);
    assert_eq!(ask(&router, with("/", "cookie", &format!("{pair}0"))).await.status, 401);
    let away = ask(&router, post("/login", format!("token={token}&target=%2F%2Fevil.example"))).await;
    assert_eq!(away.header("location"), "/");
    let out = ask(&router, post("/logout", String::new())).await;
    assert!(out.header("set-cookie").contains("Max-Age=0"));
}

#[tokio::test]
async fn posts_from_elsewhere_are_refused() {
    let router = router(empty());
    for (name, value) in [("sec-fetch-site", "cross-site"), ("origin", "http://evil.example")] {
        let post = request("/logout").method("POST").header(name, value).body(Body::empty()).unwrap();
        assert_eq!(ask(&router, post).await.status, 403, "{name}");
    }
    for path in PAGES {
        let post = request(path).method("POST").body(Body::empty()).unwrap();
        assert_eq!(ask(&router, post).await.status, 405, "{path}: pages are read-only");
    }
}

#[tokio::test]
async fn readiness_says_why_not() {
    let ready = |state: AdminState| async move {
        let answer = get(&router(state), "/readyz").await;
        (answer.status, answer.body)
    };
    assert_eq!(ready(empty()).await, (200, "ready\n".into()));
    let state = AdminState { rules: StatusHandle::new(status(0)), ..empty() };
    assert_eq!(ready(state).await, (503, "no rules are loaded\n".into()));
    let state = empty();
    state.lifecycle.drain();
    assert_eq!(ready(state.clone()).await, (503, "shutting down\n".into()));
    assert_eq!(get(&router(state), "/healthz").await.status, 200);
    let health = AuditHealth { failing: Some("disk full".into()), ..AuditHealth::default() };
    let state = AdminState { audit: Arc::new(Records { all: vec![], health }), ..empty() };
    assert_eq!(ready(state).await, (503, "the audit log cannot be written: disk full\n".into()));
}

#[tokio::test]
async fn metrics_can_be_read() {
    let answer = get(&router(full()), "/metrics").await;
    assert_eq!(answer.header("content-type"), crate::stats::metrics::CONTENT_TYPE);
    assert!(answer.body.ends_with("# EOF\n"));
    let mut types = std::collections::HashMap::new();
    for line in answer.body.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(types.insert(name, kind).is_none(), "{name} is described twice");
        } else if !line.starts_with('#') {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert!(value.parse::<f64>().unwrap() >= 0.0, "{line}");
            let name = name.split('{').next().unwrap();
            let known = types.keys().any(|known| name.starts_with(known));
            assert!(known, "{name} has a type");
        }
    }
    for line in [
        "fieldgate_rules_generation 12",
        "fieldgate_rules_rejected 1",
        "fieldgate_audit_last_seq 200",
        "fieldgate_ready 1",
    ] {
        assert!(answer.body.lines().any(|found| found == line), "{line}");
    }
}

#[tokio::test]
async fn static_files_are_kept_by_content() {
    let router = router(empty());
    let page = get(&router, "/").await.body;
    for (name, kind) in [
        ("fieldgate.css", "text/css; charset=utf-8"),
        ("live.js", "text/javascript; charset=utf-8"),
        ("icon.svg", "image/svg+xml"),
    ] {
        let url = page.split('"').find(|part| part.ends_with(name)).unwrap();
        let file = get(&router, url).await;
        assert_eq!((file.status, file.header("content-type")), (200, kind), "{url}");
        assert_eq!(file.header("cache-control"), "public, max-age=31536000, immutable");
        assert_eq!(get(&router, &format!("/static/000000000000/{name}")).await.status, 404);
    }
    let script = include_str!("../../../static/live.js");
    assert!(script.lines().count() < 250 && !script.contains("eval("));
}

/// The next piece of a stream, within a deadline; `None` at its end.
async fn next(body: &mut Body) -> Option<String> {
    let frame = timeout(Duration::from_secs(10), body.frame()).await.expect("a piece in time")?;
    Some(String::from_utf8(frame.unwrap().into_data().unwrap().to_vec()).unwrap())
}

#[tokio::test]
async fn live_pages_get_what_changed_and_end_on_shutdown() {
    let state = empty();
    let router = router(state.clone());
    let open = |path: &'static str| {
        let router = router.clone();
        async move { send(&router, request(path).body(Body::empty()).unwrap()).await }
    };
    let response = open("/live?page=overview&window=1m").await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let (mut first, mut second) = (response.into_body(), open("/live?page=overview&window=1m").await.into_body());
    // The feed listens for ticks from its first run on.
    tokio::task::yield_now().await;
    traffic(&state.stats, 1);
    state.stats.tick();
    let piece = next(&mut first).await.unwrap();
    assert!(piece.starts_with("event: tick\n") && piece.contains("<section id=\"tiles\""), "{piece}");
    assert!(piece.contains("<section id=\"truth\""));
    assert_eq!(next(&mut second).await.unwrap(), piece, "computed once");
    state.stats.tick();
    let piece = next(&mut first).await.unwrap();
    assert!(piece.contains("id=\"tiles\"") && !piece.contains("id=\"truth\""), "only what changed: {piece}");
    state.lifecycle.drain();
    assert_eq!(next(&mut first).await, None);
    assert_eq!(open("/live?page=rules").await.status(), 503);
    assert_eq!(open("/live?page=nothing").await.status(), 400);
    assert_eq!(open("/live?page=overview&window=2d").await.status(), 400);
}

#[tokio::test]
async fn live_streams_are_bounded() {
    let router = router(empty());
    let mut open = Vec::new();
    for _ in 0..64 {
        open.push(send(&router, request("/live?page=rules").body(Body::empty()).unwrap()).await);
    }
    assert!(open.iter().all(|response| response.status() == 200));
    assert_eq!(get(&router, "/live?page=audit").await.status, 503);
    open.pop();
    assert_eq!(send(&router, request("/live?page=audit").body(Body::empty()).unwrap()).await.status(), 200);
}

#[tokio::test]
#[ignore = "a measurement: run it with --release"]
async fn the_overview_is_quick() {
    let router = router(AdminState { stats: busy(3_725), ..full() });
    for window in Window::ALL {
        let begun = Instant::now();
        let size = get(&router, &format!("/?window={}", window.name())).await.body.len();
        println!("{}: {:?}, {size} bytes", window.name(), begun.elapsed());
    }
}

/// `FIELDGATE_LOOK=127.0.0.1:9090 cargo test --lib look -- --ignored` serves invented traffic for half an hour.
#[tokio::test]
#[ignore = "serves a dashboard to look at"]
async fn look_at_it() {
    let address: std::net::SocketAddr = std::env::var("FIELDGATE_LOOK").unwrap().parse().unwrap();
    let state = if std::env::var_os("FIELDGATE_LOOK_EMPTY").is_some() {
        empty()
    } else {
        AdminState { stats: busy(1_000), ..full() }
    };
    let stats = state.stats.clone();
    let _busy = [stats.worker(0).begin(None), stats.worker(1).begin(None)];
    let is_idle = stats.snapshot(Window::Day).requests_ever == 0;
    tokio::spawn(async move {
        let mut seconds = tokio::time::interval(Duration::from_secs(1));
        for second in 4_000.. {
            seconds.tick().await;
            if !is_idle {
                traffic(&stats, second);
            }
            stats.tick();
        }
    });
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    timeout(Duration::from_secs(1_800), axum::serve(listener, router(state)).into_future()).await.ok();
}
