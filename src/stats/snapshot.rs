//! The answer for one window: totals, rates, quantiles, per route and per upstream, and the points of the charts. Plain
//! values that nobody can write back. It refuses to know how they are shown.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::frames::{Counts, Frame, Merge, Rare, Sum, Window, add_rare};
use super::names::Names;
use super::reader::Reader;
use super::shard::{NONE, Refusal, Shard};

/// Latency in microseconds; `None` without data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// Half were not slower.
    pub p50: Option<u64>,
    /// 95 of 100 were not slower.
    pub p95: Option<u64>,
    /// 99 of 100 were not slower.
    pub p99: Option<u64>,
}

/// What happened within a window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures {
    /// Finished exchanges.
    pub requests: u64,
    /// 5xx and broken-off responses.
    pub errors: u64,
    /// Refused by a rule or a failure.
    pub blocked: u64,
    /// Values found.
    pub findings: u64,
    /// Requests sent to the upstream, retries included.
    pub sent: u64,
    /// Requests sent again.
    pub retries: u64,
    /// Bytes of request bodies.
    pub bytes_in: u64,
    /// Bytes of response bodies.
    pub bytes_out: u64,
    /// By status class: none, 1xx to 5xx.
    pub status: [u64; 6],
    /// The whole exchange.
    pub total: Quantiles,
    /// Waiting for the upstream's response headers.
    pub upstream: Quantiles,
    /// The rest: what the gateway and the transfer of the bodies took.
    pub own: Quantiles,
}

/// An upstream's figures, with its connections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpstreamFigures {
    /// What was forwarded to it.
    pub figures: Figures,
    /// Connections opened within the window.
    pub connections: u64,
    /// Connections opened since the start.
    pub connections_ever: u64,
    /// Requests sent since the start.
    pub sent_ever: u64,
}

/// A count under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// The entity, outcome or reason; empty for what a selector found.
    pub name: &'static str,
    /// The action's word, for findings; otherwise empty.
    pub action: &'static str,
    /// How many.
    pub count: u64,
}

/// One moment of the charts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Point {
    /// How long it was; the newest may be shorter than the others.
    pub seconds: u64,
    /// How long before the end of the window it ended.
    pub age: u64,
    /// Finished exchanges.
    pub requests: u64,
    /// See [`Figures::errors`].
    pub errors: u64,
    /// See [`Figures::blocked`].
    pub blocked: u64,
    /// The whole exchange.
    pub total: Quantiles,
    /// The upstream.
    pub upstream: Quantiles,
    /// Values found, by entity.
    pub findings: Vec<(&'static str, u64)>,
}

/// What happened within a window, as of the latest tick.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Which window.
    pub window: Window,
    /// How many seconds of it have passed since the start: what to divide by.
    pub seconds: u64,
    /// Everything together.
    pub all: Figures,
    /// Per route, busiest first. Exchanges without a route stand under `(none)`.
    pub routes: Vec<(Arc<str>, Figures)>,
    /// Per upstream, busiest first.
    pub upstreams: Vec<(Arc<str>, UpstreamFigures)>,
    /// By entity and action, most first.
    pub findings: Vec<Tally>,
    /// By outcome code, most first.
    pub outcomes: Vec<Tally>,
    /// By reason, for what never became an exchange.
    pub refused: Vec<Tally>,
    /// Exchanges that have begun and not ended, now.
    pub in_flight: u64,
    /// At most 61, oldest first.
    pub points: Vec<Point>,
    /// Finished exchanges since the start.
    pub requests_ever: u64,
}

impl Snapshot {
    /// Something per second.
    pub fn per_second(&self, count: u64) -> f64 {
        count as f64 / self.seconds.max(1) as f64
    }
}

impl Sum {
    fn figures(&self) -> Figures {
        let [total, upstream, own] = self.spread.each_ref().map(super::sparse::Dense::quantiles);
        let Counts { status, errors, blocked, findings, sent, retries, bytes_in, bytes_out, sums: _ } = self.counts;
        let requests = self.counts.requests();
        Figures {
            requests,
            errors,
            blocked,
            findings,
            sent,
            retries,
            bytes_in,
            bytes_out,
            status,
            total,
            upstream,
            own,
        }
    }
}

/// Something under its name.
type Named<T> = (Arc<str>, T);

impl Reader {
    /// See [`Snapshot`].
    pub(super) fn snapshot(&self, window: Window, names: &Names, shards: &[Arc<Shard>]) -> Snapshot {
        let (closed, open) = window.filled(self.ticks);
        let (routes, upstreams) = self.tables(window, names);
        let mut rare: Vec<Option<Rare>> = self.rare.closed(window).map(Option::<&Rare>::cloned).collect();
        rare.push(self.rare.open(window, self.ticks));
        let total = Rare::merged(rare.iter().flatten());
        let mut all = Sum::default();
        let points = self.points(window, &rare, &mut all);
        let in_flight: i64 = shards.iter().flat_map(|shard| &shard.in_flight).map(|n| n.load(Ordering::Relaxed)).sum();
        Snapshot {
            window,
            seconds: closed * window.frame_seconds() + open,
            all: all.figures(),
            routes,
            upstreams: self.with_connections(&upstreams, &total, names),
            findings: tallies(&total.findings, |id| self.findings.0.get(id).map(|(word, _)| *word)),
            outcomes: tallies(&total.outcomes, |id| self.outcomes.0.get(id).map(|(word, _)| (*word, ""))),
            refused: tallies(&total.refused, |id| {
                let (kind, _) = self.refused.0.get(id)?;
                Refusal::ALL.get(usize::from(*kind)).map(|kind| (kind.name(), ""))
            }),
            // A guard may be counted down on another shard's read than up: never show less than none.
            in_flight: in_flight.max(0) as u64,
            points,
            requests_ever: self.pairs.values().map(|series| series.totals.counts.requests()).sum(),
        }
    }

