//! Where a node lies: a stack of steps that costs one copy of a key per member and is rendered only when someone asks.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// The way from the root to a node. Kept up to date by the engine; rendered only when someone asks.
#[derive(Debug, Clone)]
pub struct Path {
    names: String,
    steps: Vec<Step>,
    next: u64,
}

/// One step of a [`Path`].
#[derive(Debug, Clone, Copy)]
struct Step {
    stamp: u64,
    what: What,
}

#[derive(Debug, Clone, Copy)]
enum What {
    /// A member name: from where to where in `names`.
    Name(usize, usize),
    /// An element's index.
    Index(u64),
}

/// Steps that a path can have stamped before it would meet the stamps of another.
const STAMPS: u64 = 1 << 40;

impl Default for Path {
    fn default() -> Self {
        Self { names: String::new(), steps: Vec::new(), next: fresh_stamps() }
    }
}

/// The first of [`STAMPS`] that no path has.
fn fresh_stamps() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(STAMPS, Ordering::Relaxed)
}

/// One step of a [`Path`], as it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segment<'a> {
    /// A member name, decoded.
    Name(&'a str),
    /// An element's index.
    Index(u64),
}

impl Path {
    /// Becomes another path, that of the root, with room for about `kept` bytes.
    pub(super) fn clear(&mut self, kept: usize) {
        self.names.clear();
        self.steps.clear();
        self.names.shrink_to(kept);
        self.steps.shrink_to(kept / size_of::<Step>());
        self.next = fresh_stamps();
    }

    /// The steps from the root to the node.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = Segment<'_>> {
        (0..self.steps.len()).map(|i| self.segment(i))
    }

    /// How deep the node lies; the root is 0.
    pub fn depth(&self) -> usize {
        self.steps.len()
    }

    /// The step that leads to depth `i + 1`; an empty name where there is none.
    pub fn segment(&self, i: usize) -> Segment<'_> {
        match self.steps.get(i).map(|step| step.what) {
            Some(What::Index(n)) => Segment::Index(n),
            Some(What::Name(start, end)) => Segment::Name(self.names.get(start..end).unwrap_or("")),
            None => Segment::Name(""),
        }
    }

    /// A number that this very step has and no other, of this path or another: while it is the same, all steps up to it are.
    pub fn stamp(&self, i: usize) -> Option<u64> {
        self.steps.get(i).map(|step| step.stamp)
    }

    /// Goes down to a member.
    #[inline]
    pub fn push_name(&mut self, name: &str) {
        let start = self.names.len();
        self.names.push_str(name);
        self.push(What::Name(start, self.names.len()));
    }

    /// Goes down to an element.
    pub fn push_index(&mut self, index: u64) {
        self.push(What::Index(index));
    }

    #[inline]
    fn push(&mut self, what: What) {
        self.steps.push(Step { stamp: self.next, what });
        self.next += 1;
    }

    /// Goes back up one step.
    #[inline]
    pub fn pop(&mut self) {
        if let Some(Step { what: What::Name(start, _), .. }) = self.steps.pop() {
            self.names.truncate(start);
        }
    }
}

/// Renders as RFC 9535 JSONPath with every index templated to `[*]`: `$.users[*].email`.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        for segment in self.segments() {
            match segment {
                Segment::Index(_) => f.write_str("[*]")?,
                Segment::Name(name) if is_shorthand(name) => write!(f, ".{name}")?,
                Segment::Name(name) => {
                    f.write_str("['")?;
                    for c in name.chars() {
                        match c {
                            '\'' | '\\' => write!(f, "\\{c}")?,
                            c if c.is_control() => write!(f, "\\u{:04x}", c as u32)?,
                            c => write!(f, "{c}")?,
                        }
                    }
                    f.write_str("']")?;
                }
            }
        }
        Ok(())
    }
}

fn is_shorthand(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_') && chars.all(|c| c.is_alphanumeric() || c == '_')
}
