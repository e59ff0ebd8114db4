//! HTTP clients are built here and nowhere else: one pooled client per upstream and worker, when rules load. Never per
//! request: that is the lesson this project began with (a client per request cost 3,052 us, a pooled one 42 to 80 us).

use std::error::Error;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::{CertificateError, ClientConfig, RootCertStore};

use super::connections::Connections;
use super::names::Names;
use crate::certificates::provider;
use crate::rules;

/// An upstream that does not answer a ping is gone.
const PING: Duration = Duration::from_secs(20);
/// What one answer over HTTP/2 may hold unread. SECURITY: answers to all clients share a connection, and what a slow client does
/// not take counts against it; its window is so large that a thousand of them do not hold up the next.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 1 << 30;
/// Bytes of an answer's fields; HTTP/1.1 has its own bound.
const HEADER_LIST: u32 = 64 << 10;

/// The TLS configuration that upstreams share: reading the system's authorities costs 3 ms.
#[derive(Debug, Clone)]
pub struct Tls(ClientConfig);

impl Tls {
    /// Trusts nobody: for upstreams that are all clear text, so that a start does not read a certificate store in vain.
    pub fn none() -> Result<Self, rustls::Error> {
        trusting(RootCertStore::empty(), None).map(Self)
    }

    /// Trusts the system's certificate authorities.
    pub fn system() -> Result<Self, rustls::Error> {
        trusting(system_roots(), None).map(Self)
    }

    /// What this upstream asks for in place of it: other authorities, a certificate of ours.
    pub fn of(&self, upstream: &rules::Upstream) -> Result<Self, rustls::Error> {
        let identity = upstream.identity.as_ref();
        match &upstream.authorities {
            None if identity.is_none() => Ok(self.clone()),
            None => trusting(system_roots(), identity).map(Self),
            Some(authorities) => trusting(roots(authorities)?, identity).map(Self),
        }
    }
}

/// SECURITY: there is no way to trust just anybody, and none to go on in clear text.
fn trusting(
    roots: RootCertStore,
    identity: Option<&crate::certificates::Identity>,
) -> Result<ClientConfig, rustls::Error> {
    let config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])?
        .with_root_certificates(roots);
    match identity {
        Some(identity) => config.with_client_auth_cert(identity.chain().to_vec(), identity.key()),
        None => Ok(config.with_no_client_auth()),
    }
}

fn roots(authorities: &[CertificateDer<'static>]) -> Result<RootCertStore, rustls::Error> {
    let mut roots = RootCertStore::empty();
    for authority in authorities {
        roots.add(authority.clone())?;
    }
    Ok(roots)
}

fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::warn!(%error, "a system certificate cannot be read");
    }
    let (_, ignored) = roots.add_parsable_certificates(found.certs);
    if ignored > 0 {
        tracing::warn!(ignored, "system certificates that cannot be parsed are not trusted");
    }
    roots
}

/// What a client is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Keeps its connections for the next request.
    Pooled,
    /// Keeps nothing: each request goes out on a connection that is surely new.
    Once,
    /// Keeps nothing, and speaks HTTP/1.1, which is what turns into something else.
    Tunnel,
}

/// Builds a client of one upstream; `connections` sees what it opens, `names` says where.
pub fn build(
    upstream: &rules::Upstream,
    purpose: Use,
    tls: &Tls,
    connections: &Connections,
    names: &Names,
) -> Result<reqwest::Client, reqwest::Error> {
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    let builder = reqwest::Client::builder();
    let idle = if purpose == Use::Pooled { upstream.max_idle } else { 0 };
    // Over HTTP/2 the target's own name is the `:authority`, and nothing but: a Host that differs needs HTTP/1.1.
    let may_http2 = upstream.is_secure() && !upstream.preserve_host && purpose != Use::Tunnel;
    let protocols: &[&[u8]] = if may_http2 { &[b"h2", b"http/1.1"] } else { &[b"http/1.1"] };
    let mut tls = tls.0.clone();
    tls.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let builder = if may_http2 {
        builder
            .http2_initial_stream_window_size(STREAM_WINDOW)
            .http2_initial_connection_window_size(CONNECTION_WINDOW)
            .http2_max_header_list_size(HEADER_LIST)
            .http2_keep_alive_interval(PING)
            .http2_keep_alive_timeout(PING)
    } else {
        builder.http1_only()
    };
    builder
        .tls_backend_preconfigured(tls)
        // A redirect is an answer to the client, not an order to us; a proxy from the environment is a way out.
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .referer(false)
        .retry(reqwest::retry::never())
        .tcp_nodelay(true)
        .connect_timeout(upstream.connect_timeout)
        .pool_max_idle_per_host(idle)
        // Below the upstream's own keep-alive, so that it never closes under a request.
        .pool_idle_timeout(upstream.pool_idle_timeout)
        .tcp_keepalive(Duration::from_secs(30))
        .dns_resolver(names.clone())
        .connector_layer(connections.clone())
        .build()
}

/// Why there is no TLS with an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distrust {
    /// Its certificate is not valid any more, or not yet.
    Expired,
    /// Its certificate is for another name.
    WrongName,
    /// Its certificate was not issued by anybody who is trusted.
    Unknown,
    /// It has a certificate that is not good for another reason.
    BadCertificate,
    /// The handshake failed: no version or cipher in common, our certificate refused, or no TLS at all.
    Handshake,
}

impl Distrust {
    /// The stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Expired => "upstream_tls_expired",
            Self::WrongName => "upstream_tls_name",
            Self::Unknown => "upstream_tls_unknown",
            Self::BadCertificate => "upstream_tls_certificate",
            Self::Handshake => "upstream_tls_handshake",
        }
    }

    /// One sentence for the client.
    pub const fn detail(self) -> &'static str {
        match self {
            Self::Expired => "the upstream's certificate has expired or is not valid yet",
            Self::WrongName => "the upstream's certificate is for another name",
            Self::Unknown => "the upstream's certificate was not issued by an authority that is trusted here",
            Self::BadCertificate => "the upstream's certificate is not valid",
            Self::Handshake => "the upstream cannot be reached over TLS",
        }
    }

    fn of(error: &rustls::Error) -> Self {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "both enums are open: what is not told apart is named at large"
        )]
        match error {
            rustls::Error::InvalidCertificate(why) => match why {
                CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. } => Self::Expired,
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => Self::WrongName,
                // A bad signature is that of somebody who goes by the name of an authority.
                CertificateError::UnknownIssuer | CertificateError::BadSignature => Self::Unknown,
                _ => Self::BadCertificate,
            },
            _ => Self::Handshake,
        }
    }
}

/// Why a request could not be sent, if it was for TLS.
pub fn distrust(error: &reqwest::Error) -> Option<Distrust> {
    let mut cause = Error::source(error);
    while let Some(error) = cause {
        if let Some(tls) = error.downcast_ref::<rustls::Error>() {
            return Some(Distrust::of(tls));
        }
        // An I/O error is the wrapper of another, and says that its source is the other's.
        let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        cause = match wrapped {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

/// Whether a connection of HTTP/2 ended under a request.
pub fn went_away(error: &h2::Error) -> bool {
    error.is_io() || error.is_go_away()
}

/// Whether the upstream says that it has not begun with a request: so any may be sent again (RFC 9113 section 8.7).
pub fn not_begun(error: &h2::Error) -> bool {
    let said = |reason| error.is_remote() && error.reason() == Some(reason);
    said(h2::Reason::REFUSED_STREAM) || error.is_go_away() && said(h2::Reason::NO_ERROR)
}
