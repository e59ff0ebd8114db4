//! Bodies other than one JSON text: lines, events, forms, text.

use super::*;
use crate::policy::{Failure, OnFailure};
use proptest::prelude::*;

pub(super) const CARD: &str = "4111111111111111";

pub(super) fn passing(rule: Rule) -> Rule {
    let pass = OnFailure::Pass;
    Rule { on_failure: FailurePolicy { malformed: pass, oversize: pass, unsupported: pass }, ..rule }
}

/// What came of a body: what was written, whether there was a fault, what was found, what passed.
#[derive(Debug, PartialEq)]
pub(super) struct Run {
    pub(super) out: String,
    pub(super) fault: Option<BodyFault>,
    pub(super) found: Vec<String>,
    pub(super) passed: Vec<(Failure, &'static str)>,
    pub(super) changed: bool,
}

pub(super) fn run(rules: Vec<Rule>, format: Format, hold: usize, chunks: &[&[u8]]) -> Run {
    let limits = Limits { window: 64, value: 4096, ..Limits::default() };
    let mut filter = BodyFilter::new(&plan(rules), format, limits, hold);
    let mut out = Vec::new();
    let result = chunks.iter().try_for_each(|chunk| filter.push(chunk, &mut out));
    let result = result.and_then(|()| filter.finish(&mut out));
    Run {
        out: String::from_utf8(out).unwrap(),
        fault: result.err(),
        found: told(filter.findings().list()),
        passed: filter.passed().to_vec(),
        changed: filter.changed(),
    }
}

#[track_caller]
pub(super) fn check(rules: Vec<Rule>, format: Format, body: &str, expected: &str) -> Run {
    let ran = run(rules.clone(), format, 1000, &[body.as_bytes()]);
    assert_eq!((ran.out.as_str(), ran.fault), (expected, None));
    assert_eq!(ran.changed, body != expected);
    let (whole, judge) = BodyFilter::whole(&plan(rules), format, Limits::default(), body.as_bytes());
    let whole = whole.unwrap();
    assert_eq!(whole.is_some(), ran.changed);
    assert_eq!(whole.map_or_else(|| body.to_owned(), |new| String::from_utf8(new).unwrap()), expected);
    assert_eq!(told(judge.findings().list()), ran.found);
    assert_eq!(judge.verdict() == Verdict::Edit, ran.changed);
    ran
}

#[test]
fn every_line_is_a_document_of_its_own() {
    let rules = vec![select("$.ssn", Action::Remove), select("$.v", set("1")), detect("email", redact())];
    let body = "{\"ssn\":1,\"a\":\"a@b.com\"}\r\n\n \t\n[{\"ssn\":1}]\n{\"ssn\":2, \"v\":2}";
    let expected = "{\"a\":\"[REDACTED:email]\",\"v\":1}\r\n\n \t\n[{\"ssn\":1}]\n{\"v\":1}";
    let ran = check(rules, Format::Lines, body, expected);
    assert_eq!(ran.found, ["0 - $.ssn 2", "2 email $.a 1", "1 - $.v 2"]);
}

#[test]
fn records_stand_behind_their_separator() {
    let body = "\u{1e}{\"ssn\":\n1}\n\u{1e}\u{1e}{\"a\":1}\n";
    check(vec![select("$.ssn", Action::Remove)], Format::Records, body, "\u{1e}{}\n\u{1e}\u{1e}{\"a\":1}\n");
}

#[test]
fn a_key_may_come_again_in_the_next_line() {
    let rules = vec![select("$.a", rename("b"))];
    check(rules.clone(), Format::Lines, "{\"a\":1}\n{\"a\":2}\n", "{\"b\":1}\n{\"b\":2}\n");
    let ran = run(rules, Format::Lines, 99, &[b"{\"a\":1}\n{\"a\":1,\"a\":2}\n{}\n"]);
    assert_eq!(ran.out, "{\"b\":1}\n");
    assert!(matches!(ran.fault, Some(BodyFault::Unreadable { failure: Failure::Malformed, .. })), "{ran:?}");
}

#[test]
fn a_line_that_cannot_be_read_passes_alone() {
    let rules = vec![passing(select("$.ssn", Action::Remove))];
    let body = "{\"ssn\":1}\n{\"ssn\":2,}\n{\"ssn\":3}\n";
    let ran = check(rules, Format::Lines, body, "{}\n{\"ssn\":2,}\n{}\n");
    assert_eq!(ran.found, ["0 - $.ssn 2"], "what was not acted upon is not counted");
    assert_eq!(ran.passed.len(), 1);
}

#[test]
fn a_blocked_line_or_event_is_where_it_ends() {
    let lines = format!("{{\"a\":1}}\n{{\"a\":{CARD}}}\n{{}}\n");
    let ran = run(vec![detect("credit_card", block())], Format::Lines, 99, &[lines.as_bytes()]);
    assert_eq!((ran.out.as_str(), ran.fault), ("{\"a\":1}\n", Some(BodyFault::Blocked)));
    for data in [CARD.to_owned(), format!("\"{CARD}\""), format!("card {CARD}")] {
        let events = format!(": hi\n\ndata: 1\n\ndata: {data}\n\ndata: 2\n\n");
        let ran = run(vec![detect("credit_card", block())], Format::Events, 99, &[events.as_bytes()]);
        assert_eq!((ran.out.as_str(), ran.fault), (": hi\n\ndata: 1\n\n", Some(BodyFault::Blocked)));
    }
}

#[test]
fn what_was_decided_does_not_wait() {
    let plan = plan(vec![detect("credit_card", block())]);
    for (format, body) in
        [(Format::Lines, "{}\n"), (Format::Events, "data: {}\r\n\r\n"), (Format::Events, "data:x\r\r")]
    {
        let mut filter = BodyFilter::new(&plan, format, Limits::default(), 99);
        let mut out = Vec::new();
        filter.push(body.as_bytes(), &mut out).unwrap();
        assert_eq!(out, body.as_bytes());
    }
}

#[test]
fn long_lines_stream_unless_a_rule_may_block() {
    let body = format!("{{\"ssn\":1,\"a\":[{}0]}}\r\n{{\"ssn\":2}}\n", "0,".repeat(99));
    let expected = body.replace("\"ssn\":1,", "").replace("\"ssn\":2", "");
    let rules = vec![select("$.ssn", Action::Remove)];
    for size in [1, 7, 64, 1000] {
        let chunks: Vec<&[u8]> = body.as_bytes().chunks(size).collect();
        let ran = run(rules.clone(), Format::Lines, 50, &chunks);
        assert_eq!((ran.out, ran.fault, ran.changed), (expected.clone(), None, true));
    }
    let mut rules = vec![select("$.ssn", Action::Remove), detect("email", block())];
    let ran = run(rules.clone(), Format::Lines, 50, &[body.as_bytes()]);
    assert!(matches!(ran.fault, Some(BodyFault::Unreadable { failure: Failure::Oversize, .. })), "{ran:?}");
    assert_eq!(ran.out, "");
    rules = rules.into_iter().map(passing).collect();
    let ran = run(rules, Format::Lines, 50, &[body.as_bytes()]);
    assert_eq!((ran.out, ran.passed.len()), (body.replace("\"ssn\":2", ""), 1));
}

#[test]
fn a_long_line_that_breaks_off_passes_from_there() {
    let body = format!("{{\"ssn\":1,\"a\":[{}0]]}}\n{{\"ssn\":2}}\n", "0,".repeat(99));
    let ran = run(vec![passing(select("$.ssn", Action::Remove))], Format::Lines, 50, &[body.as_bytes()]);
    assert_eq!(ran.out, body.replace("\"ssn\":1,", "").replace("\"ssn\":2", ""));
    assert_eq!((ran.fault, ran.passed.len()), (None, 1));
    let ran = run(vec![select("$.ssn", Action::Remove)], Format::Lines, 50, &[body.as_bytes()]);
    assert!(matches!(ran.fault, Some(BodyFault::Unreadable { failure: Failure::Malformed, .. })), "{ran:?}");
}

#[test]
fn events_are_documents_of_their_own() {
    let rules = || vec![select("$.ssn", Action::Remove), detect("email", redact())];
    check(
        rules(),
        Format::Events,
        "\u{feff}event: a@b.com\nid: 1\ndata: {\"ssn\":1,\"a\":\"a@b.com\"}\nretry: 3\n: c\n\ndata:{\"ssn\":1}\r\n\r\ndata: [DONE]\n\n",
        "\u{feff}event: a@b.com\nid: 1\ndata: {\"a\":\"[REDACTED:email]\"}\nretry: 3\n: c\n\ndata:{}\r\n\r\ndata: [DONE]\n\n",
    );
    check(rules(), Format::Events, "data: to a@b.com\rdata: now\r\r", "data: to [REDACTED:email]\rdata: now\r\r");
    check(
        rules(),
        Format::Events,
        "data: {\ndata:  \"a\": 1,\ndata:  \"ssn\": 2,\ndata:  \"b\": \"a@b.com\"\ndata:}\n\n",
        "data: {\ndata:  \"a\": 1,\ndata:  \"b\": \"[REDACTED:email]\"\ndata:}\n\n",
    );
    check(rules(), Format::Events, "data: {\"ssn\":1}", "data: {}");
    check(rules(), Format::Events, "data\n\ndata: \n\n\n\r\n", "data\n\ndata: \n\n\n\r\n");
}

#[test]
fn an_event_that_cannot_be_read_passes_alone() {
    let body = "data: {\"ssn\":1,}\n\ndata: {\"ssn\":1}\n\n";
    let ran = run(vec![select("$.ssn", Action::Remove)], Format::Events, 99, &[body.as_bytes()]);
    assert!(matches!(ran.fault, Some(BodyFault::Unreadable { failure: Failure::Malformed, .. })), "{ran:?}");
    check(vec![passing(select("$.ssn", Action::Remove))], Format::Events, body, "data: {\"ssn\":1,}\n\ndata: {}\n\n");
    let ran = run(vec![passing(select("$.ssn", Action::Remove))], Format::Events, 16, &[body.as_bytes()]);
    assert_eq!((ran.out.as_str(), ran.passed[0].0), (body, Failure::Oversize));
}

#[test]
fn a_body_of_another_kind_is_no_event() {
    let rules = || vec![select("$.ssn", Action::Remove)];
    for body in ["{\"ssn\":1}", "{\"ssn\":\n1}\n", "data: 1\nssn: 1\n\n"] {
        let ran = run(rules(), Format::Events, 99, &[body.as_bytes()]);
        assert!(matches!(ran.fault, Some(BodyFault::Unreadable { failure: Failure::Malformed, .. })), "{ran:?}");
    }
}

#[test]
fn a_rule_cannot_break_out_of_an_event() {
    let text = Redact { with: Some("x\r\nid: 7\n\ndata: y".into()), ..Redact::default() };
    let rules = vec![detect("email", Action::Redact(text))];
    check(rules, Format::Events, "data: a@b.com\n\n", "data: x\ndata: id: 7\ndata: \ndata: data: y\n\n");
}

#[test]
fn forms_are_judged_pair_by_pair() {
    let rules = vec![detect("email", redact()), detect("us_ssn", mask(0, 4))];
    let ran = check(
        rules,
        Format::Form,
        "a=1&mail=x+a%40b.com+y&ssn=123-45-6789&&e&a%40b.com=%zz",
        "a=1&mail=x+%5BREDACTED%3Aemail%5D+y&ssn=*******6789&&e&%5BREDACTED%3Aemail%5D=%zz",
    );
    assert_eq!(ran.found, ["0 email form.mail 1", "1 us_ssn form.ssn 1", "0 email form.[email] 1"]);
    let ran = run(vec![detect("email", block())], Format::Form, 99, &[b"a=1&b=a@b.com"]);
    assert_eq!(ran.fault, Some(BodyFault::Blocked));
    let ran = run(vec![detect("email", redact())], Format::Form, 9, &[b"a=1&b=12345678&c=1"]);
    assert!(matches!(ran.fault, Some(BodyFault::Unreadable { failure: Failure::Oversize, .. })), "{ran:?}");
}

#[test]
fn text_is_searched_in_windows() {
    let rules = || vec![detect("email", redact())];
    check(rules(), Format::Text, "<a href=\"mailto:a@b.com\">é</a>", "<a href=\"mailto:[REDACTED:email]\">é</a>");
    let body = "some é words and jane.doe@example.com ".repeat(50);
    let expected = body.replace("jane.doe@example.com", "[REDACTED:email]");
    let ran = check(rules(), Format::Text, &body, &expected);
    assert_eq!(ran.found, ["0 email $ 50"]);
    let whole = Redact { whole: true, ..Redact::default() };
    check(vec![detect("email", Action::Redact(whole.clone()))], Format::Text, &body, "[REDACTED:email]");
    let long = body.repeat(9);
    let ran = run(vec![detect("email", Action::Redact(whole))], Format::Text, 0, &[long.as_bytes()]);
    assert!(matches!(ran.fault, Some(BodyFault::Unreadable { failure: Failure::Oversize, .. })), "{ran:?}");
    let ran = run(vec![detect("email", block())], Format::Text, 0, &[body.as_bytes()]);
    assert_eq!(ran.fault, Some(BodyFault::Blocked));
}

#[test]
fn text_that_is_not_utf8_is_malformed_or_passes_from_there() {
    let body = [b"a@b.com ".repeat(20).as_slice(), b"\xff a@b.com"].concat();
    let judged = |rule| BodyFilter::whole(&plan(vec![rule]), Format::Text, Limits::default(), &body);
    let (result, _) = judged(detect("email", redact()));
    assert!(matches!(result, Err(BodyFault::Unreadable { failure: Failure::Malformed, .. })));
    let (result, judge) = judged(passing(detect("email", redact())));
    assert_eq!((result, judge.passed()), (Ok(None), [(Failure::Malformed, "not UTF-8")].as_slice()));
}

#[test]
fn text_and_forms_have_no_fields() {
    let trouble = |rules, format| plan(rules).trouble_with(format).is_some();
    for format in [Format::Text, Format::Form] {
        assert!(trouble(vec![detect("email", redact()), select("$.a", Action::Remove)], format));
        assert!(trouble(vec![keep_only("$.a")], format));
        assert!(trouble(vec![detect_below("email", "$.a", redact())], format));
        assert!(!trouble(vec![detect("email", redact())], format));
        assert!(!trouble(vec![detect("email", redact()), shadow("s", select("$.a", Action::Remove))], format));
    }
    for format in [Format::Json, Format::Lines, Format::Records, Format::Events] {
        assert!(!trouble(vec![select("$.a", Action::Remove)], format));
    }
}

fn mixed_rules() -> Vec<Rule> {
    let rules = [
        select("$.gone", Action::Remove),
        select("$.v", set("1")),
        shadow("s", detect("email", block())),
        detect("email", redact()),
    ];
    rules.into_iter().map(passing).collect()
}

proptest! {
    #![proptest_config(crate::properties::cases(200))]

    #[test]
    fn chunks_make_no_difference(
        words in prop::collection::vec(
            "(data: |data:|id: 1|\\{\"gone\":1,\"b\":\"a@b.com\"\\}|\\{\"gone\" :\n2\\}|\\{\\}|\\{\"v\":0|a@b.com|é|x=|&|%40|\n\n|\n|\r\n|\r|\u{1e}| )", 0..30),
        size in 1_usize..20, hold in 0_usize..80,
    ) {
        let body = words.concat();
        let chunks: Vec<&[u8]> = body.as_bytes().chunks(size).collect();
        for format in [Format::Lines, Format::Records, Format::Events, Format::Form, Format::Text] {
            // How much of a long line that is at fault was edited before depends on nothing but the line.
            let whole = run(mixed_rules(), format, hold, &[body.as_bytes()]);
            prop_assert_eq!(&whole, &run(mixed_rules(), format, hold, &chunks));
            let untouched = run(vec![select("$.nothing", Action::Remove)].into_iter().map(passing).collect(), format, hold, &chunks);
            prop_assert_eq!(untouched.out, body.clone());
        }
    }
}
