//! A rule file as a tree in which every key and value knows its place, so that all problems can be told at once.
//!
//! Built straight from the parser's events: deserialising into types stops at the first problem. It promises bounded
//! depth and size (aliases included), unique keys, and one document; it refuses to know what the keys mean.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use super::problem::{Place, Problems, quote};

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// Where it begins.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// Text, number, boolean or nothing.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order written.
    Map(Vec<Entry>),
}

/// A scalar as it was written.
#[derive(Debug, Clone)]
pub(super) struct Scalar {
    /// After escapes.
    pub text: String,
    /// Quoted or block text is text whatever it looks like.
    pub quoted: bool,
    /// The column of the first character of `text`, where the file has it letter by letter on one line.
    pub column: Option<u32>,
}

/// A member of a mapping.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Its key.
    pub key: String,
    /// Where the key stands.
    pub place: Place,
    /// Its value.
    pub value: Node,
}

/// Values and keys of one file, aliases unfolded.
const MOST_NODES: usize = 200_000;
/// The rule language itself needs ten.
const DEEPEST: usize = 48;

/// A container that is still open.
enum Open {
    List { place: Place, anchor: usize, items: Vec<Node> },
    Map { place: Place, anchor: usize, entries: Vec<Entry>, seen: HashMap<String, Place>, key: Option<(String, Place)> },
}

/// Parses one file. `None`: it is not usable, and `problems` says why.
pub(super) fn parse(file: usize, text: &str, problems: &mut Problems<'_>) -> Option<Node> {
    let mut options = granit_parser::options! {
        disallow_directives: true,
        flow_nesting_limit: DEEPEST,
        block_nesting_limit: DEEPEST,
    };
    options.set_emit_comments(false);
    let mut builder = Builder { file, text, problems, open: Vec::new(), anchors: HashMap::new(), nodes: 0, root: None };
    for event in Parser::new_from_str_with_options(text, options) {
        let usable = match event {
            Ok((event, span)) => builder.take(event, span),
            Err(error) => builder.syntax(&error),
        };
        usable?;
    }
    match builder.root {
        Some(Node { value: Value::Map(_), .. }) => builder.root,
        Some(Node { value: Value::Scalar(Scalar { ref text, quoted: false, .. }), place }) if text.is_empty() => {
            builder.empty(place)
        }
        Some(Node { place, .. }) => {
            builder.problems.refuse_with(
                place,
                "a rule file is a mapping with keys such as `version`, `upstreams`, `routes` and `policies`",
                "begin with the line `version: 1`".to_owned(),
            );
            None
        }
        None => builder.empty(Place { file, line: 1, column: 1 }),
    }
}

struct Builder<'t, 'p, 'f> {
    file: usize,
    text: &'t str,
    problems: &'p mut Problems<'f>,
    open: Vec<Open>,
    /// Finished nodes that an alias may name, and how many nodes each counts for.
    anchors: HashMap<usize, (Node, usize)>,
    nodes: usize,
    root: Option<Node>,
}

