//! Our own selector cases, `cases.json`: a selector and a document with the paths of the nodes that it selects, or a selector
//! that is refused, with the byte, the message and the hint that are told. With `FIELDGATE_UPDATE=1` the refusals are written
//! anew, to be read before they are kept.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Selector, selected};

const CASES: &str = include_str!("cases.json");

#[test]
fn our_own_cases_are_judged_as_written() {
    let cases: Vec<Value> = serde_json::from_str(CASES).unwrap();
    let (mut judged, mut counts) = (Vec::new(), [0; 2]);
    for case in &cases {
        let text = case["selector"].as_str().unwrap();
        let Some(paths) = case["paths"].as_array() else {
            let error = Selector::parse(text).expect_err(text);
            judged.push(json!({"selector": text, "at": error.at, "message": error.message, "hint": error.hint}));
            counts[1] += 1;
            continue;
        };
        let selector = Selector::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let expected: BTreeSet<String> = paths.iter().map(|path| path.as_str().unwrap().to_owned()).collect();
        assert_eq!(selected(&selector, &case["document"].to_string()), expected, "{text} on {}", case["document"]);
        judged.push(case.clone());
        counts[0] += 1;
    }
    assert!(counts.iter().all(|count| *count >= 75), "{counts:?}");
    if std::env::var_os("FIELDGATE_UPDATE").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/content/json/selector/tests/cases.json");
        let lines: Vec<String> = judged.iter().map(Value::to_string).collect();
        std::fs::write(path, format!("[\n{}\n]\n", lines.join(",\n"))).unwrap();
        return;
    }
    for (found, expected) in judged.iter().zip(&cases) {
        assert_eq!(found, expected);
    }
}
