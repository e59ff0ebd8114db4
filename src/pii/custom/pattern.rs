//! Patterns of custom detectors: regular expressions in the syntax of the crate `regex`, with ASCII classes and bounded
//! matches. It promises that a pattern that is accepted costs linear time and bounded memory, and that one that is refused
//! says where and why.

use std::ops::Range;

use regex::{Regex, RegexBuilder};
use regex_syntax::ast::{self, Ast, ClassPerlKind, ClassSetItem, ErrorKind};

/// Longest pattern, in bytes.
pub const LONGEST_PATTERN: usize = 1024;
/// Longest match, in bytes: so much of a stream is held back until it is clear whether a match begins there.
pub const LONGEST_MATCH: usize = 1024;

/// How much a compiled pattern may take, in bytes.
const PROGRAM_LIMIT: usize = 256 * 1024;
/// How much each of its automata, which are made as texts ask for them, may take, in bytes and per thread.
const CACHE_LIMIT: usize = 1024 * 1024;
/// How deep its groups may nest.
const NEST_LIMIT: u32 = 32;

/// A pattern that was accepted.
#[derive(Debug, Clone)]
pub struct Pattern {
    regex: Regex,
    /// The shortest match, in bytes; at least 1.
    pub(super) shortest: usize,
    /// The longest match, in bytes.
    pub(super) longest: usize,
    /// The anchor that it cannot match inside of a text for, if it has one.
    pub anchor: Option<&'static str>,
}

/// Why a pattern was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError {
    /// The character of the pattern that is to blame, from 0; none: all of it.
    pub at: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub hint: Option<&'static str>,
}

impl Pattern {
    /// Compiles `text`. A match neither begins nor ends in the middle of an ASCII word.
    pub fn new(text: &str) -> Result<Self, PatternError> {
        if text.len() > LONGEST_PATTERN {
            let message = format!("the pattern is {} bytes long, at most {LONGEST_PATTERN} are allowed", text.len());
            return Err(PatternError { at: None, message, hint: Some("two detectors can share the work") });
        }
        let tree = ast::parse::ParserBuilder::new().nest_limit(NEST_LIMIT).build().parse(text).map_err(|error| {
            let (message, hint) = explain(error.kind());
            PatternError { at: Some(characters(text, error.span().start.offset)), message, hint }
        })?;
        let plain = Plain::of(text, &tree);
        let (shortest, longest) = lengths(&plain.text)?;
        // `\b` alone would refuse a match that begins or ends with a sign: `#12` after a space.
        let whole = format!(r"(?-u:\b{{start-half}}|\b)(?:{})(?-u:\b{{end-half}}|\b)", plain.text);
        let built = RegexBuilder::new(&whole)
            .size_limit(PROGRAM_LIMIT)
            .dfa_size_limit(CACHE_LIMIT)
            .nest_limit(NEST_LIMIT + 4)
            .build();
        let regex = built.map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => PatternError {
                at: None,
                message: format!("the pattern is too large: it would take more than {} KiB", PROGRAM_LIMIT / 1024),
                hint: Some("lower its repetitions, or write `[a-z]` in place of `\\p{L}`"),
            },
            regex::Error::Syntax(_) | _ => {
                PatternError { at: None, message: "the pattern is not a regular expression".to_owned(), hint: None }
            }
        })?;
        Ok(Self { regex, shortest, longest, anchor: plain.anchor })
    }

    /// Where it matches, from left to right, not overlapping.
    pub(super) fn find_iter(&self, text: &str) -> impl Iterator<Item = Range<usize>> {
        let is_long_enough = text.len() >= self.shortest;
        is_long_enough.then(|| self.regex.find_iter(text)).into_iter().flatten().map(|found| found.range())
    }
}

/// The shortest and the longest match, in bytes.
fn lengths(pattern: &str) -> Result<(usize, usize), PatternError> {
    let refused = |message: String, hint| PatternError { at: None, message, hint: Some(hint) };
    let parsed = regex_syntax::ParserBuilder::new().nest_limit(NEST_LIMIT + 4).build().parse(pattern);
    let parsed = parsed.map_err(|error| {
        refused(
            format!("the pattern is not accepted: {}", brief(&error)),
            "write `[a-z]`, `\\d` or the letters themselves",
        )
    })?;
    let properties = parsed.properties();
    match (properties.minimum_len(), properties.maximum_len()) {
        (None, _) => Err(refused("the pattern can never match".to_owned(), "it holds an empty class or the like")),
        (Some(0), _) => Err(refused(
            "the pattern matches nothing at all, and so everywhere".to_owned(),
            "ask for at least one character: `+` in place of `*`, or no `?`",
        )),
        (Some(shortest), Some(longest)) if longest <= LONGEST_MATCH => Ok((shortest, longest)),
        (Some(_), _) => Err(refused(
            format!("a match could be longer than {LONGEST_MATCH} bytes"),
            "give repetitions an upper bound: `{1,20}` in place of `+`, `{0,20}` in place of `*`",
        )),
    }
}

