//! Flying over what nobody wants to see: keys and scalars that no entry selects and at which a glance is enough, and the
//! containers that hold them. It validates, and keeps the stack and the path of open containers; it writes nothing, calls
//! nobody, and halts before anything else.

use crate::content::json::block::Marks;
use crate::content::json::selector::{Cursor, Program, State, StateId};
use crate::content::json::{Container, Edit, Glance, Judge, Limits, Node, Scalar, Show, lexer, string};

use super::engine::{Engine, Expect, Run};
use super::frame::Frame;

/// Where a member or element stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// From where on it goes if it is removed: its comma, or itself.
    pub(super) lead: usize,
    /// Its first byte.
    pub(super) start: usize,
}

/// Before what it came to a halt.
#[derive(Debug, Clone, Copy)]
pub(super) enum Halt {
    /// A member whose value or key is wanted.
    Member {
        step: Step,
        /// The key's closing quote.
        quote: usize,
        value: usize,
        /// Where the name leads, if the key itself is of no interest.
        name: Option<StateId>,
    },
    /// An element that is wanted.
    Element(Step),
    /// A scalar that is to be edited. Its step is in the path.
    Judged {
        step: Step,
        /// What its name or index leads to.
        state: StateId,
        edit: Edit,
        token: (usize, usize),
        /// What splices count from.
        content: (usize, usize),
    },
    /// The bracket of a container that the judge knows, or that misses something.
    Close(usize),
    /// Something that needs patience or a closer look, or is not JSON.
    Odd,
}

impl Glance {
    /// For where nothing is wanted that no entry selects.
    pub(super) const NOTHING: Self = Self { length: usize::MAX, number: usize::MAX, keys: false };
}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A member, an element, or the end.
    First,
    /// A member or element.
    Another,
    /// A comma or the end.
    Separator,
}

/// What is the same for all members or elements of the innermost container.
#[derive(Clone, Copy)]
struct Scope<'a> {
    state: &'a State,
    is_object: bool,
    /// Where members lead whose name no selector writes; where elements lead.
    child: &'a State,
    child_id: StateId,
    each_key: bool,
    each_value: bool,
    /// All that is not passed leads to `child`.
    is_one: bool,
}

impl<'a> Scope<'a> {
    #[inline]
    fn of(frame: &Frame, ground: &Ground<'a>) -> Option<Self> {
        let state = Cursor::tabled(ground.program, frame.state)?;
        let everything = ground.everything || frame.shown;
        let is_object = frame.container == Container::Object;
        let one = if is_object { Some(state.names.other) } else { Cursor::every_element(state) };
        let child_id = one.unwrap_or(0);
        let child = Cursor::tabled(ground.program, child_id)?;
        let each_key = everything || frame.renamed || state.every_key || !child.keys.is_empty();
        let each_value = everything || one.is_none() || !child.scalar.is_empty();
        Some(Self { state, is_object, child, child_id, each_key, each_value, is_one: one.is_some() })
    }
}

/// What it flies over.
struct Ground<'a> {
    bytes: &'a [u8],
    program: &'a Program,
    glance: Glance,
    everything: bool,
    /// [`Limits::token`] and [`Limits::window`].
    token: usize,
    window: usize,
    /// The longest key and value that need no closer look.
    key: usize,
    string: usize,
    number: usize,
}

/// Where it stands.
struct Flight {
    /// Behind what was read.
    at: usize,
    next: Next,
    /// Since where white space is held back.
    space: usize,
    /// Members or elements passed in the innermost container.
    passed: u64,
}

/// A member or element that is not passed.
#[derive(Clone, Copy)]
struct Found {
    step: Step,
    /// The key's closing quote; where the element begins.
    quote: usize,
    value: usize,
    /// Whether the key is of interest.
    key: bool,
}

