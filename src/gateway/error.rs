//! Why an exchange did not get through: one closed enum, each with a stable code, a status and who is to blame. Replies are
//! RFC 9457 problem documents. It refuses to carry anything of a body, a URL or a header.

use std::borrow::Cow;

use http::StatusCode;

use super::upstream::Distrust;
use crate::policy::{Direction, Failure};

/// Who caused a refusal. What a client causes is not an error of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The client, or a rule about what the client sent or may see.
    Client,
    /// The upstream.
    Upstream,
    /// The gateway.
    Gateway,
}

/// Why an exchange was refused or broken off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The request target or Host cannot be accepted.
    Target(&'static str),
    /// CONNECT, TRACE, or an upgrade on a route that does not allow it.
    Method,
    /// More than one Transfer-Encoding, or one that is not `chunked`.
    Framing(&'static str),
    /// An expectation other than `100-continue`.
    Expectation,
    /// An OPTIONS request that may not go further than here (RFC 9110 section 7.6.2): we answer it ourselves.
    LastHop,
    /// The request came through this gateway already.
    Loop,
    /// No route matches.
    NoRoute,
    /// A rule blocked it.
    Blocked {
        /// In which half.
        direction: Direction,
        /// The rule's status.
        status: u16,
        /// The rule's message.
        message: Option<Box<str>>,
    },
    /// Protection could not be given, and policy says block.
    Unreadable {
        /// In which half.
        direction: Direction,
        /// What failed.
        failure: Failure,
        /// In fixed words.
        reason: Cow<'static, str>,
    },
    /// The request body ended early or was not well framed.
    ClientBody,
    /// The request body did not arrive in time.
    ClientTimeout,
    /// A body over `limits.total`.
    TooLarge,
    /// No connection to the upstream.
    UpstreamConnect,
    /// No TLS with the upstream: it did not prove who it is, or speaks none that we do.
    UpstreamTls(Distrust),
    /// The name of the upstream cannot be looked up.
    UpstreamDns,
    /// As many requests to the upstream are under way as it may have.
    UpstreamBusy,
    /// The upstream has failed too often: it is left alone for a while.
    UpstreamOpen {
        /// How long.
        seconds: u32,
    },
    /// The upstream did not answer in time.
    UpstreamTimeout,
    /// The upstream broke the connection or did not speak HTTP.
    UpstreamBroken,
    /// As much of bodies is held as may be.
    MemoryFull,
    /// The audit log has no room: nothing may pass unrecorded.
    AuditUnavailable,
    /// Something in the gateway went wrong.
    Internal,
}

impl Refusal {
    /// The stable code: in the reply, in the record (as its outcome), in the figures.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Target(_) => "bad_target",
            Self::Method => "method_not_supported",
            Self::Framing(_) => "bad_framing",
            Self::Expectation => "bad_expectation",
            Self::LastHop => "last_hop",
            Self::Loop => "loop_detected",
            Self::NoRoute => "no_route",
            Self::Blocked { .. } => "blocked",
            Self::Unreadable { failure: Failure::Malformed, .. } => "malformed",
            Self::Unreadable { failure: Failure::Oversize, .. } => "oversize",
            Self::Unreadable { failure: Failure::Unsupported, .. } => "unsupported",
            Self::ClientBody => "client_body",
            Self::ClientTimeout => "client_timeout",
            Self::TooLarge => "too_large",
            Self::UpstreamConnect => "upstream_connect",
            Self::UpstreamTls(why) => why.code(),
            Self::UpstreamDns => "upstream_dns",
            Self::UpstreamBusy => "upstream_busy",
            Self::UpstreamOpen { .. } => "circuit_open",
            Self::UpstreamTimeout => "upstream_timeout",
            Self::UpstreamBroken => "upstream_broken",
            Self::MemoryFull => "memory_full",
            Self::AuditUnavailable => "audit_unavailable",
            Self::Internal => "internal",
        }
    }

    /// The status of the reply (RFC 9110 section 15).
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Target(_) | Self::Framing(_) | Self::ClientBody => StatusCode::BAD_REQUEST,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Expectation => StatusCode::EXPECTATION_FAILED,
            Self::LastHop => StatusCode::OK,
            Self::Loop => StatusCode::LOOP_DETECTED,
            Self::NoRoute => StatusCode::NOT_FOUND,
            Self::Blocked { status, .. } => StatusCode::from_u16(*status).unwrap_or(StatusCode::FORBIDDEN),
            Self::Unreadable { direction: Direction::Response, .. }
            | Self::UpstreamConnect
            | Self::UpstreamTls(_)
            | Self::UpstreamBroken => StatusCode::BAD_GATEWAY,
            Self::Unreadable { failure: Failure::Malformed, .. } => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Unreadable { failure: Failure::Oversize, .. } | Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unreadable { failure: Failure::Unsupported, .. } => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::ClientTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::UpstreamTimeout => StatusCode::GATEWAY_TIMEOUT,
            Self::AuditUnavailable
            | Self::MemoryFull
            | Self::UpstreamDns
            | Self::UpstreamBusy
            | Self::UpstreamOpen { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Who caused it.
    pub const fn blame(&self) -> Blame {
        match self {
            Self::Target(_)
            | Self::Method
            | Self::Framing(_)
            | Self::Expectation
            | Self::LastHop
            | Self::Loop
            | Self::NoRoute
            | Self::Blocked { .. }
            | Self::Unreadable { direction: Direction::Request, .. }
            | Self::ClientBody
            | Self::ClientTimeout
            | Self::TooLarge => Blame::Client,
            Self::Unreadable { direction: Direction::Response, .. }
            | Self::UpstreamConnect
            | Self::UpstreamTls(_)
            | Self::UpstreamDns
            | Self::UpstreamBusy
            | Self::UpstreamOpen { .. }
            | Self::UpstreamTimeout
            | Self::UpstreamBroken => Blame::Upstream,
            Self::AuditUnavailable | Self::MemoryFull | Self::Internal => Blame::Gateway,
        }
    }

    /// Whether it is a decision of policy (a rule or `on_failure`).
    pub const fn is_block(&self) -> bool {
        matches!(self, Self::Blocked { .. } | Self::Unreadable { .. })
    }

    /// When it is worth while to ask again, in seconds.
    pub fn retry_after(&self) -> Option<u32> {
        if let Self::UpstreamOpen { seconds } = self {
            return Some(*seconds);
        }
        (self.status() == StatusCode::SERVICE_UNAVAILABLE).then_some(1)
    }

    /// Whether what is left of the request must not be read as a next request.
    pub const fn closes(&self) -> bool {
        matches!(
            self,
            Self::Target(_)
                | Self::Method
                | Self::Framing(_)
                | Self::Expectation
                | Self::Loop
                | Self::ClientBody
                | Self::ClientTimeout
                | Self::TooLarge
                | Self::MemoryFull
        )
    }

    /// One sentence for the client.
    pub fn detail(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            Self::Target(why) | Self::Framing(why) => why,
            Self::Method => "this method is not supported here",
            Self::Expectation => "the only Expect that is known is `100-continue`",
            Self::LastHop => "the request may not go further than here",
            Self::Loop => "the request came back to the gateway that sent it",
            Self::NoRoute => "no route matches this host, path and method",
            Self::Blocked { message: Some(message), .. } => message,
            Self::Blocked { direction: Direction::Request, .. } => "a data-protection rule blocks this request",
            Self::Blocked { direction: Direction::Response, .. } => "a data-protection rule blocks this response",
            Self::Unreadable { direction, reason, .. } => {
                return Cow::Owned(format!("the {} body cannot be inspected: {reason}", direction.name()));
            }
            Self::ClientBody => "the request body ended early or is not well framed",
            Self::ClientTimeout => "the request body did not arrive in time",
            Self::TooLarge => "the body is larger than this route allows",
            Self::UpstreamConnect => "the upstream cannot be reached",
            Self::UpstreamTls(why) => why.detail(),
            Self::UpstreamDns => "the name of the upstream cannot be looked up",
            Self::UpstreamBusy => "as many requests as the upstream may have are under way",
            Self::UpstreamOpen { .. } => "the upstream has failed too often and is left alone for a while",
            Self::UpstreamTimeout => "the upstream did not answer in time",
            Self::UpstreamBroken => "the upstream did not give a complete HTTP answer",
            Self::MemoryFull => "the gateway holds as much of bodies as it may at the moment",
            Self::AuditUnavailable => "the audit log cannot be written, so nothing is let through",
            Self::Internal => "the gateway failed",
        })
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.code())
    }
}

impl std::error::Error for Refusal {}
