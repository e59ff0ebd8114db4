//! Scores the detector on labelled documents: `cargo test --release --lib pii::tests::corpus -- --ignored --nocapture`.
//! JSON documents are walked with their keys as context, other texts are read as they are.

use std::collections::{BTreeMap, HashSet};
use std::io::Read as _;
use std::path::Path;

use serde_json::Value;

use super::*;

type Span = (usize, usize, String);

/// Walks a JSON text that is known to be valid and reports each string and number with its context and offsets.
struct Walk<'a> {
    text: &'a str,
    at: usize,
    detector: &'a Detector,
    spans: Vec<Span>,
}

impl Walk<'_> {
    fn peek(&mut self) -> u8 {
        while self.text.as_bytes()[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        self.text.as_bytes()[self.at]
    }

    /// A string's value and, for each of its bytes and its end, the offset in the text.
    fn string(&mut self) -> (String, Vec<usize>) {
        let (mut value, mut offsets) = (String::new(), Vec::new());
        self.at += 1;
        while self.text.as_bytes()[self.at] != b'"' {
            let rest = &self.text[self.at..];
            let length = match rest.as_bytes() {
                [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', ..] => 12,
                [b'\\', b'u', ..] => 6,
                [b'\\', ..] => 2,
                _ => rest.chars().next().unwrap().len_utf8(),
            };
            let part: String = serde_json::from_str(&format!("\"{}\"", &rest[..length])).unwrap();
            offsets.extend(part.bytes().map(|_| self.at));
            value.push_str(&part);
            self.at += length;
        }
        offsets.push(self.at);
        self.at += 1;
        (value, offsets)
    }

    fn value(&mut self, context: Context) {
        match self.peek() {
            open @ (b'{' | b'[') => {
                self.at += 1;
                while !matches!(self.peek(), b'}' | b']') {
                    let mut inner = context;
                    if open == b'{' {
                        inner = context.under(&self.string().0);
                        assert_eq!(self.peek(), b':');
                        self.at += 1;
                    }
                    self.value(inner);
                    if self.peek() == b',' {
                        self.at += 1;
                    }
                }
                self.at += 1;
            }
            b'"' => {
                let (value, offsets) = self.string();
                let mut found = Vec::new();
                self.detector.find(&value, context, &mut found);
                self.keep(&found, |at| offsets[at]);
            }
            _ => {
                let start = self.at;
                let length = self.text[start..].find([',', '}', ']', ' ', '\n']).unwrap();
                self.at += length;
                let mut found = Vec::new();
                self.detector.find_in_number(&self.text[start..self.at], context, &mut found);
                self.keep(&found, |at| start + at);
            }
        }
    }

    fn keep(&mut self, found: &[Match], place: impl Fn(usize) -> usize) {
        let likely = found.iter().filter(|one| one.confidence >= Confidence::Likely);
        self.spans.extend(likely.map(|one| (place(one.start), place(one.end), one.entity.name().to_owned())));
    }
}

fn find(detector: &Detector, text: &str, is_json: bool) -> Vec<Span> {
    let mut walk = Walk { text, at: 0, detector, spans: Vec::new() };
    if is_json {
        walk.value(Context::default());
    } else {
        let mut found = Vec::new();
        detector.find(text, Context::default(), &mut found);
        walk.keep(&found, |at| at);
    }
    walk.spans
}

/// Prints what is found, a line for each row: `{"line": 1, "findings": [{"entity", "start", "end"}]}`, for scoring elsewhere.
#[test]
#[ignore = "reads a corpus beside the checkout"]
fn findings() {
    let Some(rows) = rows(&corpus_path()) else {
        println!("skipped: no corpus at `{}` (set PII_CORPUS)", corpus_path());
        return;
    };
    let detector = Detector::new(all());
    for (line, row) in (1..).zip(&rows) {
        let found =
            find(&detector, row["text"].as_str().unwrap(), row["template"].as_str().unwrap().starts_with("json"));
        let found = found
            .iter()
            .map(|(start, end, entity)| serde_json::json!({ "entity": entity, "start": start, "end": end }));
        println!("{}", serde_json::json!({ "line": line, "findings": found.collect::<Vec<_>>() }));
    }
}

fn corpus_path() -> String {
    std::env::var("PII_CORPUS").unwrap_or_else(|_| "../shared/cases/pii/corpus.jsonl.gz".into())
}

fn overlap(one: &Span, other: &Span) -> f64 {
    let inner = one.1.min(other.1).saturating_sub(one.0.max(other.0));
    inner as f64 / (one.1.max(other.1) - one.0.min(other.0)) as f64
}

fn spans(row: &Value, field: &str) -> Vec<Span> {
    let at = |span: &Value, name: &str| span[name].as_u64().unwrap() as usize;
    let rows = row[field].as_array().unwrap().iter();
    rows.map(|span| (at(span, "bstart"), at(span, "bend"), span["entity"].as_str().unwrap().to_lowercase())).collect()
}

pub(super) fn rows(path: &str) -> Option<Vec<Value>> {
    let file = std::fs::File::open(Path::new(path)).ok()?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
#[ignore = "reads a corpus beside the checkout"]
fn score() {
    let Some(rows) = rows(&corpus_path()) else {
        println!("skipped: no corpus at `{}` (set PII_CORPUS)", corpus_path());
        return;
    };
    let detector = Detector::new(all());
    let known: HashSet<_> = ids().map(|(_, entity)| entity.name).collect();
    let mut counts: BTreeMap<String, [u32; 3]> = BTreeMap::new();
    let (mut clean, mut shown) = (0, 0);
    for row in &rows {
        let text = row["text"].as_str().unwrap();
        let (gold, optional) = (spans(row, "spans"), spans(row, "optional"));
        let found = find(&detector, text, row["template"].as_str().unwrap().starts_with("json"));
        let mut used = HashSet::new();
        let mut show = |what: &str, span: &Span| {
            shown += 1;
            if std::env::var_os("PII_MISSES").is_some() {
                let from = context::floor_boundary(text, span.0.saturating_sub(40));
                let to = context::floor_boundary(text, span.1 + 8).max(span.1);
                println!("{what} {}: {:?} in {:?}", span.2, &text[span.0..span.1], &text[from..to]);
            }
        };
        for one in gold.iter().filter(|one| known.contains(one.2.as_str())) {
            let hit = found
                .iter()
                .enumerate()
                .find(|(at, seen)| !used.contains(at) && seen.2 == one.2 && overlap(one, seen) >= 0.5);
            if let Some((at, _)) = hit {
                used.insert(at);
                counts.entry(one.2.clone()).or_default()[0] += 1;
            } else {
                counts.entry(one.2.clone()).or_default()[2] += 1;
                show("missed", one);
            }
        }
        for (at, seen) in found.iter().enumerate() {
            if !used.contains(&at) && !optional.iter().any(|other| overlap(seen, other) > 0.0) {
                counts.entry(seen.2.clone()).or_default()[1] += 1;
                clean += u32::from(gold.is_empty());
                show("false", seen);
            }
        }
    }
    let score = |[hit, wrong, missed]: [u32; 3]| {
        let (precision, recall) = (f64::from(hit) / f64::from(hit + wrong), f64::from(hit) / f64::from(hit + missed));
        (precision, recall, 2.0 * precision * recall / (precision + recall))
    };
    let mut sum = [0; 3];
    for (name, count) in &counts {
        let (precision, recall, f1) = score(*count);
        println!("{name:20} P {precision:.3} R {recall:.3} F1 {f1:.3}  hit, false, missed {count:?}");
        (0..3).for_each(|at| sum[at] += count[at]);
    }
    let (precision, recall, f1) = score(sum);
    println!("all: P {precision:.4} R {recall:.4} F1 {f1:.4}, {clean} false on clean rows, {shown} shown");
    assert!(f1 >= 0.97, "F1 {f1:.4}");
}
