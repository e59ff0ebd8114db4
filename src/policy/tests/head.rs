use super::*;
use crate::policy::{Findings, HeaderChange, HeaderEdit, Judged};

#[track_caller]
fn check_query(rules: Vec<Rule>, sent: &str, expected: &str) {
    let mut findings = Findings::default();
    match plan(rules).judge_query(sent, &mut findings) {
        Judged::Pass => assert_eq!(sent, expected),
        Judged::Edit(new) => {
            assert_eq!(new, expected);
            assert!(!findings.is_empty());
        }
        Judged::Block(_, rule) => assert_eq!(format!("blocked by {rule}"), expected),
    }
}

#[test]
fn query_parameters_by_name() {
    check_query(vec![query("ssn", mask(0, 2))], "a=1&ssn=1234&b=%20", "a=1&ssn=**34&b=%20");
    check_query(vec![query("ssn", redact())], "ssn=1", "ssn=%5BREDACTED%5D");
    check_query(vec![query("s*", Action::Remove)], "a=1&ssn=2&b=3&s&s=", "a=1&b=3");
    check_query(vec![query("a", Action::Remove)], "a=1", "");
    check_query(vec![query("a", Action::Remove)], "&a=1&", "&");
    check_query(vec![query("a", replace(r#""x y&z""#))], "a=1&a", "a=x%20y%26z&a=x%20y%26z");
    check_query(vec![query("a", block())], "b=1&a=2", "blocked by 0");
    check_query(vec![query("a", Action::Log)], "a=1", "a=1");
    check_query(vec![query("a", mask(0, 0))], "a&a=", "a&a=");
}

#[test]
fn names_are_decoded_before_they_are_compared() {
    check_query(vec![query("ssn", redact())], "s%73n=1", "s%73n=%5BREDACTED%5D");
    check_query(vec![rule(Target::Query(vec![NamePattern("a b".into())]), Action::Remove)], "a+b=1&a%20b=2&c=3", "c=3");
    check_query(vec![query("ssn", redact())], "SSN=1", "SSN=1");
}

#[test]
fn only_touched_bytes_of_a_query_change() {
    let rules = || vec![detect("email", redact())];
    let sent = "q=to+a%40b.com+%c3%a9now&x=%zz&&y";
    check_query(rules(), sent, "q=to+%5BREDACTED%3Aemail%5D+%c3%a9now&x=%zz&&y");
    // Not UTF-8: no way back to the bytes sent, so the whole value is written anew.
    check_query(rules(), "q=a%40b.com+%e9&x=%e9", "q=%5BREDACTED%3Aemail%5D%20%EF%BF%BD&x=%e9");
    check_query(rules(), "a@b.com=1&b=2", "%5BREDACTED%3Aemail%5D=1&b=2");
    check_query(rules(), "q=none", "q=none");
}

#[test]
fn order_of_claims_in_a_query() {
    check_query(
        vec![query("q", Action::Allow), detect("email", redact())],
        "q=a@b.com&r=a@b.com",
        "q=a@b.com&r=%5BREDACTED%3Aemail%5D",
    );
    check_query(vec![detect("email", mask(0, 0)), query("q", Action::Remove)], "q=a@b.com&q=x", "q=*******");
    check_query(vec![query("q", Action::Remove), detect("email", block())], "q=a@b.com", "blocked by 1");
    check_query(vec![shadow("s", query("q", block())), query("q", mask(0, 0))], "q=xy", "q=**");
    check_query(
        vec![detect_within("email", Within::Query(patterns("q")), redact())],
        "q=a@b.com&r=a@b.com",
        "q=%5BREDACTED%3Aemail%5D&r=a@b.com",
    );
}

#[track_caller]
fn check_path(action: Action, sent: &str, expected: &str) {
    let mut findings = Findings::default();
    match plan(vec![detect_in_path("email credit_card", action)]).judge_path(sent, &mut findings) {
        Judged::Pass => assert_eq!(sent, expected),
        Judged::Edit(new) => assert_eq!(new, expected),
        Judged::Block(_, rule) => assert_eq!(format!("blocked by {rule}"), expected),
    }
}

#[test]
fn path_segments() {
    check_path(redact(), "/u/a%40b.com/%7Ex/", "/u/%5BREDACTED%3Aemail%5D/%7Ex/");
    check_path(mask(0, 4), "/cards/4111111111111111", "/cards/************1111");
    check_path(block(), "/cards/4111111111111111", "blocked by 0");
    check_path(redact(), "/", "/");
    check_path(redact(), "/a//b", "/a//b");
}

#[test]
fn a_replacement_cannot_climb() {
    let with = |text: &str| Action::Redact(Redact { with: Some(text.into()), ..Redact::default() });
    check_path(with(".."), "/u/a@b.com/x", "/u/_/x");
    check_path(with(""), "/u/a@b.com/x", "/u/_/x");
    check_path(with("../../admin"), "/u/a@b.com/x", "/u/.._.._admin/x");
}

fn judge_headers(rules: Vec<Rule>, fields: &[(&str, &[u8])]) -> (Judged<Vec<HeaderEdit>>, Vec<String>) {
    let mut findings = Findings::default();
    let judged = plan(rules).judge_headers(fields.iter().copied(), &mut findings);
    (judged, told(findings.list()))
}

#[test]
fn header_fields_by_name_without_case() {
    let fields: &[(&str, &[u8])] = &[("x-a", b"one"), ("X-User-Id", b"42"), ("x-user-name", b"bob")];
    let (judged, found) =
        judge_headers(vec![headers("x-user-id", Action::Remove), headers("X-User-*", mask(0, 1))], fields);
    let set = |position, value: &str| HeaderEdit { position, change: HeaderChange::Set(value.into()) };
    assert_eq!(judged, Judged::Edit(vec![HeaderEdit { position: 1, change: HeaderChange::Remove }, set(2, "**b")]));
    assert_eq!(found, ["0 - header.X-User-Id 1", "1 - header.x-user-name 1"]);
}

#[test]
fn detectors_look_in_named_headers_only() {
    let within = Within::Places { body: false, query: false, path: false, headers: patterns("x-*") };
    let rules = || vec![detect_within("email", within.clone(), redact())];
    let (judged, found) = judge_headers(rules(), &[("from", b"a@b.com"), ("x-from", b"<a@b.com>")]);
    let change = HeaderChange::Set(b"<[REDACTED:email]>".to_vec());
    assert_eq!(judged, Judged::Edit(vec![HeaderEdit { position: 1, change }]));
    assert_eq!(found, ["0 email header.x-from 1"]);
}

#[test]
fn a_header_that_is_not_utf8_is_edited_whole() {
    let rules = vec![detect_within("email", Within::Headers(patterns("x")), redact())];
    let (judged, _) = judge_headers(rules, &[("x", b"\xe9 a@b.com \xff")]);
    let change = HeaderChange::Set(b"[REDACTED:email]".to_vec());
    assert_eq!(judged, Judged::Edit(vec![HeaderEdit { position: 0, change }]));
}

#[test]
fn framing_is_never_touched_and_nothing_ends_a_field() {
    let fields: &[(&str, &[u8])] =
        &[("Host", b"h"), ("content-length", b"1"), ("Transfer-Encoding", b"chunked"), ("y", b"1")];
    let (judged, _) = judge_headers(vec![headers("*", replace(r#""a\r\nb""#))], fields);
    let change = HeaderChange::Set(b"a  b".to_vec());
    assert_eq!(judged, Judged::Edit(vec![HeaderEdit { position: 3, change }]));
    let (judged, _) = judge_headers(vec![headers("*", Action::Remove)], &fields[..3]);
    assert_eq!(judged, Judged::Pass);
    let (judged, _) = judge_headers(vec![headers("y", block())], fields);
    assert_eq!(judged.verdict(), Verdict::Block(Block { status: 422, message: None }, 0));
}

#[test]
fn places_in_the_head_tell_no_values() {
    let mut findings = Findings::default();
    let judged = plan(vec![query("*", mask(0, 0))]).judge_query("a@b.com=x&b=y", &mut findings);
    assert_eq!(judged, Judged::Edit("a@b.com=*&b=*".into()));
    assert_eq!(told(findings.list()), ["0 - query.[email] 1", "0 - query.b 1"]);
}
