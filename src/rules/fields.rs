//! Reads typed values out of the positioned tree, telling each mistake where it stands. Strict on purpose: `8` is not
//! `"8"`, and `yes` is not `true`. It knows types and units; it refuses to know what the values are for.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::problem::{Place, Problems, quote};
use super::suggest;
use super::tree::{Entry, Node, Scalar, Value};
use super::words::{NOT_YET_HINT, Scope, not_yet};
use crate::quantity;

/// A mapping whose keys have been checked.
pub(super) struct Fields<'t> {
    scope: &'static Scope,
    entries: &'t [Entry],
    /// Where the mapping begins.
    pub place: Place,
}

impl<'t> Fields<'t> {
    /// Checks that `node` is a mapping and tells every key that is not of this scope.
    pub fn of(node: &'t Node, scope: &'static Scope, problems: &mut Problems<'_>) -> Option<Self> {
        let entries = map(node, scope.what, problems)?;
        for entry in entries {
            if problems.is_full() {
                break;
            }
            if scope.later.contains(&entry.key.as_str()) {
                problems.refuse_with(entry.place, not_yet(&entry.key), NOT_YET_HINT.to_owned());
            } else if entry.key == "<<" {
                let hint = "name the whole value with an alias, or write the keys out".to_owned();
                problems.refuse_with(entry.place, "merge keys (`<<`) are not part of YAML 1.2", hint);
            } else if !scope.keys.contains(&entry.key.as_str()) {
                let known = scope.keys.iter().chain(scope.later).copied();
                let message = format!("unknown key {} in {}", quote(&entry.key), scope.what);
                problems.refuse_with(entry.place, message, suggest::hint(&entry.key, known));
            }
        }
        Some(Self { scope, entries, place: node.place })
    }

    /// The member with this key.
    pub fn entry(&self, key: &str) -> Option<&'t Entry> {
        debug_assert!(self.scope.keys.contains(&key), "`{key}` is missing in the scope's table");
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The value of this key.
    pub fn value(&self, key: &str) -> Option<&'t Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// As [`Self::value`]; a key that is not there is a problem.
    pub fn required(&self, key: &str, problems: &mut Problems<'_>) -> Option<&'t Node> {
        let value = self.value(key);
        if value.is_none() {
            problems.refuse(self.place, format!("{} needs `{key}`", self.scope.what));
        }
        value
    }
}

/// The members of a mapping.
pub(super) fn map<'t>(node: &'t Node, what: &str, problems: &mut Problems<'_>) -> Option<&'t [Entry]> {
    if let Value::Map(entries) = &node.value {
        return Some(entries);
    }
    problems.refuse(node.place, format!("{what} must be a mapping, not {}", describe(node)));
    None
}

/// The items of a list.
pub(super) fn list<'t>(node: &'t Node, what: &str, problems: &mut Problems<'_>) -> Option<&'t [Node]> {
    if let Value::List(items) = &node.value {
        return Some(items);
    }
    problems.refuse(node.place, format!("{what} must be a list, not {}", describe(node)));
    None
}

/// A text; numbers, booleans and nothing are no text unless quoted.
pub(super) fn text<'t>(node: &'t Node, what: &str, problems: &mut Problems<'_>) -> Option<&'t str> {
    match &node.value {
        Value::Scalar(scalar) if scalar.kind() == Kind::Text => Some(&scalar.text),
        Value::Scalar(scalar) => {
            let hint = (scalar.kind() != Kind::Null).then(|| format!("if text is meant, write \"{}\"", scalar.text));
            problems.refuse_with(node.place, format!("{what} must be text, not {}", describe(node)), hint);
            None
        }
        Value::List(_) | Value::Map(_) => {
            problems.refuse(node.place, format!("{what} must be text, not {}", describe(node)));
            None
        }
    }
}

/// One text or a list of texts, each with its node; never empty.
pub(super) fn texts<'t>(node: &'t Node, what: &str, problems: &mut Problems<'_>) -> Vec<(&'t str, &'t Node)> {
    let items = match &node.value {
        Value::List(items) => items.as_slice(),
        Value::Scalar(_) | Value::Map(_) => std::slice::from_ref(node),
    };
    if items.is_empty() {
        problems.refuse(node.place, format!("{what} is an empty list"));
    }
    items.iter().filter_map(|item| Some((text(item, what, problems)?, item))).collect()
}

