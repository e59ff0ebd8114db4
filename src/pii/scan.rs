//! One value being read: a look at its bytes says which triggers are in it, and each trigger's readers are asked where it
//! stands. It promises linear time and no allocation; what a candidate is worth is the entities' business.

use wide::u8x16;

use super::context::{Left, Surroundings, covers_value};
use super::detector::{Detector, LONG_CODE, Match, ReadAt};
use super::entity::EntityId;
use super::evidence::{Sighting, Support};
use super::number::{self, is_word};
use super::overlap;

/// Which triggers are in a value.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "four independent facts, not a state")]
pub(super) struct Marks {
    pub digit: bool,
    pub at: bool,
    pub percent: bool,
    pub beyond_ascii: bool,
}

/// Bytes that are looked at together.
const LANES: usize = 16;

impl Marks {
    /// What is in a number.
    pub const DIGITS: Self = Self { digit: true, at: false, percent: false, beyond_ascii: false };

    /// PERF: sixteen bytes at once, also for short values; the last ones of a longer value are looked at twice.
    pub fn of(bytes: &[u8]) -> Self {
        let [mut digit, mut at, mut percent, mut high] = [u8x16::ZERO; 4];
        let mut look = |lane: [u8; LANES]| {
            let lane = u8x16::new(lane);
            let above = lane - u8x16::splat(b'0');
            digit |= above.min(u8x16::splat(9)).simd_eq(above);
            at |= lane.simd_eq(u8x16::splat(b'@'));
            percent |= lane.simd_eq(u8x16::splat(b'%'));
            high |= lane;
        };
        if let Some(last) = bytes.last_chunk::<LANES>() {
            bytes.as_chunks::<LANES>().0.iter().for_each(|lane| look(*lane));
            look(*last);
        } else {
            look(padded(bytes));
        }
        // The mask takes the top bit of each byte.
        Self {
            digit: digit.to_bitmask() != 0,
            at: at.to_bitmask() != 0,
            percent: percent.to_bitmask() != 0,
            beyond_ascii: high.to_bitmask() != 0,
        }
    }
}

/// Every byte of a value of less than [`LANES`] bytes at least once, and zeros.
///
/// PERF: two loads that overlap; a loop over bytes costs more than all the looking.
fn padded(bytes: &[u8]) -> [u8; LANES] {
    let both = |front: u64, back: u64| (u128::from(front) | u128::from(back) << 64).to_le_bytes();
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(front), Some(back)) => both(u64::from_le_bytes(*front), u64::from_le_bytes(*back)),
        _ => match (bytes.first_chunk(), bytes.last_chunk()) {
            (Some(front), Some(back)) => both(u32::from_le_bytes(*front).into(), u32::from_le_bytes(*back).into()),
            _ => both(bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)), 0),
        },
    }
}

/// One value being read.
pub(super) struct Scan<'a> {
    detector: &'a Detector,
    text: &'a str,
    around: &'a dyn Surroundings,
    found: &'a mut Vec<Match>,
    /// PERF: the words before the last candidate; several entities and longer candidates share them.
    left: Option<(usize, Left)>,
}

impl<'a> Scan<'a> {
    pub fn new(detector: &'a Detector, text: &'a str, around: &'a dyn Surroundings, found: &'a mut Vec<Match>) -> Self {
        Self { detector, text, around, found, left: None }
    }

    pub fn run(mut self, marks: Marks) {
        let (base, detector) = (self.found.len(), self.detector);
        if marks.at && !detector.at.is_empty() {
            for at in memchr::memchr_iter(b'@', self.text.as_bytes()) {
                self.ask(&detector.at, at);
            }
        }
        if marks.digit && detector.reads_digits {
            self.read_digits();
        }
        if self.text.len() >= detector.shortest_prefixed {
            for (reader, at) in detector.prefixes.find_iter(self.text) {
                self.ask(detector.prefixed.get(reader..=reader).unwrap_or_default(), at);
            }
        }
        if detector.reads_wholes() {
            let named = self.around.context().speaks_for();
            for &(entity, judge) in &detector.wholes {
                if named.contains(entity)
                    && let Some(evidence) = judge(self.text)
                {
                    self.weigh(entity, Sighting { start: 0, end: self.text.len(), evidence }, false);
                }
            }
        }
        detector.find_own(self.text, self.around, self.found);
        overlap::settle(self.found, base);
    }

    /// Goes from word to word that holds a digit.
    fn read_digits(&mut self) {
        let bytes = self.text.as_bytes();
        let mut done = 0;
        while let Some(digit) = next_digit(bytes, done) {
            let (mut start, mut digits_end) = (digit, digit + 1);
            while start > done && bytes.get(start - 1).is_some_and(|&byte| is_word(byte)) {
                start -= 1;
            }
            while bytes.get(digits_end).is_some_and(u8::is_ascii_digit) {
                digits_end += 1;
            }
            let mut end = digits_end;
            while bytes.get(end).is_some_and(|&byte| is_word(byte)) {
                end += 1;
            }
            done = if start == digit && end == digits_end {
                self.read_number(digit, end)
            } else {
                let word = self.ask(&self.detector.words, start).unwrap_or(end);
                let code = self.ask_codes(start, end, false).unwrap_or(end);
                word.max(code).max(end)
            };
        }
    }

