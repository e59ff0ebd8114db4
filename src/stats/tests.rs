use std::time::{Duration, Instant};

use super::metrics::Facts;
use super::*;

fn sample(total_us: u64, upstream_us: u64) -> Sample<'static> {
    Sample {
        route: None,
        upstream: None,
        status: 200,
        outcome: "completed",
        error: false,
        blocked: false,
        total: Duration::from_micros(total_us),
        upstream_time: Some(Duration::from_micros(upstream_us)),
        bytes_in: 10,
        bytes_out: 100,
        retries: 0,
        findings: &[],
    }
}

fn within_a_percent(found: Option<u64>, exact: u64) -> bool {
    found.is_some_and(|found| found.abs_diff(exact) as f64 <= (exact as f64 * 0.01).max(1.0))
}

#[test]
fn quantiles_agree_with_a_sorted_list() {
    let stats = Stats::new(3);
    let mut values: Vec<u64> = (0..5_000_u64).map(|i| (i * 7919 % 5_000 + 1).pow(2) / 3 + 40).collect();
    for (i, value) in values.iter().enumerate() {
        stats.worker(i).record(&sample(*value + 500, *value));
        if i % 250 == 0 {
            stats.tick();
        }
    }
    stats.tick();
    values.sort_unstable();
    let exact = |q: f64| values[(q * values.len() as f64).ceil() as usize - 1];
    for window in Window::ALL {
        let all = stats.snapshot(window).all;
        assert_eq!(all.requests, 5_000, "{window:?}");
        for (found, q) in [(all.upstream.p50, 0.5), (all.upstream.p95, 0.95), (all.upstream.p99, 0.99)] {
            assert!(within_a_percent(found, exact(q)), "{window:?} {q}: {found:?} against {}", exact(q));
        }
        assert!(within_a_percent(all.total.p95, exact(0.95) + 500), "{:?}", all.total);
        assert!(within_a_percent(all.own.p50, 500), "{:?}", all.own);
    }
}

#[test]
fn says_nothing_without_data() {
    let stats = Stats::new(1);
    for ticks in [0, 1] {
        (0..ticks).for_each(|_| stats.tick());
        let snapshot = stats.snapshot(Window::Minute);
        assert_eq!((snapshot.all, snapshot.seconds), (Figures::default(), ticks));
        assert_eq!(snapshot.points.len(), ticks as usize);
    }
}

#[test]
fn windows_roll() {
    let stats = Stats::new(1);
    let worker = stats.worker(0);
    worker.record(&sample(1_000, 500));
    let seen = |window| {
        let snapshot = stats.snapshot(window);
        let points: u64 = snapshot.points.iter().map(|point| point.requests).sum();
        assert_eq!(points, snapshot.all.requests, "the chart shows what the tile says");
        snapshot.all.requests
    };
    // After that many seconds: what each window still shows.
    let expected: [(u64, [u64; 4]); 8] = [
        (1, [1, 1, 1, 1]),
        (60, [1, 1, 1, 1]),
        (61, [0, 1, 1, 1]),
        (900, [0, 1, 1, 1]),
        (915, [0, 0, 1, 1]),
        (3_660, [0, 0, 0, 1]),
        (86_400, [0, 0, 0, 1]),
        (87_840, [0, 0, 0, 0]),
    ];
    let mut ticks = 0;
    for (until, shown) in expected {
        while ticks < until {
            stats.tick();
            ticks += 1;
        }
        assert_eq!(Window::ALL.map(seen), shown, "after {until} s");
    }
    assert_eq!(stats.snapshot(Window::Minute).requests_ever, 1);
}

#[test]
fn names_are_interned_and_bounded() {
    let stats = Stats::new(1);
    let first = stats.series(SeriesKind::Route, "a");
    assert_eq!(stats.series(SeriesKind::Route, "a"), first);
    for i in 0..300 {
        stats.series(SeriesKind::Route, &format!("r{i}"));
        stats.series(SeriesKind::Upstream, &format!("u{i}"));
    }
    assert_eq!(stats.series(SeriesKind::Route, "r254"), SeriesId(256));
    assert_eq!(stats.series(SeriesKind::Route, "r255"), SeriesId(0));
    assert_eq!(stats.series(SeriesKind::Upstream, "u127"), SeriesId(128));
    assert_eq!(stats.series(SeriesKind::Upstream, "u128"), SeriesId(0));
    assert_eq!(stats.series(SeriesKind::Route, "a"), first);
}

#[test]
fn counts_per_route_and_upstream() {
    let stats = Stats::new(2);
    let (route, upstream) = (stats.series(SeriesKind::Route, "users"), stats.series(SeriesKind::Upstream, "crm"));
    let known = Sample { route: Some(route), upstream: Some(upstream), retries: 1, ..sample(2_000, 1_500) };
    stats.worker(0).record(&known);
    stats.worker(1).record(&known);
    stats.worker(1).record(&Sample { status: 404, upstream_time: None, ..sample(50, 0) });
    stats.worker(0).connection_opened(upstream);
    stats.worker(1).refused(Refusal::HeadTimeout);
    stats.tick();
    let snapshot = stats.snapshot(Window::Minute);
    let routes: Vec<_> = snapshot.routes.iter().map(|(name, figures)| (&**name, figures.requests)).collect();
    assert_eq!(routes, [("users", 2), ("(none)", 1)]);
    let [(name, crm)] = &snapshot.upstreams[..] else { panic!("{:?}", snapshot.upstreams) };
    assert_eq!((&**name, crm.figures.sent, crm.connections, crm.connections_ever, crm.sent_ever), ("crm", 4, 1, 1, 4));
    assert_eq!(snapshot.all.status, [0, 0, 2, 0, 1, 0]);
    assert_eq!(snapshot.refused, [Tally { name: "head_timeout", action: "", count: 1 }]);
    assert_eq!((snapshot.all.bytes_in, snapshot.all.bytes_out), (30, 300));
}

