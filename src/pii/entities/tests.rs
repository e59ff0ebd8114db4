//! One test over the table: what each entity's file claims holds, also when every other entity looks at the same value.

use super::*;
use crate::pii::{Confidence, Context, Detector, Match};

fn all() -> EntitySet {
    ids().map(|(id, _)| id).collect()
}

fn find(detector: &Detector, key: &str, text: &str) -> Vec<Match> {
    let mut found = Vec::new();
    detector.find(text, Context::default().under(key), &mut found);
    found
}

/// The value without its marks, and the marked span.
fn unmarked(example: &str) -> (String, Option<(usize, usize)>) {
    let example = example.replace('¦', "");
    let span = example.find('«').zip(example.find('»')).map(|(start, end)| (start, end - '«'.len_utf8()));
    (example.replace(['«', '»'], ""), span)
}

#[test]
fn every_example_is_found() {
    let mut missed = Vec::new();
    for (id, entity) in ids() {
        for set in [EntitySet::EMPTY.with(id), all()] {
            let detector = Detector::new(set);
            for (key, example) in entity.examples {
                let (text, span) = unmarked(example);
                let span = span.unwrap_or_else(|| panic!("{}: nothing is marked in `{example}`", entity.name));
                let found = find(&detector, key, &text);
                let hit = found.iter().any(|one| {
                    one.entity == id && one.confidence >= Confidence::Likely && (one.start, one.end) == span
                });
                if !hit {
                    missed.push(format!("{}: `{key}`: `{text}` gave {found:?}", entity.name));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn no_counter_example_is_found() {
    let mut wrong = Vec::new();
    for (id, entity) in ids() {
        let detector = Detector::new(EntitySet::EMPTY.with(id));
        for (key, example) in entity.counter_examples {
            let (text, _) = unmarked(example);
            let found = find(&detector, key, &text);
            if found.iter().any(|one| one.confidence >= Confidence::Likely) {
                wrong.push(format!("{}: `{key}`: `{text}` gave {found:?}", entity.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_entity_is_complete() {
    for (id, entity) in ids() {
        assert_eq!(named(entity.name), Some(EntitySet::EMPTY.with(id)), "{} is a name twice", entity.name);
        assert!(!entity.examples.is_empty() && !entity.counter_examples.is_empty(), "{}", entity.name);
        assert!(
            !entity.groups.is_empty() && !entity.standard.is_empty() && !entity.check.is_empty(),
            "{}",
            entity.name
        );
    }
}

#[test]
fn names_are_entities_and_groups() {
    assert!(named("nothing").is_none());
    assert!(names().contains(&"email") && names().contains(&"secrets"));
    assert!(named("secrets").is_some_and(|secrets| !secrets.contains(EntityId(0))));
    assert_eq!(EntityId(0).name(), "email");
}
