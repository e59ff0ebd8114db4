//! The loop over tokens. It knows the grammar and the order of calls to the judge; it holds no tree and never goes deeper on
//! the machine's own stack. A token whose end has not arrived is left where it is, to be looked at again from where the
//! search stopped.

use std::ops::Range;

use crate::content::json::block::Marks;
use crate::content::json::selector::{Cursor, Program, StateId};
use crate::content::json::string;
use crate::content::json::{
    Container, Edit, Edits, Entry, EntryId, Fault, Judge, Limits, Node, Path, Scalar, Show, Written, lexer,
};

use super::edit::{Cut, Rename};
use super::ends::Found;
use super::frame::{Frame, Names};
use super::long::Window;

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    Value,
    FirstElement,
    Element,
    FirstKey,
    Key,
    Colon,
    /// A comma or the container's end.
    After,
    /// The rest of a long string that nobody wants to see.
    Text,
    /// The rest of a long string that is shown in windows.
    Window,
    /// White space and nothing else.
    End,
}

/// Whether the loop goes on or waits for more bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Go,
    Wait,
}

/// What a run over one chunk works with.
pub(super) struct Run<'a, J> {
    pub(super) program: &'a Program,
    pub(super) judge: &'a mut J,
    /// What is not written yet, then the chunk.
    pub(super) input: &'a [u8],
    /// As much of `input` as was found to be UTF-8 at one go.
    pub(super) text: &'a str,
    /// Whether the body ends with `input`.
    pub(super) last: bool,
    pub(super) out: &'a mut Vec<u8>,
    pub(super) show: Show,
}

impl<'a, J> Run<'a, J> {
    /// A stretch of the input that was scanned and holds no escapes.
    #[inline]
    pub(super) fn text(&self, start: usize, end: usize) -> &'a str {
        match self.text.get(start..end) {
            Some(text) => text,
            None => string::as_text(self.input.get(start..end).unwrap_or_default()),
        }
    }
}

impl<'a, J> Run<'a, J> {
    /// How the stretch of the input stands in the body, whose byte `base` the input's first one is.
    #[inline]
    pub(super) fn written(&self, base: u64, (start, end): (usize, usize)) -> Written<'a> {
        Written::new(base + start as u64, self.input.get(start..end).unwrap_or_default())
    }
}

/// The state between two chunks. Every index is one into [`Run::input`].
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each asked by its own name")]
pub(super) struct Engine {
    pub(super) limits: Limits,
    /// The body's offset of the input's first byte.
    pub(super) base: u64,
    /// The next token.
    pub(super) pos: usize,
    /// How far the input is written (or cut).
    pub(super) copied: usize,
    /// Nothing from here on may be written yet: the next value may still be removed.
    pub(super) pin: Option<usize>,
    /// Where the last token ended.
    pub(super) space: usize,
    /// How far the search for the end of the token at `pos` has come, 0 when it has not begun.
    pub(super) scanned: usize,
    /// Whether that search passed an escape.
    pub(super) escaped: bool,
    /// How long the string at `pos` may be.
    pub(super) string_limit: usize,
    pub(super) expect: Expect,
    pub(super) stack: Vec<Frame>,
    pub(super) names: Names,
    pub(super) cursor: Cursor,
    /// The state of the value that comes next.
    pub(super) child: StateId,
    pub(super) path: Path,
    /// Whether everything in the value that comes next is shown because of its key.
    pub(super) matters: bool,
    pub(super) edits: Edits,
    pub(super) changed: bool,
    pub(super) rename: Option<Rename>,
    pub(super) new_key: Vec<u8>,
    pub(super) cut: Option<Cut>,
    /// White space before the next member belongs to what was removed.
    pub(super) lead: bool,
    pub(super) scratch: String,
    pub(super) missing: Vec<EntryId>,
    pub(super) window: Window,
    pub(super) marks: Marks,
    /// Every stretch of the input that was copied, and where it was written, if somebody wants to know.
    pub(super) copies: Option<Vec<(Range<usize>, usize)>>,
}

