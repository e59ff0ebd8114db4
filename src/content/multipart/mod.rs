//! A multipart body (RFC 2046, section 5.1; RFC 7578), cut into its parts. Promises that there is one reading of it: a boundary
//! stands on a line of its own between CR and LF, or the body is at fault. Lenient readers take more for a boundary, and would
//! find parts that nobody has judged. What is in a part it refuses to know.

mod boundary;
mod head;
mod params;

use std::fmt;

use memchr::memmem::Finder;

pub use boundary::Boundary;
pub use head::{Field, Head, HeadFault};
pub use params::{Param, params};

/// Most bytes of a part's head. Browsers write two short lines.
const HEAD: usize = 16 * 1024;

/// Most parts of a body: what widespread frameworks take.
const PARTS: usize = 1000;

/// What comes of a chunk. All of them, one after the other, are the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A boundary with its line ends.
    Line(&'a [u8]),
    /// What is before the first boundary or behind the last: no part.
    Around(&'a [u8]),
    /// The head of a part, all of it, with the blank line that ends it.
    Head(&'a [u8]),
    /// Something of what is in the part.
    Data(&'a [u8]),
    /// The part has ended.
    End,
}

/// Why there is no next piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// In fixed words.
    Malformed(&'static str),
    /// In fixed words.
    Oversize(&'static str),
}

/// Cuts a body into parts.
pub struct Parts {
    /// Two dashes and the boundary.
    dashed: Finder<'static>,
    place: Place,
    /// What is not decided.
    held: Vec<u8>,
    count: usize,
}

/// SECURITY: what is held is somebody's data.
impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts").field("place", &self.place).field("held", &self.held.len()).finish_non_exhaustive()
    }
}

/// Where in the body what is held begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    /// Before the first boundary.
    Preamble,
    Head,
    Data,
    /// Right behind the two dashes of the last boundary.
    Close,
    Epilogue,
}

/// What can be made of what is held.
enum Step<'a> {
    /// This piece, and where it leads.
    Piece(Piece<'a>, Place),
    /// So much of the part, and then a boundary that leads there; both lengths.
    Boundary(usize, usize, Place),
    /// Nothing, until more has come.
    Wait,
}

impl Parts {
    /// At the start of a body.
    pub fn new(boundary: &Boundary) -> Self {
        let dashed = Finder::new(&boundary.dashed()).into_owned();
        Self { dashed, place: Place::Start, held: Vec::new(), count: 0 }
    }

    /// Whether there is something in a text that could be taken for a boundary.
    pub fn has_boundary(&self, text: &[u8]) -> bool {
        self.dashed.find(text).is_some()
    }

    /// Bytes of what [`Self::has_boundary`] looks for.
    pub fn boundary_length(&self) -> usize {
        self.dashed.needle().len()
    }

    /// What was read and not yet shown.
    pub fn held(&self) -> &[u8] {
        &self.held
    }

    /// Reads the next bytes and shows `each` piece. After an error nothing more may be pushed.
    pub fn push<E: From<Fault>>(
        &mut self,
        chunk: &[u8],
        mut each: impl FnMut(Piece<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.held.extend_from_slice(chunk);
        self.cut(false, &mut each)
    }

    /// The body has ended.
    pub fn finish<E: From<Fault>>(&mut self, mut each: impl FnMut(Piece<'_>) -> Result<(), E>) -> Result<(), E> {
        self.cut(true, &mut each)?;
        match self.place {
            Place::Close | Place::Epilogue => Ok(()),
            Place::Start | Place::Preamble | Place::Head | Place::Data => {
                Err(Fault::Malformed("multipart without its last boundary").into())
            }
        }
    }

    fn cut<E: From<Fault>>(&mut self, last: bool, each: &mut impl FnMut(Piece<'_>) -> Result<(), E>) -> Result<(), E> {
        let held = std::mem::take(&mut self.held);
        let mut at = 0;
        let result = loop {
            let rest = held.get(at..).unwrap_or_default();
            let before = at;
            let result = match self.step(rest, last) {
                Ok(Step::Wait) => break Ok(()),
                Ok(Step::Piece(piece, next)) => {
                    at += piece.bytes().len();
                    self.place = next;
                    each(piece)
                }
                Ok(Step::Boundary(data, line, next)) => {
                    at += data + line;
                    let (data, rest) = rest.split_at_checked(data).unwrap_or_default();
                    let was = std::mem::replace(&mut self.place, next);
                    each(was.piece(data))
                        .and_then(|()| if was == Place::Data { each(Piece::End) } else { Ok(()) })
                        .and_then(|()| each(Piece::Line(rest.get(..line).unwrap_or_default())))
                }
                Err(fault) => Err(fault.into()),
            };
            if let Err(error) = result {
                at = before;
                break Err(error);
            }
        };
        self.held = held;
        self.held.drain(..at);
        result
    }

    /// What is next, of bytes that begin at `place`.
    fn step<'b>(&mut self, rest: &'b [u8], last: bool) -> Result<Step<'b>, Fault> {
        match self.place {
            Place::Head => self.head(rest),
            Place::Close => match rest {
                [] | [b'\r'] if !last => Ok(Step::Wait),
                [] => Ok(Step::Wait),
                [b'\r', b'\n', ..] => {
                    let (line, _) = rest.split_at_checked(2).unwrap_or((rest, b""));
                    Ok(Step::Piece(Piece::Line(line), Place::Epilogue))
                }
                _ => Err(Fault::Malformed("something right behind the last boundary of multipart")),
            },
            Place::Start | Place::Preamble | Place::Data | Place::Epilogue => self.content(rest, last),
        }
    }

    fn head<'b>(&mut self, rest: &'b [u8]) -> Result<Step<'b>, Fault> {
        let end = match rest {
            [] | [b'\r'] => None,
            [b'\r', b'\n', ..] => Some(2),
            _ => memchr::memmem::find(rest, b"\r\n\r\n").map(|at| at + 4),
        };
        if end.unwrap_or(rest.len()) > HEAD {
            return Err(Fault::Oversize("the head of a part is larger than 16 KiB"));
        }
        let Some((head, _)) = end.and_then(|end| rest.split_at_checked(end)) else { return Ok(Step::Wait) };
        if self.has_boundary(head) {
            return Err(Fault::Malformed("a boundary in the head of a part"));
        }
        self.count += 1;
        if self.count > PARTS {
            return Err(Fault::Oversize("more than a thousand parts"));
        }
        Ok(Step::Piece(Piece::Head(head), Place::Data))
    }

    fn content<'b>(&self, rest: &'b [u8], last: bool) -> Result<Step<'b>, Fault> {
        let length = self.boundary_length();
        let Some(found) = self.dashed.find(rest) else {
            // A line end, and all but the last byte of a boundary.
            let keep = if last { 0 } else { length + 1 };
            let place = if self.place == Place::Start { Place::Preamble } else { self.place };
            return Ok(match rest.split_at_checked(rest.len().saturating_sub(keep)) {
                Some((bytes, _)) if !bytes.is_empty() => Step::Piece(self.place.piece(bytes), place),
                Some(_) | None => Step::Wait,
            });
        };
        if self.place == Place::Epilogue {
            return Err(Fault::Malformed("a boundary behind the last one of multipart"));
        }
        let begins_line = found == 0 && self.place == Place::Start
            || rest.get(..found).is_some_and(|before| before.ends_with(b"\r\n"));
        if !begins_line {
            return Err(Fault::Malformed("a multipart boundary that begins no line"));
        }
        let data = found.saturating_sub(2);
        let line = found - data + length;
        match rest.get(found + length..).unwrap_or_default() {
            [b'\r', b'\n', ..] => Ok(Step::Boundary(data, line + 2, Place::Head)),
            [b'-', b'-', ..] => Ok(Step::Boundary(data, line + 2, Place::Close)),
            [] | [b'\r' | b'-'] if !last => Ok(Step::Wait),
            _ => Err(Fault::Malformed("a multipart boundary that ends no line")),
        }
    }
}

impl Place {
    /// What bytes here are.
    fn piece(self, bytes: &[u8]) -> Piece<'_> {
        match self {
            Self::Data => Piece::Data(bytes),
            Self::Start | Self::Preamble | Self::Head | Self::Close | Self::Epilogue => Piece::Around(bytes),
        }
    }
}

impl<'a> Piece<'a> {
    fn bytes(self) -> &'a [u8] {
        match self {
            Self::Line(bytes) | Self::Around(bytes) | Self::Head(bytes) | Self::Data(bytes) => bytes,
            Self::End => b"",
        }
    }
}

#[cfg(test)]
mod tests;