    fn points(&self, window: Window, rare: &[Option<Rare>], all: &mut Sum) -> Vec<Point> {
        let (_, open) = window.filled(self.ticks);
        let opened = self.all.open(window, self.ticks);
        let frames = self.all.closed(window);
        let last = frames.len();
        let mut points = Vec::with_capacity(last + 1);
        let mut sum = Sum::default();
        for (position, frame) in frames.chain([opened.as_ref()]).enumerate() {
            let (seconds, age) = if position == last {
                (open, 0)
            } else {
                (window.frame_seconds(), open + (last - 1 - position) as u64 * window.frame_seconds())
            };
            if seconds == 0 {
                continue;
            }
            if let Some(frame) = frame {
                all.add(frame);
            }
            points.push(self.point(seconds, age, frame, rare.get(position).and_then(Option::as_ref), &mut sum));
        }
        points
    }

    fn point(&self, seconds: u64, age: u64, frame: Option<&Frame>, rare: Option<&Rare>, sum: &mut Sum) -> Point {
        let mut point = Point { seconds, age, ..Point::default() };
        if let Some(frame) = frame {
            sum.clear();
            sum.add(frame);
            point.requests = frame.counts.requests();
            point.errors = frame.counts.errors;
            point.blocked = frame.counts.blocked;
            let [total, upstream, _] = &sum.spread;
            point.total = total.quantiles();
            point.upstream = upstream.quantiles();
        }
        for (id, count) in rare.map_or(&[][..], |rare| &rare.findings) {
            let Some(((entity, _), _)) = self.findings.0.get(usize::from(*id)) else { continue };
            match point.findings.iter_mut().find(|(known, _)| known == entity) {
                Some((_, sum)) => *sum += count,
                None => point.findings.push((entity, *count)),
            }
        }
        point
    }

    /// Figures per route and per upstream id. Each frame is decoded once.
    fn tables(&self, window: Window, names: &Names) -> (Vec<Named<Figures>>, BTreeMap<u16, Sum>) {
        let mut routes: Vec<(Arc<str>, Figures)> = Vec::new();
        let mut upstreams: BTreeMap<u16, Sum> = BTreeMap::new();
        let mut route: Option<(u16, Sum)> = None;
        let mut finish = |route: Option<(u16, Sum)>| {
            if let Some((id, sum)) = route.filter(|(_, sum)| sum.counts.requests() > 0) {
                routes.push((names.route(Some(id).filter(|id| *id != NONE)), sum.figures()));
            }
        };
        for (pair, series) in &self.pairs {
            let mut sum = Sum::default();
            series.tiers.closed(window).flatten().for_each(|frame| sum.add(frame));
            if let Some(open) = series.tiers.open(window, self.ticks) {
                sum.add(&open);
            }
            if pair.upstream != NONE {
                upstreams.entry(pair.upstream).or_default().add_sum(&sum);
            }
            // INVARIANT: pairs are sorted by route first, so that a route's pairs follow each other.
            match &mut route {
                Some((id, total)) if *id == pair.route => total.add_sum(&sum),
                _ => finish(route.replace((pair.route, sum))),
            }
        }
        finish(route);
        routes.sort_by(|(a, left), (b, right)| right.requests.cmp(&left.requests).then_with(|| a.cmp(b)));
        (routes, upstreams)
    }

    fn with_connections(
        &self,
        sums: &BTreeMap<u16, Sum>,
        rare: &Rare,
        names: &Names,
    ) -> Vec<(Arc<str>, UpstreamFigures)> {
        let mut upstreams: BTreeMap<u16, UpstreamFigures> = sums
            .iter()
            .map(|(id, sum)| (*id, UpstreamFigures { figures: sum.figures(), ..UpstreamFigures::default() }))
            .collect();
        for (position, (id, ever)) in (0..).zip(&self.connections.0) {
            let upstream = upstreams.entry(*id).or_default();
            upstream.connections_ever = *ever;
            let within = rare.connections.iter().find(|(known, _)| *known == position);
            upstream.connections = within.map_or(0, |(_, count)| *count);
        }
        for (pair, series) in &self.pairs {
            if let Some(upstream) = upstreams.get_mut(&pair.upstream) {
                upstream.sent_ever += series.totals.counts.sent;
            }
        }
        let mut named: Vec<_> =
            upstreams.into_iter().map(|(id, figures)| (names.upstream(Some(id)), figures)).collect();
        named
            .sort_by(|(a, left), (b, right)| right.figures.requests.cmp(&left.figures.requests).then_with(|| a.cmp(b)));
        named
    }
}

fn tallies(counts: &[(u16, u64)], word: impl Fn(usize) -> Option<(&'static str, &'static str)>) -> Vec<Tally> {
    let mut merged = Vec::new();
    add_rare(&mut merged, counts);
    let tallies = merged.into_iter().filter_map(|(id, count)| {
        let (name, action) = word(usize::from(id))?;
        Some(Tally { name, action, count })
    });
    let mut tallies: Vec<Tally> = tallies.collect();
    tallies.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| (a.name, a.action).cmp(&(b.name, b.action))));
    tallies
}
