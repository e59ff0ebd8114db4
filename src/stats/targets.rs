//! What is known of each target of an upstream at the moment: gauges that the gateway sets and that pages and scrapes read.
//! Only targets that are in use are kept, so memory is bounded by the rules. It refuses to know why they change.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Whether a target's circuit lets requests through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Circuit {
    /// It does.
    Closed,
    /// It does not.
    Open,
    /// One request at a time tries it.
    HalfOpen,
}

impl Circuit {
    /// Its word in metrics and pages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
        }
    }
}

/// The gauges of one target. Written by whoever serves it, without a lock.
#[derive(Debug)]
pub struct Target {
    upstream: Arc<str>,
    name: Arc<str>,
    under_way: AtomicU32,
    is_unhealthy: AtomicBool,
    circuit: AtomicU8,
    failures: AtomicU64,
}

impl Target {
    fn new(upstream: &str, name: &str) -> Self {
        Self {
            upstream: upstream.into(),
            name: name.into(),
            under_way: AtomicU32::new(0),
            is_unhealthy: AtomicBool::new(false),
            circuit: AtomicU8::new(Circuit::Closed as u8),
            failures: AtomicU64::new(0),
        }
    }

    /// Its upstream's name.
    pub fn upstream(&self) -> &Arc<str> {
        &self.upstream
    }

    /// Its name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Requests under way to it.
    pub fn under_way(&self) -> u32 {
        self.under_way.load(Ordering::Relaxed)
    }

    /// One more.
    pub fn begin(&self) {
        self.under_way.fetch_add(1, Ordering::Relaxed);
    }

    /// One less.
    pub fn end(&self) {
        self.under_way.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether its health checks fail.
    pub fn is_unhealthy(&self) -> bool {
        self.is_unhealthy.load(Ordering::Relaxed)
    }

    /// What its health checks say now.
    pub fn set_unhealthy(&self, is_unhealthy: bool) {
        self.is_unhealthy.store(is_unhealthy, Ordering::Relaxed);
    }

    /// Its circuit.
    pub fn circuit(&self) -> Circuit {
        match self.circuit.load(Ordering::Relaxed) {
            n if n == Circuit::Open as u8 => Circuit::Open,
            n if n == Circuit::HalfOpen as u8 => Circuit::HalfOpen,
            _ => Circuit::Closed,
        }
    }

    /// Its circuit now.
    pub fn set_circuit(&self, circuit: Circuit) {
        self.circuit.store(circuit as u8, Ordering::Relaxed);
    }

    /// Counts a request that failed by the target's fault.
    pub fn failed(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }
}

/// A target at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetFigures {
    /// Its upstream.
    pub upstream: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Requests under way to it.
    pub under_way: u64,
    /// Whether its health checks fail.
    pub is_unhealthy: bool,
    /// Its circuit.
    pub circuit: Circuit,
    /// Requests that failed by its fault, since it is in the rules.
    pub failures: u64,
}

/// All targets in use.
#[derive(Debug, Default)]
pub(super) struct Targets(Mutex<Vec<Weak<Target>>>);

impl Targets {
    pub(super) fn add(&self, upstream: &str, name: &str) -> Arc<Target> {
        let target = Arc::new(Target::new(upstream, name));
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|target| target.strong_count() > 0);
        all.push(Arc::downgrade(&target));
        target
    }

    /// Sorted by upstream, in the order in which they came. While a reload is under way a target may be there twice: the
    /// newer one is told, with what is under way to both.
    pub(super) fn figures(&self) -> Vec<TargetFigures> {
        let all: Vec<Arc<Target>> = {
            let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.iter().filter_map(Weak::upgrade).collect()
        };
        let mut figures: Vec<TargetFigures> = Vec::with_capacity(all.len());
        for target in &all {
            let mut now = TargetFigures {
                upstream: Arc::clone(&target.upstream),
                name: Arc::clone(&target.name),
                under_way: target.under_way().into(),
                is_unhealthy: target.is_unhealthy(),
                circuit: target.circuit(),
                failures: target.failures.load(Ordering::Relaxed),
            };
            match figures.iter_mut().find(|older| older.upstream == now.upstream && older.name == now.name) {
                Some(older) => {
                    now.under_way += older.under_way;
                    *older = now;
                }
                None => figures.push(now),
            }
        }
        figures.sort_by(|a, b| a.upstream.cmp(&b.upstream));
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_told_once_and_only_while_it_is_in_use() {
        let targets = Targets::default();
        let old = targets.add("crm", "http://a");
        let other = targets.add("billing", "http://a");
        old.begin();
        let new = targets.add("crm", "http://a");
        new.begin();
        new.set_circuit(Circuit::Open);
        let told = |targets: &Targets| -> Vec<_> {
            let figures = targets.figures();
            figures.into_iter().map(|f| (f.upstream.to_string(), f.under_way, f.circuit)).collect()
        };
        assert_eq!(told(&targets), [("billing".into(), 0, Circuit::Closed), ("crm".into(), 2, Circuit::Open)]);
        drop((old, other));
        assert_eq!(told(&targets), [("crm".into(), 1, Circuit::Open)]);
    }
}
