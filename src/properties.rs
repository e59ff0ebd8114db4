//! How many cases a property is tried with.

use proptest::test_runner::Config;

/// So many, unless `PROPTEST_CASES` says otherwise: `tests/fuzz` asks for more.
pub(crate) fn cases(usual: u32) -> Config {
    let config = Config::default();
    if std::env::var_os("PROPTEST_CASES").is_some() { config } else { Config { cases: usual, ..config } }
}
