//! Where something was found, in words that may be stored: `$.users[*].email`, `query.name`, `form.name`, `header.name`,
//! `path[n]`.
//!
//! SECURITY: keys and names are written by clients and upstreams and may be personal data themselves. A name in which
//! any entity is recognised is shown as `[entity]`, a long one is cut, for every rule.

use std::cell::Cell;
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, Hash, Hasher};
use std::sync::LazyLock;

use smol_str::{SmolStr, SmolStrBuilder};

use crate::content::json::selector::Selector;
use crate::content::json::{Path, Segment};
use crate::pii::detector::{SHORTEST_TOKEN, named, names};
use crate::pii::{Confidence, Context, Customs, Detector, EntitySet, Match};

// SECURITY: keyed at random, or keys could be made whose places are counted as one.
static HASHES: LazyLock<foldhash::fast::RandomState> = LazyLock::new(foldhash::fast::RandomState::default);

/// Makes what is made once, so that the first message need not wait for it.
pub(super) fn prepare() {
    LazyLock::force(&HASHES);
    let nobody = Spot::new(Place::Query("prepare_1"))
        .render(Privacy { least: Confidence::Likely, customs: &Customs::default() });
    debug_assert_eq!(nobody, "query.prepare_1");
}

/// Characters of a key or name that are shown.
const NAME_SHOWN: usize = 64;
/// Bytes of a whole place, about.
const PLACE_SHOWN: usize = 512;

/// How sure one must be that a key is personal data itself, not to show it; and what is.
#[derive(Debug, Clone, Copy)]
pub struct Privacy<'a> {
    /// So sure, or surer.
    pub least: Confidence,
    /// Beside everything that is built in.
    pub customs: &'a Customs,
}

static EVERY_ENTITY: LazyLock<Detector> = LazyLock::new(|| {
    let all = names().into_iter().filter_map(named).fold(EntitySet::EMPTY, EntitySet::union);
    Detector::new(all)
});

