//! Multipart bodies: each part by its own type, and nothing between them that nobody has seen.

use super::formats::{CARD, Run, passing, run};
use super::*;
use crate::content::multipart::Boundary;
use crate::policy::Failure;
use proptest::prelude::*;

fn format() -> Format {
    Format::Multipart(Boundary::of("multipart/form-data; boundary=bnd").unwrap())
}

/// A part for each head (without its blank line) and content.
fn body(parts: &[(&str, &str)]) -> String {
    let part = |(head, content): &(&str, &str)| {
        let head: String = head.lines().flat_map(|line| [line, "\r\n"]).collect();
        format!("--bnd\r\n{head}\r\n{content}\r\n")
    };
    parts.iter().map(part).collect::<String>() + "--bnd--\r\n"
}

const FIELD: &str = "Content-Disposition: form-data; name=\"mail\"";
const FILE: &str = "Content-Disposition: form-data; name=\"f\"; filename=\"a.txt\"";

fn file(content_type: &str) -> String {
    format!("{FILE}\nContent-Type: {content_type}")
}

#[track_caller]
fn check(rules: Vec<Rule>, parts: &[(&str, &str)], expected: &[(&str, &str)]) -> Run {
    super::formats::check(rules, format(), &body(parts), &body(expected))
}

#[track_caller]
fn refused(rules: Vec<Rule>, body: &str, failure: Failure, what: &'static str) {
    let ran = run(rules.clone(), format(), 1000, &[body.as_bytes()]);
    assert_eq!(ran.fault, Some(BodyFault::Unreadable { failure, at: 0, what }), "{body}");
    // What policy lets pass goes on as it came.
    let ran = run(rules.into_iter().map(passing).collect(), format(), 1000, &[body.as_bytes()]);
    assert_eq!((ran.out.as_str(), ran.fault, ran.changed), (body, None, false));
    assert!(ran.passed.contains(&(failure, what)), "{ran:?}");
}

#[test]
fn each_part_is_judged_by_its_type() {
    let rules = vec![detect("email credit_card", redact())];
    let json = file("application/json");
    let lines = file("application/x-ndjson");
    let csv = file("text/csv; charset=utf-8");
    let parts: &[(&str, &str)] = &[
        (FIELD, "a@b.com, c@d.org"),
        (&json, "{ \"card\" : 4111111111111111,\"m\":\"a@b.com\"}"),
        (&lines, "{\"m\":\"a@b.com\"}\r\n{}\n"),
        (&csv, "id;mail\n1;a@b.com\n"),
        (FILE, "\r\n--bn\r\na@b.com\r\n"),
        ("", "a@b.com"),
        ("", ""),
    ];
    let mail = "[REDACTED:email]";
    let expected: &[(&str, &str)] = &[
        (FIELD, &format!("{mail}, {mail}")),
        (&json, &format!("{{ \"card\" : 0,\"m\":\"{mail}\"}}")),
        (&lines, &format!("{{\"m\":\"{mail}\"}}\r\n{{}}\n")),
        (&csv, &format!("id;mail\n1;{mail}\n")),
        (FILE, &format!("\r\n--bn\r\n{mail}\r\n")),
        ("", mail),
        ("", ""),
    ];
    let ran = check(rules, parts, expected);
    assert!(ran.found.contains(&"0 email form.mail 2".to_owned()), "{:?}", ran.found);
    assert!(ran.found.contains(&"0 credit_card $.card 1".to_owned()), "{:?}", ran.found);
}

#[test]
fn a_field_is_judged_under_its_name() {
    let field = |name: &str| format!("Content-Disposition: form-data; name={name}\r\n");
    let rules = vec![detect("us_ssn", redact())];
    let (ssn, order) = (field("ssn"), field("\"order number\""));
    let same = [(order.as_str(), "078051120")];
    check(rules.clone(), &same, &same);
    let ran = check(rules, &[(&ssn, "078051120")], &[(&ssn, "[REDACTED:us_ssn]")]);
    assert_eq!(ran.found, ["0 us_ssn form.ssn 1"]);
}

#[test]
fn a_field_may_hold_json() {
    let rules = vec![select("$.ssn", Action::Remove), detect("email", redact())];
    let typed = format!("{FIELD}\nContent-Type: text/plain");
    for head in [FIELD, &typed] {
        check(
            rules.clone(),
            &[(head, "{\"ssn\":1,\"a\":\"a\\u0040b.com\"}")],
            &[(head, "{\"a\":\"[REDACTED:email]\"}")],
        );
    }
    check(vec![detect("email", redact())], &[(FIELD, "[draft] a@b.com")], &[(FIELD, "[draft] [REDACTED:email]")]);
    refused(
        vec![select("$.ssn", Action::Remove)],
        &body(&[(FIELD, "hello")]),
        Failure::Unsupported,
        "text under rules with selectors",
    );
}

