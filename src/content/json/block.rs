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
    /// Whether `telling` is kept.
    tells: bool,
    /// Up to here, containers were tried to be skipped at one go, in vain.
    pub(super) odd: usize,
}

/// So far from every text that no byte of it was read.
const NOWHERE: usize = usize::MAX / 2;

/// A bit for each byte, and some that stay empty, so that eight bytes of bits can be taken anywhere.
type Bits = [u8; AHEAD / 8 + 8];

impl Default for Marks {
    fn default() -> Self {
        let none = [0; AHEAD / 8 + 8];
        Self { base: NOWHERE, length: 0, stops: none, telling: none, tells: true, odd: 0 }
    }
}

impl Marks {
    /// Forgets what was read: the text is another. `tells`: whether [`Self::tells`] is going to be asked.
    pub(super) fn forget(&mut self, tells: bool) {
        (self.base, self.length, self.tells, self.odd) = (NOWHERE, 0, tells, 0);
    }

    /// Finds the next quote, backslash or control character of `text` from `at`, which is not more than one byte behind its
    /// end; the text's end or beyond where there is none.
    // INVARIANT: behind a text that ends early, bits are empty as far as one look reaches.
    #[expect(clippy::inline_always, reason = "PERF: a call would cost more than it does")]
    #[inline(always)]
    pub(super) fn stop(&mut self, text: &[u8], at: usize) -> usize {
        let offset = at.wrapping_sub(self.base);
        if offset < AHEAD {
            let bits = ahead(&self.stops, offset);
            if bits != 0 {
                return at + bits.trailing_zeros() as usize;
            }
        }
        self.farther(text, at)
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
    #[inline(never)]
    fn farther(&mut self, text: &[u8], at: usize) -> usize {
        let mut offset = at.wrapping_sub(self.base);
        if offset >= self.length {
            self.read(text, at);
            offset = 0;
        }
        offset = offset / 8 * 8;
        let mut from = at - self.base;
        while offset < self.length {
            let bits = ahead(&self.stops, offset) & (u64::MAX << (from - offset));
            if bits != 0 {
                return self.base + offset + bits.trailing_zeros() as usize;
            }
            offset += 64;
            from = offset;
        }
        special(text, self.base + self.length, false)
    }

    fn read(&mut self, text: &[u8], at: usize) {
        let rest = text.get(at..).unwrap_or_default();
        let rest = rest.get(..AHEAD).unwrap_or(rest);
        (self.base, self.length) = (at, rest.len());
        mark(&mut self.stops, rest, lane::stops);
        if self.tells {
            mark(&mut self.telling, rest, lane::telling);
        }
    }
}

/// Sets the bits of some text, and none behind it.
#[inline]
fn mark(bits: &mut Bits, text: &[u8], is: impl Fn(lane::Lane) -> u32) {
    let (lanes, rest) = text.as_chunks::<LANE>();
    let (bits, _) = bits.as_chunks_mut();
    let (whole, behind) = bits.split_at_mut(lanes.len().min(bits.len()));
    for (bits, lane) in whole.iter_mut().zip(lanes) {
        *bits = (is(lane::load(*lane)) as u16).to_le_bytes();
    }
    let mut last = [b' '; LANE];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let last = (is(lane::load(last)) as u16).to_le_bytes();
    // What was read before must not show through.
    behind.iter_mut().zip([last, [0; 2], [0; 2], [0; 2], [0; 2], [0; 2]]).for_each(|(to, from)| *to = from);
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
    pub(super) use wide::u8x16 as Lane;

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
            marks.forget(true);
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
