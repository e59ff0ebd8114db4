//! An upstream at run time: its targets, its pooled clients, and how one request is sent to it. It promises one answer or one
//! reason, within the deadlines that were written; it refuses to know policy: what it is given has been cleared.
//!
//! `request` is what is sent and what comes back; `balance` says which target is next, `target` whether it may be used
//! (`health`, asked by `checks`, and `breaker`); `limit` how many may be under way; `fault` why an attempt failed, `retry`
//! whether there is another. `client` builds the HTTP clients, `connections` counts what they open, `names` finds the addresses
//! of targets.

mod balance;
mod breaker;
mod checks;
mod client;
mod connections;
mod fault;
mod health;
mod limit;
mod names;
mod request;
mod retry;
mod target;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use arc_swap::ArcSwap;
use hyper::upgrade::OnUpgrade;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use self::balance::Balancer;
use self::breaker::Ended;
use self::client::Use;
pub use self::client::{Distrust, Tls};
use self::connections::Connections;
use self::fault::Failed;
use self::limit::{InFlightLimit, Place};
use self::names::Names;
use self::request::check_answer;
pub use self::request::{Answer, Cleared, Outgoing};
use self::retry::{Again, Budget};
use self::target::{InUse, Target};
use super::error::Refusal;
use super::upload::Upload;
use crate::rules;
use crate::stats::{SeriesId, SeriesKind, Stats};

/// One upstream with its clients. Kept across reloads while what was written about it stays the same.
#[derive(Debug)]
pub struct Pool {
    /// What was written.
    pub spec: rules::Upstream,
    /// Its name in the figures.
    pub series: SeriesId,
    targets: Vec<Target>,
    lanes: Vec<Lane>,
    limit: InFlightLimit,
    budget: Arc<Budget>,
    names: Names,
    tls: Tls,
    /// Asks targets for their health.
    asking: Option<reqwest::Client>,
    /// Health checks and look-ups.
    tasks: Mutex<Vec<AbortHandle>>,
}

/// What one worker uses of an upstream. INVARIANT: a client's connections live on the runtime of the worker that uses it.
#[derive(Debug)]
struct Lane {
    /// Swapped when a name has lost an address: what is under way ends on the old connections, and nothing new begins there.
    clients: ArcSwap<Clients>,
    turns: Mutex<Balancer>,
    connections: Connections,
}

#[derive(Debug)]
struct Clients {
    pooled: reqwest::Client,
    /// Keeps nothing: a request that met a dead connection goes out again on a connection that is surely new.
    fresh: reqwest::Client,
    /// Opens tunnels, each on a connection of its own, over HTTP/1.1.
    tunnels: reqwest::Client,
}

/// Where upstreams are built.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a> {
    /// Where they are counted.
    pub stats: &'a Stats,
    /// How many use them.
    pub workers: usize,
    /// Where their tasks run.
    pub control: &'a Handle,
}

/// What was tried, known even when it failed, and what is held until the exchange has ended.
#[derive(Debug, Default)]
pub struct Attempts {
    /// The latest target. `None`: nothing was sent.
    pub target: Option<Arc<str>>,
    /// Times the request was sent again.
    pub retries: u32,
    place: Option<Place>,
    used: Option<InUse>,
}

impl Attempts {
    /// The answer broke off by the upstream's fault.
    pub fn broke_off(&mut self) {
        if let Some(used) = &mut self.used {
            used.ended(Ended::Badly);
        }
    }

    /// The exchange has ended: somebody else may have the place.
    pub fn leave(&mut self) {
        self.used = None;
        self.place = None;
    }
}

