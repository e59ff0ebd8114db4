//! Asking policy, for both halves of an exchange: what is judged here and comes back is what may leave. It edits nothing by
//! itself.
//!
//! A [`Cleared`] request can only be had from [`request`], a [`Reply`] only from [`response`]: forgetting to judge does not
//! compile.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

use super::body::{Begun, Bounds, Flow, begin};
use super::error::Refusal;
use super::exchange::Exchange;
use super::headers::{self, RequestFields};
use super::reply::{Reply, ReplyBody};
use super::target::Target;
use super::upload::Upload;
use super::upstream::{Answer, Cleared, Outgoing};
use crate::content::kind::{Format, Kind};
use crate::policy::{
    BodyFault, BodyFilter, Direction, Failure, Findings, HeaderChange, HeaderEdit, Judged, OnFailure, Plan, Verdict,
};
use crate::router::comparable;

/// Judges a request: path, query, fields, body.
pub async fn request(exchange: &mut Exchange, head: Parts, target: Target, body: Body) -> Result<Cleared, Refusal> {
    let plan = exchange.plan(Direction::Request).ok_or(Refusal::Internal)?;
    let mut gate = Gate { exchange, direction: Direction::Request, findings: Findings::default(), edited: false };
    let path = gate.part(|found| plan.judge_path(&target.path, found), target.path.clone())?;
    let query = match &target.query {
        Some(query) => gate.part(|found| plan.judge_query(query, found), query.clone())?.into(),
        None => None,
    };
    let labels = Labels::of(&head.headers);
    let mut fields = gate.fields(&plan, head.headers)?;
    let outgoing = request_body(&mut gate, &plan, &labels, body).await?;
    gate.settle();

    let route = exchange.matched().ok_or(Refusal::Internal)?;
    let upstream = exchange.live.pool(route).ok_or(Refusal::Internal)?;
    RequestFields {
        origin: exchange.origin,
        method: &head.method,
        authority: &target.authority,
        id: &exchange.id_field,
        via: &exchange.worker.via,
        reads_response: route.response.reads_body(),
        edits_response: route.response.acts_on_body(),
        edits_body: plan.acts_on_body(),
        preserve_host: upstream.spec.preserve_host,
        set: &upstream.spec.set_headers,
    }
    .apply(&mut fields);
    headers::trace(&mut fields, exchange.id);
    if let Outgoing::Streamed(upload) = &outgoing
        && upload.length().is_none()
        && matches!(head.method, Method::GET | Method::HEAD)
    {
        // The client would send a GET whose length is not known without its body.
        fields.insert(header::TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
    let path = match &route.strip_prefix {
        Some(prefix) => stripped(&path, prefix).ok_or(Refusal::Internal)?,
        None => path,
    };
    Ok(Cleared { method: head.method, path, query, headers: fields, body: outgoing })
}

async fn request_body(gate: &mut Gate<'_>, plan: &Arc<Plan>, labels: &Labels, body: Body) -> Result<Outgoing, Refusal> {
    use http_body::Body as _;
    if body.is_end_stream() {
        return Ok(Outgoing::Empty);
    }
    let limits = &gate.exchange.worker.limits;
    let bounds = Bounds { direction: Direction::Request, idle: limits.body_timeout, total: gate.total_limit() };
    let judged = match judge_body(gate, plan, labels, body, bounds).await? {
        JudgedBody::Whole(bytes) if bytes.is_empty() => return Ok(Outgoing::Empty),
        JudgedBody::Whole(bytes) => return Ok(Outgoing::Whole(bytes)),
        JudgedBody::Flow(flow) => flow,
    };
    let upload = Arc::new(Upload::new(judged));
    gate.exchange.uploads(Arc::clone(&upload));
    Ok(Outgoing::Streamed(upload))
}

/// Judges a response: fields, body. Every status is judged alike.
pub async fn response(exchange: &mut Exchange, answer: Answer) -> Result<Reply, Refusal> {
    use http_body::Body as _;
    let Answer { status, headers, body, .. } = answer;
    let plan = exchange.plan(Direction::Response).ok_or(Refusal::Internal)?;
    let idle = exchange.pool().ok_or(Refusal::Internal)?.spec.idle_timeout;
    let is_head = exchange.method == Method::HEAD;
    let length = headers.get(header::CONTENT_LENGTH).cloned();
    let mut gate = Gate { exchange, direction: Direction::Response, findings: Findings::default(), edited: false };
    let labels = Labels::of(&headers);
    let mut fields = gate.fields(&plan, headers)?;
    headers::strip_hop(&mut fields);

    let is_bodiless =
        is_head || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) || body.is_end_stream();
    let bounds = Bounds { direction: Direction::Response, idle, total: gate.total_limit() };
    let body = if is_bodiless {
        ReplyBody::Whole(Bytes::new())
    } else {
        // A slice of a document cannot be judged.
        let judged = if status == StatusCode::PARTIAL_CONTENT && plan.reads_body() {
            gate.decide(&plan, Failure::Unsupported, "partial content")?;
            JudgedBody::Flow(Flow::new(Bytes::new(), body, None, bounds))
        } else {
            judge_body(&mut gate, &plan, &labels, body, bounds).await?
        };
        match judged {
            JudgedBody::Whole(bytes) => ReplyBody::Whole(bytes),
            JudgedBody::Flow(flow) => flowing(&mut gate, plan.reads_body(), flow).await?,
        }
    };
    gate.settle();
    headers::response_fields(&mut fields, &exchange.worker.via, &exchange.id_field, plan.acts_on_body());
    if let (true, false, Some(length)) = (is_head, plan.acts_on_body(), length) {
        fields.insert(header::CONTENT_LENGTH, length);
    }
    Ok(Reply { status, headers: fields, body })
}

/// Makes a flow ready to be answered with.
async fn flowing(gate: &mut Gate<'_>, is_judged: bool, mut flow: Flow<reqwest::Body>) -> Result<ReplyBody, Refusal> {
    let refusal = super::body::Fault::into_refusal;
    if gate.exchange.version == http::Version::HTTP_10 && flow.size_hint().exact().is_none() {
        // SECURITY: to HTTP/1.0 the end of the connection is the end of the body, so that one that was cut looks complete.
        let whole = flow.collect(gate.body_limit()).await;
        gate.exchange.note_body(Direction::Response, flow.report());
        return whole.map(ReplyBody::Whole).map_err(refusal);
    }
    if is_judged && let Some(Err(fault)) = first_bytes(&mut flow).await {
        gate.exchange.note_body(Direction::Response, flow.report());
        return Err(refusal(fault));
    }
    Ok(ReplyBody::Flow(Box::new(flow)))
}

/// Longest wait for the first line or event of an endless body before its head leaves without it. An upstream that says
/// something at once can still be refused with a proper answer; a client of a quiet one learns that it is connected.
const PATIENCE: Duration = Duration::from_millis(500);

/// `None`: nothing has come yet, and the client should not wait for it.
async fn first_bytes(flow: &mut Flow<reqwest::Body>) -> Option<Result<(), super::body::Fault>> {
    if flow.is_endless() {
        tokio::time::timeout(PATIENCE, flow.look_ahead()).await.ok()
    } else {
        Some(flow.look_ahead().await)
    }
}

/// What the sender says of its body. SECURITY: taken before any rule about fields has run, so that no rule can make a coded
/// body look plain.
struct Labels {
    types: Vec<HeaderValue>,
    codings: Vec<HeaderValue>,
}

impl Labels {
    fn of(fields: &HeaderMap) -> Self {
        let all = |name| fields.get_all(name).iter().cloned().collect();
        Self { types: all(header::CONTENT_TYPE), codings: all(header::CONTENT_ENCODING) }
    }

    fn kind(&self, start: &[u8]) -> Kind {
        let bytes = HeaderValue::as_bytes;
        Kind::of(self.types.iter().map(bytes), self.codings.iter().map(bytes), start)
    }

    /// For a row of documents that may go on for ever: what it is, before anything of it has come.
    fn endless(&self) -> Option<Format> {
        let bytes = HeaderValue::as_bytes;
        match Kind::labelled(self.types.iter().map(bytes), self.codings.iter().map(bytes)) {
            Kind::Known(format) if format.is_endless() => Some(format),
            Kind::Known(_) | Kind::Empty | Kind::Unsupported(_) => None,
        }
    }
}

/// A judged body.
#[expect(clippy::large_enum_variant, reason = "lives for one statement; a box would be an allocation per request")]
enum JudgedBody<B> {
    Whole(Bytes),
    Flow(Flow<B>),
}

async fn judge_body<B>(
    gate: &mut Gate<'_>,
    plan: &Arc<Plan>,
    labels: &Labels,
    body: B,
    bounds: Bounds,
) -> Result<JudgedBody<B>, Refusal>
where
    B: http_body::Body<Data = Bytes> + Unpin,
{
    super::body::check_length(&body, bounds).map_err(super::body::Fault::into_refusal)?;
    let limits = gate.exchange.worker.limits.clone();
    if !plan.reads_body() {
        return unread(gate, body, limits.buffer, bounds).await;
    }
    let hold = if plan.may_block_body() { gate.body_limit() } else { limits.buffer };
    let filter = |gate: &Gate<'_>, format| {
        // What cannot be judged in parts must be held whole: an event, a field of a form.
        let hold = if matches!(format, Format::Events | Format::Form) { gate.body_limit() } else { hold };
        Some(BodyFilter::new(plan, format, limits.json, hold))
    };
    // A body that says how long it is will not keep anybody waiting.
    let is_short = body.size_hint().exact().is_some_and(|length| length <= hold as u64);
    if let Some(format) = labels.endless().filter(|_| !is_short) {
        return Ok(JudgedBody::Flow(Flow::new(Bytes::new(), body, filter(gate, format), bounds)));
    }
    let (start, rest) = match begin(body, hold, bounds).await.map_err(super::body::Fault::into_refusal)? {
        Begun::Whole(bytes) => (bytes, None),
        Begun::Part(bytes, rest) => (bytes, Some(rest)),
    };
    let trouble = match labels.kind(&start) {
        Kind::Empty => return Ok(JudgedBody::Whole(start)),
        Kind::Known(format) => plan.trouble_with(format).map_or(Ok(format), Err),
        Kind::Unsupported(reason) => Err(reason),
    };
    let format = match trouble {
        Ok(format) => Some(format),
        Err(reason) => {
            gate.decide(plan, Failure::Unsupported, reason)?;
            None
        }
    };
    let Some(rest) = rest else {
        gate.exchange.count_body(bounds.direction, start.len());
        return Ok(JudgedBody::Whole(match format {
            Some(format) => gate.whole(plan, format, start)?,
            None => start,
        }));
    };
    let filter = match format {
        None => None,
        Some(_) if plan.may_block_body() => {
            gate.decide(plan, Failure::Oversize, "the body is larger than what may be held (`limits.body`)")?;
            None
        }
        Some(format) => filter(gate, format),
    };
    Ok(JudgedBody::Flow(Flow::new(start, rest, filter, bounds)))
}

