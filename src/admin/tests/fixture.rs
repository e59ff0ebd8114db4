//! A dashboard with nothing behind it, and one with an hour of plausible traffic.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use http_body_util::BodyExt;
use jiff::{SignedDuration, Timestamp};
use tower::ServiceExt;

use super::super::*;
use crate::audit::{FindingRecord, Phases, Record, Stored, Uninspected};
use crate::rules::status::{Rejected, Status, StatusHandle};
use crate::rules::{Problem, RuleFile, Severity};
use crate::stats::{Refusal, Sample, SeriesKind, Stats};

/// Records in a list.
#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) all: Vec<Stored>,
    pub(super) health: AuditHealth,
}

impl AuditView for Records {
    fn newest(&self, before: Option<u64>, limit: usize, is_wanted: &dyn Fn(&Stored) -> bool) -> Vec<Stored> {
        let older = self.all.iter().rev().filter(|one| before.is_none_or(|before| one.seq < before));
        older.filter(|one| is_wanted(one)).take(limit).cloned().collect()
    }

    fn by_id(&self, id: &str) -> Option<Stored> {
        self.all.iter().find(|one| one.record.id == id).cloned()
    }

    fn health(&self) -> AuditHealth {
        self.health.clone()
    }
}

pub(super) fn status(generation: u64) -> Status {
    Status {
        generation,
        hash: "9f2c1e7ab04d5563".into(),
        loaded: Timestamp::now(),
        files: vec![],
        routes: 0,
        upstreams: 0,
        rules: 0,
        warnings: vec![],
        rejected: None,
    }
}

pub(super) fn empty() -> AdminState {
    AdminState {
        certificate: None,
        stats: Stats::new(2),
        rules: StatusHandle::new(status(1)),
        audit: Arc::new(Records::default()),
        system: Arc::new(System {
            version: "0.1.0".into(),
            started: Timestamp::now(),
            listen: vec![("gateway".into(), "127.0.0.1:8080".into()), ("admin".into(), "127.0.0.1:9090".into())],
            settings: vec![("rules".into(), "./rules".into()), ("admin_token".into(), "[hidden]".into())],
            try_line: "curl -i http://127.0.0.1:8080/customers/1".into(),
        }),
        lifecycle: Lifecycle::new(),
        token: None,
        hosts: Hosts::new("127.0.0.1:9090".parse().unwrap(), []),
    }
}

/// Plausible, repeatable noise from 0 to 1.
pub(super) fn noise(seed: u64) -> f64 {
    let mixed = (seed ^ seed >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    ((mixed ^ mixed >> 29).wrapping_mul(0xc4ce_b9fe_1a85_ec53) >> 40) as f64 / (1_u64 << 24) as f64
}

/// One second of traffic, number `second`.
pub(super) fn traffic(stats: &Stats, second: u64) {
    let routes = ["customers", "partners", "payments", "search", "health"];
    let swing = 30.0 + 18.0 * (second as f64 / 47.0).sin() + 6.0 * noise(second);
    for n in 0..swing as u64 {
        let seed = second * 1_000 + n;
        let pick = (noise(seed) * noise(seed + 7) * 5.0) as usize;
        let route = stats.series(SeriesKind::Route, routes[pick]);
        let upstream = stats.series(SeriesKind::Upstream, if pick < 2 { "crm" } else { "billing" });
        let waited =
            (900.0 + 5_000.0 * noise(seed + 1).powi(6) + 700.0 * noise(seed + 2)) as u64 * (1 + pick as u64 / 2);
        let own = 180 + (260.0 * noise(seed + 3).powi(4)) as u64;
        let (error, blocked) = (noise(seed + 4) > 0.994, noise(seed + 5) > 0.988);
        let findings: &[(&'static str, &'static str, u64)] = match (noise(seed + 6) * 12.0) as u64 {
            0 | 1 => &[("credit_card", "mask", 1), ("email", "redact", 1)],
            2 => &[("email", "redact", 2)],
            3 => &[("us_ssn", "remove", 1)],
            4 => &[("", "rename", 1), ("phone", "log", 1)],
            5 => &[("iban", "mask", 1)],
            6 if n % 9 == 0 => &[("jwt", "block", 1), ("ipv4", "log", 1)],
            _ => &[],
        };
        let sample = Sample {
            route: Some(route),
            upstream: (!blocked).then_some(upstream),
            status: if blocked {
                422
            } else if error {
                502
            } else {
                200
            },
            outcome: if blocked {
                "blocked"
            } else if error {
                "upstream_connect"
            } else {
                "completed"
            },
            error,
            blocked,
            total: Duration::from_micros(if blocked { own } else { waited + own }),
            upstream_time: (!blocked).then(|| Duration::from_micros(waited)),
            bytes_in: 320,
            bytes_out: 951,
            retries: u32::from(n == 17),
            findings,
        };
        stats.worker(n as usize).record(&sample);
        if second == 0 || noise(seed + 9) > 0.999 {
            stats.worker(0).connection_opened(upstream);
        }
    }
    if second % 97 == 3 {
        stats.worker(0).refused(Refusal::Malformed);
    }
}

fn finding(place: &str, entity: &str, action: &str, shadow: bool, count: u64) -> FindingRecord<'static> {
    FindingRecord {
        direction: "response".into(),
        place: place.to_owned().into(),
        entity: entity.to_owned().into(),
        policy: "card-data".into(),
        rule: "pan".into(),
        action: action.to_owned().into(),
        shadow,
        count,
    }
}

