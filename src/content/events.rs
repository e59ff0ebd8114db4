//! Server-sent events (WHATWG HTML, section 9.2): where one ends, what its data says, and how other data is put in its
//! place. Promises that every byte that does not belong to changed data stays, comments, fields and line ends included;
//! what data means it refuses to know.

use std::borrow::Cow;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Finds the blank lines behind events. Lines end with CR, LF, or both.
#[derive(Debug, Clone, Copy)]
pub struct EventEnds {
    /// Nothing of the line at hand has come.
    blank: bool,
    /// Nothing of the event at hand has come.
    fresh: bool,
    /// The last byte was CR: should LF follow, it belongs to the same line end.
    cr: bool,
}

impl Default for EventEnds {
    fn default() -> Self {
        Self { blank: true, fresh: true, cr: false }
    }
}

impl EventEnds {
    /// How much of `bytes` belongs to the event at hand, if it ends there. A blank line that ends with CR ends the event
    /// there and then, since nothing more may come for long; an LF behind it is cut off alone.
    pub(super) fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            let byte = *bytes.get(at)?;
            let after_cr = std::mem::replace(&mut self.cr, byte == b'\r');
            match byte {
                b'\n' if after_cr => {
                    at += 1;
                    if self.fresh {
                        return Some(at);
                    }
                }
                b'\n' | b'\r' => {
                    at += 1;
                    self.fresh = std::mem::replace(&mut self.blank, true);
                    if self.fresh {
                        return Some(at);
                    }
                }
                _ => {
                    (self.blank, self.fresh) = (false, false);
                    let rest = bytes.get(at..).unwrap_or_default();
                    at += memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
                }
            }
        }
    }
}

/// A line of an event.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    text: &'a [u8],
    /// CR, LF, both, or nothing at the end of the stream.
    end: &'a [u8],
}

impl<'a> Line<'a> {
    /// Whether it is a comment, blank, or a field that readers know.
    fn is_known(&self) -> bool {
        let text = self.text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(self.text);
        let name = text.split(|byte| *byte == b':').next().unwrap_or_default();
        matches!(name, b"" | b"data" | b"event" | b"id" | b"retry")
    }

    /// For a `data` line: what stands before its value, and the value.
    fn data(&self) -> Option<(&'a [u8], &'a [u8])> {
        // A mark is a part of the encoding at the start of the stream only; whoever drops it elsewhere, too, sees data.
        let field = self.text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(self.text).strip_prefix(b"data")?;
        let value = match field.strip_prefix(b":") {
            Some(value) => value.strip_prefix(b" ").unwrap_or(value),
            None if field.is_empty() => field,
            None => return None,
        };
        self.text.split_at_checked(self.text.len() - value.len())
    }
}

fn lines(mut event: &[u8]) -> impl Iterator<Item = Line<'_>> {
    std::iter::from_fn(move || {
        if event.is_empty() {
            return None;
        }
        let text = memchr::memchr2(b'\r', b'\n', event).unwrap_or(event.len());
        let (text, rest) = event.split_at_checked(text)?;
        let end = match rest {
            [b'\r', b'\n', ..] => 2,
            [_, ..] => 1,
            [] => 0,
        };
        let (end, rest) = rest.split_at_checked(end)?;
        event = rest;
        Some(Line { text, end })
    })
}

/// Whether there is a line that is none of an event. SECURITY: browsers skip it, but a body of another kind, sent under this
/// label to a reader that does not look at labels, is made of nothing else.
pub fn has_stray_line(event: &[u8]) -> bool {
    lines(event).any(|line| !line.is_known())
}

/// The data of an event: the values of its `data` lines, joined by LF. `None`: it has none.
pub fn data(event: &[u8]) -> Option<Cow<'_, [u8]>> {
    let mut values = lines(event).filter_map(|line| line.data()).map(|(_, value)| value);
    let mut data = Cow::Borrowed(values.next()?);
    for value in values {
        let joined = data.to_mut();
        joined.push(b'\n');
        joined.extend_from_slice(value);
    }
    Some(data)
}

