//! Text, read in windows that overlap by what is not decided yet and some context. Promises bounded memory, that the chunks
//! make no difference, and that bytes outside of edits stay; what is looked for it refuses to know.

use std::fmt;

use super::json::{Edits, Fault, Limits};

/// Decided text that is shown again on the left, in bytes. What a judge recognises may depend on as much.
const CONTEXT: usize = 256;

/// Answers how far `text` is decided, like [`Judge::window`](super::json::Judge::window); the arguments are its.
pub trait Viewer: FnMut(&str, usize, bool, &mut Edits) -> Option<usize> {}
impl<F: FnMut(&str, usize, bool, &mut Edits) -> Option<usize>> Viewer for F {}

/// A text on its way through.
pub struct Text {
    /// Bytes of new text in a window.
    window: usize,
    /// Bytes that may be undecided.
    most: usize,
    /// Whether a text that does not fit into one window cannot be judged.
    only_one: bool,
    /// Context, what is not decided, what was not shown.
    buffer: Vec<u8>,
    /// Where the undecided begins…
    from: usize,
    /// …and where what was not shown.
    shown: usize,
    /// Offset of the buffer's first byte.
    base: u64,
    edits: Edits,
    changed: bool,
}

/// SECURITY: what is held is somebody's data.
impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Text").field("held", &self.held().len()).finish_non_exhaustive()
    }
}

impl Text {
    /// At the start of a text. `whole`: it is shown at once, up to [`Limits::value`], and beyond it is oversize.
    pub fn new(limits: Limits, whole: bool) -> Self {
        Self {
            window: if whole { limits.value } else { limits.window },
            most: limits.value,
            only_one: whole,
            buffer: Vec::new(),
            from: 0,
            shown: 0,
            base: 0,
            edits: Edits::default(),
            changed: false,
        }
    }

    /// Reads the next bytes and appends to `out` what is decided. After a fault nothing more may be pushed.
    pub fn push(&mut self, mut view: impl Viewer, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let mut rest = chunk;
        let result = self.read(&mut view, &mut rest, out);
        // After a fault, what was not read is held, too.
        self.buffer.extend_from_slice(rest);
        result
    }

    fn read(&mut self, view: &mut impl Viewer, rest: &mut &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        loop {
            // One byte more than a window: where a window ends depends on the text alone.
            let room = (self.window + 1).saturating_sub(self.buffer.len() - self.shown);
            let (bytes, after) = rest.split_at_checked(room).unwrap_or((rest, b""));
            self.buffer.extend_from_slice(bytes);
            *rest = after;
            if self.buffer.len() - self.shown <= self.window {
                return Ok(());
            }
            if self.only_one {
                return Err(Fault::Oversize { at: self.base + self.window as u64, what: "text" });
            }
            let end = floor(&self.buffer, self.shown + self.window);
            self.show(view, end, false, out)?;
        }
    }

    /// The text has ended.
    pub fn finish(&mut self, mut view: impl Viewer, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.show(&mut view, self.buffer.len(), true, out)
    }

    fn show(&mut self, view: &mut impl Viewer, end: usize, last: bool, out: &mut Vec<u8>) -> Result<(), Fault> {
        let text = std::str::from_utf8(self.buffer.get(..end).unwrap_or_default())
            .map_err(|error| Fault::Malformed { at: self.base + error.valid_up_to() as u64, what: "not UTF-8" })?;
        self.edits.json.clear();
        self.edits.text.clear();
        self.edits.splices.clear();
        let decided = view(text, self.from, last, &mut self.edits).ok_or(Fault::Stopped)?;
        let decided = if last { end } else { floor(&self.buffer, decided.clamp(self.from, end)) };
        let mut written = self.from;
        for splice in &self.edits.splices {
            out.extend_from_slice(self.buffer.get(written..splice.range.start).unwrap_or_default());
            out.extend_from_slice(self.edits.text.as_bytes().get(splice.with.clone()).unwrap_or_default());
            written = splice.range.end;
            self.changed = true;
        }
        out.extend_from_slice(self.buffer.get(written..decided).unwrap_or_default());
        let context = floor(&self.buffer, decided.saturating_sub(CONTEXT));
        self.buffer.drain(..context);
        self.base += context as u64;
        (self.from, self.shown) = (decided - context, end - context);
        // A judge that decides nothing would have to be shown ever more.
        if self.shown - self.from > self.most {
            return Err(Fault::Oversize { at: self.base + self.shown as u64, what: "undecided text" });
        }
        Ok(())
    }

