//! Says of one case what was wrong with what happened: in the framing, or in what the upstream or the client got to see.

use super::case::{self, Answer, Delivery, Outcome, Request, Seen};
use super::recorder::Log;
use super::speaker::Heard;

/// What was wrong.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// The outcome is none of those allowed, or a message was not well framed.
    pub framing: Vec<String>,
    /// The upstream or the client got to see what it must not.
    pub forbidden: Vec<String>,
}

/// Judges what came of a request.
pub fn request(case: &Request, heard: &Heard, log: &Log) -> Verdict {
    let mut verdict = Verdict::default();
    let outcome = outcome(heard, log);
    let is_allowed = outcome.as_ref().is_ok_and(|seen| seen.iter().any(|outcome| case.may.contains(outcome)));
    if !is_allowed {
        let statuses: Vec<u16> = heard.replies.iter().map(|r| r.head.status()).collect();
        verdict.framing.push(format!("{outcome:?}, answers {statuses:?}, closed {}", heard.is_closed));
    }
    verdict.framing.extend(log.faults.iter().map(|fault| format!("the upstream got {fault}")));
    if let Some(fault) = &heard.fault {
        verdict.framing.push(format!("the client got {fault}"));
    }
    verdict.forbidden = forbidden(&case.seen, &case.send, heard, log);
    verdict
}

/// What it can be called; or why it can be called nothing.
fn outcome(heard: &Heard, log: &Log) -> Result<Vec<Outcome>, &'static str> {
    let refused = heard.replies.iter().all(|reply| reply.head.status() >= 400);
    match (log.requests.is_empty(), heard.replies.is_empty()) {
        (false, _) => Ok(vec![Outcome::Forwarded]),
        (true, true) if log.pending > 0 => Ok(vec![Outcome::Waiting]),
        (true, false) if log.pending > 0 && refused && heard.is_closed => Ok(vec![Outcome::Waiting]),
        (true, false) if log.pending > 0 => Err("a part of it was forwarded"),
        (true, true) if heard.is_closed => Ok(vec![Outcome::Refused, Outcome::Waiting]),
        (true, true) => Ok(vec![Outcome::Waiting]),
        (true, false) if refused && heard.is_closed => Ok(vec![Outcome::Refused, Outcome::Answered, Outcome::Waiting]),
        (true, false) => Ok(vec![Outcome::Answered]),
    }
}

fn forbidden(seen: &Seen, sent: &str, heard: &Heard, log: &Log) -> Vec<String> {
    let mut found = Vec::new();
    let most = seen.max_requests.unwrap_or(1);
    if log.requests.len() > most {
        found.push(format!("{} requests arrived", log.requests.len()));
    }
    if seen.not_complete && !log.requests.is_empty() {
        found.push("it arrived as if it were complete".into());
    }
    if let Some(bytes) = &seen.no_bytes
        && contains(&log.raw, &case::bytes(bytes))
    {
        found.push(format!("{bytes:?} arrived"));
    }
    if seen.crlf_only && (0..log.raw.len()).any(|at| log.raw[at] == b'\n' && (at == 0 || log.raw[at - 1] != b'\r')) {
        found.push("a line ended without CR".into());
    }
    for arrived in &log.requests {
        let head = &arrived.head;
        found.extend(seen.no_header.iter().filter(|n| head.has(n)).map(|name| format!("`{name}` arrived")));
        found.extend(seen.has_header.iter().filter(|n| !head.has(n)).map(|name| format!("`{name}` did not arrive")));
        if seen.single_framing && head.has("transfer-encoding") && head.has("content-length") {
            found.push("two framings arrived".into());
        }
        if seen.canonical_cl
            && head.all("content-length").any(|v| v.parse::<u64>().map(|n| n.to_string()).as_deref() != Ok(v))
        {
            found.push("the length is not in canonical form".into());
        }
        if let Some(path) = &seen.path
            && head.target() != path
        {
            found.push(format!("the target is {:?}", head.target()));
        }
        let target = sent.split(' ').nth(1).unwrap_or_default();
        if seen.same_path && head.target() != target && head.target() != unreserved_decoded(target) {
            found.push(format!("the target {target:?} became {:?}", head.target()));
        }
    }
    if let (Some(body), Some(first)) = (&seen.body, log.requests.first())
        && !first.body.starts_with(&case::bytes(body))
    {
        found.push("the body is another".into());
    }
    if seen.close_after && !log.requests.is_empty() && !heard.is_closed {
        found.push("the connection stayed open".into());
    }
    found
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len().max(1)).any(|window| window == needle)
}

fn unreserved_decoded(target: &str) -> String {
    let mut out = String::new();
    let mut rest = target;
    while let Some(c) = rest.chars().next() {
        let code = rest.strip_prefix('%').and_then(|r| r.get(..2)).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code {
            Some(b) if b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~') => {
                out.push(char::from(b));
                rest = &rest[3..];
            }
            _ => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out
}

/// Judges what came of an answer.
pub fn answer(case: &Answer, heard: &Heard, next: &Heard) -> Verdict {
    let mut verdict = Verdict::default();
    let got = match heard.replies.as_slice() {
        [] => Delivery::Cut,
        [reply] if heard.pending == 0 => Delivery::Status(reply.head.status()),
        replies => {
            verdict.framing.push(format!("{} answers and {} bytes more", replies.len(), heard.pending));
            Delivery::Cut
        }
    };
    let is_in_time = heard.is_closed || !heard.replies.is_empty();
    let is_bounded = case.may.contains(&Delivery::Bounded) && is_in_time;
    if !is_bounded && !case.may.contains(&got) {
        verdict.framing.push(format!("{got:?} is none of {:?}", case.may));
    }
    if let Some(fault) = &heard.fault {
        verdict.framing.push(format!("the client got {fault}"));
    }
    if let (Delivery::Status(_), Some(reply)) = (got, heard.replies.first()) {
        verdict.forbidden.extend(case.gone.iter().filter(|n| reply.head.has(n)).map(|n| format!("`{n}` arrived")));
    }
    if let Some(bytes) = &case.never
        && contains(&heard.raw, &case::bytes(bytes))
    {
        verdict.forbidden.push(format!("{bytes:?} arrived"));
    }
    // Whatever an upstream said, the next exchange is not answered with it.
    let is_clean = matches!(next.replies.as_slice(), [reply] if reply.head.status() == 200 && reply.body == b"{}");
    if !is_clean {
        verdict.forbidden.push("the next exchange did not get its own answer".into());
    }
    verdict
}
