//! What a body is, by its labels and its beginning. It answers in fixed words: nothing of a header or a body gets into
//! them. When in doubt it says unsupported, and policy decides.

use super::multipart::Boundary;

/// What a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// There is none.
    Empty,
    /// Something that can be read.
    Known(Format),
    /// Nothing that can be read here, with the reason.
    Unsupported(&'static str),
}

/// What a body is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One JSON text.
    Json,
    /// JSON texts, one to a line.
    Lines,
    /// JSON texts behind record separators (RFC 7464).
    Records,
    /// Server-sent events.
    Events,
    /// `name=value` pairs (WHATWG URL, section 5).
    Form,
    /// Parts with heads of their own, between boundaries (RFC 2046, RFC 7578).
    Multipart(Boundary),
    /// Text of any other kind, XML and HTML too.
    Text,
}

impl Format {
    /// Whether it is a row of documents without end: each is judged and passed on before the next one comes.
    pub const fn is_endless(self) -> bool {
        match self {
            Self::Lines | Self::Records | Self::Events => true,
            Self::Json | Self::Form | Self::Multipart(_) | Self::Text => false,
        }
    }
}

impl Kind {
    /// Judges by all `Content-Type` lines, and by the first bytes of the body, its content codings taken off (a few hundred
    /// are plenty; none means that the body is empty).
    pub fn of<'a>(content_types: impl IntoIterator<Item = &'a [u8]>, first_bytes: &[u8]) -> Self {
        if first_bytes.is_empty() {
            return Self::Empty;
        }
        Self::judged(content_types, first_bytes)
    }

    /// Judges by the label alone, before anything of the body is there.
    pub fn labelled<'a>(content_types: impl IntoIterator<Item = &'a [u8]>) -> Self {
        Self::judged(content_types, b"")
    }

    fn judged<'a>(content_types: impl IntoIterator<Item = &'a [u8]>, first_bytes: &[u8]) -> Self {
        let mut lines = content_types.into_iter().map(<[u8]>::trim_ascii);
        let line = lines.next().unwrap_or(b"");
        // SECURITY: where two lines differ, the next reader may believe the other one.
        if lines.any(|other| !other.eq_ignore_ascii_case(line)) {
            return Self::Unsupported("differing content types");
        }
        let Ok(line) = std::str::from_utf8(line) else { return Self::Unsupported("content type") };
        let written = line;
        let line = line.to_ascii_lowercase();
        let (essence, parameters) = line.split_once(';').unwrap_or((&line, ""));
        let essence = essence.trim_ascii();
        if let Some(reason) = charset_trouble(parameters) {
            return Self::Unsupported(reason);
        }
        if is_json(essence) || !never_json(essence) && starts_like_json(first_bytes) {
            return Self::Known(Format::Json);
        }
        if is_multipart(essence) {
            return Boundary::of(written)
                .map_or_else(Self::Unsupported, |boundary| Self::Known(Format::Multipart(boundary)));
        }
        family(essence, first_bytes)
    }
}

/// Kinds of multipart bodies whose parts are what they say. In others they are slices, copies of one another, or signed.
fn is_multipart(essence: &str) -> bool {
    matches!(essence, "multipart/form-data" | "multipart/mixed" | "multipart/related")
}

fn is_json(essence: &str) -> bool {
    matches!(essence, "application/json" | "text/json" | "application/x-json")
        || essence.contains('/') && essence.ends_with("+json")
}

/// Types whose bodies may begin like JSON and are not one JSON text.
fn never_json(essence: &str) -> bool {
    is_lines(essence)
        || is_records(essence)
        || essence.starts_with("multipart/")
        || is_binary(essence)
        || essence == "text/event-stream"
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
            | "text/x-ndjson"
            | "text/jsonl"
    )
}

fn is_records(essence: &str) -> bool {
    essence == "application/json-seq" || essence.ends_with("+json-seq")
}

fn is_xml(essence: &str) -> bool {
    essence.ends_with("/xml") || essence.ends_with("+xml")
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

/// SECURITY: a byte order mark does not make text of it: some readers of JSON skip one. The engine says malformed.
fn starts_like_json(first_bytes: &[u8]) -> bool {
    let start = first_bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(first_bytes)
        .iter()
        .find(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
    matches!(start, Some(b'{' | b'['))
}

/// JSON (RFC 8259, section 8.1) and events are UTF-8, and other text is read as nothing else; ASCII is a part of it.
fn charset_trouble(parameters: &str) -> Option<&'static str> {
    let mut charsets = parameters.split(';').filter_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        (name.trim_ascii() == "charset").then(|| value.trim_ascii().trim_matches('"'))
    });
    charsets.any(|charset| !is_utf8(charset)).then_some("charset")
}

fn family(essence: &str, first_bytes: &[u8]) -> Kind {
    match essence {
        "" => Kind::Unsupported("no content type"),
        "application/x-www-form-urlencoded" => Kind::Known(Format::Form),
        "text/event-stream" => Kind::Known(Format::Events),
        _ if is_lines(essence) => Kind::Known(Format::Lines),
        _ if is_records(essence) => Kind::Known(Format::Records),
        _ if essence.starts_with("multipart/") => Kind::Unsupported("multipart"),
        _ if is_binary(essence) => Kind::Unsupported("binary"),
        _ if is_xml(essence) && declares_other_encoding(first_bytes) => Kind::Unsupported("charset"),
        _ if is_xml(essence) || essence.starts_with("text/") => Kind::Known(Format::Text),
        _ => Kind::Unsupported("content type"),
    }
}

