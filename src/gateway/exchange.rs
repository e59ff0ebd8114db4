//! One exchange from its first to its last byte: what is known of it, and the one place where it is counted and recorded.
//!
//! INVARIANT: every exchange that begins is recorded once and counted once, however it ends: answered, refused, broken off,
//! dropped by a client that went away or by a shutdown. The record is put down before the last byte of the answer leaves.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{HeaderValue, Method};
use uuid::Uuid;

use super::arrival::Arrival;
use super::body::Report;
use super::error::{Blame, Refusal};
use super::forwarded::Origin;
use super::memory::Held;
use super::target::Target;
use super::upload::Upload;
use super::upstream::{Attempts, Pool};
use super::{Live, Worker, remembered};
use crate::audit::{FindingRecord, Phases, Record, Reservation, Uninspected};
use crate::policy::{Described, Direction, Failure, Findings, OnFailure, Plan};
use crate::rules::Route;
use crate::stats::{InFlight, Sample};

/// An exchange under way.
#[derive(Debug)]
pub struct Exchange {
    /// Who serves it.
    pub worker: Arc<Worker>,
    /// The snapshot that judges it, request and response.
    pub live: Arc<Live>,
    /// Its id.
    pub id: Uuid,
    /// Its id, as a field.
    pub id_field: HeaderValue,
    /// Where it comes from.
    pub origin: Origin,
    /// The method.
    pub method: Method,
    /// The client's version of HTTP.
    pub version: http::Version,
    /// Whether the client came over TLS.
    pub secure: bool,
    time: jiff::Timestamp,
    began: Instant,
    host: Option<Arc<str>>,
    path: String,
    route: Option<usize>,
    attempts: Attempts,
    upstream_status: u16,
    sent: Option<Instant>,
    answered: Option<Instant>,
    opened: Option<Duration>,
    status: u16,
    bytes_in: u64,
    bytes_out: u64,
    verdict: &'static str,
    found: [Findings; 2],
    uninspected: Vec<(Direction, Failure, String, OnFailure)>,
    upload: Option<Arc<Upload>>,
    held: Vec<Held>,
    room: Option<Reservation>,
    in_flight: InFlight,
    ended: bool,
}

impl Exchange {
    /// An exchange begins: the current snapshot is loaded, once.
    pub fn begin(
        worker: Arc<Worker>,
        arrival: &Arrival,
        origin: Origin,
        method: Method,
        version: http::Version,
    ) -> Self {
        let live = worker.rules.current();
        let id = Uuid::now_v7();
        let mut buffer = Uuid::encode_buffer();
        let id_field = HeaderValue::from_str(id.hyphenated().encode_lower(&mut buffer))
            .unwrap_or(HeaderValue::from_static("unknown"));
        let in_flight = worker.stats.begin(None);
        Self {
            live,
            id,
            id_field,
            origin,
            method,
            version,
            secure: arrival.secure,
            time: jiff::Timestamp::now(),
            began: Instant::now(),
            host: None,
            path: String::new(),
            route: None,
            attempts: Attempts::default(),
            upstream_status: 0,
            sent: None,
            answered: None,
            opened: None,
            status: 0,
            bytes_in: 0,
            bytes_out: 0,
            verdict: "pass",
            found: [Findings::default(), Findings::default()],
            uninspected: Vec::new(),
            room: None,
            upload: None,
            held: Vec::new(),
            in_flight,
            ended: false,
            worker,
        }
    }

    /// Reserves room for the record. SECURITY: nothing is forwarded that could not be recorded.
    pub async fn reserve_record(&mut self) -> Result<(), Refusal> {
        let room = self.worker.lane.reserve_within(self.worker.limits.audit_wait).await;
        self.room = Some(room.map_err(|_| Refusal::AuditUnavailable)?);
        Ok(())
    }

    /// What was asked for, as far as it may be remembered. It may be anything: nobody has checked it yet.
    pub fn asked(&mut self, host: Option<&HeaderValue>, path: &str) {
        let (everything, ruleset) = (&self.worker.everything, &self.live.ruleset);
        let last = &self.worker.last_host;
        self.host = host.map(|host| last.remember(host, ruleset.generation, everything, &ruleset.customs));
        self.path = remembered::path(path, everything, &ruleset.customs);
    }

    /// Finds the route and remembers it.
    pub fn route(&mut self, target: &Target) -> Result<(), Refusal> {
        let ruleset = &self.live.ruleset;
        let found =
            ruleset.router.find(&target.named.host, self.method.as_str(), &target.path).ok_or(Refusal::NoRoute)?;
        let keeps_slash = ruleset.routes.get(found).is_some_and(|r| r.keep_encoded_slash);
        if target.encoded_slash && !keeps_slash {
            return Err(Refusal::Target("an encoded slash in the path is not allowed on this route"));
        }
        if let Some(id) = self.live.route_series.get(found) {
            self.in_flight.routed(*id);
        }
        self.route = Some(found);
        Ok(())
    }

