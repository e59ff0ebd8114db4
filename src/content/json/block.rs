//! Many bytes at a time: where the next one stands that means something inside a string, and which strings hold a byte that
//! tells something. Promises the same answers on every processor; refuses to know what the bytes mean.

/// Finds the next quote, backslash or control character from `at`, and with `ascii` also the next byte beyond ASCII.
#[inline]
pub(super) fn special(bytes: &[u8], mut at: usize, ascii: bool) -> usize {
    let mut rest = bytes.get(at..).unwrap_or_default();
    while let Some((lane, behind)) = rest.split_first_chunk::<LANE>() {
        let lane = lane::load(*lane);
        let found = lane::stops(lane) | if ascii { lane::beyond_ascii(lane) } else { 0 };
        if found != 0 {
            return at + found.trailing_zeros() as usize;
        }
        at += LANE;
        rest = behind;
    }
    at + rest.iter().position(|&byte| is_stop(byte) || ascii && byte >= 0x80).unwrap_or(rest.len())
}

const fn is_stop(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Whether a byte tells something: ASCII punctuation from `!` to `@`, which the digits are a part of, and all beyond ASCII.
const fn is_telling(byte: u8) -> bool {
    matches!(byte, 0x21..=0x40 | 0x80..)
}

/// Whether a text holds a byte that tells something: an ASCII digit, `@`, other punctuation before it in ASCII, or a byte beyond
/// ASCII.
pub fn tells(text: &[u8]) -> bool {
    text.iter().any(|&byte| is_telling(byte))
}

const LANE: usize = 16;
/// Bytes that are read at one go.
const AHEAD: usize = 2048;
/// Bytes whose bits are looked at together, whichever of eight bits they begin with.
const REACH: usize = 57;

/// What stands where in the next two kilobytes, a bit for each byte: read once at vector speed, asked for every token.
// PERF: 1.5 instructions a byte; looking for the end of each string on its own cost 2.5, and a call for each short string.
#[derive(Debug)]
pub(super) struct Marks {
    base: usize,
    length: usize,
    stops: Bits,
    telling: Bits,
}

/// A bit for each byte, and some that stay empty, so that eight bytes of bits can be taken anywhere.
type Bits = [u8; AHEAD / 8 + 8];

impl Default for Marks {
    fn default() -> Self {
        Self { base: 0, length: 0, stops: [0; AHEAD / 8 + 8], telling: [0; AHEAD / 8 + 8] }
    }
}

impl Marks {
    /// Forgets what was read: the text is another.
    pub(super) fn forget(&mut self) {
        self.length = 0;
    }

    /// Finds the next quote, backslash or control character of `text` from `at`; the text's end or beyond where there is none.
    #[expect(clippy::inline_always, reason = "PERF: a call would cost more than it does")]
    #[inline(always)]
    pub(super) fn stop(&mut self, text: &[u8], at: usize) -> usize {
        let mut offset = at.wrapping_sub(self.base);
        if offset >= self.length {
            self.read(text, at);
            offset = 0;
        }
        match ahead(&self.stops, offset) {
            0 => self.farther(text, offset),
            bits => at + bits.trailing_zeros() as usize,
        }
    }

    /// Whether a byte between `from` and `to` tells something. What is far from `from`, or was not read, does.
    #[expect(clippy::inline_always, reason = "PERF: a call would cost more than it does")]
    #[inline(always)]
    pub(super) fn tells(&self, from: usize, to: usize) -> bool {
        let (offset, length) = (from.wrapping_sub(self.base), to.wrapping_sub(from));
        if offset >= self.length || length > REACH.min(self.length - offset) {
            return length != 0;
        }
        ahead(&self.telling, offset) & !(u64::MAX << length) != 0
    }

    #[cold]
    fn farther(&self, text: &[u8], offset: usize) -> usize {
        let mut offset = offset / 8 * 8;
        while offset < self.length {
            offset += REACH / 8 * 8;
            let found = offset + ahead(&self.stops, offset).trailing_zeros() as usize;
            if found < self.length.min(offset + 64) {
                return self.base + found;
            }
        }
        special(text, self.base + self.length, false)
    }

    #[inline(never)]
    fn read(&mut self, text: &[u8], at: usize) {
        let rest = text.get(at..).unwrap_or_default();
        let rest = rest.get(..AHEAD).unwrap_or(rest);
        (self.base, self.length) = (at, rest.len());
        let (lanes, rest) = rest.as_chunks::<LANE>();
        // Blanks behind the end: what was read before must not show through.
        let mut last = [[b' '; LANE]; 5];
        last.as_flattened_mut().iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        let marks = self.stops.as_chunks_mut().0.iter_mut().zip(self.telling.as_chunks_mut().0);
        for ((stops, telling), lane) in marks.zip(lanes.iter().chain(&last)) {
            let lane = lane::load(*lane);
            *stops = (lane::stops(lane) as u16).to_le_bytes();
            *telling = (lane::telling(lane) as u16).to_le_bytes();
        }
    }
}

/// At least [`REACH`] bits from an offset on.
#[expect(clippy::inline_always, reason = "PERF: a call would cost more than it does")]
#[inline(always)]
fn ahead(bits: &Bits, offset: usize) -> u64 {
    let bytes = bits.get(offset / 8..).and_then(|bits| bits.first_chunk());
    u64::from_le_bytes(bytes.copied().unwrap_or_default()) >> (offset % 8)
}

/// Sixteen bytes at once; a bit of an answer for each.
mod lane {
    use wide::u8x16;

    #[inline]
    pub(super) fn load(bytes: [u8; super::LANE]) -> u8x16 {
        u8x16::new(bytes)
    }

    #[inline]
    pub(super) fn stops(lane: u8x16) -> u32 {
        let is = |byte| lane.simd_eq(u8x16::splat(byte));
        let is_control = lane.min(u8x16::splat(0x1f)).simd_eq(lane);
        (is(b'"') | is(b'\\') | is_control).to_bitmask()
    }

    #[inline]
    pub(super) fn telling(lane: u8x16) -> u32 {
        let above = lane - u8x16::splat(0x21);
        // The mask takes the top bit of each byte: what lies beyond ASCII brings its own.
        (above.min(u8x16::splat(0x1f)).simd_eq(above) | lane).to_bitmask()
    }

    #[inline]
    pub(super) fn beyond_ascii(lane: u8x16) -> u32 {
        lane.to_bitmask()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_first_special_byte_wherever_it_stands() {
        for ascii in [false, true] {
            for (byte, behind) in (0..=255u8).flat_map(|byte| [(byte, b'"'), (byte, b'b'), (byte, 0), (byte, 0x80)]) {
                for at in 0..40 {
                    let mut bytes = [b'a'; 40];
                    bytes[at] = byte;
                    // A second special byte behind must not hide the first.
                    if let Some(next) = bytes.get_mut(at + 1) {
                        *next = behind;
                    }
                    let expected = bytes.iter().position(|&byte| is_stop(byte) || ascii && byte >= 0x80);
                    assert_eq!(special(&bytes, 0, ascii), expected.unwrap_or(40), "{byte} at {at}");
                }
            }
        }
    }

    #[test]
    fn every_byte_is_what_it_is_in_every_place() {
        for byte in 0..=255 {
            for at in 0..LANE {
                let mut bytes = [b'a'; LANE];
                bytes[at] = byte;
                let bit = |is: bool| u32::from(is) << at;
                let lane = lane::load(bytes);
                let expected = [bit(is_stop(byte)), bit(is_telling(byte)), bit(byte >= 0x80)];
                assert_eq!([lane::stops(lane), lane::telling(lane), lane::beyond_ascii(lane)], expected);
            }
        }
    }

    #[test]
    fn marks_say_what_a_plain_search_says() {
        let mut marks = Marks::default();
        for length in [0, 1, 63, 64, 65, 500, 2047, 2048, 2049, 5000] {
            let text: Vec<u8> = (0..length).map(|n| if n % 97 == 5 { b'"' } else { b'a' + (n % 26) as u8 }).collect();
            let telling: Vec<u8> = text.iter().enumerate().map(|(n, b)| if n % 89 == 3 { b'7' } else { *b }).collect();
            marks.forget();
            for at in (0..length).chain((0..length).rev().step_by(101)) {
                let expected = telling[at..].iter().position(|byte| is_stop(*byte)).map_or(length, |n| at + n);
                assert_eq!(marks.stop(&telling, at), expected, "{at} of {length}");
                let to = (at + at % 64).min(length);
                let said = marks.tells(at, to);
                assert!(said || !tells(&telling[at..to]), "{at} to {to} of {length}");
                let is_near = to - at <= REACH && to <= marks.base + marks.length;
                assert!(!said || tells(&telling[at..to]) || !is_near, "{at} to {to} of {length}");
            }
        }
    }
}
