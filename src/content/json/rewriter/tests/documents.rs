//! Random documents, written in random ways, and random selectors over the same few names.

use std::fmt::Write;

use proptest::prelude::*;
use serde_json::{Map, Value};

pub(super) const NAMES: [&str; 8] = ["a", "b", "c", "A", "é😀", "É😀", "x y", ""];

/// A document without duplicate keys.
pub(super) fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ab\"\\\\/\n\u{1}é😀]{0,12}".prop_map(Value::from),
        "[a-c é]{10,60}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(&NAMES[..]), inner), 0..6).prop_map(|members| {
                Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
            }),
        ]
    })
}

/// A selector in our subset.
pub(super) fn selector() -> impl Strategy<Value = String> {
    let name = prop::sample::select(&NAMES[..]).prop_map(|name| format!("'{name}'"));
    let choice = prop_oneof![
        6 => name,
        2 => Just("*".to_owned()),
        2 => (0..4u8).prop_map(|index| index.to_string()),
        1 => (0..3u8, 0..5u8, 1..3u8).prop_map(|(from, to, step)| format!("{from}:{to}:{step}")),
        1 => (0..3u8).prop_map(|from| format!("{from}:")),
    ];
    let step = (prop::bool::weighted(0.2), prop::collection::vec(choice, 1..3))
        .prop_map(|(descend, choices)| format!("{}[{}]", if descend { ".." } else { "" }, choices.join(",")));
    prop::collection::vec(step, 1..4).prop_map(|steps| format!("${}", steps.concat()))
}

/// Numbers that depend on nothing but the seed.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// Writes a document with white space and escapes where the dice want them.
pub(super) fn written(value: &Value, dice: &mut Dice) -> String {
    let mut out = String::new();
    write_value(value, dice, &mut out);
    out
}

fn write_space(dice: &mut Dice, out: &mut String) {
    for _ in 0..dice.roll(8).saturating_sub(5) {
        out.push([' ', '\n', '\t', '\r'][dice.roll(4) as usize]);
    }
}

fn write_value(value: &Value, dice: &mut Dice, out: &mut String) {
    write_space(dice, out);
    match value {
        Value::Array(elements) => {
            out.push('[');
            for (i, element) in elements.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                write_value(element, dice, out);
            }
            write_space(dice, out);
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            let mut members: Vec<_> = members.iter().collect();
            if !members.is_empty() {
                let by = dice.roll(members.len() as u64) as usize;
                members.rotate_left(by);
            }
            for (i, (name, member)) in members.into_iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                write_space(dice, out);
                write_string(name, dice, out);
                write_space(dice, out);
                out.push(':');
                write_value(member, dice, out);
            }
            write_space(dice, out);
            out.push('}');
        }
        Value::String(text) => write_string(text, dice, out),
        Value::Null | Value::Bool(_) | Value::Number(_) => out.push_str(&value.to_string()),
    }
    write_space(dice, out);
}

fn write_string(text: &str, dice: &mut Dice, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        if dice.roll(5) == 0 {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}").unwrap();
            }
        } else {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                '/' if dice.roll(2) == 0 => out.push_str("\\/"),
                '\n' => out.push_str("\\n"),
                c if c < ' ' => write!(out, "\\u{:04x}", c as u32).unwrap(),
                c => out.push(c),
            }
        }
    }
    out.push('"');
}
