//! Selectors against the public compliance suite, where it is at hand, and against our own cases.

mod cases;

use std::collections::BTreeSet;
use std::io::Read;

use super::{Choice, Cursor, Program, ProgramEntry, Purpose, Selector};
use crate::content::json::{
    Container, Edit, Edits, Entry, EntryId, Judge, KeyEdit, Limits, Long, Node, Path, Scalar, Segment, Show,
    rewrite_whole,
};

/// A judge that only notes where selectors hit.
struct Marks {
    found: BTreeSet<String>,
    selected_only: bool,
}

impl Marks {
    fn mark(&mut self, node: Node<'_>) {
        if !node.hits.is_empty() {
            let steps = node.path.segments().map(|segment| match segment {
                Segment::Name(name) => format!("[{name:?}]"),
                Segment::Index(index) => format!("[{index}]"),
            });
            self.found.insert(steps.collect());
        }
    }
}

impl Judge for Marks {
    fn show(&self) -> Show {
        if self.selected_only { Show::Selected } else { Show::Everything }
    }
    fn key(&mut self, _: Node<'_>, _: &str, _: &mut Edits) -> KeyEdit {
        KeyEdit::Keep
    }
    fn scalar(&mut self, node: Node<'_>, _: Scalar<'_>, _: &mut Edits) -> Edit {
        self.mark(node);
        Edit::Keep
    }
    fn enter(&mut self, node: Node<'_>, _: Container, _: &mut Edits) -> Entry {
        self.mark(node);
        Entry::Enter
    }
    fn leave(&mut self, _: &Path, _: &[EntryId], _: &mut Edits) {}
    fn long_string(&mut self, node: Node<'_>, _: &mut Edits) -> Long {
        self.mark(node);
        Long::Pass
    }
    fn window(&mut self, _: Node<'_>, text: &str, _: usize, _: bool, _: &mut Edits) -> Option<usize> {
        Some(text.len())
    }
}