/// `true` or `false`.
pub(super) fn flag(node: &Node, what: &str, problems: &mut Problems<'_>) -> Option<bool> {
    if let Value::Scalar(scalar) = &node.value
        && let Kind::Bool(flag) = scalar.kind()
    {
        return Some(flag);
    }
    let hint = "write `true` or `false`, without quotes".to_owned();
    problems.refuse_with(node.place, format!("{what} must be true or false, not {}", describe(node)), hint);
    None
}

/// A whole number within a range.
pub(super) fn whole(node: &Node, what: &str, range: RangeInclusive<u64>, problems: &mut Problems<'_>) -> Option<u64> {
    let (least, most) = (*range.start(), *range.end());
    let message = format!("{what} must be a whole number from {least} to {most}, not {}", describe(node));
    if let Value::Scalar(scalar) = &node.value {
        if let (Kind::Number, Ok(number)) = (scalar.kind(), scalar.text.parse())
            && range.contains(&number)
        {
            return Some(number);
        }
        if scalar.quoted && scalar.text.parse::<u64>().is_ok() {
            problems.refuse_with(node.place, message, "leave the quotes away".to_owned());
            return None;
        }
    }
    problems.refuse(node.place, message);
    None
}

/// A share within a range, written with its sign: `20%`.
pub(super) fn percent(node: &Node, what: &str, range: RangeInclusive<u32>, problems: &mut Problems<'_>) -> Option<u32> {
    let found = scalar(node).and_then(|scalar| scalar.text.strip_suffix('%')?.parse().ok());
    if let Some(percent) = found.filter(|percent| range.contains(percent)) {
        return Some(percent);
    }
    let message = format!("{what} must be from `{}%` to `{}%`, not {}", range.start(), range.end(), describe(node));
    problems.refuse_with(node.place, message, "a whole number and the sign: `20%`".to_owned());
    None
}

/// A duration within a range.
pub(super) fn duration(
    node: &Node,
    what: &str,
    range: RangeInclusive<Duration>,
    problems: &mut Problems<'_>,
) -> Option<Duration> {
    let found = scalar(node).and_then(|scalar| quantity::duration(&scalar.text));
    if let Some(duration) = found.filter(|duration| range.contains(duration)) {
        return Some(duration);
    }
    let (least, most) = (quantity::duration_text(*range.start()), quantity::duration_text(*range.end()));
    let message = format!("{what} must be a duration from `{least}` to `{most}`, not {}", describe(node));
    problems.refuse_with(node.place, message, "a whole number and a unit: `500ms`, `2s`, `5m`, `1h`".to_owned());
    None
}

/// A size in bytes within a range.
pub(super) fn size(node: &Node, what: &str, range: RangeInclusive<u64>, problems: &mut Problems<'_>) -> Option<u64> {
    let found = scalar(node).and_then(|scalar| quantity::size(&scalar.text));
    if let Some(size) = found.filter(|size| range.contains(size)) {
        return Some(size);
    }
    let (least, most) = (quantity::size_text(*range.start()), quantity::size_text(*range.end()));
    let message = format!("{what} must be a size from `{least}` to `{most}`, not {}", describe(node));
    problems.refuse_with(node.place, message, "a whole number and a unit: `64KiB`, `8MiB`, `1GB`".to_owned());
    None
}