impl Pool {
    /// Builds an upstream. What it has in common with the one `before` it is taken over: clients with their connections, what
    /// is known of targets, what is under way.
    pub fn build(spec: rules::Upstream, tls: &Tls, site: Site<'_>, before: Option<&Self>) -> Result<Arc<Self>, String> {
        let told = |error: reqwest::Error| error.to_string();
        let tls = tls.of(&spec).map_err(|error| error.to_string())?;
        let series = site.stats.series(SeriesKind::Upstream, &spec.name);
        let known = before.map_or(&[][..], |pool| &pool.targets);
        let same = before.filter(|pool| client_settings(&pool.spec) == client_settings(&spec));
        let names = same.map_or_else(|| Names::new(spec.dns_refresh, site.control.clone()), |pool| pool.names.clone());
        let targets: Vec<Target> =
            spec.targets.iter().filter_map(|target| Target::new(&spec, target, known, site.stats, &names)).collect();
        let lanes = (0..site.workers)
            .map(|worker| {
                let kept = same.and_then(|pool| pool.lanes.get(worker));
                let connections = kept.map_or_else(
                    || Connections::counted(site.stats.worker(worker), series),
                    |lane| lane.connections.clone(),
                );
                let clients = match kept {
                    Some(lane) => lane.clients.load_full(),
                    None => Arc::new(clients(&spec, &tls, &connections, &names)?),
                };
                let turns = Mutex::new(Balancer::new(spec.balance, targets.iter().map(|target| target.weight)));
                Ok(Lane { clients: ArcSwap::new(clients), turns, connections })
            })
            .collect::<Result<_, reqwest::Error>>()
            .map_err(told)?;
        let budget = before.filter(|pool| pool.spec.retries == spec.retries).map(|pool| Arc::clone(&pool.budget));
        let uncounted = Connections::uncounted();
        let asking = spec.health.as_ref().map(|_| client::build(&spec, Use::Once, &tls, &uncounted, &names));
        Ok(Arc::new(Self {
            series,
            targets,
            lanes,
            limit: InFlightLimit::new(spec.max_in_flight, before.map(|pool| &pool.limit)),
            budget: budget.unwrap_or_else(|| Arc::new(Budget::new(spec.retries))),
            names,
            tls,
            asking: asking.transpose().map_err(told)?,
            tasks: Mutex::default(),
            spec,
        }))
    }

