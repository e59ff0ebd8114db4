//! How fast the JSON engine is on 10 MB of customer records: `cargo bench --bench json`. The best of many rounds, since other
//! work on the machine can only make one slower.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fieldgate::content::json::selector::{Program, ProgramEntry, Purpose, Selector};
use fieldgate::content::json::{
    Container, Edit, Edits, Entry, EntryId, Judge, KeyEdit, Limits, Long, Node, Path, Rewriter, Scalar, rewrite_whole,
};

/// Masks what is hit; looks at every byte of every string when it wants everything, as a detector would.
struct Masker {
    everything: bool,
    seen: usize,
}

impl Judge for Masker {
    fn wants_everything(&self) -> bool {
        self.everything
    }
    fn key(&mut self, _: Node<'_>, key: &str, _: &mut Edits) -> KeyEdit {
        self.seen += key.len();
        KeyEdit::Keep
    }
    fn scalar(&mut self, node: Node<'_>, value: Scalar<'_>, edits: &mut Edits) -> Edit {
        if let Scalar::String(text) = value {
            self.seen += text.len();
        }
        if node.hits.is_empty() {
            return Edit::Keep;
        }
        edits.json.extend_from_slice(b"\"****\"");
        Edit::Replace
    }
    fn enter(&mut self, _: Node<'_>, _: Container, _: &mut Edits) -> Entry {
        Entry::Enter
    }
    fn leave(&mut self, _: &Path, _: &[EntryId], _: &mut Edits) {}
    fn long_string(&mut self, _: Node<'_>, _: &mut Edits) -> Long {
        Long::Pass
    }
    fn window(&mut self, _: Node<'_>, text: &str, _: usize, _: bool, _: &mut Edits) -> Option<usize> {
        Some(text.len())
    }
}

fn record() -> String {
    let orders: Vec<String> = (0..5)
        .map(|n| {
            format!(
                r#"{{"id":"ord-100{n}","sku":"SKU-{n}A-BLUE","qty":{n},"price":{n}.99,"note":"leave at the back door","status":"shipped"}}"#
            )
        })
        .collect();
    format!(
        r#"{{"id":7,"name":"John R. Smith","email":"john.smith@example.net","phone":"+1 415-555-0132","ssn":"123-45-6789","card":"4111111111111111","address":{{"line1":"742 Evergreen Terrace","city":"Springfield","state":"IL","zip":"62704","country":"US"}},"orders":[{}],"ledger":9007199254740993,"tags":[],"vip":true,"ref":null,"notes":"Please confirm to john.work@example.org and use the other account for the refund, thanks."}}"#,
        orders.join(",")
    )
}

fn program(selectors: &[&str]) -> Arc<Program> {
    let entries: Vec<_> = selectors
        .iter()
        .map(|text| ProgramEntry { purpose: Purpose::Value, selectors: Selector::parse(text).into_iter().collect() })
        .collect();
    Arc::new(Program::compile(&entries))
}

fn best(rounds: usize, mut work: impl FnMut()) -> Duration {
    let time = |work: &mut dyn FnMut()| {
        let begun = Instant::now();
        work();
        begun.elapsed()
    };
    (0..rounds).map(|_| time(&mut work)).min().unwrap_or_default()
}

fn main() {
    // A path to a record of your own may be given.
    let given =
        std::env::args().nth(1).filter(|arg| !arg.starts_with('-')).and_then(|path| std::fs::read_to_string(path).ok());
    let record = given.unwrap_or_else(record);
    let record = record.trim();
    // On a busy machine a smaller body fits between two interruptions: its size in bytes may follow.
    let size = std::env::args().nth(2).and_then(|size| size.parse().ok()).unwrap_or(10_000_000);
    let array = format!("[{}]", vec![record; size / record.len()].join(","));
    let rounds = 150_000_000 / size;
    let gigabytes = |time: Duration| array.len() as f64 / time.as_secs_f64() / 1e9;
    let four = ["$[*].ssn", "$[*].card", "$[*].email", "$[*].phone"];
    let descend = ["$..ssn", "$..card", "$..email", "$..phone"];
    let none = ["$[*].nothing"];
    for (name, selectors, everything) in [
        ("nothing selected, nothing wanted", &none[..], false),
        ("nothing selected, everything shown", &none[..], true),
        ("4 edits a record, only these wanted", &four[..], false),
        ("4 edits a record, everything shown", &four[..], true),
        ("4 descendant edits a record, only these wanted", &descend[..], false),
        ("4 descendant edits a record, everything shown", &descend[..], true),
    ] {
        let program = program(selectors);
        let whole = best(rounds, || {
            let mut judge = Masker { everything, seen: 0 };
            black_box(rewrite_whole(&program, Limits::default(), &mut judge, array.as_bytes()).ok());
            black_box(judge.seen);
        });
        let chunked = best(rounds, || {
            let mut judge = Masker { everything, seen: 0 };
            let mut rewriter = Rewriter::new(Arc::clone(&program), Limits::default());
            let mut out = Vec::new();
            for chunk in array.as_bytes().chunks(16 * 1024) {
                out.clear();
                black_box(rewriter.push(&mut judge, chunk, &mut out).is_ok());
            }
            black_box(rewriter.finish(&mut judge, &mut out).is_ok());
        });
        println!("{name:48} whole {:5.2} GB/s   16 KB chunks {:5.2} GB/s", gigabytes(whole), gigabytes(chunked));
    }
    let selectors = ["$.ssn", "$.card", "$.email", "$.phone"];
    let program = program(&selectors);
    let one = best(20, || {
        for _ in 0..1000 {
            let mut judge = Masker { everything: true, seen: 0 };
            black_box(rewrite_whole(&program, Limits::default(), &mut judge, record.as_bytes()).ok());
        }
    });
    println!("one record of {} bytes, 4 edits, everything shown: {:.2} us", record.len(), one.as_secs_f64() * 1e3);
}
