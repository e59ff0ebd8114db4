//! What is wrong, and where: collects [`Problem`]s while rule files are read, and prints them the way compilers do.
//!
//! It promises that every problem carries the line it is about, and that neither message nor line shows a secret. It
//! refuses to know what is checked.

use std::fmt;

use super::source::SourceFile;
use super::{Problem, Severity};

/// A position in one of the files being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    /// Position in the list of files.
    pub file: usize,
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
}

/// More than this is not read by anybody, and a hostile file must not cost memory without end.
const MOST: usize = 500;
/// The longest part of a line that is shown, in characters.
const LONGEST_SNIPPET: usize = 240;
/// The longest user text in a message, in characters.
const LONGEST_QUOTE: usize = 80;

/// All problems found so far, in the files they are about.
pub(super) struct Problems<'f> {
    files: &'f [SourceFile],
    found: Vec<Problem>,
    errors: usize,
}

impl<'f> Problems<'f> {
    pub fn new(files: &'f [SourceFile]) -> Self {
        Self { files, found: Vec::new(), errors: 0 }
    }

    /// Something that stops the load.
    pub fn refuse(&mut self, place: Place, message: impl Into<String>) {
        self.add(place, message.into(), None, Severity::Error);
    }

    /// As [`Self::refuse`], with a way to mend it.
    pub fn refuse_with(&mut self, place: Place, message: impl Into<String>, hint: impl Into<Option<String>>) {
        self.add(place, message.into(), hint.into(), Severity::Error);
    }

    /// Something that does not stop the load.
    pub fn warn(&mut self, place: Place, message: impl Into<String>, hint: &str) {
        self.add(place, message.into(), Some(hint.to_owned()), Severity::Warning);
    }

    /// `file:line:column` of a place, for messages that speak of a second one.
    pub fn locate(&self, place: Place) -> String {
        let name = self.files.get(place.file).map_or("", |file| file.name.as_str());
        format!("{name}:{}:{}", place.line, place.column)
    }

    /// How many of them stop the load.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Whether more would not be kept.
    pub fn is_full(&self) -> bool {
        self.errors >= MOST
    }

    /// All of them, by file, line and column.
    pub fn finish(mut self) -> Vec<Problem> {
        self.found.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
        self.found
    }

    fn add(&mut self, place: Place, message: String, hint: Option<String>, severity: Severity) {
        self.errors += usize::from(severity == Severity::Error);
        // An error must not go unheard because 500 warnings came before it.
        if self.found.len() >= MOST && !(severity == Severity::Error && self.errors == 1) {
            return;
        }
        let file = self.files.get(place.file);
        self.found.push(Problem {
            file: file.map_or_else(String::new, |file| file.name.clone()),
            line: place.line,
            column: place.column,
            message,
            snippet: file.map_or_else(String::new, |file| file.line(place.line).map_or_else(String::new, snippet)),
            hint,
            severity,
        });
    }
}

impl Problem {
    /// A problem of the folder or of a file as a whole.
    pub fn of_file(file: impl Into<String>, message: impl Into<String>, hint: Option<&str>) -> Self {
        Self {
            file: file.into(),
            line: 0,
            column: 0,
            message: message.into(),
            snippet: String::new(),
            hint: hint.map(str::to_owned),
            severity: Severity::Error,
        }
    }

    /// Whether it stops a load.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// `file:line:column: error: message`, then the line with a caret, then the hint.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = if self.is_error() { "error" } else { "warning" };
        match (self.file.as_str(), self.line) {
            ("", _) => write!(f, "{severity}: {}", self.message)?,
            (file, 0) => write!(f, "{}: {severity}: {}", printable(file), self.message)?,
            (file, line) => write!(f, "{}:{line}:{}: {severity}: {}", printable(file), self.column, self.message)?,
        }
        let gutter = if self.line == 0 { 2 } else { self.line.to_string().len().max(2) };
        if self.line > 0 && !self.snippet.trim().is_empty() {
            write!(f, "\n {:>gutter$} | {}", self.line, self.snippet)?;
            let column = self.column as usize;
            if column > 0 && column <= self.snippet.chars().count() + 1 {
                write!(f, "\n {:>gutter$} | {:>column$}", "", "^")?;
            }
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n {:>gutter$} = hint: {hint}", "")?;
        }
        Ok(())
    }
}

