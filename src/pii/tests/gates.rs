//! Gates save calls and nothing else: a detector whose readers are asked at every word finds the same. Shown over the
//! examples of every entity and texts that differ from them by little.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::super::evidence::Reader;
use super::super::shape::Sieve;
use super::*;

/// Every length, for [`Reader::Code`].
const ANY_LENGTH: u32 = u32::MAX;

/// All entities with their gates, and without.
static DETECTORS: LazyLock<[Detector; 2]> = LazyLock::new(|| {
    let ways = || ids().flat_map(|(id, entity)| entity.reader.ways().iter().map(move |way| (id, *way)));
    let opened = ways().map(|(id, way)| {
        let opened = if let Reader::Shaped(_, read) = way { Reader::Code(ANY_LENGTH, read) } else { way };
        (id, opened)
    });
    [Detector::new(all()), Detector::of_ways(opened)]
});

/// The key and the value of each example and counter-example.
static EXAMPLES: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
    let examples = ids().flat_map(|(_, entity)| entity.examples.iter().chain(entity.counter_examples));
    examples.map(|(key, value)| (*key, value.replace(['«', '»', '¦'], ""))).collect()
});

/// What may take the place of a character: the marks that gates look at, digits, letters, what is read over.
const PIECES: &[&str] = &[
    "", "", "0", "7", "12", "2024", "a", "Z", "é", "用", " ", "-", ".", "/", ":", ",", "+", "_", "(", ")", "@", "#",
    "\n", "%2D", "\u{a0}", "\u{200b}", " und ", "::", "--",
];

fn check(key: &str, text: &str) -> Result<(), TestCaseError> {
    let context = Context::default().under(key);
    let [gated, opened] = DETECTORS.each_ref().map(|detector| {
        let mut found = Vec::new();
        detector.find(text, context, &mut found);
        describe(text, &found)
    });
    prop_assert_eq!(gated, opened, "`{}`: `{}`", key, text);
    Ok(())
}

#[test]
fn no_example_is_refused() -> Result<(), TestCaseError> {
    EXAMPLES.iter().try_for_each(|(key, text)| check(key, text))
}

#[test]
fn a_sieve_has_room_for_every_entity() {
    assert!(DETECTORS.iter().all(|detector| detector.most_readers_of_a_code() <= Sieve::MOST));
}

proptest! {
    #![proptest_config(crate::properties::cases(2000))]

    #[test]
    fn gates_change_nothing(
        example: Index,
        other: Index,
        changes in proptest::collection::vec((any::<Index>(), select(PIECES), any::<bool>()), 1..4),
    ) {
        let (key, text) = example.get(&EXAMPLES);
        // The empty one is where something is put behind the last.
        let mut letters: Vec<String> = text.chars().map(String::from).chain([String::new()]).collect();
        for (at, piece, replaces) in changes {
            let at = at.index(letters.len());
            if replaces {
                letters[at] = piece.to_owned();
            } else {
                letters[at].insert_str(0, piece);
            }
        }
        let text = letters.concat();
        check(key, &text)?;
        check("", &format!("{text} {}", other.get(&EXAMPLES).1))?;
    }
}
