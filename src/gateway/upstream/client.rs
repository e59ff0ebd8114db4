//! HTTP clients are built here and nowhere else: one pooled client per upstream and worker, when rules load. Never per
//! request: that is the lesson this project began with (a client per request cost 3,052 us, a pooled one 42 to 80 us).

use std::sync::Arc;
use std::time::Duration;

use super::connections::Connections;
use super::names::Names;
use crate::rules;

/// The TLS configuration that all clients share: building it costs 3 ms.
#[derive(Debug, Clone)]
pub struct Tls(rustls::ClientConfig);

impl Tls {
    /// Trusts nobody: for upstreams that are all clear text, so that a start does not read a certificate store in vain.
    pub fn none() -> Result<Self, rustls::Error> {
        Self::trusting(rustls::RootCertStore::empty())
    }

    /// Trusts the system's certificate authorities.
    pub fn system() -> Result<Self, rustls::Error> {
        let mut roots = rustls::RootCertStore::empty();
        let found = rustls_native_certs::load_native_certs();
        for error in &found.errors {
            tracing::warn!(%error, "a system certificate cannot be read");
        }
        let (_, ignored) = roots.add_parsable_certificates(found.certs);
        if ignored > 0 {
            tracing::warn!(ignored, "system certificates that cannot be parsed are not trusted");
        }
        Self::trusting(roots)
    }

    fn trusting(roots: rustls::RootCertStore) -> Result<Self, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self(config))
    }
}

/// What a client is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Keeps its connections for the next request.
    Pooled,
    /// Keeps nothing: each request goes out on a connection that is surely new.
    Once,
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
    builder
        .tls_backend_preconfigured(tls.0.clone())
        // A redirect is an answer to the client, not an order to us; a proxy from the environment is a way out.
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .referer(false)
        .retry(reqwest::retry::never())
        .http1_only()
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
