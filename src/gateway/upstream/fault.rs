//! Why one attempt to send a request failed, read off the client's error: whether anything was sent, and who is to blame. It
//! refuses to know what is done about it.

use std::error::Error;
use std::io::ErrorKind;
use std::time::Instant;

use http::Extensions;
use hyper_util::client::legacy;

use super::breaker::Ended;
use super::client;
use super::connections::Connections;
use crate::gateway::error::Refusal;

/// Why one attempt failed.
#[derive(Debug)]
pub enum Failed {
    /// There was no connection, so nothing was sent.
    Unreached(Refusal),
    /// The upstream says that it has not begun with the request (RFC 9113 section 8.7).
    NotBegun,
    /// The connection ended before the head of an answer was there.
    Died {
        /// Whether it was one that had been kept: the way an idle close races a reuse.
        stale: bool,
    },
    /// The upstream's fault otherwise.
    Upstream(Refusal),
    /// Not the upstream's fault: the client broke off its upload, or a rule did.
    Ours(Refusal),
}

impl Failed {
    /// Reads it off the error of a request that was sent at `since`.
    pub fn of(error: &reqwest::Error, connections: &Connections, since: Instant) -> Self {
        if error.is_timeout() && !error.is_connect() {
            Self::Upstream(Refusal::UpstreamTimeout)
        } else if let Some(why) = client::distrust(error) {
            // TLS 1.3 tells a client that its certificate is not wanted when the handshake seems to be over.
            Self::Unreached(Refusal::UpstreamTls(why))
        } else if error.is_connect() {
            Self::Unreached(if error.is_dns() {
                Refusal::UpstreamDns
            } else if error.is_timeout() {
                Refusal::UpstreamTimeout
            } else {
                Refusal::UpstreamConnect
            })
        } else if h2(error).is_some_and(client::not_begun) {
            Self::NotBegun
        } else if died(error) {
            let connection = connection(error);
            Self::Died { stale: connection.is_some_and(|known| connections.was_kept(&known, since)) }
        } else {
            Self::Upstream(Refusal::UpstreamBroken)
        }
    }

    /// What it says about the target. That it closed a connection which had been kept says nothing: it is free to do so at any
    /// time (RFC 9112 section 9.5), and one that is not well fails on new ones, too.
    pub fn ended(&self) -> Ended {
        match self {
            Self::Unreached(_) | Self::Died { stale: false } | Self::Upstream(_) => Ended::Badly,
            Self::NotBegun | Self::Died { stale: true } | Self::Ours(_) => Ended::Unknown,
        }
    }

    /// What the exchange is refused with.
    pub fn into_refusal(self) -> Refusal {
        match self {
            Self::NotBegun | Self::Died { .. } => Refusal::UpstreamBroken,
            Self::Unreached(refusal) | Self::Upstream(refusal) | Self::Ours(refusal) => refusal,
        }
    }
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&error| error.source())
}

fn h2(error: &reqwest::Error) -> Option<&h2::Error> {
    causes(error).find_map(|cause| cause.downcast_ref())
}

fn died(error: &reqwest::Error) -> bool {
    if h2(error).is_some_and(client::went_away) {
        return true;
    }
    causes(error).any(|cause| {
        let hyper = cause.downcast_ref::<hyper::Error>();
        let io = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        hyper.is_some_and(|hyper| hyper.is_incomplete_message() || hyper.is_canceled() || hyper.is_closed())
            || matches!(io, Some(ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted))
    })
}

/// What is known of the connection on which it happened.
fn connection(error: &reqwest::Error) -> Option<Extensions> {
    let client = causes(error).find_map(|cause| cause.downcast_ref::<legacy::Error>())?;
    let mut known = Extensions::new();
    client.connect_info()?.get_extras(&mut known);
    Some(known)
}
