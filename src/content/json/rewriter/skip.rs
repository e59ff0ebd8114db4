//! What no selector reaches and no detector wants: a loop that validates and does nothing else.

use crate::content::json::string::{self, Scan};
use crate::content::json::{Fault, Judge, lexer};

use super::ends::Found;
use super::engine::{Engine, Expect, Flow, Run};

/// Where the loop stands inside the skipped value.
#[derive(Debug, Default)]
pub(super) struct Skip {
    /// Whether each open container is an object.
    objects: Vec<bool>,
    next: Next,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Next {
    #[default]
    Value,
    FirstElement,
    FirstKey,
    Key,
    /// The rest of a key.
    KeyText,
    Colon,
    /// The rest of a string.
    Text,
    After,
}

impl Engine {
    /// Skips the value at `pos`, or the rest of it.
    pub(super) fn skip<J: Judge>(&mut self, run: &mut Run<'_, J>) -> Result<Flow, Fault> {
        let input = run.input;
        loop {
            self.skip_plain(run.text.as_bytes());
            if let Next::Text | Next::KeyText = self.skip.next {
                match string::scan(input, self.pos, &mut false).map_err(|flaw| self.flawed(flaw))? {
                    Scan::End(quote) => self.pos = quote + 1,
                    Scan::More(safe) => {
                        self.pos = safe;
                        return Ok(Flow::Wait);
                    }
                }
                self.skip.next = if self.skip.next == Next::Text { Next::After } else { Next::Colon };
            }
            if self.skip.next == Next::After && self.skip.objects.is_empty() {
                self.skip.next = Next::Value;
                self.skipped();
                return Ok(Flow::Go);
            }
            self.pos = lexer::space_end(input, self.pos);
            let Some(&byte) = input.get(self.pos) else { return Ok(Flow::Wait) };
            let in_object = self.skip.objects.last().copied();
            self.skip.next = match (self.skip.next, byte) {
                (Next::Value | Next::FirstElement, b'"') => Next::Text,
                (Next::Key | Next::FirstKey, b'"') => Next::KeyText,
                (Next::Value | Next::FirstElement, b'{' | b'[') => {
                    if self.stack.len() + self.skip.objects.len() >= self.limits.depth {
                        return Err(self.malformed(self.pos, "nested too deeply"));
                    }
                    self.skip.objects.push(byte == b'{');
                    if byte == b'{' { Next::FirstKey } else { Next::FirstElement }
                }
                (Next::After, b',') => {
                    if in_object == Some(true) {
                        Next::Key
                    } else {
                        Next::Value
                    }
                }
                (Next::Colon, b':') => Next::Value,
                (Next::After | Next::FirstKey, b'}') if in_object == Some(true) => self.close_skipped(),
                (Next::After | Next::FirstElement, b']') if in_object == Some(false) => self.close_skipped(),
                (Next::Value | Next::FirstElement, _) => {
                    let found = match byte {
                        b'-' | b'0'..=b'9' => self.number_end(run)?,
                        _ => self.literal_end(run, byte)?,
                    };
                    let Found::End(end) = found else { return Ok(Flow::Wait) };
                    self.pos = end;
                    self.skip.next = Next::After;
                    continue;
                }
                _ => return Err(self.malformed(self.pos, "unexpected byte")),
            };
            self.pos += 1;
        }
    }

    /// Skips what is wholly there and holds no surprise, in text that was found to be UTF-8 at one go.
    // PERF: with nothing but locals in the loop, 16 instructions per byte of customer records became 12.
    fn skip_plain(&mut self, text: &[u8]) {
        if self.scanned != 0 || matches!(self.skip.next, Next::Text | Next::KeyText) {
            return;
        }
        let outside = self.limits.depth.saturating_sub(self.stack.len());
        let objects = &mut self.skip.objects;
        let mut next = self.skip.next;
        let mut at = self.pos;
        // Where what comes next is not plain, `at` and `next` still stand before it.
        loop {
            if next == Next::After {
                let Some(&in_object) = objects.last() else { break };
                at = lexer::space_end(text, at);
                match text.get(at) {
                    Some(b',') => next = if in_object { Next::Key } else { Next::Value },
                    Some(b'}') if in_object => drop(objects.pop()),
                    Some(b']') if !in_object => drop(objects.pop()),
                    _ => break,
                }
                at += 1;
                continue;
            }
            at = lexer::space_end(text, at);
            if let Next::Key | Next::FirstKey = next
                && text.get(at) == Some(&b'"')
            {
                let Some(quote) = string::closing(text, at + 1) else { break };
                if text.get(quote + 1) != Some(&b':') {
                    break;
                }
                at = lexer::space_end(text, quote + 2);
                next = Next::Value;
            }
            match (next, text.get(at)) {
                (Next::Value | Next::FirstElement, Some(b'"')) => {
                    let Some(quote) = string::closing(text, at + 1) else { break };
                    at = quote + 1;
                    next = Next::After;
                }
                (Next::Value | Next::FirstElement, Some(b'-' | b'0'..=b'9')) => {
                    let Some(end) = lexer::plain_number_end(text, at).filter(|end| end - at <= self.limits.token)
                    else {
                        break;
                    };
                    at = end;
                    next = Next::After;
                }
                (Next::Value | Next::FirstElement, Some(&byte @ (b'{' | b'['))) if objects.len() < outside => {
                    objects.push(byte == b'{');
                    next = if byte == b'{' { Next::FirstKey } else { Next::FirstElement };
                    at += 1;
                }
                (Next::FirstKey, Some(b'}')) | (Next::FirstElement, Some(b']')) => {
                    objects.pop();
                    next = Next::After;
                    at += 1;
                }
                (Next::Value | Next::FirstElement, Some(&byte)) => {
                    let Some(word) = lexer::literal(byte) else { break };
                    if !text.get(at..).is_some_and(|rest| rest.starts_with(word)) {
                        break;
                    }
                    at += word.len();
                    next = Next::After;
                }
                _ => break,
            }
        }
        self.skip.next = next;
        self.pos = at;
    }

    fn close_skipped(&mut self) -> Next {
        self.skip.objects.pop();
        Next::After
    }

    /// The skipped value has ended. It had no step of its own in the path.
    fn skipped(&mut self) {
        self.space = self.pos;
        self.expect = if self.stack.is_empty() { Expect::End } else { Expect::After };
    }
}
