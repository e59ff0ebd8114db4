//! What is skipped at one go is what the loop over tokens lets pass, with the same fault at the same byte where it does not.

use std::sync::Arc;

use proptest::prelude::*;

use super::documents::{Dice, document, written};
use super::{Act, pieces, rules, whole};
use crate::content::json::selector::Program;
use crate::content::json::{Fault, Limits};

/// So tight that every limit is met.
const TIGHT: Limits = Limits { depth: 6, token: 24, window: 16, value: 64 };

/// Bytes that mean something.
const BYTES: &[u8] = b"{}[]\",:\\ \n\t0-1.eEtfnu\x00\x1f\x80\xc3\xa9a";

/// With and without tables: without them, nothing is skipped.
fn check(body: &[u8], cuts: &[usize], limits: Limits) -> Result<(), TestCaseError> {
    let (entries, script) = rules(&[(&["$.a"], Act::Replace("0")), (&["$.c[1].b"], Act::Remove)]);
    let [tables, none] = [Program::compile(&entries), Program::without_tables(&entries)].map(Arc::new);
    let judge = || super::Script { selected_only: true, ..script.clone() };
    let expected = whole(&none, limits, &mut judge(), body);
    prop_assert_eq!(&whole(&tables, limits, &mut judge(), body), &expected);
    prop_assert_eq!(&pieces(&tables, limits, &mut judge(), body, cuts).0, &expected);
    Ok(())
}

proptest! {
    #![proptest_config(crate::properties::cases(512))]

    #[test]
    fn skipping_makes_no_difference(
        documents in prop::collection::vec(document(), 1..4),
        seed in any::<u64>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..3_u8, prop::sample::select(BYTES)), 0..3),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        is_tight in any::<bool>(),
    ) {
        let mut dice = Dice(seed);
        let texts: Vec<String> = documents.iter().map(|document| written(document, &mut dice)).collect();
        let mut body = format!("{{\"b\":[{}],\"a\":{},\"c\":[[{}]]}}", texts.join(","), texts[0], texts.join(" ,\n")).into_bytes();
        for (index, kind, byte) in changes {
            let at = index.index(body.len());
            match kind {
                0 => body[at] = byte,
                1 => body.insert(at, byte),
                _ => drop(body.remove(at)),
            }
        }
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len())).collect();
        cuts.sort_unstable();
        check(&body, &cuts, if is_tight { TIGHT } else { Limits::default() })?;
    }
}

#[test]
fn depth_counts_from_the_root() {
    for levels in 120..140 {
        let body = format!("{{\"b\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        check(body.as_bytes(), &[60, 130], Limits::default()).unwrap();
        let (entries, script) = rules(&[(&["$.a"], Act::Remove)]);
        let found = whole(&Program::compile(&entries), Limits::default(), &mut script.clone(), body.as_bytes());
        let is_deep = matches!(found, Err(Fault::Malformed { at, what: "nested too deeply" }) if at == 5 + 127);
        assert_eq!(is_deep, levels > 127, "{levels}: {found:?}");
    }
}

#[test]
fn what_is_odd_deep_inside_is_tried_once() {
    // The end is cut off: every level would be tried in vain, and the time would be quadratic.
    let limits = Limits { depth: 20_000, ..Limits::default() };
    let body = format!("{{\"b\":{}{}", "[".repeat(10_000), "1,".repeat(1_000_000));
    let (entries, script) = rules(&[(&["$.a"], Act::Remove)]);
    let mut judge = super::Script { selected_only: true, ..script };
    let found = whole(&Program::compile(&entries), limits, &mut judge, body.as_bytes());
    assert!(matches!(found, Err(Fault::Malformed { at, .. }) if at == body.len() as u64), "{found:?}");
}
