//! Where a request goes: host, method and path in, a route's position out. Pure; it refuses to know what a route does.

/// What one route matches, as compiled from `match:`.
#[derive(Debug, Clone, PartialEq, Eq)]
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
#[derive(Debug)]
pub struct Router {}

impl Router {
    /// Builds; all errors at once.
    pub fn new(_routes: &[RouteMatch]) -> Result<Self, Vec<RouterError>> {
        Ok(Self {})
    }

    /// The position of the most specific route that matches, hosts before paths. `host` is lower case without port, `path`
    /// canonical.
    pub fn find(&self, _host: &str, _method: &str, _path: &str) -> Option<usize> {
        None
    }
}