    /// Begins to ask targets for their health, and to look up their names, unless it has begun.
    pub fn start(self: &Arc<Self>, control: &Handle) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if !tasks.is_empty() {
            return;
        }
        if let (Some(check), Some(client)) = (&self.spec.health, &self.asking) {
            for target in &self.targets {
                let question = checks::Question::of(target, check, &self.spec.set_headers, client.clone());
                let asking = question.map(|question| checks::watch(question, Arc::clone(&target.standing)));
                tasks.extend(asking.map(|asking| control.spawn(asking).abort_handle()));
            }
        }
        if self.targets.iter().any(|target| target.base.domain().is_some()) {
            tasks.push(control.spawn(watch_names(Arc::downgrade(self))).abort_handle());
        }
    }

    /// Nobody begins an exchange with it any more. What is under way may end, which takes hours for some; asking stops now.
    pub fn retire(&self) {
        for task in self.tasks.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            task.abort();
        }
    }

    /// A name has lost an address: from now on everybody connects anew.
    fn renew(&self) {
        tracing::info!(upstream = &*self.spec.name, "the addresses of an upstream have changed: connecting anew");
        for lane in &self.lanes {
            match clients(&self.spec, &self.tls, &lane.connections, &self.names) {
                Ok(clients) => lane.clients.store(Arc::new(clients)),
                Err(error) => tracing::error!(%error, "a client cannot be built again: the old one stays"),
            }
        }
    }

    /// Sends a request to the next target and waits for the head of the answer.
    pub async fn send(&self, worker: usize, cleared: Cleared, attempts: &mut Attempts) -> Result<Answer, Refusal> {
        let lane = self.lanes.get(worker).ok_or(Refusal::Internal)?;
        attempts.place = Some(self.limit.enter().ok_or(Refusal::UpstreamBusy)?);
        let mut tried = Vec::new();
        let mut next = self.first(lane)?;
        self.budget.pay_in();
        let until = self.spec.total_timeout.map(|total| Instant::now() + total);
        let mut left = Some(cleared);
        loop {
            let (at, mut used) = next;
            let target = self.targets.get(at).ok_or(Refusal::Internal)?;
            attempts.target = Some(Arc::clone(&target.name));
            let cleared = left.take().ok_or(Refusal::Internal)?;
            let url = cleared.url(&target.address.url)?;
            let (method, upload) = (cleared.method.clone(), cleared.body.upload());
            // PERF: a copy of all fields is only made where it may be needed.
            let asked = cleared.asks_for_tunnel;
            let may_repeat = attempts.retries < self.spec.retries.attempts
                && !asked
                && (retry::is_idempotent(&method) || self.targets.len() > 1 || self.spec.is_secure());
            let mut request = if may_repeat {
                let request = cleared.copy(url);
                left = Some(cleared);
                request
            } else {
                cleared.into_request(url)
            };
            target.address.name_in(request.headers_mut());
            let kind = match attempts.retries {
                _ if asked => Use::Tunnel,
                0 => Use::Pooled,
                _ => Use::Once,
            };
            let failed = match self.attempt(lane, kind, request, upload.as_deref(), until).await {
                Ok(answer) => {
                    used.ended(if is_unavailable(answer.status) { Ended::Badly } else { Ended::Well });
                    attempts.used = Some(used);
                    return Ok(answer);
                }
                Err(failed) => failed,
            };
            used.ended(failed.ended());
            drop(used);
            tried.push(at);
            let can_repeat = left.as_ref().is_some_and(|cleared| cleared.body.is_here());
            let found = match retry::again(&failed, &method, can_repeat) {
                Again::No => None,
                Again::Elsewhere => self.other(lane, &tried).filter(|_| self.budget.pay_out()),
                Again::Anywhere => self.other(lane, &tried).or_else(|| self.enter(at)),
            };
            next = found.ok_or_else(|| failed.into_refusal())?;
            attempts.retries += 1;
        }
    }

    /// The target that is tried first. Health checks that fail for all of them are more likely wrong than right, and a target
    /// that is down answers for itself; a circuit that is open has seen real requests fail.
    fn first(&self, lane: &Lane) -> Result<(usize, InUse), Refusal> {
        self.choose(lane, &[], false).or_else(|| self.choose(lane, &[], true)).ok_or_else(|| {
            let now = std::time::Instant::now();
            let waits = self.targets.iter().filter_map(|target| target.standing.look(now).err());
            let soonest = waits.min().map_or(0, |until| until.saturating_duration_since(now).as_millis());
            Refusal::UpstreamOpen { seconds: (soonest.div_ceil(1000) as u32).max(1) }
        })
    }

    /// A target that has not been tried and is well.
    fn other(&self, lane: &Lane, tried: &[usize]) -> Option<(usize, InUse)> {
        if tried.len() >= self.targets.len() { None } else { self.choose(lane, tried, false) }
    }

    fn choose(&self, lane: &Lane, tried: &[usize], even_unhealthy: bool) -> Option<(usize, InUse)> {
        let now = std::time::Instant::now();
        let mut refused = Vec::new();
        loop {
            let usable = |at: usize| {
                let standing = &self.targets.get(at)?.standing;
                let is_usable = !tried.contains(&at)
                    && !refused.contains(&at)
                    && (even_unhealthy || !standing.is_unhealthy())
                    && standing.look(now).is_ok();
                is_usable.then(|| standing.load())
            };
            let at = lane.turns.lock().unwrap_or_else(PoisonError::into_inner).next(usable)?;
            match self.targets.get(at)?.standing.enter(now) {
                Ok(used) => return Some((at, used)),
                // Another worker was faster to try a half-open circuit.
                Err(_) => refused.push(at),
            }
        }
    }

    fn enter(&self, at: usize) -> Option<(usize, InUse)> {
        let used = self.targets.get(at)?.standing.enter(std::time::Instant::now()).ok()?;
        Some((at, used))
    }

    async fn attempt(
        &self,
        lane: &Lane,
        kind: Use,
        request: reqwest::Request,
        upload: Option<&Upload>,
        until: Option<Instant>,
    ) -> Result<Answer, Failed> {
        let since = Instant::now();
        let sent = {
            let clients = lane.clients.load();
            match kind {
                Use::Pooled => clients.pooled.execute(request),
                Use::Once => clients.fresh.execute(request),
                Use::Tunnel => clients.tunnels.execute(request),
            }
        };
        tokio::pin!(sent);
        let allowed = self.spec.response_timeout;
        let in_time = |deadline: Instant| until.map_or(deadline, |until| until.min(deadline));
        let mut deadline = in_time(since + allowed);
        let response = loop {
            match tokio::time::timeout_at(deadline, &mut sent).await {
                Ok(Ok(response)) => break response,
                Ok(Err(error)) => {
                    let ours = upload.and_then(Upload::fault).map(Failed::Ours);
                    return Err(ours.unwrap_or_else(|| Failed::of(&error, &lane.connections, since.into_std())));
                }
                Err(_) => {
                    // The clock starts when the request is sent, and a long upload is still being sent.
                    let moved = in_time(upload.map_or(since, Upload::last_progress) + allowed);
                    if moved <= deadline {
                        return Err(Failed::Upstream(Refusal::UpstreamTimeout));
                    }
                    deadline = moved;
                }
            }
        };
        lane.connections.answered(response.extensions());
        let response: http::Response<reqwest::Body> = response.into();
        let (mut head, body) = response.into_parts();
        check_answer(head.status, head.version, &head.headers, kind).map_err(Failed::Upstream)?;
        let upgrade = head.extensions.remove::<OnUpgrade>();
        Ok(Answer { status: head.status, headers: head.headers, body, until, upgrade })
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.retire();
    }
}

