//! What the key path says about a value, made when somebody asks and remembered as long as the way there is the same.

use crate::content::json::{Path, Segment};
use crate::pii::{Context, Customs};

/// The contexts on the way to the node that was asked about last.
#[derive(Debug, Default)]
pub struct Contexts {
    /// By depth, from 1: the step's stamp, and the context below it.
    way: Vec<(u64, Context)>,
}

impl Contexts {
    /// The context of the node that the first `depth` steps of `path` lead to.
    // PERF: the members of an object share all but the last step.
    pub fn at(&mut self, path: &Path, depth: usize, customs: &Customs) -> Context {
        let mut known = depth.min(self.way.len());
        while known > 0 && self.way.get(known - 1).map(|(stamp, _)| *stamp) != path.stamp(known - 1) {
            known -= 1;
        }
        self.way.truncate(known);
        for step in known..depth {
            let above = self.way.last().map_or_else(Context::default, |(_, context)| *context);
            let context = match path.segment(step) {
                Segment::Name(name) => customs.under(above, name),
                Segment::Index(_) => above,
            };
            self.way.push((path.stamp(step).unwrap_or(u64::MAX), context));
        }
        self.way.last().map_or_else(Context::default, |(_, context)| *context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembering_changes_nothing() {
        let (mut contexts, none) = (Contexts::default(), Customs::default());
        let mut check = |path: &Path| {
            for depth in (0..=path.depth()).rev().chain(0..=path.depth()) {
                assert_eq!(contexts.at(path, depth, &none), Contexts::default().at(path, depth, &none));
            }
        };
        for names in [["card", "number"], ["order", "number"]] {
            let mut path = Path::default();
            check(&path);
            path.push_name(names[0]);
            check(&path);
            for index in 0..2 {
                path.push_index(index);
                for name in [names[1], "email", names[1]] {
                    path.push_name(name);
                    check(&path);
                    path.pop();
                }
                check(&path);
                path.pop();
            }
        }
    }
}
