//! The containers around the value that is being read: their key context, and the rules that reach down from them.

use crate::content::json::Container;
use crate::pii::Context;

/// A container that is open.
#[derive(Debug, Clone, Copy)]
struct Frame {
    /// Where it lies; its children lie one deeper.
    depth: usize,
    container: Container,
    context: Context,
    /// Whether it, or one around it, is removed or replaced.
    gone: bool,
    /// Where its rules start in `reaching`.
    from: usize,
}

/// The open containers, outermost first. Depths, not calls, decide what is open: a skipped subtree leaves no trace.
#[derive(Debug, Default)]
pub(super) struct Frames {
    stack: Vec<Frame>,
    reaching: Vec<u16>,
    /// What stands around the document: nothing, unless it was found in a string.
    around: Around,
}

#[derive(Debug, Default)]
struct Around {
    context: Context,
    gone: bool,
}

impl Frames {
    /// Of a document in a string with this context, which `reaching` (ascending) look into; `gone`: the string is removed
    /// or replaced.
    pub(super) fn inside(context: Context, gone: bool, reaching: Vec<u16>) -> Self {
        Self { stack: Vec::new(), reaching, around: Around { context, gone } }
    }

    /// Closes what a node at `depth` does not lie in.
    pub(super) fn unwind(&mut self, depth: usize) {
        while let Some(frame) = self.stack.pop_if(|frame| frame.depth >= depth) {
            self.reaching.truncate(frame.from);
        }
    }

    /// Opens a container; `reaching` are all rules that reach its children, ascending.
    pub(super) fn open(
        &mut self,
        depth: usize,
        container: Container,
        context: Context,
        gone: bool,
        reaching: impl Iterator<Item = u16>,
    ) {
        let from = self.reaching.len();
        self.reaching.extend(reaching);
        self.stack.push(Frame { depth, container, context, gone, from });
    }

    /// The rules that reach a child of the innermost container, ascending.
    pub(super) fn reaching(&self) -> &[u16] {
        let from = self.stack.last().map_or(0, |frame| frame.from);
        self.reaching.get(from..).unwrap_or(&[])
    }

    /// Whether a child of the innermost container is removed or replaced with it.
    pub(super) fn gone(&self) -> bool {
        self.stack.last().map_or(self.around.gone, |frame| frame.gone)
    }

    /// The innermost container's context.
    pub(super) fn context(&self) -> Context {
        self.stack.last().map_or(self.around.context, |frame| frame.context)
    }

    /// A child's context: a member's comes from its key, an element's is the array's.
    pub(super) fn child_context(&self, of_key: Context) -> Context {
        match self.stack.last() {
            Some(Frame { container: Container::Object, .. }) => of_key,
            Some(Frame { container: Container::Array, context, .. }) => *context,
            None => self.around.context,
        }
    }
}
