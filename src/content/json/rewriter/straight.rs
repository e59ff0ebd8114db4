//! The straight road: members and elements that are wholly there and hold no surprise. Promises nothing that the loop in
//! [`engine`](super::engine) does not do as well: wherever something needs patience or a closer look, it stops before that
//! and leaves it to the loop. What it looks at was found to be UTF-8 at one go.

use crate::content::json::selector::Cursor;
use crate::content::json::{Container, Edit, Fault, Judge, KeyEdit, Limits, Node, Scalar, lexer, string};

use super::engine::{Engine, Expect, Flow, Run};

/// Reads a scalar without surprises: what it says (nothing unless it is `shown`), and where it ends.
#[inline]
fn scalar<'a>(text: &'a str, at: usize, limits: &Limits, shown: bool) -> Option<(Scalar<'a>, usize)> {
    let bytes = text.as_bytes();
    let within = |from, to| if shown { text.get(from..to).unwrap_or_default() } else { "" };
    let word = |word: &[u8]| bytes.get(at..)?.starts_with(word).then_some(at + word.len());
    Some(match bytes.get(at)? {
        b'"' => {
            let quote = string::closing(bytes, at + 1).filter(|quote| quote - at - 1 <= limits.window)?;
            (Scalar::String(within(at + 1, quote)), quote + 1)
        }
        b'-' | b'0'..=b'9' => {
            let end = lexer::plain_number_end(bytes, at).filter(|end| end - at <= limits.token)?;
            (Scalar::Number(within(at, end)), end)
        }
        b't' => (Scalar::Bool(true), word(b"true")?),
        b'f' => (Scalar::Bool(false), word(b"false")?),
        b'n' => (Scalar::Null, word(b"null")?),
        _ => return None,
    })
}

/// What splices of a scalar count from.
fn content(scalar: Scalar<'_>, (start, end): (usize, usize)) -> (usize, usize) {
    match scalar {
        Scalar::String(_) => (start + 1, end - 1),
        Scalar::Number(_) | Scalar::Bool(_) | Scalar::Null => (start, end),
    }
}

/// The next member or element behind the value that ends at `end`: its comma, and where it begins.
#[inline]
fn next(text: &[u8], end: usize, limits: &Limits) -> Option<(usize, usize)> {
    let comma = lexer::space_end(text, end);
    if text.get(comma) != Some(&b',') {
        return None;
    }
    let start = lexer::space_end(text, comma + 1);
    (start - end <= limits.token).then_some((comma, start))
}

impl Engine {
    /// Reads on from the next member, element, comma or bracket as far as the road is straight.
    pub(super) fn straight<J: Judge>(&mut self, run: &mut Run<'_, J>) -> Result<(), Fault> {
        let text = run.text.as_bytes();
        while self.scanned == 0 && self.cut.is_none() && !self.lead {
            let at = lexer::space_end(text, self.pos);
            let Some(&byte) = text.get(at) else { break };
            if at != self.pos && at - self.space > self.limits.token {
                break;
            }
            let flow = match (self.expect, byte) {
                (Expect::After, b',') => {
                    self.pos = at;
                    self.comma();
                    Flow::Go
                }
                (Expect::FirstKey | Expect::Key, b'"') => {
                    if self.members(run, at)? {
                        self.straight_member(run, text)?
                    } else {
                        Flow::Go
                    }
                }
                (Expect::FirstElement, b']') | (Expect::FirstKey, b'}') | (Expect::After, b'}' | b']') => {
                    self.pos = at;
                    self.close(run)?
                }
                (Expect::FirstElement | Expect::Element, _) => {
                    self.pos = at;
                    self.next_element(run);
                    self.straight_value(run, byte)?
                }
                _ => break,
            };
            if flow == Flow::Wait {
                break;
            }
        }
        Ok(())
    }

