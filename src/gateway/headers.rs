//! Header fields on their way through: what belongs to one hop stays there, what identifies the client is written by us,
//! what would contradict an edited body is dropped. Framing fields are never copied: the transport writes its own.

use http::Method;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};

use super::error::Refusal;
use super::forwarded::Origin;
use crate::content::coding;
use crate::policy::{HeaderChange, HeaderEdit};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// How we call ourselves in `Via` (RFC 9110 section 7.6.3). The instance part tells a loop from a chain of gateways.
#[derive(Debug, Clone)]
pub struct Via {
    value: HeaderValue,
    pseudonym: String,
}

impl Via {
    /// A `Via` entry with a pseudonym unique to this process.
    pub fn new(instance: &str) -> Self {
        let pseudonym = format!("fieldgate-{instance}");
        let value =
            HeaderValue::from_str(&format!("1.1 {pseudonym}")).unwrap_or(HeaderValue::from_static("1.1 fieldgate"));
        Self { value, pseudonym }
    }

    /// Whether the request has passed this process before.
    pub fn is_loop(&self, headers: &HeaderMap) -> bool {
        headers.get_all(header::VIA).iter().any(|v| {
            v.to_str().is_ok_and(|v| {
                v.split(',').any(|hop| hop.split_ascii_whitespace().nth(1).is_some_and(|by| by == self.pseudonym))
            })
        })
    }

    fn append_to(&self, headers: &mut HeaderMap) {
        headers.append(header::VIA, self.value.clone());
    }
}

/// Fields of one hop (RFC 9110 section 7.6.1), framing included.
fn is_hop_by_hop(name: &HeaderName) -> bool {
    matches!(
        name.as_str(),
        "connection"
            | "keep-alive"
            | "proxy-connection"
            | "proxy-authorization"
            | "proxy-authenticate"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
            | "http2-settings"
            | "content-length"
    )
}

/// Fields that make some upstreams execute another method or path than the one that was judged, and fields by which a client
/// could claim to be somebody else. SECURITY: the latter are written by us or not at all; what is said in `Forwarded` and
/// `X-Forwarded-*` is judged by [`Origin`]. Names with `_` are read as names with `-` by some upstreams.
fn is_untrusted(name: &HeaderName) -> bool {
    matches!(
        name.as_str(),
        "x-original-url"
            | "x-rewrite-url"
            | "x-original-host"
            | "x-http-method"
            | "x-http-method-override"
            | "x-method-override"
            | "x-original-uri"
            | "x-real-ip"
            | "x-cluster-client-ip"
            | "x-client-ip"
            | "true-client-ip"
            | "x-request-id"
    ) || name.as_str().contains('_')
}

/// Fields that a `Connection` field may not take away (RFC 9110 section 7.6.1 forbids nominating what is meant for all
/// recipients). SECURITY: otherwise a client removes what the upstream decides by.
fn cannot_be_nominated(name: &str) -> bool {
    name.starts_with("content-")
        || name.starts_with("x-forwarded-")
        || matches!(
            name,
            "host"
                | "authorization"
                | "cookie"
                | "set-cookie"
                | "via"
                | "forwarded"
                | "x-request-id"
                | "traceparent"
                | "tracestate"
                | "date"
                | "cache-control"
                | "location"
        )
}

/// Takes out what belongs to this hop: the fixed set and what the `Connection` lines name.
pub fn strip_hop(headers: &mut HeaderMap) {
    if headers.contains_key(header::CONNECTION) {
        let nominated: Vec<HeaderName> = headers
            .get_all(header::CONNECTION)
            .iter()
            .filter_map(|v| v.to_str().ok())
            .flat_map(|v| v.split(',').map(str::trim))
            // PERF: what nearly everybody says; neither is the name of a field that could stay.
            .filter(|name| !name.eq_ignore_ascii_case("keep-alive") && !name.eq_ignore_ascii_case("close"))
            .filter_map(|name| HeaderName::try_from(name).ok())
            .filter(|name| !cannot_be_nominated(name.as_str()))
            .collect();
        for name in nominated {
            headers.remove(name);
        }
    }
    remove_all(headers, is_hop_by_hop);
}

/// PERF: most messages have no field that goes: then nothing is looked up, and nothing is allocated.
fn remove_all(headers: &mut HeaderMap, goes: impl Fn(&HeaderName) -> bool) {
    let gone: Vec<HeaderName> = headers.keys().filter(|name| goes(name)).cloned().collect();
    for name in gone {
        headers.remove(name);
    }
}

