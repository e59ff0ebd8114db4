//! The composition root: builds each part once, starts the threads, stops them in order. It decides nothing about
//! requests.
//!
//! Threads: the control thread (accepting, the dashboard, signals, a tick a second), one worker per core with its own
//! runtime and its own connections, the rule watcher, the audit writer. Measured on two cores, a runtime per core cost 28.6 us
//! CPU a request where one shared runtime cost 32.5.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Handle;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::audit::{Audit, AuditSettings};
use crate::content::json;
use crate::gateway::forwarded::Trusted;
use crate::gateway::headers::Via;
use crate::gateway::memory::Memory;
use crate::gateway::remembered::LastHost;
use crate::gateway::serve::{self, ConnectionLimits};
use crate::gateway::target::LastNamed;
use crate::gateway::tls::{CertificateFiles, ServerCertificate};
use crate::gateway::upstream::Site;
use crate::gateway::{Limits, Live, Worker};
use crate::rules::store::Store;
use crate::rules::watch::Watch;
use crate::rules::{Problem, Ruleset, Source};
use crate::settings::{Settings, TlsFiles};
use crate::stats::Stats;
use crate::{admin, pii, supervisor};

/// Anything that stops a start.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Where it can be reached.
#[derive(Debug, Clone, Copy)]
pub struct Addresses {
    /// For clients.
    pub listen: SocketAddr,
    /// Whether clients are spoken to over TLS.
    pub secure: bool,
    /// The dashboard.
    pub admin: Option<SocketAddr>,
}

/// Runs until it is told to stop. `ready` is called once everything listens.
pub fn run(settings: &Settings, source: Source, ready: impl FnOnce(Addresses)) -> Result<(), Error> {
    let began = Instant::now();
    let connections = connections(settings.max_connections, raise_open_files());
    let control = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (listener, admin_listener) = {
        let _runtime = control.enter();
        (listen(settings.listen)?, settings.admin.map(|address| bind(address, "admin")).transpose()?)
    };
    let addresses = Addresses {
        listen: listener.local_addr()?,
        secure: settings.tls.is_some(),
        admin: admin_listener.as_ref().map(TcpListener::local_addr).transpose()?,
    };

    let certificate = settings.tls.as_ref().map(open_certificate).transpose()?;
    let stats = Stats::new(settings.workers);
    let store = open_rules(source, &stats, settings.workers, control.handle())?;
    let watch = Watch::start(Arc::clone(&store))?;
    let audit_settings = AuditSettings {
        journal_bytes: settings.audit_journal,
        rotate_bytes: settings.audit_rotate,
        on_failure: settings.audit_on_failure,
        ..AuditSettings::in_dir(&settings.data)
    };
    let audit = Audit::open(&audit_settings, settings.workers)?;

    let stopping = Arc::new(AtomicBool::new(false));
    let (stop, stopped) = watch::channel(false);
    // The dashboard stops last: while the rest drains, `/readyz` must still be there to say so.
    let (stop_admin, admin_stopped) = watch::channel(false);
    let tls = certificate.as_deref().map(|certificate| acceptor(certificate, settings)).transpose()?;
    let (inlets, threads) = start_workers(settings, tls.as_ref(), &store, &audit, &stats, &stopping, &stopped)?;
    let lifecycle = admin::Lifecycle::new();
    let admin_app = admin_listener.map(|listener| {
        let state = admin::AdminState {
            stats: stats.clone(),
            rules: store.status(),
            audit: Arc::new(admin::Trail::of(&audit)),
            system: Arc::new(system_facts(settings, addresses)),
            lifecycle: lifecycle.clone(),
            token: settings.admin_token.clone(),
            certificate: certificate.as_ref().map(|certificate| certificate.state()),
            hosts: admin::Hosts::new(listener.local_addr().unwrap_or(settings.listen), settings.admin_hosts.clone()),
        };
        (listener, admin::router(state))
    });

    // Before anybody learns that it runs: a signal that nobody waits for ends the process.
    let hangup = {
        let _runtime = control.enter();
        signal(SignalKind::hangup())?
    };
    tracing::info!(listen = %addresses.listen, took_ms = began.elapsed().as_millis() as u64, "ready");
    ready(addresses);
    supervisor::ready();
    control.block_on(async {
        let accepting = tokio::spawn(serve::accept(listener, inlets, connections, stopped.clone()));
        let dashboard = admin_app.map(|(listener, app)| tokio::spawn(serve_admin(listener, app, admin_stopped)));
        let ticking = tokio::spawn(tick(stats.clone()));
        let alive = tokio::spawn(supervisor::stay_alive());
        let looking = certificate.map(|certificate| tokio::spawn(look_after(certificate)));
        until_told_to_stop(&watch, hangup).await;
        tracing::info!(drain_s = settings.drain.as_secs_f64(), "stopping: what is under way may end");
        supervisor::stopping();
        stopping.store(true, Ordering::Relaxed);
        lifecycle.drain();
        stop.send_replace(true);
        // A second signal means: now.
        let joined = tokio::task::spawn_blocking(move || threads.into_iter().for_each(|t| drop(t.join())));
        tokio::select! {
            joined = joined => joined?,
            () = told_to_stop() => tracing::warn!("told to stop again: not waiting any longer"),
        }
        stop_admin.send_replace(true);
        if let Some(dashboard) = dashboard {
            drop(tokio::time::timeout(Duration::from_secs(1), dashboard).await);
        }
        accepting.abort();
        ticking.abort();
        alive.abort();
        if let Some(looking) = looking {
            looking.abort();
        }
        Ok::<_, Error>(())
    })?;
    drop(watch);
    audit.flush_and_stop(Duration::from_secs(5))?;
    control.shutdown_background();
    tracing::info!("stopped");
    Ok(())
}

