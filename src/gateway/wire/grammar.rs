//! Where requests begin and end in the bytes of a connection, and where they stop being well formed (RFC 9112). It reads
//! lines and framing and keeps nothing but the front of a line that is split; the rest of a head is the parser's business.
//!
//! PERF: one `memchr` for each line of a head; bodies are skipped by their length, chunk by chunk.

use memchr::{memchr, memchr2};

/// How much of a line that arrives in parts is remembered: enough for every line that is looked into.
const KEPT: usize = 256;
/// Longest chunk line, extensions included.
const CHUNK_LINE: usize = 1024;

/// What can be said of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// They go on well.
    Good,
    /// After so many of them ends a head whose end of body nobody can know: it is refused by what it says, and what follows
    /// is no request.
    Last(usize),
    /// After so many of them a head is not well formed.
    BadHead(usize),
    /// After so many of them a body is not well framed.
    BadBody(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// In or before a line.
    Line(Line),
    /// In a body that has so many bytes left.
    Length(u64),
    /// In a chunk that has so many bytes left.
    Chunk(u64),
    /// Another protocol is spoken.
    Tunnel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// An empty line, or the beginning of a request line.
    Start,
    Request,
    Field,
    ChunkSize,
    ChunkEnd,
    Trailer,
}

/// What a head has said of its message so far.
#[derive(Debug, Clone, Copy, Default)]
struct Said {
    length: Option<u64>,
    is_chunked: bool,
    /// It says two things at once, or something that we do not speak.
    is_unclear: bool,
    wants_upgrade: bool,
}

/// Reads along.
#[derive(Debug)]
pub(super) struct Grammar {
    state: State,
    said: Said,
    /// The front of a line whose end has not come, and its length.
    line: Vec<u8>,
    length: usize,
    /// Whether the last byte was a CR.
    after_cr: bool,
}

impl Default for Grammar {
    fn default() -> Self {
        Self { state: State::Line(Line::Start), said: Said::default(), line: Vec::new(), length: 0, after_cr: false }
    }
}

/// Something is not well formed.
struct Bad;

