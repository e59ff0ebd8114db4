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
use super::decoded::Decoded;
use super::error::Refusal;
use super::exchange::Exchange;
use super::headers::{self, RequestFields};
use super::labels::Labels;
use super::memory::Held;
use super::reply::{Reply, ReplyBody};
use super::target::Target;
use super::tunnel::{self, Ask};
use super::upload::Upload;
use super::upstream::{Answer, Cleared, Outgoing};
use crate::content::coding::Decoder;
use crate::content::kind::{Format, Kind};
use crate::policy::{BodyFault, BodyFilter, Direction, Failure, Findings, Judged, OnFailure, Plan, Verdict};
use crate::router::comparable;

/// Judges a request: path, query, fields, body.
pub async fn request(
    exchange: &mut Exchange,
    head: Parts,
    target: Target,
    body: Body,
    asks_for_tunnel: bool,
) -> Result<Cleared, Refusal> {
    let plan = exchange.plan(Direction::Request).ok_or(Refusal::Internal)?;
    let mut gate =
        Gate { exchange, direction: Direction::Request, findings: Findings::default(), edited: false, decoded: false };
    let path = gate.part(|found| plan.judge_path(&target.path, found))?.unwrap_or(target.path);
    let query = match target.query {
        Some(query) => Some(gate.part(|found| plan.judge_query(&query, found))?.unwrap_or(query)),
        None => None,
    };
    let labels = Labels::of(&head.headers, &plan);
    let mut fields = gate.fields(&plan, head.headers)?;
    let outgoing = request_body(&mut gate, &plan, &labels, body).await?;
    if gate.decoded {
        fields.remove(header::CONTENT_ENCODING);
    }
    gate.settle();

    let route = exchange.matched().ok_or(Refusal::Internal)?;
    let upstream = exchange.live.pool(route).ok_or(Refusal::Internal)?;
    RequestFields {
        origin: &exchange.origin,
        secure: exchange.secure,
        method: &head.method,
        authority: &target.named.authority,
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
    if asks_for_tunnel {
        Ask::say(&mut fields);
    }
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
    Ok(Cleared { method: head.method, path, query, headers: fields, body: outgoing, asks_for_tunnel })
}

async fn request_body(gate: &mut Gate<'_>, plan: &Arc<Plan>, labels: &Labels, body: Body) -> Result<Outgoing, Refusal> {
    use http_body::Body as _;
    if body.is_end_stream() {
        return Ok(Outgoing::Empty);
    }
    let limits = &gate.exchange.worker.limits;
    let bounds =
        Bounds { direction: Direction::Request, idle: limits.body_timeout, total: gate.total_limit(), until: None };
    let judged = match judge_body(gate, plan, labels, body, bounds).await? {
        JudgedBody::Whole(bytes) if bytes.is_empty() => return Ok(Outgoing::Empty),
        JudgedBody::Whole(bytes) => return Ok(Outgoing::Whole(bytes)),
        JudgedBody::Flow(flow) => flow,
    };
    let upload = Arc::new(Upload::new(judged));
    gate.exchange.uploads(Arc::clone(&upload));
    Ok(Outgoing::Streamed(upload))
}

/// Judges a response: fields, body. Every status is judged alike; one that opens a tunnel must answer an `ask`.
pub async fn response(exchange: &mut Exchange, answer: Answer, ask: Option<Ask>) -> Result<Reply, Refusal> {
    use http_body::Body as _;
    let Answer { status, headers, body, until, upgrade } = answer;
    let opens_tunnel = status == StatusCode::SWITCHING_PROTOCOLS;
    let ends = match ask.filter(|_| opens_tunnel) {
        Some(ask) => Some(ask.agreed(&headers, upgrade)?),
        None if opens_tunnel => return Err(Refusal::UpstreamBroken),
        None => None,
    };
    let plan = exchange.plan(Direction::Response).ok_or(Refusal::Internal)?;
    let idle = exchange.pool().ok_or(Refusal::Internal)?.spec.idle_timeout;
    let is_head = exchange.method == Method::HEAD;
    let length = headers.get(header::CONTENT_LENGTH).cloned();
    let mut gate =
        Gate { exchange, direction: Direction::Response, findings: Findings::default(), edited: false, decoded: false };
    let labels = Labels::of(&headers, &plan);
    let mut fields = gate.fields(&plan, headers)?;
    headers::strip_hop(&mut fields);

    let is_bodiless =
        is_head || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) || body.is_end_stream();
    let bounds = Bounds { direction: Direction::Response, idle, total: gate.total_limit(), until };
    let body = if let Some(ends) = ends {
        gate.exchange.tunnels(tunnel::REASON);
        ReplyBody::Tunnel(Box::new(ends), idle)
    } else if is_bodiless {
        ReplyBody::Whole(Bytes::new())
    } else {
        // A slice of a document cannot be judged.
        let judged = if status == StatusCode::PARTIAL_CONTENT && plan.reads_body() {
            gate.decide(&plan, Failure::Unsupported, "partial content")?;
            gate.as_it_came(Bytes::new(), false, Decoded::plain(body), bounds)
        } else {
            judge_body(&mut gate, &plan, &labels, body, bounds).await?
        };
        match judged {
            JudgedBody::Whole(bytes) => ReplyBody::Whole(bytes),
            JudgedBody::Flow(flow) => flowing(&mut gate, plan.reads_body(), flow).await?,
        }
    };
    // The answer to HEAD says what the answer to GET would have.
    if gate.decoded || is_head && plan.acts_on_body() && labels.codings().is_ok_and(|codings| !codings.is_empty()) {
        fields.remove(header::CONTENT_ENCODING);
    }
    gate.settle();
    headers::response_fields(&mut fields, &exchange.worker.via, &exchange.id_field, plan.acts_on_body());
    if opens_tunnel {
        Ask::say(&mut fields);
    }
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
        let mut held = gate.nothing_held();
        let whole = flow.collect(gate.body_limit(), &mut held).await;
        gate.exchange.holds(held);
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
    // A body that says how long it is will not keep anybody waiting.
    let is_short = body.size_hint().exact().is_some_and(|length| length <= hold as u64);
    let codings = labels.codings();
    let mut body = match &codings {
        Ok(codings) if !codings.is_empty() => Decoded::coded(body, Decoder::new(codings, gate.decoded_limit())),
        Ok(_) | Err(_) => Decoded::plain(body),
    };
    let filter = |gate: &Gate<'_>, format| {
        // What cannot be judged in parts must be held whole: an event, a field of a form.
        let hold = if matches!(format, Format::Events | Format::Form | Format::Multipart(_)) {
            gate.body_limit()
        } else {
            hold
        };
        Some(BodyFilter::new(plan, format, limits.json, hold))
    };
    if let Some(format) = labels.endless().filter(|_| !is_short && codings.is_ok()) {
        let filter = filter(gate, format);
        return Ok(JudgedBody::Flow(gate.flow(plan, Bytes::new(), body, filter, bounds)));
    }
    // What cannot be decoded need not be waited for, but a body without a byte is none.
    let hold_now = if codings.is_ok() { hold } else { 0 };
    let mut held = gate.nothing_held();
    let (start, is_whole) = match begin(&mut body, hold_now, bounds, &mut held).await {
        Ok(Begun::Whole(bytes)) => (bytes, true),
        Ok(Begun::Part(bytes)) => (bytes, false),
        Err(super::body::Fault::Unreadable(_, failure, reason)) => {
            gate.decide(plan, failure, reason)?;
            return Ok(gate.as_it_came(Bytes::new(), false, body, bounds));
        }
        Err(fault) => return Err(fault.into_refusal()),
    };
    gate.exchange.holds(held);
    let trouble = match (codings, labels.kind(&start)) {
        (_, Kind::Empty) if is_whole => return Ok(gate.empty(plan, body)),
        (Err(reason), _) | (Ok(_), Kind::Unsupported(reason)) => Err(reason),
        (Ok(_), Kind::Known(format)) => plan.trouble_with(format).map_or(Ok(format), Err),
        // Nothing has come of all that was read: it is too much to be held, and what it is nobody knows.
        (Ok(_), Kind::Empty) => Err("nothing but empty coded data"),
    };
    let format = match trouble {
        Ok(format) => format,
        Err(reason) => {
            gate.decide(plan, Failure::Unsupported, reason)?;
            return Ok(gate.as_it_came(start, is_whole, body, bounds));
        }
    };
    if is_whole {
        return gate.whole(plan, format, start, body).map(JudgedBody::Whole);
    }
    if plan.may_block_body() {
        gate.decide(plan, Failure::Oversize, "the body is larger than what may be held (`limits.body`)")?;
        return Ok(gate.as_it_came(start, is_whole, body, bounds));
    }
    let filter = filter(gate, format);
    Ok(JudgedBody::Flow(gate.flow(plan, start, body, filter, bounds)))
}

