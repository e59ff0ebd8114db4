//! All actions against a slow oracle: the body as a tree, the nodes of each selector from another library, and the order of
//! claims told from the top down.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use serde_json_path::{JsonPath, NormalizedPath};

use super::*;
use crate::properties::cases;

/// Nodes, each with the rules that select it. Nodes are named by JSON pointers (RFC 6901).
struct Oracle<'a> {
    rules: &'a [Rule],
    hits: HashMap<String, Vec<usize>>,
}

impl<'a> Oracle<'a> {
    fn new(rules: &'a [Rule], document: &Value) -> Self {
        let mut hits: HashMap<String, Vec<usize>> = HashMap::new();
        for (n, rule) in rules.iter().enumerate() {
            let Target::Select(selectors) = &rule.target else { panic!("rules of this oracle select") };
            let paths = selectors.iter().map(|selector| JsonPath::parse(selector.text()).unwrap());
            let nodes: HashSet<String> = paths
                .flat_map(|path| {
                    path.query_located(document).locations().map(NormalizedPath::to_json_pointer).collect::<Vec<_>>()
                })
                .collect();
            for node in nodes {
                hits.entry(node).or_default().push(n);
            }
        }
        Self { rules, hits }
    }

    fn action(&self, n: usize) -> &Action {
        &self.rules[n].action
    }

    fn own(&self, at: &str) -> &[usize] {
        self.hits.get(at).map_or(&[], Vec::as_slice)
    }

    fn is_blocked(&self) -> bool {
        self.hits.values().flatten().any(|n| matches!(self.action(*n), Action::Block(_)))
    }

    /// What becomes of a node that the rules `reaching` reach from above. `None`: it goes.
    fn value(&self, value: &Value, at: &str, reaching: &[usize]) -> Option<Value> {
        let mut seen: Vec<usize> = self.own(at).iter().chain(reaching).copied().collect();
        seen.sort_unstable();
        seen.dedup();
        let is_own = |n: usize| self.own(at).contains(&n);
        let mut down = Vec::new();
        for n in seen {
            match (self.action(n), value) {
                (Action::Remove, _) if is_own(n) => return None,
                (Action::Replace(new) | Action::Set(new), _) if is_own(n) => {
                    return Some(serde_json::from_str(new).unwrap());
                }
                (Action::Allow | Action::Mask(_) | Action::Redact(_), Value::Object(_) | Value::Array(_)) => {
                    down = vec![n];
                    break;
                }
                (Action::Allow, _) => return Some(value.clone()),
                (
                    Action::Block(_)
                    | Action::Log
                    | Action::Rename(_)
                    | Action::Remove
                    | Action::Replace(_)
                    | Action::Set(_),
                    _,
                )
                | (Action::Mask(_), Value::Null) => {}
                (Action::Mask(_), Value::String(text)) if text.is_empty() => {}
                (Action::Mask(mask), _) => return Some(masked(mask, value)),
                (Action::Redact(_), Value::Number(_)) => return Some(json!(0)),
                (Action::Redact(_), _) => return Some(json!("[REDACTED]")),
            }
        }
        Some(match value {
            Value::Object(members) => Value::Object(self.members(members, at, &down)),
            Value::Array(elements) => {
                let all = elements.iter().enumerate();
                Value::Array(all.filter_map(|(n, value)| self.value(value, &format!("{at}/{n}"), &down)).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        })
    }

    fn members(&self, members: &Map<String, Value>, at: &str, reaching: &[usize]) -> Map<String, Value> {
        let mut new = Map::new();
        let below = |name: &str| format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
        for (name, value) in members {
            let at = below(name);
            if let Some(value) = self.value(value, &at, reaching) {
                let allowed = reaching.iter().find(|n| matches!(self.action(**n), Action::Allow));
                let renames = self.own(&at).iter().filter(|n| allowed.is_none_or(|allowed| *n < allowed));
                let mut new_name = renames.filter_map(|n| {
                    let Action::Rename(name) = self.action(*n) else { return None };
                    Some(name.to_string())
                });
                new.insert(new_name.next().unwrap_or_else(|| name.clone()), value);
            }
        }
        for (n, rule) in self.rules.iter().enumerate() {
            let (Action::Set(json), Target::Select(selectors)) = (&rule.action, &rule.target) else { continue };
            let name = selectors[0].definite_name().unwrap();
            let is_allowed = reaching.iter().any(|above| *above < n && matches!(self.action(*above), Action::Allow));
            // Names and nothing else, and none of them needs an escape.
            let pointer = selectors[0].text().trim_start_matches('$').replace('.', "/");
            if below(name) == pointer && !members.contains_key(name) && !is_allowed {
                new.entry(name).or_insert_with(|| serde_json::from_str(json).unwrap());
            }
        }
        new
    }
}

fn masked(mask: &Mask, value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let mut out = String::new();
            mask.push_text(text, &mut out);
            json!(out)
        }
        Value::Number(number) => {
            let mut lexeme = number.to_string().into_bytes();
            let all = 0..lexeme.len();
            mask.number(&mut lexeme, all);
            serde_json::from_slice(&lexeme).unwrap()
        }
        Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => Value::Null,
    }
}

fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z0-9 é\"\\\\]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::hash_map(prop::sample::select(&["a", "b", "c", "d~/é"][..]), inner, 0..5)
                .prop_map(|members| members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

const SELECTORS: &[&str] = &[
    "$",
    "$.a",
    "$.b",
    "$.a.b",
    "$.c.a",
    "$..a",
    "$..b",
    "$.*",
    "$[0]",
    "$..b[*]",
    "$.a[1:]",
    "$..*",
    "$['a','c']",
    "$..a..b",
    "$[::2].a",
    "$..[1,0]",
    "$['d~/é']",
];

fn any_rule(n: usize) -> impl Strategy<Value = Rule> {
    let selected = |actions: Vec<Action>| {
        (prop::sample::select(SELECTORS), prop::sample::select(actions))
            .prop_map(|(selector, action)| select(selector, action))
    };
    let values = vec![
        mask(0, 0),
        mask(1, 2),
        redact(),
        Action::Remove,
        replace(r#"{"new":[1]}"#),
        Action::Allow,
        Action::Log,
        block(),
    ];
    prop_oneof![
        16 => selected(values),
        1 => prop::sample::select(&["$.a", "$..a", "$..b"][..]).prop_map(move |selector| select(selector, rename(&format!("new {n}")))),
        2 => prop::sample::select(&["$.a", "$.b", "$.a.b", "$.a.c"][..]).prop_map(|selector| select(selector, set("[7]"))),
    ]
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn every_action_does_what_a_slow_oracle_does(
        document in document(),
        rules in (any_rule(0), any_rule(1), any_rule(2), 1_usize..4).prop_map(|(a, b, c, n)| {
            let mut rules = vec![a, b, c];
            rules.truncate(n);
            rules
        }),
        size in 1_usize..30,
    ) {
        let body = document.to_string();
        let oracle = Oracle::new(&rules, &document);
        let (result, ..) = judge(rules.clone(), &body);
        if oracle.is_blocked() {
            prop_assert_eq!(&result, &Err(BodyFault::Blocked));
        } else {
            let expected = oracle.value(&document, "", &[]).unwrap_or(Value::Null);
            let text = result.clone().unwrap();
            let found: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(found, expected, "{} became {}", &body, &text);
        }
        let (pieces, _) = super::streams::in_pieces(rules, &body, size, Limits::default());
        prop_assert_eq!(pieces, result);
    }
}
