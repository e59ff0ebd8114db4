//! One target of an upstream at run time: whether it may be used now, and who uses it. It promises that what is known of a
//! target outlives a reload that does not speak of it; it refuses to know requests.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use http::header::HOST;
use http::{HeaderMap, HeaderValue};

use super::breaker::{Breaker, Ended, Ticket};
use super::health::Health;
use super::names::Names;
use crate::rules::{self, CircuitBreaker, HealthCheck};
use crate::stats::{self, Circuit, Stats};

/// A target.
#[derive(Debug)]
pub struct Target {
    /// Its URL, as it was written.
    pub name: Arc<str>,
    /// Its URL, as it is asked for its health.
    pub base: reqwest::Url,
    /// How the client is told of it.
    pub address: Address,
    /// Its share.
    pub weight: u32,
    /// What is known of it.
    pub standing: Arc<Standing>,
}

impl Target {
    /// A target of this upstream. `before` are the targets of the upstream that it replaces. `None`: it is no URL, which `rules`
    /// has refused.
    pub fn new(
        spec: &rules::Upstream,
        target: &rules::Target,
        before: &[Self],
        stats: &Stats,
        names: &Names,
    ) -> Option<Self> {
        let known = before.iter().find(|known| *known.name == *target.url && known.standing.is_judged_by(spec));
        let standing = known.map_or_else(
            || Arc::new(Standing::new(spec, stats.target(&spec.name, &target.url))),
            |known| Arc::clone(&known.standing),
        );
        let base = reqwest::Url::parse(&target.url).ok()?;
        Some(Self {
            name: Arc::from(&*target.url),
            address: Address::of(&base, names)?,
            base,
            weight: target.weight,
            standing,
        })
    }
}

/// Where the client is sent for a target.
#[derive(Debug, Clone)]
pub struct Address {
    /// PERF: parsed once; only path and query are set for a request.
    pub url: reqwest::Url,
    /// What it is called in Host, if the URL does not say so.
    pub host: Option<HeaderValue>,
}

impl Address {
    /// Of the target with this URL. In clear text the client is given a short name for it, see [`Names::shorten`].
    pub fn of(base: &reqwest::Url, names: &Names) -> Option<Self> {
        if base.scheme() != "http" {
            return Some(Self { url: base.clone(), host: None });
        }
        let (host, port) = (base.host_str()?, base.port_or_known_default()?);
        let url = reqwest::Url::parse(&format!("http://{}/", names.shorten(host, port))).ok()?;
        // A port that goes without saying is not said (RFC 9110 section 7.2).
        let said = base.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        Some(Self { url, host: Some(HeaderValue::try_from(said).ok()?) })
    }

    /// Says who is meant, unless the fields say so already (`preserve_host`).
    pub fn name_in(&self, fields: &mut HeaderMap) {
        if let Some(host) = &self.host {
            fields.entry(HOST).or_insert_with(|| host.clone());
        }
    }
}

/// What is known of a target.
#[derive(Debug)]
pub struct Standing {
    figures: Arc<stats::Target>,
    circuit_breaker: Option<CircuitBreaker>,
    breaker: Option<Mutex<Breaker>>,
    health_check: Option<HealthCheck>,
    health: Option<Mutex<Health>>,
}

impl Standing {
    /// Nothing is known yet.
    pub fn new(spec: &rules::Upstream, figures: Arc<stats::Target>) -> Self {
        Self {
            figures,
            circuit_breaker: spec.circuit_breaker,
            breaker: spec.circuit_breaker.map(|settings| Mutex::new(Breaker::new(settings))),
            health_check: spec.health.clone(),
            health: spec.health.as_ref().map(|check| Mutex::new(Health::new(check))),
        }
    }

    fn is_judged_by(&self, spec: &rules::Upstream) -> bool {
        self.circuit_breaker == spec.circuit_breaker && self.health_check == spec.health
    }

    /// Requests under way.
    pub fn load(&self) -> u32 {
        self.figures.under_way()
    }

    /// Whether its health checks fail.
    pub fn is_unhealthy(&self) -> bool {
        self.figures.is_unhealthy()
    }

    /// Whether its circuit lets a request through now; otherwise when to ask again.
    pub fn look(&self, now: Instant) -> Result<(), Instant> {
        match &self.breaker {
            // PERF: without a lock as long as all is well.
            Some(breaker) if self.figures.circuit() != Circuit::Closed => lock(breaker).look(now),
            Some(_) | None => Ok(()),
        }
    }

    /// Uses it for one request; otherwise when to ask again.
    pub fn enter(self: &Arc<Self>, now: Instant) -> Result<InUse, Instant> {
        let ticket = match &self.breaker {
            Some(breaker) => Some(self.change(breaker, |breaker| breaker.enter(now))?),
            None => None,
        };
        self.figures.begin();
        Ok(InUse { standing: Arc::clone(self), ticket, is_told: false })
    }

    /// Takes in what a health check said, in a word for the log if it was bad.
    pub fn checked(&self, answer: Result<(), &str>) {
        let Some(health) = &self.health else { return };
        let (changed, is_unhealthy) = {
            let mut health = lock(health);
            (health.checked(answer.is_ok()), health.is_unhealthy())
        };
        if !changed {
            return;
        }
        self.figures.set_unhealthy(is_unhealthy);
        let (upstream, target) = (&**self.figures.upstream(), &**self.figures.name());
        match answer {
            Ok(()) => tracing::info!(upstream, target, "a target is healthy again"),
            Err(why) => tracing::warn!(upstream, target, why, "a target is unhealthy"),
        }
    }

    fn change<T>(&self, breaker: &Mutex<Breaker>, f: impl FnOnce(&mut Breaker) -> T) -> T {
        let (result, before, after) = {
            let mut breaker = lock(breaker);
            let before = breaker.circuit();
            let result = f(&mut breaker);
            let after = breaker.circuit();
            // Within the lock, so that what is shown cannot be overtaken.
            if before != after {
                self.figures.set_circuit(after);
            }
            (result, before, after)
        };
        let (upstream, target) = (&**self.figures.upstream(), &**self.figures.name());
        match (before, after) {
            (Circuit::Closed, Circuit::Open) => tracing::warn!(upstream, target, "a target fails: its circuit is open"),
            (Circuit::HalfOpen, Circuit::Closed) => {
                tracing::info!(upstream, target, "a target is back: its circuit is closed");
            }
            // One that is tried in vain is open as before.
            (Circuit::Closed | Circuit::Open | Circuit::HalfOpen, _) => {}
        }
        result
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A target in use by one request, until it is dropped.
#[derive(Debug)]
pub struct InUse {
    standing: Arc<Standing>,
    ticket: Option<Ticket>,
    is_told: bool,
}

impl InUse {
    /// How the request has ended, as far as it is known: an answer that began well may yet break off.
    pub fn ended(&mut self, ended: Ended) {
        self.is_told = true;
        if ended == Ended::Badly {
            self.standing.figures.failed();
        }
        if let (Some(ticket), Some(breaker)) = (self.ticket, &self.standing.breaker)
            // PERF: a good answer changes nothing while the circuit is closed.
            && (ended != Ended::Well || self.standing.figures.circuit() != Circuit::Closed)
        {
            self.standing.change(breaker, |breaker| breaker.leave(ticket, ended, Instant::now()));
        }
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        if !self.is_told {
            self.ended(Ended::Unknown);
        }
        self.standing.figures.end();
    }
}