fn selected(selector: &Selector, body: &str) -> BTreeSet<String> {
    let entries = [ProgramEntry { purpose: Purpose::Value, selectors: vec![selector.clone()] }];
    let mut answers = Vec::new();
    for program in [Program::compile(&entries), Program::without_tables(&entries)] {
        for selected_only in [false, true] {
            let mut marks = Marks { found: BTreeSet::new(), selected_only };
            rewrite_whole(&program, Limits::default(), &mut marks, body.as_bytes()).unwrap();
            answers.push(marks.found);
        }
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{}: {answers:?}", selector.text());
    answers.swap_remove(0)
}

fn check(selector: &str, body: &str, expected: &[&str]) {
    let found = selected(&Selector::parse(selector).unwrap(), body);
    let expected: BTreeSet<String> = expected.iter().map(|&path| path.to_owned()).collect();
    assert_eq!(found, expected, "{selector} on {body}");
}

#[test]
fn selects_what_the_rfc_says() {
    let store = r#"{"a":{"b":[1,{"b":2}]},"c":"x","":0}"#;
    check("$", store, &[""]);
    check("$.a.b", store, &[r#"["a"]["b"]"#]);
    check("$['']", store, &[r#"[""]"#]);
    check("$..b", store, &[r#"["a"]["b"]"#, r#"["a"]["b"][1]["b"]"#]);
    check("$.*", store, &[r#"["a"]"#, r#"["c"]"#, r#"[""]"#]);
    check("$..[0]", store, &[r#"["a"]["b"][0]"#]);
    check("$..[0]..*", store, &[]);
    check("$.a..*", store, &[r#"["a"]["b"]"#, r#"["a"]["b"][0]"#, r#"["a"]["b"][1]"#, r#"["a"]["b"][1]["b"]"#]);
    check("$.a[0]", store, &[]);
    check("$.c[*]", store, &[]);
    check("$ ['a']\n[ 'b' ] [ 1 , 'x' ]", store, &[r#"["a"]["b"][1]"#]);
    let list = "[0,1,2,3,4,5,6,7,8,9]";
    check("$[1:8:3]", list, &["[1]", "[4]", "[7]"]);
    check("$[8:]", list, &["[8]", "[9]"]);
    check("$[:1]", list, &["[0]"]);
    check("$[5:2]", list, &[]);
    check("$[1,0:6:2,9,4:]", list, &["[0]", "[1]", "[2]", "[4]", "[5]", "[6]", "[7]", "[8]", "[9]"]);
    check(r#"$["\u0061\ud83d\ude00\"'\n"]"#, r#"{"a😀\"'\n":1}"#, &[r#"["a😀\"'\n"]"#]);
    check(r"$['it\'s']", r#"{"it's":1}"#, &[r#"["it's"]"#]);
}

fn check_folded(selector: &str, body: &str, expected: &[&str]) {
    let found = selected(&Selector::parse(selector).unwrap().fold_case(), body);
    let expected: BTreeSet<String> = expected.iter().map(|&path| path.to_owned()).collect();
    assert_eq!(found, expected, "{selector} on {body}");
}

#[test]
fn folded_names_match_whatever_their_case() {
    let store = r#"{"Email":1,"email":2,"EMAIL":{"e-Mail":3},"mail":4,"\uff25mail":5,"e":6}"#;
    let all = [r#"["Email"]"#, r#"["email"]"#, r#"["EMAIL"]"#, r#"["Ｅmail"]"#];
    check_folded("$.eMail", store, &all);
    check_folded("$.email['E-MAIL']", store, &[r#"["EMAIL"]["e-Mail"]"#]);
    check_folded("$..['e-mail','E']", store, &[r#"["EMAIL"]["e-Mail"]"#, r#"["e"]"#]);
    check_folded("$.*", r#"{"A":1,"a":2}"#, &[r#"["A"]"#, r#"["a"]"#]);
    check_folded("$.ÄRZTE", r#"{"ärzte":1,"a\u0308rzte":2,"arzte":3}"#, &[r#"["ärzte"]"#, r#"["a\u{308}rzte"]"#]);
    check("$.Email", store, &[r#"["Email"]"#]);
}

#[test]
fn exact_and_folded_names_live_side_by_side() {
    let parse = |text: &str| Selector::parse(text).unwrap();
    let entry = |selector| ProgramEntry { purpose: Purpose::Value, selectors: vec![selector] };
    let entries = [entry(parse("$.Id")), entry(parse("$.ID").fold_case()), entry(parse("$.id.x"))];
    let hits = |program: Program, key: &str| {
        let mut cursor = Cursor::default();
        let root = cursor.start(&program);
        let member = cursor.by_name(&program, root, key);
        cursor.state(&program, member.state).scalar.to_vec()
    };
    for make in [Program::compile, Program::without_tables] {
        assert_eq!(hits(make(&entries), "Id"), [0, 1]);
        assert_eq!(hits(make(&entries), "ID"), [1]);
        assert_eq!(hits(make(&entries), "id"), [1]);
        assert_eq!(hits(make(&entries), "iD"), [1]);
        assert_eq!(hits(make(&entries), "i"), [0_u16; 0]);
    }
}

#[test]
fn large_periods_and_explosions_are_followed_without_tables() {
    let list: Vec<String> = (0..30).map(|n| n.to_string()).collect();
    let list = format!("[{}]", list.join(","));
    check("$[0:99:7919,1::104729,2::1299709]", &list, &["[0]", "[1]", "[2]"]);
    let deep = r#"{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}}}}}}}}}}}"#;
    let path = r#"["a"]"#;
    check(&format!("$..a{}", ".*".repeat(14)), deep, &[&path.repeat(15), &path.repeat(16)]);
}

fn refused(selector: &str, at: usize, message: &str, hint: bool) {
    let error = Selector::parse(selector).expect_err(selector);
    assert_eq!((error.at, error.message.as_str(), error.hint.is_some()), (at, message, hint), "{selector}: {error:?}");
}

#[test]
fn refuses_with_position_and_advice() {
    refused("", 0, "a selector begins with `$`", true);
    refused("a.b", 0, "a selector begins with `$`", true);
    refused(" $.a", 0, "a selector begins with `$`", true);
    refused("$.a ", 3, "white space at the end of a selector", false);
    refused("$.a[-1]", 4, "negative indexes and steps are not supported", true);
    refused("$[0:5:-1]", 6, "negative indexes and steps are not supported", true);
    refused("$[::0]", 4, "a step of 0 selects nothing", true);
    refused("$.a[?@.b]", 4, "filters are not supported", true);
    refused("$[?count(@.*)>1]", 2, "filters are not supported", true);
    refused("$[(@.length-1)]", 2, "scripts are not supported", true);
    refused("$.a-b", 3, "`-` in a name without quotes", true);
    refused("$.1a", 2, "a name of this kind needs brackets and quotes", true);
    refused("$[a]", 2, "a name in brackets needs quotes", true);
    refused("$[]", 2, "nothing between the brackets", true);
    refused("$[01]", 2, "an index has no leading zeros", false);
    refused("$[9007199254740992]", 2, "the index is too large", true);
    refused("$[99999999999999999999]", 2, "the index is too large", true);
    refused("$['a]", 2, "the quote is never closed", false);
    refused(r"$['\ud800']", 3, "half of a surrogate pair", false);
    refused("$['a'", 5, "missing `]`", false);
    refused("$a", 1, "expected `.`, `..` or `[`", false);
    refused("$.", 2, "expected a name or `*` after the dot", false);
    refused("$...a", 3, "three dots in a row", true);
    refused("$.[0]", 2, "`.` before `[`", true);
}

#[test]
fn knows_what_it_is() {
    let facts = |text: &str| {
        let selector = Selector::parse(text).unwrap();
        (selector.is_definite(), selector.definite_name().map(str::to_owned), selector.selects_members())
    };
    assert_eq!(facts("$"), (true, None, false));
    assert_eq!(facts("$.a[0]['b']"), (true, Some("b".into()), true));
    assert_eq!(facts("$.a[0]"), (true, None, false));
    assert_eq!(facts("$..a"), (false, None, true));
    assert_eq!(facts("$.*.a"), (false, None, true));
    assert_eq!(facts("$['a','b']"), (false, None, true));
    assert_eq!(facts("$.a[*]"), (false, None, true));
    assert_eq!(facts("$.a[1:2]"), (false, None, false));
}

#[test]
fn the_public_suite_is_judged_rightly() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/cases/json/jsonpath-cts.json.gz");
    let path = std::env::var_os("FIELDGATE_JSONPATH_SUITE").map_or(path, Into::into);
    let Ok(file) = std::fs::File::open(&path) else {
        println!("skipped: {} is not there (set FIELDGATE_JSONPATH_SUITE)", path.display());
        return;
    };
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let suite: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut counts = [0; 3];
    for case in suite["tests"].as_array().unwrap() {
        let selector = case["selector"].as_str().unwrap();
        match Selector::parse(selector) {
            Err(_) if case["invalid_selector"] == true => counts[0] += 1,
            Err(error) => {
                counts[1] += 1;
                let because = match error.message.as_str() {
                    "filters are not supported" => "?",
                    "negative indexes and steps are not supported" => "-",
                    "a step of 0 selects nothing" => "0",
                    other => panic!("{selector}: {other}"),
                };
                assert!(selector.contains(because) && error.hint.is_some(), "{selector}: {error:?}");
            }
            Ok(parsed) => {
                assert_ne!(case["invalid_selector"], true, "{selector} was accepted");
                counts[2] += 1;
                let paths = case.get("result_paths").unwrap_or(&case["results_paths"][0]);
                let expected = paths.as_array().unwrap().iter().map(|path| normal(path.as_str().unwrap()));
                assert_eq!(selected(&parsed, &case["document"].to_string()), expected.collect(), "{selector}");
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
}

/// A normalized path of the suite in the form that [`Marks`] notes.
fn normal(path: &str) -> String {
    let steps = Selector::parse(path).unwrap().steps;
    steps
        .iter()
        .map(|step| match step.choices.as_slice() {
            [Choice::Name(name)] => format!("[{name:?}]"),
            [Choice::Index(index)] => format!("[{index}]"),
            other => panic!("{other:?}"),
        })
        .collect()
}
