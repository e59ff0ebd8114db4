use std::io::{self, Read, Write};

use super::ending::Ending;
use super::stream::Work;
use super::{Transform, summary};
use crate::policy::Failure;
use crate::rules::{self, Ruleset, Source};

fn ruleset(response: &str, limits: &str) -> Ruleset {
    let text = format!(
        "version: 1
upstreams: {{u: {{targets: [\"http://127.0.0.1:1\"]}}}}
routes:
  customers: {{match: {{paths: [\"/customers\"]}}, upstream: u, policies: [p], limits: {{{limits}}}}}
  orders: {{match: {{paths: [\"/orders\"]}}, upstream: u}}
policies:
  p: {{on_failure: {{malformed: pass, oversize: pass, unsupported: pass}}, response: [{response}]}}
"
    );
    rules::load(&Source::Files(vec![("main.yaml".to_owned(), text)])).unwrap()
}

/// What was written, how it ended, and the summary.
fn run(rules: &str, limits: &str, content_type: &str, mut body: &[u8]) -> (String, Result<(), Ending>, String) {
    let ruleset = ruleset(rules, limits);
    let route = ruleset.route("customers").unwrap();
    let mut work = Work::new(&route.response, route, content_type);
    let mut out = Vec::new();
    let result = work.run(&mut body, &mut out, |_| ());
    assert_eq!(work.written, out.len() as u64);
    let summary = summary::of("it", &work, &result);
    (String::from_utf8(out).unwrap(), result, summary)
}

#[track_caller]
fn check(rules: &str, body: &str, expected: &str) {
    let (out, result, _) = run(rules, "", "application/json", body.as_bytes());
    assert!(result.is_ok(), "{result:?}");
    assert_eq!(out, expected);
}

#[track_caller]
fn check_refused(rules: &str, limits: &str, content_type: &str, body: &str, message: &str) {
    let (out, result, _) = run(rules, limits, content_type, body.as_bytes());
    assert_eq!(result.unwrap_err().message().as_deref(), Some(message));
    assert_eq!(out, "");
}

const MASK: &str = "{select: $.ssn, action: mask}";
const BLOCK: &str = "{id: no-cards, detect: [credit_card], action: {block: {status: 451}}}";

#[test]
fn a_body_comes_out_as_the_other_side_gets_it() {
    check(MASK, r#" {"ssn":"12","n":1.10} "#, r#" {"ssn":"**","n":1.10} "#);
    check(MASK, "[1]\n", "[1]\n");
    check(BLOCK, r#"{"a":1}"#, r#"{"a":1}"#);
}

#[test]
fn a_long_body_is_written_as_it_is_read() {
    let item = r#"{"ssn":"12","n":1.10},"#;
    let body = format!("[{}0]", item.repeat(20_000));
    check("{select: '$[*].ssn', action: mask}", &body, &body.replace("12", "**"));
    // What is wrong behind the first buffer finds the beginning gone already.
    let broken = format!("{body}x");
    let (out, result, _) = run(MASK, "", "application/json", broken.as_bytes());
    assert!(!out.is_empty() && body.starts_with(&out));
    let Err(Ending::Unreadable { failure: Failure::Malformed, at, .. }) = result else { panic!("{result:?}") };
    assert_eq!(at, body.len() as u64);
}

#[test]
fn what_cannot_be_judged_is_refused_whatever_on_failure_says() {
    let json = "application/json";
    check_refused(MASK, "", json, "", "malformed at byte 0: the body is empty");
    check_refused(MASK, "", json, r#"{"a":tru}"#, "malformed at byte 5: expected a value");
    check_refused(MASK, "", "image/png", "{}", "unsupported at byte 0: binary");
    check_refused(
        MASK,
        "total: 10B",
        json,
        "[1,2,3,4,5,6]",
        "oversize at byte 10: larger than this route allows (`limits.total`)",
    );
    let held = "oversize at byte 9: larger than what may be held for a rule that blocks (`limits.body`)";
    check_refused(BLOCK, "body: 9B", json, "[1,2,3,4,5,6]", held);
    let (out, result, _) = run(BLOCK, "body: 9B", json, b"[1,2,3,4]");
    assert!(result.is_ok() && out == "[1,2,3,4]");
}

#[test]
fn a_blocked_body_is_not_written_at_all() {
    let card = ["4111", "1111", "1111", "1111"].concat();
    let body = format!(r#"[{}"{card}"]"#, "0,".repeat(100_000));
    check_refused(BLOCK, "", "application/json", &body, "blocked: rule `no-cards` of policy `p` (status 451)");
}

#[test]
fn a_type_that_no_rule_looks_at_passes_unread() {
    let ruleset = ruleset(MASK, "");
    let route = ruleset.route("orders").unwrap();
    let body = "text".repeat(100_000);
    let mut out = Vec::new();
    Work::new(&route.response, route, "text/plain").run(&mut body.as_bytes(), &mut out, |_| ()).unwrap();
    assert_eq!(out, body.as_bytes());
}

#[test]
fn the_summary_counts_and_shows_no_value() {
    let rules = "{id: s, select: '$[*].ssn', action: mask}, {detect: [email], action: redact}";
    let body = r#"[{"ssn":"123-45-6789"},{"ssn":"1","mail":"jane@example.com"}]"#;
    let (_, _, summary) = run(rules, "", "application/json", body.as_bytes());
    let lines: Vec<&str> = summary.lines().collect();
    assert_eq!(
        lines,
        [
            "it: edited; 61 bytes read, 61 written",
            "    $[*].ssn - mask x2 by s of p",
            "    $[*].mail email redact x1 by p.response.2 of p",
        ]
    );
    let (_, _, summary) = run(rules, "", "application/json", b"[1]");
    assert_eq!(summary, "it: unchanged; 3 bytes read, 3 written\n");
}

#[test]
fn a_route_that_is_not_there_is_told_with_those_that_are() {
    let ruleset = ruleset(MASK, "");
    let message = |name| ruleset.route(name).unwrap_err();
    let listed = "the routes are `customers`, `orders`";
    assert_eq!(message("custmers"), format!("there is no route `custmers`: did you mean `customers`? {listed}"));
    assert_eq!(message("zzz"), format!("there is no route `zzz`: {listed}"));
}

/// Breaks off where it is told to.
struct Torn(usize);

impl Read for Torn {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(self.0);
        self.0 -= length;
        buffer[..length].fill(b' ');
        if length == 0 { Err(io::Error::other("gone")) } else { Ok(length) }
    }
}

impl super::stream::Named for Torn {
    fn name(&self) -> &'static str {
        "`torn`"
    }
}

/// Takes so many bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_breaks_off_is_named() {
    let ruleset = ruleset(MASK, "");
    let route = ruleset.route("customers").unwrap();
    let work = || Work::new(&route.response, route, "application/json");
    let ending = work().run(&mut Torn(100), &mut Vec::new(), |_| ()).unwrap_err();
    assert_eq!(ending.message().unwrap(), "cannot read `torn`: gone");
    let ending = work().run(&mut &b"[1]"[..], &mut Full(2), |_| ()).unwrap_err();
    assert!(ending.message().unwrap().starts_with("cannot write to standard output: "));
}

#[test]
fn the_flags_are_sound() {
    use clap::Args;
    Transform::augment_args(clap::Command::new("transform")).debug_assert();
}
