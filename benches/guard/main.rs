//! The work of one request, to be counted in instructions: `benches/guard/run` runs it under callgrind, which gives the same
//! number on any machine and at any load. `guard CASE TIMES` does one case so often; without arguments it names the cases.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a bench")]

use std::hint::black_box;
use std::sync::Arc;

use fieldgate::content::json::Limits;
use fieldgate::content::kind::Format;
use fieldgate::pii::{Context, Detector, EntitySet};
use fieldgate::policy::{BodyFilter, Plan};
use fieldgate::rules::{self, Source};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const RECORD: &[u8] = include_bytes!("../compare/request.json");
const RULES: &str = include_str!("../compare/rules/full/work.yaml");

/// Values as they stand in a hundred records, and prose: mostly nothing to be found.
const TEXT: &str = "Customer asked us to call before delivery, order ord-1004 shipped 2026-03-01T10:00:00Z, SKU-4A-BLUE, 5 pieces at \
    23.99, gift wrap please; the parcel is with the neighbour at number 12, and nobody has signed for it as yet.";

/// Sets a case up, and gives what is to be counted.
type Make<'a> = &'a dyn Fn() -> Box<dyn Fn()>;

/// The plan of the comparison with peers, or its field rules alone.
fn plan(detects: bool) -> Arc<Plan> {
    let text: String =
        RULES.lines().filter(|line| detects || !line.contains("detect:")).flat_map(|line| [line, "\n"]).collect();
    let ruleset = rules::load(&Source::Files(vec![("work.yaml".to_owned(), text)])).unwrap();
    Arc::clone(&ruleset.routes.first().unwrap().response)
}

fn rewrite(plan: &Arc<Plan>) {
    let (result, judge) = BodyFilter::whole(plan, Format::Json, Limits::default(), black_box(RECORD));
    black_box((result.unwrap(), judge.into_findings()));
}

/// A body in pieces of 16 KiB, as they come from a socket.
fn stream(plan: &Arc<Plan>, body: &[u8]) {
    let mut filter = BodyFilter::new(plan, Format::Json, Limits::default(), 0);
    let mut out = Vec::new();
    for chunk in black_box(body).chunks(16 << 10) {
        filter.push(chunk, &mut out).unwrap();
        out.clear();
    }
    filter.finish(&mut out).unwrap();
}

fn main() {
    let cases: [(&str, Make<'_>); 5] = [
        ("record: four field rules", &|| {
            let plan = plan(false);
            Box::new(move || rewrite(&plan))
        }),
        ("record: four field rules and eight detectors", &|| {
            let plan = plan(true);
            Box::new(move || rewrite(&plan))
        }),
        ("array of 100 records in pieces: field rules", &|| {
            let plan = plan(false);
            let body = [b"[".as_slice(), &[RECORD; 100].join(b",".as_slice()), b"]"].concat();
            Box::new(move || stream(&plan, &body))
        }),
        ("detector: every entity over 200 bytes of text", &|| {
            let (detector, found) = (Detector::new(EntitySet::all()), Vec::new());
            let found = std::cell::RefCell::new(found);
            Box::new(move || {
                found.borrow_mut().clear();
                detector.find(black_box(TEXT), Context::default(), &mut found.borrow_mut());
            })
        }),
        ("target: canonical form of a path", &|| {
            let last = fieldgate::gateway::target::LastNamed::default();
            Box::new(move || {
                let uri: http::Uri = black_box("/customers/1042/orders?limit=20").parse().unwrap();
                let mut headers = http::HeaderMap::new();
                headers.insert(http::header::HOST, http::HeaderValue::from_static("api.example"));
                black_box(fieldgate::gateway::target::Target::read(&uri, &headers, &last).is_ok());
            })
        }),
    ];
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let wanted = arguments.next().and_then(|n| n.parse::<usize>().ok());
    let times: usize = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(1);
    let Some((_, make)) = wanted.and_then(|n| cases.get(n)) else {
        for (name, _) in &cases {
            println!("{name}");
        }
        return;
    };
    let case = make();
    (0..times).for_each(|_| case());
}
