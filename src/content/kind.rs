//! What a body is, by its labels and its beginning. It answers in fixed words: nothing of a header or a body gets into
//! them. When in doubt it says unsupported, and policy decides.

/// What a body is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// There is none.
    Empty,
    /// One JSON text.
    Json,
    /// Nothing that can be read here, with the reason.
    Unsupported(&'static str),
}

impl Kind {
    /// Judges by all `Content-Type` and `Content-Encoding` lines, and by the first bytes of the body (a few hundred are
    /// plenty; none means that the body is empty).
    pub fn of<'a>(
        content_types: impl IntoIterator<Item = &'a [u8]>,
        content_encodings: impl IntoIterator<Item = &'a [u8]>,
        first_bytes: &[u8],
    ) -> Self {
        if first_bytes.is_empty() {
            return Self::Empty;
        }
        let codings = content_encodings.into_iter().flat_map(|line| line.split(|byte| *byte == b','));
        if codings.map(<[u8]>::trim_ascii).any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity"))
        {
            return Self::Unsupported("content encoding");
        }
        let mut lines = content_types.into_iter().map(<[u8]>::trim_ascii);
        let line = lines.next().unwrap_or(b"");
        // SECURITY: where two lines differ, the next reader may believe the other one.
        if lines.any(|other| !other.eq_ignore_ascii_case(line)) {
            return Self::Unsupported("differing content types");
        }
        let Ok(line) = std::str::from_utf8(line) else { return Self::Unsupported("content type") };
        let line = line.to_ascii_lowercase();
        let (essence, parameters) = line.split_once(';').unwrap_or((&line, ""));
        let essence = essence.trim_ascii();
        let is_json = is_json(essence);
        if let Some(reason) = charset_trouble(parameters) {
            return Self::Unsupported(reason);
        }
        if is_json || !never_json(essence) && starts_like_json(first_bytes) {
            return Self::Json;
        }
        Self::Unsupported(family(essence))
    }
}

fn is_json(essence: &str) -> bool {
    matches!(essence, "application/json" | "text/json" | "application/x-json")
        || essence.contains('/') && essence.ends_with("+json")
}

/// Types whose bodies may begin like JSON and are not one JSON text.
fn never_json(essence: &str) -> bool {
    is_lines(essence) || essence.starts_with("multipart/") || is_binary(essence) || essence == "text/event-stream"
}

fn is_lines(essence: &str) -> bool {
    matches!(
        essence,
        "application/x-ndjson"
            | "application/ndjson"
            | "application/jsonl"
            | "application/x-jsonlines"
            | "application/json-lines"
            | "application/jsonlines"
            | "application/json-seq"
            | "text/x-ndjson"
            | "text/jsonl"
    ) || essence.ends_with("+json-seq")
}

fn is_binary(essence: &str) -> bool {
    ["image/", "audio/", "video/", "font/"].iter().any(|family| essence.starts_with(family))
        || matches!(
            essence,
            "application/octet-stream"
                | "application/pdf"
                | "application/zip"
                | "application/gzip"
                | "application/wasm"
        )
}

fn starts_like_json(first_bytes: &[u8]) -> bool {
    let start = first_bytes.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
    matches!(start, Some(b'{' | b'['))
}

/// JSON is UTF-8 (RFC 8259, section 8.1); ASCII is a part of it.
fn charset_trouble(parameters: &str) -> Option<&'static str> {
    let mut charsets = parameters.split(';').filter_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        (name.trim_ascii() == "charset").then(|| value.trim_ascii().trim_matches('"'))
    });
    charsets.any(|charset| !matches!(charset, "utf-8" | "utf8" | "us-ascii" | "ascii")).then_some("charset")
}