impl Engine {
    pub(super) fn new(program: &Program, limits: Limits) -> Self {
        let mut cursor = Cursor::default();
        let child = cursor.start(program);
        Self {
            limits,
            base: 0,
            pos: 0,
            copied: 0,
            pin: None,
            space: 0,
            scanned: 0,
            escaped: false,
            string_limit: limits.window,
            expect: Expect::Value,
            stack: Vec::new(),
            names: Names::default(),
            cursor,
            child,
            path: Path::default(),
            matters: false,
            edits: Edits::default(),
            changed: false,
            rename: None,
            new_key: Vec::new(),
            cut: None,
            lead: false,
            scratch: String::new(),
            missing: Vec::new(),
            window: Window::default(),
            marks: Marks::default(),
            copies: None,
        }
    }

    /// Whether any byte was edited.
    pub(super) fn changed(&self) -> bool {
        self.changed
    }

    /// How much of the input is written (or cut).
    pub(super) fn written(&self) -> usize {
        self.copied
    }

    /// The first `n` bytes of the input, all of them written, are going to be missing.
    pub(super) fn rebase(&mut self, n: usize) {
        self.base += n as u64;
        for index in [&mut self.pos, &mut self.copied, &mut self.space, &mut self.scanned, &mut self.window.raw_from] {
            *index = index.saturating_sub(n);
        }
        self.pin = self.pin.map(|pin| pin.saturating_sub(n));
        if let Some(rename) = &mut self.rename {
            rename.start = rename.start.saturating_sub(n);
            rename.end = rename.end.saturating_sub(n);
        }
    }

    /// Reads `input`, whose last `fresh` bytes are new, as far as it goes, and writes no more than the edits demand;
    /// [`Engine::settle`] writes the rest.
    pub(super) fn run<J: Judge>(
        &mut self,
        program: &Program,
        judge: &mut J,
        input: &[u8],
        fresh: usize,
        last: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let show = judge.show();
        // PERF: one check of a chunk costs 0.44 instructions per byte (ASCII). A long tail is not checked again for a few new
        // bytes: that would be quadratic.
        let text = if fresh.saturating_mul(4) >= input.len() { string::valid_start(input) } else { "" };
        let mut run = Run { program, judge, input, text, last, out, show };
        self.marks.forget(matches!(show, Show::Promising(_)));
        let result = self.read(&mut run);
        if self.cut.is_some() || self.lead {
            self.copied = self.copied.max(self.pos);
        }
        result
    }

    fn read<J: Judge>(&mut self, run: &mut Run<'_, J>) -> Result<(), Fault> {
        loop {
            self.straight(run)?;
            let flow = match self.expect {
                Expect::Text => self.text(run)?,
                Expect::Window => self.windows(run)?,
                Expect::Value
                | Expect::FirstElement
                | Expect::Element
                | Expect::FirstKey
                | Expect::Key
                | Expect::Colon
                | Expect::After
                | Expect::End => self.token(run)?,
            };
            if flow == Flow::Wait {
                break;
            }
        }
        if run.last && (self.expect != Expect::End || self.pos < run.input.len()) {
            return Err(self.malformed(run.input.len(), "the body ends too early"));
        }
        Ok(())
    }

    fn token<J: Judge>(&mut self, run: &mut Run<'_, J>) -> Result<Flow, Fault> {
        let from = self.pos;
        self.pos = lexer::space_end(run.input, from);
        if self.pos != from && self.pin.is_some() && self.pos - self.space > self.limits.token {
            return Err(self.oversize(self.space + self.limits.token, "white space"));
        }
        let Some(&byte) = run.input.get(self.pos) else { return Ok(Flow::Wait) };
        match (self.expect, byte) {
            (Expect::Value, _) => self.value(run, byte),
            (Expect::FirstElement, b']') | (Expect::FirstKey, b'}') | (Expect::After, b'}' | b']') => self.close(run),
            (Expect::FirstElement | Expect::Element, _) => {
                self.next_element(run);
                self.value(run, byte)
            }
            (Expect::FirstKey | Expect::Key, b'"') => self.key(run),
            (Expect::FirstKey | Expect::Key, _) => Err(self.malformed(self.pos, "expected a key")),
            (Expect::Colon, b':') => {
                self.colon();
                Ok(Flow::Go)
            }
            (Expect::Colon, _) => Err(self.malformed(self.pos, "expected a colon")),
            (Expect::After, b',') => {
                self.comma();
                match (self.expect, run.input.get(self.pos)) {
                    (Expect::Key, Some(b'"')) => self.key(run),
                    _ => Ok(Flow::Go),
                }
            }
            (Expect::After, _) => Err(self.malformed(self.pos, "expected a comma or the container's end")),
            (Expect::End | Expect::Text | Expect::Window, _) => {
                Err(self.malformed(self.pos, "something after the value"))
            }
        }
    }

