//! The inside of JSON strings: where one ends, what it says, how text is written into one. Promises that what it lets
//! through is valid UTF-8 with valid escapes; refuses to know which string it is.

use super::{Edits, Splice, block};

/// What the search for a string's end found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scan {
    /// The index of the closing quote.
    End(usize),
    /// Everything before this index is sound; the rest is needed to go on from there.
    More(usize),
}

/// Where a string is not JSON, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flaw {
    pub(super) at: usize,
    pub(super) what: &'static str,
}

/// Finds the next byte that is not plain: a quote, a backslash, a control character, or the start of a non-ASCII
/// character.
#[inline]
pub(super) fn plain_end(bytes: &[u8], at: usize) -> usize {
    block::special(bytes, at, true)
}

/// Searches a string's end from `at`, which lies inside the string and not inside an escape or a character. Sets `escaped`
/// when it passes an escape.
#[inline]
pub(super) fn scan(bytes: &[u8], mut at: usize, escaped: &mut bool) -> Result<Scan, Flaw> {
    loop {
        at = plain_end(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return Ok(Scan::End(at)),
            None => return Ok(Scan::More(at)),
            Some(b'\\') => *escaped = true,
            Some(_) => {}
        }
        match unit(bytes, at)? {
            Some(unit) => at += unit.raw,
            None => return Ok(Scan::More(at)),
        }
    }
}

/// One character as it is written: plain, UTF-8, or an escape (a surrogate pair is one).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    /// Bytes it takes where it is written.
    pub(super) raw: usize,
    /// What it says, for an escape.
    pub(super) escape: Option<char>,
}

impl Unit {
    /// Bytes it takes once decoded.
    pub(super) fn decoded(self) -> usize {
        self.escape.map_or(self.raw, char::len_utf8)
    }
}

/// Reads the character at `at`. `None`: its end has not arrived, and what is there is a sound beginning.
#[inline]
pub(super) fn unit(bytes: &[u8], at: usize) -> Result<Option<Unit>, Flaw> {
    let Some(&first) = bytes.get(at) else { return Ok(None) };
    match first {
        b'\\' => escape(bytes, at),
        0x00..=0x1f => Err(Flaw { at, what: "control character in a string" }),
        0x20..=0x7f => Ok(Some(Unit { raw: 1, escape: None })),
        0x80.. => utf8(bytes, at, first),
    }
}

fn utf8(bytes: &[u8], at: usize, first: u8) -> Result<Option<Unit>, Flaw> {
    let flaw = Err(Flaw { at, what: "not UTF-8" });
    // Unicode 3.9, table 3-7: the second byte's range keeps overlong forms, surrogates and what lies above U+10FFFF out.
    let (raw, low, high) = match first {
        0xc2..=0xdf => (2, 0x80, 0xbf),
        0xe0 => (3, 0xa0, 0xbf),
        0xe1..=0xec | 0xee..=0xef => (3, 0x80, 0xbf),
        0xed => (3, 0x80, 0x9f),
        0xf0 => (4, 0x90, 0xbf),
        0xf1..=0xf3 => (4, 0x80, 0xbf),
        0xf4 => (4, 0x80, 0x8f),
        _ => return flaw,
    };
    for n in 1..raw {
        match bytes.get(at + n) {
            None => return Ok(None),
            Some(&b) if n == 1 && (b < low || b > high) => return flaw,
            Some(&b) if n > 1 && !(0x80..=0xbf).contains(&b) => return flaw,
            Some(_) => {}
        }
    }
    Ok(Some(Unit { raw, escape: None }))
}

fn escape(bytes: &[u8], at: usize) -> Result<Option<Unit>, Flaw> {
    let Some(&kind) = bytes.get(at + 1) else { return Ok(None) };
    let said = match kind {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode_escape(bytes, at),
        _ => return Err(Flaw { at, what: "unknown escape" }),
    };
    Ok(Some(Unit { raw: 2, escape: Some(said) }))
}

fn unicode_escape(bytes: &[u8], at: usize) -> Result<Option<Unit>, Flaw> {
    // SECURITY: a lone surrogate has no meaning in UTF-8; readers differ in what they make of it (U+FFFD, an error, a key
    // that compares equal to another), so that what was inspected would not be what is read.
    let lone = Err(Flaw { at, what: "lone surrogate escape" });
    let Some(high) = hex4(bytes, at + 2)? else { return Ok(None) };
    if let Some(said) = char::from_u32(high) {
        return Ok(Some(Unit { raw: 6, escape: Some(said) }));
    }
    if high >= 0xdc00 {
        return lone;
    }
    match (bytes.get(at + 6), bytes.get(at + 7)) {
        (None, _) | (Some(b'\\'), None) => return Ok(None),
        (Some(b'\\'), Some(b'u')) => {}
        _ => return lone,
    }
    let Some(low) = hex4(bytes, at + 8)? else { return Ok(None) };
    if !(0xdc00..0xe000).contains(&low) {
        return lone;
    }
    let said = char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00));
    Ok(said.map(|said| Unit { raw: 12, escape: Some(said) }))
}