impl Grammar {
    /// Reads the next bytes. After anything but [`Step::Good`] there is nothing more to be read.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Step {
        let mut rest = bytes;
        while !rest.is_empty() {
            let at = bytes.len() - rest.len();
            match self.state {
                State::Tunnel => return Step::Good,
                State::Length(left) | State::Chunk(left) => {
                    let taken = left.min(rest.len() as u64);
                    rest = rest.get(taken as usize..).unwrap_or_default();
                    self.skipped(left - taken);
                }
                State::Line(kind) => match self.line(kind, &mut rest) {
                    Err(Bad) if matches!(kind, Line::Start | Line::Request | Line::Field) => return Step::BadHead(at),
                    Err(Bad) => return Step::BadBody(at),
                    Ok(()) => {
                        let ended_head = kind == Line::Field && self.state != State::Line(Line::Field);
                        if ended_head && self.said.is_unclear {
                            return Step::Last(bytes.len() - rest.len());
                        }
                    }
                },
            }
        }
        Step::Good
    }

    /// Sees what is answered: after `101` the requested protocol is spoken (RFC 9110 section 15.2.2).
    pub(super) fn answered(&mut self, bytes: &[u8]) {
        if self.said.wants_upgrade && bytes.starts_with(b"HTTP/1.1 101 ") {
            self.state = State::Tunnel;
        }
    }

    /// Whether a part of a request has come and not the rest. A tunnel has no requests.
    pub(super) fn is_within_request(&self) -> bool {
        match self.state {
            State::Tunnel => false,
            State::Line(Line::Start) => self.length > 0,
            State::Line(_) | State::Length(_) | State::Chunk(_) => true,
        }
    }

    fn skipped(&mut self, left: u64) {
        self.state = match (self.state, left) {
            (State::Length(_), 0) => State::Line(Line::Start),
            (State::Length(_), left) => State::Length(left),
            (_, 0) => State::Line(Line::ChunkEnd),
            (_, left) => State::Chunk(left),
        };
    }

    /// Takes a line, or what has come of it, off the front.
    fn line(&mut self, kind: Line, rest: &mut &[u8]) -> Result<(), Bad> {
        let bytes = *rest;
        if std::mem::take(&mut self.after_cr) {
            let [b'\n', behind @ ..] = bytes else { return Err(Bad) };
            *rest = behind;
            let line = std::mem::take(&mut self.line);
            let length = std::mem::take(&mut self.length);
            let result = self.complete(kind, &line, length);
            self.line = line;
            self.line.clear();
            return result;
        }
        let Some(end) = memchr2(b'\r', b'\n', bytes) else {
            *rest = &[];
            return self.keep(kind, bytes);
        };
        let (front, behind) = bytes.split_at_checked(end).ok_or(Bad)?;
        match behind {
            [b'\r', b'\n', behind @ ..] if self.length == 0 => {
                *rest = behind;
                let kind = Self::piece(kind, front, front.len())?;
                self.complete(kind, front, front.len())
            }
            [b'\r', next @ ..] => {
                *rest = next;
                self.keep(kind, front)?;
                self.after_cr = true;
                Ok(())
            }
            _ => Err(Bad),
        }
    }

    /// Remembers the front of a line.
    fn keep(&mut self, kind: Line, piece: &[u8]) -> Result<(), Bad> {
        self.length += piece.len();
        self.state = State::Line(Self::piece(kind, piece, self.length)?);
        let room = KEPT - self.line.len().min(KEPT);
        self.line.extend_from_slice(piece.get(..room).unwrap_or(piece));
        Ok(())
    }

    /// What may not stand anywhere in a line, of which `length` bytes are there. Says what kind of line it is.
    fn piece(kind: Line, piece: &[u8], length: usize) -> Result<Line, Bad> {
        let is_text = |b: &u8| matches!(b, b'\t' | b' '..=0x7e | 0x80..);
        let is_good = match kind {
            // A fragment is the client's own (RFC 9112 section 3.2): the parser would cut it off.
            Line::Start | Line::Request => memchr(b'#', piece).is_none(),
            Line::ChunkSize => length <= CHUNK_LINE && piece.iter().all(is_text),
            Line::ChunkEnd => length == 0,
            Line::Trailer => piece.iter().all(is_text),
            Line::Field => true,
        };
        if !is_good {
            return Err(Bad);
        }
        Ok(if kind == Line::Start && length > 0 { Line::Request } else { kind })
    }

    /// A line has ended. `line` is its front; all of it, if it is not longer than what is kept.
    fn complete(&mut self, kind: Line, line: &[u8], length: usize) -> Result<(), Bad> {
        self.state = match kind {
            // Empty lines before a request are left over from old clients (RFC 9112 section 2.2).
            Line::Start => State::Line(Line::Start),
            Line::Request => {
                self.said = Said { is_unclear: line.starts_with(b"CONNECT "), ..Said::default() };
                State::Line(Line::Field)
            }
            Line::Field if line.is_empty() => self.body(),
            Line::Field => {
                self.field(line, length)?;
                State::Line(Line::Field)
            }
            Line::ChunkSize => match chunk_size(line).ok_or(Bad)? {
                0 => State::Line(Line::Trailer),
                size => State::Chunk(size),
            },
            Line::ChunkEnd => State::Line(Line::ChunkSize),
            Line::Trailer if line.is_empty() => State::Line(Line::Start),
            Line::Trailer => {
                trailer(line, length)?;
                State::Line(Line::Trailer)
            }
        };
        Ok(())
    }

    fn body(&self) -> State {
        match (self.said.is_chunked, self.said.length) {
            (true, _) => State::Line(Line::ChunkSize),
            (false, Some(length @ 1..)) => State::Length(length),
            (false, _) => State::Line(Line::Start),
        }
    }

    /// Looks into the few fields that say how long a message is.
    fn field(&mut self, line: &[u8], length: usize) -> Result<(), Bad> {
        match line.first() {
            // A folded line, or one before the first field.
            Some(b' ' | b'\t') | None => return Err(Bad),
            Some(b'c' | b'C' | b't' | b'T' | b'u' | b'U') => {}
            Some(_) => return Ok(()),
        }
        let Some((name, value)) = memchr(b':', line).and_then(|colon| line.split_at_checked(colon)) else {
            return Ok(());
        };
        let value = value.get(1..).unwrap_or_default().trim_ascii();
        let said = &mut self.said;
        if name.eq_ignore_ascii_case(b"content-length") {
            let given = decimal(value).filter(|_| length <= KEPT).ok_or(Bad)?;
            said.is_unclear |= said.length.is_some() || said.is_chunked;
            said.length = Some(given);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            let is_known = value.eq_ignore_ascii_case(b"chunked") && length <= KEPT;
            said.is_unclear |= !is_known || said.is_chunked || said.length.is_some();
            said.is_chunked = true;
        } else if name.eq_ignore_ascii_case(b"upgrade") {
            said.wants_upgrade = true;
        }
        Ok(())
    }
}

/// A number in plain digits (RFC 9110 section 8.6).
fn decimal(digits: &[u8]) -> Option<u64> {
    let is_plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    is_plain.then(|| std::str::from_utf8(digits).ok()?.parse().ok()).flatten()
}

/// The size that a chunk line says (RFC 9112 section 7.1). Extensions are skipped; a blank is no extension.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let end = line.iter().position(|b| !b.is_ascii_hexdigit()).unwrap_or(line.len());
    let (digits, behind) = line.split_at_checked(end)?;
    let is_extension = behind.is_empty() || behind.trim_ascii_start().first() == Some(&b';');
    let size = u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (is_extension && digits.len() <= 16).then_some(size)
}

/// A trailer is dropped, and must still be a field.
fn trailer(line: &[u8], length: usize) -> Result<(), Bad> {
    let is_token = |b: &u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(b);
    let is_cut = length > line.len();
    let name = match memchr(b':', line) {
        Some(colon) => line.get(..colon).unwrap_or_default(),
        None if is_cut => line,
        None => return Err(Bad),
    };
    if !name.is_empty() && name.iter().all(is_token) { Ok(()) } else { Err(Bad) }
}