/// The listener for clients: the service manager's, if it has one for us.
fn listen(address: SocketAddr) -> Result<TcpListener, Error> {
    match supervisor::listener() {
        Ok(Some((listener, address))) => {
            tracing::info!(%address, "the service manager's socket is used");
            Ok(TcpListener::from_std(listener)?)
        }
        Ok(None) => bind(address, "listen"),
        Err(error) => {
            Err(format!("the service manager's socket cannot be used: {error} (it must be a TCP listener)").into())
        }
    }
}

/// Connections that the kernel keeps until they are accepted: room for the clients of a burst. It takes its own maximum
/// (`net.core.somaxconn`) where that is lower.
const QUEUE: u32 = 4096;

fn bind(address: SocketAddr, flag: &str) -> Result<TcpListener, Error> {
    let listener = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(QUEUE)
    };
    listener().map_err(|error: std::io::Error| {
        format!("cannot listen on {address}: {error} (choose another with --{flag})").into()
    })
}

fn open_certificate(files: &TlsFiles) -> Result<Arc<ServerCertificate>, Error> {
    let files = CertificateFiles { certificate: files.certificate.clone(), key: files.key.clone() };
    ServerCertificate::open(files).map(Arc::new).map_err(|why| format!("no TLS with this certificate: {why}").into())
}

/// Offers HTTP/2 before HTTP/1.1, unless it is off.
fn acceptor(certificate: &ServerCertificate, settings: &Settings) -> Result<TlsAcceptor, Error> {
    let protocols: &[&[u8]] = if settings.http2_streams > 0 { &[b"h2", b"http/1.1"] } else { &[b"http/1.1"] };
    Ok(TlsAcceptor::from(Arc::new(certificate.server_config(protocols)?)))
}

/// Takes a new certificate when there is one. Reading files may block, so it is not done on the control thread.
async fn look_after(certificate: Arc<ServerCertificate>) {
    let mut second = tokio::time::interval(Duration::from_secs(1));
    second.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        second.tick().await;
        let certificate = Arc::clone(&certificate);
        if tokio::task::spawn_blocking(move || certificate.look()).await.is_err() {
            tracing::error!("the files of the certificate cannot be looked at");
        }
    }
}

fn open_rules(source: Source, stats: &Stats, workers: usize, control: &Handle) -> Result<Arc<Store<Live>>, Error> {
    let (stats, control) = (stats.clone(), control.clone());
    let prepare = move |ruleset: Ruleset, previous: Option<&Arc<Live>>| {
        Live::prepare(ruleset, previous.map(|p| &**p), Site { stats: &stats, workers, control: &control })
    };
    Store::open(source, prepare).map(Arc::new).map_err(|problems| BadRules(problems).into())
}

/// The rules that the process was to start with are not good.
#[derive(Debug)]
pub struct BadRules(pub Vec<Problem>);

impl std::fmt::Display for BadRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for problem in &self.0 {
            writeln!(f, "{problem}")?;
        }
        f.write_str("the rules were not loaded")
    }
}

impl std::error::Error for BadRules {}

type Workers = (Vec<serve::Inlet>, Vec<JoinHandle<()>>);