/// Whether data is to be read as JSON. What begins like an object or array is, even if it breaks off: nobody must get
/// around a selector by a comma too many. `[DONE]`, which ends many a stream, begins like neither.
pub fn is_json(data: &[u8]) -> bool {
    let start = |text: &'_ [u8]| text.iter().position(|byte| !b" \t\r\n".contains(byte)).unwrap_or(text.len());
    let text = data.get(start(data)..).unwrap_or_default();
    match text {
        [b'{', ..] => true,
        [b'[', rest @ ..] => {
            let rest = rest.get(start(rest)..).unwrap_or_default();
            let word = ["true", "false", "null"].iter().any(|word| rest.starts_with(word.as_bytes()));
            word || matches!(rest, [] | [b'{' | b'[' | b']' | b'"' | b'-' | b'0'..=b'9', ..])
        }
        [b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n', ..] => {
            serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok()
        }
        _ => false,
    }
}

/// Appends the event with `new` in place of `old`, which is its data. Lines of data that did not change stay as they are;
/// where lines went or came, those at the beginning and at the end that are the same are the ones that stay.
pub fn replace_data(event: &[u8], old: &[u8], new: &[u8], out: &mut Vec<u8>) {
    let new = unix_lines(new);
    let is_end = |byte: &u8| *byte == b'\n';
    let (olds, news) = (old.split(is_end).count(), new.split(is_end).count());
    let most = olds.min(news);
    let same = |(one, other): &(&[u8], &[u8])| one == other;
    let mut head = old.split(is_end).zip(new.split(is_end)).take(most).take_while(same).count();
    // What is put in needs a line to stand behind.
    if head == olds && news > olds {
        head -= 1;
    }
    let mut tail = old.rsplit(is_end).zip(new.rsplit(is_end)).take(most - head).take_while(same).count();
    if head + tail == olds && news > olds {
        tail -= 1;
    }
    let (old_middle, new_middle) = (olds - head - tail, news - head - tail);
    let mut values = new.split(is_end).skip(head).take(new_middle);
    let (mut nth, mut gone) = (0, false);
    for line in lines(event) {
        let data = line.data();
        let is_new = data.is_some() && (head..head + old_middle).contains(&nth);
        if let (Some((before, _)), true) = (data, is_new) {
            let last = nth + 1 == head + old_middle;
            let mut end: &[u8] = b"";
            for value in values.by_ref().take(if last { usize::MAX } else { 1 }) {
                push(out, &[end, before, lead(before, value), value]);
                end = if line.end.is_empty() { b"\n" } else { line.end };
            }
            gone = end.is_empty();
            if !gone {
                out.extend_from_slice(line.end);
            }
        } else {
            // A CR that comes to stand before an LF would make one line end out of two.
            if std::mem::take(&mut gone) && out.ends_with(b"\r") && line.text.is_empty() && line.end == b"\n" {
                out.push(b'\n');
            }
            push(out, &[line.text, line.end]);
        }
        nth += usize::from(data.is_some());
    }
}

/// What must stand between the beginning of a `data` line and its new value for the value to be read as it is.
fn lead(before: &[u8], value: &[u8]) -> &'static [u8] {
    let Some(first) = value.first() else { return b"" };
    match before.last() {
        Some(b':') if *first == b' ' => b" ",
        Some(b':' | b' ') => b"",
        _ => b": ",
    }
}

/// SECURITY: a CR in what a rule puts there would end the line, and what follows would be a field.
fn unix_lines(new: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\r', new).is_none() {
        return Cow::Borrowed(new);
    }
    let mut out = Vec::with_capacity(new.len());
    for line in lines(new) {
        out.extend_from_slice(line.text);
        if !line.end.is_empty() {
            out.push(b'\n');
        }
    }
    Cow::Owned(out)
}

fn push(out: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        out.extend_from_slice(part);
    }
}

#[cfg(test)]
mod tests {
    use super::{data, has_stray_line, is_json, replace_data};
    use proptest::prelude::*;

    #[track_caller]
    fn check_data(event: &str, expected: Option<&str>) {
        assert_eq!(data(event.as_bytes()).as_deref(), expected.map(str::as_bytes));
    }

