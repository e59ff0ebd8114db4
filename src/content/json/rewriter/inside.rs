//! A document inside a string of another one: run as a whole, as any document, and answered with what changed and where
//! instead of with new text, so that the string around it keeps every byte (and escape) that nobody touched. It refuses to
//! know why somebody looks inside.

use std::ops::Range;
use std::sync::LazyLock;

use super::engine::Engine;
use crate::content::json::selector::Program;
use crate::content::json::{
    Container, Edit, Edits, Entry, EntryId, Fault, Judge, KeyEdit, Limits, Long, Node, Path, Scalar, Show,
};

/// Inside a string every selector has been followed already.
static NO_SELECTORS: LazyLock<Program> = LazyLock::new(|| Program::compile(&[]));

/// What changed in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The bytes that go.
    pub range: Range<usize>,
    /// What comes instead.
    pub with: String,
}

/// Judges the document in `text`, a string that lies at `path`, where its nodes are shown to lie, too: its nesting counts
/// on from there. The changes are ascending and do not overlap.
pub fn rewrite_inside<J: Judge>(limits: Limits, judge: &mut J, path: &Path, text: &str) -> Result<Vec<Change>, Fault> {
    let limits = Limits {
        depth: limits.depth.saturating_sub(path.depth()),
        // All of it is at hand: no string in it is long.
        window: text.len(),
        value: text.len(),
        ..limits
    };
    let mut engine = Engine::at_hand(&NO_SELECTORS, limits);
    engine.path.clone_from(path);
    engine.copies = Some(Vec::new());
    let mut out = Vec::new();
    let result = engine.run(&NO_SELECTORS, judge, text.as_bytes(), text.len(), true, &mut out);
    engine.settle(text.as_bytes(), &mut out);
    let copies = engine.copies.take().unwrap_or_default();
    engine.put_by();
    result.map(|()| between(&copies, text.len(), &out))
}

/// What lies between stretches that were copied, each with where it was written.
fn between(copies: &[(Range<usize>, usize)], length: usize, out: &[u8]) -> Vec<Change> {
    let mut changes = Vec::new();
    let (mut read, mut written) = (0, 0);
    for (range, at) in copies.iter().cloned().chain([(length..length, out.len())]) {
        if range.start > read || at > written {
            let with = out.get(written..at).unwrap_or_default();
            // INVARIANT: text was read, and the judge's answers are text.
            changes.push(Change { range: read..range.start, with: String::from_utf8_lossy(with).into_owned() });
        }
        (read, written) = (range.end, at + range.len());
    }
    changes
}

/// Whether the text is a JSON document, however deep.
pub fn is_document(text: &str) -> bool {
    let limits = Limits { depth: usize::MAX, token: text.len(), window: text.len(), value: text.len() };
    super::rewrite_whole(&NO_SELECTORS, limits, &mut Nobody, text.as_bytes()).is_ok()
}

/// Whether the text is a JSON object or array, however deep.
pub fn is_container(text: &str) -> bool {
    text.trim_ascii_start().starts_with(['{', '[']) && is_document(text)
}

/// Wants to see nothing: the document is only read.
struct Nobody;