    /// The colon at `pos`.
    #[inline]
    pub(super) fn colon(&mut self) {
        self.pos += 1;
        self.space = self.pos;
        self.expect = Expect::Value;
    }

    /// The element at `pos`.
    #[inline]
    pub(super) fn next_element<J>(&mut self, run: &mut Run<'_, J>) {
        self.begin_member();
        let Some(frame) = self.stack.last_mut() else { return };
        self.child = self.cursor.by_index(run.program, frame.state, frame.index);
        self.path.push_index(frame.index);
        frame.index += 1;
        self.expect = Expect::Value;
    }

    /// Whether everything at this place is shown.
    #[inline]
    pub(super) fn shows_all<J>(&self, run: &Run<'_, J>) -> bool {
        run.show == Show::Everything || self.stack.last().is_some_and(|frame| frame.shown)
    }

    /// Whether keys and scalars that are not looked at more closely are shown.
    #[inline]
    pub(super) fn shows_values<J>(&self, run: &Run<'_, J>) -> bool {
        run.show != Show::Selected || self.shows_all(run)
    }

    pub(super) fn value<J: Judge>(&mut self, run: &mut Run<'_, J>, byte: u8) -> Result<Flow, Fault> {
        match byte {
            b'"' => self.string(run),
            b'{' => self.open(run, Container::Object),
            b'[' => self.open(run, Container::Array),
            b'-' | b'0'..=b'9' => match self.number_end(run)? {
                Found::End(end) => {
                    let text = run.text(self.pos, end);
                    self.scalar(run, Scalar::Number(text), (self.pos, end), (self.pos, end))
                }
                Found::Wait | Found::Long => Ok(Flow::Wait),
            },
            _ => match self.literal_end(run, byte)? {
                Found::End(end) => {
                    let value = match byte {
                        b'n' => Scalar::Null,
                        _ => Scalar::Bool(byte == b't'),
                    };
                    self.scalar(run, value, (self.pos, end), (self.pos, end))
                }
                Found::Wait | Found::Long => Ok(Flow::Wait),
            },
        }
    }

    fn string<J: Judge>(&mut self, run: &mut Run<'_, J>) -> Result<Flow, Fault> {
        let start = self.pos;
        match self.string_end(run, self.string_limit)? {
            Found::Wait => Ok(Flow::Wait),
            Found::Long => self.long(run),
            Found::End(quote) => {
                self.string_limit = self.limits.window;
                let mut scratch = std::mem::take(&mut self.scratch);
                let text = self.decoded(run, (start + 1, quote), &mut scratch);
                let flow = self.scalar(run, Scalar::String(text), (start, quote + 1), (start + 1, quote));
                self.scratch = scratch;
                flow
            }
        }
    }

    /// What the string that was just found says.
    #[inline]
    pub(super) fn decoded<'a, J>(&self, run: &Run<'a, J>, content: (usize, usize), scratch: &'a mut String) -> &'a str {
        if !self.escaped {
            return run.text(content.0, content.1);
        }
        scratch.clear();
        string::decode(run.input.get(content.0..content.1).unwrap_or_default(), scratch);
        scratch
    }

    /// Shows a scalar and does what the judge answers. `token` is where it stands, `content` what splices count from.
    pub(super) fn scalar<J: Judge>(
        &mut self,
        run: &mut Run<'_, J>,
        value: Scalar<'_>,
        token: (usize, usize),
        content: (usize, usize),
    ) -> Result<Flow, Fault> {
        let hits = &self.cursor.state(run.program, self.child).scalar;
        let mut edit = Edit::Keep;
        if self.shows_values(run) || !hits.is_empty() {
            self.edits.clear();
            let written = run.written(self.base, content);
            edit = run.judge.scalar(Node { path: &self.path, hits, written }, value, &mut self.edits);
        }
        self.apply(run, edit, token, content)?;
        self.pos = token.1;
        self.after_value();
        Ok(Flow::Go)
    }

