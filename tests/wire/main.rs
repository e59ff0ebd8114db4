//! HTTP on the wire: raw requests and raw answers from files, sent through the real binary to an upstream that records every
//! byte, and judged. `tests/conformance` runs it; `tests/conformance --peers` beside nginx and `HAProxy`.
//!
//! Flags: `--cases DIR` (or `FIELDGATE_HTTP_CASES`; otherwise `tests/cases/http`), `--binary PATH`, `--peers`, `--only TEXT`,
//! `--verbose`, `--mutations N` (with `--seed N`): that many requests changed at random, after the cases.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::string_slice,
    reason = "a test that cannot go on says so and ends"
)]

mod case;
mod judge;
mod message;
mod mutations;
mod proxies;
mod recorder;
mod speaker;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use case::{Answer, Delivery, Outcome, Request, Then};
use judge::Verdict;
use proxies::Proxy;
use recorder::{PLAIN, Recorder};
use speaker::{Heard, Patience, say};

/// What the command line says.
struct Options {
    cases: PathBuf,
    binary: PathBuf,
    peers: bool,
    only: String,
    verbose: bool,
    mutations: usize,
    seed: u64,
}

impl Options {
    fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut options = Self {
            cases: std::env::var_os("FIELDGATE_HTTP_CASES")
                .map_or_else(|| root.join("tests/cases/http"), PathBuf::from),
            binary: PathBuf::from(env!("CARGO_BIN_EXE_fieldgate")),
            peers: false,
            only: String::new(),
            verbose: false,
            mutations: 150,
            seed: 1,
        };
        let number = |text: String| text.parse().unwrap_or_else(|_| panic!("`{text}` is no number"));
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_else(|| panic!("`{word}` needs a value"));
            match word.as_str() {
                "--cases" => options.cases = value().into(),
                "--binary" => options.binary = value().into(),
                "--only" => options.only = value(),
                "--mutations" => options.mutations = number(value()) as usize,
                "--seed" => options.seed = number(value()),
                "--peers" => options.peers = true,
                "--verbose" => options.verbose = true,
                // Flags of the usual test harness.
                "--quiet" | "-q" | "--nocapture" => {}
                _ => panic!(
                    "`{word}` is not known; known are --cases, --binary, --only, --peers, --verbose, --mutations, --seed"
                ),
            }
        }
        options
    }
}

/// What the table says of one proxy.
#[derive(Default)]
struct Score {
    requests: Tally,
    answers: Tally,
}

#[derive(Default)]
struct Tally {
    cases: usize,
    framing: usize,
    forbidden: usize,
}

impl Tally {
    fn count(&mut self, id: &str, why: &str, verdict: &Verdict, name: &str, is_shown: bool) {
        self.cases += 1;
        self.framing += usize::from(!verdict.framing.is_empty());
        self.forbidden += usize::from(!verdict.forbidden.is_empty());
        for (what, list) in [("framing", &verdict.framing), ("forbidden", &verdict.forbidden)] {
            if is_shown && !list.is_empty() {
                println!("{name}: {id} ({why}): {what}: {}", list.join("; "));
            }
        }
    }

    const fn failures(&self) -> usize {
        self.framing + self.forbidden
    }
}

fn main() -> ExitCode {
    let options = Options::read();
    let requests = case::requests(&options.cases);
    let answers = case::answers(&options.cases);
    let recorder = Recorder::start();
    let upstream = recorder.address;
    let ours = Proxy::fieldgate(&options.binary, upstream);
    let mut rows = vec![(ours.version(), measure(&ours, &recorder, &requests, &answers, &options))];
    let mutations = if options.only.is_empty() { options.mutations } else { 0 };
    let wrong = mutations::run(&ours, &recorder, options.seed, mutations);
    drop(ours);
    if options.peers {
        for (name, peer) in [("nginx", Proxy::nginx(upstream)), ("HAProxy", Proxy::haproxy(upstream))] {
            let Some(peer) = peer else {
                println!("{name} is not installed: it is left out");
                continue;
            };
            rows.push((peer.version(), measure(&peer, &recorder, &requests, &answers, &options)));
        }
    }
    println!("| proxy | requests | framing failures | forbidden seen | answers | failures | forbidden seen |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (name, Score { requests, answers }) in &rows {
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} |",
            requests.cases, requests.framing, requests.forbidden, answers.cases, answers.framing, answers.forbidden
        );
    }
    let failures: usize =
        rows.iter().take(1).map(|(_, score)| score.requests.failures() + score.answers.failures()).sum();
    if failures + wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn measure(proxy: &Proxy, recorder: &Recorder, requests: &[Request], answers: &[Answer], options: &Options) -> Score {
    let is_shown = options.verbose || proxy.name == "Fieldgate";
    let mut score = Score::default();
    for case in requests.iter().filter(|case| case.id.contains(&options.only)) {
        recorder.answer(PLAIN, Then::Keep);
        recorder.take();
        let must_close = case.seen.close_after || !case.may.contains(&Outcome::Forwarded);
        let more = Duration::from_millis(if must_close { 1000 } else { 60 });
        let heard =
            say(proxy.address, &case::bytes(&case.send), Patience { answer: Duration::from_millis(1500), more });
        let verdict = judge::request(case, &heard, &recorder.take());
        score.requests.count(&case.id, &case.why, &verdict, proxy.name, is_shown);
    }
    for case in answers.iter().filter(|case| case.id.contains(&options.only)) {
        recorder.answer(&case::bytes(&case.bytes), case.then);
        let heard = ask(proxy, &case.may);
        recorder.answer(PLAIN, Then::Keep);
        let next = ask(proxy, &[Delivery::Status(200)]);
        let verdict = judge::answer(case, &heard, &next);
        score.answers.count(&case.id, &case.why, &verdict, proxy.name, is_shown);
    }
    score
}

fn ask(proxy: &Proxy, may: &[Delivery]) -> Heard {
    // A cut answer ends with the connection; a complete one may leave it open.
    let more = Duration::from_millis(if may.contains(&Delivery::Cut) { 500 } else { 60 });
    say(
        proxy.address,
        b"GET /answer HTTP/1.1\r\nHost: t.example\r\n\r\n",
        Patience { answer: Duration::from_secs(5), more },
    )
}
