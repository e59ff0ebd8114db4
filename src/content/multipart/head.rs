//! The head of a part (RFC 2046, section 5.1; RFC 7578, section 4): fields, in the one form that all readers read alike. What a
//! field means for the part is decided here; what it says is judged elsewhere.

use std::ops::Range;

use super::params::{Param, is_token, params};

/// Why a part cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadFault {
    /// Readers would differ about where it ends or what it is.
    Malformed(&'static str),
    /// It is plain how it is meant, and cannot be done.
    Unsupported(&'static str),
}

/// A field of a head: where it stands in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: Range<usize>,
    /// Its value, without the space around it.
    pub value: Range<usize>,
}

/// The head of a part.
#[derive(Debug)]
pub struct Head<'a> {
    /// All of it.
    pub text: &'a str,
    /// Its fields, in their order.
    pub fields: Vec<Field>,
    /// Parameters of `Content-Disposition`, with offsets in its value, and which field that is.
    pub disposition: Option<(usize, Vec<Param>)>,
    /// `Content-Type`.
    pub content_type: Option<&'a str>,
    /// `Content-Length`. Nobody should send it, and nobody should go by it.
    pub length: Option<u64>,
}

impl<'a> Head<'a> {
    /// Reads a block of fields that ends with a blank line.
    pub fn of(block: &'a [u8]) -> Result<Self, HeadFault> {
        let malformed = HeadFault::Malformed;
        let text = std::str::from_utf8(block).map_err(|_| malformed("the head of a part is not UTF-8"))?;
        let mut head = Self { text, fields: Vec::new(), disposition: None, content_type: None, length: None };
        let mut from = 0;
        for line in text.split_inclusive("\r\n") {
            let start = from;
            from += line.len();
            let line = line.strip_suffix("\r\n").unwrap_or(line);
            if line.is_empty() {
                continue;
            }
            if line.bytes().any(|byte| byte < b' ' && byte != b'\t' || byte == 0x7f) {
                return Err(malformed("a control character in the head of a part"));
            }
            let (name, value) =
                line.split_once(':').ok_or(malformed("a line without a colon in the head of a part"))?;
            // What begins with a space is a folded line to some readers.
            if name.is_empty() || !name.bytes().all(is_token) {
                return Err(malformed("a name that is none in the head of a part"));
            }
            let lead = value.len() - value.trim_start_matches([' ', '\t']).len();
            let value_from = start + name.len() + 1 + lead;
            let value = value.trim_matches([' ', '\t']);
            head.fields.push(Field { name: start..start + name.len(), value: value_from..value_from + value.len() });
            head.understand(name, value)?;
        }
        Ok(head)
    }

    fn understand(&mut self, name: &str, value: &'a str) -> Result<(), HeadFault> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        let twice = Err(HeadFault::Malformed("a field twice in the head of a part"));
        if is("content-type") {
            if self.content_type.replace(value).is_some() {
                return twice;
            }
        } else if is("content-disposition") {
            if self.disposition.is_some() {
                return twice;
            }
            let all = params(value)
                .ok_or(HeadFault::Malformed("parameters in the head of a part that readers differ about"))?;
            check(value, &all)?;
            self.disposition = Some((self.fields.len() - 1, all));
        } else if is("content-length") {
            let length = value.bytes().all(|byte| byte.is_ascii_digit()).then(|| value.parse().ok()).flatten();
            if length.is_none() || self.length.is_some() {
                return Err(HeadFault::Malformed("a length that is none in the head of a part"));
            }
            self.length = length;
        } else if is("content-transfer-encoding") {
            if !["7bit", "8bit", "binary"].iter().any(|plain| value.eq_ignore_ascii_case(plain)) {
                return Err(HeadFault::Unsupported("transfer encoding of a part"));
            }
        } else if is("content-encoding") && !value.eq_ignore_ascii_case("identity") {
            return Err(HeadFault::Unsupported("content encoding of a part"));
        }
        Ok(())
    }

    /// A parameter of `Content-Disposition`.
    pub fn param(&self, name: &str) -> Option<&'a str> {
        let (at, all) = self.disposition.as_ref()?;
        let value = self.text.get(self.fields.get(*at)?.value.clone())?;
        let is = |it: &&Param| value.get(it.name.clone()).is_some_and(|known| known.eq_ignore_ascii_case(name));
        value.get(all.iter().find(is)?.value.clone())
    }
}

