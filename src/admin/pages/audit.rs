//! Audit: the newest records, filtered by a GET form, paged by their number in the log.

use std::fmt::Write;
use std::sync::Arc;

use askama::Template;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use jiff::Timestamp;
use serde::Deserialize;

use super::super::Admin;
use super::super::format::{latency, visible};
use super::super::live::View;
use super::{Page, respond};
use crate::audit::{Record, Stored};
use crate::stats::Window;

/// Records on a page.
const PAGE: usize = 50;

#[derive(Template)]
#[template(path = "audit.html")]
struct Body<'a> {
    filter: &'a Filter,
    is_filtered: bool,
    trouble: Option<&'static str>,
    rows: Vec<Row>,
    routes: Vec<String>,
    entities: Vec<&'static str>,
    newest: Option<String>,
    older: Option<String>,
    try_line: String,
    is_empty: bool,
}

pub(super) struct Row {
    seq: u64,
    id: String,
    time: String,
    clock: String,
    method: String,
    place: String,
    route: String,
    status: Status,
    verdict: Verdict,
    outcome: String,
    findings: String,
    total: String,
}

/// A status with what it means, so that colour is never alone.
pub(super) struct Status {
    pub(super) code: String,
    pub(super) reason: &'static str,
    pub(super) class: &'static str,
}

pub(super) struct Verdict {
    pub(super) word: String,
    pub(super) icon: &'static str,
    pub(super) class: &'static str,
}

/// The query string. Empty fields filter nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::admin) struct Filter {
    route: String,
    status: String,
    entity: String,
    verdict: String,
    outcome: String,
    method: String,
    id: String,
    before: String,
}

/// `GET /audit`
pub(in crate::admin) async fn show(State(admin): State<Arc<Admin>>, Query(filter): Query<Filter>) -> Response {
    // Only the plain first page is live: a stream per filter would be work that strangers can multiply.
    let live = (filter.query().is_empty() && filter.before.is_empty()).then_some(View::Audit);
    let page = Page { title: "Audit", section: "Audit", live };
    respond(&admin, StatusCode::OK, &page, body(&admin, &filter))
}

pub(super) fn body(admin: &Admin, filter: &Filter) -> askama::Result<String> {
    let before = filter.before.trim().parse().ok();
    // One more than is shown tells whether there is an older page.
    let mut records = admin.state.audit.newest(before, PAGE + 1, &|stored| filter.accepts(&stored.record));
    let has_older = records.len() > PAGE;
    records.truncate(PAGE);
    let snapshot = admin.state.stats.snapshot(Window::Day);
    let mut entities: Vec<&str> = snapshot.findings.iter().map(|tally| tally.name).filter(|n| !n.is_empty()).collect();
    entities.sort_unstable();
    entities.dedup();
    let query = filter.query();
    let body = Body {
        is_filtered: !query.is_empty(),
        trouble: filter.trouble(),
        older: records.last().filter(|_| has_older).map(|last| link(&query, Some(last.seq))),
        newest: before.map(|_| link(&query, None)),
        routes: snapshot.routes.iter().map(|(name, _)| visible(name, 60)).collect(),
        entities,
        is_empty: records.is_empty(),
        rows: records.iter().map(|stored| row(stored, Timestamp::now())).collect(),
        try_line: admin.state.system.try_line.clone(),
        filter,
    };
    body.render()
}

fn link(query: &str, before: Option<u64>) -> String {
    match (query, before) {
        ("", None) => "/audit".into(),
        (query, None) => format!("/audit?{query}"),
        ("", Some(seq)) => format!("/audit?before={seq}"),
        (query, Some(seq)) => format!("/audit?{query}&before={seq}"),
    }
}

impl Filter {
    fn fields(&self) -> [(&'static str, &str); 7] {
        [
            ("route", &self.route),
            ("status", &self.status),
            ("entity", &self.entity),
            ("verdict", &self.verdict),
            ("outcome", &self.outcome),
            ("method", &self.method),
            ("id", &self.id),
        ]
        .map(|(name, value): (&str, &String)| (name, value.trim()))
    }

    /// The filter as a query string, without the page.
    fn query(&self) -> String {
        let fields = self.fields().into_iter().filter(|(_, value)| !value.is_empty());
        fields.map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&")
    }

    fn trouble(&self) -> Option<&'static str> {
        let status = self.status.trim();
        (!status.is_empty() && wanted_status(status).is_none())
            .then_some("A status is a code such as 404 or a class such as 5xx; it was left out of the search.")
    }

