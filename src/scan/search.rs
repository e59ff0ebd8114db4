//! What is looked for in every value, whatever the format, and what a finding is. It refuses to know formats.

use std::fmt;
use std::sync::Arc;

use crate::content::json::{Glance, Path};
use crate::pii::window::Open;
use crate::pii::{Confidence, Context, Customs, Detector, EntityId, EntitySet, Match};

/// Who hears of findings.
pub type Sink<'a> = &'a mut dyn FnMut(&Finding<'_>);

/// One recognised value.
pub struct Finding<'a> {
    /// What it is.
    pub entity: EntityId,
    /// What that is called.
    pub name: &'static str,
    /// How sure.
    pub confidence: Confidence,
    /// Offset of its first byte as it is written in the document, escapes and all.
    pub start: u64,
    /// One past its last byte.
    pub end: u64,
    /// In which line it begins, from 1; where lines are what people go by.
    pub line: Option<u64>,
    /// Under which keys. SECURITY: keys may be personal data themselves; [`crate::policy::storable`] says them safely.
    pub path: &'a Path,
    /// The value, decoded. SECURITY: shown only when somebody asked for it.
    pub value: &'a str,
}

/// SECURITY: says where, and not what.
impl fmt::Debug for Finding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finding")
            .field("entity", &self.name)
            .field("start", &self.start)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

/// What is looked for.
#[derive(Debug)]
pub struct Search {
    detector: Detector,
    customs: Arc<Customs>,
    least: Confidence,
}

/// The part of a text that is shown at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window<'a> {
    pub text: &'a str,
    /// Where what was not decided before begins.
    pub from: usize,
    /// Whether nothing follows.
    pub last: bool,
}

impl Search {
    /// Looks for `entities`, of which some may be among `customs`, that are recognised with `least` or more.
    pub fn new(entities: EntitySet, customs: Arc<Customs>, least: Confidence) -> Self {
        Self { detector: Detector::with_customs(entities, &customs), customs, least }
    }

    /// The custom detectors.
    pub fn customs(&self) -> &Customs {
        &self.customs
    }

    /// Which values of a JSON document are worth a look.
    pub(super) fn glance(&self) -> Glance {
        Glance {
            length: self.detector.shortest_token(),
            number: self.detector.shortest_number(),
            keys: self.detector.reads_wholes(),
        }
    }

    /// Whether a value under this key is recognised by its key path alone.
    pub(super) fn key_matters(&self, key: &str) -> bool {
        self.detector.takes_whole(Context::default().under(key))
    }

    /// Puts what is found in a text into `found`.
    pub(super) fn text(&self, text: &str, context: Context, found: &mut Vec<Match>) {
        found.clear();
        self.detector.find(text, context, found);
        found.retain(|one| one.confidence >= self.least);
    }

    /// Puts what is found in a number, as it is written, into `found`.
    pub(super) fn number(&self, lexeme: &str, context: Context, found: &mut Vec<Match>) {
        found.clear();
        self.detector.find_in_number(lexeme, context, found);
        found.retain(|one| one.confidence >= self.least);
    }

    /// Puts what is found in a window, as far as it is decided, into `found`. Answers how far that is.
    pub(super) fn window(
        &self,
        window: Window<'_>,
        context: Context,
        open: &mut Open,
        found: &mut Vec<Match>,
    ) -> usize {
        let Window { text, from, last } = window;
        found.clear();
        self.detector.find(text, context, found);
        open.resume(text, from, found);
        // Half of a window is decided at least, so that there is always an end to it.
        let half = floor(text, from.midpoint(text.len()));
        let tail = if last { text.len() } else { self.detector.undecided(text).max(half) };
        let cut = found.iter().filter(|one| one.start < tail && tail < one.end).map(|one| one.start).min();
        let decided = cut.filter(|at| *at > from).unwrap_or(tail);
        open.cut(from, decided, found);
        found.retain(|one| one.confidence >= self.least);
        decided
    }
}

/// The character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
