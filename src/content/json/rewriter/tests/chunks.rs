//! However a body is cut into pieces, the outcome is the same.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use proptest::prelude::*;

use super::documents::{Dice, document, selector, written};
use super::{bytewise, pieces, splice_every_a, whole};
use crate::content::json::selector::{Program, ProgramEntry, Purpose, Selector};
use crate::content::json::{
    Container, Edit, Edits, Entry, EntryId, Fault, Glance, Judge, KeyEdit, Limits, Long, Node, Path, Scalar, Show,
    tells,
};

/// A judge whose answers are a hash of what it is asked, so that they depend on nothing else.
#[derive(Clone)]
struct Whim {
    seed: u64,
    stops: bool,
    selected_only: bool,
    /// What it leaves alone without a closer look, and whether it says so.
    glance: Option<(Glance, bool)>,
}

/// Passes nearly everything by.
const GLANCE: Glance = Glance { length: 4, number: 3, keys: true };

impl Whim {
    /// Whether a key or scalar is left alone.
    fn passes(&self, node: Node<'_>, length: usize, text: &str, limit: fn(Glance) -> usize) -> bool {
        let Some((glance, _)) = self.glance.filter(|_| node.hits.is_empty()) else { return false };
        length < limit(glance) && (text.is_empty() || !tells(text.as_bytes()))
    }

    fn leaves_alone(&self, node: Node<'_>, value: Scalar<'_>) -> bool {
        match value {
            Scalar::String(text) => self.passes(node, text.len(), text, |glance| glance.length),
            Scalar::Number(text) => {
                self.passes(node, text.len(), "", |glance| glance.number) && !text.contains(['e', 'E'])
            }
            Scalar::Bool(_) | Scalar::Null => self.passes(node, 0, "", |_| 1),
        }
    }

    fn roll(&self, what: &str, node: Node<'_>, value: &str, sides: u64) -> u64 {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        hasher.hash_one((self.seed, what, node.path.to_string(), node.hits, value)) % sides
    }
}

impl Judge for Whim {
    fn show(&self) -> Show {
        match self.glance {
            Some((glance, true)) => Show::Promising(glance),
            None if self.selected_only => Show::Selected,
            Some((_, false)) | None => Show::Everything,
        }
    }

    fn key_matters(&mut self, key: &str) -> bool {
        key.len() % 2 == 1
    }

    fn key(&mut self, node: Node<'_>, key: &str, edits: &mut Edits) -> KeyEdit {
        if self.passes(node, key.len(), key, |glance| glance.length) {
            return KeyEdit::Keep;
        }
        match self.roll("key", node, key, 24) {
            0 | 1 => {
                edits.text = format!("new \"{key}");
                KeyEdit::Rename
            }
            2 => KeyEdit::Reserve,
            3 if self.stops => KeyEdit::Stop,
            _ => KeyEdit::Keep,
        }
    }

    fn scalar(&mut self, node: Node<'_>, value: Scalar<'_>, edits: &mut Edits) -> Edit {
        if self.leaves_alone(node, value) {
            return Edit::Keep;
        }
        let shown = format!("{value:?}");
        match (self.roll("scalar", node, &shown, 8), value) {
            (0 | 1, _) => Edit::Remove,
            (2, _) => {
                edits.json.extend_from_slice(b"{\"r\": [1e5]}");
                Edit::Replace
            }
            (3 | 4, Scalar::String(text)) => {
                splice_every_a(text, 0..text.len(), "<\"é>", edits);
                Edit::Splice
            }
            (5, _) if self.stops && self.roll("stop", node, &shown, 4) == 0 => Edit::Stop,
            _ => Edit::Keep,
        }
    }

    fn enter(&mut self, node: Node<'_>, container: Container, edits: &mut Edits) -> Entry {
        if self.glance.is_some() && node.hits.is_empty() {
            return Entry::Enter;
        }
        match self.roll("enter", node, &format!("{container:?}"), 10) {
            0 | 1 => Entry::Remove,
            2 => {
                edits.json.extend_from_slice(b"[]");
                Entry::Replace
            }
            _ => Entry::Enter,
        }
    }

    fn leave(&mut self, path: &Path, missing: &[EntryId], edits: &mut Edits) {
        if self.glance.is_some() && missing.is_empty() {
            return;
        }
        if self.roll("leave", Node { path, hits: missing, written: crate::content::json::Written::default() }, "", 4)
            == 0
        {
            edits.json.extend_from_slice(b"\"new\":0");
        }
    }

    fn long_string(&mut self, node: Node<'_>, edits: &mut Edits) -> Long {
        match self.roll("long", node, "", 8) {
            0 => Long::Pass,
            1 => Long::Remove,
            2 => {
                edits.json.extend_from_slice(b"null");
                Long::Replace
            }
            3 => Long::Whole,
            _ => Long::Windows,
        }
    }

    fn window(&mut self, node: Node<'_>, text: &str, from: usize, last: bool, edits: &mut Edits) -> Option<usize> {
        let open = (text.len() - from) as u64;
        let mut decided = if last { text.len() } else { from + self.roll("window", node, text, open + 1) as usize };
        while !text.is_char_boundary(decided) {
            decided += 1;
        }
        splice_every_a(text, from..decided, "<\"é>", edits);
        (!self.stops || self.roll("stop", node, text, 20) > 0).then_some(decided)
    }
}

/// Limits so small that short documents meet them.
const SMALL: Limits = Limits { depth: 5, token: 24, window: 16, value: 40 };

