//! Between plain text and JSON text, for the values that rules write. It never reads a body.

/// Appends `text` as a JSON string, quotes included.
pub(crate) fn push_json_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text.as_bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => {
                let digit = |n: u8| if n < 10 { b'0' + n } else { b'a' + n - 10 };
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
            }
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// What a JSON text says where only text can stand (query, path, headers): a string's content, anything else as written.
pub(crate) fn plain_text(json: &str) -> Box<str> {
    serde_json::from_str::<String>(json).unwrap_or_else(|_| json.to_owned()).into()
}

#[cfg(test)]
mod tests {
    use super::{plain_text, push_json_string};
    use proptest::prelude::*;

    #[test]
    fn plain_text_is_what_a_string_holds() {
        assert_eq!(&*plain_text(r#""a\nb""#), "a\nb");
        assert_eq!(&*plain_text("12"), "12");
        assert_eq!(&*plain_text("null"), "null");
    }

    proptest! {
        #[test]
        fn a_string_reads_back(text in any::<String>()) {
            let mut json = Vec::new();
            push_json_string(&text, &mut json);
            prop_assert_eq!(serde_json::from_slice::<String>(&json).unwrap(), text);
        }
    }
}