#[test]
fn names_of_fields_and_files_are_judged() {
    let rules = vec![detect("email credit_card", redact())];
    let with = |params: &str| format!("Content-Disposition: form-data; {params}");
    let cases = [
        ("name=\"a@b.com\"", "name=\"[REDACTED:email]\""),
        ("name=f; filename=a@b.com.pdf;x=1", "name=f; filename=\"[REDACTED:email].pdf\";x=1"),
        ("name=\"f\"; filename=\"cv of a@b.com.txt\"", "name=\"f\"; filename=\"cv of [REDACTED:email].txt\""),
        ("name=\"f\"; filename=\"%34111111111111111\"", "name=\"f\"; filename=\"%5BREDACTED%3Acredit_card%5D\""),
        ("name=f; filename=\"100% a@b.com\"", "name=f; filename=\"100% [REDACTED:email]\""),
        ("name=f; filename*=UTF-8''x%20a%40b.com", "name=f; filename*=UTF-8''x%20%5BREDACTED%3Aemail%5D"),
        ("name=f; x=\"é\"; y=a@b.com", "name=f; x=\"é\"; y=\"[REDACTED:email]\""),
    ];
    for (before, after) in cases {
        let (before, after) = (with(before), with(after));
        check(rules.clone(), &[(&before, "x")], &[(&after, "x")]);
    }
    check(
        rules.clone(),
        &[("X-Of: a@b.com\ncontent-type: text/plain; by=a@b.com", "x")],
        &[("X-Of: [REDACTED:email]\ncontent-type: text/plain; by=[REDACTED:email]", "x")],
    );
    let quote = Action::Redact(Redact { with: Some("\"\r\n\\".into()), ..Redact::default() });
    check(vec![detect("email", quote)], &[(&with("name=\"a@b.com\""), "x")], &[(&with("name=\"%22%0D%0A%5C\""), "x")]);
}

#[test]
fn what_is_around_the_parts_is_judged() {
    let text = |mail: &str| format!("to {mail}\r\n{}to {mail}", body(&[(FIELD, "1")]));
    let rules = vec![detect("email", redact())];
    super::formats::check(rules, format(), &text("a@b.com"), &text("[REDACTED:email]"));
}

#[test]
fn a_block_wins_wherever_it_is_found() {
    let rules = || vec![detect("email", redact()), detect("credit_card", block())];
    let named = format!("Content-Disposition: form-data; name=\"{CARD}\"");
    let json = format!("{{\"a\":{CARD}}}");
    for parts in [[("", "a@b.com"), (FIELD, CARD)], [(&named, "x"), ("", "")], [("", ""), (&file("text/json"), &json)]]
    {
        let ran = run(rules(), format(), 1000, &[body(&parts).as_bytes()]);
        assert_eq!(ran.fault, Some(BodyFault::Blocked));
    }
}

#[test]
fn a_part_that_cannot_be_read_is_refused_or_passes_alone() {
    let rules = || vec![detect("email", redact())];
    let unsupported = |head: &str, content: &str, what| {
        refused(rules(), &body(&[(head, content)]), Failure::Unsupported, what);
    };
    unsupported(&file("image/png"), "a@b.com", "binary");
    unsupported(&file("application/pdf"), "{}", "binary");
    unsupported(&file("application/x-thing"), "a@b.com", "content type");
    unsupported(&file("text/plain; charset=utf-16"), "a@b.com", "charset");
    unsupported(&file("multipart/mixed; boundary=c"), "--c--", "multipart in multipart");
    unsupported(&format!("{FIELD}\nContent-Transfer-Encoding: base64"), "YUBiLmNvbQ==", "transfer encoding of a part");
    unsupported(&format!("{FIELD}\nContent-Encoding: gzip"), "x", "content encoding of a part");
    unsupported("Content-Disposition: form-data; name*=utf-8''a", "x", "extended parameters in the head of a part");
    unsupported("Content-Disposition: form-data; name=\"_charset_\"", "iso-8859-1", "charset");
    let broken = body(&[(&file("application/json"), "{\"a\":1,}")]);
    let ran = run(rules(), format(), 1000, &[broken.as_bytes()]);
    assert!(matches!(ran.fault, Some(BodyFault::Unreadable { failure: Failure::Malformed, .. })), "{ran:?}");
    let picture = file("image/png");
    let ran = run(
        rules().into_iter().map(passing).collect(),
        format(),
        1000,
        &[body(&[(&picture, "\u{1}a@b.com"), (FIELD, "a@b.com")]).as_bytes()],
    );
    assert_eq!(ran.out, body(&[(&picture, "\u{1}a@b.com"), (FIELD, "[REDACTED:email]")]));
    assert_eq!((ran.passed, ran.changed), (vec![(Failure::Unsupported, "binary")], true));
}

