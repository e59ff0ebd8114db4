//! Each action on each kind of scalar.

use super::*;

#[track_caller]
fn on_each(action: &Action, expected: [&str; 5]) {
    for (value, expected) in [r#""xyz""#, "-12.50", "true", "null", "[]"].into_iter().zip(expected) {
        let wrap = |value: &str| if value.is_empty() { "{}".into() } else { format!(r#"{{"a":{value}}}"#) };
        check(vec![select("$.a", action.clone())], &wrap(value), &wrap(expected));
    }
}

#[test]
fn each_action_on_each_kind() {
    on_each(&Action::Allow, [r#""xyz""#, "-12.50", "true", "null", "[]"]);
    on_each(&Action::Log, [r#""xyz""#, "-12.50", "true", "null", "[]"]);
    on_each(&mask(0, 1), [r#""**z""#, "-10.00", "null", "null", "[]"]);
    on_each(&redact(), [r#""[REDACTED]""#, "0", r#""[REDACTED]""#, r#""[REDACTED]""#, "[]"]);
    on_each(&redact_whole(), [r#""[REDACTED]""#, "0", r#""[REDACTED]""#, r#""[REDACTED]""#, r#""[REDACTED]""#]);
    on_each(&Action::Remove, [""; 5]);
    on_each(&replace(r#"{"b":"é"}"#), [r#"{"b":"é"}"#; 5]);
    on_each(&set("7"), ["7"; 5]);
}

#[test]
fn as_string_changes_the_type_of_numbers() {
    let as_string = Action::Mask(Mask { keep_last: 2, as_string: true, ..Mask::default() });
    check(vec![select("$.a", as_string.clone())], r#"{"a":12345}"#, r#"{"a":"***45"}"#);
    check(vec![detect("credit_card", as_string)], "[4111111111111111]", r#"["**************11"]"#);
    let as_string = Action::Redact(Redact { as_string: true, ..Redact::default() });
    check(vec![select("$.a", as_string.clone())], r#"{"a":12345}"#, r#"{"a":"[REDACTED]"}"#);
    check(vec![detect("credit_card", as_string)], "[4111111111111111]", r#"["[REDACTED:credit_card]"]"#);
    check(vec![detect("credit_card", redact())], "[4111111111111111]", "[0]");
}

#[test]
fn odd_texts_are_escaped() {
    let odd = Action::Redact(Redact { with: Some("a\"\n\u{1}é".into()), ..Redact::default() });
    check(vec![select("$.a", odd.clone())], r#"{"a":1.0,"b":true}"#, r#"{"a":0,"b":true}"#);
    check(vec![select("$.b", odd)], r#"{"b":true}"#, r#"{"b":"a\"\n\u0001é"}"#);
    let odd = Action::Mask(Mask { with: '"', keep_last: 1, ..Mask::default() });
    check(vec![select("$.a", odd)], r#"{"a":"xyz"}"#, r#"{"a":"\"\"z"}"#);
}

#[test]
fn the_root_is_a_value_too() {
    check(vec![select("$", Action::Remove)], "12", "null");
    check(vec![select("$", redact())], "\"x\"", r#""[REDACTED]""#);
    check(vec![select("$", mask(0, 0))], r#"["xy",[1]]"#, r#"["**",[1]]"#);
    check(vec![detect("email", redact())], r#""a@b.com""#, r#""[REDACTED:email]""#);
}