/// Whether an XML declaration (XML 1.0, section 2.8) names another encoding than UTF-8 or ASCII.
fn declares_other_encoding(first_bytes: &[u8]) -> bool {
    let start = first_bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first_bytes);
    let Some(rest) = start.strip_prefix(b"<?xml") else { return false };
    let declaration = String::from_utf8_lossy(rest.split(|byte| *byte == b'>').next().unwrap_or_default());
    let Some((_, encoding)) = declaration.split_once("encoding") else { return false };
    let name = encoding.trim_start_matches([' ', '\t', '\r', '\n', '=']).trim_start_matches(['"', '\'']);
    let name = name.split(['"', '\'']).next().unwrap_or_default().to_ascii_lowercase();
    !is_utf8(&name)
}

/// Whether text in a charset of this name (in lower case) is UTF-8.
pub fn is_utf8(charset: &str) -> bool {
    matches!(charset, "utf-8" | "utf8" | "us-ascii" | "ascii")
}

#[cfg(test)]
mod tests {
    use super::Boundary;
    use super::Format::{Events, Form, Json, Lines, Multipart, Records, Text};
    use super::Kind::{self, Empty, Known, Unsupported};

    #[track_caller]
    fn check(content_type: &str, body: &str, expected: Kind) {
        let types = (!content_type.is_empty()).then_some(content_type.as_bytes());
        assert_eq!(Kind::of(types, body.as_bytes()), expected, "{content_type}");
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
            check(label, "12", Known(Json));
        }
    }

    #[test]
    fn json_is_known_by_its_beginning() {
        for label in ["", "text/plain", "text/html", "application/x-www-form-urlencoded", "application/xml", "x"] {
            check(label, " \r\n\t{\"a\":1}", Known(Json));
            check(label, "[1]", Known(Json));
            check(label, "\u{feff}{}", Known(Json));
        }
    }

    #[test]
    fn a_beginning_does_not_make_lines_or_binaries_json() {
        check("application/x-ndjson", "{}\n{}", Known(Lines));
        check("application/jsonl", "{}", Known(Lines));
        check("application/geo+json-seq", "{}", Known(Records));
        check("multipart/byteranges; boundary=x", "{", Unsupported("multipart"));
        check("image/png", "[", Unsupported("binary"));
        check("application/octet-stream", "{", Unsupported("binary"));
        check("text/event-stream", "[", Known(Events));
    }

    #[test]
    fn text_and_forms_are_known_by_their_labels() {
        check("text/plain", "hello", Known(Text));
        check("text/html; charset=utf-8", "<b>", Known(Text));
        check("application/soap+xml", "<a/>", Known(Text));
        check("application/x-www-form-urlencoded", "a=1", Known(Form));
    }

    #[test]
    fn multipart_is_known_by_its_boundary() {
        let boundary = |written: &str| Known(Multipart(Boundary::of(written).unwrap()));
        for label in
            ["multipart/form-data; boundary=aB", "Multipart/Mixed;boundary=\"aB\"", "multipart/related; boundary=aB"]
        {
            check(label, "--aB", boundary("x; boundary=aB"));
            check(label, "{", boundary("x; boundary=aB"));
        }
        check("multipart/form-data", "--a", Unsupported("multipart without one boundary"));
        check("multipart/form-data; boundary=a; charset=utf-16", "--a", Unsupported("charset"));
    }

    #[test]
    fn xml_that_declares_another_encoding_is_unsupported() {
        check("text/xml", "<?xml version='1.0' encoding='utf-8'?>", Known(Text));
        check("text/xml", "<?xml version='1.0'?><a encoding='x'/>", Known(Text));
        check("text/xml", "\u{feff}<?xml version=\"1.0\" encoding = \"ISO-8859-1\"?>", Unsupported("charset"));
        check("a/b+xml", "<?xml encoding=", Unsupported("charset"));
    }

    #[test]
    fn the_rest_is_unsupported_in_fixed_words() {
        check("", "hello", Unsupported("no content type"));
        check("image/svg+xml", "<svg/>", Unsupported("binary"));
        check("application/secret-4111", "x", Unsupported("content type"));
    }

    #[test]
    fn other_charsets_are_unsupported() {
        for label in
            ["application/json; charset=utf-16", "application/json;charset=utf-7", "text/plain; x=1; CHARSET=latin1"]
        {
            check(label, "{}", Unsupported("charset"));
        }
        check("application/json; charset=us-ascii", "{}", Known(Json));
        check("application/json; charset=utf-8; charset=utf-16", "{}", Unsupported("charset"));
    }

    #[test]
    fn lines_that_differ_are_unsupported() {
        let of = |types: &[&'static str]| Kind::of(types.iter().map(|line| line.as_bytes()), b"{}");
        assert_eq!(of(&["application/json", "Application/json "]), Known(Json));
        assert_eq!(of(&["application/json", "text/plain"]), Unsupported("differing content types"));
    }

    #[test]
    fn no_body_is_empty_whatever_it_says() {
        check("image/png", "", Empty);
    }

    #[test]
    fn labels_may_be_enough() {
        let of = |label: &'static str| Kind::labelled([label.as_bytes()]);
        assert_eq!(of("text/event-stream;charset=utf-8"), Known(Events));
        assert!(!Json.is_endless() && Events.is_endless() && Lines.is_endless() && Records.is_endless());
    }
}
