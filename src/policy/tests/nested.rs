//! JSON in strings, under rules with `parse`.

use super::*;
use crate::content::kind::Format;
use crate::policy::Failure;
use proptest::prelude::*;
use serde_json::Value;

fn parse(rule: Rule) -> Rule {
    Rule { parse: true, ..rule }
}

/// The JSON text of a string that says `inner`.
fn quoted(inner: &str) -> String {
    serde_json::to_string(inner).unwrap()
}

/// As [`check`], for the string `$.p`, told by what it says.
#[track_caller]
fn check_inside(rules: Vec<Rule>, inner: &str, expected: &str) {
    let wrap = |inner| format!(r#"{{"p":{},"q":"a@b.com"}}"#, quoted(inner));
    let (result, ..) = judge(rules, &wrap(inner));
    let result = result.unwrap();
    let found: Value = serde_json::from_str(&result).unwrap();
    assert_eq!(found["p"].as_str(), Some(expected), "{result}");
    assert_eq!(result, wrap(expected));
}

#[track_caller]
fn check_malformed(rules: Vec<Rule>, body: &str, words: &str) {
    let (result, ..) = judge(rules, body);
    let fits = matches!(result, Err(BodyFault::Unreadable { failure: Failure::Malformed, what, .. }) if what == words);
    assert!(fits, "{result:?}");
}

fn emails() -> Rule {
    parse(detect_below("email", "$.p", redact()))
}

#[test]
fn detectors_look_at_strings_numbers_and_keys_inside() {
    check_inside(
        vec![emails()],
        r#"{"u":{"mail":"to a@b.com, please","c@d.org":[1.10]},"e":"A@B.com"}"#,
        r#"{"u":{"mail":"to [REDACTED:email], please","[REDACTED:email]":[1.10]},"e":"[REDACTED:email]"}"#,
    );
    check_inside(
        vec![parse(detect_below("credit_card", "$.p", mask(0, 4)))],
        r#"[4111111111111111,"4111111111111111"]"#,
        r#"[1000000000001111,"************1111"]"#,
    );
    check_inside(vec![emails()], r#""a@b.com""#, r#""[REDACTED:email]""#);
    check_inside(vec![emails()], r#"{"n":1e400,"a":null}"#, r#"{"n":1e400,"a":null}"#);
}

#[test]
fn every_byte_that_nobody_touched_stays() {
    check(
        vec![emails()],
        r#"{"p":"\u007b \"a\" : \"\\u00e9 \/ a\u0040b.com\",\"b\":\"x\\ny\" }"}"#,
        r#"{"p":"\u007b \"a\" : \"\\u00e9 \/ [REDACTED:email]\",\"b\":\"x\\ny\" }"}"#,
    );
    // Escaped inside: seen decoded, replaced where it stands.
    check(vec![emails()], r#"{"p":"{\"a\":\"\\u0061@b.com\\n\"}"}"#, r#"{"p":"{\"a\":\"[REDACTED:email]\\n\"}"}"#);
}

#[test]
fn the_key_inside_is_context() {
    check_inside(
        vec![parse(detect_below("us_ssn", "$.p", redact()))],
        r#"{"ssn":"536-22-8726","order":"536-22-8726x"}"#,
        r#"{"ssn":"[REDACTED:us_ssn]","order":"536-22-8726x"}"#,
    );
}

#[test]
fn actions_on_leaves() {
    let inner = r#"{"a":"xyz","b":[1,true,null,{"c":""}]}"#;
    check_inside(vec![parse(select("$.p", mask(0, 0)))], inner, r#"{"a":"***","b":[1,null,null,{"c":""}]}"#);
    check_inside(
        vec![parse(select("$.p", redact()))],
        inner,
        r#"{"a":"[REDACTED]","b":[0,"[REDACTED]","[REDACTED]",{"c":"[REDACTED]"}]}"#,
    );
    check_inside(vec![parse(select("$.p", mask(0, 1)))], r#""secret""#, r#""*****t""#);
}

#[test]
fn allow_log_and_block_are_about_the_string() {
    let body = r#"{"p":"{\"a\":\"a@b.com\"}"}"#;
    check(vec![parse(select("$.p", Action::Allow)), detect("email", redact())], body, body);
    check_found(vec![parse(select("$.p", Action::Allow)), detect("email", redact())], body, &["0 - $.p 1"]);
    check_found(vec![parse(select("$.p", Action::Log))], body, &["0 - $.p 1"]);
    check_blocked(vec![parse(select("$.p", block()))], body, 0);
    check_blocked(vec![parse(select("$.p", mask(0, 0))), parse(detect_below("email", "$.p", block()))], body, 1);
    check_blocked(vec![select("$.p", mask(0, 0)), parse(detect_below("email", "$.p", block()))], body, 1);
    check_blocked(vec![select("$", Action::Remove), parse(detect_below("email", "$.p", block()))], body, 1);
    check_blocked(vec![parse(select("$.p", Action::Allow)), detect("email", block())], body, 1);
}

#[test]
fn the_first_claim_wins() {
    let inner = r#"{"a":"a@b.com","n":"xyz"}"#;
    let redacted = r#"{"a":"[REDACTED:email]","n":"xyz"}"#;
    let masked = r#"{"a":"*******","n":"xyz"}"#;
    let below = |action| parse(detect_below("email", "$.p", action));
    check_inside(vec![select("$.p", redact()), below(redact())], inner, "[REDACTED]");
    check_inside(vec![below(redact()), select("$.p", mask(0, 0))], inner, redacted);
    check_inside(vec![below(redact()), below(mask(0, 0))], inner, redacted);
    check_inside(vec![below(mask(0, 0)), below(redact())], inner, masked);
    check_inside(
        vec![below(redact()), parse(select("$.p", mask(0, 0)))],
        inner,
        r#"{"a":"[REDACTED:email]","n":"***"}"#,
    );
    check_inside(vec![parse(select("$.p", mask(0, 0))), below(redact())], inner, r#"{"a":"*******","n":"***"}"#);
    check_inside(vec![select("$.p", Action::Allow), below(redact())], inner, inner);
    check_inside(vec![below(Action::Allow), select("$.p", redact())], inner, inner);
    check_inside(vec![below(Action::Log), select("$.p", redact())], inner, "[REDACTED]");
    // Nothing in it to claim: the next rule is free.
    check_inside(vec![below(redact()), select("$.p", redact())], r#"{"n":"xyz"}"#, "[REDACTED]");
    let (result, ..) = judge(vec![below(redact()), select("$.p", Action::Remove)], r#"{"p":"[]","q":1}"#);
    assert_eq!(result.as_deref(), Ok(r#"{"q":1}"#));
}

#[test]
fn detectors_without_parse_look_inside_and_at_the_rest() {
    let cards = || parse(detect_below("credit_card", "$.p", mask(0, 4)));
    let everywhere = || detect("email", redact());
    let body = r#"{"p":"{\"c\":\"4111111111111111\",\"e\":\"x\\na@b.com\"}","q":"a@b.com"}"#;
    let expected = r#"{"p":"{\"c\":\"************1111\",\"e\":\"x\\n[REDACTED:email]\"}","q":"[REDACTED:email]"}"#;
    check(vec![cards(), everywhere()], body, expected);
    check(vec![everywhere(), cards()], body, expected);
    check_found(vec![cards(), everywhere()], body, &["0 credit_card $.p.c 1", "1 email $.p.e 1", "1 email $.q 1"]);
    // In neither value alone is there anything to see.
    let text = r#"["ssn","536228726"]"#;
    let body = format!(r#"{{"p":{}}}"#, quoted(text));
    let ssn = || detect("us_ssn", redact());
    let (plain, ..) = judge(vec![ssn()], &body);
    let (parsed, ..) = judge(vec![cards(), ssn()], &body);
    assert!(plain.clone().unwrap().contains("REDACTED:us_ssn"), "{plain:?}");
    assert_eq!(parsed, plain);
    check(vec![cards(), detect("email", replace("1"))], r#"{"p":"[\"a@b.com\"]"}"#, r#"{"p":"[1]"}"#);
}

#[test]
fn what_is_selected_need_not_be_a_string() {
    check(
        vec![emails()],
        r#"{"p":{"a":"a@b.com","b":"[\"a@b.com\",\"{a@b.com\"]"}}"#,
        r#"{"p":{"a":"[REDACTED:email]","b":"[\"[REDACTED:email]\",\"[REDACTED:email]\"]"}}"#,
    );
    check(vec![parse(select("$.p", mask(0, 0)))], r#"{"p":12}"#, r#"{"p":10}"#);
    check(vec![parse(select("$.p", mask(0, 0)))], r#"{"p":null}"#, r#"{"p":null}"#);
    check(vec![parse(select("$", mask(0, 0)))], r#""[\"xy\"]""#, r#""[\"**\"]""#);
}

#[test]
fn strings_in_strings_are_opened_up_to_four_deep() {
    let nest = |levels: usize, text: &str| {
        (1..levels).fold(format!("[{}]", quoted(text)), |inner, _| format!("[{}]", quoted(&inner)))
    };
    check_inside(vec![emails()], &nest(4, "a@b.com"), &nest(4, "[REDACTED:email]"));
    check_inside(vec![emails()], &nest(2, "{no JSON a@b.com"), &nest(2, "{no JSON [REDACTED:email]"));
    let body = |inner: &str| format!(r#"{{"p":{}}}"#, quoted(inner));
    check_malformed(vec![emails()], &body(&nest(5, "a")), "too many strings hold JSON in one another");
    check_found(vec![emails()], &body(r#"{"a":"[{\"b\":\"a@b.com\"}]"}"#), &["0 email $.p.a[*].b 1"]);
}

#[test]
fn what_cannot_be_read_is_malformed() {
    let no_json = "a string that a rule parses holds no JSON";
    for inner in ["", "x", "{", r#"{"a":1}}"#, r#"{"a":"\ud800"}"#] {
        check_malformed(vec![emails()], &format!(r#"{{"p":{}}}"#, quoted(inner)), no_json);
        check_malformed(vec![parse(select("$.p", Action::Log))], &format!(r#"{{"p":{}}}"#, quoted(inner)), no_json);
    }
    let deep = format!("{}{}", "[".repeat(127), "]".repeat(127));
    check(vec![emails()], &format!(r#"{{"p":"{deep}"}}"#), &format!(r#"{{"p":"{deep}"}}"#));
    check_malformed(vec![emails()], &format!(r#"{{"p":"[{deep}]"}}"#), "nested too deeply");
    check_malformed(vec![emails()], r#"{"p":"{\"a@b.com\":1,\"c@d.org\":2}"}"#, "a new key collides with another");
    let (result, ..) = judge(vec![emails()], r#"{"q":1,"p":"x"}"#);
    assert!(matches!(result, Err(BodyFault::Unreadable { at: 11, .. })), "{result:?}");
}

#[test]
fn shadow_rules_open_nothing_and_fail_nothing() {
    let trial = || shadow("s", emails());
    let body = r#"{"p":"{\"a\":\"x\\na@b.com\"}"}"#;
    check(vec![trial()], body, body);
    check_found(vec![trial()], body, &["0 email $.p.a 1"]);
    check(vec![trial()], r#"{"p":"x"}"#, r#"{"p":"x"}"#);
    let deep = format!(r#"{{"p":"{}{}"}}"#, "[".repeat(200), "]".repeat(200));
    check(vec![trial()], &deep, &deep);
    let (with, ..) = judge(vec![trial(), detect("email", redact())], body);
    let (without, ..) = judge(vec![detect("email", redact())], body);
    assert_eq!(with, without);
    check(vec![shadow("s", parse(detect_below("email", "$.p", block())))], body, body);
}

#[test]
fn long_strings_are_held_whole() {
    let limits = Limits { window: 64, value: 4096, ..Limits::default() };
    let run = |rules: Vec<Rule>, body: &str| BodyFilter::whole(&plan(rules), Format::Json, limits, body.as_bytes()).0;
    let body =
        |with: &str| format!(r#"{{"p":{}}}"#, quoted(&format!(r#"{{"a":"{}","b":"{with}"}}"#, "x".repeat(1000))));
    let found = run(vec![emails()], &body("a@b.com")).unwrap().unwrap();
    assert_eq!(String::from_utf8(found).unwrap(), body("[REDACTED:email]"));
    let long = format!(r#"{{"p":"\"{}\""}}"#, "x".repeat(5000));
    assert!(matches!(run(vec![emails()], &long), Err(BodyFault::Unreadable { failure: Failure::Oversize, .. })));
    assert_eq!(run(vec![shadow("s", emails())], &long), Ok(None));
}

#[test]
fn folded_selectors_find_the_strings() {
    let fold = |rule: Rule| match rule.target {
        Target::Select(selectors) => {
            Rule { target: Target::Select(selectors.into_iter().map(Selector::fold_case).collect()), ..rule }
        }
        target @ (Target::KeepOnly(_) | Target::Query(_) | Target::Headers(_) | Target::Detect { .. }) => {
            Rule { target, ..rule }
        }
    };
    check(
        vec![fold(select("$..Email", mask(0, 0)))],
        r#"{"EMAIL":"xy","a":{"email":"z"}}"#,
        r#"{"EMAIL":"**","a":{"email":"*"}}"#,
    );
    check(vec![fold(select("$.Via", set("1")))], r#"{"VIA":2,"via":3}"#, r#"{"VIA":1,"via":1}"#);
    check(vec![fold(select("$.Via", set("1")))], r#"{"vi":2}"#, r#"{"vi":2,"Via":1}"#);
    check(vec![fold(select("$.Via", set("1"))), select("$.via", redact())], r#"{"via":"x"}"#, r#"{"via":1}"#);
    check(vec![fold(select("$.phone", rename("tel")))], r#"{"Phone":1}"#, r#"{"tel":1}"#);
    let twice = |body| judge(vec![fold(select("$.phone", redact()))], body).0;
    assert!(twice(r#"{"Phone":1,"phone":2,"PHONE":3}"#).is_ok());
    assert!(twice(r#"{"Phone":1,"phone":2,"Phone":3}"#).is_err());
    assert!(twice(r#"{"phone":1,"phone":2}"#).is_err());
    let both = |body| judge(vec![fold(select("$.phone", rename("tel")))], body).0;
    assert!(both(r#"{"Phone":1,"phone":2}"#).is_err(), "two members under one name");
    let added = |body| judge(vec![fold(select("$.Via", set("1"))), select("$.x", rename("Via"))], body).0;
    assert!(added(r#"{"x":1}"#).is_err(), "two members under one name");
}

/// A document with e-mail addresses, and with documents in strings, up to two deep.
fn document() -> impl Strategy<Value = Value> {
    let text = "[a-z é\"\\\\/\n]{0,8}".prop_map(Value::from);
    let mail = "[ é\n\"]{0,3}".prop_map(|before| Value::from(format!("{before} a@b.com!")));
    let leaf = prop_oneof![text, mail, Just(Value::Null), any::<i32>().prop_map(Value::from)];
    let value = leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c]", inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    });
    let nested = |value: BoxedStrategy<Value>| {
        let text =
            prop::collection::vec(value.clone(), 0..3).prop_map(|list| Value::from(Value::from(list).to_string()));
        prop::collection::vec(prop_oneof![value, text.boxed()], 0..4).prop_map(Value::from).boxed()
    };
    nested(nested(value.boxed()))
}

/// What is expected: every address, however many strings deep.
fn redacted(value: &Value) -> Value {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ (Value::Array(_) | Value::Object(_))) => Value::from(redacted(&inner).to_string()),
            _ => Value::from(text.replace("a@b.com", "[REDACTED:email]")),
        },
        Value::Array(items) => items.iter().map(redacted).collect(),
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), redacted(value))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

proptest! {
    #![proptest_config(crate::properties::cases(300))]

    #[test]
    fn a_slow_oracle_agrees(document in document(), beside in document(), size in 1_usize..40, everywhere: bool) {
        let body = |p: &Value, q: &Value| format!(r#"{{"p":{},"q":{q}}}"#, quoted(&p.to_string()));
        let text = body(&document, &beside);
        let mut rules = vec![emails(), parse(detect_below("credit_card", "$.p", mask(0, 4)))];
        if everywhere {
            rules.push(detect("iban", redact()));
        }
        let (result, _, found) = judge(rules.clone(), &text);
        let expected = body(&redacted(&document), &beside);
        prop_assert_eq!(result.as_deref(), Ok(expected.as_str()));
        let (pieces, found_in_pieces) = super::streams::in_pieces(rules, &text, size, Limits::default());
        prop_assert_eq!(&pieces, &result);
        prop_assert_eq!(found, found_in_pieces);
    }

    #[test]
    fn nothing_that_was_hidden_shows(document in document(), first: bool) {
        let mut rules = vec![parse(detect_below("credit_card", "$.p", mask(0, 4))), detect("email", redact())];
        if first {
            rules.reverse();
        }
        let (result, ..) = judge(rules, &format!(r#"{{"p":{}}}"#, quoted(&document.to_string())));
        prop_assert!(!result.unwrap().contains("a@b.com"));
    }
}
