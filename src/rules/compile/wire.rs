//! What may be written into HTTP fields: names, values, and the fields that belong to the gateway alone.

use http::{HeaderName, HeaderValue};

use crate::rules::problem::{Place, Problems, quote};

/// SECURITY: these frame the message or belong to one connection. The gateway rebuilds them in one place; a rule that
/// changed one would let two parties disagree about where a message ends.
const OWN: [&str; 18] = [
    "connection",
    "transfer-encoding",
    "content-length",
    "host",
    "te",
    "trailer",
    "upgrade",
    "keep-alive",
    "expect",
    "http2-settings",
    // Written by the gateway after rules have run, or dropped: a rule about them would do nothing.
    "via",
    "forwarded",
    "traceparent",
    "tracestate",
    "x-request-id",
    "x-real-ip",
    "range",
    "accept-encoding",
];

fn is_own(name: &str) -> bool {
    OWN.contains(&name) || name.starts_with("proxy-") || name.starts_with("x-forwarded-")
}

/// A field name that rules may touch.
pub(super) fn field_name(text: &str, place: Place, problems: &mut Problems<'_>) -> Option<HeaderName> {
    let Ok(name) = HeaderName::from_bytes(text.as_bytes()) else {
        problems.refuse(place, format!("{} is not a header name", quote(text)));
        return None;
    };
    not_own(name.as_str(), place, problems).then_some(name)
}

/// A pattern of field names that rules may touch, lower case: a name with `*` for any run of characters.
pub(super) fn field_pattern(text: &str, place: Place, problems: &mut Problems<'_>) -> Option<Box<str>> {
    let probe = text.replace('*', "x");
    if HeaderName::from_bytes(probe.as_bytes()).is_err() {
        let hint = "letters, digits and `-`; `*` for any run of characters".to_owned();
        problems.refuse_with(place, format!("{} is not a header name", quote(text)), hint);
        return None;
    }
    let pattern = text.to_ascii_lowercase();
    not_own(&pattern, place, problems).then(|| pattern.into_boxed_str())
}

fn not_own(name: &str, place: Place, problems: &mut Problems<'_>) -> bool {
    if is_own(name) {
        let hint = match name {
            "host" => "the upstream's `preserve_host` decides which host is sent",
            _ => "the gateway writes this field itself; remove it here",
        };
        problems.refuse_with(place, format!("rules cannot touch the header `{name}`"), hint.to_owned());
        return false;
    }
    true
}

/// A field value. The message does not show it: it may be a secret.
pub(super) fn field_value(text: &str) -> Result<HeaderValue, &'static str> {
    if text.is_empty() {
        return Err("is empty");
    }
    if text.trim() != text {
        return Err("begins or ends with white space");
    }
    HeaderValue::from_str(text).map_err(|_| "contains characters that a header cannot hold")
}

/// Whether `text` can stand inside a field value.
pub(super) fn fits_field(text: &str) -> bool {
    !text.chars().any(char::is_control)
}
