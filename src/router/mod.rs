//! Where a request goes: host, method and path in, a route's position out. Pure; it refuses to know what a route does.
//!
//! Hosts come before paths: an exact host, then `*.example.com` (the longest first), then no host. Within a host the most
//! specific path wins, segment by segment: text before `{name}` before `{*rest}`. A route that does not take the method is
//! passed over for a less specific one that does.
//!
//! A trie of whole segments, not `matchit`: that crate refuses `/a/{id}` beside `/a/{*rest}` and knows no methods, and its
//! parameters inside a segment are not part of the rule language.

mod form;
mod pattern;
mod trie;

use std::collections::HashMap;

pub(crate) use form::comparable;
use pattern::Pattern;
use trie::Node;

/// By what operators wrote. PERF: what strangers send is only looked up, so a slow hash against collisions buys nothing.
type Map<T> = HashMap<Box<str>, T, foldhash::fast::RandomState>;

/// What one route matches, as compiled from `match:`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RouteMatch {
    /// Lower case, without port; `*.example.com` for any one or more labels; empty: every host.
    pub hosts: Vec<String>,
    /// `/exact`, `/{one}/segment`, `/{*rest}` at the end.
    pub paths: Vec<String>,
    /// Upper case; empty: every method.
    pub methods: Vec<String>,
}

/// Two routes match the same requests equally, or a pattern is malformed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouterError {
    /// Position of the route that could not be added.
    pub route: usize,
    /// Position of the earlier route it conflicts with, if that is the trouble.
    pub conflicts_with: Option<usize>,
    /// Which pattern.
    pub pattern: String,
    /// What is wrong, lower case.
    pub message: String,
}

/// All routes, ready to search.
#[derive(Debug, Default)]
pub struct Router {
    exact: Map<Node>,
    /// By what follows `*.`.
    suffixes: Map<Node>,
    any: Node,
}

impl Router {
    /// Builds; all errors at once.
    pub fn new(routes: &[RouteMatch]) -> Result<Self, Vec<RouterError>> {
        let mut router = Self::default();
        let mut errors = Vec::new();
        for (position, route) in routes.iter().enumerate() {
            for path in &route.paths {
                if let Err((conflicts_with, message)) = router.add(position, route, path) {
                    errors.push(RouterError { route: position, conflicts_with, pattern: path.clone(), message });
                }
            }
        }
        if errors.is_empty() { Ok(router) } else { Err(errors) }
    }

    /// The position of the most specific route that matches, hosts before paths. `host` is lower case without port, `path`
    /// canonical. Allocates nothing, unless something in the path is encoded.
    ///
    /// PERF: one hash look-up for the host and one per segment, whether there are 1 or 2,000 routes.
    pub fn find(&self, host: &str, method: &str, path: &str) -> Option<usize> {
        let path = &*comparable(path);
        let exact = self.exact.get(host).and_then(|paths| paths.find(method, path));
        exact.or_else(|| self.find_by_suffix(host, method, path)).or_else(|| self.any.find(method, path))
    }

    fn find_by_suffix(&self, host: &str, method: &str, path: &str) -> Option<usize> {
        if self.suffixes.is_empty() {
            return None;
        }
        let mut rest = host;
        while let Some((_, suffix)) = rest.split_once('.') {
            if let Some(route) = self.suffixes.get(suffix).and_then(|paths| paths.find(method, path)) {
                return Some(route);
            }
            rest = suffix;
        }
        None
    }

    fn add(&mut self, position: usize, route: &RouteMatch, path: &str) -> Result<(), (Option<usize>, String)> {
        let pattern = Pattern::parse(path).map_err(|message| (None, message))?;
        let add =
            |paths: &mut Node| paths.add(&pattern, &route.methods, position).map_err(|first| conflict(position, first));
        if route.hosts.is_empty() {
            return add(&mut self.any);
        }
        for host in &route.hosts {
            match host.strip_prefix("*.") {
                Some(suffix) => add(self.suffixes.entry(suffix.into()).or_default())?,
                None => add(self.exact.entry(host.as_str().into()).or_default())?,
            }
        }
        Ok(())
    }
}

fn conflict(position: usize, first: usize) -> (Option<usize>, String) {
    if position == first {
        return (None, "another path of the same route matches the same requests".to_owned());
    }
    (Some(first), "another route matches the same requests equally".to_owned())
}

#[cfg(test)]
mod tests;
