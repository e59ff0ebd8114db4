//! A body that is a row of documents, cut where each ends: JSON lines, events, the pairs of a form. Promises that the chunks
//! make no difference and that it never holds more than it may; what stands in a document it refuses to know.

use std::fmt;

use super::events::EventEnds;

/// Where documents end.
#[derive(Debug)]
pub enum Ends {
    /// Behind this byte.
    Byte(u8),
    /// Behind a blank line.
    Events(EventEnds),
}

impl Ends {
    /// How much of `bytes` belongs to the document at hand, if it ends there.
    fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Byte(byte) => memchr::memchr(*byte, bytes).map(|at| at + 1),
            Self::Events(ends) => ends.find(bytes),
        }
    }
}

/// What comes of a chunk.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A document, with what ends it. The last one may lack that.
    Whole(&'a [u8]),
    /// A part of one that is longer than what may be held.
    Part(&'a [u8]),
    /// The end of that one.
    End,
}

/// Cuts a body into documents.
pub struct Documents {
    ends: Ends,
    /// Bytes of one document that may be held until its end has come.
    hold: usize,
    held: Vec<u8>,
    is_long: bool,
}

/// SECURITY: what is held is somebody's data.
impl fmt::Debug for Documents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Documents").field("held", &self.held.len()).finish_non_exhaustive()
    }
}

impl Documents {
    /// At the start of a body.
    pub fn new(ends: Ends, hold: usize) -> Self {
        Self { ends, hold, held: Vec::new(), is_long: false }
    }

    /// Bytes of a document whose end has not come.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Reads the next bytes and shows `each` piece. After an error nothing more may be pushed.
    pub fn push<E>(&mut self, chunk: &[u8], mut each: impl FnMut(Piece<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut rest = chunk;
        while !rest.is_empty() {
            let end = self.ends.find(rest);
            let (bytes, after) = rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or((rest, b""));
            rest = after;
            self.add(bytes, end.is_some(), &mut each)?;
        }
        Ok(())
    }

    fn add<E>(&mut self, bytes: &[u8], ends: bool, each: &mut impl FnMut(Piece<'_>) -> Result<(), E>) -> Result<(), E> {
        if !self.is_long && self.held.len() + bytes.len() > self.hold {
            self.is_long = true;
            let held = std::mem::take(&mut self.held);
            if !held.is_empty() {
                each(Piece::Part(&held))?;
            }
        }
        if self.is_long {
            each(Piece::Part(bytes))?;
            if ends {
                self.is_long = false;
                each(Piece::End)?;
            }
        } else if !ends {
            self.held.extend_from_slice(bytes);
        } else if self.held.is_empty() {
            each(Piece::Whole(bytes))?;
        } else {
            self.held.extend_from_slice(bytes);
            each(Piece::Whole(&self.held))?;
            self.held.clear();
            // One long document is no reason to keep as much for ever.
            self.held.shrink_to(64 * 1024);
        }
        Ok(())
    }

    /// The body has ended, and the document at hand with it.
    pub fn finish<E>(&mut self, mut each: impl FnMut(Piece<'_>) -> Result<(), E>) -> Result<(), E> {
        if std::mem::take(&mut self.is_long) {
            return each(Piece::End);
        }
        let held = std::mem::take(&mut self.held);
        if held.is_empty() { Ok(()) } else { each(Piece::Whole(&held)) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Documents, Ends, EventEnds, Piece};
    use proptest::prelude::*;
    use std::convert::Infallible;

    /// The documents, long ones in brackets.
    fn cut(ends: Ends, hold: usize, chunks: &[&[u8]]) -> Vec<String> {
        let mut documents = Documents::new(ends, hold);
        let (mut found, mut long) = (Vec::new(), String::new());
        let mut each = |piece: Piece<'_>| {
            match piece {
                Piece::Whole(bytes) => found.push(String::from_utf8_lossy(bytes).into_owned()),
                Piece::Part(bytes) => long.push_str(&String::from_utf8_lossy(bytes)),
                Piece::End => found.push(format!("<{}>", std::mem::take(&mut long))),
            }
            Ok::<(), Infallible>(())
        };
        for chunk in chunks {
            documents.push(chunk, &mut each).unwrap();
        }
        documents.finish(&mut each).unwrap();
        found
    }

    fn events() -> Ends {
        Ends::Events(EventEnds::default())
    }

    #[test]
    fn lines_end_behind_their_byte() {
        assert_eq!(cut(Ends::Byte(b'\n'), 9, &[b"a\r\n\nbc"]), ["a\r\n", "\n", "bc"]);
        assert_eq!(cut(Ends::Byte(b'\n'), 3, &[b"ab\nabc\na", b"bcd"]), ["ab\n", "<abc\n>", "<abcd>"]);
        assert!(cut(Ends::Byte(b'\n'), 3, &[b""]).is_empty());
    }

    #[test]
    fn events_end_behind_a_blank_line() {
        assert_eq!(cut(events(), 99, &[b"a\n\nb\r\n\r\nc\r\rd"]), ["a\n\n", "b\r\n\r", "\n", "c\r\r", "d"]);
        assert_eq!(cut(events(), 99, &[b"a\n\r\nb\r\n\nc"]), ["a\n\r", "\n", "b\r\n\n", "c"]);
        assert_eq!(cut(events(), 99, &[b"\n\r\na:\n\n"]), ["\n", "\r", "\n", "a:\n\n"]);
        assert_eq!(cut(events(), 4, &[b"ab\n\nabc\n\n"]), ["ab\n\n", "<abc\n\n>"]);
    }

    proptest! {
        #[test]
        fn chunks_make_no_difference(text in "[ab\r\n]{0,40}", size in 1_usize..9, hold in 0_usize..12) {
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            for ends in [events, || Ends::Byte(b'\n')] {
                let found = cut(ends(), hold, &pieces);
                prop_assert_eq!(&found, &cut(ends(), hold, &[text.as_bytes()]));
                let joined: String = found.iter().map(|it| it.trim_matches(['<', '>'])).collect();
                prop_assert_eq!(joined, text.clone());
            }
        }
    }
}
