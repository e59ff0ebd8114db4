//! Where numbers, literals and white space end. Promises the grammar of RFC 8259, nothing looser; never computes a number.

/// Whether a byte is white space in JSON.
pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Skips white space from `at`.
#[inline]
pub(super) fn space_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = bytes.get(at) {
        // PERF: minified JSON leaves here with one comparison.
        if byte > b' ' || !is_space(byte) {
            break;
        }
        at += 1;
    }
    at
}

/// Whether a byte can be part of a number; where one ends is where the first other byte stands.
const fn is_numeric(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
}

/// Skips what may be a number from `at`; [`is_number`] then judges it.
#[inline]
pub(super) fn number_end(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).unwrap_or_default().iter().position(|&b| !is_numeric(b)).map_or(bytes.len(), |n| at + n)
}

/// Whether the bytes are a number as RFC 8259 section 6 writes it.
pub(super) fn is_number(bytes: &[u8]) -> bool {
    let rest = bytes.strip_prefix(b"-").unwrap_or(bytes);
    let rest = match rest.split_first() {
        Some((b'0', rest)) => rest,
        Some((b'1'..=b'9', rest)) => after_digits(rest),
        _ => return false,
    };
    let rest = match rest.split_first() {
        Some((b'.', rest)) => match some_digits(rest) {
            Some(rest) => rest,
            None => return false,
        },
        _ => rest,
    };
    match rest.split_first() {
        None => true,
        Some((b'e' | b'E', rest)) => {
            let digits = rest.strip_prefix(b"+").or_else(|| rest.strip_prefix(b"-")).unwrap_or(rest);
            some_digits(digits).is_some_and(<[u8]>::is_empty)
        }
        Some(_) => false,
    }
}

/// Where the number at `at` ends, and whether it has an exponent. `None`: it is anything else, or could go on beyond the bytes.
#[inline]
pub(super) fn whole_number(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    let first = at + usize::from(*bytes.get(at)? == b'-');
    let mut end = match bytes.get(first)? {
        b'0' => first + 1,
        b'1'..=b'9' => digits_end(bytes, first + 1),
        _ => return None,
    };
    if *bytes.get(end)? == b'.' {
        end = some_digits_end(bytes, end + 1)?;
    }
    let has_exponent = matches!(bytes.get(end)?, b'e' | b'E');
    if has_exponent {
        end = some_digits_end(bytes, end + 1 + usize::from(matches!(bytes.get(end + 1)?, b'+' | b'-')))?;
    }
    (!is_numeric(*bytes.get(end)?)).then_some((end, has_exponent))
}

#[inline]
fn digits_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at)
        && byte.is_ascii_digit()
    {
        at += 1;
    }
    at
}

#[inline]
fn some_digits_end(bytes: &[u8], at: usize) -> Option<usize> {
    Some(digits_end(bytes, at)).filter(|end| *end > at)
}

fn after_digits(bytes: &[u8]) -> &[u8] {
    bytes.get(digits_end(bytes, 0)..).unwrap_or_default()
}

fn some_digits(bytes: &[u8]) -> Option<&[u8]> {
    bytes.get(some_digits_end(bytes, 0)?..)
}

/// The literal that begins with this byte.
pub(super) const fn literal(first: u8) -> Option<&'static [u8]> {
    match first {
        b't' => Some(b"true"),
        b'f' => Some(b"false"),
        b'n' => Some(b"null"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_rfc() {
        for good in ["0", "-0", "1", "10", "1.10", "-0.0e-0", "1e400", "1E+2", "9007199254740993", "123.456e78"] {
            assert!(is_number(good.as_bytes()), "{good}");
        }
        for bad in
            ["", "-", "+1", "01", "-01", "1.", ".1", "1e", "1e+", "1.e1", "--1", "1-1", "1.1.1", "1e1.5", "0e", "1e1e1"]
        {
            assert!(!is_number(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn a_whole_number_ends_before_something_else() {
        for (good, has_exponent) in [
            ("0,", false),
            ("-0]", false),
            ("10}", false),
            ("1.10 ", false),
            ("-12.5x", false),
            ("1e5,", true),
            ("1.5E-07,", true),
        ] {
            assert_eq!(whole_number(good.as_bytes(), 0), Some((good.len() - 1, has_exponent)), "{good}");
            assert!(is_number(&good.as_bytes()[..good.len() - 1]));
        }
        for other in [
            "", "1", "-", "-,", "01,", "1.,", "1e,", "1e+,", "1.5", "1e5", "1.1.1,", "1e1.5,", "1e1e1,", "+1,", ".5,",
            "1-1,",
        ] {
            assert_eq!(whole_number(other.as_bytes(), 0), None, "{other}");
        }
    }

    #[test]
    fn a_number_ends_where_the_grammar_cannot_go_on() {
        assert_eq!(number_end(b"12,", 0), 2);
        assert_eq!(number_end(b"[1.5e3]", 1), 6);
        assert_eq!(number_end(b"12", 0), 2);
    }
}
