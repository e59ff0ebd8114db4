//! Upstreams on real sockets: names that move, and what a reload keeps.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{HeaderMap, Method};
use tokio::runtime::{Builder, Runtime};

use super::*;

/// Answers every request with its name, and counts connections.
struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Server {
    fn start(address: SocketAddr, answer: &'static str) -> Self {
        let listener = TcpListener::bind(address).expect("bind");
        let address = listener.local_addr().expect("address");
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || {
                    let mut buffer = [0; 4096];
                    while stream.read(&mut buffer).is_ok_and(|read| read > 0) {
                        drop(stream.write_all(answer.as_bytes()));
                    }
                });
            }
        });
        Self { address, connections }
    }
}

const GOOD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
const BAD: &str = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";

fn spec(targets: &[String], more: &str) -> rules::Upstream {
    let folder = tempfile::tempdir().expect("folder");
    let text = format!(
        "version: 1\nupstreams: {{u: {{targets: [\"{}\"], {more}}}}}\nroutes: {{all: {{match: {{paths: [\"/{{*rest}}\"]}}, upstream: u}}}}\n",
        targets.join("\", \"")
    );
    std::fs::write(folder.path().join("rules.yaml"), text).expect("rules");
    let mut ruleset = rules::load(&rules::Source::from(folder.path().to_owned())).expect("good rules");
    ruleset.upstreams.remove(0)
}

struct Bench {
    runtime: Runtime,
    stats: Stats,
}

impl Bench {
    fn new() -> Self {
        Self { runtime: Builder::new_current_thread().enable_all().build().expect("runtime"), stats: Stats::new(1) }
    }

    fn build(&self, spec: &rules::Upstream, before: Option<&Pool>) -> Arc<Pool> {
        let site = Site { stats: &self.stats, workers: 1, control: self.runtime.handle() };
        let pool = Pool::build(spec.clone(), &Tls::none().expect("tls"), site, before).expect("clients");
        pool.start(self.runtime.handle());
        pool
    }

    fn get(&self, pool: &Pool) -> Result<u16, Refusal> {
        let cleared = Cleared {
            method: Method::GET,
            path: "/".into(),
            query: None,
            headers: HeaderMap::new(),
            asks_for_tunnel: false,
            body: Outgoing::Empty,
        };
        let mut attempts = Attempts::default();
        self.runtime.block_on(pool.send(0, cleared, &mut attempts)).map(|answer| answer.status.as_u16())
    }

    /// Lets tasks run until this holds.
    fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        self.runtime.block_on(async {
            let deadline = Instant::now() + Duration::from_secs(10);
            while !holds() {
                assert!(Instant::now() < deadline, "waited in vain until {what}");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
    }
}

fn loopback(last: u8, port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)), port)
}

/// A resolver that answers as it is told.
fn scripted(
    control: &Handle,
    refresh: Duration,
    answer: impl Fn(&str) -> std::io::Result<Vec<IpAddr>> + Send + Sync + 'static,
) -> Names {
    Names::with(refresh, control.clone(), Box::new(answer))
}

/// Gives an upstream another resolver.
fn ask_instead(pool: &mut Arc<Pool>, names: Names) {
    let pool = Arc::get_mut(pool).expect("not shared yet");
    for target in &mut pool.targets {
        target.address = target::Address::of(&target.base, &names).expect("a target");
    }
    pool.names = names;
    pool.renew();
}

