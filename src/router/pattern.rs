//! Path patterns of routes, parsed: `/exact`, `/{one}/segment`, `/{*rest}` at the end. It promises that a parsed pattern
//! can match a canonical path.

use std::borrow::Cow;

use super::form::comparable;

/// A parsed path pattern.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pattern<'t> {
    /// Segment by segment.
    pub segments: Vec<Segment<'t>>,
    /// Whether `{*rest}` ends it: none or more further segments.
    pub open: bool,
}

/// One segment of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment<'t> {
    /// This text, as it is compared.
    Text(Cow<'t, str>),
    /// `{name}`: anything but nothing.
    Any,
}

/// Deeper patterns are a mistake, and a search descends once per segment.
const MOST_SEGMENTS: usize = 64;

impl<'t> Pattern<'t> {
    pub fn parse(text: &'t str) -> Result<Self, String> {
        let Some(path) = text.strip_prefix('/') else { return Err("a path begins with `/`".to_owned()) };
        if path.split('/').count() > MOST_SEGMENTS {
            return Err(format!("a path has at most {MOST_SEGMENTS} segments"));
        }
        let mut pattern = Self { segments: Vec::new(), open: false };
        let mut segments = path.split('/').peekable();
        while let Some(segment) = segments.next() {
            let last = segments.peek().is_none();
            if segment.is_empty() && !last {
                return Err("a path does not contain `//`".to_owned());
            }
            match placeholder(segment)? {
                None => pattern.segments.push(Segment::Text(comparable(plain(segment)?))),
                Some(name) if name.starts_with('*') && !last => {
                    return Err(format!("`{{{name}}}` stands only at the end"));
                }
                Some(name) if name.starts_with('*') => pattern.open = true,
                Some(_) => pattern.segments.push(Segment::Any),
            }
        }
        Ok(pattern)
    }
}

/// The name in the braces, if the segment is a placeholder.
fn placeholder(segment: &str) -> Result<Option<&str>, String> {
    if !segment.contains(['{', '}']) {
        return Ok(None);
    }
    let name = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let name = name.filter(|name| !name.contains(['{', '}']));
    let Some(name) = name else {
        return Err(
            "a placeholder is a whole segment, as in `/{name}/` or `/{*rest}`; braces cannot be matched".to_owned()
        );
    };
    let word = name.strip_prefix('*').unwrap_or(name);
    if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(format!("the placeholder `{{{}}}` needs a name of letters, digits and `_`", name.escape_debug()));
    }
    Ok(Some(name))
}

/// SECURITY: a pattern that no canonical path can match would be a route that silently protects nothing.
fn plain(segment: &str) -> Result<&str, String> {
    let lower = segment.to_ascii_lowercase();
    if matches!(lower.replace("%2e", ".").as_str(), "." | "..") {
        return Err("`.` and `..` never reach a route".to_owned());
    }
    if segment.contains('*') {
        return Err(
            "`*` is not a wildcard: write `{name}` for one segment, `{*rest}` at the end for the rest".to_owned()
        );
    }
    if let Some(wrong) = segment
        .chars()
        .find(|c| !c.is_ascii_graphic() || matches!(c, '?' | '#' | '\\' | '"' | '<' | '>' | '`' | '^' | '|'))
    {
        return Err(format!("a path does not contain `{}`: percent-encode it", wrong.escape_debug()));
    }
    for (at, _) in segment.match_indices('%') {
        let byte = segment.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match byte {
            None => return Err("`%` is followed by two hexadecimal digits".to_owned()),
            Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') => {
                return Err(format!("`{}` is not encoded in a path: write it as it is", char::from(byte)));
            }
            Some(_) => {}
        }
    }
    Ok(segment)
}
