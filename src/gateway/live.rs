//! The snapshot an exchange is judged by: one generation of rules with the clients of its upstreams. Prepared before it is
//! swapped in; an upstream that did not change keeps its clients, and so its connections.

use std::sync::Arc;

use super::upstream::{Pool, Site, Tls};
use crate::rules::{Problem, Route, Ruleset};
use crate::stats::{SeriesId, SeriesKind};

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
    /// Builds what is new and takes over what stayed the same. INVARIANT: what comes back is swapped in; the upstreams that are
    /// not part of it are asked for nothing any more.
    pub fn prepare(ruleset: Ruleset, previous: Option<&Self>, site: Site<'_>) -> Result<Self, Vec<Problem>> {
        let before = previous.map_or(&[][..], |previous| &previous.pools);
        let mut tls = SharedTls::default();
        let mut pools = Vec::with_capacity(ruleset.upstreams.len());
        let mut problems = Vec::new();
        for upstream in &ruleset.upstreams {
            let before = before.iter().find(|pool| pool.spec.name == upstream.name);
            if let Some(pool) = before.filter(|pool| pool.spec == *upstream) {
                pools.push(Arc::clone(pool));
                continue;
            }
            // An upstream that names its own authorities has no need of the system's.
            let needs_system = upstream.is_secure() && upstream.authorities.is_none();
            let built = tls.get(needs_system).map_err(|error| error.to_string()).and_then(|tls| {
                let before = before.map(|pool| &**pool);
                Pool::build(upstream.clone(), tls, site, before)
            });
            match built {
                Ok(pool) => pools.push(pool),
                Err(error) => {
                    let message = format!("the client for upstream `{}` cannot be built: {error}", upstream.name);
                    problems.push(Problem::of_file("", message, None));
                }
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        for pool in before.iter().filter(|old| !pools.iter().any(|pool| Arc::ptr_eq(old, pool))) {
            pool.retire();
        }
        for pool in &pools {
            pool.start(site.control);
        }
        let route_series = ruleset.routes.iter().map(|r| site.stats.series(SeriesKind::Route, &r.name)).collect();
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
