use super::*;

const CARD: &str = "4111111111111111";

#[test]
fn the_example_of_the_rule_language() {
    check(
        vec![
            select("$..card.number", mask(0, 4)),
            select("$.ssn $..tax_id", Action::Remove),
            select("$.phone", rename("tel")),
            select("$.gateway", set(r#""v1""#)),
            detect("email", redact()),
        ],
        r#"{"card":{"number":"4111111111111111"},"n":9007199254740993}"#,
        r#"{"card":{"number":"************1111"},"n":9007199254740993,"gateway":"v1"}"#,
    );
    check(
        vec![select("$.ssn $..tax_id", Action::Remove), select("$.phone", rename("tel")), detect("email", redact())],
        r#"{ "ssn" : "1", "phone": "+1" , "note":"write to a@b.com \u00e9", "x":{"tax_id":[1,{}]}}"#,
        r#"{ "tel": "+1" , "note":"write to [REDACTED:email] \u00e9", "x":{}}"#,
    );
}

#[test]
fn nothing_to_do_changes_nothing() {
    for body in ["[]", "{}", " 1e400 ", r#"{"a":1.10,"a":"\u00e9\ud83d\ude00"}"#] {
        check(vec![detect("email credit_card", redact())], body, body);
        check(vec![], body, body);
    }
}

#[test]
fn detectors_see_strings_numbers_and_keys() {
    let rules = || vec![detect("credit_card", mask(0, 4))];
    check(rules(), r#"{"a":"4111111111111111"}"#, r#"{"a":"************1111"}"#);
    check(rules(), r#"{"a":4111111111111111}"#, r#"{"a":1000000000001111}"#);
    check(rules(), r#"["x 4111111111111111 y 5500005555555559"]"#, r#"["x ************1111 y ************5559"]"#);
    check(rules(), r#"{"4111111111111111":1}"#, r#"{"************1111":1}"#);
    check(vec![detect("email", redact())], r#"{"to a@b.com!":"x"}"#, r#"{"to [REDACTED:email]!":"x"}"#);
    check(
        vec![detect("email", Action::Redact(Redact { with: Some("".into()), ..Redact::default() }))],
        r#"{"a@b.com":1}"#,
        r#"{"":1}"#,
    );
}

#[test]
fn escapes_beside_a_span_stay() {
    check(vec![detect("email", redact())], r#"["\u00e9 a@b.com \/"]"#, r#"["\u00e9 [REDACTED:email] \/"]"#);
    check(vec![detect("email", redact())], r#"["\u00e9 a\u0040b.com \/"]"#, r#"["\u00e9 [REDACTED:email] \/"]"#);
}

#[test]
fn a_key_that_would_collide_is_malformed() {
    let body = r#"{"a@b.com":1,"c@d.org":2}"#;
    let (result, ..) = judge(vec![detect("email", redact())], body);
    assert!(matches!(result, Err(BodyFault::Unreadable { .. })), "{result:?}");
    let body = r#"{"[REDACTED:email]":1,"c@d.org":2}"#;
    let (result, ..) = judge(vec![detect("email", redact())], body);
    assert!(matches!(result, Err(BodyFault::Unreadable { .. })), "{result:?}");
}

#[test]
fn keep_only_keeps_only() {
    let body = r#"{"id":1,"name":"x","customers":[{"id":2,"city":"B","ssn":3},{"ssn":4}],"meta":{"id":5}}"#;
    check(
        vec![keep_only("$.id $.customers[*].id $.customers[*].city")],
        body,
        r#"{"id":1,"customers":[{"id":2,"city":"B"},{}]}"#,
    );
}

#[test]
fn leaves_of_a_selected_container_are_edited_one_by_one() {
    let body = r#"{"a":{"b":"xyz","c":[1,true,null,{"d":""}]},"e":"xyz"}"#;
    check(vec![select("$.a", mask(0, 0))], body, r#"{"a":{"b":"***","c":[1,null,null,{"d":""}]},"e":"xyz"}"#);
    check(
        vec![select("$.a", redact())],
        body,
        r#"{"a":{"b":"[REDACTED]","c":[0,"[REDACTED]","[REDACTED]",{"d":"[REDACTED]"}]},"e":"xyz"}"#,
    );
    check(vec![select("$.a", redact_whole())], body, r#"{"a":"[REDACTED]","e":"xyz"}"#);
    check(vec![select("$.a", replace("[1]"))], body, r#"{"a":[1],"e":"xyz"}"#);
    check(vec![select("$.a", Action::Remove)], body, r#"{"e":"xyz"}"#);
}

#[test]
fn a_detector_with_select_looks_only_there_and_below() {
    let rules = || vec![detect_below("email", "$.a", redact())];
    let body = r#"{"a":{"b":["a@b.com"],"k@b.com":1},"c":"a@b.com","a@b.com":2}"#;
    check(rules(), body, r#"{"a":{"b":["[REDACTED:email]"],"[REDACTED:email]":1},"c":"a@b.com","a@b.com":2}"#);
    check(rules(), r#"{"a":"a@b.com"}"#, r#"{"a":"[REDACTED:email]"}"#);
    check_blocked(vec![detect_below("email", "$..x", block())], r#"{"x":{"y":[1,{"z":"a@b.com"}]}}"#, 0);
    check(vec![detect_below("email", "$..x", block())], r#"{"y":{"z":"a@b.com"}}"#, r#"{"y":{"z":"a@b.com"}}"#);
}

#[test]
fn set_replaces_or_appends() {
    let rules = || vec![select("$.a.v", set(r#"{"x":1}"#))];
    check(rules(), r#"{"a":{}}"#, r#"{"a":{"v":{"x":1}}}"#);
    check(rules(), r#"{"a":{"b":1}}"#, r#"{"a":{"b":1,"v":{"x":1}}}"#);
    check(rules(), r#"{"a":{"v":[2]}}"#, r#"{"a":{"v":{"x":1}}}"#);
    check(rules(), r#"{"b":{}}"#, r#"{"b":{}}"#);
    check(vec![select("$.v $.w", set("1")), select("$.v", set("2"))], "{}", r#"{"v":1,"w":1}"#);
}

#[test]
fn rename_combines_with_a_rule_about_the_value() {
    check(vec![select("$.p", rename("q")), select("$.p", mask(0, 0))], r#"{"p":"xy"}"#, r#"{"q":"**"}"#);
    check(vec![select("$.p", mask(0, 0)), select("$.p", rename("q"))], r#"{"p":"xy"}"#, r#"{"q":"**"}"#);
    check(vec![select("$.p", rename("q")), select("$.p", rename("r"))], r#"{"p":1}"#, r#"{"q":1}"#);
    check(vec![detect("email", redact()), select("$.*", rename("r"))], r#"{"a@b.com":1}"#, r#"{"[REDACTED:email]":1}"#);
}

#[test]
fn places_tell_where_and_not_what() {
    check_found(
        vec![detect("credit_card", redact()), select("$..x", mask(0, 0))],
        &format!(r#"{{"l":[{{"n":"{CARD}"}},{{"n":{CARD}}}],"{CARD}":{{"x":"s"}},"a@b.com":{{"x":["s","t"]}}}}"#),
        &[
            "0 credit_card $.l[*].n 2",
            "0 credit_card $.[credit_card] 1",
            "1 - $.[credit_card].x 1",
            "1 - $.[email].x[*] 2",
        ],
    );
    let long = "k".repeat(500);
    let (_, _, found) = judge(vec![select("$.*.x", mask(0, 0))], &format!(r#"{{"{long}":{{"x":"s"}}}}"#));
    assert_eq!(found, [format!("0 - $['{}…'].x 1", "k".repeat(64))]);
}

#[test]
fn what_is_set_is_told() {
    check_found(vec![select("$.a.v", set("1"))], r#"{"a":{}}"#, &["0 - $.a.v 1"]);
    check_found(vec![select("$.a", redact_whole())], r#"{"a":{"b":[1,2]}}"#, &["0 - $.a 1"]);
    check_found(vec![select("$.a", Action::Log)], r#"{"a":{"b":[1,2]}}"#, &["0 - $.a 1"]);
}

#[test]
fn facts_of_a_plan() {
    let facts = |rules: Vec<Rule>| {
        let plan = plan(rules);
        (plan.reads_body(), plan.acts_on_body(), plan.may_block_body(), plan.wants_every_value())
    };
    assert_eq!(facts(vec![]), (false, false, false, false));
    assert_eq!(facts(vec![query("a", block())]), (false, false, false, false));
    assert_eq!(facts(vec![select("$.a", redact())]), (true, true, false, false));
    assert_eq!(facts(vec![shadow("s", select("$.a", block()))]), (true, false, false, false));
    assert_eq!(facts(vec![detect("email", block())]), (true, true, true, true));
    assert_eq!(facts(vec![detect_in_path("email", block())]), (false, false, false, false));
    assert_eq!(facts(vec![detect_below("email", "$.a", redact())]), (true, true, false, false));
}

#[test]
fn block_wins_over_pass_on_failure_and_shadow_fails_nothing() {
    use super::super::{Failure, OnFailure};
    let pass = FailurePolicy { malformed: OnFailure::Pass, ..FailurePolicy::default() };
    let passing = || Rule { on_failure: pass, ..select("$.a", redact()) };
    let decide = |rules: Vec<Rule>| plan(rules).on_failure(Failure::Malformed);
    assert_eq!(decide(vec![passing()]), OnFailure::Pass);
    assert_eq!(decide(vec![passing(), select("$.b", redact())]), OnFailure::Block);
    assert_eq!(decide(vec![passing(), shadow("s", select("$.b", redact()))]), OnFailure::Pass);
    assert_eq!(decide(vec![query("a", block())]), OnFailure::Pass);
    assert_eq!(plan(vec![passing()]).on_failure(Failure::Oversize), OnFailure::Block);
}

#[test]
fn a_finding_is_put_into_words() {
    let plan = plan(vec![shadow("trial", detect("email", redact()))]);
    let (_, judge) = BodyFilter::whole(&plan, Format::Json, Limits::default(), br#"{"a":"a@b.com"}"#);
    let told = plan.describe(&judge.findings().list()[0]).unwrap();
    assert_eq!((told.place, told.entity, told.policy, told.rule), ("$.a", "email", "trial", "r"));
    assert_eq!((told.action, told.shadow, told.count, told.direction.name()), ("redact", true, 1, "response"));
}

#[test]
fn a_short_body_costs_few_allocations() {
    let rules = vec![
        select("$.ssn", Action::Remove),
        select("$.card", mask(0, 4)),
        select("$.phone", rename("tel")),
        select("$.gateway", set("\"v1\"")),
    ];
    let plan = Arc::new(Plan::compile(Direction::Response, rules, &Arc::default()));
    let body =
        br#"{"id":1,"ssn":"x","card":"4111","phone":"y","orders":[{"sku":"a","tags":[],"price":1.5}],"note":"z"}"#;
    let run = || drop(BodyFilter::whole(&plan, Format::Json, Limits::default(), body));
    run();
    // What was found, its list; who looks; what is added; what comes out.
    let counted = allocation_counter::measure(run).count_total;
    assert!(counted <= 5, "{counted}");
}