/// One of a few words. `later` are words of the language that do not run yet.
pub(super) fn word<T: Copy>(
    node: &Node,
    what: &str,
    words: &[(&str, T)],
    later: &[&str],
    problems: &mut Problems<'_>,
) -> Option<T> {
    let text = text(node, what, problems)?;
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
        return Some(*value);
    }
    if later.contains(&text) {
        problems.refuse_with(node.place, not_yet(text), words.first().map(|(word, _)| format!("write `{word}`")));
        return None;
    }
    let hint = suggest::hint(text, words.iter().map(|(word, _)| *word));
    problems.refuse_with(node.place, format!("{what} cannot be {}", quote(text)), hint);
    None
}

/// Whether `text` can name an upstream, route, policy or rule.
pub(super) fn name(text: &str, place: Place, what: &str, problems: &mut Problems<'_>) -> bool {
    let mut bytes = text.bytes();
    let fits = bytes.next().is_some_and(|first| first.is_ascii_alphanumeric())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
        && text.len() <= 64;
    if !fits {
        let hint = "at most 64 of a-z, A-Z, 0-9, `_`, `.`, `-`, beginning with a letter or digit".to_owned();
        problems.refuse_with(place, format!("{} is not a valid {what} name", quote(text)), hint);
    }
    fits
}

fn scalar(node: &Node) -> Option<&Scalar> {
    match &node.value {
        Value::Scalar(scalar) => Some(scalar),
        Value::List(_) | Value::Map(_) => None,
    }
}

/// What a scalar is in YAML 1.2's core schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// Any number.
    Number,
    /// Everything else.
    Text,
}

impl Scalar {
    /// What it is.
    pub fn kind(&self) -> Kind {
        if self.quoted {
            return Kind::Text;
        }
        match self.text.as_str() {
            "" | "~" | "null" | "Null" | "NULL" => Kind::Null,
            "true" | "True" | "TRUE" => Kind::Bool(true),
            "false" | "False" | "FALSE" => Kind::Bool(false),
            text if is_number(text) => Kind::Number,
            _ => Kind::Text,
        }
    }
}

fn is_number(text: &str) -> bool {
    let all = |digits: &str, fits: fn(&u8) -> bool| !digits.is_empty() && digits.as_bytes().iter().all(fits);
    if let Some(digits) = text.strip_prefix("0x") {
        return all(digits, u8::is_ascii_hexdigit);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return all(digits, |byte| matches!(byte, b'0'..=b'7'));
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    (all(before, u8::is_ascii_digit) || (before.is_empty() && all(after, u8::is_ascii_digit)))
        && after.bytes().all(|byte| byte.is_ascii_digit())
        && exponent.is_none_or(|digits| all(digits, u8::is_ascii_digit))
}

/// A value in words, for messages.
pub(super) fn describe(node: &Node) -> String {
    match &node.value {
        Value::List(_) => "a list".to_owned(),
        Value::Map(_) => "a mapping".to_owned(),
        Value::Scalar(scalar) => match scalar.kind() {
            Kind::Null => "nothing".to_owned(),
            Kind::Bool(flag) => format!("`{flag}`"),
            Kind::Number => format!("the number {}", quote(&scalar.text)),
            Kind::Text => format!("the text {}", quote(&scalar.text)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Scalar};

    fn check(text: &str, expected: Kind) {
        assert_eq!(Scalar { text: text.to_owned(), quoted: false, column: None }.kind(), expected, "{text}");
    }

    #[test]
    fn plain_scalars_are_typed_as_in_yaml_1_2() {
        for number in
            ["0", "-1", "1.5", ".5", "5.", "1e400", "1.5E-3", "0x1F", "0o17", "+1", ".inf", "-.INF", ".nan", "007"]
        {
            check(number, Kind::Number);
        }
        for text in ["yes", "on", "v1", "1.2.3", "0xg", "-", ".", "1_000", "12:30", "e5", "127.0.0.1", "2s"] {
            check(text, Kind::Text);
        }
        check("true", Kind::Bool(true));
        check("", Kind::Null);
        check("~", Kind::Null);
    }
}
