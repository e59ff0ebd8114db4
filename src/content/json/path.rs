//! Where a node lies: a stack of steps that costs one copy of a key per member and is rendered only when someone asks.

use std::fmt;

/// The way from the root to a node. Kept up to date by the engine; rendered only when someone asks.
#[derive(Debug, Default, Clone)]
pub struct Path {
    names: String,
    steps: Vec<Step>,
}

/// One step of a [`Path`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// A member name: where it starts in `names`.
    Name(usize),
    /// An element's index.
    Index(u64),
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
    /// The steps from the root to the node.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = Segment<'_>> {
        (0..self.steps.len()).map(|i| self.segment(i))
    }

    /// How deep the node lies; the root is 0.
    pub fn depth(&self) -> usize {
        self.steps.len()
    }

    fn segment(&self, i: usize) -> Segment<'_> {
        match self.steps.get(i) {
            Some(Step::Index(n)) => Segment::Index(*n),
            Some(Step::Name(start)) => {
                let end = self.steps.iter().skip(i + 1).find_map(|s| match s {
                    Step::Name(at) => Some(*at),
                    Step::Index(_) => None,
                });
                Segment::Name(self.names.get(*start..end.unwrap_or(self.names.len())).unwrap_or(""))
            }
            None => Segment::Name(""),
        }
    }

    /// Goes down to a member.
    #[inline]
    pub fn push_name(&mut self, name: &str) {
        self.steps.push(Step::Name(self.names.len()));
        self.names.push_str(name);
    }

    /// Goes aside to another member of the same object.
    #[inline]
    pub(super) fn rename_last(&mut self, name: &str) {
        if let Some(Step::Name(start)) = self.steps.last() {
            self.names.truncate(*start);
            self.names.push_str(name);
        }
    }

    /// Goes down to an element.
    pub fn push_index(&mut self, index: u64) {
        self.steps.push(Step::Index(index));
    }

    /// Goes back up one step.
    #[inline]
    pub fn pop(&mut self) {
        if let Some(Step::Name(start)) = self.steps.pop() {
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
