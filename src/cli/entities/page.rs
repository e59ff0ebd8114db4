//! The page `docs/entities.md`. It is written by this program and compared with it by a test.

use std::fmt::Write as _;

use super::facts::{Example, Facts, Need};

const HEAD: &str = "# What is recognised

Written by `fieldgate entities --markdown`; do not edit. Names and groups are what rules (`detect: [email, financial]`) and
`fieldgate scan --detect` take.

A finding is **certain** (validated and in context, or unmistakable), **likely** (validated, or the shape in context; rules act
from here on) or **possible** (the shape alone). *Context* is the key path (`card.number`) and the words to the left inside of a
text. Where it is *not needed*, each example is likely by itself; where it is *needed*, a value that stands alone under a key
that says nothing is not acted upon. `password_policy` is no password: the last word of a key decides.

**Names and postal addresses are found by key path only.** There is no model of language in here: what a text says about
somebody without a key that names it is not found. Select such fields in rules where you know them.

In examples `«` and `»` are around what is found, before them stands the key. A `¦` stands in examples of secrets that scanners
for live secrets would take for real; it is not a part of them.
";

/// The page.
pub(super) fn render(facts: &[Facts]) -> String {
    let mut page = String::from(HEAD);
    page.push_str("\n| entity | groups | context | standard |\n|---|---|---|---|\n");
    for Facts { name, groups, context, standard, .. } in facts {
        // Writing to a `String` does not fail.
        writeln!(page, "| [`{name}`](#{name}) | {} | {} | {} |", groups.join(", "), context.words(), cell(standard))
            .ok();
    }
    for one in facts {
        section(one, &mut page);
    }
    page
}

fn section(facts: &Facts, page: &mut String) {
    let need = match facts.context {
        Need::Nothing => "not needed",
        Need::Sometimes => "needed for some forms",
        Need::Always => "needed: the key path or the words before must name it",
        Need::Key => "the key must name it; in a text it is not found",
    };
    writeln!(page, "\n## {}\n\n- Standard: {}", facts.name, facts.standard).ok();
    writeln!(page, "- Check: {}\n- Context: {need}", facts.check).ok();
    if let Some(example) = facts.examples.first() {
        writeln!(page, "- Found: {}", shown(example)).ok();
    }
    if let Some(example) = facts.counter_examples.first() {
        writeln!(page, "- Not found: {}", shown(example)).ok();
    }
    if !facts.limits.is_empty() {
        writeln!(page, "- Known limits: {}", facts.limits).ok();
    }
}

fn shown(example: &Example) -> String {
    let value = example.value.replace('\n', "\\n");
    format!("{}: {}", code(example.key), if value.is_empty() { "(empty)".to_owned() } else { code(&value) })
}

/// A code span, with a longer fence where the text has backticks.
fn code(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::super::facts;
    use super::{code, render};

    #[test]
    fn the_page_is_the_committed_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/entities.md");
        let page = render(&facts::of_all());
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(path, &page).unwrap();
        }
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(committed == page, "docs/entities.md is out of date: run this test with UPDATE_GOLDEN=1");
    }

    #[test]
    fn every_entity_has_its_section() {
        let facts = facts::of_all();
        let page = render(&facts);
        assert_eq!(page.matches("\n## ").count(), facts.len());
        assert!(page.contains("found by key path only"));
    }

    #[test]
    fn backticks_do_not_end_code() {
        assert_eq!(code("a`b"), "`` a`b ``");
    }
}
