//! What machines ask: alive, ready, metrics.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;

use super::Admin;
use crate::stats::metrics::{CONTENT_TYPE as OPENMETRICS, Facts};

/// `GET /healthz`: 200 as long as the process can answer.
pub(super) async fn healthz() -> &'static str {
    "alive\n"
}

/// `GET /readyz`: 200 when traffic may be sent here, else 503 and why.
pub(super) async fn readyz(State(admin): State<Arc<Admin>>) -> Response {
    match admin.state.unready() {
        None => "ready\n".into_response(),
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")).into_response(),
    }
}

/// `GET /metrics`
pub(super) async fn metrics(State(admin): State<Arc<Admin>>) -> Response {
    let state = &admin.state;
    let rules = state.rules.current();
    let audit = state.audit.health();
    let certificate = state.certificate();
    let facts = Facts {
        version: state.system.version.clone(),
        start_seconds: state.system.started.as_millisecond() as f64 / 1e3,
        resident_bytes: resident_bytes(),
        rules_generation: rules.generation,
        rules_rejected: rules.rejected.is_some(),
        audit_pending_bytes: audit.pending_bytes,
        audit_last_seq: audit.last_seq,
        audit_lost: audit.lost,
        audit_refused: audit.refused,
        audit_failing: audit.failing.is_some(),
        certificate_expires: certificate.as_ref().and_then(|state| state.expires).map(Timestamp::as_second),
        certificate_refused: certificate.map(|state| state.refused.is_some()),
        ready: state.unready().is_none(),
    };
    ([(CONTENT_TYPE, OPENMETRICS)], state.stats.openmetrics(facts)).into_response()
}

/// Resident memory, where the system says so (`proc(5)`).
pub(super) fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1_024)
}
