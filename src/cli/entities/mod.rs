//! `fieldgate entities`: what can be recognised, from the one table; for people, for programs, and as a page. It knows nothing
//! about an entity that is not in the table, and tries out what can be tried out.

mod facts;
mod page;

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Args;

use facts::Facts;

/// List what can be recognised, and how
#[derive(Debug, Args)]
pub(super) struct Entities {
    /// The whole page, as in docs/entities.md
    #[arg(long)]
    markdown: bool,
    /// A list of JSON objects
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
}

impl Entities {
    pub(super) fn execute(self) -> ExitCode {
        let facts = facts::of_all();
        let text = match (self.markdown, self.json) {
            (true, _) => page::render(&facts),
            (_, true) => json(&facts),
            _ => list(&facts),
        };
        match io::stdout().lock().write_all(text.as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
            // Whoever read it has seen enough.
            Ok(()) | Err(_) => ExitCode::SUCCESS,
        }
    }
}

/// A line for each.
fn list(facts: &[Facts]) -> String {
    let width = |of: fn(&Facts) -> usize| facts.iter().map(of).max().unwrap_or(0);
    let (names, groups) = (width(|one| one.name.len()), width(|one| one.groups.join(",").len()));
    let needs = width(|one| one.context.words().len());
    let mut text = String::new();
    for Facts { name, groups: own, context, standard, .. } in facts {
        let (own, context) = (own.join(","), context.words());
        // Writing to a `String` does not fail.
        writeln!(text, "{name:names$}  {own:groups$}  {context:needs$}  {standard}").ok();
    }
    text.push_str("\nname, groups, whether the key path or the words before must name it, standard; more with --markdown or --json\n");
    text
}

fn json(facts: &[Facts]) -> String {
    let text = serde_json::to_string_pretty(facts).unwrap_or_default();
    format!("{text}\n")
}

#[cfg(test)]
mod tests {
    use super::{facts, json, list};
    use crate::pii::detector::named;

    #[test]
    fn every_entity_is_listed() {
        let facts = facts::of_all();
        assert_eq!(list(&facts).lines().count(), facts.len() + 2);
        let parsed: serde_json::Value = serde_json::from_str(&json(&facts)).unwrap();
        for (one, fact) in parsed.as_array().unwrap().iter().zip(&facts) {
            assert!(named(one["name"].as_str().unwrap()).is_some());
            for key in ["standard", "check", "context"] {
                assert!(!one[key].as_str().unwrap().is_empty(), "{}: {key}", fact.name);
            }
            for key in ["groups", "examples", "counter_examples"] {
                assert!(!one[key].as_array().unwrap().is_empty(), "{}: {key}", fact.name);
            }
        }
    }
}