#[test]
fn what_readers_differ_about_is_malformed() {
    let rules = || vec![detect("email", redact())];
    let malformed = |body: &str, what| refused(rules(), body, Failure::Malformed, what);
    malformed(&body(&[(FIELD, "x\n--bnd\r\n\r\na@b.com")]), "a multipart boundary that begins no line");
    malformed(&body(&[(FIELD, "x")]).replace("--bnd--", "--bnd-"), "a multipart boundary that ends no line");
    malformed(body(&[(FIELD, "x")]).trim_end_matches("\r\n--bnd--\r\n"), "multipart without its last boundary");
    malformed(&body(&[("name : x", "x")]), "a name that is none in the head of a part");
    malformed(&body(&[(&format!("{FIELD}\nContent-Length: 2"), "x")]), "a part of another length than it says");
    check(rules(), &[(&format!("{FIELD}\nContent-Length: 1"), "x")], &[(&format!("{FIELD}\nContent-Length: 1"), "x")]);
}

#[test]
fn no_edit_makes_a_boundary() {
    let nothing = Action::Redact(Redact { with: Some("".into()), ..Redact::default() });
    let what = "an edit that would make a boundary";
    let mail = Action::Redact(Redact { with: Some("--bnd".into()), ..Redact::default() });
    for parts in
        [[(FIELD, "a@b.com")], [(&*file("text/plain"), "a@b.com")], [("Content-Disposition: x; name=a@b.com", "")]]
    {
        let ran = run(vec![detect("email", mail.clone())], format(), 1000, &[body(&parts).as_bytes()]);
        assert_eq!(ran.fault, Some(BodyFault::Unreadable { failure: Failure::Malformed, at: 0, what }));
    }
    let commas = Format::Multipart(Boundary::of("multipart/form-data; boundary=\"b,,nd\"").unwrap());
    let text =
        body(&[(&file("text/plain"), &format!("x\r\n--b,{CARD},nd\r\n\r\na@b.com"))]).replace("--bnd", "--b,,nd");
    for size in [1, 9, 1000] {
        let chunks: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
        let ran = run(vec![detect("credit_card", nothing.clone())], commas, 1000, &chunks);
        assert_eq!(ran.fault, Some(BodyFault::Unreadable { failure: Failure::Malformed, at: 0, what }));
        let ran = run(vec![detect("credit_card", redact())], commas, 1000, &chunks);
        assert_eq!((ran.out, ran.fault), (text.replace(CARD, "[REDACTED:credit_card]"), None));
    }
}

#[test]
fn a_field_has_a_bound_and_a_file_has_none() {
    let rules = || vec![detect("email", redact())];
    let long = format!("{} a@b.com", "x ".repeat(1000));
    let what = "a field is larger than what may be held (`limits.body`)";
    refused(rules(), &body(&[(FIELD, &long)]), Failure::Oversize, what);
    let expected = long.replace("a@b.com", "[REDACTED:email]");
    let parts = body(&[(FILE, &long)]);
    let ran = run(rules(), format(), 100, &[parts.as_bytes()]);
    assert_eq!((ran.out, ran.fault), (body(&[(FILE, &expected)]), None));
}

#[test]
fn blank_beginnings_hide_nothing() {
    let blank = " ".repeat(400);
    let json = format!("{blank}{{\"a\":\"a\\u0040b.com\"}}");
    let parts = body(&[(&file("text/plain"), &json)]);
    for size in [1, 99, 1000] {
        let chunks: Vec<&[u8]> = parts.as_bytes().chunks(size).collect();
        let ran = run(vec![detect("email", redact())], format(), 1000, &chunks);
        let expected = json.replace("a\\u0040b.com", "[REDACTED:email]");
        assert_eq!((ran.out, ran.fault), (body(&[(&file("text/plain"), &expected)]), None));
    }
}

proptest! {
    #[test]
    fn chunks_make_no_difference(
        parts in prop::collection::vec((0_usize..6, "(a@b\\.com|\r\n|\n|--|--bn| |x|\\{\"a\":\"a@b\\.com\"\\}|4111111111111111){0,9}"), 0..5),
        size in 1_usize..30,
        passes in any::<bool>(),
    ) {
        let heads = ["", FIELD, FILE, &file("application/json"), &file("image/png"), &file("text/csv")];
        let parts: Vec<(&str, &str)> = parts.iter().map(|(head, text)| (heads[*head], text.as_str())).collect();
        let body = body(&parts);
        let rule = detect("email credit_card", redact());
        let rules = vec![if passes { passing(rule) } else { rule }];
        let chunks: Vec<&[u8]> = body.as_bytes().chunks(size).collect();
        let (pieces, whole) = (run(rules.clone(), format(), 1000, &chunks), run(rules, format(), 1000, &[body.as_bytes()]));
        prop_assert_eq!(pieces.fault.is_some(), whole.fault.is_some());
        if whole.fault.is_none() {
            prop_assert_eq!(pieces, whole);
        }
    }

    #[test]
    fn bytes_that_no_rule_is_about_stay(text in "[ -~\r\n]{0,99}", head in "[A-Za-z-]{1,9}: [ -~]{0,20}") {
        let body = body(&[(&head, &text)]);
        let rule = passing(detect("btc_address", redact()));
        let ran = run(vec![rule], format(), 1000, &[body.as_bytes()]);
        prop_assert_eq!((ran.out, ran.fault), (body, None));
    }
}
