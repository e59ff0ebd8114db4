//! How fast the detector is with every entity on, in megabytes per second of CPU time, beside a set of regular expressions
//! over the same values in the same run: `cargo bench --bench pii`. With `PII_CORPUS` set to a labelled corpus, its texts are
//! measured too. A value without a finding must not allocate; the bench fails otherwise.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a bench")]

mod patterns;

use std::hint::black_box;
use std::io::Read as _;
use std::sync::LazyLock;
use std::time::Instant;

use fieldgate::pii::entities::ids;
use fieldgate::pii::{Context, Detector};
use regex::bytes::RegexSet;

/// Each figure is the median of so many, each of so many seconds of work.
const TIMES: usize = 5;
const LONG_ENOUGH: f64 = 0.1;

/// What this thread has used of a core, so that a busy machine does not matter. Where the system does not say: the clock.
fn cpu_seconds() -> f64 {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let used = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = used.and_then(|used| used.split(' ').next().and_then(|nanos| nanos.parse::<f64>().ok()));
    nanos.map_or_else(|| BEGIN.elapsed().as_secs_f64(), |nanos| nanos / 1e9)
}

/// Megabytes per second of `work`, which goes over `bytes` bytes.
fn speed(bytes: usize, mut work: impl FnMut()) -> f64 {
    let batch = (1_usize << 18).div_ceil(bytes);
    let mut once = || {
        let (start, mut rounds) = (cpu_seconds(), 0);
        while cpu_seconds() - start < LONG_ENOUGH {
            (0..batch).for_each(|_| work());
            rounds += batch;
        }
        (bytes * rounds) as f64 / (cpu_seconds() - start) / 1e6
    };
    let mut speeds: Vec<f64> = (0..TIMES).map(|_| once()).collect();
    speeds.sort_by(f64::total_cmp);
    speeds[TIMES / 2]
}

/// What is compared.
struct Rivals {
    detector: Detector,
    patterns: RegexSet,
}

impl Rivals {
    fn measure(&self, name: &str, values: &[String]) {
        let bytes: usize = values.iter().map(String::len).sum();
        let mut found = Vec::new();
        let mut find = || {
            found.clear();
            for value in values {
                self.detector.find(black_box(value), Context::default(), &mut found);
            }
        };
        let ours = speed(bytes, &mut find);
        let allocations = allocation_counter::measure(&mut find).count_total;
        let theirs =
            speed(bytes, || values.iter().for_each(|value| drop(black_box(self.patterns.matches(value.as_bytes())))));
        let nanos = bytes as f64 / ours * 1e3 / values.len() as f64;
        println!(
            "{name:28} {ours:8.0} MB/s {nanos:12.0} ns a value {allocations:7} allocations {:6} found | patterns {theirs:6.0} MB/s",
            found.len()
        );
        assert!(!found.is_empty() || allocations == 0, "`{name}`: a value without a finding must not allocate");
    }
}

fn main() {
    let rivals = Rivals { detector: Detector::new(ids().map(|(id, _)| id).collect()), patterns: patterns::set() };
    let prose =
        "The quick brown fox jumps over the lazy dog while everybody in the office waits for the next release. ";
    let log =
        "2025-10-19T19:28:44Z INFO req=53c7d486-25b9-4d8b-926f-8bb430a74aa4 status=200 took=1834us path=/v1/items/77 ";
    let german = "Größere Änderungen müssen früh genug angekündigt werden, sonst fällt es später niemandem mehr auf. ";
    for (name, size) in
        [("1 KB", 1_000), ("10 KB", 10_000), ("100 KB", 100_000), ("1 MB", 1_000_000), ("10 MB", 10_000_000)]
    {
        rivals.measure(&format!("prose, {name}"), &[prose.repeat(size / prose.len())]);
        rivals.measure(&format!("log lines, {name}"), &[log.repeat(size / log.len())]);
    }
    rivals.measure("umlauts, 1 MB", &[german.repeat(1_000_000 / german.len())]);
    rivals.measure("log lines, one by one", &vec![log.to_owned(); 1000]);
    let short = ["active", "Berlin", "premium", "2024-08-25", "EUR", "ord-1001", "1234.56", "2024-05-01T12:00:00Z"];
    rivals.measure("short JSON values", &short.map(str::to_owned));
    rivals.measure("an e-mail address", &["john.doe@example.com".to_owned()]);
    rivals.measure("a card", &["4111 1111 1111 1111".to_owned()]);
    measure_keys();

    if let Some(path) = std::env::var_os("PII_CORPUS") {
        let texts = corpus(path.as_ref());
        rivals.measure("corpus, text by text", &texts);
        let one = texts.concat();
        for times in [1, 4, 14] {
            rivals.measure(&format!("corpus, {times} times in one"), &[one.repeat(times)]);
        }
    }
    for unit in ["@", "1-", "1 ", "a.a.a.a@", "a1", "555-1234 ", "4111 "] {
        rivals.measure(&format!("hostile `{unit}`, 1 MB"), &[unit.repeat(1_000_000 / unit.len())]);
    }
}

fn measure_keys() {
    let keys = ["id", "customerName", "created_at", "shipping_address_line", "socialSecurityNumber", "phone"];
    let each = speed(1, || {
        for key in keys {
            black_box(Context::default().under(black_box(key)));
        }
    });
    println!("{:28} {:8.0} ns a key", "context of a key", 1e3 / each / keys.len() as f64);
}

fn corpus(path: &std::path::Path) -> Vec<String> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    rows.map(|row| row["text"].as_str().unwrap().to_owned()).collect()
}