/// Refuses framing that we would have to guess about (RFC 9112 section 6.1): anything but one `chunked`, or `chunked`
/// together with a length.
pub fn check_framing(version: http::Version, headers: &HeaderMap) -> Result<(), Refusal> {
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    if let Some(coding) = codings.next() {
        if codings.next().is_some() || !coding.as_bytes().eq_ignore_ascii_case(b"chunked") {
            return Err(Refusal::Framing("the only Transfer-Encoding that is accepted is a single `chunked`"));
        }
        if headers.contains_key(header::CONTENT_LENGTH) {
            return Err(Refusal::Framing("Content-Length and Transfer-Encoding exclude each other"));
        }
        if version == http::Version::HTTP_10 {
            return Err(Refusal::Framing("HTTP/1.0 has no Transfer-Encoding"));
        }
    }
    if headers.get_all(header::CONTENT_LENGTH).iter().nth(1).is_some() {
        return Err(Refusal::Framing("exactly one Content-Length is accepted"));
    }
    let mut expected = headers.get_all(header::EXPECT).iter();
    if expected.any(|expect| !expect.as_bytes().eq_ignore_ascii_case(b"100-continue")) {
        return Err(Refusal::Expectation);
    }
    Ok(())
}

/// Counts this hop in `Max-Forwards`, which is about OPTIONS and TRACE alone (RFC 9110 section 7.6.2); TRACE is refused.
pub fn count_hop(method: &Method, headers: &mut HeaderMap) -> Result<(), Refusal> {
    if *method != Method::OPTIONS {
        return Ok(());
    }
    let mut lines = headers.get_all(header::MAX_FORWARDS).iter();
    let Some(line) = lines.next() else { return Ok(()) };
    let digits = line.to_str().ok().filter(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
    let (Some(digits), None) = (digits, lines.next()) else {
        return Err(Refusal::Framing("Max-Forwards must be one number"));
    };
    // More hops than anybody counts are as good as this many.
    let left = digits.parse::<u32>().unwrap_or(u32::MAX).checked_sub(1).ok_or(Refusal::LastHop)?;
    headers.insert(header::MAX_FORWARDS, HeaderValue::from(left));
    Ok(())
}

/// The fields as rules have edited them.
pub fn edited(fields: &HeaderMap, edits: &[HeaderEdit]) -> Result<HeaderMap, Refusal> {
    let mut out = HeaderMap::with_capacity(fields.len());
    for (position, (name, value)) in fields.iter().enumerate() {
        match edits.iter().find(|edit| edit.position == position).map(|edit| &edit.change) {
            None => {
                out.append(name, value.clone());
            }
            Some(HeaderChange::Remove) => {}
            Some(HeaderChange::Set(bytes)) => {
                let value = HeaderValue::from_bytes(bytes).map_err(|_| Refusal::Internal)?;
                out.append(name, value);
            }
        }
    }
    Ok(out)
}

/// What the request fields become for the upstream.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "five independent facts about the route, read once")]
pub struct RequestFields<'a> {
    /// Where the request comes from.
    pub origin: &'a Origin,
    /// Whether the client came over TLS.
    pub secure: bool,
    /// Its method.
    pub method: &'a Method,
    /// What the client called us.
    pub authority: &'a HeaderValue,
    /// Our id for the exchange.
    pub id: &'a HeaderValue,
    /// Who we are.
    pub via: &'a Via,
    /// Whether any rule will look at the response body: then it must come with content codings that can be taken off.
    pub reads_response: bool,
    /// Whether the response body may be edited or blocked: then it must come whole and fresh, too.
    pub edits_response: bool,
    /// Whether the request body is edited: then digests of it are void.
    pub edits_body: bool,
    /// Whether the client's Host goes upstream.
    pub preserve_host: bool,
    /// `headers.set` of the upstream.
    pub set: &'a [(HeaderName, HeaderValue)],
}