    /// Whether the route lets a connection become a tunnel.
    pub fn may_tunnel(&self) -> bool {
        self.matched().is_some_and(|route| route.websocket)
    }

    /// A tunnel is open. SECURITY: from here on no rule runs, and the record says so.
    pub fn tunnels(&mut self, reason: &'static str) {
        for direction in [Direction::Request, Direction::Response] {
            self.note_uninspected(direction, Failure::Unsupported, reason, OnFailure::Pass);
        }
        self.opened = Some(self.began.elapsed());
    }

    /// The request leaves for the upstream.
    pub fn sent(&mut self) {
        self.sent = Some(Instant::now());
    }

    /// Where the request went, and how often again, whatever came of it. What it holds is held until the exchange ends.
    pub fn attempted(&mut self, attempts: Attempts) {
        if attempts.target.is_none() {
            self.sent = None;
        }
        self.attempts = attempts;
    }

    /// The upstream has answered.
    pub fn answered(&mut self, status: u16) {
        self.answered = Some(Instant::now());
        self.upstream_status = status;
    }

    /// Counts bytes of a body as they were read; what leaves for the client is counted where it leaves.
    pub fn count_body(&mut self, direction: Direction, bytes: usize) {
        if direction == Direction::Request {
            self.bytes_in += bytes as u64;
        }
    }

    /// Adds what was read and found in a body.
    pub fn note_body(&mut self, direction: Direction, report: Report) {
        self.count_body(direction, report.bytes as usize);
        for (failure, what) in report.passed {
            self.note_uninspected(direction, failure, what, OnFailure::Pass);
        }
        self.note_findings(direction, report.findings, report.edited);
    }

    /// Adds what was found in one part of a message.
    pub fn note_findings(&mut self, direction: Direction, findings: Findings, edited: bool) {
        if edited {
            self.verdict = "edit";
        }
        let held = &mut self.found[direction as usize];
        // PERF: as a rule all that is found in one direction is found at once.
        if held.is_empty() && held.more() == 0 {
            *held = findings;
        } else {
            held.append(findings);
        }
    }

    /// What is held of its bodies stays so until it is over.
    pub fn holds(&mut self, held: Held) {
        if !held.is_nothing() {
            self.held.push(held);
        }
    }

    /// The request body is sent on while it arrives; what it held is known when the exchange ends.
    pub fn uploads(&mut self, upload: Arc<Upload>) {
        self.upload = Some(upload);
    }

    /// Remembers that rules did not run.
    pub fn note_uninspected(&mut self, direction: Direction, failure: Failure, what: &str, decision: OnFailure) {
        self.uninspected.push((direction, failure, what.to_owned(), decision));
    }

    /// The head of the answer leaves with this status; the body follows.
    pub fn begin_answer(&mut self, status: u16) {
        self.status = status;
    }

    /// Counts bytes that leave for the client.
    pub fn count_out(&mut self, bytes: usize) {
        self.bytes_out += bytes as u64;
    }

    /// The exchange was answered in full.
    pub fn complete(&mut self, status: u16) {
        self.end("completed", status, false);
    }

    /// It ended in a way that is nobody's fault.
    pub fn ended(&mut self, outcome: &'static str, status: u16) {
        self.end(outcome, status, false);
    }

    /// The exchange was refused, with this status, or broken off after it.
    pub fn refuse(&mut self, refusal: &Refusal, status: u16) {
        if refusal.is_block() {
            self.verdict = "block";
        }
        if let Refusal::Unreadable { direction, failure, reason } = refusal {
            self.note_uninspected(*direction, *failure, reason, OnFailure::Block);
        }
        if matches!(refusal, Refusal::UpstreamBroken | Refusal::UpstreamTimeout) {
            self.attempts.broke_off();
        }
        self.end(refusal.code(), status, refusal.blame() != Blame::Client);
    }

