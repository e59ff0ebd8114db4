//! What stands between the parts (RFC 2046, section 5.1.1), by the label of the body.

use std::fmt;

use super::params::params;

/// Longest boundary that the RFC allows.
const MOST: usize = 70;

/// The boundary of a multipart body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Boundary {
    bytes: [u8; MOST],
    length: usize,
}

/// Whoever wrote the body chose it.
impl fmt::Debug for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Boundary").field("length", &self.length).finish_non_exhaustive()
    }
}

impl Boundary {
    /// The one that a `Content-Type` names, in the case in which it was sent. A fault comes in fixed words.
    pub fn of(content_type: &str) -> Result<Self, &'static str> {
        let all = params(content_type).ok_or("parameters of a multipart type that readers differ about")?;
        let name = |range| content_type.get(range).unwrap_or_default();
        // SECURITY: of two, each reader takes the one that it likes; in parts, each puts them together in its own way.
        let mut named = all.iter().filter(|it| {
            let name = name(it.name.clone());
            name.split('*').next().is_some_and(|start| start.eq_ignore_ascii_case("boundary"))
        });
        let (Some(only), None) = (named.next(), named.next()) else { return Err("multipart without one boundary") };
        let value = name(only.value.clone()).as_bytes();
        let is_plain = name(only.name.clone()).len() == "boundary".len();
        let is_allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(byte);
        if !is_plain || !value.iter().all(is_allowed) || value.ends_with(b" ") {
            return Err("a multipart boundary that is none");
        }
        let mut bytes = [0; MOST];
        match bytes.get_mut(..value.len()) {
            Some(place) if !value.is_empty() => place.copy_from_slice(value),
            Some(_) | None => return Err("a multipart boundary that is none"),
        }
        Ok(Self { bytes, length: value.len() })
    }

    /// What a line that separates parts begins with.
    pub fn dashed(&self) -> Vec<u8> {
        [b"--", self.bytes.get(..self.length).unwrap_or_default()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::Boundary;

    #[track_caller]
    fn check(content_type: &str, expected: Result<&str, &'static str>) {
        let found = Boundary::of(content_type).map(|it| String::from_utf8(it.dashed()).unwrap());
        assert_eq!(found.as_deref(), expected.as_ref().copied(), "{content_type}");
    }

    #[test]
    fn boundaries_are_read_to_the_letter() {
        check("multipart/form-data; boundary=aB", Ok("--aB"));
        check("multipart/form-data; charset=utf-8; BOUNDARY=\"a b/=?\";", Ok("--a b/=?"));
        check("multipart/mixed;boundary=----=_Part:1.2", Ok("------=_Part:1.2"));
        check(&format!("m/m; boundary={}", "x".repeat(70)), Ok(&format!("--{}", "x".repeat(70))));
    }

    #[test]
    fn what_is_not_certain_is_none() {
        let none = Err("a multipart boundary that is none");
        check("m/m", Err("multipart without one boundary"));
        check("m/m; boundary=a; Boundary=a", Err("multipart without one boundary"));
        check("m/m; boundary=a; boundary*=utf-8''b", Err("multipart without one boundary"));
        check("m/m; boundary*0=a", none);
        check("m/m; boundary=", none);
        check("m/m; boundary=\"a \"", none);
        check("m/m; boundary=a&b", none);
        check("m/m; boundary=é", none);
        check(&format!("m/m; boundary={}", "x".repeat(71)), none);
        check("m/m; boundary=a b", Err("parameters of a multipart type that readers differ about"));
    }
}
