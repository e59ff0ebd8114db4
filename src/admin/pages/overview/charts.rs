//! The overview's three charts, from the points of a snapshot.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};

use super::super::super::chart::{Chart, Plan, Series, Style};
use super::super::super::format::{count, decimal, latency, latency_or_nothing, percent};
use super::entity;
use crate::stats::{Point, Quantiles, Snapshot, Window};

/// Entities with a colour of their own; the rest is drawn together.
const MOST_ENTITIES: usize = 5;

pub(super) fn draw(snapshot: &Snapshot, now: Timestamp) -> [Chart; 3] {
    [rate(snapshot, now), latencies(snapshot, now), findings(snapshot, now)]
}

/// When each moment ended, by the clock.
fn moments(snapshot: &Snapshot, now: Timestamp) -> Vec<String> {
    let shape = if snapshot.window == Window::Day { "%H:%M UTC" } else { "%H:%M:%S UTC" };
    let at = |point: &Point| now.checked_sub(SignedDuration::from_secs(point.age.cast_signed())).unwrap_or(now);
    snapshot.points.iter().map(|point| at(point).strftime(shape).to_string()).collect()
}

fn times(window: Window) -> Vec<String> {
    let times: &[&str] = match window {
        Window::Minute => &["60 s ago", "45 s", "30 s", "15 s", "now"],
        Window::Quarter => &["15 min ago", "10 min", "5 min", "now"],
        Window::Hour => &["60 min ago", "45 min", "30 min", "15 min", "now"],
        Window::Day => &["24 h ago", "18 h", "12 h", "6 h", "now"],
    };
    times.iter().map(|time| (*time).to_owned()).collect()
}

fn per_second(point: &Point, n: u64) -> f64 {
    n as f64 / point.seconds.max(1) as f64
}

fn series(name: &str, snapshot: &Snapshot, value: impl Fn(&Point) -> Option<f64>) -> Series {
    Series { name: name.to_owned(), values: snapshot.points.iter().map(value).collect() }
}

/// The newest frame of the longer windows is not over yet: with it they have one more.
fn room(snapshot: &Snapshot) -> usize {
    if snapshot.window == Window::Minute { 60 } else { 61 }
}

fn rate(snapshot: &Snapshot, now: Timestamp) -> Chart {
    let all = &snapshot.all;
    let fastest = snapshot.points.iter().map(|point| per_second(point, point.requests)).fold(0.0, f64::max);
    let summary = if all.requests == 0 {
        "No requests in this window.".into()
    } else {
        format!(
            "{} requests a second on average, {} at most; {}\u{a0}% errors, {} blocked.",
            decimal(snapshot.per_second(all.requests)),
            decimal(fastest),
            percent(all.errors, all.requests),
            count(all.blocked),
        )
    };
    let plan = Plan {
        id: "chart-rate",
        title: "Requests per second",
        summary,
        style: Style::Area,
        series: vec![
            series("requests", snapshot, |point| Some(per_second(point, point.requests))),
            series("blocked", snapshot, |point| Some(per_second(point, point.blocked))),
            series("errors", snapshot, |point| Some(per_second(point, point.errors))),
        ],
        moments: moments(snapshot, now),
        room: room(snapshot),
        times: times(snapshot.window),
        format: &decimal,
    };
    plan.draw()
}

fn latencies(snapshot: &Snapshot, now: Timestamp) -> Chart {
    let Quantiles { p50, p95, p99 } = snapshot.all.total;
    let summary = match (p50, p95, p99) {
        (Some(p50), Some(p95), Some(p99)) => format!(
            "Half within {}, 95 % within {}, 99 % within {}; the upstream’s 95 % within {}.",
            latency(p50),
            latency(p95),
            latency(p99),
            latency_or_nothing(snapshot.all.upstream.p95),
        ),
        (None | Some(_), _, _) => "Nothing to measure in this window.".into(),
    };
    let value = |us: Option<u64>| us.map(|us| us as f64);
    let plan = Plan {
        id: "chart-latency",
        title: "Latency",
        summary,
        style: Style::Lines,
        series: vec![
            series("p50", snapshot, |point| value(point.total.p50)),
            series("p95", snapshot, |point| value(point.total.p95)),
            series("p99", snapshot, |point| value(point.total.p99)),
            series("upstream p95", snapshot, |point| value(point.upstream.p95)),
        ],
        moments: moments(snapshot, now),
        room: room(snapshot),
        times: times(snapshot.window),
        format: &|us| latency(us as u64),
    };
    plan.draw()
}

fn findings(snapshot: &Snapshot, now: Timestamp) -> Chart {
    let mut totals: HashMap<&'static str, u64> = HashMap::new();
    for tally in &snapshot.findings {
        *totals.entry(tally.name).or_default() += tally.count;
    }
    let mut totals: Vec<(&'static str, u64)> = totals.into_iter().collect();
    totals.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let of = |point: &Point, wanted: &dyn Fn(&str) -> bool| {
        let found = point.findings.iter().filter(|(name, _)| wanted(name)).map(|(_, n)| n).sum::<u64>();
        Some(found as f64 * 60.0 / point.seconds.max(1) as f64)
    };
    let named: Vec<&str> = totals.iter().take(MOST_ENTITIES).map(|(name, _)| *name).collect();
    let mut all: Vec<Series> =
        named.iter().map(|name| series(&entity(name), snapshot, |point| of(point, &|other| other == *name))).collect();
    if totals.len() > named.len() {
        all.push(series("others", snapshot, |point| of(point, &|other| !named.contains(&other))));
    }
    let most: Vec<String> =
        totals.iter().take(3).map(|(name, n)| format!("{} ({})", entity(name), count(*n))).collect();
    let summary = if most.is_empty() {
        "Nothing was found in this window.".into()
    } else {
        format!("Most often: {}.", most.join(", "))
    };
    let plan = Plan {
        id: "chart-findings",
        title: "Findings per minute",
        summary,
        style: Style::Bars,
        series: all,
        moments: moments(snapshot, now),
        room: room(snapshot),
        times: times(snapshot.window),
        format: &decimal,
    };
    plan.draw()
}