    fn end(&mut self, outcome: &'static str, status: u16, error: bool) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        if let Some(upload) = self.upload.take() {
            self.note_body(Direction::Request, upload.report());
        }
        self.attempts.leave();
        let total = self.began.elapsed();
        let room = self.room.take();
        let found = self.described();
        // A tunnel is open for hours: what took time for its client is the opening.
        self.count(outcome, status, error, self.opened.unwrap_or(total), &found);
        if let Some(room) = room {
            self.record(room, outcome, status, total, &found);
        }
    }

    fn upstream_time(&self) -> Option<Duration> {
        let sent = self.sent?;
        Some(self.answered.map_or_else(|| sent.elapsed(), |at| at - sent))
    }

    fn count(&self, outcome: &'static str, status: u16, error: bool, total: Duration, found: &[Described<'_>]) {
        // What a shadow policy would have done was not done.
        let done = |f: &Described<'_>| if f.shadow { "shadow" } else { f.action };
        let findings: Vec<_> = found.iter().map(|f| (f.entity, done(f), f.count)).collect();
        self.worker.stats.record(&Sample {
            route: self.route.and_then(|r| self.live.route_series.get(r).copied()),
            upstream: self.sent.and_then(|_| self.live.pool(self.matched()?)).map(|pool| pool.series),
            status,
            outcome,
            error: error || status >= 500 && self.verdict != "block",
            blocked: self.verdict == "block",
            total,
            upstream_time: self.upstream_time(),
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            retries: self.attempts.retries,
            findings: &findings,
        });
    }

    fn record(&self, room: Reservation, outcome: &'static str, status: u16, total: Duration, found: &[Described<'_>]) {
        let micros = |d: Duration| d.as_micros() as u64;
        let route = self.matched();
        let forwarded = self.sent.is_some();
        let request = self.sent.map_or(total, |sent| sent - self.began);
        let upstream = self.upstream_time().unwrap_or_default();
        room.commit(&Record {
            id: self.id_field.to_str().unwrap_or_default().into(),
            time: format!("{:.6}", self.time).into(),
            generation: self.live.ruleset.generation,
            client: self.origin.client(),
            method: remembered::plain_method(&self.method).into(),
            protocol: remembered::protocol(self.version, self.secure).into(),
            host: self.host.as_deref().unwrap_or_default().into(),
            path: self.path.as_str().into(),
            route: route.map_or("", |r| &r.name).into(),
            upstream: route.and_then(|r| self.live.pool(r)).map_or("", |p| &p.spec.name).into(),
            target: self.attempts.target.as_deref().filter(|_| forwarded).unwrap_or("").into(),
            status,
            upstream_status: self.upstream_status,
            outcome: outcome.into(),
            verdict: self.verdict.into(),
            phases: Phases {
                request_us: micros(request),
                upstream_us: micros(upstream),
                response_us: micros(total.saturating_sub(request + upstream)),
                total_us: micros(total),
            },
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            retries: self.attempts.retries,
            findings: found
                .iter()
                .map(|f| FindingRecord {
                    direction: f.direction.name().into(),
                    place: f.place.into(),
                    entity: f.entity.into(),
                    policy: f.policy.into(),
                    rule: f.rule.into(),
                    action: f.action.into(),
                    shadow: f.shadow,
                    count: f.count,
                })
                .collect(),
            findings_more: self.found.iter().map(Findings::more).sum(),
            uninspected: self
                .uninspected
                .iter()
                .map(|(direction, failure, reason, decision)| Uninspected {
                    direction: direction.name().into(),
                    failure: failure.name().into(),
                    reason: reason.as_str().into(),
                    decision: decision.name().into(),
                })
                .collect(),
        });
    }

    /// The route, once it is found.
    pub fn matched(&self) -> Option<&Route> {
        self.live.ruleset.routes.get(self.route?)
    }

    /// The upstream of the route, once it is found.
    pub fn pool(&self) -> Option<Arc<Pool>> {
        self.live.pool(self.matched()?).cloned()
    }

    /// The plan of the route for one direction, once it is found.
    pub fn plan(&self, direction: Direction) -> Option<Arc<Plan>> {
        let route = self.matched()?;
        Some(Arc::clone(match direction {
            Direction::Request => &route.request,
            Direction::Response => &route.response,
        }))
    }

    /// What was found, in words.
    fn described(&self) -> Vec<Described<'_>> {
        let route = self.matched();
        let plans = [route.map(|r| &*r.request), route.map(|r| &*r.response)];
        let mut described = Vec::with_capacity(self.found.iter().map(|found| found.list().len()).sum());
        for (found, plan) in self.found.iter().zip(plans) {
            let Some(plan) = plan else { continue };
            described.extend(found.list().iter().filter_map(|finding| plan.describe(finding)));
        }
        described
    }
}

impl Drop for Exchange {
    /// Nobody ended it: the client went away, the process is stopping, or something panicked.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.end(Refusal::Internal.code(), Refusal::Internal.status().as_u16(), true);
        }
        let outcome = if self.worker.is_stopping() { "cut_by_shutdown" } else { "client_aborted" };
        self.end(outcome, self.status, false);
    }
}
