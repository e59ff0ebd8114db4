//! How fast the detector is, in megabytes per second of CPU time: `cargo bench --bench pii`. With `PII_CORPUS` set to a
//! labelled corpus, its texts are measured too.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a bench")]

use std::hint::black_box;
use std::io::Read as _;
use std::sync::LazyLock;
use std::time::Instant;

use fieldgate::pii::entities::ids;
use fieldgate::pii::{Context, Detector};

/// Seconds of work for each figure.
const LONG_ENOUGH: f64 = 0.4;

/// What this thread has used of a core, so that a busy machine does not matter. Where the system does not say: the clock.
fn cpu_seconds() -> f64 {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let used = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = used.and_then(|used| used.split(' ').next().and_then(|nanos| nanos.parse::<f64>().ok()));
    nanos.map_or_else(|| BEGIN.elapsed().as_secs_f64(), |nanos| nanos / 1e9)
}

fn measure(name: &str, values: &[String], detector: &Detector) {
    let bytes: usize = values.iter().map(String::len).sum();
    let batch = (1_usize << 20).div_ceil(bytes);
    let (start, mut rounds, mut found) = (cpu_seconds(), 0, Vec::new());
    while cpu_seconds() - start < LONG_ENOUGH {
        for _ in 0..batch {
            found.clear();
            for value in values {
                detector.find(black_box(value), Context::default(), &mut found);
            }
        }
        rounds += batch;
    }
    let seconds = (cpu_seconds() - start) / rounds as f64;
    let nanos_each = seconds * 1e9 / values.len() as f64;
    println!("{name:34} {:8.0} MB/s {nanos_each:10.0} ns a value, {} found", bytes as f64 / seconds / 1e6, found.len());
}

fn main() {
    let detector = Detector::new(ids().map(|(id, _)| id).collect());
    let prose =
        "The quick brown fox jumps over the lazy dog while everybody in the office waits for the next release. ";
    let log =
        "2025-10-19T19:28:44Z INFO req=53c7d486-25b9-4d8b-926f-8bb430a74aa4 status=200 took=1834us path=/v1/items/77 ";
    let german = "Größere Änderungen müssen früh genug angekündigt werden, sonst fällt es später niemandem mehr auf. ";
    measure("prose, 1 MiB", &[prose.repeat((1 << 20) / prose.len())], &detector);
    measure("umlauts, 1 MiB", &[german.repeat((1 << 20) / german.len())], &detector);
    measure("log lines, 1 MiB", &[log.repeat((1 << 20) / log.len())], &detector);
    measure("log lines, one by one", &vec![log.to_owned(); 1000], &detector);
    measure("short values", &["active", "Berlin", "premium", "2024-08-25", "EUR"].map(str::to_owned), &detector);
    measure("an e-mail address", &["john.doe@example.com".to_owned()], &detector);
    measure("a card", &["4111 1111 1111 1111".to_owned()], &detector);

    let keys = ["id", "customerName", "created_at", "shipping_address_line", "socialSecurityNumber", "phone"];
    let (start, rounds) = (cpu_seconds(), 500_000);
    for _ in 0..rounds {
        for key in keys {
            black_box(Context::default().under(black_box(key)));
        }
    }
    let each = (cpu_seconds() - start) * 1e9 / f64::from(rounds) / keys.len() as f64;
    println!("{:34} {each:8.0} ns a key", "context of a key");

    if let Some(path) = std::env::var_os("PII_CORPUS") {
        let mut text = String::new();
        flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
        let rows = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let texts: Vec<String> = rows.map(|row| row["text"].as_str().unwrap().to_owned()).collect();
        measure("corpus, text by text", &texts, &detector);
        measure("corpus, one text", &[texts.concat()], &detector);
    }
    for unit in ["@", "1-", "1 ", "a.a.a.a@", "a1", "555-1234 ", "4111 "] {
        measure(&format!("hostile `{unit}`, 1 MiB"), &[unit.repeat((1 << 20) / unit.len())], &detector);
    }
}
