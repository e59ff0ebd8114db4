//! Strings beyond the window. The judge is asked once what is to become of one; then it flows by, is cut, is held whole, or
//! is shown in windows that overlap by what is not decided yet and some context. Where a window ends depends on the string
//! alone, never on the chunks.

use crate::content::json::string::{self, Scan, Walk};
use crate::content::json::{Fault, Judge, Long, Node};

use super::engine::{Engine, Expect, Flow, Run};

/// Decided text that is shown again on the left, in bytes. What a judge recognises may depend on as much.
const CONTEXT: usize = 256;

/// The window over a long string.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// Context, then what is not decided.
    text: String,
    /// Where in `text` the undecided begins…
    from: usize,
    /// …and where in the input.
    pub(super) raw_from: usize,
    /// Bytes of input added since the judge last saw the window.
    fresh: usize,
}

impl Engine {
    /// The string at `pos` is longer than its limit.
    pub(super) fn long<J: Judge>(&mut self, run: &mut Run<'_, J>) -> Result<Flow, Fault> {
        if self.string_limit > self.limits.window {
            return Err(self.oversize(self.pos + self.string_limit, "string"));
        }
        let hits = &self.cursor.state(run.program, self.child).scalar;
        let mut answer = Long::Pass;
        if self.shows_values(run) || !hits.is_empty() {
            self.edits.clear();
            let written = run.written(self.base, (self.pos + 1, self.pos + 1));
            answer = run.judge.long_string(Node { path: &self.path, hits, written }, &mut self.edits);
        }
        self.expect = Expect::Text;
        match answer {
            Long::Stop => return Err(Fault::Stopped),
            Long::Whole if self.limits.value <= self.limits.window => {
                return Err(self.oversize(self.pos + self.limits.window, "string"));
            }
            Long::Whole => {
                self.string_limit = self.limits.value;
                self.expect = Expect::Value;
                return Ok(Flow::Go);
            }
            Long::Pass => self.keep(run),
            Long::Remove if self.cut.is_none() => self.begin_removal(run),
            Long::Replace if self.cut.is_none() => self.begin_replacement(run),
            Long::Remove | Long::Replace => {}
            Long::Windows => {
                self.keep(run);
                self.window.text.clear();
                self.window.from = 0;
                self.window.fresh = 0;
                self.begin_undecided(self.pos + 1);
                self.expect = Expect::Window;
            }
        }
        self.pos += 1;
        Ok(Flow::Go)
    }

    /// Goes through a long string that nobody wants to see.
    pub(super) fn text<J: Judge>(&mut self, run: &mut Run<'_, J>) -> Result<Flow, Fault> {
        match string::scan(run.input, self.pos, &mut false).map_err(|flaw| self.flawed(flaw))? {
            Scan::More(safe) => {
                self.pos = safe;
                Ok(Flow::Wait)
            }
            Scan::End(quote) => {
                self.end_long(quote);
                Ok(Flow::Go)
            }
        }
    }

    /// Fills windows and shows them.
    pub(super) fn windows<J: Judge>(&mut self, run: &mut Run<'_, J>) -> Result<Flow, Fault> {
        loop {
            let room = self.limits.window.saturating_sub(self.window.fresh);
            let within = run.input.get(..self.pos.saturating_add(room)).unwrap_or(run.input);
            let plain = string::plain_end(within, self.pos);
            self.add(run, plain);
            if self.window.fresh >= self.limits.window {
                self.show(run, false)?;
            }
            if run.input.get(self.pos) == Some(&b'"') {
                self.show(run, true)?;
                self.end_long(self.pos);
                return Ok(Flow::Go);
            }
            match string::unit(run.input, self.pos).map_err(|flaw| self.flawed(flaw))? {
                None => return Ok(Flow::Wait),
                Some(unit) => match unit.escape {
                    None => self.add(run, self.pos + unit.raw),
                    Some(said) => {
                        self.window.text.push(said);
                        self.window.fresh += unit.raw;
                        self.pos += unit.raw;
                    }
                },
            }
        }
    }

    /// Adds the input up to `to`, which holds no escape.
    fn add<J>(&mut self, run: &Run<'_, J>, to: usize) {
        self.window.text.push_str(string::as_text(run.input.get(self.pos..to).unwrap_or_default()));
        self.window.fresh += to - self.pos;
        self.pos = to;
    }

    fn show<J: Judge>(&mut self, run: &mut Run<'_, J>, last: bool) -> Result<(), Fault> {
        let hits = &self.cursor.state(run.program, self.child).scalar;
        self.edits.clear();
        let Window { text, from, .. } = &self.window;
        let (length, from) = (text.len(), *from);
        let written = run.written(self.base, (self.window.raw_from, self.pos)).behind(from);
        let node = Node { path: &self.path, hits, written };
        let Some(decided) = run.judge.window(node, text, from, last, &mut self.edits) else {
            return Err(Fault::Stopped);
        };
        let decided = if last { length } else { floor(&self.window.text, decided.clamp(from, length)) };
        if self.cut.is_none() {
            let raw = (self.window.raw_from, self.pos);
            self.splice(run, raw, from, decided);
            let undecided = if decided == length {
                self.pos
            } else {
                let raw = run.input.get(raw.0..raw.1).unwrap_or_default();
                self.window.raw_from + Walk::new(raw).end_of(decided - from)
            };
            self.begin_undecided(undecided);
        }
        if length - decided > self.limits.value {
            return Err(self.oversize(self.pos, "undecided text"));
        }
        let context = floor(&self.window.text, decided.saturating_sub(CONTEXT));
        self.window.text.drain(..context);
        self.window.from = decided - context;
        self.window.fresh = 0;
        Ok(())
    }

    fn begin_undecided(&mut self, at: usize) {
        self.window.raw_from = at;
        if self.cut.is_none() {
            self.pin = Some(at);
        }
    }

    fn end_long(&mut self, quote: usize) {
        self.pos = quote + 1;
        if self.cut.is_none() {
            self.pin = None;
        }
        self.end_cut();
        self.after_value();
    }
}

/// The character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}
