//! The loops that pass members and elements. They validate what they pass, look at bytes and tables, and touch nothing else.

use crate::content::json::block::Marks;
use crate::content::json::selector::Cursor;
use crate::content::json::{Container, Judge, Scalar, lexer, string};

use super::engine::Expect;
use super::ground::{Ground, Scope};

/// Where a member or element stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// From where on it goes if it is removed: its comma, or itself.
    pub(super) lead: usize,
    /// Its first byte.
    pub(super) start: usize,
}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// A member, an element, or the end.
    First,
    /// A member or element.
    Another,
    /// A comma or the end.
    Separator,
}

impl Next {
    fn of(expect: Expect) -> Option<Self> {
        match expect {
            Expect::FirstKey | Expect::FirstElement => Some(Self::First),
            Expect::Key | Expect::Element => Some(Self::Another),
            Expect::After => Some(Self::Separator),
            Expect::Value | Expect::Colon | Expect::Text | Expect::Window | Expect::End => None,
        }
    }

    /// The same for the loop, in such a container.
    pub(super) fn expect(self, container: Option<Container>) -> Expect {
        match (self, container) {
            (_, None) => Expect::End,
            (Self::First, Some(Container::Object)) => Expect::FirstKey,
            (Self::First, Some(Container::Array)) => Expect::FirstElement,
            (Self::Another, Some(Container::Object)) => Expect::Key,
            (Self::Another, Some(Container::Array)) => Expect::Element,
            (Self::Separator, Some(_)) => Expect::After,
        }
    }
}

/// Where it stands.
pub(super) struct Flight {
    /// Behind what was read.
    pub(super) at: usize,
    pub(super) next: Next,
    /// Since where white space is held back.
    pub(super) space: usize,
    /// Members or elements passed in the innermost container.
    pub(super) passed: u64,
}

/// A member or element that is not passed.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub(super) step: Step,
    /// The key's closing quote; where the element begins.
    pub(super) quote: usize,
    pub(super) value: usize,
    /// Whether the key is of interest.
    pub(super) key: bool,
}

impl Flight {
    /// From where the engine stands. `None`: that is not before a member, an element or a separator.
    pub(super) fn of(expect: Expect, at: usize, space: usize) -> Option<Self> {
        Next::of(expect).map(|next| Self { at, next, space: space.min(at), passed: 0 })
    }

    /// Behind a bracket.
    pub(super) const fn behind(bracket: usize, next: Next) -> Self {
        Self { at: bracket + 1, next, space: bracket + 1, passed: 0 }
    }

    /// Passes members. Halts before one that is wanted, before the brace (whose place is the error), or before what is odd.
    // PERF: nothing but locals, in a function of its own so that they stay in registers; `let … else` where `?` in a closure
    // would make flags of what are two jumps.
    #[inline(never)]
    pub(super) fn members<const PROMISING: bool, J: Judge>(
        &mut self,
        ground: &Ground<'_>,
        marks: &mut Marks,
        scope: &Scope<'_>,
        judge: &mut J,
    ) -> Result<Found, Option<usize>> {
        let bytes = ground.bytes;
        let begun = self.at;
        let mut at = begun;
        let mut step = self.brace_or_step(bytes, ground.token)?;
        let result = loop {
            let quote = marks.stop(bytes, step.start + 1);
            let Some(behind) = ahead(bytes, quote).map(u32::from_le_bytes) else { break Err(None) };
            // Pretty-printed JSON has one space behind the colon.
            let [_, _, one, two] = behind.to_le_bytes();
            let (value, first) = if one == b' ' { (quote + 3, two) } else { (quote + 2, one) };
            if behind as u16 != u16::from_le_bytes(*b"\":") || first <= b' ' || quote - step.start > ground.token {
                break Err(None);
            }
            let length = quote - step.start - 1;
            let key = scope.each_key
                || PROMISING && (length > ground.key || marks.tells(step.start + 1, quote))
                || scope.state.names.may_know(length)
                    && Cursor::knows(ground.program, scope.state, name(bytes, step, quote))
                || PROMISING && ground.glance.keys && judge.key_matters(string::as_text(name(bytes, step, quote)));
            if key || scope.each_value {
                break Ok(Found { step, quote, value, key });
            }
            let end = match passed::<PROMISING>(ground, marks, value, first) {
                Some(end) => end,
                None => match scope.skipped::<PROMISING>(ground, marks, value, first) {
                    Some(end) => end,
                    None => break Ok(Found { step, quote, value, key }),
                },
            };
            at = end;
            step = match ahead(bytes, end) {
                Some(next) if next == *b",\"" => Step { lead: end, start: end + 1 },
                Some(_) | None => {
                    (self.at, self.space, self.next) = (end, end, Next::Separator);
                    match self.brace_or_step(bytes, ground.token) {
                        Ok(step) => step,
                        Err(end) => break Err(end),
                    }
                }
            };
        };
        if at != begun {
            // How many they were, nobody asks of an object.
            self.passed += 1;
            (self.at, self.space, self.next) = (at, at, Next::Separator);
        }
        result
    }

