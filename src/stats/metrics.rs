//! The figures as OpenMetrics text, for Prometheus. Counters since the start, never per window; label sets are bounded
//! because series, entities and outcomes are. It refuses to know HTTP.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

use super::Stats;
use super::frames::Counts;
use super::names::Names;
use super::reader::{BOUNDS_US, Reader};
use super::shard::{NONE, Refusal};
use super::targets::{Circuit, TargetFigures};

/// What the text is served as.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What the figures do not know by themselves.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The program's version.
    pub version: String,
    /// When the process started, seconds since 1970.
    pub start_seconds: f64,
    /// Resident memory; `None` where the system does not say.
    pub resident_bytes: Option<u64>,
    /// The generation that runs; 0: none.
    pub rules_generation: u64,
    /// Whether the newest load was refused.
    pub rules_rejected: bool,
    /// Records put down and not yet in the log.
    pub audit_pending_bytes: u64,
    /// The newest record in the log.
    pub audit_last_seq: u64,
    /// Exchanges that passed without a record.
    pub audit_lost: u64,
    /// Exchanges refused because there was no room for their record.
    pub audit_refused: u64,
    /// Whether the log cannot be written.
    pub audit_failing: bool,
    /// When the certificate for clients expires, seconds since 1970; `None`: there is none, or it does not say.
    pub certificate_expires: Option<i64>,
    /// Whether a newer certificate for clients cannot be used; `None`: there is none.
    pub certificate_refused: Option<bool>,
    /// Whether the process takes traffic.
    pub ready: bool,
}

type Buckets = [u64; BOUNDS_US.len() + 1];
/// Summed microseconds and counts per bucket.
type Spread = (u64, Buckets);