fn hex4(bytes: &[u8], at: usize) -> Result<Option<u32>, Flaw> {
    let mut value = 0;
    for n in 0..4 {
        let Some(&byte) = bytes.get(at + n) else { return Ok(None) };
        let Some(digit) = char::from(byte).to_digit(16) else {
            return Err(Flaw { at: at + n, what: "bad unicode escape" });
        };
        value = value * 16 + digit;
    }
    Ok(Some(value))
}

/// Appends what a scanned stretch of a string says.
pub(super) fn decode(raw: &[u8], text: &mut String) {
    let mut at = 0;
    while at < raw.len() {
        let run = memchr::memchr(b'\\', raw.get(at..).unwrap_or_default()).map_or(raw.len(), |n| at + n);
        text.push_str(as_text(raw.get(at..run).unwrap_or_default()));
        at = run;
        if let Ok(Some(Unit { raw: length, escape: Some(said) })) = unit(raw, at) {
            text.push(said);
            at += length;
        } else {
            // INVARIANT: only reached at the end, since every escape was scanned before.
            break;
        }
    }
}

/// As much of the bytes, from the start, as is UTF-8.
pub(super) fn valid_start(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => as_text(bytes.get(..error.valid_up_to()).unwrap_or_default()),
    }
}

/// The text of a scanned stretch without escapes.
#[inline]
pub(super) fn as_text(raw: &[u8]) -> &str {
    // INVARIANT: `scan` has let it through, so it is UTF-8.
    std::str::from_utf8(raw).unwrap_or_default()
}

/// Appends text as it is written inside a string.
pub(super) fn escape_into(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let at = block::special(bytes, from, false);
        out.extend_from_slice(bytes.get(from..at).unwrap_or_default());
        let Some(&byte) = bytes.get(at) else { return };
        from = at + 1;
        let short = match byte {
            b'"' | b'\\' => byte,
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            _ => {
                let digit = |n: u8| if n < 10 { b'0' + n } else { b'a' + n - 10 };
                out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 15)]);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', short]);
    }
}

/// Walks a scanned stretch of a string, from decoded offsets to raw ones.
pub(super) struct Walk<'a> {
    raw: &'a [u8],
    at: usize,
    decoded: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(raw: &'a [u8]) -> Self {
        Self { raw, at: 0, decoded: 0 }
    }

    /// Goes to the character that holds the decoded offset `to`; answers where it begins in the raw bytes.
    pub(super) fn start_of(&mut self, to: usize) -> usize {
        while let Ok(Some(unit)) = unit(self.raw, self.at) {
            if self.decoded + unit.decoded() > to {
                break;
            }
            self.step(unit);
        }
        self.at
    }

    /// Goes behind the last character that begins before the decoded offset `to`.
    pub(super) fn end_of(&mut self, to: usize) -> usize {
        while self.decoded < to {
            let Ok(Some(unit)) = unit(self.raw, self.at) else { break };
            self.step(unit);
        }
        self.at
    }

    fn step(&mut self, unit: Unit) {
        self.at += unit.raw;
        self.decoded += unit.decoded();
    }
}

/// The character boundary at or before `at`.
fn floor(raw: &[u8], at: usize) -> usize {
    (0..=at.min(raw.len())).rev().find(|at| is_boundary(raw, *at)).unwrap_or(0)
}

/// The character boundary at or behind `at`.
fn ceiling(raw: &[u8], at: usize) -> usize {
    (at..raw.len()).find(|at| is_boundary(raw, *at)).unwrap_or(raw.len())
}

fn is_boundary(raw: &[u8], at: usize) -> bool {
    raw.get(at).is_none_or(|byte| !matches!(byte, 0x80..=0xbf))
}

