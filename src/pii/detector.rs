//! A set of entities made ready to be found: their readers, sorted by what triggers them. It promises that most values cost
//! one look at their bytes and no allocation; how a value is read is [`super::scan`]'s business.

use std::sync::Arc;

use super::context::{LEFT_WORDS, floor_boundary};
use super::custom::{Customs, Own};
use super::entities::ids;
use super::entity::{Confidence, EntityId, EntitySet};
use super::evidence::{Evidence, Reader, Sighting};
use super::fold::{self, FoldedText};
use super::number::{self, MAX_DIGITS, Number};
use super::prefix::Prefixes;
use super::scan::{Marks, Scan};
use super::shape::{Around, Gate, Letters, Shape, Sieve};
use super::window::is_token;

pub use super::context::{Context, Surroundings};
pub use super::entities::{entity_name, named, names};

/// One recognised value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// What it is.
    pub entity: EntityId,
    /// First byte in the text.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// How sure.
    pub confidence: Confidence,
}

/// How many bytes before a match can have had a say in it: words of context, the user-info part of a URL. A text shown in
/// windows must begin each window so many bytes before the first undecided byte of the one before.
pub const LOOK_BEHIND: usize = 256;
const _: () = assert!(LOOK_BEHIND > LEFT_WORDS);

/// Shorter texts that hold neither a digit nor `@` nor anything beyond ASCII hold no match, unless their key path alone
/// tells what they are ([`Detector::takes_whole`]).
pub const SHORTEST_TOKEN: usize = 16;
/// Numbers of fewer digits hold no match, with the same exception.
pub const SHORTEST_NUMBER: usize = 7;

/// How far from its end a text can be undecided. A longer token is known by its beginning ([`super::window`]).
pub const LOOK_AHEAD: usize = 16 * 1024;

/// The longest match with spaces in it: an IBAN of 34 characters with invisible ones between them.
const SPACED_LOOK_AHEAD: usize = 128;