/// Keeps what is known of names young, and moves on when one has lost an address.
async fn watch_names(pool: Weak<Pool>) {
    loop {
        let Some((names, refresh)) = pool.upgrade().map(|pool| (pool.names.clone(), pool.spec.dns_refresh)) else {
            return;
        };
        tokio::time::sleep(refresh).await;
        if names.refresh().await
            && let Some(pool) = pool.upgrade()
        {
            pool.renew();
        }
    }
}

fn clients(
    spec: &rules::Upstream,
    tls: &Tls,
    connections: &Connections,
    names: &Names,
) -> Result<Clients, reqwest::Error> {
    Ok(Clients {
        pooled: client::build(spec, Use::Pooled, tls, connections, names)?,
        fresh: client::build(spec, Use::Once, tls, connections, names)?,
        tunnels: client::build(spec, Use::Tunnel, tls, connections, names)?,
    })
}

/// What a client is made of: two upstreams for which this is the same can share one. What is not named here makes a difference,
/// so that a setting which nobody thought of costs connections and not correctness.
fn client_settings(spec: &rules::Upstream) -> rules::Upstream {
    let is_secure = spec.targets.iter().find(|target| target.url.starts_with("https:"));
    let targets = is_secure.map(|_| rules::Target { url: "https:".into(), weight: 1 });
    rules::Upstream {
        targets: targets.into_iter().collect(),
        set_headers: Vec::new(),
        response_timeout: std::time::Duration::ZERO,
        idle_timeout: std::time::Duration::ZERO,
        total_timeout: None,
        balance: rules::Balance::RoundRobin,
        health: None,
        circuit_breaker: None,
        retries: rules::Retries::default(),
        max_in_flight: None,
        ..spec.clone()
    }
}

/// Answers of somebody in front of the upstream who cannot reach it either, or of one that is overloaded. Any other status is
/// the application's own affair: a request that makes it fail is not a reason to refuse the next.
fn is_unavailable(status: http::StatusCode) -> bool {
    matches!(status.as_u16(), 502..=504)
}
