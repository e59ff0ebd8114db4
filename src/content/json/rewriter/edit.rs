//! What is written, held back and cut. Bytes are copied late and in long runs: nothing is written before an edit or the
//! chunk's end asks for it.
//!
//! A removed member takes one comma with it: the one before it when a kept sibling stands there, otherwise the one behind
//! it with the white space up to the next member.

use crate::content::json::{Container, Edits, string};

use super::engine::{Engine, Expect, Run};

/// A value that is not written although it is still read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    /// How deep the stack is outside of it.
    pub(super) depth: usize,
    /// Whether its key and comma go too.
    removes: bool,
}

/// A key that is going to be [`Engine::new_key`] if its value stays.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rename {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Edits {
    pub(super) fn clear(&mut self) {
        self.json.clear();
        self.text.clear();
        self.splices.clear();
    }
}

impl Engine {
    /// Writes what is decided at a chunk's end.
    pub(super) fn settle(&mut self, input: &[u8], out: &mut Vec<u8>) {
        if self.cut.is_none() && !self.lead {
            self.flush(input, out, self.pin.unwrap_or(self.pos));
        }
    }

    /// Copies the input as it is up to `to`.
    fn flush(&mut self, input: &[u8], out: &mut Vec<u8>, to: usize) {
        if out.capacity() == 0 {
            // PERF: most edits keep a body's length, about; growing by doubling copied it twice.
            out.reserve(input.len() - self.copied.min(input.len()) + 64);
        }
        if let Some(copies) = &mut self.copies
            && self.copied < to
        {
            copies.push((self.copied..to, out.len()));
        }
        out.extend_from_slice(input.get(self.copied..to).unwrap_or_default());
        self.copied = self.copied.max(to);
    }

    /// Writes `json` instead of the input from `start` to `end`.
    fn write_instead<J>(&mut self, run: &mut Run<'_, J>, (start, end): (usize, usize), json: &[u8]) {
        self.flush(run.input, run.out, start);
        run.out.extend_from_slice(json);
        self.copied = end;
        self.changed = true;
    }

    /// A member or element begins at `pos`.
    #[inline]
    pub(super) fn begin_member(&mut self) {
        if self.lead {
            self.lead = false;
            self.copied = self.pos;
        }
        if self.cut.is_none() && self.pin.is_none() {
            self.pin = Some(self.pos);
            self.space = self.pos;
        }
    }

    /// The comma at `pos`.
    #[inline]
    pub(super) fn comma(&mut self) {
        let Some(frame) = self.stack.last_mut() else { return };
        let comma = self.pos;
        self.pos += 1;
        self.space = self.pos;
        self.expect = match frame.container {
            Container::Object => Expect::Key,
            Container::Array => Expect::Element,
        };
        if self.cut.is_some() {
            return;
        }
        if frame.swallow {
            frame.swallow = false;
            self.pin = None;
            self.copied = self.pos;
            self.lead = true;
        } else {
            self.pin = Some(comma);
        }
    }

    /// The value that comes next stays (its inside may change).
    #[inline]
    pub(super) fn keep<J>(&mut self, run: &mut Run<'_, J>) {
        if self.cut.is_some() {
            return;
        }
        self.pin = None;
        if let Some(frame) = self.stack.last_mut() {
            frame.kept = true;
        }
        if let Some(Rename { start, end }) = self.rename.take() {
            let key = std::mem::take(&mut self.new_key);
            self.write_instead(run, (start, end), &key);
            self.new_key = key;
        }
    }

    /// The scalar goes.
    pub(super) fn remove<J>(&mut self, run: &mut Run<'_, J>, token: (usize, usize)) {
        if self.stack.is_empty() {
            return self.write_instead(run, token, b"null");
        }
        let start = self.pin.unwrap_or(token.0);
        self.write_instead(run, (start, token.1), b"");
        self.removed(token.1);
    }

    /// The scalar becomes [`Edits::json`].
    pub(super) fn replace<J>(&mut self, run: &mut Run<'_, J>, token: (usize, usize)) {
        self.keep(run);
        let json = std::mem::take(&mut self.edits.json);
        self.write_instead(run, token, &json);
        self.edits.json = json;
    }

    /// Parts of the string's content change; what is shown begins `skip` decoded bytes earlier and is decided up to `end`.
    pub(super) fn splice<J>(&mut self, run: &mut Run<'_, J>, content: (usize, usize), skip: usize, end: usize) {
        let edits = std::mem::take(&mut self.edits);
        let raw = run.input.get(content.0..content.1).unwrap_or_default();
        string::splice(raw, skip, end, &edits, |from, to, text| {
            self.write_instead(run, (content.0 + from, content.0 + to), b"");
            string::escape_into(text, run.out);
        });
        self.edits = edits;
    }

    /// The value at `pos` goes, and its end has not been read.
    pub(super) fn begin_removal<J>(&mut self, run: &mut Run<'_, J>) {
        let at = (self.pos, self.pos);
        if self.stack.is_empty() {
            self.write_instead(run, at, b"null");
        } else {
            self.write_instead(run, (self.pin.unwrap_or(self.pos), self.pos), b"");
        }
        self.pin = None;
        self.cut = Some(Cut { depth: self.stack.len(), removes: true });
    }

    /// The value at `pos` becomes [`Edits::json`], and its end has not been read.
    pub(super) fn begin_replacement<J>(&mut self, run: &mut Run<'_, J>) {
        self.replace(run, (self.pos, self.pos));
        self.cut = Some(Cut { depth: self.stack.len(), removes: false });
    }

    /// A value ends before `pos`; if it is the one that was cut, writing goes on.
    #[inline]
    pub(super) fn end_cut(&mut self) {
        let Some(cut) = self.cut.filter(|cut| cut.depth == self.stack.len()) else { return };
        self.cut = None;
        self.copied = self.pos;
        if cut.removes {
            self.removed(self.pos);
        }
    }

    /// A member or element was removed up to `end`.
    fn removed(&mut self, end: usize) {
        self.rename = None;
        self.pin = None;
        if let Some(frame) = self.stack.last_mut()
            && !frame.kept
        {
            frame.swallow = true;
            self.pin = Some(end);
        }
    }

    /// [`Edits::json`] holds members to be added before the brace at `pos`.
    pub(super) fn append_members<J>(&mut self, run: &mut Run<'_, J>, after_others: bool) {
        let json = std::mem::take(&mut self.edits.json);
        self.write_instead(run, (self.pos, self.pos), if after_others { b"," } else { b"" });
        run.out.extend_from_slice(&json);
        self.edits.json = json;
    }
}
