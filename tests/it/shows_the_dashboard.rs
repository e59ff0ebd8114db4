//! What the operator sees: figures, records, rules; live; and nothing that was protected.

use std::path::Path;
use std::process::Command;

use crate::support::{Gateway, Upstream, get, no_rules, request, response_rules, until};

#[test]
fn a_request_is_on_the_dashboard_a_second_later() {
    let upstream = Upstream::json(r#"{"card":"4111111111111111"}"#);
    let gateway = Gateway::start(&response_rules(&upstream, "- {id: pan, detect: [credit_card], action: redact}"));
    let reply = get(gateway.address, "/cards/7");
    let id = reply.header("x-request-id").expect("id").to_owned();
    until("the audit page has it", || get(gateway.admin, "/audit").text().contains(&id));
    let detail = get(gateway.admin, &format!("/audit/{id}"));
    assert_eq!(detail.status, 200);
    let text = detail.text();
    for wanted in ["$.card", "credit_card", "pan", "redact"] {
        assert!(text.contains(wanted), "{wanted}");
    }
    assert!(!text.contains("4111"));
    until("the overview counts it", || get(gateway.admin, "/").text().contains("credit_card"));
    for (filter, found) in [
        ("entity=credit_card", true),
        ("entity=email", false),
        ("status=2xx", true),
        ("status=404", false),
        ("route=all", true),
    ] {
        assert_eq!(get(gateway.admin, &format!("/audit?{filter}")).text().contains(&id), found, "{filter}");
    }
}

#[test]
fn metrics_count_requests_connections_and_findings() {
    let upstream = Upstream::json(r#"{"mail":"jane@example.com"}"#);
    let gateway = Gateway::start(&response_rules(&upstream, "- {detect: [email], action: redact}"));
    for _ in 0..5 {
        assert_eq!(get(gateway.address, "/").status, 200);
    }
    let value = |name: &str| {
        let text = get(gateway.admin, "/metrics").text();
        let total: f64 = text
            .lines()
            .filter(|line| line.starts_with(name))
            .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
            .sum();
        total
    };
    until("requests are counted", || value("fieldgate_requests_total") >= 5.0);
    assert!(value("fieldgate_findings_total") >= 5.0);
    assert!(value("fieldgate_upstream_connections_opened_total") >= 1.0);
}

#[test]
fn strangers_are_turned_away() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&no_rules(&upstream));
    for path in ["/", "/audit", "/rules", "/metrics"] {
        let reply = request(gateway.admin, "GET", path, &[("Host", "evil.example")], b"");
        assert_eq!(reply.status, 421, "{path}");
    }
    let page = get(gateway.admin, "/");
    let csp = page.header("content-security-policy").expect("a policy");
    assert!(csp.contains("default-src 'none'") && csp.contains("frame-ancestors 'none'"), "{csp}");
    for path in ["/audit", "/rules", "/metrics"] {
        let reply = get(gateway.address, path);
        assert_eq!(reply.text(), "{}", "{path} on the main port goes to the upstream");
    }
}

#[test]
fn hostile_text_is_shown_as_text() {
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&no_rules(&upstream));
    get(gateway.address, "/%3Cscript%3Ealert(1)%3C/script%3E");
    request(gateway.address, "GET", "/x", &[("Host", "<img-onerror>")], b"");
    until("both are recorded", || gateway.records().len() == 2);
    let mut page = String::new();
    until("both are shown", || {
        page = get(gateway.admin, "/audit").text();
        page.contains("alert(1)") || page.contains("alert%281%29") || page.contains("script%3E")
    });
    assert!(!page.contains("<script>alert") && !page.contains("<img-onerror"));
}

/// The pages in a real browser: the script runs, the policy is not violated, the figures move.
#[test]
fn the_live_page_works_in_a_browser() {
    let Some(browser) = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
        .into_iter()
        .find(|path| Path::new(path).exists())
    else {
        panic!("no browser: tests/run installs one");
    };
    let upstream = Upstream::json("{}");
    let gateway = Gateway::start(&no_rules(&upstream));
    for _ in 0..3 {
        get(gateway.address, "/");
    }
    let profile = tempfile::tempdir().expect("profile");
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--enable-logging=stderr",
            "--timeout=4000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("http://{}/", gateway.admin))
        .output()
        .expect("browser");
    let (dom, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(dom.contains("<h1"), "{log}");
    assert!(!log.contains("Content Security Policy"), "{log}");
    assert!(!log.contains("Uncaught"), "{log}");
    let live = dom.split("id=\"live\"").nth(1).expect("the live state").split('>').next().expect("its attributes");
    assert!(live.contains("data-state=") && !live.contains("hidden"), "the script took over: {live}");
}