impl Judge for Nobody {
    fn show(&self) -> Show {
        Show::Selected
    }
    fn key(&mut self, _: Node<'_>, _: &str, _: &mut Edits) -> KeyEdit {
        KeyEdit::Keep
    }
    fn scalar(&mut self, _: Node<'_>, _: Scalar<'_>, _: &mut Edits) -> Edit {
        Edit::Keep
    }
    fn enter(&mut self, _: Node<'_>, _: Container, _: &mut Edits) -> Entry {
        Entry::Enter
    }
    fn leave(&mut self, _: &Path, _: &[EntryId], _: &mut Edits) {}
    fn long_string(&mut self, _: Node<'_>, _: &mut Edits) -> Long {
        Long::Pass
    }
    fn window(&mut self, _: Node<'_>, text: &str, _: usize, _: bool, _: &mut Edits) -> Option<usize> {
        Some(text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::json::{Splice, rewrite_whole};

    /// Removes `null`, doubles numbers, cuts `x` out of strings and upper-cases keys that hold one.
    struct Editor {
        below: &'static str,
    }

    impl Judge for Editor {
        fn key(&mut self, _: Node<'_>, key: &str, edits: &mut Edits) -> KeyEdit {
            edits.text.push_str(&key.to_uppercase());
            if key.contains('x') { KeyEdit::Rename } else { KeyEdit::Keep }
        }
        fn scalar(&mut self, node: Node<'_>, value: Scalar<'_>, edits: &mut Edits) -> Edit {
            assert!(node.path.to_string().starts_with(self.below), "{}", node.path);
            match value {
                Scalar::Null => Edit::Remove,
                Scalar::Number(lexeme) => {
                    edits.json.extend_from_slice(lexeme.repeat(2).as_bytes());
                    Edit::Replace
                }
                Scalar::String(text) => {
                    let splices = text.match_indices('x').map(|(at, _)| Splice { range: at..at + 1, with: 0..0 });
                    edits.splices.extend(splices);
                    Edit::Splice
                }
                Scalar::Bool(_) => Edit::Keep,
            }
        }
        fn enter(&mut self, _: Node<'_>, _: Container, _: &mut Edits) -> Entry {
            Entry::Enter
        }
        fn leave(&mut self, _: &Path, _: &[EntryId], _: &mut Edits) {}
        fn long_string(&mut self, _: Node<'_>, _: &mut Edits) -> Long {
            Long::Stop
        }
        fn window(&mut self, _: Node<'_>, _: &str, _: usize, _: bool, _: &mut Edits) -> Option<usize> {
            None
        }
    }

    fn check(text: &str, expected: &[(&str, &str)]) {
        let mut path = Path::default();
        path.push_name("outer");
        let changes = rewrite_inside(Limits::default(), &mut Editor { below: "$.outer" }, &path, text).unwrap();
        let found: Vec<_> = changes.iter().map(|it| (text.get(it.range.clone()).unwrap(), it.with.as_str())).collect();
        assert_eq!(found, expected, "{text}");
        let mut out = text.to_owned();
        for change in changes.iter().rev() {
            out.replace_range(change.range.clone(), &change.with);
        }
        let mut judge = Editor { below: "$" };
        let whole = rewrite_whole(&NO_SELECTORS, Limits::default(), &mut judge, text.as_bytes()).unwrap();
        assert_eq!(out.as_bytes(), whole.as_deref().unwrap_or(text.as_bytes()), "as a body of its own");
    }

    #[test]
    fn tells_what_changes_and_nothing_else() {
        check("true", &[]);
        check(r#" {"a" : "\u00e9" } "#, &[]);
        check(r#"{"a":"\u00e9x\/xy"}"#, &[("x", ""), ("x", "")]);
        check("[1, null,true,null ]", &[("1, null", "11"), (",null", "")]);
        check(r#"{"n":null , "x":"x","t":true}"#, &[(r#""n":null , "x""#, r#""X""#), ("x", "")]);
        check("7", &[("7", "77")]);
        check("null", &[("null", "null")]);
    }

    #[test]
    fn nesting_counts_on() {
        let mut path = Path::default();
        (0..3).for_each(|index| path.push_index(index));
        let limits = Limits { depth: 5, ..Limits::default() };
        let mut judge = Nobody;
        assert_eq!(rewrite_inside(limits, &mut judge, &path, "[[]]"), Ok(vec![]));
        let deep = rewrite_inside(limits, &mut judge, &path, "[[[]]]");
        assert!(matches!(deep, Err(Fault::Malformed { .. })), "{deep:?}");
    }

    #[test]
    fn knows_a_document() {
        assert!(
            is_document("1")
                && is_document(" {} ")
                && is_document(&format!("{}{}", "[".repeat(9999), "]".repeat(9999)))
        );
        assert!(!is_document("") && !is_document("x") && !is_document("{}{}") && !is_document(r#"{"a":"\ud800"}"#));
        assert!(is_container(" [1]") && !is_container("1") && !is_container("{x}") && !is_container("[info] started"));
    }
}