fn family(essence: &str) -> &'static str {
    match essence {
        "" => "no content type",
        "application/x-www-form-urlencoded" => "form",
        "text/event-stream" => "event stream",
        _ if is_lines(essence) => "JSON lines",
        _ if essence.starts_with("multipart/") => "multipart",
        _ if is_binary(essence) => "binary",
        _ if essence.ends_with("/xml") || essence.ends_with("+xml") => "XML",
        _ if essence.starts_with("text/") => "text",
        _ => "content type",
    }
}

#[cfg(test)]
mod tests {
    use super::Kind::{self, Empty, Json, Unsupported};

    #[track_caller]
    fn check(content_type: &str, body: &str, expected: Kind) {
        let types = (!content_type.is_empty()).then_some(content_type.as_bytes());
        assert_eq!(Kind::of(types, [], body.as_bytes()), expected, "{content_type}");
    }

    #[test]
    fn json_is_known_by_its_label() {
        for label in [
            "application/json",
            "Application/JSON; charset=UTF-8",
            "application/problem+json",
            "application/vnd.api+json;charset=\"utf-8\"",
            "text/json",
            " application/json ; q=1",
        ] {
            check(label, "12", Json);
        }
    }

    #[test]
    fn json_is_known_by_its_beginning() {
        for label in ["", "text/plain", "text/html", "application/x-www-form-urlencoded", "application/xml", "x"] {
            check(label, " \r\n\t{\"a\":1}", Json);
            check(label, "[1]", Json);
        }
    }

    #[test]
    fn a_beginning_does_not_make_lines_or_binaries_json() {
        check("application/x-ndjson", "{}\n{}", Unsupported("JSON lines"));
        check("application/jsonl", "{}", Unsupported("JSON lines"));
        check("application/geo+json-seq", "{}", Unsupported("JSON lines"));
        check("multipart/form-data; boundary=x", "{", Unsupported("multipart"));
        check("image/png", "[", Unsupported("binary"));
        check("application/octet-stream", "{", Unsupported("binary"));
        check("text/event-stream", "[", Unsupported("event stream"));
    }

    #[test]
    fn the_rest_is_unsupported_in_fixed_words() {
        check("text/plain", "hello", Unsupported("text"));
        check("", "hello", Unsupported("no content type"));
        check("application/x-www-form-urlencoded", "a=1", Unsupported("form"));
        check("image/svg+xml", "<svg/>", Unsupported("binary"));
        check("application/soap+xml", "<a/>", Unsupported("XML"));
        check("application/secret-4111", "x", Unsupported("content type"));
    }

    #[test]
    fn other_charsets_are_unsupported() {
        for label in
            ["application/json; charset=utf-16", "application/json;charset=utf-7", "text/plain; x=1; CHARSET=latin1"]
        {
            check(label, "{}", Unsupported("charset"));
        }
        check("application/json; charset=us-ascii", "{}", Json);
        check("application/json; charset=utf-8; charset=utf-16", "{}", Unsupported("charset"));
    }

    #[test]
    fn lines_that_differ_are_unsupported() {
        let of = |types: &[&'static str]| Kind::of(types.iter().map(|line| line.as_bytes()), [], b"{}");
        assert_eq!(of(&["application/json", "Application/json "]), Json);
        assert_eq!(of(&["application/json", "text/plain"]), Unsupported("differing content types"));
    }

    #[test]
    fn any_encoding_is_unsupported() {
        let of = |codings: &[&'static str]| {
            Kind::of([b"application/json".as_slice()], codings.iter().map(|line| line.as_bytes()), b"{}")
        };
        assert_eq!(of(&["identity"]), Json);
        assert_eq!(of(&["", "Identity, identity"]), Json);
        assert_eq!(of(&["gzip"]), Unsupported("content encoding"));
        assert_eq!(of(&["identity, br"]), Unsupported("content encoding"));
        assert_eq!(of(&["identity", "zstd"]), Unsupported("content encoding"));
    }

    #[test]
    fn no_body_is_empty_whatever_it_says() {
        check("image/png", "", Empty);
    }
}