/// Calls `replace` with the raw range and the new text of each splice, in order. `skip` decoded bytes of the shown text
/// come before `raw`; nothing behind `end` (a decoded offset) is touched.
// A splice that does not fall on characters is widened, never dropped: a byte too many hidden beats one too few.
pub(super) fn splice(raw: &[u8], skip: usize, end: usize, edits: &Edits, mut replace: impl FnMut(usize, usize, &str)) {
    // PERF: without escapes, what is written is what it says; the walk costs some 20 instructions a character.
    if skip == 0 && memchr::memchr(b'\\', raw).is_none() {
        let mut done = 0;
        for Splice { range, with } in &edits.splices {
            let start = floor(raw, range.start).max(done);
            let stop = ceiling(raw, range.end.min(end)).max(start);
            replace(start, stop, edits.text.get(with.clone()).unwrap_or_default());
            done = stop;
        }
        return;
    }
    let mut walk = Walk::new(raw);
    let mut done = 0;
    for Splice { range, with } in &edits.splices {
        let start = walk.start_of(range.start.saturating_sub(skip)).max(done);
        let stop = walk.end_of(range.end.min(end).saturating_sub(skip)).max(start);
        replace(start, stop, edits.text.get(with.clone()).unwrap_or_default());
        done = stop;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &str, expected: Result<&str, &str>) {
        let quoted = format!("{content}\"");
        let mut escaped = false;
        let found = scan(quoted.as_bytes(), 0, &mut escaped).map_err(|flaw| flaw.what);
        match (found, expected) {
            (Ok(Scan::End(end)), Ok(said)) => {
                let mut text = String::new();
                decode(&quoted.as_bytes()[..end], &mut text);
                assert_eq!((end, text.as_str()), (content.len(), said));
                assert_eq!(escaped, content.contains('\\'));
            }
            (found, expected) => assert_eq!(found.map(|_| ""), expected),
        }
    }

    #[test]
    fn says_what_json_says() {
        check("", Ok(""));
        check("plain and quite long, more than one block", Ok("plain and quite long, more than one block"));
        check(r#"\"\\\/\b\f\n\r\t"#, Ok("\"\\/\u{8}\u{c}\n\r\t"));
        check(r"\u00e9\u00E9é", Ok("ééé"));
        check(r"\ud83d\ude00😀", Ok("😀😀"));
        check("\u{7f}", Ok("\u{7f}"));
        check(r"\u0000", Ok("\0"));
    }

    #[test]
    fn refuses_what_json_refuses() {
        check(r"\ud83d", Err("lone surrogate escape"));
        check(r"\ud83d\u0041", Err("lone surrogate escape"));
        check(r"\ud83dx", Err("lone surrogate escape"));
        check(r"\ude00", Err("lone surrogate escape"));
        check(r"\x", Err("unknown escape"));
        check(r"\u00g0", Err("bad unicode escape"));
        check("a\nb", Err("control character in a string"));
        check("12345678\u{1f}", Err("control character in a string"));
    }

    #[test]
    fn refuses_what_is_not_utf8() {
        for bad in [
            &b"\x80"[..],
            b"\xc0\xaf",
            b"\xc1\xbf",
            b"\xe0\x9f\xbf",
            b"\xed\xa0\x80",
            b"\xf0\x8f\xbf\xbf",
            b"\xf4\x90\x80\x80",
            b"\xf5",
            b"\xff",
            b"\xc3\"",
            b"\xe2\x82\"",
        ] {
            assert!(scan(bad, 0, &mut false).is_err(), "{bad:x?}");
        }
    }

    #[test]
    fn waits_for_the_end_of_whatever_is_cut_off() {
        let whole = r"a\n\u00e9é\ud83d\ude00😀".as_bytes();
        for cut in 0..whole.len() {
            let mut at = 0;
            let Ok(Scan::More(safe)) = scan(&whole[..cut], 0, &mut false) else { panic!("{cut}") };
            while at < safe {
                at += unit(whole, at).unwrap().unwrap().raw;
            }
            assert_eq!(at, safe);
        }
    }

    #[test]
    fn escapes_what_must_be_escaped() {
        let mut out = Vec::new();
        escape_into("a\"\\\n\r\t\u{1}\u{1f}/é😀", &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), r#"a\"\\\n\r\t\u0001\u001f/é😀"#);
    }

    #[test]
    fn splices_land_on_what_was_decoded() {
        let raw = r"a\u00e9\/b\ud83d\ude00c";
        let edits = Edits {
            splices: vec![Splice { range: 1..3, with: 0..1 }, Splice { range: 5..9, with: 0..0 }],
            text: "X".into(),
            ..Edits::default()
        };
        let mut seen = Vec::new();
        splice(raw.as_bytes(), 0, 100, &edits, |from, to, with| {
            seen.push((raw.get(from..to).unwrap(), with.to_owned()));
        });
        assert_eq!(seen, [(r"\u00e9", "X".to_owned()), (r"\ud83d\ude00", String::new())]);
    }

    #[test]
    fn a_splice_inside_a_character_takes_all_of_it() {
        let edits = Edits { splices: vec![Splice { range: 2..3, with: 0..0 }], ..Edits::default() };
        let mut seen = Vec::new();
        splice("a😀b".as_bytes(), 0, 6, &edits, |from, to, _| seen.push(from..to));
        assert_eq!(seen, vec![1..5]);
    }
}
