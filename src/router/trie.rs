//! The tree of path segments for one host.

use super::Map;
use super::pattern::{Pattern, Segment};

/// What the paths up to here lead to, and where they go on.
#[derive(Debug, Default)]
pub(super) struct Node {
    texts: Map<Node>,
    any: Option<Box<Node>>,
    /// Routes for exactly this path.
    here: Claims,
    /// Routes for this path and all below it.
    below: Claims,
}

/// Who takes which method.
#[derive(Debug, Default)]
struct Claims {
    every: Option<usize>,
    methods: Vec<(Box<str>, usize)>,
}

impl Node {
    /// Adds a route; the position of the route that already matches the same requests is the error.
    pub fn add(&mut self, pattern: &Pattern<'_>, methods: &[String], route: usize) -> Result<(), usize> {
        let mut node = self;
        for segment in &pattern.segments {
            node = match segment {
                Segment::Text(text) => node.texts.entry((**text).into()).or_default(),
                Segment::Any => node.any.get_or_insert_default(),
            };
        }
        if pattern.open { node.below.add(methods, route) } else { node.here.add(methods, route) }
    }

    /// The most specific route for a path.
    pub fn find(&self, method: &str, path: &str) -> Option<usize> {
        self.descend(method, Some(path.strip_prefix('/')?))
    }

    /// `rest` is what follows the last slash; `None`: the path ends here.
    ///
    /// INVARIANT: one path meets each node of the tree at most once, so a search that has to turn back costs at most the
    /// size of what the operator wrote, whatever the path.
    fn descend(&self, method: &str, rest: Option<&str>) -> Option<usize> {
        let Some(rest) = rest else {
            return self.here.find(method).or_else(|| self.below.find(method));
        };
        let (segment, rest) = match rest.split_once('/') {
            Some((segment, rest)) => (segment, Some(rest)),
            None => (rest, None),
        };
        let text = self.texts.get(segment).and_then(|node| node.descend(method, rest));
        text.or_else(|| match &self.any {
            Some(node) if !segment.is_empty() => node.descend(method, rest),
            _ => None,
        })
        .or_else(|| self.below.find(method))
    }
}

impl Claims {
    fn add(&mut self, methods: &[String], route: usize) -> Result<(), usize> {
        if let Some(first) = self.every {
            return Err(first);
        }
        if methods.is_empty() {
            if let Some((_, first)) = self.methods.first() {
                return Err(*first);
            }
            self.every = Some(route);
        }
        for method in methods {
            if let Some((_, first)) = self.methods.iter().find(|(taken, _)| **taken == **method) {
                return Err(*first);
            }
            self.methods.push((method.as_str().into(), route));
        }
        Ok(())
    }

    fn find(&self, method: &str) -> Option<usize> {
        self.every.or_else(|| self.methods.iter().find(|(taken, _)| **taken == *method).map(|(_, route)| *route))
    }
}
