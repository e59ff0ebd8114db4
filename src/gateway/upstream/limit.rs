//! How many requests an upstream gets at a time. What is beyond is refused at once: a queue would only make everybody late.
//! It refuses to know what is sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The limit of one upstream, shared by all workers.
#[derive(Debug)]
pub struct InFlightLimit {
    most: Option<u32>,
    /// Shared with the limit before it: a reload does not forget what is under way.
    under_way: Arc<AtomicU32>,
}

impl InFlightLimit {
    /// At most so many; `None`: no limit. `before` is the limit that this one replaces.
    pub fn new(most: Option<u32>, before: Option<&Self>) -> Self {
        Self { most, under_way: before.map(|limit| Arc::clone(&limit.under_way)).unwrap_or_default() }
    }

    /// Takes a place, until it is dropped. `None`: there is no room.
    pub fn enter(&self) -> Option<Place> {
        let Some(most) = self.most else { return Some(Place(None)) };
        let one_more = |under_way: u32| (under_way < most).then_some(under_way + 1);
        self.under_way.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).ok()?;
        Some(Place(Some(Arc::clone(&self.under_way))))
    }
}

/// A place among the requests that are under way.
#[derive(Debug)]
#[must_use = "it is taken only as long as this lives"]
pub struct Place(Option<Arc<AtomicU32>>);

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(under_way) = &self.0 {
            under_way.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_so_many_places_also_across_a_reload() {
        let limit = InFlightLimit::new(Some(2), None);
        let first = limit.enter().expect("room");
        let second = limit.enter().expect("room");
        assert!(limit.enter().is_none());
        let wider = InFlightLimit::new(Some(3), Some(&limit));
        let third = wider.enter().expect("room");
        assert!(wider.enter().is_none());
        drop((first, second, third));
        assert!(limit.enter().is_some());
    }

    #[test]
    fn without_a_limit_there_is_always_room() {
        let limit = InFlightLimit::new(None, None);
        let places: Vec<_> = (0..1000).map(|_| limit.enter().expect("room")).collect();
        assert_eq!(places.len(), 1000);
    }
}