impl Engine {
    /// Flies on from `pos`, and halts before what somebody wants to see.
    pub(super) fn pass<const PROMISING: bool, J: Judge>(&mut self, run: &mut Run<'_, J>, glance: Glance) -> Halt {
        let next = match self.expect {
            Expect::FirstKey | Expect::FirstElement => Next::First,
            Expect::Key | Expect::Element => Next::Another,
            Expect::After => Next::Separator,
            Expect::Value | Expect::Colon | Expect::Text | Expect::Window | Expect::End => return Halt::Odd,
        };
        let Limits { depth, token, window, .. } = self.limits;
        let ground = Ground {
            bytes: run.text.as_bytes(),
            program: run.program,
            glance,
            everything: run.show == Show::Everything,
            token,
            window,
            key: token.min(glance.length.saturating_sub(1)),
            string: window.min(glance.length.saturating_sub(1)),
            number: token.min(glance.number.saturating_sub(1)),
        };
        let Self { stack, path, names, marks, edits, .. } = self;
        let Some(frame) = stack.last().filter(|frame| !frame.swallow) else { return Halt::Odd };
        let Some(mut scope) = Scope::of(frame, &ground) else { return Halt::Odd };
        let begun = self.pos;
        let mut flight = Flight { at: begun, next, space: self.space.min(begun), passed: 0 };
        let halt = loop {
            let found = if scope.is_object {
                flight.members::<PROMISING, J>(&ground, marks, &scope, run.judge)
            } else {
                flight.elements::<PROMISING>(&ground, marks, &scope)
            };
            let Found { step, quote, value, key } = match found {
                Ok(found) => found,
                // It halted before the end of the container, or what is not one.
                Err(None) => break Halt::Odd,
                Err(Some(at)) => {
                    let Some(frame) = stack.last().filter(|frame| !frame.entered && scope.state.ensures.is_empty())
                    else {
                        break Halt::Close(at);
                    };
                    names.close(frame.mark);
                    stack.pop();
                    flight = Flight { at: at + 1, next: Next::Separator, space: at + 1, passed: 0 };
                    let Some(frame) = stack.last() else { break Halt::Odd };
                    path.pop();
                    match Scope::of(frame, &ground) {
                        Some(outer) => scope = outer,
                        None => break Halt::Odd,
                    }
                    continue;
                }
            };
            let container = match ground.bytes.get(value) {
                Some(b'{') => Some(Container::Object),
                Some(b'[') => Some(Container::Array),
                Some(_) | None => None,
            };
            if let Some(container) = container
                && !key
                && !scope.each_value
                && stack.len() < depth
                && let (&[], slots) = scope.child.as_container(container)
                && let Some(frame) = stack.last_mut()
            {
                if scope.is_object {
                    path.push_name(run.text.get(step.start + 1..quote).unwrap_or_default());
                } else {
                    path.push_index(frame.index + flight.passed);
                }
                frame.index += flight.passed + 1;
                frame.kept = true;
                let frame = Frame::new(scope.child_id, container, names.open(slots));
                stack.push(frame);
                flight = Flight { at: value + 1, next: Next::First, space: value + 1, passed: 0 };
                match Scope::of(&frame, &ground) {
                    Some(inner) => scope = inner,
                    None => break Halt::Odd,
                }
                continue;
            }
            let step = if flight.at == begun && flight.next != Next::Separator {
                Step { lead: self.pin.unwrap_or(step.lead), ..step }
            } else {
                step
            };
            let judged = !key && scope.is_one && (PROMISING || scope.each_value);
            if let Some((said, token, content)) = judged.then(|| scalar(run.text, marks, value, &ground)).flatten() {
                if scope.is_object {
                    path.push_name(run.text.get(step.start + 1..quote).unwrap_or_default());
                } else {
                    path.push_index(stack.last().map_or(0, |frame| frame.index) + flight.passed);
                }
                edits.clear();
                let edit = run.judge.scalar(Node { path, hits: &scope.child.scalar }, said, edits);
                if edit == Edit::Keep {
                    path.pop();
                    flight.go_on(token.1);
                    continue;
                }
                break Halt::Judged { step, state: scope.child_id, edit, token, content };
            }
            break if scope.is_object {
                Halt::Member { step, quote, value, name: (!key).then_some(scope.child_id) }
            } else {
                Halt::Element(step)
            };
        };
        if let Some(frame) = stack.last_mut() {
            frame.index += flight.passed;
            frame.kept |= flight.passed > 0;
        }
        if flight.at != begun {
            let container = stack.last().map(|frame| frame.container);
            (self.pos, self.space, self.pin) = (flight.at, flight.space, None);
            self.expect = match (flight.next, container) {
                (_, None) => Expect::End,
                (Next::First, Some(Container::Object)) => Expect::FirstKey,
                (Next::First, Some(Container::Array)) => Expect::FirstElement,
                (Next::Another, Some(Container::Object)) => Expect::Key,
                (Next::Another, Some(Container::Array)) => Expect::Element,
                (Next::Separator, Some(_)) => Expect::After,
            };
        }
        halt
    }
}

