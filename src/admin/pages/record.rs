//! One record: where the time went, what was found where and under which rule, what was not inspected and why, and its
//! place in the chain. Never a value: the record has none.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::super::Admin;
use super::super::format::{bytes, milliseconds, percent, visible};
use super::audit::{Status, Verdict, status, verdict};
use super::{Page, missing, respond};
use crate::audit::{FindingRecord, Phases, Stored};

#[derive(Template)]
#[template(path = "record.html")]
struct Body {
    id: String,
    line: String,
    facts: Vec<(&'static str, String)>,
    status: Status,
    upstream_status: Option<Status>,
    verdict: Verdict,
    outcome: String,
    phases: Vec<Phase>,
    total: String,
    phases_summary: String,
    findings: Vec<Finding>,
    findings_more: u64,
    uninspected: Vec<[String; 4]>,
    seq: u64,
    prev: Option<(String, String)>,
    hash: String,
}

/// A stretch of the bar, in thousandths of the whole.
struct Phase {
    name: &'static str,
    time: String,
    share: String,
    series: usize,
    x: u64,
    width: u64,
}

struct Finding {
    direction: String,
    place: String,
    entity: String,
    rule: String,
    action: String,
    count: u64,
    shadow: bool,
}

/// `GET /audit/{id}`
pub(in crate::admin) async fn show(State(admin): State<Arc<Admin>>, Path(id): Path<String>) -> Response {
    // Ids have 36 characters; nothing longer is worth a search.
    let stored = if id.len() <= 64 { admin.state.audit.by_id(&id) } else { None };
    let Some(stored) = stored else {
        let hint = "The dashboard keeps the newest records; older ones are in the audit log on disk.";
        return missing(&admin, "No such record at hand", hint);
    };
    let before = admin.state.audit.newest(Some(stored.seq), 1, &|_| true).pop();
    let before = before.filter(|before| before.seq + 1 == stored.seq);
    let page = Page { title: "Record", section: "Audit", live: None };
    respond(&admin, StatusCode::OK, &page, body(&stored, before.as_ref()).render())
}

fn body(stored: &Stored, before: Option<&Stored>) -> Body {
    let record = &stored.record;
    let named = |name: &str, none: &str| if name.is_empty() { none.to_owned() } else { visible(name, 80) };
    let mut facts = vec![
        ("Time", visible(&record.time, 40)),
        ("Client", visible(&record.client, 60)),
        ("Protocol", named(&record.protocol, "not recorded")),
        ("Route", named(&record.route, "none matched")),
        ("Upstream", named(&record.upstream, "none")),
        ("Target", named(&record.target, "nothing was forwarded")),
        ("Rules", format!("generation {}", record.generation)),
        ("Request body", bytes(record.bytes_in)),
        ("Response body", bytes(record.bytes_out)),
    ];
    if record.retries > 0 {
        facts.push(("Sent again", format!("{} ×", record.retries)));
    }
    let place = format!("{}{}", record.host, record.path);
    Body {
        id: visible(&record.id, 64),
        line: format!("{} {}", visible(&record.method, 16), visible(&place, 400)),
        facts,
        status: status(record.status),
        upstream_status: (record.upstream_status != 0).then(|| status(record.upstream_status)),
        verdict: verdict(&record.verdict),
        outcome: visible(&record.outcome, 40),
        phases: phases(record.phases),
        total: milliseconds(record.phases.total_us),
        phases_summary: summary(record.phases),
        findings: record.findings.iter().map(finding).collect(),
        findings_more: record.findings_more,
        uninspected: record
            .uninspected
            .iter()
            .map(|one| [&one.direction, &one.failure, &one.reason, &one.decision].map(|text| visible(text, 120)))
            .collect(),
        seq: stored.seq,
        prev: before.map(|before| (visible(&before.record.id, 64), visible(&before.hash, 64))),
        hash: visible(&stored.hash, 64),
    }
}

fn finding(finding: &FindingRecord<'_>) -> Finding {
    Finding {
        direction: visible(&finding.direction, 10),
        place: visible(&finding.place, 160),
        entity: visible(&finding.entity, 40),
        rule: visible(&format!("{} / {}", finding.policy, finding.rule), 100),
        action: visible(&finding.action, 16),
        count: finding.count,
        shadow: finding.shadow,
    }
}

const WIDTH: u64 = 1_000;

fn named(phases: Phases) -> [(&'static str, u64); 3] {
    [("Request", phases.request_us), ("Upstream", phases.upstream_us), ("Response", phases.response_us)]
}

fn phases(phases: Phases) -> Vec<Phase> {
    let whole = named(phases).iter().map(|(_, us)| us).sum::<u64>().max(phases.total_us).max(1);
    let mut past = 0;
    let stretches = named(phases).into_iter().enumerate().map(|(series, (name, us))| {
        let (from, to) = (past * WIDTH / whole, (past + us) * WIDTH / whole);
        past += us;
        Phase { name, time: milliseconds(us), share: percent(us, whole), series, x: from, width: to - from }
    });
    stretches.collect()
}

fn summary(phases: Phases) -> String {
    let parts = named(phases).map(|(name, us)| format!("{name} {} ms", milliseconds(us)));
    format!("{}, {} ms in all.", parts.join(", "), milliseconds(phases.total_us))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_fill_the_bar_and_no_more() {
        let all = phases(Phases { request_us: 100, upstream_us: 700, response_us: 200, total_us: 1_000 });
        assert_eq!(
            all.iter().map(|phase| (phase.x, phase.width)).collect::<Vec<_>>(),
            [(0, 100), (100, 700), (800, 200)]
        );
        // Phases that add up to more than the total, or nothing at all, still fit.
        let all = phases(Phases { request_us: 900, upstream_us: 900, response_us: 0, total_us: 1_000 });
        assert!(all.iter().all(|phase| phase.x + phase.width <= WIDTH));
        assert!(phases(Phases::default()).iter().all(|phase| phase.width == 0));
    }
}