/// Each parameter once, and none in the forms that few readers know (RFC 2231), but for the file name.
fn check(value: &str, all: &[Param]) -> Result<(), HeadFault> {
    let names: Vec<String> =
        all.iter().map(|it| value.get(it.name.clone()).unwrap_or_default().to_ascii_lowercase()).collect();
    for (n, name) in names.iter().enumerate() {
        if names.iter().skip(n + 1).any(|other| other == name) {
            return Err(HeadFault::Malformed("a parameter twice in the head of a part"));
        }
        if name.contains('*') && name != "filename*" {
            return Err(HeadFault::Unsupported("extended parameters in the head of a part"));
        }
    }
    let extended = names.iter().position(|name| name == "filename*").and_then(|at| all.get(at));
    let charset = extended.and_then(|it| value.get(it.value.clone())).map(|value| value.split('\'').next());
    match charset {
        // RFC 5987: the other charset that readers must know is not UTF-8.
        Some(charset) if !charset.is_some_and(|charset| charset.eq_ignore_ascii_case("utf-8")) => {
            Err(HeadFault::Unsupported("charset of a file name"))
        }
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::Head;
    use super::HeadFault::{self, Malformed, Unsupported};

    #[track_caller]
    fn refused(block: &str, expected: HeadFault) {
        assert_eq!(Head::of(block.as_bytes()).map(|_| ()), Err(expected), "{block:?}");
    }

    #[test]
    fn heads_are_read() {
        let block = "Content-Disposition: form-data; name=\"a b\"; FileName=x.txt\r\ncontent-type:text/plain \r\nX-A:\r\nContent-Length: 7\r\n\r\n";
        let head = Head::of(block.as_bytes()).unwrap();
        assert_eq!((head.param("name"), head.param("filename"), head.param("x")), (Some("a b"), Some("x.txt"), None));
        assert_eq!((head.content_type, head.length), (Some("text/plain"), Some(7)));
        let shown = |at: usize| {
            let field = &head.fields[at];
            (block.get(field.name.clone()), block.get(field.value.clone()))
        };
        assert_eq!(shown(1), (Some("content-type"), Some("text/plain")));
        assert_eq!(shown(2), (Some("X-A"), Some("")));
        assert!(Head::of(b"\r\n").unwrap().fields.is_empty());
    }

    #[test]
    fn what_readers_differ_about_is_malformed() {
        refused("a b: c\r\n\r\n", Malformed("a name that is none in the head of a part"));
        refused("a : c\r\n\r\n", Malformed("a name that is none in the head of a part"));
        refused(": c\r\n\r\n", Malformed("a name that is none in the head of a part"));
        refused("a: b\r\n c: d\r\n\r\n", Malformed("a name that is none in the head of a part"));
        refused("a: b\r\n c\r\n\r\n", Malformed("a line without a colon in the head of a part"));
        refused("a: b\nc: d\r\n\r\n", Malformed("a control character in the head of a part"));
        refused("a: b\rc: d\r\n\r\n", Malformed("a control character in the head of a part"));
        refused("a: b\0\r\n\r\n", Malformed("a control character in the head of a part"));
        refused("content-type: a/b\r\nContent-Type: a/b\r\n\r\n", Malformed("a field twice in the head of a part"));
        refused("content-length: +1\r\n\r\n", Malformed("a length that is none in the head of a part"));
        let disposition = |rest: &str| format!("Content-Disposition: form-data{rest}\r\n\r\n");
        refused(&disposition("; name=a; Name=b"), Malformed("a parameter twice in the head of a part"));
        let differ = Malformed("parameters in the head of a part that readers differ about");
        refused(&disposition("; name=\"a\\\"; filename=\\\"b\""), differ);
        refused(&disposition("; name=\"a"), differ);
        assert_eq!(Head::of(b"a: \xff\r\n\r\n").map(|_| ()), Err(Malformed("the head of a part is not UTF-8")));
    }

    #[test]
    fn what_cannot_be_read_is_unsupported() {
        refused("Content-Transfer-Encoding: Base64\r\n\r\n", Unsupported("transfer encoding of a part"));
        refused("Content-Encoding: gzip\r\n\r\n", Unsupported("content encoding of a part"));
        let extended = Unsupported("extended parameters in the head of a part");
        refused("content-disposition: form-data; name*=utf-8''a\r\n\r\n", extended);
        refused("content-disposition: form-data; filename*0=a; filename*1=b\r\n\r\n", extended);
        refused(
            "content-disposition: form-data; filename*=iso-8859-1'en'a\r\n\r\n",
            Unsupported("charset of a file name"),
        );
        let fine = "Content-Transfer-Encoding: 8BIT\r\ncontent-disposition: x; filename*=utf-8''a; filename=a\r\n\r\n";
        assert!(Head::of(fine.as_bytes()).is_ok());
    }
}