/// A reader of whole words or at fixed offsets.
pub(super) type ReadAt = fn(&str, usize) -> Option<Sighting>;
type JudgeNumber = fn(&Number<'_>) -> Option<Evidence>;
type JudgeWhole = fn(&str) -> Option<Evidence>;

/// Words of so many letters and digits or more are one class for [`Reader::Code`].
pub(super) const LONG_CODE: usize = 31;

/// Reads words of one length that a gate lets through.
#[derive(Debug, Clone, Copy)]
struct CodeReader {
    entity: EntityId,
    read: ReadAt,
    gates: [Gate; 2],
}

/// The readers of words of one length.
#[derive(Debug, Clone, Default)]
pub(super) struct CodeReaders {
    readers: Vec<CodeReader>,
    /// Which of `readers` are worth a closer look.
    sieve: Sieve,
}

impl CodeReaders {
    fn add(&mut self, entity: EntityId, read: ReadAt, gates: [Gate; 2]) {
        debug_assert!(self.readers.len() < Sieve::MOST, "the sieve is full");
        for gate in gates {
            self.sieve.add(self.readers.len(), gate);
        }
        self.readers.push(CodeReader { entity, read, gates });
    }

    /// The readers of a word from `start` to `end`, of digits alone or with letters.
    #[inline]
    pub fn of(
        &self,
        bytes: &[u8],
        start: usize,
        end: usize,
        is_digits: bool,
    ) -> impl Iterator<Item = (EntityId, ReadAt)> {
        let around = Around::of(bytes, start, end);
        let (mut worth, letters) = if is_digits {
            (self.sieve.of_digits(around), Letters::NONE)
        } else {
            match self.sieve.of_letters(around) {
                0 => (0, Letters::NONE),
                worth => (worth, Letters::of(bytes.get(start..end).unwrap_or_default())),
            }
        };
        std::iter::from_fn(move || {
            while worth != 0 {
                let CodeReader { entity, read, gates: [one, other] } =
                    self.readers.get(worth.trailing_zeros() as usize)?;
                worth &= worth - 1;
                if one.lets(letters, around) || other.lets(letters, around) {
                    return Some((*entity, *read));
                }
            }
            None
        })
    }
}

/// Recognises a set of entities in one pass.
#[derive(Debug, Clone)]
pub struct Detector {
    pub(super) at: Vec<(EntityId, ReadAt)>,
    pub(super) words: Vec<(EntityId, ReadAt)>,
    /// By how many letters and digits the word has; the last is for longer ones.
    pub(super) codes: Vec<CodeReaders>,
    pub(super) dotted: Vec<(EntityId, ReadAt)>,
    pub(super) wholes: Vec<(EntityId, JudgeWhole)>,
    /// The entities of `wholes`.
    pub(super) whole: EntitySet,
    /// By how many digits there are.
    pub(super) numbers: Vec<Vec<(EntityId, JudgeNumber)>>,
    /// Bit n: something has n digits.
    pub(super) wanted: u32,
    pub(super) prefixed: Vec<(EntityId, ReadAt)>,
    /// Finds the prefixes; its pattern n belongs to `prefixed[n]`.
    pub(super) prefixes: Prefixes,
    pub(super) shortest_prefixed: usize,
    pub(super) has_codes: bool,
    pub(super) reads_digits: bool,
    /// Detectors of the operator's own.
    pub(super) own: Option<Own>,
    entities: EntitySet,
}

impl Detector {
    /// A detector for those of `entities` that are built in.
    pub fn new(entities: EntitySet) -> Self {
        Self::with_customs(entities, &Arc::default())
    }

    /// A detector for `entities`, custom ones included.
    pub fn with_customs(entities: EntitySet, customs: &Arc<Customs>) -> Self {
        let wanted = ids().filter(|(id, _)| entities.contains(*id));
        let ways = wanted.flat_map(|(id, entity)| entity.reader.ways().iter().map(move |way| (id, *way)));
        Self { own: Own::of(customs, entities), entities, ..Self::of_ways(ways) }
    }

    /// A detector that asks these readers.
    pub(super) fn of_ways(ways: impl Iterator<Item = (EntityId, Reader)>) -> Self {
        let mut detector = Self {
            at: Vec::new(),
            words: Vec::new(),
            codes: vec![CodeReaders::default(); LONG_CODE + 1],
            dotted: Vec::new(),
            wholes: Vec::new(),
            whole: EntitySet::EMPTY,
            numbers: vec![Vec::new(); MAX_DIGITS + 1],
            wanted: 0,
            prefixed: Vec::new(),
            prefixes: Prefixes::None,
            has_codes: false,
            shortest_prefixed: usize::MAX,
            reads_digits: false,
            own: None,
            entities: EntitySet::EMPTY,
        };
        let mut starts: Vec<&str> = Vec::new();
        ways.for_each(|(id, way)| detector.enter(id, &way, &mut starts));
        detector.has_codes = detector.codes.iter().any(|codes| !codes.readers.is_empty());
        detector.reads_digits =
            detector.wanted != 0 || detector.has_codes || !detector.words.is_empty() || !detector.dotted.is_empty();
        detector.prefixes = Prefixes::new(&starts);
        detector
    }

    fn enter(&mut self, id: EntityId, way: &Reader, starts: &mut Vec<&'static str>) {
        match *way {
            Reader::At(read) => self.at.push((id, read)),
            Reader::Word(read) => self.words.push((id, read)),
            Reader::Dotted(read) => self.dotted.push((id, read)),
            Reader::Code(lengths, read) => {
                let wanted = self.codes.iter_mut().zip(0..).filter(|(_, length)| lengths >> length & 1 == 1);
                wanted.for_each(|(codes, _)| codes.add(id, read, [Gate::OPEN, Gate::SHUT]));
            }
            Reader::Shaped(shapes, read) => {
                for (length, codes) in self.codes.iter_mut().enumerate() {
                    let own = shapes.iter().filter(|shape| shape.len() == length).map(Shape::gate);
                    let gates = match *own.collect::<Vec<_>>() {
                        [] => continue,
                        [one] => [one, Gate::SHUT],
                        [one, other] => [one, other],
                        // More are not kept apart: each word of this length is read.
                        [_, ..] => [Gate::OPEN, Gate::SHUT],
                    };
                    codes.add(id, read, gates);
                }
            }
            Reader::Number(lengths, judge) => {
                self.wanted |= lengths;
                let wanted = self.numbers.iter_mut().zip(0..).filter(|(_, length)| lengths >> length & 1 == 1);
                wanted.for_each(|(judges, _)| judges.push((id, judge)));
            }
            Reader::Prefix { starts: own, shortest, read } => {
                starts.extend(own);
                self.prefixed.extend(own.iter().map(|_| (id, read)));
                self.shortest_prefixed = self.shortest_prefixed.min(shortest);
            }
            Reader::Whole(judge) => {
                self.wholes.push((id, judge));
                self.whole = self.whole.with(id);
            }
            Reader::Any(_) => {}
        }
    }

    /// How many readers look at words of one length, at most.
    #[cfg(test)]
    pub(super) fn most_readers_of_a_code(&self) -> usize {
        self.codes.iter().map(|codes| codes.readers.len()).max().unwrap_or_default()
    }

    /// Whether any entity is recognised by its key path alone.
    pub fn reads_wholes(&self) -> bool {
        !self.wholes.is_empty()
    }

    /// Whether a value under this key path must be shown to [`Self::find`] even if it holds no digit, no `@` and nothing
    /// beyond ASCII: its key path alone says what it is.
    pub fn takes_whole(&self, context: Context) -> bool {
        !self.whole.intersection(context.speaks_for()).is_empty()
    }

    /// The length below which a text without digit, `@` and anything beyond ASCII holds no match, if not its key path alone
    /// tells what it is.
    pub fn shortest_token(&self) -> usize {
        self.own.as_ref().map_or(SHORTEST_TOKEN, |own| own.shortest.min(SHORTEST_TOKEN))
    }

    /// The number of digits below which a number holds no match, with the same exception.
    pub fn shortest_number(&self) -> usize {
        self.own.as_ref().map_or(SHORTEST_NUMBER, |own| own.shortest.min(SHORTEST_NUMBER))
    }

    /// Appends the matches of custom detectors.
    pub(super) fn find_own(&self, text: &str, around: &dyn Surroundings, found: &mut Vec<Match>) {
        if let Some(own) = &self.own {
            own.customs.find(self.entities, text, around.context(), found);
        }
    }

    /// Appends the matches in `text`, in order of position, not overlapping. What the key path says is asked when there is
    /// something that it could be about.
    pub fn find(&self, text: &str, around: impl Surroundings, found: &mut Vec<Match>) {
        self.find_in_text(text, &around, found);
    }

    fn find_in_text(&self, text: &str, around: &dyn Surroundings, found: &mut Vec<Match>) {
        let marks = Marks::of(text.as_bytes());
        let has_trigger = marks.digit || marks.at;
        let is_encoded = has_trigger && (marks.percent || fold::has_reference(text));
        if marks.beyond_ascii && fold::is_needed(text, has_trigger) || is_encoded {
            return self.find_folded(text, around, found);
        }
        Scan::new(self, text, around, found).run(marks);
    }

    #[cold]
    fn find_folded(&self, text: &str, around: &dyn Surroundings, found: &mut Vec<Match>) {
        let (folded, base) = (FoldedText::of(text), found.len());
        let marks = Marks::of(folded.text.as_bytes());
        Scan::new(self, &folded.text, around, found).run(marks);
        for one in found.get_mut(base..).unwrap_or_default() {
            (one.start, one.end) = (folded.start(one.start), folded.end(one.end));
        }
    }

    /// As [`Self::find`] for a JSON number as it was written. Only whole numbers are judged, however they are written: digits
    /// of a fraction are measurements, and `4111111111111111.0` and `4.111111111111111e15` are not. What is found in a number
    /// that is not written plainly is all of it.
    pub fn find_in_number(&self, lexeme: &str, around: impl Surroundings, found: &mut Vec<Match>) {
        if !self.reads_digits && self.wholes.is_empty() && self.own.is_none() {
            return;
        }
        if lexeme.bytes().all(|byte| byte.is_ascii_digit()) {
            if lexeme.len() <= MAX_DIGITS || self.own.is_some() {
                Scan::new(self, lexeme, &around, found).run(Marks::DIGITS);
            }
            return;
        }
        let Some(plain) = number::written_plainly(lexeme) else { return };
        let base = found.len();
        Scan::new(self, &plain, &around, found).run(Marks::DIGITS);
        for one in found.get_mut(base..).unwrap_or_default() {
            (one.start, one.end) = (0, lexeme.len());
        }
        found.truncate(base + 1);
    }

    /// The smallest offset from which a match could still begin, grow or be disproved if more text followed; all before
    /// it is decided, but a match that reaches over it is not. At most [`LOOK_AHEAD`] before the end.
    pub fn undecided(&self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let token_start = |end: usize| {
            let token =
                bytes.get(..end).unwrap_or_default().iter().rev().take(LOOK_AHEAD).take_while(|byte| is_token(**byte));
            end - token.count()
        };
        // A character can be written with so many more: `%20`, or one of three bytes for a digit.
        let own = self.own.as_ref().map_or(0, |own| own.longest * 3);
        let spaced = token_start(bytes.len().saturating_sub(SPACED_LOOK_AHEAD.max(own)));
        floor_boundary(text, spaced.max(bytes.len().saturating_sub(LOOK_AHEAD)))
    }
}