fn start_workers(
    settings: &Settings,
    tls: Option<&TlsAcceptor>,
    store: &Arc<Store<Live>>,
    audit: &Audit,
    stats: &Stats,
    stopping: &Arc<AtomicBool>,
    stopped: &watch::Receiver<bool>,
) -> Result<Workers, Error> {
    let via = Via::new(&uuid::Uuid::now_v7().simple().to_string());
    let memory = Arc::new(Memory::new(settings.body_memory));
    let everything = pii::Detector::new(pii::EntitySet::all());
    let limits = ConnectionLimits {
        header_timeout: settings.header_timeout,
        header_bytes: settings.header_size,
        headers: settings.max_headers,
        write_timeout: settings.write_timeout,
        drain: settings.drain,
        handshake_timeout: settings.tls_timeout,
        streams: settings.http2_streams,
    };
    let mut inlets = Vec::new();
    let mut threads = Vec::new();
    for (index, lane) in audit.lanes().iter().cloned().enumerate() {
        let worker = Arc::new(Worker {
            index,
            rules: Arc::clone(store),
            lane,
            stats: stats.worker(index),
            limits: Limits {
                body_timeout: settings.body_timeout,
                buffer: settings.buffer,
                audit_wait: settings.audit_wait,
                json: json::Limits { depth: settings.json_depth, ..json::Limits::default() },
            },
            memory: Arc::clone(&memory),
            via: via.clone(),
            trusted: Trusted::new(settings.trusted_addresses.clone()),
            everything: everything.clone(),
            last_host: LastHost::default(),
            last_named: LastNamed::default(),
            stopping: Arc::clone(stopping),
        });
        let (inlet, outlet) = serve::passage();
        inlets.push(inlet);
        let (limits, tls, stopped) = (limits.clone(), tls.cloned(), stopped.clone());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        threads.push(std::thread::Builder::new().name(format!("worker-{index}")).spawn(move || {
            runtime.block_on(serve::serve(outlet, worker, limits, tls, stopped));
        })?);
    }
    Ok((inlets, threads))
}

async fn serve_admin(listener: TcpListener, app: axum::Router, mut stop: watch::Receiver<bool>) {
    let served = axum::serve(listener, app).with_graceful_shutdown(async move {
        // An error means that the sender is gone: also a stop.
        drop(stop.wait_for(|stopping| *stopping).await);
    });
    if let Err(error) = served.await {
        tracing::error!(%error, "the dashboard has stopped");
    }
}

async fn tick(stats: Stats) {
    let mut second = tokio::time::interval(Duration::from_secs(1));
    second.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Burst);
    loop {
        second.tick().await;
        stats.tick();
    }
}

/// Returns at SIGTERM or SIGINT. SIGHUP reads the rules again.
async fn until_told_to_stop(watch: &Watch, mut hangup: Signal) {
    let stop = told_to_stop();
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => return,
            _ = hangup.recv() => watch.trigger(),
        }
    }
}

async fn told_to_stop() {
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// Each connection of a client needs a descriptor and often one to the upstream; the usual soft limit of 1,024 is too few.
/// Answers how many there are; `None`: any number.
fn raise_open_files() -> Option<u64> {
    let mut limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let soft = limit.current;
    limit.current = limit.maximum;
    match rustix::process::setrlimit(rustix::process::Resource::Nofile, limit) {
        Ok(()) => limit.current,
        Err(error) => {
            tracing::warn!(%error, "the limit of open files cannot be raised");
            soft
        }
    }
}

/// Descriptors for everything but clients and their upstreams: rules, audit log, journals, dashboard, runtimes.
const OTHER_FILES: u64 = 64;

/// How many client connections may be open: as many as wanted, but never so many that those which are open could not get a
/// connection to their upstream. Where descriptors are scarce, newcomers wait in the kernel's queue.
fn connections(wanted: usize, files: Option<u64>) -> usize {
    let Some(files) = files else { return wanted };
    let most = usize::try_from(files.saturating_sub(OTHER_FILES) / 2).unwrap_or(usize::MAX).max(1);
    if most < wanted {
        tracing::warn!(
            files,
            connections = most,
            "`max-connections` is {wanted}, but the limit of open files allows fewer"
        );
    }
    most.min(wanted)
}

fn system_facts(settings: &Settings, addresses: Addresses) -> admin::System {
    admin::System {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started: jiff::Timestamp::now(),
        listen: [Some(("clients", addresses.listen)), addresses.admin.map(|a| ("dashboard", a))]
            .into_iter()
            .flatten()
            .map(|(purpose, address)| (purpose.to_owned(), address.to_string()))
            .collect(),
        settings: settings.listing(),
        try_line: if settings.tls.is_some() {
            // Its name is not that of the address.
            format!("curl -ik https://{}/", addresses.listen)
        } else {
            format!("curl -i http://{}/", addresses.listen)
        },
    }
}

/// The data folder beside a rules folder.
pub fn data_beside(rules: &std::path::Path) -> PathBuf {
    let rules = rules.canonicalize().unwrap_or_else(|_| rules.to_owned());
    rules.parent().map_or_else(|| PathBuf::from("fieldgate-data"), |parent| parent.join("fieldgate-data"))
}
