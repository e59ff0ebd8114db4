//! Text as a rule file: a ruleset, or problems that can be shown.
#![no_main]

use fieldgate::rules::{Source, load};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(problems) = load(&Source::Files(vec![("fuzz.yaml".to_owned(), text.to_owned())])) {
        assert!(!problems.is_empty());
        assert!(problems.iter().all(|problem| !problem.to_string().is_empty()));
    }
});
