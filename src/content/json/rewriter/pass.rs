//! Flying over what nobody wants to see: keys and scalars that no entry selects and at which a glance is enough, and the
//! containers that hold them. It keeps the stack and the path of open containers, and shows what is worth a closer look; it
//! writes nothing, and halts before whatever is to be edited or needs the loop.

use crate::content::json::selector::StateId;
use crate::content::json::{Container, Edit, Glance, Judge, Node};

use super::engine::{Engine, Run};
use super::flight::{Flight, Found, Next, Said, Step, said};
use super::frame::Frame;
use super::ground::{Ground, Scope};

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

impl Engine {
    /// Flies on from `pos`, and halts before what somebody wants to see.
    pub(super) fn pass<const PROMISING: bool, J: Judge>(&mut self, run: &mut Run<'_, J>, glance: Glance) -> Halt {
        let ground = Ground::of(run, self.limits, glance);
        let begun = self.pos;
        let Some(mut flight) = Flight::of(self.expect, begun, self.space) else { return Halt::Odd };
        let Self { stack, path, names, marks, edits, base, .. } = self;
        if stack.last().is_none_or(|frame| frame.swallow) {
            return Halt::Odd;
        }
        let Some(mut scope) = Scope::of(stack, &ground) else { return Halt::Odd };
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
                    flight = Flight::behind(at, Next::Separator);
                    if stack.is_empty() {
                        break Halt::Odd;
                    }
                    path.pop();
                    match Scope::of(stack, &ground) {
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
                && stack.len() < self.limits.depth
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
                stack.push(Frame::new(scope.child_id, container, names.open(slots)));
                flight = Flight::behind(value, Next::First);
                match Scope::of(stack, &ground) {
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
            if let Some(said) = judged.then(|| said(run.text, marks, value, &ground)).flatten() {
                let Said { scalar, token, content } = said;
                if scope.is_object {
                    path.push_name(run.text.get(step.start + 1..quote).unwrap_or_default());
                } else {
                    path.push_index(stack.last().map_or(0, |frame| frame.index) + flight.passed);
                }
                edits.clear();
                let written = run.written(*base, content);
                let node = Node { path, hits: &scope.child.scalar, written };
                let edit = run.judge.scalar(node, scalar, edits);
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
            self.expect = flight.next.expect(container);
        }
        halt
    }
}
