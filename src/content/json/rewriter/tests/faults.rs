//! What stops a body, and where.

use std::sync::Arc;
use std::time::Instant;

use super::{Act, Script, bytewise, check, pieces, rules, whole};
use crate::content::json::selector::Program;
use crate::content::json::{Fault, Limits, Rewriter};

fn malformed(at: u64, what: &'static str) -> Result<&'static str, Fault> {
    Err(Fault::Malformed { at, what })
}

#[test]
fn a_selected_key_comes_once() {
    let twice = "a selected key comes twice";
    let check =
        |selector: &str, body: &str, expected: Result<&str, Fault>| check(&[(&[selector], Act::Keep)], body, expected);
    check("$.a", r#"{"a":1,"a":2}"#, malformed(7, twice));
    check("$.a", r#"{"a":1,"\u0061":2}"#, malformed(7, twice));
    check("$.a", r#"{"b":1,"b":2,"a":3}"#, Ok(r#"{"b":1,"b":2,"a":3}"#));
    check("$.a.b", r#"{"a":{"b":1},"a":{"b":2}}"#, malformed(13, twice));
    check("$.a.b", r#"{"x":{"b":1,"b":2}}"#, Ok(r#"{"x":{"b":1,"b":2}}"#));
    check("$..a", r#"[{"x":{"a":1,"a":2}}]"#, malformed(13, twice));
    check("$..a", r#"[{"a":{"a":1}},{"a":1}]"#, Ok(r#"[{"a":{"a":1}},{"a":1}]"#));
    check("$.*", r#"{"b":1,"c":1,"b":2}"#, malformed(13, twice));
    check("$.*.x", r#"{"b":{"y":1,"y":2},"c":1}"#, Ok(r#"{"b":{"y":1,"y":2},"c":1}"#));
}

#[test]
fn every_occurrence_of_another_key_is_judged() {
    check(&[(&["$.a.*"], Act::Remove)], r#"{"b":1,"a":{"x":1},"b":2}"#, Ok(r#"{"b":1,"a":{},"b":2}"#));
}

#[test]
fn tokens_and_held_white_space_are_bounded() {
    let limits = Limits { token: 10, ..Limits::default() };
    let oversize = |at, what| Err(Fault::Oversize { at, what });
    for (body, expected) in [
        (format!("{{\"{}\":1}}", "k".repeat(10)), Ok(())),
        (format!("{{\"{}\":1}}", "k".repeat(11)), oversize(11, "key")),
        (format!("[{}]", "1".repeat(10)), Ok(())),
        (format!("[{}]", "1".repeat(11)), oversize(11, "number")),
        (format!("[1,{}2]", " ".repeat(10)), Ok(())),
        (format!("[1,{}2]", " ".repeat(11)), oversize(13, "white space")),
        (format!("[1{},2]", " ".repeat(99)), Ok(())),
    ] {
        let program = Arc::new(Program::compile(&[]));
        let found = whole(&program, limits, &mut Script::default(), body.as_bytes());
        assert_eq!(found.map(|_| ()), expected, "{body}");
        let (found, ..) = pieces(&program, limits, &mut Script::default(), body.as_bytes(), &bytewise(body.as_bytes()));
        assert_eq!(found.map(|_| ()), expected, "{body}, byte by byte");
    }
}

/// Where a fault comes, what was written and what is held make up the body with the edits so far.
fn held(list: &[(&[&str], Act)], body: &str, written: &str, rest: &str) {
    let (entries, script) = rules(list);
    let program = Arc::new(Program::compile(&entries));
    for cuts in [vec![], bytewise(body.as_bytes())] {
        let (result, out, held) = pieces(&program, Limits::default(), &mut script.clone(), body.as_bytes(), &cuts);
        assert!(result.is_err());
        let all = [out, held].concat();
        let all = String::from_utf8(all).unwrap();
        assert!(all.starts_with(written) && format!("{written}{rest}").starts_with(&all), "{all}");
        if cuts.is_empty() {
            assert_eq!(all, format!("{written}{rest}"));
        }
    }
}

#[test]
fn what_is_held_continues_what_was_written() {
    held(&[], r#"{"a":1,x}"#, r#"{"a":1,"#, "x}");
    held(&[(&["$.a"], Act::Replace("0"))], r#"{"a":1,"b":tru }"#, r#"{"a":0,"b":"#, "tru }");
    held(&[(&["$.a"], Act::Remove)], r#"{"a":[1,2,x],"b":1}"#, "{", r#"x],"b":1}"#);
    held(&[(&["$.b"], Act::Remove)], r#"{"a":1,"b":nul}"#, r#"{"a":1,"b":"#, "nul}");
}

#[test]
fn a_fault_is_repeated() {
    let mut rewriter = Rewriter::new(Arc::new(Program::compile(&[])), Limits::default());
    let mut judge = Script::default();
    let fault = Err(Fault::Malformed { at: 1, what: "expected a value" });
    assert_eq!(rewriter.push(&mut judge, b"[x", &mut Vec::new()), fault);
    assert_eq!(rewriter.push(&mut judge, b"]", &mut Vec::new()), fault);
    assert_eq!(rewriter.finish(&mut judge, &mut Vec::new()), fault);
    assert_eq!(rewriter.held(), b"[x");
}

/// Time for a body byte by byte, against the same body eight times as long: linear, with room for noise.
#[test]
fn single_bytes_cost_linear_time() {
    let bodies: [&dyn Fn(usize) -> String; 4] = [
        &|n| format!("\"{}\"", "a\\u00e9".repeat(n / 7)),
        &|n| format!("[1,{}2]", " ".repeat(n)),
        &|n| format!("[{}1]", "1,{\"k\":null},".repeat(n / 13)),
        &|n| "1".repeat(n),
    ];
    for (which, body) in bodies.iter().enumerate() {
        let time = |n: usize| {
            let body = body(n);
            let mut rewriter = Rewriter::new(
                Arc::new(Program::compile(&[])),
                Limits { token: 1 << 30, window: 1 << 30, ..Limits::default() },
            );
            let mut judge = Script::default();
            let mut out = Vec::new();
            let begun = Instant::now();
            for byte in body.as_bytes().chunks(1) {
                rewriter.push(&mut judge, byte, &mut out).unwrap();
            }
            rewriter.finish(&mut judge, &mut out).unwrap();
            assert_eq!(out, body.as_bytes());
            begun.elapsed()
        };
        let (short, long) = (time(20_000), time(160_000));
        assert!(long < short * 32 + std::time::Duration::from_millis(50), "{which}: {short:?}, {long:?}");
    }
}