/// A body that no rule reads. Chunks of a request that have arrived are checked before any of them leaves: what is not well
/// framed is then no half-sent request at the upstream.
async fn unread<B>(gate: &mut Gate<'_>, body: B, hold: usize, bounds: Bounds) -> Result<JudgedBody<B>, Refusal>
where
    B: http_body::Body<Data = Bytes> + Unpin,
{
    let is_framed = bounds.direction == Direction::Response || body.size_hint().exact().is_some();
    let mut body = Decoded::plain(body);
    if is_framed {
        return Ok(JudgedBody::Flow(Flow::new(Bytes::new(), body, None, bounds)));
    }
    match super::body::arrived(&mut body, hold, bounds).await.map_err(super::body::Fault::into_refusal)? {
        Begun::Whole(bytes) => {
            gate.exchange.count_body(bounds.direction, bytes.len());
            Ok(JudgedBody::Whole(bytes))
        }
        Begun::Part(start) => Ok(JudgedBody::Flow(Flow::new(start, body, None, bounds))),
    }
}

/// One half of an exchange, being judged.
struct Gate<'a> {
    exchange: &'a mut Exchange,
    direction: Direction,
    findings: Findings,
    edited: bool,
    /// Whether the codings were taken off the body that goes on.
    decoded: bool,
}