fn brief(error: &regex_syntax::Error) -> String {
    match error {
        regex_syntax::Error::Parse(error) => error.kind().to_string(),
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        _ => "it is not known why".to_owned(),
    }
}

/// What is said of a mistake in the syntax.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others say it well themselves")]
fn explain(kind: &ErrorKind) -> (String, Option<&'static str>) {
    let (message, hint) = match kind {
        ErrorKind::UnsupportedBackreference => (
            "backreferences are not supported: they cannot be matched in linear time",
            Some("write out what is repeated"),
        ),
        ErrorKind::UnsupportedLookAround => (
            "look-around is not supported: it cannot be matched in linear time",
            Some("a match ends at word boundaries by itself; say with `context` what must stand before it"),
        ),
        ErrorKind::NestLimitExceeded(_) => ("groups are nested too deep", Some("at most 32 deep")),
        _ => return (format!("the pattern has a mistake here: {kind}"), None),
    };
    (message.to_owned(), hint)
}

/// How many characters are before this byte.
fn characters(text: &str, byte: usize) -> usize {
    text.char_indices().take_while(|(at, _)| *at < byte).count()
}

/// A pattern in which `\d`, `\w`, `\s` and `\b` are about ASCII: an order number has no Arabic-Indic digits that an upstream
/// would read otherwise, and Unicode's classes are large.
struct Plain {
    text: String,
    anchor: Option<&'static str>,
}

impl Plain {
    fn of(text: &str, tree: &Ast) -> Self {
        // The visitor keeps its own stack: no recursion.
        let Ok(mut finder) = ast::visit(tree, Finder::default());
        finder.found.sort_unstable_by_key(|(range, _)| range.start);
        let (mut plain, mut from) = (String::with_capacity(text.len() + 64), 0);
        for (range, ascii) in finder.found {
            plain.push_str(text.get(from..range.start).unwrap_or_default());
            plain.push_str(ascii);
            from = range.end;
        }
        plain.push_str(text.get(from..).unwrap_or_default());
        Self { text: plain, anchor: finder.anchor }
    }
}

/// Collects what is to be replaced.
#[derive(Default)]
struct Finder {
    found: Vec<(Range<usize>, &'static str)>,
    anchor: Option<&'static str>,
}

impl Finder {
    fn class(&mut self, class: &ast::ClassPerl) {
        let ascii = match (&class.kind, class.negated) {
            (ClassPerlKind::Digit, false) => "[0-9]",
            (ClassPerlKind::Digit, true) => "[^0-9]",
            (ClassPerlKind::Space, false) => r"[\t\n\x0B\f\r\x20]",
            (ClassPerlKind::Space, true) => r"[^\t\n\x0B\f\r\x20]",
            (ClassPerlKind::Word, false) => "[0-9A-Za-z_]",
            (ClassPerlKind::Word, true) => "[^0-9A-Za-z_]",
        };
        self.found.push((class.span.start.offset..class.span.end.offset, ascii));
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are about ASCII where they say so")]
    fn assertion(&mut self, assertion: &ast::Assertion) {
        let range = assertion.span.start.offset..assertion.span.end.offset;
        match assertion.kind {
            ast::AssertionKind::WordBoundary => self.found.push((range, r"(?-u:\b)")),
            ast::AssertionKind::NotWordBoundary => {
                // An ASCII `\B` can stand inside of a character, which no text may be cut in.
                self.found.push((range, r"\B"));
            }
            ast::AssertionKind::StartLine => self.anchor = Some("^"),
            ast::AssertionKind::EndLine => self.anchor = Some("$"),
            ast::AssertionKind::StartText => self.anchor = Some(r"\A"),
            ast::AssertionKind::EndText => self.anchor = Some(r"\z"),
            _ => {}
        }
    }
}

impl ast::Visitor for Finder {
    type Output = Self;
    type Err = std::convert::Infallible;

    fn finish(self) -> Result<Self, Self::Err> {
        Ok(self)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "two kinds of nodes matter")]
    fn visit_pre(&mut self, tree: &Ast) -> Result<(), Self::Err> {
        match tree {
            Ast::ClassPerl(class) => self.class(class),
            Ast::Assertion(assertion) => self.assertion(assertion),
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Self::Err> {
        if let ClassSetItem::Perl(class) = item {
            self.class(class);
        }
        Ok(())
    }
}