#[test]
fn a_target_in_clear_text_is_called_by_a_short_name_and_named_in_host() {
    let bench = Bench::new();
    let names = Names::new(Duration::from_secs(1), bench.runtime.handle().clone());
    let address = |url: &str| {
        let address = target::Address::of(&url.parse().unwrap(), &names).unwrap();
        (address.url.to_string(), address.host.map(|host| host.to_str().unwrap().to_owned()))
    };
    let short = |n: usize, host: &str| (format!("http://t{n}.invalid/"), Some(host.to_owned()));
    assert_eq!(address("http://10.0.0.1:8080"), short(0, "10.0.0.1:8080"));
    assert_eq!(address("http://[::1]:8080"), short(1, "[::1]:8080"));
    assert_eq!(address("http://orders.internal:80"), short(2, "orders.internal"));
    assert_eq!(address("http://10.0.0.1:8080"), short(0, "10.0.0.1:8080"));
    assert_eq!(address("https://orders.internal:8443"), ("https://orders.internal:8443/".into(), None));
    let place = |name: &str| bench.runtime.block_on(names.places(name)).map(|places| places[0].to_string());
    assert_eq!(place("t0.invalid").as_deref(), Ok("10.0.0.1:8080"));
    assert_eq!(place("t1.invalid").as_deref(), Ok("[::1]:8080"));
    assert!(place("t9.invalid").is_err());
}

#[test]
fn a_name_that_moves_is_followed_and_the_old_connections_end() {
    let old = Server::start(loopback(1, 0), GOOD);
    let new = Server::start(loopback(2, old.address.port()), GOOD);
    let bench = Bench::new();
    let spec = spec(&[format!("http://moving.test:{}", old.address.port())], "dns: {refresh: 1s}");
    let at = Arc::new(Mutex::new(loopback(1, 0).ip()));
    let now = Arc::clone(&at);
    let names = scripted(bench.runtime.handle(), Duration::from_millis(50), move |_| Ok(vec![*now.lock().unwrap()]));
    let site = Site { stats: &bench.stats, workers: 1, control: bench.runtime.handle() };
    let mut pool = Pool::build(spec, &Tls::none().expect("tls"), site, None).expect("clients");
    Arc::get_mut(&mut pool).expect("not shared yet").spec.dns_refresh = Duration::from_millis(50);
    ask_instead(&mut pool, names);
    pool.start(bench.runtime.handle());
    for _ in 0..20 {
        assert_eq!(bench.get(&pool), Ok(200));
    }
    assert_eq!(old.connections.load(Ordering::SeqCst), 1, "one connection, as long as the name stays");
    *at.lock().unwrap() = loopback(2, 0).ip();
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while new.connections.load(Ordering::SeqCst) == 0 {
        assert!(std::time::Instant::now() < deadline, "the new address is never used");
        assert_eq!(bench.get(&pool), Ok(200));
    }
    for _ in 0..20 {
        assert_eq!(bench.get(&pool), Ok(200));
    }
    assert_eq!(old.connections.load(Ordering::SeqCst), 1, "nobody goes to the old address any more");
}

#[test]
fn a_name_that_cannot_be_looked_up_is_told_apart() {
    let bench = Bench::new();
    let spec = spec(&["http://nowhere.invalid:80".into()], "dns: {refresh: 1s}");
    let pool = bench.build(&spec, None);
    assert_eq!(bench.get(&pool), Err(Refusal::UpstreamDns));
}

#[test]
fn a_name_server_that_hangs_is_asked_once_and_waited_for_in_bounds() {
    let bench = Bench::new();
    let spec = spec(&["http://slow.test:80".into()], "timeouts: {connect: 50ms}, retries: {attempts: 0}");
    let asked = Arc::new(AtomicUsize::new(0));
    let (count, hang) = (Arc::clone(&asked), Arc::new(Mutex::new(())));
    let held = Arc::clone(&hang);
    let guard = hang.lock().unwrap();
    let names = scripted(bench.runtime.handle(), Duration::from_secs(1), move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        drop(held.lock());
        Ok(vec![loopback(1, 0).ip()])
    });
    let site = Site { stats: &bench.stats, workers: 1, control: bench.runtime.handle() };
    let mut pool = Pool::build(spec, &Tls::none().expect("tls"), site, None).expect("clients");
    ask_instead(&mut pool, names);
    for _ in 0..5 {
        let began = std::time::Instant::now();
        assert_eq!(bench.get(&pool), Err(Refusal::UpstreamTimeout));
        assert!(began.elapsed() < Duration::from_secs(2));
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    drop(guard);
}

