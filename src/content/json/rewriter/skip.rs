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
