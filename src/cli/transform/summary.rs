//! What was found in a body, for people: rule, kind, place and count. It has no way to say a value.

use std::fmt::Write as _;

use super::ending::Ending;
use super::stream::Work;
use crate::cli::audit::shown;

/// A line about the body and one for each finding.
pub(super) fn of(head: &str, work: &Work<'_>, result: &Result<(), Ending>) -> String {
    let verdict = match result {
        Ok(()) if work.edited => "edited",
        Ok(()) => "unchanged",
        Err(ending) => ending.word(),
    };
    let mut text = format!("{head}: {verdict}; {} bytes read, {} written\n", work.read, work.written);
    for one in work.findings.list().iter().filter_map(|finding| work.plan.describe(finding)) {
        let entity = if one.entity.is_empty() { "-" } else { one.entity };
        let shadow = if one.shadow { " (shadow)" } else { "" };
        // Writing to a `String` does not fail.
        writeln!(
            text,
            "    {} {entity} {} x{} by {} of {}{shadow}",
            shown(one.place),
            one.action,
            one.count,
            shown(one.rule),
            shown(one.policy),
        )
        .ok();
    }
    if work.findings.more() > 0 {
        writeln!(text, "    and {} more", work.findings.more()).ok();
    }
    text
}
