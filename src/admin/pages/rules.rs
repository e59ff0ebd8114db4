//! Rules: the generation that runs and its files, and what was refused, with the place and how to mend it.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use jiff::Timestamp;

use super::super::Admin;
use super::super::format::{bytes, counted, moment, visible};
use super::super::live::View;
use super::{Page, respond};
use crate::rules::{Problem, Severity};

#[derive(Template)]
#[template(path = "rules.html")]
struct Body {
    generation: u64,
    since: String,
    hash: String,
    holds: String,
    rejected: Option<(String, Vec<Shown>)>,
    files: Vec<(String, String, String)>,
    warnings: Vec<Shown>,
}

/// A problem as it is shown.
struct Shown {
    place: String,
    message: String,
    is_error: bool,
    number: String,
    snippet: String,
    caret: String,
    hint: Option<String>,
}

/// `GET /rules`
pub(in crate::admin) async fn show(State(admin): State<Arc<Admin>>) -> Response {
    let page = Page { title: "Rules", section: "Rules", live: Some(View::Rules) };
    respond(&admin, StatusCode::OK, &page, body(&admin))
}

pub(super) fn body(admin: &Admin) -> askama::Result<String> {
    let rules = admin.state.rules.current();
    let now = Timestamp::now();
    let body = Body {
        generation: rules.generation,
        since: moment(rules.loaded, now),
        hash: visible(&rules.hash, 64),
        holds: [(rules.routes, "route"), (rules.upstreams, "upstream"), (rules.rules, "rule")]
            .map(|(n, one)| counted(n as u64, one))
            .join(", "),
        rejected: rules
            .rejected
            .as_ref()
            .map(|rejected| (moment(rejected.at, now), rejected.problems.iter().take(100).map(shown).collect())),
        files: rules
            .files
            .iter()
            .map(|file| (visible(&file.name, 120), visible(&file.hash, 64), bytes(file.bytes)))
            .collect(),
        warnings: rules.warnings.iter().take(100).map(shown).collect(),
    };
    body.render()
}

fn shown(problem: &Problem) -> Shown {
    let file = if problem.file.is_empty() { "rules folder".into() } else { visible(&problem.file, 120) };
    let place = match (problem.line, problem.column) {
        (0, _) => file,
        (line, 0) => format!("{file}:{line}"),
        (line, column) => format!("{file}:{line}:{column}"),
    };
    let (snippet, caret) = pointed(&problem.snippet, problem.column);
    Shown {
        place,
        message: visible(&problem.message, 400),
        is_error: problem.severity == Severity::Error,
        number: if problem.line == 0 { String::new() } else { problem.line.to_string() },
        snippet,
        caret,
        hint: problem.hint.as_deref().map(|hint| visible(hint, 400)),
    }
}

/// A line and, below it, blanks up to the caret. Long lines are cut around the place.
fn pointed(line: &str, column: u32) -> (String, String) {
    const WIDTH: usize = 100;
    let at = (column as usize).saturating_sub(1);
    let skip = if at > WIDTH * 3 / 4 { at - WIDTH / 2 } else { 0 };
    let clean = |text: String| visible(&text.replace('\t', " "), WIDTH * 10);
    let before = clean(line.chars().skip(skip).take(at - skip).collect());
    let after = clean(line.chars().skip(at).take(WIDTH - WIDTH.min(at - skip)).collect());
    let lead = if skip > 0 { "…" } else { "" };
    let caret = if column == 0 || line.is_empty() {
        String::new()
    } else {
        format!("{}^", " ".repeat(lead.chars().count() + before.chars().count()))
    };
    (format!("{lead}{before}{after}"), caret)
}

#[cfg(test)]
mod tests {
    use super::pointed;

    #[test]
    fn points_at_the_place() {
        for (line, column, snippet, caret) in [
            ("  mask: {keep: 4}", 10, "  mask: {keep: 4}", "         ^"),
            ("\tx: 1", 2, " x: 1", " ^"),
            ("a", 0, "a", ""),
            ("", 3, "", ""),
            ("é\u{202e}x", 3, "é\\u{202e}x", "         ^"),
        ] {
            assert_eq!(pointed(line, column), (snippet.to_owned(), caret.to_owned()), "{line:?}");
        }
        let long = format!("{}HERE{}", "a".repeat(500), "b".repeat(500));
        let (snippet, caret) = pointed(&long, 501);
        let under = snippet.chars().nth(caret.chars().count() - 1);
        assert_eq!((under, snippet.chars().count()), (Some('H'), 101));
    }
}