    /// Does what the judge answered about a scalar.
    #[inline]
    pub(super) fn apply<J>(
        &mut self,
        run: &mut Run<'_, J>,
        edit: Edit,
        token: (usize, usize),
        content: (usize, usize),
    ) -> Result<(), Fault> {
        match edit {
            Edit::Stop => return Err(Fault::Stopped),
            Edit::Fault(fault) => return Err(fault.moved(self.base + token.0 as u64)),
            _ if self.cut.is_some() => {}
            Edit::Keep => self.keep(run),
            Edit::Remove => self.remove(run, token),
            Edit::Replace => self.replace(run, token),
            Edit::Splice => {
                self.keep(run);
                self.splice(run, content, 0, usize::MAX);
            }
        }
        Ok(())
    }

    pub(super) fn open<J: Judge>(&mut self, run: &mut Run<'_, J>, container: Container) -> Result<Flow, Fault> {
        if self.stack.len() >= self.limits.depth {
            return Err(self.malformed(self.pos, "nested too deeply"));
        }
        let shown = self.shows_all(run) || self.matters;
        self.matters = false;
        let state = self.cursor.state(run.program, self.child);
        let (hits, slots) = state.as_container(container);
        let entered = shown || !hits.is_empty();
        let (mut answer, mut reaches) = (Entry::Enter, false);
        if entered {
            self.edits.clear();
            let written = run.written(self.base, (self.pos, self.pos));
            answer = run.judge.enter(Node { path: &self.path, hits, written }, container, &mut self.edits);
            reaches = run.judge.reaches_down();
        }
        match answer {
            Entry::Stop => return Err(Fault::Stopped),
            _ if self.cut.is_some() => {}
            Entry::Enter => self.keep(run),
            Entry::Remove => self.begin_removal(run),
            Entry::Replace => self.begin_replacement(run),
        }
        self.pos += 1;
        let mark = self.names.open(slots);
        let frame = Frame::new(self.child, container, mark);
        self.stack.push(Frame { shown: shown || reaches, entered, ..frame });
        self.expect = match container {
            Container::Object => Expect::FirstKey,
            Container::Array => Expect::FirstElement,
        };
        Ok(Flow::Go)
    }

    pub(super) fn close<J: Judge>(&mut self, run: &mut Run<'_, J>) -> Result<Flow, Fault> {
        let Some(frame) = self.stack.last().copied() else { return Ok(Flow::Wait) };
        let closes = match run.input.get(self.pos) {
            Some(b'}') => Container::Object,
            _ => Container::Array,
        };
        if closes != frame.container {
            return Err(self.malformed(self.pos, "the wrong bracket"));
        }
        self.missing.clear();
        let own = self.cut.is_some_and(|cut| cut.depth + 1 == self.stack.len());
        if frame.container == Container::Object && !own {
            let ensures = self.cursor.state(run.program, frame.state).ensures.iter();
            self.missing.extend(ensures.filter(|(_, slot)| !self.names.has(frame.mark, *slot)).map(|(entry, _)| entry));
            self.missing.dedup();
            if frame.renamed {
                self.check_ensured(run, frame)?;
            }
        }
        self.edits.json.clear();
        if frame.entered || !self.missing.is_empty() {
            self.edits.clear();
            run.judge.leave(&self.path, &self.missing, &mut self.edits);
        }
        if self.cut.is_none() {
            self.pin = None;
            if frame.container == Container::Object && !self.edits.json.is_empty() {
                self.append_members(run, frame.kept);
            }
        }
        self.names.close(frame.mark);
        self.stack.pop();
        self.pos += 1;
        self.end_cut();
        self.after_value();
        Ok(Flow::Go)
    }

    /// A value has ended at `pos`.
    #[inline]
    pub(super) fn after_value(&mut self) {
        self.matters = false;
        self.space = self.pos;
        if self.stack.is_empty() {
            self.expect = Expect::End;
        } else {
            self.path.pop();
            self.expect = Expect::After;
        }
    }
}