impl Flight {
    /// Passes members. Halts before one that is wanted, before the brace (whose place is the error), or before what is odd.
    // PERF: nothing but locals, in a function of its own so that they stay in registers.
    #[inline(never)]
    fn members<const PROMISING: bool, J: Judge>(
        &mut self,
        ground: &Ground<'_>,
        marks: &mut Marks,
        scope: &Scope<'_>,
        judge: &mut J,
    ) -> Result<Found, Option<usize>> {
        let bytes = ground.bytes;
        let Self { mut at, mut space, mut next, .. } = *self;
        let mut passed_by = 0;
        let result = loop {
            // PERF: several bytes at one look, here and behind the key.
            let step = match ahead(bytes, at) {
                Some([b',', b'"']) if next == Next::Separator => Step { lead: at, start: at + 1 },
                _ => {
                    (self.at, self.space, self.next) = (at, space, next);
                    match self.step(bytes, b'}', ground.token) {
                        Ok((step, b'"')) => step,
                        Ok(_) => break Err(None),
                        Err(end) => break Err(end),
                    }
                }
            };
            let quote = marks.stop(bytes, step.start + 1);
            let Some([b'"', b':', one, two]) = ahead(bytes, quote) else { break Err(None) };
            // Pretty-printed JSON has one space here.
            let (value, first) = if one == b' ' { (quote + 3, two) } else { (quote + 2, one) };
            if first <= b' ' || quote - step.start > ground.token {
                break Err(None);
            }
            let name = bytes.get(step.start + 1..quote).unwrap_or_default();
            let key = scope.each_key
                || PROMISING && (name.len() > ground.key || marks.tells(step.start + 1, quote))
                || Cursor::knows(ground.program, scope.state, name)
                || PROMISING && ground.glance.keys && judge.key_matters(string::as_text(name));
            if key || scope.each_value {
                break Ok(Found { step, quote, value, key });
            }
            let Some(end) = passed::<PROMISING>(ground, marks, value, first) else {
                break Ok(Found { step, quote, value, key });
            };
            passed_by += 1;
            (at, space, next) = (end, end, Next::Separator);
        };
        self.passed += passed_by;
        (self.at, self.space, self.next) = (at, space, next);
        result
    }

    /// The same with elements.
    #[inline(never)]
    fn elements<const PROMISING: bool>(
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
            let Some(end) = passed::<PROMISING>(ground, marks, step.start, first) else { return Ok(found) };
            self.go_on(end);
        }
    }

    #[inline]
    fn go_on(&mut self, end: usize) {
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

/// So many bytes from `at` on, if there are as many.
#[inline(always)]
fn ahead<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// The string or number at `at` as a judge sees it, where it stands, and what splices of it count from. `None`: it needs a
/// closer look, or is something else.
#[inline]
fn scalar<'a>(
    text: &'a str,
    marks: &mut Marks,
    at: usize,
    ground: &Ground<'_>,
) -> Option<(Scalar<'a>, (usize, usize), (usize, usize))> {
    let bytes = text.as_bytes();
    match bytes.get(at)? {
        b'"' => {
            let quote = marks.stop(bytes, at + 1);
            let is_whole = bytes.get(quote) == Some(&b'"') && quote - at - 1 <= ground.window;
            let said = is_whole.then(|| text.get(at + 1..quote)).flatten()?;
            Some((Scalar::String(said), (at, quote + 1), (at + 1, quote)))
        }
        b'-' | b'0'..=b'9' => {
            let end = lexer::plain_number_end(bytes, at).filter(|end| end - at <= ground.token)?;
            Some((Scalar::Number(text.get(at..end)?), (at, end), (at, end)))
        }
        _ => None,
    }
}

/// Where the scalar that begins at `at` ends, if a glance at it is enough.
#[inline(always)]
fn passed<const PROMISING: bool>(ground: &Ground<'_>, marks: &mut Marks, at: usize, first: u8) -> Option<usize> {
    let bytes = ground.bytes;
    match first {
        b'"' => {
            let quote = marks.stop(bytes, at + 1);
            let is_plain = bytes.get(quote) == Some(&b'"')
                && quote - at - 1 <= ground.string
                && !(PROMISING && marks.tells(at + 1, quote));
            is_plain.then_some(quote + 1)
        }
        b'-' | b'0'..=b'9' => lexer::plain_number_end(bytes, at).filter(|end| end - at <= ground.number),
        b't' | b'f' | b'n' => {
            let word = lexer::literal(first)?;
            bytes.get(at..)?.starts_with(word).then_some(at + word.len())
        }
        _ => None,
    }
}
