//! The form in which paths are compared: two that a server may take for the same one are the same one here. It refuses to
//! know what is sent on; that stays as the client wrote it.
//!
//! SECURITY: `/pay%3Anow` is `/pay:now` to most servers. A route that knew only one of them would be gone round with the other,
//! past its policies to a route for everything. An encoded slash stays what it is: it would be another segment.

use std::borrow::Cow;

/// A canonical path, or a segment of a pattern, as it is compared: visible characters decoded, `%` and `/` excepted, and the
/// digits of what stays encoded in upper case.
pub(crate) fn comparable(path: &str) -> Cow<'_, str> {
    if !path.contains('%') {
        return Cow::Borrowed(path);
    }
    let mut parts = path.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        match u8::from_str_radix(digits, 16) {
            Ok(byte) if byte.is_ascii_graphic() && !matches!(byte, b'%' | b'/') => out.push(char::from(byte)),
            Ok(_) | Err(_) => {
                out.push('%');
                out.push_str(&digits.to_ascii_uppercase());
            }
        }
        out.push_str(rest);
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_paths_have_one_form() {
        for (path, form) in [
            ("/a/b:c", "/a/b:c"),
            ("/a/b%3ac", "/a/b:c"),
            ("/a/b%3Ac", "/a/b:c"),
            ("/%7bx%7d%7C", "/{x}|"),
            ("/a%2fb", "/a%2Fb"),
            ("/a%252f", "/a%252f"),
            ("/caf%c3%a9%20", "/caf%C3%A9%20"),
            ("/a%", "/a%"),
            ("/a%4", "/a%4"),
        ] {
            assert_eq!(comparable(path), form);
            assert_eq!(comparable(&comparable(path)), form, "once is enough");
        }
    }
}
