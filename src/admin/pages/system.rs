//! System: what the process is, how it was started, and how its audit trail does.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use jiff::Timestamp;

use super::super::format::{NOTHING, bytes, count, duration, moment, visible};
use super::super::live::View;
use super::super::{Admin, AuditHealth, probes};
use super::{Page, respond};

#[derive(Template)]
#[template(path = "system.html")]
struct Body<'a> {
    version: &'a str,
    uptime: String,
    started: String,
    memory: String,
    unready: Option<String>,
    requests: String,
    in_flight: String,
    listen: &'a [(String, String)],
    settings: Vec<(String, String)>,
    certificate: Option<(String, Option<String>)>,
    audit: AuditHealth,
    pending: String,
    lost: String,
    refused: String,
    seq: String,
}

/// `GET /system`
pub(in crate::admin) async fn show(State(admin): State<Arc<Admin>>) -> Response {
    let page = Page { title: "System", section: "System", live: Some(View::System) };
    respond(&admin, StatusCode::OK, &page, body(&admin))
}

pub(super) fn body(admin: &Admin) -> askama::Result<String> {
    let state = &admin.state;
    let now = Timestamp::now();
    let snapshot = state.stats.snapshot(crate::stats::Window::Minute);
    let audit = state.audit.health();
    let audit = AuditHealth {
        last_hash: visible(&audit.last_hash, 64),
        failing: audit.failing.map(|why| visible(&why, 300)),
        alarm: audit.alarm.map(|why| visible(&why, 300)),
        ..audit
    };
    let body = Body {
        version: &state.system.version,
        uptime: duration(u64::try_from(now.duration_since(state.system.started).as_secs()).unwrap_or(0)),
        started: moment(state.system.started, now),
        memory: probes::resident_bytes().map_or_else(|| NOTHING.into(), bytes),
        unready: state.unready().map(|why| visible(&why, 300)),
        requests: count(snapshot.requests_ever),
        in_flight: count(snapshot.in_flight),
        listen: &state.system.listen,
        settings: state.system.settings.iter().map(|(name, value)| (visible(name, 80), visible(value, 300))).collect(),
        certificate: state.certificate().map(|certificate| {
            let expires = certificate.expires.map_or_else(|| NOTHING.into(), |at| at.to_string());
            (expires, certificate.refused.map(|why| visible(&why, 300)))
        }),
        pending: bytes(audit.pending_bytes),
        lost: count(audit.lost),
        refused: count(audit.refused),
        seq: count(audit.last_seq),
        audit,
    };
    body.render()
}
