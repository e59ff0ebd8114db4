//! What the client gets: a judged answer, or a problem document (RFC 9457). The exchange is settled before its last byte
//! leaves.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use http_body::{Frame, SizeHint};

use super::body::Flow;
use super::error::Refusal;
use super::exchange::Exchange;
use super::tunnel::{Ends, Handover, Tunnel};
use crate::policy::Direction;

/// A response that policy has judged: the only thing that can be delivered.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The fields, framing excluded.
    pub headers: HeaderMap,
    /// The body.
    pub body: ReplyBody,
}

/// A response body on its way out.
#[derive(Debug)]
pub enum ReplyBody {
    /// Wholly here.
    Whole(Bytes),
    /// As the upstream sends it, through the filter.
    Flow(Box<Flow<reqwest::Body>>),
    /// None: the connection becomes a tunnel, which may be silent for so long.
    Tunnel(Box<Ends>, Duration),
}

/// Hands a judged answer to the transport.
pub fn deliver(mut exchange: Exchange, reply: Reply, handover: &Handover) -> Response<Body> {
    let Reply { status, headers, body } = reply;
    let is_head = exchange.method == http::Method::HEAD;
    let body = match body {
        ReplyBody::Whole(bytes) => {
            exchange.count_out(bytes.len());
            exchange.complete(status.as_u16());
            match bytes.is_empty() {
                // The answer to HEAD does not say what GET would have been after its edits: it has no length.
                true if is_head && !headers.contains_key(header::CONTENT_LENGTH) => {
                    Body::from_stream(futures_util::stream::empty::<Result<Bytes, Refusal>>())
                }
                true => Body::empty(),
                false => Body::from(bytes),
            }
        }
        ReplyBody::Flow(flow) => {
            exchange.begin_answer(status.as_u16());
            Body::new(FlowingBody { flow, status: status.as_u16(), exchange, settled: false })
        }
        ReplyBody::Tunnel(ends, idle) => {
            exchange.begin_answer(status.as_u16());
            handover.give(Tunnel::new(*ends, exchange, idle));
            Body::empty()
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// Answers with a problem document.
pub fn refuse(mut exchange: Exchange, refusal: &Refusal) -> Response<Body> {
    let status = refusal.status();
    let id = exchange.id_field.clone();
    let is_problem = !status.is_success();
    let text = if is_problem { problem(refusal, status, &id) } else { String::new() };
    exchange.count_out(text.len());
    exchange.refuse(refusal, status.as_u16());
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    if is_problem {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-request-id", id);
    if refusal.closes() {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if let Some(seconds) = refusal.retry_after() {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if matches!(refusal, Refusal::Method | Refusal::LastHop) {
        let allowed = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
        headers.insert(header::ALLOW, allowed);
    }
    response
}

fn problem(refusal: &Refusal, status: StatusCode, id: &HeaderValue) -> String {
    serde_json::json!({
        "type": format!("urn:fieldgate:problem:{}", refusal.code()),
        "title": status.canonical_reason().unwrap_or("Refused"),
        "status": status.as_u16(),
        "code": refusal.code(),
        "detail": refusal.detail(),
        "request_id": id.to_str().unwrap_or_default(),
    })
    .to_string()
}

/// The last answer on its connection.
pub fn closing(mut response: Response<Body>) -> Response<Body> {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// The answer when there is not even an exchange to answer for: something in the gateway panicked.
pub fn failed() -> Response<Body> {
    let mut response =
        Response::new(Body::from(r#"{"type":"urn:fieldgate:problem:internal","status":500,"code":"internal"}"#));
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    response
}

/// A body that flows, with the exchange that it ends.
struct FlowingBody {
    flow: Box<Flow<reqwest::Body>>,
    status: u16,
    exchange: Exchange,
    settled: bool,
}

impl FlowingBody {
    fn settle(&mut self, broken: Option<&Refusal>) {
        self.settled = true;
        let report = self.flow.report();
        self.exchange.note_body(Direction::Response, report);
        match broken {
            None => self.exchange.complete(self.status),
            Some(refusal) => self.exchange.refuse(refusal, self.status),
        }
    }
}

impl http_body::Body for FlowingBody {
    type Data = Bytes;
    type Error = Refusal;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Refusal>>> {
        let next = ready!(self.flow.poll_next(cx));
        Poll::Ready(match next {
            Some(Ok(bytes)) => {
                self.exchange.count_out(bytes.len());
                if self.flow.is_ended() {
                    self.settle(None);
                }
                Some(Ok(Frame::data(bytes)))
            }
            // An error cuts the connection: what was sent can never be taken for a complete answer.
            Some(Err(fault)) => {
                let refusal = fault.into_refusal();
                self.settle(Some(&refusal));
                Some(Err(refusal))
            }
            None => {
                self.settle(None);
                None
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        self.flow.is_ended()
    }

    fn size_hint(&self) -> SizeHint {
        self.flow.size_hint()
    }
}

impl Drop for FlowingBody {
    /// The client went away in the middle: what was found so far is remembered with the exchange.
    fn drop(&mut self) {
        if !self.settled {
            let report = self.flow.report();
            self.exchange.note_body(Direction::Response, report);
        }
    }
}