/// User text in back-ticks, short and printable.
pub(super) fn quote(text: &str) -> String {
    let mut shown: String = printable(text).chars().take(LONGEST_QUOTE).collect();
    if text.chars().count() > LONGEST_QUOTE {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// Without what would move the cursor, colour the terminal, or turn the reading direction round.
fn printable(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    text.chars()
        .map(|c| {
            if c == '\t' {
                ' '
            } else if hidden(c) {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

fn snippet(line: &str) -> String {
    let veiled = veil(line.trim_end());
    printable(&veiled).chars().take(LONGEST_SNIPPET).collect()
}

/// Words in a key that say that the value is a secret.
const SECRET_WORDS: [&str; 9] =
    ["authorization", "cookie", "token", "secret", "api-key", "api_key", "apikey", "password", "credential"];

/// Whether a field or key with this name holds a secret.
pub(super) fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !name.ends_with("tokenize") && SECRET_WORDS.iter().any(|word| name.contains(word))
}

/// SECURITY: the line of a problem goes to the log and the dashboard. Somebody who wrote a secret into a rule file is told
/// so, but the secret is not spread further: what follows a key that names a secret is hidden, and so are user and
/// password in a URL.
fn veil(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut key = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        if c == ':' && names_a_secret(&key) {
            let value = after.trim_start().trim_start_matches(['"', '\'', '[', '{', ' ']);
            if !value.is_empty() && !value.starts_with("env:") && !value.starts_with("file:") {
                shown.push_str(": [hidden]");
                return shown;
            }
        }
        if let Some(authority) = rest.strip_prefix("://") {
            let end = authority.find(['/', ' ', '"', '\'', ',']).unwrap_or(authority.len());
            if let Some((_, host)) = authority.get(..end).and_then(|authority| authority.rsplit_once('@')) {
                shown.push_str("://[hidden]@");
                shown.push_str(host);
                rest = authority.get(end..).unwrap_or_default();
                continue;
            }
        }
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => key.push(c),
            '"' | '\'' | ' ' if !key.is_empty() && after.trim_start_matches([' ', '"', '\'']).starts_with(':') => {}
            _ => key.clear(),
        }
        shown.push(c);
        rest = after;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{quote, veil};
    use crate::rules::{Problem, Severity};

    fn check_veil(line: &str, expected: &str) {
        assert_eq!(veil(line), expected);
    }

    #[test]
    fn secrets_are_not_shown() {
        check_veil("authorization: Bearer abc", "authorization: [hidden]");
        check_veil("  {\"X-Api-Key\" : \"abc\"}", "  {\"X-Api-Key\" : [hidden]");
        check_veil("headers: {set: {x-token: abc, y: 1}}", "headers: {set: {x-token: [hidden]");
        check_veil("targets: [http://me:pw@host:1/x, b]", "targets: [http://[hidden]@host:1/x, b]");
        check_veil("api_keys: [abc]", "api_keys: [hidden]");
    }

    #[test]
    fn the_rest_is_shown() {
        check_veil("authorization: env:TOKEN", "authorization: env:TOKEN");
        check_veil("cookie: \"file:/run/c\"", "cookie: \"file:/run/c\"");
        check_veil("action: {tokenize: {key: k}}", "action: {tokenize: {key: k}}");
        check_veil("api_keys:", "api_keys:");
        check_veil("select: $..token", "select: $..token");
        check_veil("targets: [http://host:1]", "targets: [http://host:1]");
    }

    #[test]
    fn user_text_is_tamed() {
        assert_eq!(quote("a\u{1b}[31mb"), "`a\u{fffd}[31mb`");
        assert_eq!(quote(&"x".repeat(200)).chars().count(), 83);
    }

    #[test]
    fn prints_like_a_compiler() {
        let problem = Problem {
            file: "a.yaml".into(),
            line: 7,
            column: 3,
            message: "unknown key `x`".into(),
            snippet: "  x: 1".into(),
            hint: Some("did you mean `y`?".into()),
            severity: Severity::Warning,
        };
        assert_eq!(
            problem.to_string(),
            "a.yaml:7:3: warning: unknown key `x`\n  7 |   x: 1\n    |   ^\n    = hint: did you mean `y`?"
        );
    }
}
