//! Text under a key, with every entity on: matches on character boundaries, in order, not overlapping.
#![no_main]

use std::sync::LazyLock;

use fieldgate::pii::detector::{named, names};
use fieldgate::pii::{Context, Detector, EntitySet};
use libfuzzer_sys::fuzz_target;

static EVERY: LazyLock<Detector> =
    LazyLock::new(|| Detector::new(names().into_iter().filter_map(named).fold(EntitySet::EMPTY, EntitySet::union)));

fuzz_target!(|data: (&str, &str)| {
    let (key, text) = data;
    let context = Context::default().under(key);
    let mut found = Vec::new();
    EVERY.find(text, context, &mut found);
    let mut end = 0;
    for one in &found {
        assert!(end <= one.start && one.start < one.end, "{found:?}");
        assert!(text.get(one.start..one.end).is_some(), "{found:?}");
        end = one.end;
    }
    let undecided = EVERY.undecided(text);
    assert!(text.is_char_boundary(undecided));
    found.clear();
    EVERY.find_in_number(text, context, &mut found);
});
