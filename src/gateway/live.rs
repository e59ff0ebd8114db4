//! The snapshot an exchange is judged by: one generation of rules with the clients of its upstreams. Prepared before it is
//! swapped in; an upstream that did not change keeps its clients, and so its connections.

use std::sync::Arc;

use super::upstream::{Pool, Tls};
use crate::rules::{Problem, Route, Ruleset};
use crate::stats::{SeriesId, SeriesKind, Stats};

/// One generation, ready to serve.
#[derive(Debug)]
pub struct Live {
    /// The compiled rules.
    pub ruleset: Ruleset,
    /// For each upstream of the ruleset its clients.
    pub pools: Vec<Arc<Pool>>,
    /// For each route of the ruleset its name in the figures.
    pub route_series: Vec<SeriesId>,
}

impl Live {
    /// Builds what is new and takes over what stayed the same.
    pub fn prepare(
        ruleset: Ruleset,
        previous: Option<&Self>,
        stats: &Stats,
        workers: usize,
    ) -> Result<Self, Vec<Problem>> {
        let mut tls = SharedTls::default();
        let mut pools = Vec::with_capacity(ruleset.upstreams.len());
        let mut problems = Vec::new();
        for upstream in &ruleset.upstreams {
            let kept = previous.and_then(|p| p.pools.iter().find(|pool| pool.spec == *upstream));
            if let Some(pool) = kept {
                pools.push(Arc::clone(pool));
                continue;
            }
            let series = stats.series(SeriesKind::Upstream, &upstream.name);
            // An upstream that names its own authorities has no need of the system's.
            let built = tls
                .get(upstream.is_secure() && upstream.authorities.is_none())
                .map_err(|error| error.to_string())
                .and_then(|tls| Pool::build(upstream.clone(), series, workers, stats, tls));
            match built {
                Ok(pool) => pools.push(Arc::new(pool)),
                Err(error) => {
                    let message = format!("the client for upstream `{}` cannot be built: {error}", upstream.name);
                    problems.push(Problem::of_file("", message, None));
                }
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let route_series = ruleset.routes.iter().map(|r| stats.series(SeriesKind::Route, &r.name)).collect();
        Ok(Self { ruleset, pools, route_series })
    }

    /// The clients of a route's upstream.
    pub fn pool(&self, route: &Route) -> Option<&Arc<Pool>> {
        self.pools.get(route.upstream)
    }
}

/// TLS configurations, built when the first upstream asks: reading the system's certificates takes milliseconds.
#[derive(Default)]
struct SharedTls {
    clear: Option<Tls>,
    secure: Option<Tls>,
}

impl SharedTls {
    fn get(&mut self, secure: bool) -> Result<&Tls, rustls::Error> {
        let slot = if secure { &mut self.secure } else { &mut self.clear };
        let tls = match slot.take() {
            Some(tls) => tls,
            None if secure => Tls::system()?,
            None => Tls::none()?,
        };
        Ok(slot.insert(tls))
    }
}
