//! Values for `replace` and `set`: what the rule file says, as compact JSON text. Numbers keep the digits they were
//! written with. It refuses to know where the text goes.

use crate::rules::fields::Kind;
use crate::rules::problem::{Problems, quote};
use crate::rules::tree::{Node, Scalar, Value};

/// Compact JSON text of a value.
pub(super) fn render(node: &Node, problems: &mut Problems<'_>) -> Option<Box<str>> {
    let mut text = String::new();
    write(node, &mut text, problems)?;
    Some(text.into_boxed_str())
}

fn write(node: &Node, out: &mut String, problems: &mut Problems<'_>) -> Option<()> {
    match &node.value {
        Value::Scalar(scalar) => return write_scalar(node, scalar, out, problems),
        Value::List(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write(item, out, problems)?;
            }
            out.push(']');
        }
        Value::Map(entries) => {
            out.push('{');
            for (position, entry) in entries.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_text(&entry.key, out);
                out.push(':');
                write(&entry.value, out, problems)?;
            }
            out.push('}');
        }
    }
    Some(())
}

fn write_scalar(node: &Node, scalar: &Scalar, out: &mut String, problems: &mut Problems<'_>) -> Option<()> {
    match scalar.kind() {
        Kind::Null => out.push_str("null"),
        Kind::Bool(flag) => out.push_str(if flag { "true" } else { "false" }),
        Kind::Text => write_text(&scalar.text, out),
        Kind::Number if is_json_number(&scalar.text) => out.push_str(&scalar.text),
        Kind::Number => {
            let message = format!("the number {} cannot be written in JSON", quote(&scalar.text));
            let hint = format!("write it as JSON does (`31`, `-0.5`, `1e6`), or as text: \"{}\"", scalar.text);
            problems.refuse_with(node.place, message, hint);
            return None;
        }
    }
    Some(())
}

fn write_text(text: &str, out: &mut String) {
    // A JSON value of a string is a string: its `Display` is the escaped text.
    out.push_str(&serde_json::Value::from(text).to_string());
}

/// RFC 8259, section 6.
fn is_json_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (before, after) = match mantissa.split_once('.') {
        Some((before, after)) => (before, Some(after)),
        None => (mantissa, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(before)
        && (before == "0" || !before.starts_with('0'))
        && after.is_none_or(digits)
        && exponent.is_none_or(digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::source::SourceFile;
    use crate::rules::tree;

    fn check(yaml: &str, expected: Option<&str>) {
        let text = format!("v: {yaml}");
        let files = [SourceFile { name: "a.yaml".into(), text: text.clone() }];
        let mut problems = Problems::new(&files);
        let root = tree::parse(0, &text, &mut problems).expect(&text);
        let Value::Map(entries) = &root.value else { panic!("no mapping") };
        let found = entries.first().and_then(|entry| render(&entry.value, &mut problems));
        assert_eq!(found.as_deref(), expected, "{yaml}");
        assert_eq!(found.is_none(), problems.errors() > 0, "{yaml}");
    }

    #[test]
    fn renders_json() {
        check("v1", Some("\"v1\""));
        check("\"1\"", Some("\"1\""));
        check("9007199254740993", Some("9007199254740993"));
        check("1.10", Some("1.10"));
        check("1e400", Some("1e400"));
        check("-0", Some("-0"));
        check("null", Some("null"));
        check("~", Some("null"));
        check("True", Some("true"));
        check("{a: [1, x], \"b c\": {}}", Some("{\"a\":[1,\"x\"],\"b c\":{}}"));
        check("\"a\\\"\\u0007\"", Some("\"a\\\"\\u0007\""));
        check("2026-01-01", Some("\"2026-01-01\""));
    }

    #[test]
    fn refuses_numbers_that_json_lacks() {
        for number in ["0x1F", "0o17", ".5", "5.", "+1", "007", ".inf", "-.inf", ".nan"] {
            check(number, None);
        }
        check("[1, .nan]", None);
    }
}
