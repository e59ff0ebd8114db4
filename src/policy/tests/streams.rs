//! Long strings, and bodies in pieces.

use super::*;
use proptest::prelude::*;

fn limits() -> Limits {
    Limits { window: 512, value: 64 * 1024, ..Limits::default() }
}

pub(super) fn in_pieces(
    rules: Vec<Rule>,
    body: &str,
    size: usize,
    limits: Limits,
) -> (Result<String, BodyFault>, Vec<String>) {
    let plan = plan(rules);
    let mut filter = BodyFilter::new(&plan, Format::Json, limits, 0);
    let mut out = Vec::new();
    for chunk in body.as_bytes().chunks(size.max(1)) {
        if let Err(fault) = filter.push(chunk, &mut out) {
            return (Err(fault), told(filter.findings().list()));
        }
    }
    let result = filter.finish(&mut out).map(|()| String::from_utf8(out).unwrap());
    (result, told(filter.findings().list()))
}

#[track_caller]
fn check_long(rules: Vec<Rule>, body: &str, expected: &str) {
    let (result, found) = in_pieces(rules.clone(), body, 97, limits());
    assert_eq!(result.as_deref(), Ok(expected));
    let (_, _, short) = judge(rules, body);
    assert_eq!(found, short, "what is found does not depend on the window");
}

/// A text of about 3,000 bytes with e-mail addresses all over.
fn long_text(with: &str) -> String {
    let pieces = (0..60).map(|n| format!("some words é {n:0width$} {with}", width = n % 17));
    pieces.collect::<Vec<_>>().join(" ")
}

#[test]
fn long_strings_are_searched_in_windows() {
    let wrap = |with: &str| format!(r#"{{"a":"{}","b":1}}"#, long_text(with));
    check_long(vec![detect("email", redact())], &wrap("a@b.com"), &wrap("[REDACTED:email]"));
    check_long(vec![detect("email", Action::Log)], &wrap("a@b.com"), &wrap("a@b.com"));
    check_long(vec![detect("email", Action::Allow), detect("email", redact())], &wrap("a@b.com"), &wrap("a@b.com"));
    check_long(
        vec![select("$.a", Action::Log), detect("email", redact())],
        &wrap("a@b.com"),
        &wrap("[REDACTED:email]"),
    );
    let (result, _) = in_pieces(vec![detect("email", block())], &wrap("a@b.com"), 50, limits());
    assert_eq!(result, Err(BodyFault::Blocked));
}

#[test]
fn long_strings_follow_the_order_of_claims() {
    let body = format!(r#"{{"a":"{}"}}"#, long_text("a@b.com"));
    let chars = long_text("a@b.com").chars().count();
    check_long(vec![select("$.a", mask(0, 0))], &body, &format!(r#"{{"a":"{}"}}"#, "*".repeat(chars)));
    check_long(vec![select("$.a", redact()), detect("email", mask(0, 0))], &body, r#"{"a":"[REDACTED]"}"#);
    check_long(vec![select("$.a", Action::Remove)], &body, "{}");
    check_long(vec![select("$", redact_whole())], &body, r#""[REDACTED]""#);
    check_long(vec![select("$.a", Action::Allow), detect("email", mask(0, 0))], &body, &body);
    let masked = format!(r#"{{"a":"{}"}}"#, long_text("*******"));
    check_long(vec![detect("email", mask(0, 0)), select("$.a", Action::Remove)], &body, &masked);
    check_long(vec![detect("email", replace("1"))], &body, r#"{"a":1}"#);
    for rules in [
        vec![select("$.a", Action::Remove), detect("email", block())],
        vec![select("$.a", block())],
        vec![select("$", Action::Remove), detect("email", block())],
        vec![select("$.a", Action::Allow), detect("email", block())],
    ] {
        let (result, _) = in_pieces(rules, &body, 50, limits());
        assert_eq!(result, Err(BodyFault::Blocked));
    }
}

#[test]
fn what_needs_more_than_it_may_hold_is_oversize() {
    let body = format!(r#"{{"a":"{}"}}"#, "x".repeat(70_000));
    let (result, _) = in_pieces(vec![select("$.a", mask(0, 4))], &body, 1000, limits());
    let oversize = crate::policy::Failure::Oversize;
    assert!(matches!(result, Err(BodyFault::Unreadable { failure, .. }) if failure == oversize), "{result:?}");
}

fn mixed_rules() -> Vec<Rule> {
    vec![
        select("$..card", mask(0, 4)),
        select("$..gone", Action::Remove),
        select("$.list[*].p", rename("q")),
        select("$.v", set("1")),
        detect_below("credit_card", "$..deep", mask(1, 1)),
        shadow("s", detect("email", block())),
        detect("email", redact()),
    ]
}

proptest! {
    #![proptest_config(crate::properties::cases(300))]

    #[test]
    fn pieces_make_no_difference(
        items in prop::collection::vec((0_usize..7, "[a-zé\\\\\"/ ]{0,30}"), 0..12), size in 1_usize..40,
    ) {
        let members = items.iter().enumerate().map(|(n, (kind, text))| {
            let text = serde_json::to_string(&format!("{text} a@b.com \u{1f600}")).unwrap();
            match kind {
                0 => format!(r#"{{"card":{text},"n":[4111111111111111]}}"#),
                1 => format!(r#"{{ "gone" : [{text}] , "x":1e400}}"#),
                2 => format!(r#"{{"p":{text}}}"#),
                3 => r#"{"deep":{"k":[4111111111111111,"4111111111111111"]}}"#.to_owned(),
                4 => format!(r"{{{text}:{n}}}"),
                5 => text,
                _ => format!("[{n}.10, {text}, null]"),
            }
        });
        let body = format!(r#"{{"list": [{}]}}"#, members.collect::<Vec<_>>().join(" , "));
        let (whole, _, found) = judge(mixed_rules(), &body);
        let (pieces, found_in_pieces) = in_pieces(mixed_rules(), &body, size, Limits::default());
        prop_assert_eq!(&whole, &pieces);
        prop_assert_eq!(found, found_in_pieces);
        let out = whole.unwrap();
        prop_assert!(!out.contains("a@b.com"));
        prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&out).is_ok());
    }
}

/// A token that no window holds, put together here so that no scanner takes it for a live one.
fn long_jwt(payload: usize) -> String {
    let header = ["eyJ", "hbGciOiJIUzI1NiJ9"].concat();
    let body: String = (0..payload).map(|n| char::from(b'a' + (n * 7 % 26) as u8)).collect();
    format!("{header}.{body}.c2lnbmF0dXJl")
}

#[test]
fn tokens_longer_than_a_window_are_hidden_to_their_end() {
    for payload in [100, 10_000, 20_000, 50_000, 70_000, 200_000, 400_000] {
        for before in [0, 10, 40_000, 64_000, 65_500, 130_000] {
            let token = long_jwt(payload);
            let words = "word ".repeat(before / 5);
            let body = format!(r#"{{"a":"{words}{token} and more {}"}}"#, "x y ".repeat(20_000));
            let (result, _) = in_pieces(vec![detect("jwt", redact())], &body, 7919, Limits::default());
            let out = result.unwrap();
            let left = out.replace("[REDACTED:jwt]", "");
            assert_eq!(left.len() + token.len(), body.len(), "{payload} behind {before}");
            assert!(left.contains(&format!("{words} and more x y")), "{payload} behind {before}");
        }
    }
}
