//! Strings beyond the window.

use std::sync::Arc;

use super::{Act, Script, bytewise, pieces, rules, whole};
use crate::content::json::selector::Program;
use crate::content::json::{Fault, Limits, Long, Rewriter};

const LIMITS: Limits = Limits { depth: 8, token: 32, window: 16, value: 64 };

fn check(act: Act, long: Option<Long>, body: &str, expected: Result<&str, Fault>) -> Vec<String> {
    let (entries, script) = rules(&[(&["$.s"], act)]);
    let program = Arc::new(Program::compile(&entries));
    let judge = Script { long, ..script };
    let mut seen = judge.clone();
    let expected = expected.map(str::to_owned);
    let found = whole(&program, LIMITS, &mut seen, body.as_bytes()).map(|out| String::from_utf8(out).unwrap());
    assert_eq!(found, expected);
    let mut again = judge.clone();
    let (found, ..) = pieces(&program, LIMITS, &mut again, body.as_bytes(), &bytewise(body.as_bytes()));
    assert_eq!(found.map(|out| String::from_utf8(out).unwrap()), expected, "byte by byte");
    assert_eq!(seen.log, again.log, "the judge sees the same however the body comes");
    seen.log
}

#[test]
fn a_string_as_long_as_the_window_is_shown_whole() {
    let log = check(Act::Keep, None, r#"{"s":"0123456789abcdef"}"#, Ok(r#"{"s":"0123456789abcdef"}"#));
    assert!(log.contains(&r#"scalar $.s String("0123456789abcdef")"#.to_owned()));
    let log = check(Act::Keep, None, r#"{"s":"0123456789abcdef0"}"#, Ok(r#"{"s":"0123456789abcdef0"}"#));
    assert!(log.contains(&"long $.s ".to_owned()) && !log.iter().any(|line| line.starts_with("scalar")));
}

#[test]
fn windows_are_spliced_like_whole_strings() {
    let body =
        r#"{"x":1,"s":"bbbbbbba\u0061bbb\ud83d\ude00bbbbbbbbbbbbbbbbbbbabbb\/bbbéaé\nbbbbbbbbbbbbbbbbbbaaaa","y":2}"#;
    let expected = body.replace(r"\u0061", "<>").replace('a', "<>");
    let log = check(Act::Splice("<>"), None, body, Ok(&expected));
    assert!(log.iter().filter(|line| line.starts_with("window")).count() > 4);
    assert!(log.iter().all(|line| line.len() < 64 * 2 + 80), "memory of a few windows: {log:?}");
}

#[test]
fn what_is_decided_without_the_content_never_shows_it() {
    let string = "q".repeat(500);
    let body = format!(r#"{{"r":0, "s" : "{string}\u00e9" , "t":1}}"#);
    check(Act::Remove, None, &body, Ok(r#"{"r":0 , "t":1}"#));
    check(Act::Replace("[0]"), None, &body, Ok(r#"{"r":0, "s" : [0] , "t":1}"#));
    check(Act::Stop, None, &body, Err(Fault::Stopped));
    check(Act::Keep, None, &body, Ok(&body));
}

#[test]
fn a_whole_string_is_held_up_to_the_limit() {
    let body = |n: usize| format!(r#"{{"s":"{}a"}}"#, "b".repeat(n - 1));
    check(Act::Splice("x"), Some(Long::Whole), &body(64), Ok(&body(64).replace('a', "x")));
    check(Act::Splice("x"), Some(Long::Whole), &body(65), Err(Fault::Oversize { at: 69, what: "string" }));
}

#[test]
fn a_long_string_is_validated_wherever_it_goes() {
    for act in [Act::Keep, Act::Remove, Act::Replace("0"), Act::Splice("x")] {
        for bad in ["\u{1}", "\\x", "\\ud800"] {
            let body = format!(r#"{{"s":"{}{bad}"}}"#, "q".repeat(100));
            let (entries, mut script) = rules(&[(&["$.s"], act.clone())]);
            let result = whole(&Program::compile(&entries), LIMITS, &mut script, body.as_bytes());
            assert!(matches!(result, Err(Fault::Malformed { .. })), "{act:?} {bad:?}");
        }
    }
}

#[test]
fn a_rename_goes_with_a_long_value() {
    check(
        Act::Rename("t"),
        Some(Long::Windows),
        r#"{"s":"bbbbbbbbbbbbbbbbbbbbbbbbbbbb"}"#,
        Ok(r#"{"t":"bbbbbbbbbbbbbbbbbbbbbbbbbbbb"}"#),
    );
}

#[test]
fn nothing_that_flows_by_is_held() {
    for (act, selected_only) in [(Act::Keep, true), (Act::Keep, false), (Act::Splice("x"), false), (Act::Remove, false)]
    {
        let (entries, script) = rules(&[(&["$.s"], act)]);
        let mut judge = Script { selected_only, ..script };
        let mut rewriter = Rewriter::new(Arc::new(Program::compile(&entries)), LIMITS);
        let mut out = Vec::new();
        for key in ["{\"s", ",\"other"] {
            rewriter.push(&mut judge, format!("{key}\":\"").as_bytes(), &mut out).unwrap();
            for _ in 0..2000 {
                rewriter.push(&mut judge, b"abcdefg", &mut out).unwrap();
                assert!(rewriter.held().len() <= 128, "{}", rewriter.held().len());
            }
            rewriter.push(&mut judge, b"\"", &mut out).unwrap();
        }
        rewriter.push(&mut judge, b"}", &mut out).unwrap();
        rewriter.finish(&mut judge, &mut out).unwrap();
    }
}