/// Owned, because a collector must be.
#[derive(Debug)]
struct Exposition {
    facts: Facts,
    pairs: Vec<(Arc<str>, Arc<str>, Counts)>,
    exchanges: BTreeMap<Arc<str>, Spread>,
    upstreams: BTreeMap<Arc<str>, Spread>,
    own: Spread,
    sent: BTreeMap<Arc<str>, u64>,
    findings: Vec<((&'static str, &'static str), u64)>,
    outcomes: Vec<(&'static str, u64)>,
    connections: Vec<(Arc<str>, u64)>,
    refused: Vec<(&'static str, u64)>,
    in_flight: Vec<(Arc<str>, u64)>,
    targets: Vec<TargetFigures>,
}

impl Stats {
    /// All counters as of now.
    pub fn openmetrics(&self, facts: Facts) -> String {
        let names = self.names().clone();
        let in_flight = self.in_flight_by_route(&names);
        let exposition = {
            let mut reader = self.reader();
            reader.collect(&self.0.shards);
            Exposition::of(&reader, facts, &names, in_flight, self.targets())
        };
        let mut registry = Registry::default();
        registry.register_collector(Box::new(exposition));
        let mut out = String::new();
        let written = text::encode(&mut out, &registry);
        debug_assert!(written.is_ok(), "INVARIANT: a string takes everything");
        out
    }

    fn in_flight_by_route(&self, names: &Names) -> Vec<(Arc<str>, u64)> {
        let mut sums: BTreeMap<u16, i64> = BTreeMap::new();
        for (id, n) in self.0.shards.iter().flat_map(|shard| (0..).zip(&shard.in_flight)) {
            *sums.entry(id).or_default() += n.load(Ordering::Relaxed);
        }
        let sums = sums.into_iter().filter(|(id, _)| *id == 0 || *names.route(Some(*id)) != *names.route(Some(0)));
        sums.map(|(id, n)| (names.route(Some(id)), n.max(0) as u64)).collect()
    }
}

fn add(into: &mut Spread, sum: u64, buckets: &Buckets) {
    into.0 += sum;
    for (mine, theirs) in into.1.iter_mut().zip(buckets) {
        *mine += theirs;
    }
}

impl Exposition {
    fn of(
        reader: &Reader,
        facts: Facts,
        names: &Names,
        in_flight: Vec<(Arc<str>, u64)>,
        targets: Vec<TargetFigures>,
    ) -> Self {
        let mut all = Self {
            facts,
            pairs: Vec::new(),
            exchanges: BTreeMap::new(),
            upstreams: BTreeMap::new(),
            own: Spread::default(),
            sent: BTreeMap::new(),
            findings: reader.findings.0.clone(),
            outcomes: reader.outcomes.0.clone(),
            connections: reader.connections.0.iter().map(|(id, n)| (names.upstream(Some(*id)), *n)).collect(),
            refused: Vec::new(),
            in_flight,
            targets,
        };
        for (pair, series) in &reader.pairs {
            let route = names.route(Some(pair.route).filter(|id| *id != NONE));
            let upstream = names.upstream(Some(pair.upstream).filter(|id| *id != NONE));
            let totals = &series.totals;
            let ([total_us, upstream_us, own_us], [total, waited, own]) = (totals.counts.sums, &totals.buckets);
            add(all.exchanges.entry(route.clone()).or_default(), total_us, total);
            add(&mut all.own, own_us, own);
            if pair.upstream != NONE {
                add(all.upstreams.entry(upstream.clone()).or_default(), upstream_us, waited);
                *all.sent.entry(upstream.clone()).or_default() += totals.counts.sent;
            }
            all.pairs.push((route, upstream, totals.counts));
        }
        let refused = |kind: Refusal| reader.refused.0.iter().find(|(id, _)| usize::from(*id) == kind as usize);
        all.refused = Refusal::ALL.map(|kind| (kind.name(), refused(kind).map_or(0, |(_, n)| *n))).into();
        all
    }

    fn exchanges(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        const CLASSES: [&str; 6] = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];
        let name = "fieldgate_requests";
        let mut rows = encoder.encode_descriptor(name, "Finished exchanges", None, MetricType::Counter)?;
        for (route, upstream, counts) in &self.pairs {
            for (class, n) in CLASSES.iter().zip(counts.status).filter(|(_, n)| *n > 0) {
                counter(&mut rows, &[("route", &**route), ("upstream", upstream), ("status_class", class)], n)?;
            }
        }
        self.per_pair(encoder, "fieldgate_errors", "5xx and broken-off responses", |counts| counts.errors)?;
        self.per_pair(encoder, "fieldgate_blocked", "Refused by a rule or a failure", |counts| counts.blocked)?;
        self.per_pair(encoder, "fieldgate_retries", "Requests sent again", |counts| counts.retries)?;
        let (name, help) = ("fieldgate_outcomes", "Finished exchanges by how they ended");
        let mut rows = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (outcome, n) in &self.outcomes {
            counter(&mut rows, &[("outcome", *outcome)], *n)?;
        }
        let (name, help) = ("fieldgate_findings", "Values found; an empty entity is a field named by a selector");
        let mut rows = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for ((entity, action), n) in &self.findings {
            counter(&mut rows, &[("entity", *entity), ("action", *action)], *n)?;
        }
        let bytes = Some(&Unit::Bytes);
        let (name, help) = ("fieldgate_received", "Request bodies");
        let mut rows = encoder.encode_descriptor(name, help, bytes, MetricType::Counter)?;
        counter(&mut rows, &NO_LABELS, self.pairs.iter().map(|(.., counts)| counts.bytes_in).sum())?;
        let (name, help) = ("fieldgate_sent", "Response bodies");
        let mut rows = encoder.encode_descriptor(name, help, bytes, MetricType::Counter)?;
        counter(&mut rows, &NO_LABELS, self.pairs.iter().map(|(.., counts)| counts.bytes_out).sum())
    }

    fn per_pair(
        &self,
        encoder: &mut DescriptorEncoder<'_>,
        name: &str,
        help: &str,
        of: impl Fn(&Counts) -> u64,
    ) -> fmt::Result {
        let mut rows = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (route, upstream, counts) in &self.pairs {
            counter(&mut rows, &[("route", &**route), ("upstream", upstream)], of(counts))?;
        }
        Ok(())
    }

    fn latencies(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let seconds = Some(&Unit::Seconds);
        let (name, help) = ("fieldgate_request_duration", "The whole exchange");
        let mut rows = encoder.encode_descriptor(name, help, seconds, MetricType::Histogram)?;
        for (route, spread) in &self.exchanges {
            histogram(&mut rows, &[("route", &**route)], spread)?;
        }
        let (name, help) = ("fieldgate_upstream_duration", "Waiting for the upstream's response headers");
        let mut rows = encoder.encode_descriptor(name, help, seconds, MetricType::Histogram)?;
        for (upstream, spread) in &self.upstreams {
            histogram(&mut rows, &[("upstream", &**upstream)], spread)?;
        }
        let (name, help) = ("fieldgate_gateway_duration", "The exchange without waiting for the upstream");
        let mut rows = encoder.encode_descriptor(name, help, seconds, MetricType::Histogram)?;
        histogram(&mut rows, &NO_LABELS, &self.own)
    }

    fn connections(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let (name, help) = ("fieldgate_upstream_connections_opened", "Connections made to upstreams");
        let mut rows = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (upstream, n) in &self.connections {
            counter(&mut rows, &[("upstream", &**upstream)], *n)?;
        }
        let (name, help) = ("fieldgate_upstream_requests", "Requests sent to upstreams, retries included");
        let mut rows = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (upstream, n) in &self.sent {
            counter(&mut rows, &[("upstream", &**upstream)], *n)?;
        }
        let (name, help) = ("fieldgate_refused", "Ended before an exchange existed");
        let mut rows = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (reason, n) in &self.refused {
            counter(&mut rows, &[("reason", *reason)], *n)?;
        }
        let (name, help) = ("fieldgate_in_flight", "Exchanges that have begun and not ended");
        let mut rows = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (route, n) in &self.in_flight {
            rows.encode_family(&[("route", &**route)])?.encode_gauge(n)?;
        }
        Ok(())
    }

    fn targets(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let gauges: [(&str, &str, OfTarget); 3] = [
            ("fieldgate_target_up", "Whether a target's health checks are good", |t| u64::from(!t.is_unhealthy)),
            ("fieldgate_target_circuit", "0: closed, 1: half open, 2: open", |t| match t.circuit {
                Circuit::Closed => 0,
                Circuit::HalfOpen => 1,
                Circuit::Open => 2,
            }),
            ("fieldgate_target_in_flight", "Requests under way to a target", |t| t.under_way),
        ];
        for (name, help, of) in gauges {
            let mut rows = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for target in &self.targets {
                rows.encode_family(&labels(target))?.encode_gauge(&of(target))?;
            }
        }
        let (name, help) = ("fieldgate_target_failures", "Requests that failed by the target's fault");
        let mut rows = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for target in &self.targets {
            counter(&mut rows, &labels(target), target.failures)?;
        }
        Ok(())
    }

    fn process(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let facts = &self.facts;
        let gauges = [
            ("fieldgate_ready", "Whether traffic is taken", u64::from(facts.ready)),
            ("fieldgate_rules_generation", "The ruleset that runs", facts.rules_generation),
            ("fieldgate_rules_rejected", "Whether the newest load was refused", facts.rules_rejected.into()),
            ("fieldgate_audit_last_seq", "The newest record in the audit log", facts.audit_last_seq),
            ("fieldgate_audit_failing", "Whether the audit log cannot be written", facts.audit_failing.into()),
        ];
        for (name, help, n) in gauges {
            encoder.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&n)?;
        }
        if let Some(refused) = facts.certificate_refused {
            let (name, help) = ("fieldgate_tls_certificate_refused", "Whether a newer certificate cannot be used");
            encoder.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&u64::from(refused))?;
        }
        if let Some(expires) = facts.certificate_expires {
            let (name, help) = ("fieldgate_tls_certificate_expiry", "When the certificate expires, since 1970");
            let unit = Some(&Unit::Seconds);
            encoder.encode_descriptor(name, help, unit, MetricType::Gauge)?.encode_gauge(&expires)?;
        }
        let counters = [
            ("fieldgate_audit_lost", "Exchanges that passed without a record", facts.audit_lost),
            ("fieldgate_audit_refused", "Exchanges refused for want of room for their record", facts.audit_refused),
        ];
        for (name, help, n) in counters {
            counter(&mut encoder.encode_descriptor(name, help, None, MetricType::Counter)?, &NO_LABELS, n)?;
        }
        let bytes = Some(&Unit::Bytes);
        let (name, help) = ("fieldgate_audit_pending", "Records not yet in the audit log");
        encoder.encode_descriptor(name, help, bytes, MetricType::Gauge)?.encode_gauge(&facts.audit_pending_bytes)?;
        if let Some(resident) = facts.resident_bytes {
            let (name, help) = ("process_resident_memory", "Resident memory");
            encoder.encode_descriptor(name, help, bytes, MetricType::Gauge)?.encode_gauge(&resident)?;
        }
        let (name, help) = ("process_start_time", "When the process started, since 1970");
        let mut start = encoder.encode_descriptor(name, help, Some(&Unit::Seconds), MetricType::Gauge)?;
        start.encode_gauge(&facts.start_seconds)?;
        let mut build = encoder.encode_descriptor("fieldgate_build", "The program", None, MetricType::Info)?;
        build.encode_info(&[("version", &*facts.version)])
    }
}