    /// Reads members from `start` on whose names no selector writes and whose values are scalars. Answers whether the next
    /// member, at `pos`, is another kind; if not, what follows is a comma or a brace.
    // PERF: what is the same for all members of an object is looked up once. Customer records with
    // every key and value shown fell from 41 to 23 instructions per byte.
    fn members<J: Judge>(&mut self, run: &mut Run<'_, J>, mut start: usize) -> Result<bool, Fault> {
        let text = run.text.as_bytes();
        let limits = self.limits;
        self.pos = start;
        let Some(frame) = self.stack.last().filter(|frame| !frame.renamed) else { return Ok(true) };
        let Some((names, other)) = Cursor::unwritten(run.program, frame.state) else { return Ok(true) };
        let shows_key = run.wants || !other.hits.is_empty();
        let shows_value = run.wants || !other.scalar.is_empty();
        let shown = shows_key || shows_value;
        let mut pin = self.pin.unwrap_or(start);
        let mut kept = false;
        if shown {
            self.path.push_name("");
        }
        while let Some(quote) = string::closing(text, start + 1) {
            let Some(name) = text.get(start + 1..quote).filter(|name| name.len() <= limits.token) else { break };
            if Cursor::writes(run.program, names, name) || text.get(quote + 1) != Some(&b':') {
                break;
            }
            // Pretty-printed JSON has one space here.
            let value = quote + 2 + usize::from(text.get(quote + 2) == Some(&b' '));
            let Some((said, end)) = scalar(run.text, value, &limits, shows_value) else { break };
            if shown {
                let key = run.text.get(start + 1..quote).unwrap_or_default();
                self.path.rename_last(key);
                if shows_key {
                    self.edits.clear();
                    let node = Node { path: &self.path, hits: &other.hits };
                    let answer = run.judge.key(node, key, &mut self.edits);
                    if answer != KeyEdit::Keep {
                        self.pin = Some(pin);
                        self.keep_one(kept);
                        self.child = names.other;
                        self.answered(answer, key, false, (start, quote + 1))?;
                        self.pos = quote + 1;
                        self.space = self.pos;
                        self.expect = Expect::Colon;
                        return Ok(false);
                    }
                }
                if shows_value {
                    self.edits.clear();
                    let node = Node { path: &self.path, hits: &other.scalar };
                    let answer = run.judge.scalar(node, said, &mut self.edits);
                    if answer != Edit::Keep {
                        self.pin = Some(pin);
                        self.keep_one(kept);
                        self.apply(run, answer, (value, end), content(said, (value, end)))?;
                        self.pos = end;
                        self.after_value();
                        return Ok(false);
                    }
                }
            }
            kept = true;
            match next(text, end, &limits) {
                Some((comma, next)) if text.get(next) == Some(&b'"') => (pin, start) = (comma, next),
                _ => {
                    self.pin = None;
                    self.keep_one(kept);
                    self.pos = end;
                    self.expect = Expect::After;
                    self.space = end;
                    if shown {
                        self.path.pop();
                    }
                    return Ok(false);
                }
            }
        }
        if shown {
            self.path.pop();
        }
        self.pin = Some(pin);
        self.keep_one(kept);
        self.pos = start;
        self.space = start;
        self.expect = Expect::Key;
        Ok(true)
    }

    /// Some member or element of the innermost container was kept, if so.
    #[inline]
    fn keep_one(&mut self, kept: bool) {
        if let Some(frame) = self.stack.last_mut() {
            frame.kept |= kept;
        }
    }

    /// The member at `pos`.
    #[inline]
    fn straight_member<J: Judge>(&mut self, run: &mut Run<'_, J>, text: &[u8]) -> Result<Flow, Fault> {
        let start = self.pos;
        let Some(quote) = string::closing(text, start + 1) else { return Ok(Flow::Wait) };
        if quote - start - 1 > self.limits.token {
            return Ok(Flow::Wait);
        }
        self.begin_member();
        self.member(run, run.text(start + 1, quote), (start, quote + 1))?;
        self.pos = quote + 1;
        self.space = self.pos;
        self.expect = Expect::Colon;
        if text.get(self.pos) != Some(&b':') {
            return Ok(Flow::Wait);
        }
        self.colon();
        // Pretty-printed JSON has one space here.
        let value = self.pos + usize::from(text.get(self.pos) == Some(&b' '));
        match text.get(value) {
            Some(&byte) if byte > b' ' => {
                self.pos = value;
                self.straight_value(run, byte)
            }
            _ => Ok(Flow::Wait),
        }
    }

    /// The value at `pos`.
    fn straight_value<J: Judge>(&mut self, run: &mut Run<'_, J>, byte: u8) -> Result<Flow, Fault> {
        let at = self.pos;
        if !run.wants && self.state(run).silent {
            self.keep(run);
            self.expect = Expect::Skip;
            return self.skip(run);
        }
        match byte {
            b'{' => self.open(run, Container::Object),
            b'[' => self.open(run, Container::Array),
            _ => match scalar(run.text, at, &self.limits, true) {
                Some((said, end)) => self.scalar(run, said, (at, end), content(said, (at, end))),
                None => self.value(run, byte),
            },
        }
    }
}
