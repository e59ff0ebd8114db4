use super::*;

#[test]
fn the_first_that_changes_a_value_has_it() {
    let body = r#"{"a":"xyz"}"#;
    check(vec![select("$.a", mask(0, 0)), select("$.a", Action::Remove)], body, r#"{"a":"***"}"#);
    check(vec![select("$.a", Action::Remove), select("$.a", mask(0, 0))], body, "{}");
    check(vec![select("$.a", Action::Allow), select("$.a", mask(0, 0))], body, body);
    check(vec![select("$.a", Action::Log), select("$.a", mask(0, 0))], body, r#"{"a":"***"}"#);
    check(vec![select("$.a", replace("1")), select("$.a", set("2"))], body, r#"{"a":1}"#);
    check(vec![select("$..a $.a", mask(0, 1)), select("$.*", mask(1, 0))], body, r#"{"a":"**z"}"#);
}

#[test]
fn what_a_rule_does_not_change_is_left_to_the_next() {
    check(vec![select("$.a", mask(0, 0)), select("$.a", Action::Remove)], r#"{"a":null}"#, "{}");
    check(vec![select("$.a", mask(0, 0)), select("$.a", redact())], r#"{"a":""}"#, r#"{"a":"[REDACTED]"}"#);
    check(vec![detect("email", redact()), select("$.a", mask(0, 0))], r#"{"a":"xyz"}"#, r#"{"a":"***"}"#);
}

#[test]
fn detectors_and_selectors_claim_in_order() {
    let body = r#"{"a":"mail a@b.com"}"#;
    check(vec![detect("email", redact()), select("$.a", mask(0, 0))], body, r#"{"a":"mail [REDACTED:email]"}"#);
    check(vec![select("$.a", mask(0, 2)), detect("email", redact())], body, r#"{"a":"**********om"}"#);
    check(vec![select("$.a", Action::Allow), detect("email", redact())], body, body);
    check(vec![detect("email", Action::Allow), select("$.a", Action::Remove)], body, body);
    check(vec![detect("email", Action::Log), select("$.a", Action::Remove)], body, "{}");
}

#[test]
fn detectors_share_a_value_span_by_span() {
    let body = r#"["a@b.com 4111111111111111 c@d.org"]"#;
    check(
        vec![detect("credit_card", mask(0, 4)), detect("email credit_card", redact())],
        body,
        r#"["[REDACTED:email] ************1111 [REDACTED:email]"]"#,
    );
    check(
        vec![detect("credit_card", Action::Allow), detect("email credit_card", redact())],
        body,
        r#"["[REDACTED:email] 4111111111111111 [REDACTED:email]"]"#,
    );
    check(vec![detect("email", replace("null"))], body, "[null]");
    check(vec![detect("email", redact_whole())], body, r#"["[REDACTED:email]"]"#);
    check(vec![detect("credit_card", mask(0, 4)), detect("email", replace("7"))], body, "[7]");
}

#[test]
fn what_is_above_claims_with_its_own_order() {
    let body = r#"{"a":{"b":"xyz","c":"a@b.com"}}"#;
    check(vec![select("$.a", mask(0, 0)), select("$.a.b", redact())], body, r#"{"a":{"b":"***","c":"*******"}}"#);
    check(
        vec![select("$.a.b", redact()), select("$.a", mask(0, 0))],
        body,
        r#"{"a":{"b":"[REDACTED]","c":"*******"}}"#,
    );
    check(vec![select("$.a", Action::Allow), detect("email", redact())], body, body);
    check(vec![select("$.a", mask(0, 0)), select("$.a", Action::Remove)], body, r#"{"a":{"b":"***","c":"*******"}}"#);
    check(vec![select("$.a.b", Action::Allow), select("$.a", Action::Remove)], body, "{}");
    check(vec![select("$.a", Action::Allow), select("$.a.d", set("1"))], body, body);
    check(
        vec![select("$.a.d", set("1")), select("$.a", Action::Allow)],
        body,
        r#"{"a":{"b":"xyz","c":"a@b.com","d":1}}"#,
    );
    check(vec![select("$.a", Action::Allow), keep_only("$.z")], body, body);
    check(vec![select("$.a.b", Action::Allow), keep_only("$.a.c")], body, body);
}

#[test]
fn allow_reaches_keys_below() {
    let body = r#"{"a":{"a@b.com":1},"b":{"a@b.com":1}}"#;
    let expected = r#"{"a":{"a@b.com":1},"b":{"[REDACTED:email]":1}}"#;
    check(vec![select("$.a", Action::Allow), detect("email", redact())], body, expected);
}

#[test]
fn block_wins_wherever_it_stands() {
    let body = r#"{"a":{"b":"a@b.com"}}"#;
    check_blocked(vec![select("$.a", Action::Remove), detect("email", block())], body, 1);
    check_blocked(vec![select("$.a", Action::Remove), select("$.a.b", block())], body, 1);
    check_blocked(vec![select("$.a", replace("1")), detect_below("email", "$.a", block())], body, 1);
    check_blocked(vec![select("$.a.b", Action::Allow), detect("email", block())], body, 1);
    check_blocked(vec![select("$.a.b", mask(0, 0)), select("$.a.b", block())], body, 1);
    check_blocked(vec![select("$.a", mask(0, 0)), select("$.a", block())], body, 1);
    check_blocked(vec![keep_only("$.z"), detect("email", block())], body, 1);
    check_blocked(vec![detect("email", block())], r#"{"a@b.com":1}"#, 0);
    check_blocked(vec![select("$.a", Action::Remove), detect("email", block())], r#"{"a":{"a@b.com":1}}"#, 1);
    check(vec![select("$.a", Action::Remove), select("$.c", block())], body, "{}");
}

#[test]
fn nothing_is_found_in_what_is_gone() {
    let body = r#"{"a":{"b":"a@b.com"}}"#;
    check_found(vec![select("$.a", Action::Remove), detect("email", redact())], body, &["0 - $.a 1"]);
    check_found(
        vec![select("$.a", Action::Remove), shadow("s", detect("email", block()))],
        body,
        &["0 - $.a 1", "1 email $.a.b 1"],
    );
}

#[test]
fn shadow_changes_nothing_and_tells_what_it_would() {
    let body = r#"{"a":"mail a@b.com","b":{"c":1}}"#;
    let all = |mode: fn(Rule) -> Rule| {
        vec![
            mode(detect("email", block())),
            mode(select("$.b", Action::Remove)),
            mode(select("$.d", set("1"))),
            mode(select("$.b", rename("x"))),
            mode(keep_only("$.a")),
        ]
    };
    let (result, verdict, found) = judge(all(|rule| shadow("s", rule)), body);
    assert_eq!((result.as_deref(), verdict), (Ok(body), Verdict::Pass));
    assert_eq!(found, ["0 email $.a 1", "3 - $.b 1", "1 - $.b 1", "2 - $.d 1"]);
}

#[test]
fn shadow_neither_claims_nor_hides_from_the_enforced() {
    let body = r#"{"a":"a@b.com"}"#;
    check(vec![shadow("s", select("$.a", Action::Allow)), select("$.a", mask(0, 0))], body, r#"{"a":"*******"}"#);
    check(
        vec![shadow("s", detect("email", mask(0, 0))), detect("email", redact())],
        body,
        r#"{"a":"[REDACTED:email]"}"#,
    );
    check(vec![shadow("s", select("$.a", Action::Remove)), select("$.a", mask(0, 0))], body, r#"{"a":"*******"}"#);
}

#[test]
fn shadow_is_judged_as_if_it_were_enforced() {
    let body = r#"{"a":"a@b.com"}"#;
    let twice = |first: &str, second: &str| {
        vec![shadow(first, detect("email", redact())), shadow(second, select("$.a", mask(0, 0)))]
    };
    check_found(twice("s", "s"), body, &["0 email $.a 1"]);
    check_found(twice("s", "t"), body, &["0 email $.a 1", "1 - $.a 1"]);
    check_found(vec![detect("email", redact()), shadow("s", detect("email", mask(0, 0)))], body, &["0 email $.a 1"]);
    check_found(vec![select("$.a", redact()), shadow("s", detect("email", mask(0, 0)))], body, &["0 - $.a 1"]);
    check_found(
        vec![shadow("s", select("$.a", Action::Remove)), shadow("s", select("$.a.b", redact()))],
        r#"{"a":{"b":1}}"#,
        &["0 - $.a 1"],
    );
}