    /// Reads the number whose first group stands from `start` to `end`, and what is joined to it. Returns where to go on.
    fn read_number(&mut self, start: usize, end: usize) -> usize {
        let bytes = self.text.as_bytes();
        let detector = self.detector;
        let cut = number::candidates(bytes, start, end, detector.wanted, |number| {
            for &(entity, judge) in detector.numbers.get(number.digits.len()).map(Vec::as_slice).unwrap_or_default() {
                if let Some(evidence) = judge(number) {
                    let seen = Sighting { start: number.start, end: number.end, evidence };
                    self.weigh(entity, seen, number.hangs_on_word);
                }
            }
        });
        if cut.has_dot && !detector.dotted.is_empty() {
            self.read_dotted(start, cut.end);
        }
        if detector.has_codes { self.read_codes(start, cut.end).max(cut.end) } else { cut.end }
    }

    /// Asks for codes at each group of digits from `start` to `end`. Returns where the last match ends.
    fn read_codes(&mut self, start: usize, end: usize) -> usize {
        let run = self.text.as_bytes().get(start..end).unwrap_or_default();
        let (mut at, mut last) = (start, start);
        for group in run.split(|byte| !byte.is_ascii_digit()) {
            if !group.is_empty() && at >= last {
                last = self.ask_codes(at, at + group.len(), true).unwrap_or(last).max(last);
            }
            at += group.len() + 1;
        }
        last
    }

    /// Lets the readers of codes look at the word from `start` to `end`. Returns where the last match ends.
    #[inline]
    fn ask_codes(&mut self, start: usize, end: usize, is_digits: bool) -> Option<usize> {
        let codes = self.detector.codes.get((end - start).min(LONG_CODE))?;
        let mut last = None;
        for (entity, read) in codes.of(self.text.as_bytes(), start, end, is_digits) {
            if let Some(seen) = read(self.text, start) {
                self.weigh(entity, seen, false);
                last = last.max(Some(seen.end));
            }
        }
        last
    }

    /// Asks at the first digit of each group of dotted digits from `start` to `end`.
    fn read_dotted(&mut self, start: usize, end: usize) {
        let run = self.text.as_bytes().get(start..end).unwrap_or_default();
        let mut at = start;
        for group in run.split(|byte| !byte.is_ascii_digit() && *byte != b'.') {
            if group.contains(&b'.') {
                self.ask(&self.detector.dotted, at);
            }
            at += group.len() + 1;
        }
    }

    /// Lets `readers` look at the text at `at`. Returns where the last match ends.
    #[inline]
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
            match self.around.context().support(self.left_of(start), entity, covers) {
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

/// The offset of the first ASCII digit from `from` on.
///
/// PERF: eight bytes at once, in a third of the instructions of a loop over bytes.
fn next_digit(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let (eights, tail) = rest.as_chunks::<8>();
    for (n, eight) in eights.iter().enumerate() {
        let digits = digits_in(u64::from_le_bytes(*eight));
        if digits != 0 {
            return Some(from + 8 * n + digits.trailing_zeros() as usize / 8);
        }
    }
    let tail_start = bytes.len() - tail.len();
    tail.iter().position(u8::is_ascii_digit).map(|at| tail_start + at)
}

/// The upper bit of each byte of `eight` that is an ASCII digit.
const fn digits_in(eight: u64) -> u64 {
    const fn each(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    // A digit is what differs from `0` in the lower bits by less than ten; no sum reaches into the next byte.
    let value = eight ^ each(b'0');
    let too_large = (value & each(0x7F)) + each(0x7F - 9);
    !(too_large | value) & each(0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_found_wherever_they_are() {
        for byte in 0..=255_u8 {
            for at in 0..20 {
                let mut bytes = [b'/'; 20];
                bytes[at] = byte;
                assert_eq!(next_digit(&bytes, 0), byte.is_ascii_digit().then_some(at), "{byte} at {at}");
                assert_eq!(next_digit(&bytes, at + 1), None);
            }
        }
    }

    #[test]
    fn marks_are_seen_wherever_they_are() {
        for length in 1..40 {
            for at in 0..length {
                let marks = |byte: u8| {
                    let mut bytes = vec![b'x'; length];
                    bytes[at] = byte;
                    let marks = Marks::of(&bytes);
                    [marks.digit, marks.at, marks.percent, marks.beyond_ascii]
                };
                assert_eq!(marks(b'x'), [false; 4]);
                assert_eq!(marks(b'7'), [true, false, false, false], "{length} {at}");
                assert_eq!(marks(b'@'), [false, true, false, false], "{length} {at}");
                assert_eq!(marks(b'%'), [false, false, true, false], "{length} {at}");
                assert_eq!(marks(0xC3), [false, false, false, true], "{length} {at}");
            }
        }
    }
}
