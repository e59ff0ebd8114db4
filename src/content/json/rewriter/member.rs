//! A member's key: where it leads, what the judge makes of it, and which keys may not stand in one object.

use crate::content::json::selector::Cursor;
use crate::content::json::{Fault, Judge, KeyEdit, Node, Show, string};

use super::edit::Rename;
use super::ends::Found;
use super::engine::{Engine, Expect, Flow, Run};
use super::frame::{Frame, Key, Why};

const DUPLICATE: &str = "a selected key comes twice";
const COLLISION: &str = "a new key collides with another";

impl Engine {
    /// The key at `pos`.
    pub(super) fn key<J: Judge>(&mut self, run: &mut Run<'_, J>) -> Result<Flow, Fault> {
        self.begin_member();
        let start = self.pos;
        let quote = match self.string_end(run, self.limits.token)? {
            Found::Wait => return Ok(Flow::Wait),
            Found::Long => return Err(self.oversize(start + self.limits.token, "key")),
            Found::End(quote) => quote,
        };
        let mut scratch = std::mem::take(&mut self.scratch);
        let key = self.decoded(run, (start + 1, quote), &mut scratch);
        let result = self.member(run, key, (start, quote + 1));
        self.scratch = scratch;
        result?;
        self.pos = quote + 1;
        self.space = self.pos;
        self.expect = Expect::Colon;
        // PERF: in minified JSON the colon and the value stand right here; the loop need not come round for them.
        if run.input.get(self.pos) == Some(&b':') {
            self.colon();
            if let Some(&byte) = run.input.get(self.pos)
                && byte > b' '
            {
                return self.value(run, byte);
            }
        }
        Ok(Flow::Go)
    }

    pub(super) fn member<J: Judge>(
        &mut self,
        run: &mut Run<'_, J>,
        key: &str,
        token: (usize, usize),
    ) -> Result<(), Fault> {
        let Some(&frame) = self.stack.last() else { return Ok(()) };
        let member = self.cursor.by_name(run.program, frame.state, key);
        self.child = member.state;
        let twice = member.slot.is_some_and(|slot| self.names.came(frame.mark, slot)) && member.selected;
        let every = self.cursor.state(run.program, frame.state).every_key;
        // Past the bound a wildcard's keys are no longer remembered: both of a pair are selected and judged all the same.
        // Keys that differ and fold alike are all selected; each of them may come once.
        let by_fold = member.folded.is_some_and(|slot| {
            self.names.came(frame.mark, slot);
            member.slot.is_none()
        });
        let name = Key { text: key, slot: member.slot };
        if twice || (every || by_fold) && self.names.remember(frame.mark, Why::Selected, name) {
            return Err(self.malformed(token.0, DUPLICATE));
        }
        let state = self.cursor.state(run.program, member.state);
        self.path.push_name(key);
        self.matters = matches!(run.show, Show::Promising(glance) if glance.keys) && run.judge.key_matters(key);
        let mut answer = KeyEdit::Keep;
        if self.shows_values(run) || !state.keys.is_empty() {
            self.edits.clear();
            let written = run.written(self.base, (token.0 + 1, token.1.saturating_sub(1)));
            let node = Node { path: &self.path, hits: &state.keys, written };
            answer = run.judge.key(node, key, &mut self.edits);
        }
        self.answered(run, answer, name, member.watched, token)
    }

    /// Does what the judge answered about a key.
    #[inline]
    fn answered<J>(
        &mut self,
        run: &Run<'_, J>,
        answer: KeyEdit,
        key: Key<'_>,
        watched: bool,
        token: (usize, usize),
    ) -> Result<(), Fault> {
        let Some(&frame) = self.stack.last() else { return Ok(()) };
        match answer {
            KeyEdit::Stop => return Err(Fault::Stopped),
            _ if self.cut.is_some() => return Ok(()),
            KeyEdit::Keep | KeyEdit::Reserve => {
                if frame.renamed && self.names.knows(frame.mark, Why::Renamed, key) {
                    return Err(self.malformed(token.0, COLLISION));
                }
            }
            KeyEdit::Rename => self.rename(run, frame, key, watched, token)?,
        }
        if watched || answer == KeyEdit::Reserve {
            self.note(frame, Why::Reserved, key, token.0)?;
        }
        Ok(())
    }

    /// The key is to become [`Edits::text`](crate::content::json::Edits::text).
    fn rename<J>(
        &mut self,
        run: &Run<'_, J>,
        frame: Frame,
        key: Key<'_>,
        watched: bool,
        token: (usize, usize),
    ) -> Result<(), Fault> {
        let text = std::mem::take(&mut self.edits.text);
        let new = Key { text: &text, slot: Cursor::slot(run.program, frame.state, &text) };
        let names = &self.names;
        let collides = watched && names.knows(frame.mark, Why::Renamed, key)
            || names.knows(frame.mark, Why::Reserved, new)
            || names.knows(frame.mark, Why::Renamed, new);
        if collides {
            return Err(self.malformed(token.0, COLLISION));
        }
        self.note(frame, Why::Renamed, new, token.0)?;
        if let Some(frame) = self.stack.last_mut() {
            frame.renamed = true;
            frame.unforeseen |= new.slot.is_none();
        }
        if new.text != key.text {
            self.new_key.clear();
            self.new_key.push(b'"');
            string::escape_into(new.text, &mut self.new_key);
            self.new_key.push(b'"');
            self.rename = Some(Rename { start: token.0, end: token.1 });
        }
        self.edits.text = text;
        Ok(())
    }

    /// A member that is about to be added must not have the name that another was given.
    pub(super) fn check_ensured<J>(&self, run: &Run<'_, J>, frame: Frame) -> Result<(), Fault> {
        let ensures = &self.cursor.state(run.program, frame.state).ensures;
        let mut missing = ensures.iter().filter(|(_, slot)| !self.names.has(frame.mark, *slot));
        let collides = missing.any(|(entry, _)| {
            let text = Cursor::ensured_name(run.program, *entry);
            let slot = Cursor::slot(run.program, frame.state, text);
            self.names.knows(frame.mark, Why::Renamed, Key { text, slot })
        });
        if collides { Err(self.malformed(self.pos, COLLISION)) } else { Ok(()) }
    }

    fn note(&mut self, frame: Frame, why: Why, key: Key<'_>, at: usize) -> Result<(), Fault> {
        // SECURITY: a collision that goes unseen would let two members stand under one name, so here the bound is a fault.
        if key.slot.is_none() && self.names.is_full() && !self.names.knows(frame.mark, why, key) {
            return Err(self.oversize(at, "keys that could collide"));
        }
        self.names.remember(frame.mark, why, key);
        Ok(())
    }
}