impl Builder<'_, '_, '_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Option<()> {
        let place = self.place(span);
        if event.tag().is_some() {
            return self.stop(place, "tags (`!…`) are not part of the rule language", "leave the tag away; quote text");
        }
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return self.stop(place, "the file has more than 200000 values", "split it, and use fewer aliases");
        }
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                self.stop(place, "a second document begins here", "one document per file: move it to a file of its own")
            }
            Event::Scalar(text, style, anchor, _) => {
                let quoted = style != ScalarStyle::Plain;
                // The parser spells a value that was left out as `~`.
                let text = if span.is_empty() && !quoted { "".into() } else { text };
                let column = self.column_of(&text, span, quoted);
                self.node(
                    Node { place, value: Value::Scalar(Scalar { text: text.into_owned(), quoted, column }) },
                    anchor,
                )
            }
            Event::SequenceStart(_, anchor, _) => self.enter(Open::List { place, anchor, items: Vec::new() }, place),
            Event::MappingStart(_, anchor, _) => {
                let map = Open::Map { place, anchor, entries: Vec::new(), seen: HashMap::new(), key: None };
                self.enter(map, place)
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List { place, anchor, items }) => {
                    self.node(Node { place, value: Value::List(items) }, anchor)
                }
                Some(Open::Map { place, anchor, entries, .. }) => {
                    self.node(Node { place, value: Value::Map(entries) }, anchor)
                }
                None => Some(()),
            },
            Event::Alias(anchor) => self.alias(anchor, place),
            Event::UnresolvedAlias(name) => {
                let message = format!("there is no anchor {} above", quote(&name));
                self.stop(place, &message, "define it with `&name` first, or quote the text")
            }
            Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(..)
            | Event::DocumentEnd
            | Event::Anchor(..)
            | Event::Comment(..) => Some(()),
            _ => self.stop(place, "this YAML construct is not part of the rule language", "write it more plainly"),
        }
    }

    /// SECURITY: a few lines of nested aliases can stand for gigabytes; each use counts for all that it unfolds to.
    fn alias(&mut self, anchor: usize, place: Place) -> Option<()> {
        let Some((node, weight)) = self.anchors.get(&anchor) else {
            return self.stop(place, "this alias stands inside the value that it names", "write the value out");
        };
        let (mut node, weight) = (node.clone(), *weight);
        // Problems in an unfolded value are shown where it is written; an alias as a whole is shown where it is used.
        node.place = place;
        self.nodes += weight;
        self.node(node, 0)
    }

    fn enter(&mut self, container: Open, place: Place) -> Option<()> {
        if self.open.len() >= DEEPEST {
            return self.stop(place, "values are nested too deeply", "48 levels are the most");
        }
        if let Some(Open::Map { key: None, .. }) = self.open.last() {
            return self.stop(
                place,
                "a key must be a plain text",
                "in flow style quote text that begins with `{` or `[`",
            );
        }
        self.open.push(container);
        Some(())
    }

    /// A finished value: goes where its container expects it.
    fn node(&mut self, node: Node, anchor: usize) -> Option<()> {
        if anchor != 0 {
            let weight = weigh(&node);
            // Keeping a copy costs as much as using it.
            self.nodes += weight;
            self.anchors.insert(anchor, (node.clone(), weight));
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List { items, .. }) => items.push(node),
            Some(Open::Map { entries, seen, key, .. }) => {
                if let Some((key, place)) = key.take() {
                    let mut value = node;
                    if matches!(&value.value, Value::Scalar(scalar) if scalar.text.is_empty() && !scalar.quoted) {
                        // A value that was left out has no place of its own.
                        value.place = place;
                    }
                    entries.push(Entry { key, place, value });
                    return Some(());
                }
                let Value::Scalar(scalar) = node.value else {
                    return self.stop(node.place, "a key must be a plain text", "quote it");
                };
                if let Some(first) = seen.insert(scalar.text.clone(), node.place) {
                    let message = format!("the key {} is written twice", quote(&scalar.text));
                    let hint = format!("the first one is at {}", self.problems.locate(first));
                    self.problems.refuse_with(node.place, message, hint);
                }
                *key = Some((scalar.text, node.place));
            }
        }
        Some(())
    }

    fn syntax(&mut self, error: &ScanError) -> Option<()> {
        let marker = error.marker();
        let place = Place { file: self.file, line: marker.line() as u32, column: marker.col() as u32 + 1 };
        let info = error.info();
        let line = self.text.lines().nth(marker.line().saturating_sub(1)).unwrap_or_default();
        let hint = if line.chars().take(marker.col() + 1).any(|c| c == '\t') {
            "YAML does not indent with tabs: use spaces"
        } else if info.contains("anchor") || info.contains("alias") {
            "text that begins with `*` or `&` must be quoted"
        } else if line.contains(['{', '[']) {
            "quote text that contains any of `[ ] { } , : # * &`: {select: \"$.a[*]\"}"
        } else {
            "look at the indentation and the quotes around here"
        };
        self.stop(place, &format!("this is not YAML: {info}"), hint)
    }

    fn empty(&mut self, place: Place) -> Option<Node> {
        self.problems.refuse_with(
            place,
            "the file is empty",
            "delete it, or begin with the line `version: 1`".to_owned(),
        );
        None
    }

    /// Tells a problem after which the rest of the file cannot be trusted.
    fn stop(&mut self, place: Place, message: &str, hint: &str) -> Option<()> {
        self.problems.refuse_with(place, message, hint.to_owned());
        None
    }

    fn place(&self, span: Span) -> Place {
        Place { file: self.file, line: span.start.line() as u32, column: span.start.col() as u32 + 1 }
    }

    fn column_of(&self, text: &str, span: Span, quoted: bool) -> Option<u32> {
        let written = span.slice(self.text)?;
        let first = span.start.col() as u32 + 1;
        if quoted {
            let inner = written.get(1..written.len().checked_sub(1)?)?;
            return (inner == text).then_some(first + 1);
        }
        (written.trim_end() == text).then_some(first)
    }
}

fn weigh(node: &Node) -> usize {
    match &node.value {
        Value::Scalar(_) => 1,
        Value::List(items) => 1 + items.iter().map(weigh).sum::<usize>(),
        Value::Map(entries) => 1 + entries.iter().map(|entry| 1 + weigh(&entry.value)).sum::<usize>(),
    }
}

#[cfg(test)]
mod tests;
