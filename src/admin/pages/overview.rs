//! Overview: one sentence of truth, the figures that matter, three charts, and who caused them.

mod charts;
mod targets;

use std::collections::BTreeSet;
use std::sync::Arc;

use askama::Template;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use jiff::Timestamp;
use serde::Deserialize;

use super::super::chart::Chart;
use super::super::format::{NOTHING, bytes, count, counted, decimal, latency_or_nothing, moment, percent, visible};
use super::super::live::View;
use super::super::{Admin, AdminState};
use super::{Page, respond};
use crate::certificates::CertificateState;
use crate::stats::{Figures, Quantiles, Snapshot, TargetFigures, Window};

#[derive(Template)]
#[template(path = "overview.html")]
struct Body {
    tone: Tone,
    sentence: String,
    windows: [(&'static str, &'static str, bool); 4],
    covers: String,
    is_empty: bool,
    try_line: String,
    tiles: Vec<Tile>,
    latency: [(&'static str, [String; 3]); 3],
    charts: [Chart; 3],
    routes: Vec<Row>,
    upstreams: Vec<UpstreamRow>,
    targets: Vec<targets::TargetRow>,
    findings: Vec<(String, &'static str, String)>,
    endings: Vec<(String, &'static str, String)>,
    more_routes: usize,
}

/// How things stand, in a word, so that colour is never alone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
    Attention,
    Bad,
}

impl Tone {
    fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Attention => "attention",
            Self::Bad => "bad",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Good => "✓ Running",
            Self::Attention => "▲ Attention",
            Self::Bad => "✕ Trouble",
        }
    }
}

struct Tile {
    title: &'static str,
    value: String,
    unit: &'static str,
    note: String,
    /// Set where the number asks to be looked at.
    alarm: &'static str,
}

struct Row {
    name: String,
    requests: String,
    rate: String,
    errors: String,
    blocked: String,
    findings: String,
    total: [String; 3],
    own: String,
}

struct UpstreamRow {
    name: String,
    requests: String,
    errors: String,
    wait: [String; 3],
    connections: String,
    reuse: String,
    retries: String,
    received: String,
}

/// Rows shown; the rest is in `/metrics`.
const MOST_ROWS: usize = 50;

#[derive(Debug, Deserialize)]
pub(in crate::admin) struct Wanted {
    #[serde(default)]
    window: String,
}

/// `GET /`
pub(in crate::admin) async fn show(State(admin): State<Arc<Admin>>, Query(wanted): Query<Wanted>) -> Response {
    let window = Window::named(&wanted.window).unwrap_or(Window::Minute);
    let page = Page { title: "Overview", section: "Overview", live: Some(View::Overview(window)) };
    respond(&admin, StatusCode::OK, &page, body(&admin, window))
}

pub(super) fn body(admin: &Admin, window: Window) -> askama::Result<String> {
    let snapshot = admin.state.stats.snapshot(window);
    let now = Timestamp::now();
    let all_targets = admin.state.stats.targets();
    let (tone, sentence) = truth(&admin.state, &snapshot, &all_targets, now);
    let body = Body {
        tone,
        sentence,
        windows: Window::ALL.map(|other| (other.name(), spelled(other), other == window)),
        covers: covers(&snapshot),
        is_empty: snapshot.requests_ever == 0,
        try_line: admin.state.system.try_line.clone(),
        tiles: tiles(&snapshot),
        latency: [
            ("Exchange", written(snapshot.all.total)),
            ("Upstream", written(snapshot.all.upstream)),
            ("Gateway’s own share", written(snapshot.all.own)),
        ],
        charts: charts::draw(&snapshot, now),
        routes: snapshot.routes.iter().take(MOST_ROWS).map(|(name, figures)| row(name, figures, &snapshot)).collect(),
        more_routes: snapshot.routes.len().saturating_sub(MOST_ROWS),
        upstreams: upstreams(&snapshot),
        targets: targets::rows(&all_targets, MOST_ROWS),
        findings: findings(&snapshot),
        endings: endings(&snapshot),
    };
    body.render()
}

const fn spelled(window: Window) -> &'static str {
    match window {
        Window::Minute => "1 minute",
        Window::Quarter => "15 minutes",
        Window::Hour => "1 hour",
        Window::Day => "24 hours",
    }
}

fn covers(snapshot: &Snapshot) -> String {
    let whole = snapshot.window.frame_seconds() * 60;
    if snapshot.seconds < whole {
        return format!("since the start, {} ago", super::super::format::duration(snapshot.seconds));
    }
    match snapshot.window {
        Window::Minute => "over the last minute".into(),
        Window::Hour => "over the last hour".into(),
        Window::Quarter | Window::Day => format!("over the last {}", spelled(snapshot.window)),
    }
}

