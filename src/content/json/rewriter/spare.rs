//! The engine that one body leaves to the next on the same thread: for a short body, making one costs more than running it.
//! What a body left in it is forgotten before the next begins, and what grew large is given back.

use std::cell::Cell;

use crate::content::json::selector::{Cursor, Program};
use crate::content::json::{Limits, Splice};

use super::engine::{Engine, Expect};
use super::long::Window;

thread_local! {
    static SPARE: Cell<Option<Box<Engine>>> = const { Cell::new(None) };
}

/// Bytes of a buffer that are kept.
const KEPT: usize = 4096;

impl Engine {
    /// One at the start of a body.
    pub(super) fn at_hand(program: &Program, limits: Limits) -> Box<Self> {
        match SPARE.try_with(Cell::take).ok().flatten() {
            Some(mut engine) => {
                engine.renew(program, limits);
                engine
            }
            None => Box::new(Self::new(program, limits)),
        }
    }

    /// Leaves it to the next body.
    pub(super) fn put_by(mut self: Box<Self>) {
        // Stack, path and list of entries are bounded by the limits and the rules.
        self.names.shrink();
        self.edits.json.shrink_to(KEPT);
        self.edits.text.shrink_to(KEPT);
        self.edits.splices.shrink_to(KEPT / size_of::<Splice>());
        self.new_key.shrink_to(KEPT);
        self.scratch.shrink_to(KEPT);
        // A thread that ends keeps nothing.
        let _ended = SPARE.try_with(|spare| spare.set(Some(self)));
    }

    /// Becomes what [`Engine::new`] makes, but for the room it has.
    fn renew(&mut self, program: &Program, limits: Limits) {
        // Every field is named, so that none is forgotten.
        let Self {
            limits: bounds,
            base,
            pos,
            copied,
            pin,
            space,
            scanned,
            escaped,
            string_limit,
            expect,
            stack,
            names,
            cursor,
            child,
            path,
            matters,
            edits,
            changed,
            rename,
            new_key,
            cut,
            lead,
            scratch,
            missing,
            window,
            marks,
            copies,
        } = self;
        (*bounds, *string_limit, *expect) = (limits, limits.window, Expect::Value);
        (*base, *pos, *copied, *space, *scanned) = (0, 0, 0, 0, 0);
        (*escaped, *matters, *changed, *lead) = (false, false, false, false);
        (*pin, *rename, *cut, *copies) = (None, None, None, None);
        (*cursor, *window) = (Cursor::default(), Window::default());
        *child = cursor.start(program);
        stack.clear();
        names.clear();
        path.clear(KEPT);
        edits.clear();
        new_key.clear();
        scratch.clear();
        missing.clear();
        marks.forget(false);
    }
}
