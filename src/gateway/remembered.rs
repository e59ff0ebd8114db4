//! What of a request may be remembered: nothing that somebody could be recognised by. It promises short texts in which every
//! value that looks like personal data has given way to its name; it refuses to know records.

use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderValue, Method};

use crate::pii;

/// Longest texts of a record, in bytes.
const METHOD_CAP: usize = 32;
const HOST_CAP: usize = 255;
const PATH_CAP: usize = 1024;

/// The host that was named last, as it may be remembered. PERF: clients name the same one over and over, and to look for
/// personal data in it took longer than to read all fields of a request.
#[derive(Debug, Default)]
pub struct LastHost(Mutex<Option<Known>>);

#[derive(Debug)]
struct Known {
    /// Of the rules, which may define entities of their own.
    generation: u64,
    named: Box<[u8]>,
    text: Arc<str>,
}

impl LastHost {
    /// The host as it may be remembered under the rules of a generation.
    pub fn remember(
        &self,
        host: &HeaderValue,
        generation: u64,
        everything: &pii::Detector,
        customs: &pii::Customs,
    ) -> Arc<str> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*last
            && known.generation == generation
            && *known.named == *host.as_bytes()
        {
            return Arc::clone(&known.text);
        }
        let text = capped(shy(&String::from_utf8_lossy(host.as_bytes()), everything, customs), HOST_CAP);
        let text: Arc<str> = text.into();
        *last = Some(Known { generation, named: host.as_bytes().into(), text: Arc::clone(&text) });
        text
    }
}

/// A path as it may be remembered. SECURITY: recognise first, cut then: half a card number is not recognised any more.
pub fn path(path: &str, everything: &pii::Detector, customs: &pii::Customs) -> String {
    capped(shy(path, everything, customs), PATH_CAP)
}

/// How the client spoke.
pub const fn protocol(version: http::Version, secure: bool) -> &'static str {
    match (version, secure) {
        (http::Version::HTTP_2, _) => "https/2",
        (http::Version::HTTP_10, true) => "https/1.0",
        (http::Version::HTTP_10, false) => "http/1.0",
        (_, true) => "https/1.1",
        (_, false) => "http/1.1",
    }
}

/// A method as it may be remembered: any token is a method (RFC 9110 section 9), and so a token may be anything.
pub fn plain_method(method: &Method) -> &str {
    let name = method.as_str();
    let is_plain = name.len() <= METHOD_CAP && name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-');
    if is_plain { name } else { "(other)" }
}

/// The front of a text that is at most `cap` bytes long.
fn capped(mut text: String, cap: usize) -> String {
    let end = (0..=cap.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.truncate(end);
    text
}

/// A path or host as it may be remembered: recognised values are replaced by their entity.
fn shy(path: &str, everything: &pii::Detector, customs: &pii::Customs) -> String {
    let plain = percent_encoding::percent_decode_str(path).decode_utf8_lossy();
    let mut found = Vec::new();
    everything.find(&plain, pii::Context::default(), &mut found);
    customs.find_all(&plain, &mut found);
    found.retain(|m| m.confidence >= pii::Confidence::Likely);
    if found.is_empty() {
        return path.to_owned();
    }
    found.sort_unstable_by_key(|m| m.start);
    let mut out = String::with_capacity(plain.len());
    let mut at = 0;
    for m in found {
        if m.start >= at {
            out.push_str(plain.get(at..m.start).unwrap_or_default());
            out.push('[');
            out.push_str(customs.name(m.entity));
            out.push(']');
        }
        // Where two overlap, the union is left out.
        at = at.max(m.end);
    }
    out.push_str(plain.get(at..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_host_is_known_until_the_rules_change() {
        let (everything, customs) = (pii::Detector::new(pii::EntitySet::all()), pii::Customs::default());
        let last = LastHost::default();
        let remember =
            |host, generation| last.remember(&HeaderValue::from_static(host), generation, &everything, &customs);
        let first = remember("203.0.113.7:80", 1);
        assert_eq!(&*first, "[ipv4]:80");
        assert!(Arc::ptr_eq(&first, &remember("203.0.113.7:80", 1)));
        assert_eq!(&*remember("api.example", 1), "api.example");
        assert_eq!(remember("203.0.113.7:80", 2), first);
        assert!(!Arc::ptr_eq(&first, &remember("203.0.113.7:80", 3)));
    }

    #[test]
    fn what_is_kept_is_short_and_plain() {
        let everything = pii::Detector::new(pii::EntitySet::all());
        let kept = |text: &str| path(text, &everything, &pii::Customs::default());
        assert_eq!(kept("/customers/jane.doe%40example.org/x"), "/customers/[email]/x");
        assert_eq!(kept(&format!("/{}", "ä".repeat(2000))).len(), 1023);
        assert_eq!(plain_method(&Method::from_bytes(b"M-SEARCH").unwrap()), "M-SEARCH");
        assert_eq!(plain_method(&Method::from_bytes(b"4111").unwrap()), "(other)");
    }
}