    fn brace_or_step(&self, bytes: &[u8], token: usize) -> Result<Step, Option<usize>> {
        match self.step(bytes, b'}', token)? {
            (step, b'"') => Ok(step),
            _ => Err(None),
        }
    }

    /// The same with elements.
    #[inline(never)]
    pub(super) fn elements<const PROMISING: bool>(
        &mut self,
        ground: &Ground<'_>,
        marks: &mut Marks,
        scope: &Scope<'_>,
    ) -> Result<Found, Option<usize>> {
        loop {
            let (step, first) = self.step(ground.bytes, b']', ground.token)?;
            let found = Found { step, quote: step.start, value: step.start, key: false };
            if scope.each_value {
                return Ok(found);
            }
            let passed = passed::<PROMISING>(ground, marks, step.start, first)
                .or_else(|| scope.skipped::<PROMISING>(ground, marks, step.start, first));
            let Some(end) = passed else { return Ok(found) };
            self.go_on(end);
        }
    }

    #[inline]
    pub(super) fn go_on(&mut self, end: usize) {
        self.passed += 1;
        (self.at, self.space, self.next) = (end, end, Next::Separator);
    }

    /// Where the next member or element stands, with its first byte.
    #[inline]
    fn step(&self, bytes: &[u8], closing: u8, token: usize) -> Result<(Step, u8), Option<usize>> {
        let lead = lexer::space_end(bytes, self.at);
        let mut start = lead;
        let byte = match bytes.get(lead) {
            Some(b',') if self.next == Next::Separator => {
                start = lexer::space_end(bytes, lead + 1);
                *bytes.get(start).filter(|byte| **byte != closing).ok_or(None)?
            }
            Some(&byte) if byte == closing && self.next != Next::Another => return Err(Some(lead)),
            Some(&byte) if self.next != Next::Separator => byte,
            Some(_) | None => return Err(None),
        };
        // White space is held back as long as what follows may still be removed.
        if start - self.space > token { Err(None) } else { Ok((Step { lead, start }, byte)) }
    }
}

/// The key that begins at a step.
fn name(bytes: &[u8], step: Step, quote: usize) -> &[u8] {
    bytes.get(step.start + 1..quote).unwrap_or_default()
}

/// So many bytes from `at` on, if there are as many.
#[expect(clippy::inline_always, reason = "PERF: in the loop its parts are shared with what is around it")]
#[inline(always)]
pub(super) fn ahead<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    match bytes.get(at..) {
        Some(rest) => rest.first_chunk().copied(),
        None => None,
    }
}

/// A string or number as a judge sees it.
pub(super) struct Said<'a> {
    pub(super) scalar: Scalar<'a>,
    /// Where it stands.
    pub(super) token: (usize, usize),
    /// What splices of it count from.
    pub(super) content: (usize, usize),
}

/// The string or number at `at`. `None`: it needs a closer look, or is something else.
#[inline]
pub(super) fn said<'a>(text: &'a str, marks: &mut Marks, at: usize, ground: &Ground<'_>) -> Option<Said<'a>> {
    let bytes = text.as_bytes();
    match bytes.get(at)? {
        b'"' => {
            let quote = marks.stop(bytes, at + 1);
            let is_whole = bytes.get(quote) == Some(&b'"') && quote - at - 1 <= ground.window;
            let scalar = Scalar::String(text.get(at + 1..quote).filter(|_| is_whole)?);
            Some(Said { scalar, token: (at, quote + 1), content: (at + 1, quote) })
        }
        b'-' | b'0'..=b'9' => {
            let (end, _) = lexer::whole_number(bytes, at).filter(|(end, _)| end - at <= ground.token)?;
            Some(Said { scalar: Scalar::Number(text.get(at..end)?), token: (at, end), content: (at, end) })
        }
        _ => None,
    }
}

/// Where the scalar that begins at `at` ends, if a glance at it is enough.
#[expect(clippy::inline_always, reason = "PERF: in the loop its parts are shared with what is around it")]
#[inline(always)]
pub(super) fn passed<const PROMISING: bool>(
    ground: &Ground<'_>,
    marks: &mut Marks,
    at: usize,
    first: u8,
) -> Option<usize> {
    let bytes = ground.bytes;
    match first {
        b'"' => {
            let quote = marks.stop(bytes, at + 1);
            let is_plain = bytes.get(quote) == Some(&b'"')
                && quote - at - 1 <= ground.string
                && !(PROMISING && marks.tells(at + 1, quote));
            is_plain.then_some(quote + 1)
        }
        b'-' | b'0'..=b'9' => {
            let (end, has_exponent) = lexer::whole_number(bytes, at)?;
            // A short one with an exponent may be a long one.
            (end - at <= ground.number && !(PROMISING && has_exponent)).then_some(end)
        }
        b't' | b'f' | b'n' => {
            let word = lexer::literal(first)?;
            bytes.get(at..)?.starts_with(word).then_some(at + word.len())
        }
        _ => None,
    }
}