/// A body that no rule reads. Chunks of a request that have arrived are checked before any of them leaves: what is not well
/// framed is then no half-sent request at the upstream.
async fn unread<B>(gate: &mut Gate<'_>, body: B, hold: usize, bounds: Bounds) -> Result<JudgedBody<B>, Refusal>
where
    B: http_body::Body<Data = Bytes> + Unpin,
{
    if bounds.direction == Direction::Response || body.size_hint().exact().is_some() {
        return Ok(JudgedBody::Flow(Flow::new(Bytes::new(), body, None, bounds)));
    }
    match super::body::arrived(body, hold, bounds).await.map_err(super::body::Fault::into_refusal)? {
        Begun::Whole(bytes) => {
            gate.exchange.count_body(bounds.direction, bytes.len());
            Ok(JudgedBody::Whole(bytes))
        }
        Begun::Part(start, rest) => Ok(JudgedBody::Flow(Flow::new(start, rest, None, bounds))),
    }
}

/// One half of an exchange, being judged.
struct Gate<'a> {
    exchange: &'a mut Exchange,
    direction: Direction,
    findings: Findings,
    edited: bool,
}

impl Gate<'_> {
    /// A part of the head, edited or as it was.
    fn part<E>(&mut self, judge: impl FnOnce(&mut Findings) -> Judged<E>, untouched: E) -> Result<E, Refusal> {
        match judge(&mut self.findings) {
            Judged::Pass => Ok(untouched),
            Judged::Edit(edit) => {
                self.edited = true;
                Ok(edit)
            }
            Judged::Block(block, _) => {
                self.settle();
                Err(self.blocked(block))
            }
        }
    }

    fn fields(&mut self, plan: &Plan, fields: HeaderMap) -> Result<HeaderMap, Refusal> {
        if !plan.reads_headers() {
            return Ok(fields);
        }
        let listed = fields.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        let edits = self.part(|found| plan.judge_headers(listed, found), Vec::new())?;
        if edits.is_empty() { Ok(fields) } else { edited_fields(&fields, &edits) }
    }

    /// A body that is wholly here.
    fn whole(&mut self, plan: &Arc<Plan>, format: Format, body: Bytes) -> Result<Bytes, Refusal> {
        let (result, judge) = BodyFilter::whole(plan, format, self.exchange.worker.limits.json, &body);
        let verdict = judge.verdict();
        for (failure, what) in judge.passed() {
            self.exchange.note_uninspected(self.direction, *failure, what, OnFailure::Pass);
        }
        // What was found before the body turned out unreadable was not acted upon: the body passes untouched or not at all.
        if !matches!(result, Err(BodyFault::Unreadable { .. })) {
            self.findings.append(judge.into_findings());
        }
        match (result, verdict) {
            (Ok(None), _) => Ok(body),
            (Ok(Some(edited)), _) => {
                self.edited = true;
                Ok(edited.into())
            }
            (Err(BodyFault::Blocked), Verdict::Block(block, _)) => {
                self.settle();
                Err(self.blocked(block))
            }
            (Err(BodyFault::Blocked), _) => Err(Refusal::Internal),
            (Err(BodyFault::Unreadable { failure, what, .. }), _) => {
                self.decide(plan, failure, what)?;
                Ok(body)
            }
        }
    }

    /// What happens when protection cannot be given: the one place. Passing is written into the record; refusing is the
    /// default and comes back as an error.
    fn decide(&mut self, plan: &Plan, failure: Failure, reason: &'static str) -> Result<(), Refusal> {
        match plan.on_failure(failure) {
            OnFailure::Pass => {
                self.exchange.note_uninspected(self.direction, failure, reason, OnFailure::Pass);
                Ok(())
            }
            OnFailure::Block => {
                self.settle();
                Err(Refusal::Unreadable { direction: self.direction, failure, reason: reason.into() })
            }
        }
    }

    fn blocked(&self, block: crate::actions::Block) -> Refusal {
        Refusal::Blocked { direction: self.direction, status: block.status, message: block.message }
    }

    /// Hands what was found to the exchange.
    fn settle(&mut self) {
        let findings = std::mem::take(&mut self.findings);
        self.exchange.note_findings(self.direction, findings, self.edited);
    }

    fn body_limit(&self) -> usize {
        self.exchange.matched().map_or(0, |route| route.body_limit)
    }

    fn total_limit(&self) -> Option<u64> {
        self.exchange.matched().and_then(|route| route.total_limit)
    }
}

fn edited_fields(fields: &HeaderMap, edits: &[HeaderEdit]) -> Result<HeaderMap, Refusal> {
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

/// The path without `prefix`, which ends on a segment boundary and may be encoded otherwise in the path.
fn stripped(path: &str, prefix: &str) -> Option<String> {
    let prefix = prefix.trim_end_matches('/');
    let end = path.match_indices('/').nth(prefix.matches('/').count()).map_or(path.len(), |(at, _)| at);
    let (front, rest) = path.split_at_checked(end)?;
    let is_same = comparable(front) == comparable(prefix);
    is_same.then(|| if rest.is_empty() { "/".to_owned() } else { rest.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::stripped;

    #[test]
    fn prefixes_end_on_segments() {
        assert_eq!(stripped("/v1/a", "/v1").as_deref(), Some("/a"));
        assert_eq!(stripped("/v1", "/v1/").as_deref(), Some("/"));
        assert_eq!(stripped("/v10/a", "/v1"), None);
    }
}