    /// What was read and not yet written: with it and what follows, a text can be passed on untouched from here.
    pub fn held(&self) -> &[u8] {
        self.buffer.get(self.from..).unwrap_or_default()
    }

    /// Whether any byte was edited so far.
    pub fn changed(&self) -> bool {
        self.changed
    }
}

/// The character boundary at or before `at`, if the bytes are UTF-8.
fn floor(bytes: &[u8], at: usize) -> usize {
    let is_inside = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
    (0..4).map(|back| at.saturating_sub(back)).find(|at| !is_inside(*at)).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::Text;
    use crate::content::json::{Edits, Fault, Limits, Splice};
    use proptest::prelude::*;

    fn limits() -> Limits {
        Limits { window: 16, value: 64, ..Limits::default() }
    }

    /// Redacts every `secret`, which is decided only when all of it is seen.
    fn hide(text: &str, from: usize, last: bool, edits: &mut Edits) -> Option<usize> {
        edits.text.push('#');
        let found = text.match_indices("secret").filter(|(at, _)| *at >= from);
        edits.splices.extend(found.map(|(at, word)| Splice { range: at..at + word.len(), with: 0..1 }));
        let done = edits.splices.last().map_or(from, |splice| splice.range.end);
        let cut = (0..=text.len().saturating_sub(5)).rev().find(|at| text.is_char_boundary(*at))?;
        (!text.contains("STOP")).then_some(if last { text.len() } else { cut.max(done) })
    }

    fn run(chunks: &[&[u8]], whole: bool) -> Result<Vec<u8>, Fault> {
        let mut text = Text::new(limits(), whole);
        let mut out = Vec::new();
        for chunk in chunks {
            text.push(hide, chunk, &mut out)?;
        }
        text.finish(hide, &mut out)?;
        assert!(text.held().is_empty());
        Ok(out)
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(run(&[text.as_bytes()], false).as_deref(), Ok(expected.as_bytes()));
    }

    #[test]
    fn values_are_found_across_windows() {
        check("", "");
        check("a secret", "a #");
        check(&"éé secret secretsecret x".repeat(9), &"éé # ## x".repeat(9));
    }

    #[test]
    fn what_cannot_be_read_is_a_fault() {
        let not_utf8 = |at| Err(Fault::Malformed { at, what: "not UTF-8" });
        assert_eq!(run(&[b"0123456789abcdefghi\xff"], false), not_utf8(19));
        assert_eq!(run(&[&[0x80; 40]], false), not_utf8(0));
        assert_eq!(run(&[b"\xc3"], false), not_utf8(0));
        assert_eq!(run(&[b"xSTOP"], false), Err(Fault::Stopped));
        assert_eq!(run(&[&[b'x'; 65]], true), Err(Fault::Oversize { at: 64, what: "text" }));
        assert!(run(&[&[b'x'; 64]], true).is_ok());
    }

    #[test]
    fn a_judge_that_never_decides_is_not_waited_for() {
        let mut text = Text::new(limits(), false);
        let result = text.push(|_: &str, from, _, _: &mut Edits| Some(from), &[b'x'; 100], &mut Vec::new());
        assert!(matches!(result, Err(Fault::Oversize { .. })), "{result:?}");
    }

    proptest! {
        #[test]
        fn chunks_make_no_difference(words in prop::collection::vec("(secret|sec|é|😀| |x)", 0..60), size in 1_usize..24) {
            let text = words.concat();
            let chunks: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            let out = String::from_utf8(run(&chunks, false).unwrap()).unwrap();
            prop_assert_eq!(out, text.replace("secret", "#"));
        }
    }
}