pub(super) fn record(seq: u64) -> Stored {
    let kind = (noise(seed(seq)) * 10.0) as u64;
    let blocked = kind == 7;
    let status = if blocked {
        422
    } else if kind == 8 {
        502
    } else if kind == 9 {
        404
    } else {
        200
    };
    let upstream_us = if blocked { 0 } else { 900 + (noise(seed(seq) + 1) * 4_000.0) as u64 };
    let findings = match kind {
        0..4 => vec![
            finding("$.card.number", "credit_card", "mask", false, 1),
            finding("$.ssn", "", "remove", false, 1),
            finding("$.notes[*].text", "email", "redact", false, 2),
            finding("$.session.token", "jwt", "redact", true, 1),
        ],
        4 => vec![finding("$.contacts[*].email", "email", "redact", false, 12)],
        7 => vec![finding("$.card", "credit_card", "block", false, 1)],
        _ => vec![],
    };
    let uninspected = Uninspected {
        direction: "response".into(),
        failure: "unsupported".into(),
        reason: "content type is not one that rules can read".into(),
        decision: "pass".into(),
    };
    let time = Timestamp::now().checked_sub(SignedDuration::from_millis(730 * (200 - seq.cast_signed()))).unwrap();
    let method = if blocked { "POST" } else { "GET" };
    Stored {
        seq,
        hash: format!("{:016x}{:016x}", seed(seq), seed(seq + 1)).repeat(2),
        record: Record {
            id: format!("0192f0c4-7e1b-7c3a-9d2e-{seq:012x}").into(),
            time: time.to_string().into(),
            generation: 12,
            client: "10.0.3.17".into(),
            method: method.into(),
            protocol: "https/2".into(),
            host: "api.example.com".into(),
            path: format!("/customers/{}", seq * 37 % 901).into(),
            route: if kind == 9 { "".into() } else { "customers".into() },
            upstream: "crm".into(),
            target: if blocked { "".into() } else { "http://127.0.0.1:9001".into() },
            status,
            upstream_status: if blocked { 0 } else { 200 },
            outcome: if blocked { "blocked".into() } else { "completed".into() },
            verdict: if blocked {
                "block".into()
            } else if findings.is_empty() {
                "pass".into()
            } else {
                "edit".into()
            },
            phases: Phases { request_us: 88, upstream_us, response_us: 141, total_us: 229 + upstream_us },
            bytes_in: 0,
            bytes_out: 951,
            retries: 0,
            findings,
            findings_more: 0,
            uninspected: if kind == 5 { vec![uninspected] } else { vec![] },
        },
    }
}

fn seed(seq: u64) -> u64 {
    seq.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn problem(line: u32, column: u32, message: &str, snippet: &str, hint: &str, severity: Severity) -> Problem {
    Problem {
        file: "partners.yaml".into(),
        line,
        column,
        message: message.into(),
        snippet: snippet.into(),
        hint: Some(hint.into()),
        severity,
    }
}

/// Figures after that many seconds of traffic.
pub(super) fn busy(seconds: u64) -> Stats {
    let stats = Stats::new(2);
    for second in 0..seconds {
        traffic(&stats, second);
        stats.tick();
    }
    stats
}

pub(super) fn full() -> AdminState {
    let mut state = empty();
    let file = |name: &str, hash: &str, bytes| RuleFile { name: name.into(), hash: hash.into(), bytes };
    let unknown = problem(
        14,
        9,
        "unknown action `maks`",
        "        action: {maks: {keep_last: 4}}",
        "did you mean `mask`?",
        Severity::Error,
    );
    let dangling =
        problem(22, 15, "unknown upstream `crn`", "    upstream: crn", "known: `crm`, `billing`", Severity::Error);
    let idle = problem(
        31,
        9,
        "this rule can never fire: `pan` above claims every value it selects",
        "      - select: $.card.number",
        "put it before `pan`, or take it out",
        Severity::Warning,
    );
    state.rules = StatusHandle::new(Status {
        loaded: Timestamp::now().checked_sub(SignedDuration::from_mins(95)).unwrap(),
        files: vec![
            file("customers.yaml", "7b1d0a94c2e85f36", 2_148),
            file("partners.yaml", "e01f6d3375aa9b18", 1_204),
        ],
        routes: 5,
        upstreams: 2,
        rules: 23,
        warnings: vec![idle],
        rejected: Some(Rejected { at: Timestamp::now(), problems: vec![unknown, dangling] }),
        ..status(12)
    });
    state.stats = busy(150);
    let all: Vec<Stored> = (1..=200).map(record).collect();
    let health = AuditHealth {
        last_seq: 200,
        last_hash: all.last().map(|one| one.hash.clone()).unwrap_or_default(),
        pending_bytes: 1_840,
        ..AuditHealth::default()
    };
    state.audit = Arc::new(Records { all, health });
    state
}

/// An answer, read to its end.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: axum::http::HeaderMap,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

pub(super) async fn send(router: &Router, request: Request<Body>) -> Response<Body> {
    router.clone().oneshot(request).await.unwrap()
}

pub(super) async fn ask(router: &Router, request: Request<Body>) -> Answer {
    let (head, body) = send(router, request).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Answer { status: head.status.as_u16(), headers: head.headers, body: String::from_utf8(body.to_vec()).unwrap() }
}

pub(super) fn request(path: &str) -> axum::http::request::Builder {
    Request::builder().uri(path).header("host", "localhost:9090")
}

pub(super) async fn get(router: &Router, path: &str) -> Answer {
    ask(router, request(path).body(Body::empty()).unwrap()).await
}