    fn accepts(&self, record: &Record<'_>) -> bool {
        let is = |wanted: &str, value: &str| wanted.is_empty() || wanted.eq_ignore_ascii_case(value);
        let [route, status, entity, verdict, outcome, method, id] = self.fields().map(|(_, value)| value);
        is(route, if record.route.is_empty() { "(none)" } else { &record.route })
            && wanted_status(status).is_none_or(|(from, to)| (from..=to).contains(&record.status))
            && (entity.is_empty() || record.findings.iter().any(|finding| is(entity, &finding.entity)))
            && is(verdict, &record.verdict)
            && is(outcome, &record.outcome)
            && is(method, &record.method)
            && is(id, &record.id)
    }
}

/// `404` or `4xx` as a range.
fn wanted_status(text: &str) -> Option<(u16, u16)> {
    if let Some(class) = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX")) {
        let class: u16 = class.parse().ok().filter(|class| (1..=5).contains(class))?;
        return Some((class * 100, class * 100 + 99));
    }
    let code = text.parse().ok()?;
    Some((code, code))
}

/// Percent-encoding of everything that is not plainly safe in a query.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            write!(out, "%{byte:02X}").ok();
        }
    }
    out
}

fn row(stored: &Stored, now: Timestamp) -> Row {
    let record = &stored.record;
    Row {
        seq: stored.seq,
        id: encoded(&record.id),
        time: visible(&record.time, 40),
        clock: clock(&record.time, now),
        method: visible(&record.method, 12),
        place: visible(&format!("{}{}", record.host, record.path), 90),
        route: visible(&record.route, 40),
        status: status(record.status),
        verdict: verdict(&record.verdict),
        outcome: visible(&record.outcome, 40),
        findings: found(record),
        total: latency(record.phases.total_us),
    }
}

/// `14:02:11.123`, with the date when it is not today's.
fn clock(time: &str, now: Timestamp) -> String {
    let Ok(time) = time.parse::<Timestamp>() else { return visible(time, 40) };
    let shape = if time.strftime("%F").to_string() == now.strftime("%F").to_string() { "%T.%3f" } else { "%F %T" };
    time.strftime(shape).to_string()
}

/// `email ×2, credit_card ×1, 3 more`.
fn found(record: &Record<'_>) -> String {
    let mut sums: Vec<(&str, u64)> = Vec::new();
    for finding in &record.findings {
        let name = if finding.entity.is_empty() { "field" } else { &finding.entity };
        match sums.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += finding.count,
            None => sums.push((name, finding.count)),
        }
    }
    let shown = 3;
    let rest: u64 = sums.iter().skip(shown).map(|(_, n)| n).sum::<u64>() + record.findings_more;
    let mut parts: Vec<String> =
        sums.iter().take(shown).map(|(name, n)| format!("{} ×{n}", visible(name, 24))).collect();
    if rest > 0 {
        parts.push(format!("{rest} more"));
    }
    parts.join(", ")
}

pub(super) fn status(code: u16) -> Status {
    if code == 0 {
        return Status { code: "–".into(), reason: "none sent", class: "bad" };
    }
    let reason = StatusCode::from_u16(code).ok().and_then(|code| code.canonical_reason()).unwrap_or("");
    let class = match code {
        200..400 => "good",
        400..500 => "attention",
        500.. => "bad",
        _ => "",
    };
    Status { code: code.to_string(), reason, class }
}

pub(super) fn verdict(word: &str) -> Verdict {
    let (icon, class) = match word {
        "pass" => ("→", "calm"),
        "edit" => ("✎", "edit"),
        "block" => ("✕", "bad"),
        _ => ("?", ""),
    };
    Verdict { word: visible(word, 12), icon, class }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_statuses() {
        for (text, range) in [
            ("404", Some((404, 404))),
            ("5xx", Some((500, 599))),
            ("4XX", Some((400, 499))),
            ("9xx", None),
            ("xx", None),
            ("abc", None),
            ("", None),
        ] {
            assert_eq!(wanted_status(text), range, "{text}");
        }
    }

    #[test]
    fn keeps_the_filter_in_links() {
        let filter = Filter { route: " a&b=\"c ".into(), status: "5xx".into(), ..Filter::default() };
        assert_eq!(link(&filter.query(), Some(7)), "/audit?route=a%26b%3D%22c&status=5xx&before=7");
        assert_eq!(link("", None), "/audit");
    }
}
