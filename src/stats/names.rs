//! The names behind series ids: interned, bounded, never forgotten. It refuses to know what is counted under them.

use std::collections::HashMap;
use std::sync::Arc;

use super::SeriesId;

/// Most route names ever told apart.
pub(super) const ROUTES: usize = 256;
/// Most upstream names ever told apart.
pub(super) const UPSTREAMS: usize = 128;
/// What is counted under this id has no name of its own any more.
const OTHER: &str = "(other)";
/// What stands where there was no route or no upstream.
const NONE: &str = "(none)";

/// What a series is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SeriesKind {
    /// A route.
    Route,
    /// An upstream.
    Upstream,
}

/// All names seen. Cloning is cheap enough for once a second.
#[derive(Debug, Clone)]
pub(super) struct Names {
    routes: Series,
    upstreams: Series,
}

#[derive(Debug, Clone)]
struct Series {
    bound: usize,
    ids: HashMap<Arc<str>, u16>,
    names: Vec<Arc<str>>,
}

impl Series {
    fn new(bound: usize) -> Self {
        Self { bound, ids: HashMap::new(), names: vec![OTHER.into()] }
    }

    fn intern(&mut self, name: &str) -> SeriesId {
        if let Some(id) = self.ids.get(name) {
            return SeriesId(*id);
        }
        // INVARIANT: id 0 is `(other)`, so names run from 1 to `bound`.
        if self.names.len() > self.bound {
            return SeriesId(0);
        }
        let id = self.names.len() as u16;
        let name: Arc<str> = name.into();
        self.names.push(name.clone());
        self.ids.insert(name, id);
        SeriesId(id)
    }

    fn name(&self, id: Option<u16>) -> Arc<str> {
        match id {
            None => NONE.into(),
            Some(id) => self.names.get(usize::from(id)).cloned().unwrap_or_else(|| OTHER.into()),
        }
    }
}

impl Default for Names {
    fn default() -> Self {
        Self { routes: Series::new(ROUTES), upstreams: Series::new(UPSTREAMS) }
    }
}

impl Names {
    pub(super) fn intern(&mut self, kind: SeriesKind, name: &str) -> SeriesId {
        match kind {
            SeriesKind::Route => self.routes.intern(name),
            SeriesKind::Upstream => self.upstreams.intern(name),
        }
    }

    pub(super) fn route(&self, id: Option<u16>) -> Arc<str> {
        self.routes.name(id)
    }

    pub(super) fn upstream(&self, id: Option<u16>) -> Arc<str> {
        self.upstreams.name(id)
    }
}