/// A place, as it is at hand while judging.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'a> {
    /// A node of the body, or a member's key (the path ends in it).
    Json(&'a Path),
    /// A member that is to be added to the object at the path.
    Missing(&'a Path, &'a str),
    /// A query parameter.
    Query(&'a str),
    /// A field of a form.
    Form(&'a str),
    /// A header field.
    Header(&'a str),
    /// A path segment, from 0.
    Segment(usize),
}

/// A place with its hash, which is made once however many findings a value has.
#[derive(Debug)]
pub(super) struct Spot<'a> {
    place: Place<'a>,
    known: Option<&'a Known>,
    hash: Cell<Option<u64>>,
}

/// A place that is known before any message comes: its words, and their hash.
#[derive(Debug)]
pub(super) struct Known {
    words: SmolStr,
    hash: u64,
}

impl Known {
    /// The place of what a selector selects, if it can be but one.
    pub(super) fn of(selector: &Selector, privacy: Privacy<'_>) -> Option<Self> {
        let path = selector.definite_path()?;
        let spot = Spot::new(Place::Json(&path));
        Some(Self { words: spot.render(privacy), hash: spot.hash() })
    }
}

impl<'a> Spot<'a> {
    /// Nothing is computed yet.
    pub(super) fn new(place: Place<'a>) -> Self {
        Self { place, known: None, hash: Cell::new(None) }
    }

    /// The same, if it may be known.
    pub(super) fn or_known(place: Place<'a>, known: Option<&'a Known>) -> Self {
        Self { place, known, hash: Cell::new(known.map(|known| known.hash)) }
    }

    /// The same for places that render alike (up to cut names), so that they are counted together.
    pub(super) fn hash(&self) -> u64 {
        self.hash.get().unwrap_or_else(|| {
            let mut hasher = HASHES.build_hasher();
            match self.place {
                Place::Json(path) => hash_path(path, &mut hasher),
                Place::Missing(path, name) => {
                    hash_path(path, &mut hasher);
                    name.hash(&mut hasher);
                }
                Place::Query(name) => (1_u8, name).hash(&mut hasher),
                Place::Header(name) => (2_u8, name).hash(&mut hasher),
                Place::Segment(n) => (3_u8, n).hash(&mut hasher),
                Place::Form(name) => (4_u8, name).hash(&mut hasher),
            }
            let hash = hasher.finish();
            self.hash.set(Some(hash));
            hash
        })
    }

    /// The words. `least`: the confidence from which a name counts as recognised.
    pub(super) fn render(&self, privacy: Privacy<'_>) -> SmolStr {
        if let Some(known) = self.known {
            return known.words.clone();
        }
        let mut out = SmolStrBuilder::new();
        match self.place {
            Place::Json(path) => render_path(path, privacy, &mut out),
            Place::Missing(path, name) => {
                render_path(path, privacy, &mut out);
                push_member(name, || context_of(path, path.depth(), privacy.customs), privacy, &mut out);
            }
            Place::Query(name) => {
                out.push_str("query.");
                push_name(name, Context::default(), privacy, &mut out);
            }
            Place::Form(name) => {
                out.push_str("form.");
                push_name(name, Context::default(), privacy, &mut out);
            }
            Place::Header(name) => {
                out.push_str("header.");
                push_name(name, Context::default(), privacy, &mut out);
            }
            Place::Segment(n) => {
                let infallible = write!(out, "path[{n}]");
                debug_assert!(infallible.is_ok());
            }
        }
        out.finish()
    }
}

/// The place of a node, or of a member's key, in words that may be stored. `least`: the confidence from which a name counts as
/// recognised.
pub fn storable(path: &Path, privacy: Privacy<'_>) -> String {
    Spot::new(Place::Json(path)).render(privacy).into()
}

fn hash_path(path: &Path, hasher: &mut impl Hasher) {
    for segment in path.segments() {
        match segment {
            Segment::Name(name) => name.hash(hasher),
            Segment::Index(_) => hasher.write_u8(0),
        }
    }
}

fn render_path(path: &Path, privacy: Privacy<'_>, out: &mut SmolStrBuilder) {
    out.push('$');
    for (depth, segment) in path.segments().enumerate() {
        if out.len() > PLACE_SHOWN {
            out.push('…');
            break;
        }
        match segment {
            Segment::Index(_) => out.push_str("[*]"),
            Segment::Name(name) => push_member(name, || context_of(path, depth, privacy.customs), privacy, out),
        }
    }
}

/// The context of what lies so deep.
fn context_of(path: &Path, depth: usize, customs: &Customs) -> Context {
    path.segments().take(depth).fold(Context::default(), |above, segment| match segment {
        Segment::Name(name) => customs.under(above, name),
        Segment::Index(_) => above,
    })
}

fn push_member(name: &str, context: impl FnOnce() -> Context, privacy: Privacy<'_>, out: &mut SmolStrBuilder) {
    // PERF: most names are short words, in which nothing is to be recognised and nothing to be escaped.
    if privacy.customs.list().is_empty()
        && (1..SHORTEST_TOKEN).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
    {
        out.push('.');
        out.push_str(name);
        return;
    }
    let mut chars = name.chars();
    let plain = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
        && name.len() <= NAME_SHOWN;
    let mut shown = SmolStrBuilder::new();
    push_name(name, context(), privacy, &mut shown);
    if plain || shown.as_str().starts_with('[') {
        out.push('.');
        out.push_str(shown.as_str());
    } else {
        out.push_str("['");
        out.push_str(shown.as_str());
        out.push_str("']");
    }
}

/// A name, or what it was recognised as; cut, and without control characters.
fn push_name(name: &str, context: Context, privacy: Privacy<'_>, out: &mut SmolStrBuilder) {
    if let Some(seen) = recognised(name, context, privacy) {
        out.push('[');
        out.push_str(privacy.customs.name(seen.entity));
        out.push(']');
        return;
    }
    for (n, c) in name.chars().enumerate() {
        match c {
            _ if n == NAME_SHOWN => {
                out.push('…');
                break;
            }
            '\'' | '\\' | '[' => out.extend(['\\', c]),
            c if c.is_control() => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
}

fn recognised(name: &str, context: Context, privacy: Privacy<'_>) -> Option<Match> {
    let context = context.of_key();
    let mut found = Vec::new();
    EVERY_ENTITY.find(name, context, &mut found);
    // A key such as `41111111` may be digits only: a number to the one who reads numbers, too.
    if found.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
        EVERY_ENTITY.find_in_number(name, context, &mut found);
    }
    let known = found.into_iter().filter(|seen| seen.confidence >= privacy.least).max_by_key(|seen| seen.confidence);
    known.or_else(|| privacy.customs.recognise(name, context, privacy.least))
}

#[cfg(test)]
mod tests {
    use smol_str::SmolStr;

    use super::{Known, Place, Privacy, Spot};
    use crate::content::json::selector::Selector;
    use crate::content::json::{Path, Segment};
    use crate::pii::{Confidence, Customs};

    fn path(steps: &[&str]) -> Path {
        let mut path = Path::default();
        for (n, step) in steps.iter().enumerate() {
            if *step == "#" { path.push_index(n as u64) } else { path.push_name(step) }
        }
        path
    }

    fn shown(place: Place<'_>) -> SmolStr {
        Spot::new(place).render(Privacy { least: Confidence::Likely, customs: &Customs::default() })
    }

    #[track_caller]
    fn check(place: Place<'_>, expected: &str) {
        assert_eq!(shown(place), expected);
    }

    #[test]
    fn places_read_like_selectors() {
        check(Place::Json(&path(&[])), "$");
        check(Place::Json(&path(&["users", "#", "first name"])), "$.users[*]['first name']");
        check(Place::Missing(&path(&["a"]), "b"), "$.a.b");
        check(Place::Query("q"), "query.q");
        check(Place::Form("q"), "form.q");
        check(Place::Header("x-id"), "header.x-id");
        check(Place::Segment(2), "path[2]");
    }

    #[test]
    fn known_places_are_what_is_found_out_otherwise() {
        let privacy = Privacy { least: Confidence::Likely, customs: &Customs::default() };
        for text in ["$", "$.a", "$.users[3]['first name']", "$['a@example.com'].b", "$[0][1]"] {
            let selector = Selector::parse(text).unwrap();
            let path = selector.definite_path().unwrap();
            let known = Known::of(&selector, privacy).unwrap();
            let spot = Spot::new(Place::Json(&path));
            assert_eq!((&known.words, known.hash), (&spot.render(privacy), spot.hash()), "{text}");
            if let Some(Segment::Name(name)) = path.segments().next_back() {
                let mut parent = path.clone();
                parent.pop();
                let missing = Spot::new(Place::Missing(&parent, name));
                assert_eq!((known.words, known.hash), (missing.render(privacy), missing.hash()), "{text}");
            }
        }
        for text in ["$..a", "$.*", "$[1:2]", "$['a','b']"] {
            assert!(Known::of(&Selector::parse(text).unwrap(), privacy).is_none(), "{text}");
        }
        assert!(Known::of(&Selector::parse("$.a").unwrap().fold_case(), privacy).is_none());
    }

    #[test]
    fn long_and_odd_names_are_tamed() {
        let long = "k".repeat(1000);
        check(Place::Query(&long), &format!("query.{}…", "k".repeat(64)));
        check(Place::Json(&path(&["a\nb'[c"])), "$['a\\u{a}b\\'\\[c']");
        let deep = vec![long.as_str(); 100];
        assert!(shown(Place::Json(&path(&deep))).len() < 700);
    }

    #[test]
    fn indexes_are_counted_together() {
        let (mut a, mut b) = (Path::default(), Path::default());
        a.push_index(1);
        b.push_index(2);
        assert_eq!(Spot::new(Place::Json(&a)).hash(), Spot::new(Place::Json(&b)).hash());
        assert_ne!(Spot::new(Place::Json(&a)).hash(), Spot::new(Place::Json(&path(&["a"]))).hash());
    }
}
