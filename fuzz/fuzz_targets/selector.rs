//! Text as a selector: parsed, or refused with a place inside the text; what is parsed runs.
#![no_main]

use fieldgate::content::json::selector::{Program, ProgramEntry, Purpose, Selector};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| match Selector::parse(text) {
    Ok(selector) => {
        assert_eq!(selector.text(), text);
        let purposes = [Purpose::Value, Purpose::KeepOnly, Purpose::Ensure, Purpose::RenameTo("n".to_owned())];
        for purpose in purposes {
            for selector in [selector.clone(), selector.clone().fold_case()] {
                let program = Program::compile(&[ProgramEntry { purpose: purpose.clone(), selectors: vec![selector] }]);
                assert!(!program.is_empty());
            }
        }
    }
    Err(error) => assert!(error.at <= text.len() && !error.message.is_empty(), "{error:?}"),
});
