//! Which content codings a body has, by its labels, and which ones may be asked for. It decodes nothing.

/// A content coding that can be taken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// RFC 1952.
    Gzip,
    /// RFC 1950, and RFC 1951 without it, which some servers send under this name.
    Deflate,
    /// RFC 7932.
    Brotli,
    /// RFC 8878, with the windows of RFC 9659.
    Zstd,
}

impl Coding {
    /// By its name in `Content-Encoding` and `Accept-Encoding`, without regard to case.
    pub fn named(name: &[u8]) -> Option<Self> {
        let names: [(&[u8], Self); 5] = [
            (b"gzip", Self::Gzip),
            (b"x-gzip", Self::Gzip),
            (b"deflate", Self::Deflate),
            (b"br", Self::Brotli),
            (b"zstd", Self::Zstd),
        ];
        names.into_iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, coding)| coding)
    }
}

/// The codings of one body, in the order in which they were put on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Codings(Vec<Coding>);

impl Codings {
    /// How many may lie over one another. Nobody needs two; each one more multiplies what a byte can grow to.
    pub const MOST: usize = 3;

    /// Reads all `Content-Encoding` lines. A fault comes in fixed words.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, &'static str> {
        let mut list = Vec::new();
        for member in members(lines) {
            if member.eq_ignore_ascii_case(b"identity") {
                continue;
            }
            list.push(Coding::named(member).ok_or("content encoding")?);
        }
        if list.len() > Self::MOST { Err("more than three content encodings") } else { Ok(Self(list)) }
    }

    /// This one alone.
    pub fn one(coding: Coding) -> Self {
        Self(vec![coding])
    }

    /// Whether there is none, so that the body is as it is.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In the order in which they come off.
    pub(super) fn innermost_last(&self) -> impl Iterator<Item = Coding> {
        self.0.iter().rev().copied()
    }
}

/// What is left of `Accept-Encoding` lines (RFC 9110, section 12.5.3) for somebody whose answers are decoded on the way:
/// members that name a coding that can be taken off, with their weights. `identity` if there is none.
pub fn accepted<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for member in members(lines) {
        let (name, weight) = match member.iter().position(|byte| *byte == b';') {
            Some(at) => member.split_at(at),
            None => (member, &b""[..]),
        };
        let is_plain = weight.iter().all(|byte| byte.is_ascii_digit() || b"; q=.\t".contains(byte));
        if is_plain
            && Coding::named(name.trim_ascii()).is_some()
            && let Ok(member) = std::str::from_utf8(member)
        {
            kept.push(member);
        }
    }
    if kept.is_empty() { "identity".to_owned() } else { kept.join(", ") }
}

fn members<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> impl Iterator<Item = &'a [u8]> {
    let members = lines.into_iter().flat_map(|line| line.split(|byte| *byte == b','));
    members.map(<[u8]>::trim_ascii).filter(|member| !member.is_empty())
}

#[cfg(test)]
mod tests {
    use super::Coding::{Brotli, Deflate, Gzip, Zstd};
    use super::{Coding, Codings, accepted};

    #[track_caller]
    fn check(lines: &[&str], expected: Result<&[Coding], &'static str>) {
        let codings = Codings::of(lines.iter().map(|line| line.as_bytes()));
        assert_eq!(codings.as_ref().map(|codings| codings.0.as_slice()), expected.as_ref().copied(), "{lines:?}");
    }

    #[test]
    fn codings_are_known_by_their_names() {
        check(&[], Ok(&[]));
        check(&["", " , identity,IDENTITY "], Ok(&[]));
        check(&["GZip"], Ok(&[Gzip]));
        check(&["x-gzip"], Ok(&[Gzip]));
        check(&["deflate, br", "zstd"], Ok(&[Deflate, Brotli, Zstd]));
        check(&["identity,gzip\t,,gzip"], Ok(&[Gzip, Gzip]));
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        for line in ["compress", "gzip;q=1", "\"gzip\"", "gzip br", "x-deflate", "aws-chunked", "gzip, \u{e9}", "*"] {
            check(&[line], Err("content encoding"));
        }
        check(&["gzip, gzip, gzip", "gzip"], Err("more than three content encodings"));
    }

    #[test]
    fn only_what_can_be_decoded_is_asked_for() {
        let check = |lines: &[&str], expected: &str| {
            assert_eq!(accepted(lines.iter().map(|line| line.as_bytes())), expected, "{lines:?}");
        };
        check(&[], "identity");
        check(&["*"], "identity");
        check(&["identity;q=0, dcb"], "identity");
        check(&["gzip, deflate, br, zstd"], "gzip, deflate, br, zstd");
        check(&["GZIP;q=0.5, dcz, *;q=0", " br ; q=1.0"], "GZIP;q=0.5, br ; q=1.0");
        check(&["gzip;x=y, br"], "br");
        check(&["gzip;q=0"], "gzip;q=0");
    }
}
