//! Against a slow oracle: read into a tree, select with another implementation, edit, compare as values.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Map, Value};
use serde_json_path::JsonPath;

use super::documents::{Dice, NAMES, document, selector, written};
use super::{Act, Script, bytewise, pieces, rules, whole};
use crate::content::json::selector::Program;
use crate::content::json::{Fault, Limits};

/// JSON pointers of nodes.
type Nodes = BTreeSet<String>;

fn select(selector: &str, document: &Value) -> Nodes {
    let path = JsonPath::parse(selector).unwrap();
    path.query_located(document).locations().map(serde_json_path::NormalizedPath::to_json_pointer).collect()
}

fn is_below(pointer: &str, above: &str) -> bool {
    pointer.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
}

/// A rule with what it selects in one document.
struct Rule {
    act: Act,
    selected: Nodes,
    /// For `set`: the parents.
    parents: Nodes,
    /// For keep-only: what every beginning of a selector selects, with the step that comes next.
    ways: Vec<(Nodes, String)>,
}

impl Rule {
    fn new(selectors: &[String], act: &Act, document: &Value) -> Self {
        let union = |texts: &mut dyn Iterator<Item = String>| texts.flat_map(|text| select(&text, document)).collect();
        let mut ways = Vec::new();
        let mut parents = Vec::new();
        for text in selectors {
            let steps: Vec<&str> = text.trim_start_matches('$').split_inclusive(']').collect();
            for (i, next) in steps.iter().enumerate() {
                let beginning = format!("${}", steps[..i].concat());
                ways.push((select(&beginning, document), (*next).to_owned()));
                if i + 1 == steps.len() {
                    parents.push(beginning);
                }
            }
        }
        Self {
            act: act.clone(),
            selected: union(&mut selectors.iter().cloned()),
            parents: union(&mut parents.into_iter()),
            ways,
        }
    }

    fn hits(&self, value: &Value, pointer: &str) -> bool {
        if !matches!(self.act, Act::KeepOnly) {
            return self.selected.contains(pointer);
        }
        let inside = self.selected.iter().any(|kept| pointer == kept || is_below(pointer, kept));
        let on_the_way = self.ways.iter().any(|(nodes, next)| {
            let descends = next.starts_with("..");
            let enters = match value {
                Value::Object(_) => descends || next.contains(['\'', '*']),
                Value::Array(_) => descends || next.contains(|c: char| c == '*' || c == ':' || c.is_ascii_digit()),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
            };
            enters && (nodes.contains(pointer) || descends && nodes.iter().any(|node| is_below(pointer, node)))
        });
        !inside && !on_the_way
    }
}

struct Collision;

/// What becomes of the node; `None`: it goes.
fn edit(rules: &[Rule], value: &Value, pointer: &str) -> Result<Option<Value>, Collision> {
    for rule in rules.iter().filter(|rule| rule.hits(value, pointer)) {
        match rule.act {
            Act::Remove | Act::KeepOnly => return Ok(None),
            Act::Replace(json) | Act::Set(_, json) => return Ok(serde_json::from_str(json).ok()),
            Act::Rename(_) => {}
            Act::Keep | Act::Splice(_) | Act::Stop => break,
        }
    }
    Ok(Some(match value {
        Value::Array(elements) => {
            let mut kept = Vec::new();
            for (i, element) in elements.iter().enumerate() {
                kept.extend(edit(rules, element, &format!("{pointer}/{i}"))?);
            }
            Value::Array(kept)
        }
        Value::Object(members) => Value::Object(edit_members(rules, members, pointer)?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }))
}

fn edit_members(rules: &[Rule], members: &Map<String, Value>, at: &str) -> Result<Map<String, Value>, Collision> {
    let mut kept = Map::new();
    let mut new_names: BTreeSet<&str> = BTreeSet::new();
    for (name, member) in members {
        let below = format!("{at}/{name}");
        let mut hit = rules.iter().filter(|rule| rule.selected.contains(&below));
        let new = hit.find_map(|rule| if let Act::Rename(new) = rule.act { Some(new) } else { None });
        if let Some(new) = new
            && (!new_names.insert(new) || new != name && members.contains_key(new))
        {
            return Err(Collision);
        }
        if let Some(value) = edit(rules, member, &below)? {
            kept.insert(new.unwrap_or(name).to_owned(), value);
        }
    }
    for rule in rules.iter().filter(|rule| rule.parents.contains(at)) {
        if let Act::Set(name, json) = rule.act
            && !members.contains_key(name)
        {
            if new_names.contains(name) {
                return Err(Collision);
            }
            kept.entry(name.to_owned()).or_insert(serde_json::from_str(json).unwrap());
        }
    }
    Ok(kept)
}

fn definite() -> impl Strategy<Value = String> {
    let step = prop_oneof![
        3 => prop::sample::select(&NAMES[..]).prop_map(|name| format!("['{name}']")),
        1 => (0..3u8).prop_map(|index| format!("[{index}]")),
    ];
    prop::collection::vec(step, 0..3).prop_map(|steps| format!("${}['c']", steps.concat()))
}

fn rule() -> impl Strategy<Value = (Vec<String>, Act)> {
    let some = || prop::collection::vec(selector(), 1..3);
    prop_oneof![
        some().prop_map(|s| (s, Act::Remove)),
        some().prop_map(|s| (s, Act::Replace("{\"new\":[1]}"))),
        some().prop_map(|s| (s, Act::KeepOnly)),
        some().prop_map(|s| (s, Act::Rename("b"))),
        some().prop_map(|s| (s, Act::Rename("a\"new"))),
        some().prop_map(|s| (s, Act::Keep)),
        definite().prop_map(|s| (vec![s], Act::Set("c", "\"set\""))),
    ]
}

proptest! {
    #![proptest_config(crate::properties::cases(600))]

    #[test]
    fn the_oracle_agrees(
        document in document(), list in prop::collection::vec(rule(), 1..4),
        seed: u64, selected_only: bool, tables: bool,
    ) {
        let body = written(&document, &mut Dice(seed));
        let texts: Vec<Vec<&str>> = list.iter().map(|(texts, _)| texts.iter().map(String::as_str).collect()).collect();
        let borrowed: Vec<(&[&str], Act)> = texts.iter().zip(&list).map(|(t, (_, act))| (&t[..], act.clone())).collect();
        let (entries, script) = rules(&borrowed);
        let program = Arc::new(if tables { Program::compile(&entries) } else { Program::without_tables(&entries) });
        let judge = Script { selected_only, ..script };

        let found = whole(&program, Limits::default(), &mut judge.clone(), body.as_bytes());
        let cuts = bytewise(body.as_bytes());
        let (in_pieces, ..) = pieces(&program, Limits::default(), &mut judge.clone(), body.as_bytes(), &cuts);
        prop_assert_eq!(&in_pieces, &found);

        let resolved: Vec<Rule> = list.iter().map(|(texts, act)| Rule::new(texts, act, &document)).collect();
        match (edit(&resolved, &document, ""), found) {
            (Ok(expected), Ok(out)) => {
                let out = String::from_utf8(out).unwrap();
                let value: Value = serde_json::from_str(&out).expect(&out);
                prop_assert_eq!(value, expected.unwrap_or(Value::Null), "{} became {}", body, out);
            }
            (Err(Collision), Err(Fault::Malformed { what, .. })) => prop_assert!(what.contains("collides")),
            (expected, found) => {
                let expected = expected.map_err(|_| "collision");
                prop_assert!(false, "{}: expected {:?}, found {:?}", body, expected, found);
            }
        }
    }
}
