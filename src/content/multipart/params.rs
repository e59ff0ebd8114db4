//! Parameters of a header field, as far as every reader reads them alike: `; name=token` and `; name="text"`. What readers
//! differ about (backslashes, spaces around `=`, quotes in the middle) is no parameter, and neither is the whole field.

use std::ops::Range;

/// One parameter: where it stands in the field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: Range<usize>,
    /// What it says.
    pub value: Range<usize>,
    /// The same with its quotes, if there are any.
    pub written: Range<usize>,
}

/// All parameters of `field`, behind what is before the first `;`. `None`: readers would differ.
pub fn params(field: &str) -> Option<Vec<Param>> {
    let bytes = field.as_bytes();
    let mut found = Vec::new();
    let mut at = bytes.iter().position(|byte| *byte == b';').unwrap_or(bytes.len());
    while at < bytes.len() {
        // What stands here ends the one before.
        if bytes.get(at) != Some(&b';') {
            return None;
        }
        at = skip(bytes, at + 1, is_blank);
        let name = at..skip(bytes, at, is_token);
        at = name.end;
        if name.is_empty() {
            continue;
        }
        if bytes.get(at) != Some(&b'=') {
            return None;
        }
        at += 1;
        let (value, written) = if bytes.get(at) == Some(&b'"') {
            let end = skip(bytes, at + 1, |byte| byte != b'"' && byte != b'\\' && (byte >= b' ' || byte == b'\t'));
            if bytes.get(end) != Some(&b'"') {
                return None;
            }
            (at + 1..end, at..end + 1)
        } else {
            let end = skip(bytes, at, |byte| byte > b' ' && byte != 0x7f && !b"\";\\,".contains(&byte));
            (at..end, at..end)
        };
        at = skip(bytes, written.end, is_blank);
        found.push(Param { name, value, written });
    }
    Some(found)
}

fn skip(bytes: &[u8], from: usize, is: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().position(|byte| !is(*byte)).unwrap_or(rest.len())
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// RFC 9110, section 5.6.2.
pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::params;

    #[track_caller]
    fn check(field: &str, expected: Option<&[(&str, &str)]>) {
        let found = params(field);
        let shown = |it: &super::Param| Some((field.get(it.name.clone())?, field.get(it.value.clone())?));
        let found: Option<Vec<(&str, &str)>> = found.and_then(|all| all.iter().map(shown).collect());
        assert_eq!(found.as_deref(), expected, "{field}");
    }

    #[test]
    fn parameters_are_read_as_everybody_reads_them() {
        check("form-data", Some(&[]));
        check("a/b;", Some(&[]));
        check("a/b ; x=1;Y=\"2; 3\" ; z=", Some(&[("x", "1"), ("Y", "2; 3"), ("z", "")]));
        check(
            "f; name=\"a=b\"; filename*=UTF-8''%e2%82%ac",
            Some(&[("name", "a=b"), ("filename*", "UTF-8''%e2%82%ac")]),
        );
        check("f;name=é;n=--x/y", Some(&[("name", "é"), ("n", "--x/y")]));
    }

    #[test]
    fn what_readers_differ_about_is_none() {
        for field in [
            "f; name",
            "f; name =a",
            "f; name= a",
            "f; name=\"a",
            "f; name=\"a\\\"b\"",
            "f; name=\"a\"b",
            "f; name=a\\b",
            "f; name=a\"b",
            "f; name=a b",
            "f; name=a, b",
            "f; name=\"a\u{7}\"",
        ] {
            check(field, None);
        }
    }
}