/// What an operator would want to be told first, in one sentence.
fn truth(state: &AdminState, snapshot: &Snapshot, all_targets: &[TargetFigures], now: Timestamp) -> (Tone, String) {
    let rules = state.rules.current();
    if state.lifecycle.is_draining() {
        return (Tone::Attention, format!("Shutting down; {} in flight.", counted(snapshot.in_flight, "exchange")));
    }
    if rules.generation == 0 {
        return (Tone::Bad, "No rules are loaded, so nothing is forwarded.".into());
    }
    let mut tone = Tone::Good;
    let mut parts = vec![format!("Generation {} is live since {}", rules.generation, moment(rules.loaded, now))];
    let audit = state.audit.health();
    if let Some(why) = &audit.failing {
        tone = Tone::Bad;
        parts.push(format!("the audit log cannot be written ({})", visible(why, 120)));
    }
    if let Some(rejected) = &rules.rejected {
        let files: BTreeSet<&str> = rejected.problems.iter().map(|problem| problem.file.as_str()).collect();
        tone = if tone == Tone::Good { Tone::Attention } else { tone };
        parts.push(format!("{} rejected, so it stays", counted(files.len() as u64, "rule file")));
    }
    let errors = snapshot.all.errors;
    if errors * 20 > snapshot.all.requests {
        tone = if tone == Tone::Good { Tone::Attention } else { tone };
        parts.push(format!("{} % of exchanges fail", percent(errors, snapshot.all.requests)));
    }
    if let Some(trouble) = state.certificate().and_then(|certificate| certificate_trouble(&certificate, now)) {
        tone = if tone == Tone::Good { Tone::Attention } else { tone };
        parts.push(trouble.into());
    }
    let out = targets::out(all_targets);
    if out > 0 {
        tone = if tone == Tone::Good { Tone::Attention } else { tone };
        parts.push(format!("{out} of {} not in use", counted(all_targets.len() as u64, "target")));
    }
    if audit.alarm.is_some() {
        tone = if tone == Tone::Good { Tone::Attention } else { tone };
        parts.push("the audit trail has an alarm (see System)".into());
    }
    parts.push(format!("{} to {}", counted(rules.routes as u64, "route"), counted(rules.upstreams as u64, "upstream")));
    (tone, format!("{}.", parts.join("; ")))
}

fn certificate_trouble(certificate: &CertificateState, now: Timestamp) -> Option<&'static str> {
    if certificate.expires.is_some_and(|expires| expires < now) {
        return Some("the certificate has expired");
    }
    certificate.refused.is_some().then_some("a new certificate cannot be used, so the old one stays (see System)")
}

fn tiles(snapshot: &Snapshot) -> Vec<Tile> {
    let all = &snapshot.all;
    let blocked = if all.blocked == 0 { "nothing was refused".into() } else { share(all.blocked, all.requests) };
    vec![
        Tile {
            title: "Requests",
            value: decimal(snapshot.per_second(all.requests)),
            unit: "/s",
            note: format!("{} in all", count(all.requests)),
            alarm: "",
        },
        Tile {
            title: "Errors",
            value: percent(all.errors, all.requests),
            unit: if all.requests == 0 { "" } else { "%" },
            note: if all.errors == 0 { "none failed".into() } else { format!("{} failed", count(all.errors)) },
            alarm: if all.errors * 20 > all.requests { "bad" } else { "" },
        },
        Tile {
            title: "Findings",
            value: decimal(snapshot.per_second(all.findings) * 60.0),
            unit: "/min",
            note: format!("{} found", counted(all.findings, "value")),
            alarm: "",
        },
        Tile { title: "Blocked", value: count(all.blocked), unit: "", note: blocked, alarm: "" },
        Tile {
            title: "In flight",
            value: count(snapshot.in_flight),
            unit: "",
            note: format!("{} in, {} out", bytes(all.bytes_in), bytes(all.bytes_out)),
            alarm: "",
        },
    ]
}

fn share(part: u64, whole: u64) -> String {
    format!("{} % of exchanges", percent(part, whole))
}

fn written(quantiles: Quantiles) -> [String; 3] {
    [quantiles.p50, quantiles.p95, quantiles.p99].map(latency_or_nothing)
}

fn row(name: &str, figures: &Figures, snapshot: &Snapshot) -> Row {
    Row {
        name: visible(name, 60),
        requests: count(figures.requests),
        rate: decimal(snapshot.per_second(figures.requests)),
        errors: percent(figures.errors, figures.requests),
        blocked: count(figures.blocked),
        findings: count(figures.findings),
        total: written(figures.total),
        own: latency_or_nothing(figures.own.p95),
    }
}

fn upstreams(snapshot: &Snapshot) -> Vec<UpstreamRow> {
    let rows = snapshot.upstreams.iter().take(MOST_ROWS).map(|(name, upstream)| {
        let figures = &upstream.figures;
        let reuse = match upstream.connections_ever {
            0 => NOTHING.into(),
            opened => decimal(upstream.sent_ever as f64 / opened as f64),
        };
        UpstreamRow {
            name: visible(name, 60),
            requests: count(figures.sent),
            errors: percent(figures.errors, figures.requests),
            wait: written(figures.upstream),
            connections: count(upstream.connections),
            reuse,
            retries: count(figures.retries),
            received: bytes(figures.bytes_out),
        }
    });
    rows.collect()
}

/// What a selector found has no entity.
fn entity(name: &str) -> String {
    if name.is_empty() { "field named by a rule".into() } else { visible(name, 40) }
}

fn findings(snapshot: &Snapshot) -> Vec<(String, &'static str, String)> {
    let tallies = snapshot.findings.iter().take(MOST_ROWS);
    tallies.map(|tally| (entity(tally.name), tally.action, count(tally.count))).collect()
}

/// How exchanges ended, and what never became one.
fn endings(snapshot: &Snapshot) -> Vec<(String, &'static str, String)> {
    let ended = snapshot.outcomes.iter().map(|tally| (visible(tally.name, 40), "exchange", count(tally.count)));
    let refused = snapshot.refused.iter().map(|tally| (tally.name.into(), "connection", count(tally.count)));
    ended.chain(refused).take(MOST_ROWS).collect()
}