    #[track_caller]
    fn check(event: &str, new: &str, expected: &str) {
        let mut out = Vec::new();
        let old = data(event.as_bytes()).unwrap();
        replace_data(event.as_bytes(), &old, new.as_bytes(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn data_is_what_a_browser_reads() {
        check_data("data: a\n\n", Some("a"));
        check_data("data:a\r\r", Some("a"));
        check_data("data:  a \r\n\r\n", Some(" a "));
        check_data("data\n\n", Some(""));
        check_data("data\ndata:\ndata: \n\n", Some("\n\n"));
        check_data("\u{feff}data: a\n\n", Some("a"));
        check_data("id: 1\ndata: {\nevent: e\n: data: c\ndata: }\n\n", Some("{\n}"));
        check_data("datum: a\ndata : a\n data: a\nDATA: a\n: hello\n\n", None);
    }

    #[test]
    fn lines_of_other_bodies_are_stray() {
        for event in ["data: a\n\n", "\u{feff}data\rid:1\revent\r: hi\rretry: 1\r\r", "\n", ":\n\n"] {
            assert!(!has_stray_line(event.as_bytes()), "{event}");
        }
        for event in ["{\"ssn\":1}", "data: a\nDATA: b\n\n", " data: a\n", "data : a\n", "datum: 1\n", "ssn=1\n"] {
            assert!(has_stray_line(event.as_bytes()), "{event}");
        }
    }

    #[test]
    fn json_is_told_from_text() {
        for json in ["{", " {\"a\":1}", "[", "[ ]", "[{", "[\"", "[-1", "[true", "[1,]", "12", "\"a\"", "null", "true "]
        {
            assert!(is_json(json.as_bytes()), "{json}");
        }
        for text in ["", "[DONE]", "[to be continued]", "hello", "12 o'clock", "\"a\" he said", "nullify", "ping"] {
            assert!(!is_json(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn only_changed_lines_change() {
        check("id: 1\r\ndata: a\r\n: c\r\n\r\n", "b", "id: 1\r\ndata: b\r\n: c\r\n\r\n");
        check("data:a\r\r", "b", "data:b\r\r");
        check("data:1\nid:7\ndata: 2\rdata:3\n\n", "1\nx\n3", "data:1\nid:7\ndata: x\rdata:3\n\n");
        check("data: a", "b", "data: b");
    }

    #[test]
    fn lines_go_and_come() {
        check("data: {\ndata: 1,\nid: 1\ndata:  2\ndata:}\n\n", "{\n1}", "data: {\ndata: 1}\nid: 1\n\n");
        check("data: 1\ndata: 2\ndata:3\n\n", "1\n3", "data: 1\ndata:3\n\n");
        check("data: a\r\n\r\n", "a\nb\r\nid: 7", "data: a\r\ndata: b\r\ndata: id: 7\r\n\r\n");
        check("data: a", "b\rc", "data: b\ndata: c");
        check("data: a\n\n", "", "data: \n\n");
        check("data:\rdata: a\n\n", "", "data:\r\n\n");
    }

    #[test]
    fn a_value_is_read_as_it_is_meant() {
        check("data:a\n\n", " b", "data:  b\n\n");
        check("data\n\n", "b", "data: b\n\n");
        check("data\n\n", " b", "data:  b\n\n");
        check("data:\n\n", " b", "data:  b\n\n");
    }

    proptest! {
        #[test]
        fn what_was_put_in_comes_out(
            fields in prop::collection::vec("(data|data:|data: |id: |: )[ab ]{0,3}(\r|\n|\r\n)", 0..6),
            new in "[ab \n]{0,9}", open in "(data: a|data: a\n\n|data: a\r\n\r\n)",
        ) {
            let event = format!("{}{open}", fields.concat());
            let old = data(event.as_bytes()).unwrap().into_owned();
            let mut out = Vec::new();
            replace_data(event.as_bytes(), &old, new.as_bytes(), &mut out);
            let read = data(&out).unwrap();
            prop_assert_eq!(String::from_utf8_lossy(&read), new.clone());
            let others = |event: &[u8]| {
                super::lines(event).filter(|line| line.data().is_none()).map(|line| line.text.to_vec()).collect::<Vec<_>>()
            };
            prop_assert_eq!(others(&out), others(event.as_bytes()));
            let mut same = Vec::new();
            replace_data(event.as_bytes(), &old, &old, &mut same);
            prop_assert_eq!(same, event.into_bytes());
        }
    }
}
