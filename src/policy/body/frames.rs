//! The containers around the value that is being read that some rule is about: whether they go, and the rules that reach down
//! from them.

/// A container that is open.
#[derive(Debug, Clone, Copy)]
struct Frame {
    /// Where it lies; its children lie one deeper.
    depth: usize,
    /// Whether it, or one around it, is removed or replaced.
    gone: bool,
    /// Where its rules start in `reaching`.
    from: usize,
}

/// The open containers, outermost first. Depths, not calls, decide what is open: what no rule is about leaves no trace.
#[derive(Debug, Default)]
pub(super) struct Frames {
    stack: Vec<Frame>,
    reaching: Vec<u16>,
    /// Whether the string around the document, if it was found in one, is removed or replaced.
    around_gone: bool,
}

impl Frames {
    /// Of a document in a string that `reaching` (ascending) look into; `gone`: the string is removed or replaced.
    pub(super) fn inside(gone: bool, reaching: Vec<u16>) -> Self {
        Self { stack: Vec::new(), reaching, around_gone: gone }
    }

    /// Closes what a node at `depth` does not lie in.
    pub(super) fn unwind(&mut self, depth: usize) {
        while let Some(frame) = self.stack.pop_if(|frame| frame.depth >= depth) {
            self.reaching.truncate(frame.from);
        }
    }

    /// Opens a container; `reaching` are all rules that reach its children, ascending.
    pub(super) fn open(&mut self, depth: usize, gone: bool, reaching: impl Iterator<Item = u16>) {
        let from = self.reaching.len();
        self.reaching.extend(reaching);
        self.stack.push(Frame { depth, gone, from });
    }

    /// The rules that reach a child of the innermost container, ascending.
    pub(super) fn reaching(&self) -> &[u16] {
        let from = self.stack.last().map_or(0, |frame| frame.from);
        self.reaching.get(from..).unwrap_or(&[])
    }

    /// Whether a child of the innermost container is removed or replaced with it.
    pub(super) fn gone(&self) -> bool {
        self.stack.last().map_or(self.around_gone, |frame| frame.gone)
    }
}
