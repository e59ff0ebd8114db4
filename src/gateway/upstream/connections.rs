//! The connections that a client opens: counted, so that the origin story can be seen on the dashboard and in a test, and
//! told apart when one dies under a request. It refuses to know requests.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use http::Extensions;
use hyper_util::client::legacy::connect::{Connection, HttpInfo};
use tower::ServiceExt as _;

use crate::stats::{SeriesId, WorkerStats};

/// What is known of the connections to one upstream from one worker. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct Connections(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Where they are counted; those of health checks are not.
    counted: Option<(WorkerStats, SeriesId)>,
    young: Mutex<Young>,
}

/// When each connection was opened that has not given an answer yet, by its own address.
type Young = HashMap<SocketAddr, Instant, foldhash::fast::RandomState>;

/// More than so many open without an answer are taken for old ones: a request that dies on one may be sent once too often.
const MOST_YOUNG: usize = 4096;

impl Connections {
    /// Counts for this worker and upstream.
    pub fn counted(stats: WorkerStats, upstream: SeriesId) -> Self {
        Self(Arc::new(Inner { counted: Some((stats, upstream)), young: Mutex::default() }))
    }

    /// Counts nowhere.
    pub fn uncounted() -> Self {
        Self(Arc::new(Inner { counted: None, young: Mutex::default() }))
    }

    /// A connection gave an answer. `answer` holds what the client says about it.
    pub fn answered(&self, answer: &Extensions) {
        if let Some(address) = local(answer) {
            self.with(|young| young.remove(&address));
        }
    }

    /// Whether this connection, on which a request of `since` died, was one that had been kept: it had given an answer, or was
    /// there before the request. Then the upstream may have closed it for being idle, just as the request was on its way.
    pub fn was_kept(&self, connection: &Extensions, since: Instant) -> bool {
        let Some(address) = local(connection) else { return false };
        self.with(|young| young.remove(&address)).is_none_or(|opened| opened < since)
    }

    fn opened(&self, connection: &impl Connection) {
        let mut known = Extensions::new();
        connection.connected().get_extras(&mut known);
        if let Some(address) = local(&known) {
            self.with(|young| {
                if young.len() >= MOST_YOUNG {
                    young.clear();
                }
                young.insert(address, Instant::now());
            });
        }
    }

    fn with<T>(&self, f: impl FnOnce(&mut Young) -> T) -> T {
        f(&mut self.0.young.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Our own end of a connection: no two that are open at a time have the same one to the same target.
fn local(known: &Extensions) -> Option<SocketAddr> {
    known.get::<HttpInfo>().map(HttpInfo::local_addr)
}

impl<S> tower::Layer<S> for Connections {
    type Service = Watched<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Watched { inner: Arc::new(inner), connections: self.clone() }
    }
}

/// A connector that is watched.
///
/// PERF: the client clones its connector five times for each request and seldom connects; what is below here is cloned when it
/// does.
#[derive(Debug)]
pub struct Watched<S> {
    inner: Arc<S>,
    connections: Connections,
}

impl<S> Clone for Watched<S> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), connections: self.connections.clone() }
    }
}

impl<S, R> tower::Service<R> for Watched<S>
where
    S: tower::Service<R, Future: Send, Response: Connection, Error: Send> + Clone + Send + Sync + 'static,
    R: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    // PERF: boxed once per connection, which costs a system call or three anyway.
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        // Each connection waits for a connector of its own.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: R) -> Self::Future {
        if let Some((stats, upstream)) = &self.connections.0.counted {
            stats.connection_opened(*upstream);
        }
        let connecting = S::clone(&self.inner).oneshot(request);
        let connections = self.connections.clone();
        Box::pin(async move {
            let connection = connecting.await?;
            connections.opened(&connection);
            Ok(connection)
        })
    }
}
