//! HTTP/1.1 messages, read as strictly as RFC 9112 writes them: what an upstream of the careful kind would accept.

/// How far reading has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress<T> {
    /// It is all there.
    Done(T),
    /// It goes on.
    More,
    /// It is not well formed.
    Fault(String),
}

/// First line and fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The first line.
    pub line: String,
    /// Names in lower case, values as they came.
    pub fields: Vec<(String, String)>,
}

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// After so many bytes.
    Length(usize),
    /// With the last chunk.
    Chunked,
}

const fn is_token(b: u8) -> bool {
    b.is_ascii_alphanumeric()
        || matches!(
            b,
            b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~'
        )
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|b| char::from(*b)).collect()
}

/// One line without its CRLF, and where the next one begins.
fn line(bytes: &[u8]) -> Progress<(&[u8], usize)> {
    for (at, b) in bytes.iter().enumerate() {
        match (b, bytes.get(at + 1)) {
            (b'\n', _) => return Progress::Fault("LF without CR".into()),
            (b'\r', Some(b'\n')) => return Progress::Done((&bytes[..at], at + 2)),
            (b'\r', None) => return Progress::More,
            (b'\r', Some(_)) => return Progress::Fault("CR without LF".into()),
            _ => {}
        }
    }
    Progress::More
}

impl Head {
    /// Takes a head off the front; with it, where the body begins.
    pub fn take(bytes: &[u8]) -> Progress<(Self, usize)> {
        let mut lines = Vec::new();
        let mut at = 0;
        loop {
            match line(&bytes[at..]) {
                Progress::Done((text, next)) => {
                    at += next;
                    if text.is_empty() && !lines.is_empty() {
                        break;
                    }
                    lines.push(text);
                }
                Progress::More => return Progress::More,
                Progress::Fault(why) => return Progress::Fault(why),
            }
        }
        let mut fields = Vec::new();
        for text in &lines[1..] {
            let Some(colon) = text.iter().position(|b| *b == b':') else {
                return Progress::Fault("a field without a colon".into());
            };
            let (name, value) = (&text[..colon], &text[colon + 1..]);
            if name.is_empty() || !name.iter().all(|b| is_token(*b)) {
                return Progress::Fault(format!("a field name that is not a token: {:?}", latin1(name)));
            }
            if value.iter().any(|b| (*b < b' ' && *b != b'\t') || *b == 0x7f) {
                return Progress::Fault("a control character in a field".into());
            }
            fields.push((latin1(name).to_ascii_lowercase(), latin1(value.trim_ascii())));
        }
        Progress::Done((Self { line: latin1(lines[0]), fields }, at))
    }

    /// The method of a request.
    pub fn method(&self) -> &str {
        self.line.split(' ').next().unwrap_or_default()
    }

    /// The target of a request.
    pub fn target(&self) -> &str {
        self.line.split(' ').nth(1).unwrap_or_default()
    }

    /// The status of an answer.
    pub fn status(&self) -> u16 {
        self.line.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    /// All values of a field.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.fields.iter().filter(move |(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Whether it is there.
    pub fn has(&self, name: &str) -> bool {
        self.all(name).next().is_some()
    }

    /// What is wrong with the first line of a request, or with its Host.
    pub fn request_fault(&self) -> Option<String> {
        let parts: Vec<&str> = self.line.split(' ').collect();
        let [method, target, version] = parts.as_slice() else {
            return Some(format!("a request line of {} parts", parts.len()));
        };
        if method.is_empty() || !method.bytes().all(is_token) {
            return Some("a method that is not a token".into());
        }
        if !target.bytes().all(|b| b.is_ascii_graphic()) || target.contains('#') {
            return Some("a target with a character that it must not have".into());
        }
        if !target.starts_with('/') && *target != "*" {
            return Some("a target that is not in origin form".into());
        }
        match *version {
            "HTTP/1.1" if self.all("host").count() != 1 => Some("not exactly one Host".into()),
            "HTTP/1.1" | "HTTP/1.0" => None,
            _ => Some("a version that is not 1.1 or 1.0".into()),
        }
    }

    /// How the body is framed; `None`: nothing is said.
    pub fn framing(&self) -> Result<Option<Body>, String> {
        let codings: Vec<&str> = self.all("transfer-encoding").collect();
        let lengths: Vec<&str> = self.all("content-length").collect();
        match (codings.as_slice(), lengths.as_slice()) {
            ([], []) => Ok(None),
            ([coding], []) if coding.eq_ignore_ascii_case("chunked") => Ok(Some(Body::Chunked)),
            ([], [length]) if !length.is_empty() && length.bytes().all(|b| b.is_ascii_digit()) => {
                length.parse().map(|n| Some(Body::Length(n))).map_err(|_| "a length without end".to_owned())
            }
            _ => Err(format!("framing that must be guessed: {codings:?} {lengths:?}")),
        }
    }
}

impl Body {
    /// Takes a body off the front; with it, how many bytes it took.
    pub fn take(self, bytes: &[u8]) -> Progress<(Vec<u8>, usize)> {
        match self {
            Self::Length(length) if bytes.len() >= length => Progress::Done((bytes[..length].to_vec(), length)),
            Self::Length(_) => Progress::More,
            Self::Chunked => chunks(bytes),
        }
    }
}

fn chunks(bytes: &[u8]) -> Progress<(Vec<u8>, usize)> {
    let mut body = Vec::new();
    let mut at = 0;
    loop {
        let (text, next) = match line(&bytes[at..]) {
            Progress::Done(done) => done,
            Progress::More => return Progress::More,
            Progress::Fault(why) => return Progress::Fault(why),
        };
        let digits = text.split(|b| *b == b';').next().unwrap_or_default();
        let is_hex = !digits.is_empty() && digits.len() <= 16 && digits.iter().all(u8::is_ascii_hexdigit);
        let Some(size) = is_hex.then(|| usize::from_str_radix(&latin1(digits), 16).ok()).flatten() else {
            return Progress::Fault(format!("a chunk size that is not hexadecimal: {:?}", latin1(text)));
        };
        at += next;
        if size == 0 {
            break;
        }
        let Some(data) = bytes.get(at..at.saturating_add(size)) else { return Progress::More };
        let Some(end) = bytes.get(at + size..at + size + 2) else { return Progress::More };
        if end != b"\r\n" {
            return Progress::Fault("a chunk that does not end where it says".into());
        }
        body.extend_from_slice(data);
        at += size + 2;
    }
    loop {
        match line(&bytes[at..]) {
            Progress::Done((b"", next)) => return Progress::Done((body, at + next)),
            Progress::Done((_, next)) => at += next,
            Progress::More => return Progress::More,
            Progress::Fault(why) => return Progress::Fault(why),
        }
    }
}
