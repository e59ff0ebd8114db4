//! The straight road: members and elements that are wholly there and hold no surprise. Promises nothing that the loop in
//! [`engine`](super::engine) does not do as well: wherever something needs patience, it stops before that and leaves it to the
//! loop. What it looks at was found to be UTF-8 at one go.
//!
//! It goes in turns: [`pass`](super::pass) flies over what nobody wants to see, and halts before the next member, element or
//! bracket that somebody does; that one is taken step by step.

use crate::content::json::{Container, Fault, Glance, Judge, Scalar, Show};

use super::engine::{Engine, Expect, Flow, Run};
use super::pass::Halt;

impl Engine {
    /// Reads on from the next member, element, comma or bracket as far as the road is straight.
    pub(super) fn straight<J: Judge>(&mut self, run: &mut Run<'_, J>) -> Result<(), Fault> {
        while self.scanned == 0 && self.cut.is_none() && !self.lead {
            let halt = match run.show {
                Show::Promising(glance) => self.pass::<true, J>(run, glance),
                Show::Selected | Show::Everything => self.pass::<false, J>(run, Glance::NOTHING),
            };
            let flow = match halt {
                Halt::Odd => break,
                Halt::Close(at) => {
                    self.pos = at;
                    self.close(run)?
                }
                Halt::Member { step, quote, value, name } => {
                    self.pin = Some(step.lead);
                    let key = run.text.get(step.start + 1..quote).unwrap_or_default();
                    match name {
                        Some(state) => {
                            self.child = state;
                            self.path.push_name(key);
                        }
                        None => self.member(run, key, (step.start, quote + 1))?,
                    }
                    self.value_at(run, value)?
                }
                Halt::Judged { step, state, edit, token, content } => {
                    self.pin = Some(step.lead);
                    self.child = state;
                    if let Some(frame) = self.stack.last_mut() {
                        // Of an object, nobody asks.
                        frame.index += 1;
                    }
                    self.apply(run, edit, token, content)?;
                    self.pos = token.1;
                    self.after_value();
                    Flow::Go
                }
                Halt::Element(step) => {
                    self.pin = Some(step.lead);
                    self.pos = step.start;
                    self.next_element(run);
                    self.value_at(run, step.start)?
                }
            };
            if flow == Flow::Wait || matches!(self.expect, Expect::Value | Expect::Text | Expect::Window) {
                break;
            }
        }
        Ok(())
    }

    /// Reads the value at `at`, whose step is in the path.
    fn value_at<J: Judge>(&mut self, run: &mut Run<'_, J>, at: usize) -> Result<Flow, Fault> {
        let bytes = run.text.as_bytes();
        (self.pos, self.space, self.expect) = (at, at, Expect::Value);
        let Some(&byte) = bytes.get(at) else { return Ok(Flow::Wait) };
        match byte {
            b'{' => self.open(run, Container::Object),
            b'[' => self.open(run, Container::Array),
            b'"' => match self.marks.stop(bytes, at + 1) {
                quote if bytes.get(quote) == Some(&b'"') && quote - at <= self.limits.window => {
                    let said = run.text.get(at + 1..quote).unwrap_or_default();
                    self.scalar(run, Scalar::String(said), (at, quote + 1), (at + 1, quote))
                }
                _ => self.value(run, byte),
            },
            _ => self.value(run, byte),
        }
    }
}