fn program(selectors: &[String], tables: bool) -> Arc<Program> {
    let entries: Vec<_> = selectors
        .iter()
        .enumerate()
        .map(|(i, text)| ProgramEntry {
            purpose: match i % 4 {
                0 => Purpose::Value,
                1 => Purpose::RenameTo("c".into()),
                2 => Purpose::Ensure,
                _ => Purpose::KeepOnly,
            },
            selectors: vec![match Selector::parse(text).unwrap() {
                selector if i % 5 == 2 || i % 3 == 1 => selector.fold_case(),
                selector => selector,
            }],
        })
        .collect();
    Arc::new(if tables { Program::compile(&entries) } else { Program::without_tables(&entries) })
}

fn same(program: &Arc<Program>, limits: Limits, judge: &Whim, body: &[u8], cuts: &[usize]) -> Result<Vec<u8>, Fault> {
    let expected = whole(program, limits, &mut judge.clone(), body);
    let (found, ..) = pieces(program, limits, &mut judge.clone(), body, cuts);
    let text = |result: &Result<Vec<u8>, Fault>| result.clone().map(|out| String::from_utf8_lossy(&out).into_owned());
    assert_eq!(text(&found), text(&expected), "cut at {cuts:?}: {}", String::from_utf8_lossy(body));
    expected
}

fn cuts(body: &[u8], dice: &mut Dice) -> Vec<usize> {
    let mut cuts: Vec<usize> = (0..dice.roll(6)).map(|_| dice.roll(body.len() as u64 + 1) as usize).collect();
    cuts.sort_unstable();
    cuts
}

proptest! {
    #![proptest_config(crate::properties::cases(300))]

    #[test]
    fn pieces_make_no_difference(
        value in document(),
        selectors in prop::collection::vec(selector(), 0..6),
        seed: u64, stops: bool, selected_only: bool, tables: bool, small: bool,
    ) {
        let mut dice = Dice(seed);
        let body = written(&value, &mut dice);
        let program = program(&selectors, tables);
        let judge = Whim { seed, stops, selected_only, glance: None };
        let limits = if small { SMALL } else { Limits::default() };
        let out = same(&program, limits, &judge, body.as_bytes(), &bytewise(body.as_bytes()));
        for _ in 0..4 {
            let cuts = cuts(body.as_bytes(), &mut dice);
            prop_assert_eq!(&same(&program, limits, &judge, body.as_bytes(), &cuts), &out);
        }
        if let Ok(out) = out {
            let text = String::from_utf8(out).expect("UTF-8 in, UTF-8 out");
            prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{} became {}", body, text);
        }
    }

    #[test]
    fn a_glance_makes_no_difference(
        value in document(), selectors in prop::collection::vec(selector(), 0..4), seed: u64, small: bool,
    ) {
        let mut dice = Dice(seed);
        let body = written(&value, &mut dice);
        let program = program(&selectors, true);
        let judge = |says| Whim { seed, stops: false, selected_only: false, glance: Some((GLANCE, says)) };
        let limits = if small { SMALL } else { Limits::default() };
        let cuts = cuts(body.as_bytes(), &mut dice);
        let with = same(&program, limits, &judge(true), body.as_bytes(), &cuts);
        let without = same(&program, limits, &judge(false), body.as_bytes(), &cuts);
        prop_assert_eq!(with, without, "{}", body);
    }

    #[test]
    fn tables_make_no_difference(
        value in document(), selectors in prop::collection::vec(selector(), 0..6), seed: u64, selected_only: bool,
    ) {
        let body = written(&value, &mut Dice(seed));
        let judge = Whim { seed, stops: false, selected_only, glance: None };
        let with = whole(&program(&selectors, true), Limits::default(), &mut judge.clone(), body.as_bytes());
        let without = whole(&program(&selectors, false), Limits::default(), &mut judge.clone(), body.as_bytes());
        prop_assert_eq!(with, without);
    }

    #[test]
    fn random_bytes_never_panic(
        body in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..40),
            prop::collection::vec(prop::sample::select(&b"{}[]\",:\\u0dD8aflstrue1-.e \n\xc3\xa9\xf0"[..]), 0..40),
        ],
        selectors in prop::collection::vec(selector(), 0..4),
        seed: u64, selected_only: bool,
    ) {
        let judge = Whim { seed, stops: true, selected_only, glance: None };
        let program = program(&selectors, true);
        let ours = same(&program, SMALL, &judge, &body, &bytewise(&body));
        let theirs = serde_json::from_slice::<serde_json::Value>(&body);
        prop_assert!(ours.is_err() || theirs.is_ok());
    }

    #[test]
    fn damaged_documents_are_refused_as_others_refuse_them(value in document(), seed: u64, selected_only: bool) {
        let mut dice = Dice(seed);
        let mut body = written(&value, &mut dice).into_bytes();
        let at = dice.roll(body.len() as u64) as usize;
        match dice.roll(3) {
            0 => drop(body.remove(at)),
            1 => body[at] = b"{}[]\",:\\u0 1-.e\x00\xff"[dice.roll(17) as usize],
            _ => body.truncate(at),
        }
        let program = program(&[], true);
        let mut judge = super::Script { selected_only, ..super::Script::default() };
        let ours = whole(&program, Limits::default(), &mut judge, &body);
        // The other reader computes numbers and refuses large ones; this one does not.
        let theirs = serde_json::from_slice::<serde::de::IgnoredAny>(&body);
        if let Ok(out) = &ours {
            prop_assert_eq!(out, &body);
            prop_assert!(theirs.is_ok(), "{:?}", String::from_utf8_lossy(&body));
        } else {
            let strict = serde_json::from_slice::<serde_json::Value>(&body);
            prop_assert!(strict.is_err(), "{:?} {:?}", ours, String::from_utf8_lossy(&body));
        }
    }
}
