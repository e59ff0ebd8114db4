//! Percent-encoding (RFC 3986, section 2.1) with the way back: which bytes as sent a decoded byte came from.

/// A decoded text and where its bytes came from.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    pub(super) text: String,
    /// Per byte of `text`, and one for its end: the offset in what was sent. Empty if the bytes sent are not UTF-8, so that
    /// there is no way back.
    origin: Vec<usize>,
}

impl Decoded {
    /// Decodes. `plus`: `+` is a space, as forms and queries have it. What is not a valid escape stands for itself; what is
    /// not UTF-8 is shown as U+FFFD.
    pub(super) fn of(sent: &str, plus: bool) -> Self {
        let sent = sent.as_bytes();
        let (mut bytes, mut origin) = (Vec::with_capacity(sent.len()), Vec::with_capacity(sent.len() + 1));
        let mut at = 0;
        while let Some(&byte) = sent.get(at) {
            origin.push(at);
            let escaped = match (byte, sent.get(at + 1).copied().and_then(hex), sent.get(at + 2).copied().and_then(hex))
            {
                (b'%', Some(high), Some(low)) => Some(high << 4 | low),
                _ => None,
            };
            bytes.push(match escaped {
                Some(escaped) => escaped,
                None if plus && byte == b'+' => b' ',
                None => byte,
            });
            at += if escaped.is_some() { 3 } else { 1 };
        }
        origin.push(sent.len());
        match String::from_utf8(bytes) {
            Ok(text) => Self { text, origin },
            Err(error) => Self { text: String::from_utf8_lossy(error.as_bytes()).into_owned(), origin: Vec::new() },
        }
    }

    /// The bytes as sent that stand for `start..end` of the text.
    pub(super) fn sent_range(&self, start: usize, end: usize) -> Option<std::ops::Range<usize>> {
        Some(*self.origin.get(start)?..*self.origin.get(end)?)
    }
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

/// Appends `text`, everything but the unreserved characters and `*` encoded.
pub(super) fn push_encoded(text: &str, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in text.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~*".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Decoded, push_encoded};
    use proptest::prelude::*;

    #[track_caller]
    fn check(sent: &str, plus: bool, expected: &str) {
        assert_eq!(Decoded::of(sent, plus).text, expected);
    }

    #[test]
    fn decodes_once() {
        check("a%40b.c", false, "a@b.c");
        check("a+b", true, "a b");
        check("a+b", false, "a+b");
        check("%2540", true, "%40");
        check("100%", true, "100%");
        check("%4", true, "%4");
        check("%zz", true, "%zz");
        check("%C3%A9", true, "é");
        check("%FF", true, "\u{fffd}");
    }

    #[test]
    fn knows_the_way_back() {
        let decoded = Decoded::of("x%40%C3%A9y", true);
        assert_eq!(decoded.sent_range(1, 2), Some(1..4));
        assert_eq!(decoded.sent_range(2, 4), Some(4..10));
        assert_eq!(decoded.sent_range(4, 5), Some(10..11));
        assert_eq!(Decoded::of("%FF", true).sent_range(0, 1), None);
    }

    proptest! {
        #[test]
        fn what_is_encoded_reads_back(text in any::<String>()) {
            let mut sent = String::new();
            push_encoded(&text, &mut sent);
            prop_assert_eq!(Decoded::of(&sent, true).text, text);
        }
    }
}