impl Gate<'_> {
    /// A part of the head, if it was edited.
    fn part<E>(&mut self, judge: impl FnOnce(&mut Findings) -> Judged<E>) -> Result<Option<E>, Refusal> {
        match judge(&mut self.findings) {
            Judged::Pass => Ok(None),
            Judged::Edit(edit) => {
                self.edited = true;
                Ok(Some(edit))
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
        let Some(edits) = self.part(|found| plan.judge_headers(listed, found))? else { return Ok(fields) };
        headers::edited(&fields, &edits)
    }

    /// A body that nobody judges, with its codings; `start` is what was read of one that has none.
    fn as_it_came<B>(&mut self, start: Bytes, is_whole: bool, mut body: Decoded<B>, bounds: Bounds) -> JudgedBody<B>
    where
        B: http_body::Body<Data = Bytes> + Unpin,
    {
        let start = if body.is_coded() { body.give_up() } else { start };
        if is_whole || http_body::Body::is_end_stream(&body) {
            self.exchange.count_body(self.direction, start.len());
            return JudgedBody::Whole(start);
        }
        JudgedBody::Flow(Flow::new(start, body, None, bounds))
    }

    /// A body that flows. What an enforced rule has looked at goes on without its codings.
    ///
    /// SECURITY: even where nothing was changed. Decoders differ (in what they take for `deflate`, in what may follow the
    /// end), and what was looked at must be what is read.
    fn flow<B>(
        &mut self,
        plan: &Plan,
        start: Bytes,
        mut body: Decoded<B>,
        filter: Option<BodyFilter>,
        bounds: Bounds,
    ) -> Flow<B>
    where
        B: http_body::Body<Data = Bytes> + Unpin,
    {
        let watches = body.is_coded() && !plan.acts_on_body();
        if !watches {
            self.decoded = body.is_coded();
            body.keep_no_more();
        }
        let flow = Flow::new(start, body, filter, bounds).holding(self.nothing_held());
        if watches { flow.watched() } else { flow }
    }

    /// A body in which there is nothing: the codings of one that had some bytes stand for nothing, too.
    fn empty<B>(&mut self, plan: &Plan, mut body: Decoded<B>) -> JudgedBody<B>
    where
        B: http_body::Body<Data = Bytes> + Unpin,
    {
        let came = body.take_kept();
        self.exchange.count_body(self.direction, came.len());
        if came.is_empty() || !plan.acts_on_body() {
            return JudgedBody::Whole(came);
        }
        self.decoded = true;
        JudgedBody::Whole(Bytes::new())
    }

    /// A body that is wholly here; `source` is what it was read from.
    fn whole<B>(
        &mut self,
        plan: &Arc<Plan>,
        format: Format,
        body: Bytes,
        mut source: Decoded<B>,
    ) -> Result<Bytes, Refusal>
    where
        B: http_body::Body<Data = Bytes> + Unpin,
    {
        self.exchange.count_body(self.direction, source.read() as usize);
        self.decoded = source.is_coded() && plan.acts_on_body();
        let came = (source.is_coded() && !self.decoded).then(|| source.take_kept());
        let judged = self.judged(plan, format, body)?;
        Ok(came.unwrap_or(judged))
    }

    fn judged(&mut self, plan: &Arc<Plan>, format: Format, body: Bytes) -> Result<Bytes, Refusal> {
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

    fn nothing_held(&self) -> Held {
        Held::nothing(Arc::clone(&self.exchange.worker.memory))
    }

    fn body_limit(&self) -> usize {
        self.exchange.matched().map_or(0, |route| route.body_limit)
    }

    fn decoded_limit(&self) -> u64 {
        self.exchange.matched().map_or(0, |route| route.decoded_limit)
    }

    fn total_limit(&self) -> Option<u64> {
        self.exchange.matched().and_then(|route| route.total_limit)
    }
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