/// A gauge of a target.
type OfTarget = fn(&TargetFigures) -> u64;

fn labels(target: &TargetFigures) -> [(&'static str, &str); 2] {
    [("upstream", &*target.upstream), ("target", &*target.name)]
}

const NO_LABELS: [(&str, &str); 0] = [];

fn counter(rows: &mut MetricEncoder<'_>, labels: &impl EncodeLabelSet, n: u64) -> fmt::Result {
    rows.encode_family(labels)?.encode_counter::<NoLabelSet, _, f64>(&n, None)
}

fn histogram(rows: &mut MetricEncoder<'_>, labels: &impl EncodeLabelSet, spread: &Spread) -> fmt::Result {
    let (sum, counts) = spread;
    let bounds = BOUNDS_US.iter().map(|bound| *bound as f64 / 1e6).chain([f64::INFINITY]);
    // One more bound than `BOUNDS_US`; the encoder adds up.
    let buckets: Vec<(f64, u64)> = bounds.zip(counts.iter().copied()).collect();
    let count = counts.iter().sum();
    rows.encode_family(labels)?.encode_histogram::<NoLabelSet>(*sum as f64 / 1e6, count, &buckets, None)
}

impl Collector for Exposition {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.exchanges(&mut encoder)?;
        self.latencies(&mut encoder)?;
        self.connections(&mut encoder)?;
        self.targets(&mut encoder)?;
        self.process(&mut encoder)
    }
}
