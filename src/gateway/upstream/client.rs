//! HTTP clients are built here and nowhere else: one pooled client per upstream and worker, when rules load. Never per
//! request: that is the lesson this project began with (a client per request cost 3,052 us, a pooled one 42 to 80 us).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use crate::rules;
use crate::stats::{SeriesId, WorkerStats};

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

/// Builds a client of one upstream for one worker. It keeps at most `idle` connections; `opened` counts all it opens.
pub fn build(
    upstream: &rules::Upstream,
    idle: usize,
    tls: &Tls,
    opened: &Opened,
) -> Result<reqwest::Client, reqwest::Error> {
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    let builder = reqwest::Client::builder();
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
        .connector_layer(opened.clone())
        .build()
}

/// Counts what a client opens, so that the origin story can be seen on the dashboard and in a test.
#[derive(Debug, Clone)]
pub struct Opened {
    stats: WorkerStats,
    upstream: SeriesId,
    count: Arc<AtomicU64>,
}

impl Opened {
    /// Counts for this worker and upstream.
    pub fn new(stats: WorkerStats, upstream: SeriesId) -> Self {
        Self { stats, upstream, count: Arc::default() }
    }

    /// How many so far.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

impl<S> tower::Layer<S> for Opened {
    type Service = CountedConnector<S>;

    fn layer(&self, inner: S) -> Self::Service {
        CountedConnector { inner, opened: self.clone() }
    }
}

/// A connector that counts what it is asked for.
#[derive(Debug, Clone)]
pub struct CountedConnector<S> {
    inner: S,
    opened: Opened,
}

impl<S, R> tower::Service<R> for CountedConnector<S>
where
    S: tower::Service<R>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> Self::Future {
        self.opened.stats.connection_opened(self.opened.upstream);
        self.opened.count.fetch_add(1, Ordering::Relaxed);
        self.inner.call(request)
    }
}