impl RequestFields<'_> {
    /// Rewrites the client's fields in place.
    pub fn apply(&self, headers: &mut HeaderMap) {
        strip_hop(headers);
        remove_all(headers, |name| is_untrusted(name) || name == header::EXPECT);
        if self.reads_response {
            // What the client does not ask for is not asked for either: to decode costs more than most networks. A client that
            // says nothing takes anything, and gets what is plain.
            let accepted = coding::accepted(headers.get_all(header::ACCEPT_ENCODING).iter().map(HeaderValue::as_bytes));
            let accepted = HeaderValue::try_from(accepted).unwrap_or(HeaderValue::from_static("identity"));
            headers.insert(header::ACCEPT_ENCODING, accepted);
        }
        if self.reads_response {
            // A slice of a document cannot be judged.
            headers.remove(header::RANGE);
            headers.remove(header::IF_RANGE);
        }
        if self.edits_response && matches!(*self.method, Method::GET | Method::HEAD) {
            // A 304 would revive a copy that an older policy has let through. A condition on a write stays: dropping it would
            // make the write happen.
            remove_all(headers, is_condition);
        }
        if self.edits_body {
            drop_digests(headers);
        }
        self.origin.write(headers, self.authority, if self.secure { "https" } else { "http" });
        if self.preserve_host {
            headers.insert(header::HOST, self.authority.clone());
        } else {
            headers.remove(header::HOST);
        }
        headers.insert(REQUEST_ID, self.id.clone());
        self.via.append_to(headers);
        for (name, value) in self.set {
            headers.insert(name.clone(), value.clone());
        }
    }
}

/// Completes the upstream's fields, hop-by-hop ones gone, for the client. `edited`: the body may not be the upstream's.
pub fn response_fields(headers: &mut HeaderMap, via: &Via, id: &HeaderValue, edited: bool) {
    if edited {
        // Validators and ranges speak of the upstream's bytes, not of ours.
        remove_all(headers, |name| matches!(name.as_str(), "etag" | "last-modified" | "accept-ranges"));
        drop_digests(headers);
    }
    // An alternative service (RFC 7838) is a way to the upstream that does not pass here.
    headers.remove(header::ALT_SVC);
    headers.insert(REQUEST_ID, id.clone());
    via.append_to(headers);
}

/// Fields that make a request depend on what the client has already (RFC 9110 section 13.1).
fn is_condition(name: &HeaderName) -> bool {
    matches!(name.as_str(), "if-none-match" | "if-modified-since" | "if-match" | "if-unmodified-since")
}

/// Digests of a body that is no longer the same (RFC 9530, RFC 1864).
fn drop_digests(headers: &mut HeaderMap) {
    remove_all(headers, |name| {
        matches!(
            name.as_str(),
            "content-digest" | "repr-digest" | "digest" | "content-md5" | "signature" | "signature-input"
        )
    });
}

/// A well-formed `traceparent` (W3C Trace Context, version 00) is handed on; otherwise the exchange's id starts a trace.
pub fn trace(headers: &mut HeaderMap, id: uuid::Uuid) {
    let mut lines = headers.get_all(TRACEPARENT).iter();
    let good = matches!((lines.next(), lines.next()), (Some(v), None) if is_traceparent(v.as_bytes()));
    if !good {
        let mut span = id.into_bytes();
        // Eight bytes that are not all zero.
        span[8] |= 1;
        let mut value = *b"00-00000000000000000000000000000000-0000000000000000-00";
        let (mut trace_digits, mut span_digits) = (uuid::Uuid::encode_buffer(), uuid::Uuid::encode_buffer());
        let trace = id.simple().encode_lower(&mut trace_digits);
        let span = uuid::Uuid::from_bytes(span).simple().encode_lower(&mut span_digits);
        value[3..35].copy_from_slice(trace.as_bytes());
        value[36..52].copy_from_slice(&span.as_bytes()[16..]);
        headers.remove(TRACESTATE);
        if let Ok(value) = HeaderValue::from_bytes(&value) {
            headers.insert(TRACEPARENT, value);
        }
    }
}

fn is_traceparent(value: &[u8]) -> bool {
    let lower_hex = |part: &[u8]| part.iter().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b));
    let not_zero = |part: &[u8]| part.iter().any(|b| *b != b'0');
    match value {
        [b'0', b'0', b'-', rest @ ..] if rest.len() == 52 => {
            let (trace, rest) = rest.split_at(32);
            let (span, flags) = rest.split_at(18);
            matches!(span, [b'-', id @ .., b'-'] if lower_hex(id) && not_zero(id))
                && lower_hex(trace)
                && not_zero(trace)
                && lower_hex(flags)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