#[test]
fn addresses_take_turns_within_a_family() {
    let found = |turn| -> Vec<String> {
        let addresses: Vec<IpAddr> =
            ["::1", "::2", "127.0.0.1", "127.0.0.2", "127.0.0.3"].map(|ip| ip.parse().unwrap()).into();
        names::in_turn(&addresses, turn).iter().map(|address| address.ip().to_string()).collect()
    };
    assert_eq!(found(0), ["::1", "::2", "127.0.0.1", "127.0.0.2", "127.0.0.3"]);
    assert_eq!(found(1), ["::2", "::1", "127.0.0.2", "127.0.0.3", "127.0.0.1"]);
    assert!(names::in_turn(&[], 7).is_empty());
}

#[test]
fn a_reload_keeps_connections_and_what_is_known_of_a_target() {
    let (good, bad) = (Server::start(loopback(1, 0), GOOD), Server::start(loopback(1, 0), BAD));
    let url = |server: &Server| format!("http://{}", server.address);
    let breaker = "circuit_breaker: {failures: 2, window: 1m, open: 1m}";
    let bench = Bench::new();
    let first = bench.build(&spec(&[url(&bad)], breaker), None);
    assert_eq!((bench.get(&first), bench.get(&first)), (Ok(503), Ok(503)));
    assert_eq!(bench.get(&first), Err(Refusal::UpstreamOpen { seconds: 60 }));

    // Another target, and another limit: the connection and the open circuit are as they were.
    let second = bench.build(&spec(&[url(&bad), url(&good)], &format!("{breaker}, max_in_flight: 9")), Some(&first));
    for _ in 0..4 {
        assert_eq!(bench.get(&second), Ok(200), "only the good one is asked");
    }
    assert_eq!(good.connections.load(Ordering::SeqCst), 1);
    let third = bench.build(&spec(&[url(&good)], breaker), Some(&second));
    assert_eq!(bench.get(&third), Ok(200));
    assert_eq!(good.connections.load(Ordering::SeqCst), 1, "the pooled connection was taken over");

    // Other deadlines for connections: other clients. Another breaker: another start.
    let fourth = bench.build(&spec(&[url(&good)], &format!("{breaker}, timeouts: {{connect: 9s}}")), Some(&third));
    assert_eq!(bench.get(&fourth), Ok(200));
    assert_eq!(good.connections.load(Ordering::SeqCst), 2);
    let fifth = bench.build(&spec(&[url(&bad)], "circuit_breaker: {failures: 3, open: 1m}"), Some(&first));
    assert_eq!(bench.get(&fifth), Ok(503));
}

#[test]
fn health_checks_end_with_their_upstream() {
    let server = Server::start(loopback(1, 0), BAD);
    let bench = Bench::new();
    let spec = spec(
        &[format!("http://{}", server.address)],
        "health: {path: /healthz, interval: 100ms, unhealthy_after: 1, healthy_after: 1}",
    );
    let pool = bench.build(&spec, None);
    bench.until("it is found unhealthy", || bench.stats.targets()[0].is_unhealthy);
    pool.retire();
    // Something that takes longer than an interval: the checks of a target that is still watched.
    let asked = server.connections.load(Ordering::SeqCst);
    let other = Server::start(loopback(1, 0), GOOD);
    let mut watched = spec.clone();
    watched.targets[0].url = format!("http://{}", other.address).into();
    let watched = bench.build(&watched, None);
    bench.until("the other is asked", || other.connections.load(Ordering::SeqCst) >= 3);
    assert!(server.connections.load(Ordering::SeqCst) <= asked + 1, "one may have been under way");
    drop((pool, watched));
    bench.until("targets are told no more", || bench.stats.targets().is_empty());
}
