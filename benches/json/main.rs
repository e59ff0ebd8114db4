//! How fast bodies are judged, against what one would write with `serde_json` and `regex`, in one run on one machine:
//! `cargo bench --bench json [-- [PART..] [--quick]]`. The ratios hold on any machine; the bytes a second do not.
//!
//! Parts: record, array, selectors, nested, strings, numbers, many, skip, size, engine. All of them take about a minute and a
//! half, with `--quick` (smaller bodies, fewer rounds) about twenty seconds.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a bench")]

mod baseline;
mod bodies;
mod engine;
mod table;

use std::sync::Arc;

use baseline::Baseline;
use fieldgate::content::json::Limits;
use fieldgate::content::kind::Format;
use fieldgate::policy::{BodyFilter, Plan};
use fieldgate::rules::{self, Source};
use table::{Contender, Table};

/// What the gateway allocates with.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const DETECT: &str = "detect: [email, credit_card, iban, phone, us_ssn, ipv4, jwt, aws_access_key_id], action: redact";

/// One rule for each way to edit a field, below `root`. `set` is for one place only; in an array `replace` does its work.
fn four(root: &str) -> Vec<String> {
    vec![
        format!("select: '{root}.ssn', action: remove"),
        format!("select: '{root}.card.number', action: {{mask: {{keep_last: 4}}}}"),
        format!("select: '{root}.loyalty_no', action: {{rename: loyalty_number}}"),
        format!("select: '{root}.source', action: {{{}: gateway}}", if root == "$" { "set" } else { "replace" }),
    ]
}

fn with_detectors(root: &str) -> Vec<String> {
    let mut rules = four(root);
    rules.push(DETECT.to_owned());
    rules
}

/// Compiles rules the way the program does: from the text of a rule file.
fn plan(rules: &[String]) -> Arc<Plan> {
    let rules: Vec<String> = rules.iter().map(|rule| format!("      - {{{rule}}}\n")).collect();
    let rules = rules.concat();
    let text = format!(
        "version: 1
upstreams: {{u: {{targets: [\"http://127.0.0.1:1\"]}}}}
routes: {{all: {{match: {{paths: [\"/{{*rest}}\"]}}, upstream: u, policies: [p]}}}}
policies:
  p:
    response:
{rules}"
    );
    let ruleset = rules::load(&Source::Files(vec![("bench.yaml".to_owned(), text)]));
    let ruleset = ruleset.unwrap_or_else(|problems| panic!("{}", problems.first().unwrap()));
    ruleset.routes.first().unwrap().response.clone()
}

fn whole(plan: &Arc<Plan>, body: &[u8]) -> usize {
    let (result, _) = BodyFilter::whole(plan, Format::Json, Limits::default(), body);
    result.unwrap().map_or(body.len(), |out| out.len())
}

/// As the gateway does it: what is decided leaves after each chunk.
fn chunked(plan: &Arc<Plan>, body: &[u8]) -> usize {
    let mut filter = BodyFilter::new(plan, Format::Json, Limits::default(), 0);
    let (mut out, mut written) = (Vec::new(), 0);
    for chunk in body.chunks(16 * 1024) {
        filter.push(chunk, &mut out).unwrap();
        written += out.len();
        out.clear();
    }
    filter.finish(&mut out).unwrap();
    written + out.len()
}

/// Ours in both ways, and what it is measured against.
fn compare(table: &Table, name: &str, body: &[u8], rules: &[String], baseline: &Baseline) {
    let plan = plan(rules);
    table.measure(
        name,
        body,
        vec![
            Contender::new("whole", |body| whole(&plan, body)),
            Contender::new("16 KB chunks", |body| chunked(&plan, body)),
            Contender::baseline(baseline.name(), |body| baseline.rewrite(body).len()),
            Contender::new("parse only", baseline::parse),
            Contender::new("memcpy", |body| std::hint::black_box(body.to_vec()).len()),
        ],
    );
}

/// `count` selectors of three kinds, most of which select nothing here.
fn many(count: usize) -> Vec<String> {
    let selector = |n: usize| match n % 3 {
        0 => format!("select: '$[*].field_{n}', action: remove"),
        1 => format!("select: '$[*].orders[*].field_{n}', action: redact"),
        _ => format!("select: '$..field_{n}', action: mask"),
    };
    let mut rules = vec!["select: '$[*].ssn', action: remove".to_owned()];
    rules.extend((1..count).map(selector));
    rules
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let parts: Vec<&str> = arguments.iter().map(String::as_str).filter(|part| !part.starts_with('-')).collect();
    let is_asked = |part: &str| parts.is_empty() || parts.contains(&part);
    let big = if quick { 2_000_000 } else { 10_000_000 };
    let table = Table::new(quick);

    let record = bodies::record();
    let array = bodies::array(&record, big);
    let edits = baseline::Baseline::edits();
    let edits_and_patterns = baseline::Baseline::edits_and_patterns();
    let patterns = baseline::Baseline::patterns();
    let detect = [DETECT.to_owned()];

    if is_asked("record") {
        let name = format!("record: {} bytes, 4 field rules, 8 detectors", record.len());
        compare(&table, &name, record.as_bytes(), &with_detectors("$"), &edits_and_patterns);
    }
    if is_asked("array") {
        let name = "array of such records, 4 field rules, 8 detectors";
        compare(&table, name, &array, &with_detectors("$[*]"), &edits_and_patterns);
    }
    if is_asked("selectors") {
        compare(&table, "selectors: the same array, 4 field rules", &array, &four("$[*]"), &edits);
        let descend = "selectors: the same array, 4 rules with `..`";
        compare(&table, descend, &array, &four("$."), &edits);
    }
    if is_asked("nested") {
        compare(&table, "nested 100 deep, 8 detectors", &bodies::nested(big), &detect, &patterns);
    }
    if is_asked("strings") {
        let body = bodies::strings(big, 2_000);
        compare(&table, "strings of 2 KB, 8 detectors", &body, &detect, &patterns);
        let body = bodies::strings(big, 500_000);
        compare(&table, "strings of 500 KB, 8 detectors", &body, &detect, &patterns);
    }
    if is_asked("numbers") {
        let body = bodies::numbers(big);
        compare(&table, "numbers only, 8 detectors", &body, &detect, &patterns);
        compare(&table, "numbers only, 4 field rules", &body, &four("$[*]"), &edits);
    }
    if is_asked("many") {
        for count in [1, 50, 500] {
            let name = format!("many: the array, {count} selectors");
            compare(&table, &name, &array, &many(count), &edits);
        }
    }
    if is_asked("skip") {
        let name = "skip: 98 % lies where no selector reaches";
        compare(&table, name, &bodies::unreachable(&record, big), &four("$[*]"), &edits);
    }
    if is_asked("size") {
        for size in [1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000] {
            let body = bodies::array(&record, size);
            let plan = plan(&with_detectors("$[*]"));
            let name = format!("size: array of {size} bytes, 4 field rules, 8 detectors");
            let chunks = Contender::new("16 KB chunks", |body| chunked(&plan, body));
            table.measure(&name, &body, vec![Contender::new("whole", |body| whole(&plan, body)), chunks]);
        }
    }
    if is_asked("engine") {
        engine::measure(&table, &array);
    }
}
