//! The scanner: one look at the bytes of a value says which triggers are in it (`@`, digits, a known prefix), and most
//! values end there, without an allocation. It promises linear time; what a candidate is worth is the entities' business.

use aho_corasick::{AhoCorasick, MatchKind};

use super::context::{LEFT_WORDS, Left, covers_value, floor_boundary};
use super::entities::TABLE;
use super::entity::{Confidence, EntityId, EntitySet};
use super::evidence::{Evidence, Reader, Sighting, Support};
use super::fold::{self, FoldedText};
use super::number::{self, MAX_DIGITS, Number};
use super::overlap;

pub use super::context::Context;
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

/// How far from its end a text can be undecided: the longest token and its signature.
pub const LOOK_AHEAD: usize = 16 * 1024;

/// The longest match with spaces in it: an IBAN of 34 characters with invisible ones between them.
const SPACED_LOOK_AHEAD: usize = 128;

/// A reader of whole words or at fixed offsets.
type ReadAt = fn(&str, usize) -> Option<Sighting>;
type JudgeNumber = fn(&Number<'_>) -> Option<Evidence>;
type JudgeWhole = fn(&str) -> Option<Evidence>;

/// Words of so many letters and digits or more are one class for [`Reader::Code`].
const LONG_CODE: usize = 31;

/// Recognises a set of entities in one pass.
#[derive(Debug, Clone)]
pub struct Detector {
    at: Vec<(EntityId, ReadAt)>,
    words: Vec<(EntityId, ReadAt)>,
    /// By how many letters and digits the word has; the last is for longer ones.
    codes: Vec<Vec<(EntityId, ReadAt)>>,
    dotted: Vec<(EntityId, ReadAt)>,
    wholes: Vec<(EntityId, JudgeWhole)>,
    /// The entities of `wholes`.
    whole: EntitySet,
    /// By how many digits there are.
    numbers: Vec<Vec<(EntityId, JudgeNumber)>>,
    prefixed: Vec<(EntityId, ReadAt)>,
    /// Finds the prefixes; its pattern n belongs to `prefixed[n]`.
    prefixes: Option<AhoCorasick>,
    shortest_prefixed: usize,
    reads_digits: bool,
}

/// Which triggers are in a value.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "four independent facts, not a state")]
struct Marks {
    digit: bool,
    at: bool,
    percent: bool,
    beyond_ascii: bool,
}

impl Marks {
    /// PERF: four independent byte-wise ORs without a branch; the compiler makes vector code of it.
    fn of(bytes: &[u8]) -> Self {
        let (mut digit, mut at, mut percent, mut high) = (0_u8, 0_u8, 0_u8, 0_u8);
        for &byte in bytes {
            digit |= u8::from(byte.wrapping_sub(b'0') < 10);
            at |= u8::from(byte == b'@');
            percent |= u8::from(byte == b'%');
            high |= byte;
        }
        Self { digit: digit != 0, at: at != 0, percent: percent != 0, beyond_ascii: high >= 0x80 }
    }
}

impl Detector {
    /// A detector for `entities`.
    pub fn new(entities: EntitySet) -> Self {
        let mut detector = Self {
            at: Vec::new(),
            words: Vec::new(),
            codes: vec![Vec::new(); LONG_CODE + 1],
            dotted: Vec::new(),
            wholes: Vec::new(),
            whole: EntitySet::EMPTY,
            numbers: vec![Vec::new(); MAX_DIGITS + 1],
            prefixed: Vec::new(),
            prefixes: None,
            shortest_prefixed: usize::MAX,
            reads_digits: false,
        };
        let mut starts: Vec<&str> = Vec::new();
        for (entity, id) in TABLE.iter().zip(0..).map(|(entity, id)| (entity, EntityId(id))) {
            if !entities.contains(id) {
                continue;
            }
            for way in entity.reader.ways() {
                detector.enter(id, way, &mut starts);
            }
        }
        detector.reads_digits = !detector.words.is_empty()
            || !detector.dotted.is_empty()
            || detector.codes.iter().any(|readers| !readers.is_empty())
            || detector.numbers.iter().any(|judges| !judges.is_empty());
        // The patterns are few and fixed: they build, or there are none.
        detector.prefixes = (!starts.is_empty())
            .then(|| AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&starts).ok())
            .flatten();
        detector
    }

    fn enter(&mut self, id: EntityId, way: &Reader, starts: &mut Vec<&'static str>) {
        match *way {
            Reader::At(read) => self.at.push((id, read)),
            Reader::Word(read) => self.words.push((id, read)),
            Reader::Dotted(read) => self.dotted.push((id, read)),
            Reader::Code(lengths, read) => {
                let wanted = self.codes.iter_mut().zip(0..).filter(|(_, length)| lengths >> length & 1 == 1);
                wanted.for_each(|(readers, _)| readers.push((id, read)));
            }
            Reader::Number(lengths, judge) => {
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

    /// Whether any entity is recognised by its key path alone.
    pub fn reads_wholes(&self) -> bool {
        !self.wholes.is_empty()
    }

    /// Whether a value under this key path must be shown to [`Self::find`] even if it holds no digit, no `@` and nothing
    /// beyond ASCII: its key path alone says what it is.
    pub fn takes_whole(&self, context: Context) -> bool {
        !self.whole.intersection(context.speaks_for()).is_empty()
    }

    /// Appends the matches in `text`, in order of position, not overlapping.
    pub fn find(&self, text: &str, context: Context, found: &mut Vec<Match>) {
        let marks = Marks::of(text.as_bytes());
        let has_trigger = marks.digit || marks.at;
        if marks.beyond_ascii && fold::is_needed(text, has_trigger) || marks.percent && has_trigger {
            return self.find_folded(text, context, found);
        }
        Scan { detector: self, text, context, found, left: None }.run(marks);
    }

    #[cold]
    fn find_folded(&self, text: &str, context: Context, found: &mut Vec<Match>) {
        let (folded, base) = (FoldedText::of(text), found.len());
        let marks = Marks::of(folded.text.as_bytes());
        Scan { detector: self, text: &folded.text, context, found, left: None }.run(marks);
        for one in found.get_mut(base..).unwrap_or_default() {
            (one.start, one.end) = (folded.start(one.start), folded.end(one.end));
        }
    }

    /// As [`Self::find`] for a JSON number as it was written. Only whole numbers are judged, however they are written: digits
    /// of a fraction are measurements, and `4111111111111111.0` and `4.111111111111111e15` are not. What is found in a number
    /// that is not written plainly is all of it.
    pub fn find_in_number(&self, lexeme: &str, context: Context, found: &mut Vec<Match>) {
        if !self.reads_digits {
            return;
        }
        let marks = Marks { digit: true, at: false, percent: false, beyond_ascii: false };
        if lexeme.bytes().all(|byte| byte.is_ascii_digit()) {
            if lexeme.len() <= MAX_DIGITS {
                Scan { detector: self, text: lexeme, context, found, left: None }.run(marks);
            }
            return;
        }
        let Some(plain) = number::written_plainly(lexeme) else { return };
        let base = found.len();
        Scan { detector: self, text: &plain, context, found, left: None }.run(marks);
        for one in found.get_mut(base..).unwrap_or_default() {
            (one.start, one.end) = (0, lexeme.len());
        }
        found.truncate(base + 1);
    }

    /// The smallest offset from which a match could still begin, grow or be disproved if more text followed; all before
    /// it is decided, but a match that reaches over it is not. At most [`LOOK_AHEAD`] before the end.
    pub fn undecided(&self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let is_token = |byte: &u8| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'<' | b'>' | b',' | b';');
        let token_start = |end: usize| {
            let token =
                bytes.get(..end).unwrap_or_default().iter().rev().take(LOOK_AHEAD).take_while(|byte| is_token(byte));
            end - token.count()
        };
        let spaced = token_start(bytes.len().saturating_sub(SPACED_LOOK_AHEAD));
        floor_boundary(text, spaced.max(bytes.len().saturating_sub(LOOK_AHEAD)))
    }
}

/// One value being read.
struct Scan<'a> {
    detector: &'a Detector,
    text: &'a str,
    context: Context,
    found: &'a mut Vec<Match>,
    /// PERF: the words before the last candidate; several entities and longer candidates share them.
    left: Option<(usize, Left)>,
}

impl Scan<'_> {
    fn run(mut self, marks: Marks) {
        let base = self.found.len();
        if marks.at && !self.detector.at.is_empty() {
            for at in memchr::memchr_iter(b'@', self.text.as_bytes()) {
                self.ask(&self.detector.at, at);
            }
        }
        if marks.digit && self.detector.reads_digits {
            self.read_digits();
        }
        if let Some(prefixes) = &self.detector.prefixes
            && self.text.len() >= self.detector.shortest_prefixed
        {
            for one in prefixes.find_iter(self.text) {
                let reader = one.pattern().as_usize();
                self.ask(self.detector.prefixed.get(reader..=reader).unwrap_or_default(), one.start());
            }
        }
        if self.detector.takes_whole(self.context) {
            for &(entity, judge) in &self.detector.wholes {
                if self.context.speaks_for().contains(entity)
                    && let Some(evidence) = judge(self.text)
                {
                    self.weigh(entity, Sighting { start: 0, end: self.text.len(), evidence }, false);
                }
            }
        }
        overlap::settle(self.found, base);
    }

    /// Goes from word to word that holds a digit.
    fn read_digits(&mut self) {
        let bytes = self.text.as_bytes();
        let mut done = 0;
        while let Some(digit) = bytes.get(done..).and_then(first_digit).map(|at| done + at) {
            let before = bytes.get(done..digit).unwrap_or_default();
            let start = digit - before.iter().rev().take_while(|&&byte| number::is_word(byte)).count();
            let after = bytes.get(digit..).unwrap_or_default();
            let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let rest = after.get(digits..).unwrap_or_default();
            let letters = rest.iter().take_while(|&&byte| number::is_word(byte)).count();
            done = if start == digit && letters == 0 {
                self.read_number(digit)
            } else {
                let end = digit + digits + letters;
                let word = self.ask(&self.detector.words, start).unwrap_or(end);
                let code = self.ask_codes(start, end).unwrap_or(end);
                word.max(code).max(end)
            };
        }
    }

    /// Reads the number at `start` and what is joined to it. Returns where to go on.
    fn read_number(&mut self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        let detector = self.detector;
        let end = number::candidates(bytes, start, |number| {
            for &(entity, judge) in detector.numbers.get(number.digits.len()).map(Vec::as_slice).unwrap_or_default() {
                if let Some(evidence) = judge(number) {
                    let seen = Sighting { start: number.start, end: number.end, evidence };
                    self.weigh(entity, seen, number.hangs_on_word);
                }
            }
        });
        if !detector.dotted.is_empty() {
            self.read_dotted(start, end);
        }
        self.read_codes(start, end).max(end)
    }

    /// Asks for codes at each group of digits from `start` to `end`. Returns where the last match ends.
    fn read_codes(&mut self, start: usize, end: usize) -> usize {
        let run = self.text.as_bytes().get(start..end).unwrap_or_default();
        let (mut at, mut last) = (start, start);
        for group in run.split(|byte| !byte.is_ascii_digit()) {
            if !group.is_empty() && at >= last {
                last = self.ask_codes(at, at + group.len()).unwrap_or(last).max(last);
            }
            at += group.len() + 1;
        }
        last
    }

    /// Lets the readers of codes look at the word from `start` to `end`. Returns where the last match ends.
    fn ask_codes(&mut self, start: usize, end: usize) -> Option<usize> {
        let readers = self.detector.codes.get((end - start).min(LONG_CODE)).map(Vec::as_slice).unwrap_or_default();
        self.ask(readers, start)
    }

    /// Asks at the first digit of each group of dotted digits from `start` to `end`.
    fn read_dotted(&mut self, start: usize, end: usize) {
        let run = self.text.as_bytes().get(start..end).unwrap_or_default();
        let mut at = start;
        for group in run.split(|byte| !byte.is_ascii_digit() && *byte != b'.') {
            if memchr::memchr(b'.', group).is_some() {
                self.ask(&self.detector.dotted, at);
            }
            at += group.len() + 1;
        }
    }

    /// Lets `readers` look at the text at `at`. Returns where the last match ends.
    fn ask(&mut self, readers: &[(EntityId, ReadAt)], at: usize) -> Option<usize> {
        let mut end = None;
        for &(entity, read) in readers {
            if let Some(seen) = read(self.text, at) {
                self.weigh(entity, seen, false);
                end = end.max(Some(seen.end));
            }
        }
        end
    }

    fn weigh(&mut self, entity: EntityId, seen: Sighting, hangs_on_word: bool) {
        let Sighting { start, end, evidence } = seen;
        let support = if evidence.depends_on_support() {
            let covers = covers_value(end - start, self.text.len());
            match self.context.support(&self.left_of(start), entity, covers) {
                Support::Neutral if hangs_on_word => Support::Against,
                support @ (Support::For | Support::Neutral | Support::Against) => support,
            }
        } else {
            Support::Neutral
        };
        if let Some(confidence) = evidence.weigh(support) {
            self.found.push(Match { entity, start, end, confidence });
        }
    }
}

impl Scan<'_> {
    fn left_of(&mut self, start: usize) -> Left {
        match self.left {
            Some((at, left)) if at == start => left,
            Some(_) | None => {
                let left = Left::of(self.text, start);
                self.left = Some((start, left));
                left
            }
        }
    }
}

/// The offset of the first ASCII digit.
fn first_digit(bytes: &[u8]) -> Option<usize> {
    // PERF: whole blocks without a digit are passed by vector code; byte by byte it is a third of the speed.
    const BLOCK: usize = 32;
    let is_digit = |byte: &u8| byte.wrapping_sub(b'0') < 10;
    let blocks = bytes.chunks_exact(BLOCK);
    let skipped =
        blocks.take_while(|block| !block.iter().fold(false, |any, byte| any | is_digit(byte))).count() * BLOCK;
    bytes.get(skipped..)?.iter().position(is_digit).map(|at| skipped + at)
}