#[test]
fn counts_what_is_in_flight() {
    let stats = Stats::new(1);
    let route = stats.series(SeriesKind::Route, "users");
    let worker = stats.worker(0);
    let mut first = worker.begin(None);
    first.routed(route);
    let second = worker.begin(Some(route));
    assert_eq!(stats.snapshot(Window::Minute).in_flight, 2);
    assert!(stats.openmetrics(Facts::default()).contains("fieldgate_in_flight{route=\"users\"} 2\n"));
    drop((first, second));
    assert_eq!(stats.snapshot(Window::Minute).in_flight, 0);
}

#[test]
fn many_threads_lose_nothing() {
    let stats = Stats::new(4);
    let routes: Vec<SeriesId> = (0..8).map(|i| stats.series(SeriesKind::Route, &format!("r{i}"))).collect();
    let findings = [("email", "redact", 2), ("", "mask", 1)];
    std::thread::scope(|threads| {
        for thread in 0..8 {
            // Two threads share each worker's shard.
            let (worker, routes, findings) = (stats.worker(thread), &routes, &findings);
            threads.spawn(move || {
                for i in 0..5_000 {
                    let _guard = worker.begin(Some(routes[i % 8]));
                    let known = Sample { route: Some(routes[i % 8]), findings, ..sample(100 + i as u64, 50) };
                    worker.record(&known);
                }
            });
        }
        threads.spawn(|| (0..50).for_each(|_| stats.tick()));
    });
    stats.tick();
    let snapshot = stats.snapshot(Window::Hour);
    assert_eq!((snapshot.all.requests, snapshot.all.findings, snapshot.in_flight), (40_000, 120_000, 0));
    assert!(snapshot.routes.iter().all(|(_, figures)| figures.requests == 5_000));
    let found: Vec<_> = snapshot.findings.iter().map(|tally| (tally.name, tally.action, tally.count)).collect();
    assert_eq!(found, [("email", "redact", 80_000), ("", "mask", 40_000)]);
    let reader = stats.reader();
    let in_buckets: u64 = reader.pairs.values().flat_map(|series| series.totals.buckets[0]).sum();
    assert_eq!(in_buckets, 40_000, "histograms count what counters count");
}

#[test]
fn metrics_are_well_formed_and_only_grow() {
    let stats = Stats::new(1);
    let route = stats.series(SeriesKind::Route, "we\"ird\\\nname");
    let upstream = stats.series(SeriesKind::Upstream, "crm");
    let known = Sample { route: Some(route), upstream: Some(upstream), ..sample(3_000, 2_000) };
    stats.worker(0).record(&Sample { findings: &[("email", "redact", 3)], ..known });
    let facts = Facts { version: "1.2.3".into(), rules_generation: 7, rules_rejected: true, ..Facts::default() };
    let text = stats.openmetrics(facts.clone());
    for line in [
        "fieldgate_requests_total{route=\"we\\\"ird\\\\\\nname\",upstream=\"crm\",status_class=\"2xx\"} 1",
        "fieldgate_request_duration_seconds_bucket{le=\"0.0025\",route=\"we\\\"ird\\\\\\nname\"} 0",
        "fieldgate_request_duration_seconds_bucket{le=\"0.005\",route=\"we\\\"ird\\\\\\nname\"} 1",
        "fieldgate_upstream_duration_seconds_sum{upstream=\"crm\"} 0.002",
        "fieldgate_gateway_duration_seconds_count 1",
        "fieldgate_findings_total{entity=\"email\",action=\"redact\"} 3",
        "fieldgate_outcomes_total{outcome=\"completed\"} 1",
        "fieldgate_refused_total{reason=\"malformed\"} 0",
        "fieldgate_upstream_requests_total{upstream=\"crm\"} 1",
        "fieldgate_rules_generation 7",
        "fieldgate_rules_rejected 1",
        "fieldgate_build_info{version=\"1.2.3\"} 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
    }
    assert!(text.ends_with("# EOF\n"));
    stats.tick();
    assert_eq!(stats.openmetrics(facts), text, "closing a second changes no counter");
}

#[test]
#[ignore = "a measurement: run it with --release"]
fn recording_is_cheap() {
    let stats = Stats::new(1);
    let worker = stats.worker(0);
    let (route, upstream) = (stats.series(SeriesKind::Route, "a"), stats.series(SeriesKind::Upstream, "b"));
    let findings = [("email", "redact", 1), ("credit_card", "mask", 1), ("", "remove", 1)];
    let rounds = 2_000_000_u32;
    for findings in [&findings[..0], &findings[..]] {
        let begun = Instant::now();
        for i in 0..rounds {
            let _guard = worker.begin(Some(route));
            let known =
                Sample { route: Some(route), upstream: Some(upstream), findings, ..sample(u64::from(i % 5_000), 50) };
            worker.record(std::hint::black_box(&known));
        }
        println!("{} findings: {:?} per exchange", findings.len(), begun.elapsed() / rounds);
    }
    let begun = Instant::now();
    stats.tick();
    println!("tick {:?}", begun.elapsed());
}
