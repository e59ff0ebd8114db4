//! The addresses behind the names of targets: looked up the way the system does, kept for a short while, looked up once at a
//! time. It promises that an address is never older than it may be, and that a name server which hangs holds up nobody beyond
//! the deadline for a connection; it refuses to know what is connected.
//!
//! The system's own look-up, in place of a resolver of our own: it knows `/etc/hosts`, search domains and whatever else the
//! host was told, and it does not say for how long an answer holds, so that a fixed age has to do.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::runtime::Handle;
use tokio::sync::watch;

type LookUp = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

/// What is known of the names of one upstream. Cloning gives another handle.
#[derive(Clone)]
pub struct Names(Arc<Inner>);

struct Inner {
    /// How old an answer may be.
    refresh: Duration,
    look_up: Box<LookUp>,
    /// Where look-ups block. Not a worker: its end would wait for a name server that hangs.
    control: Handle,
    known: Mutex<HashMap<Box<str>, Entry>>,
    /// What the client calls in short; the position is in the name. It grows by a few bytes with a place that a reload brings.
    shorts: Mutex<Vec<Place>>,
    /// Counts connections, so that they go to the addresses of a name in turn.
    turn: AtomicUsize,
}

/// A host, as it stands in a URL, with its port.
type Place = (Box<str>, u16);

/// No name system knows it (RFC 2606), so that no target is called so.
const SHORT: &str = ".invalid";

#[derive(Default)]
struct Entry {
    answer: Option<Answer>,
    /// The look-up that is under way.
    pending: Option<watch::Receiver<Option<Found>>>,
}

struct Answer {
    addresses: Arc<[IpAddr]>,
    at: Instant,
}

/// What came of a look-up; an error in the system's words.
type Found = Result<Arc<[IpAddr]>, Arc<str>>;

impl Names {
    /// Nothing is known yet.
    pub fn new(refresh: Duration, control: Handle) -> Self {
        Self::with(refresh, control, Box::new(system))
    }

    pub(super) fn with(refresh: Duration, control: Handle, look_up: Box<LookUp>) -> Self {
        Self(Arc::new(Inner {
            refresh,
            look_up,
            control,
            known: Mutex::default(),
            shorts: Mutex::default(),
            turn: AtomicUsize::new(0),
        }))
    }

    /// A short name for a host and port, by which only the client knows them, and only for clear text: TLS must be spoken with
    /// who is meant. The same place has the same name.
    ///
    /// PERF: the client makes text of its URL and reads it anew twice for each request, and hashes it to find a connection. With
    /// an address and a port in it that was a twelfth of all instructions.
    pub fn shorten(&self, host: &str, port: u16) -> String {
        let mut shorts = self.0.shorts.lock().unwrap_or_else(PoisonError::into_inner);
        let known = shorts.iter().position(|(name, at)| **name == *host && *at == port);
        let position = known.unwrap_or_else(|| {
            shorts.push((host.into(), port));
            shorts.len() - 1
        });
        format!("t{position}{SHORT}")
    }

    /// What was shortened; what was not is itself, at a port that the client knows.
    fn lengthen(&self, name: &str) -> Place {
        let position = name.strip_suffix(SHORT).and_then(|name| name.strip_prefix('t')).and_then(|n| n.parse().ok());
        let shorts = self.0.shorts.lock().unwrap_or_else(PoisonError::into_inner);
        position.and_then(|position: usize| shorts.get(position).cloned()).unwrap_or_else(|| (name.into(), 0))
    }

    /// Where to connect to, in the order in which it is to be tried.
    pub(super) async fn places(&self, name: &str) -> Result<Vec<SocketAddr>, Arc<str>> {
        let (name, port) = self.lengthen(name);
        let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(&name);
        if let Ok(address) = bare.parse() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let found = self.addresses(&name).await?;
        let turn = self.0.turn.fetch_add(1, Ordering::Relaxed);
        Ok(in_turn(&found, turn).into_iter().map(|place| SocketAddr::new(place.ip(), port)).collect())
    }

    /// The addresses of a name, of now or of not long ago.
    async fn addresses(&self, name: &str) -> Found {
        let fresh = self.known(|known| {
            let answer = known.get(name).and_then(|entry| entry.answer.as_ref())?;
            (answer.at.elapsed() < self.0.refresh).then(|| Arc::clone(&answer.addresses))
        });
        match fresh {
            Some(addresses) => Ok(addresses),
            None => self.look_up(name).await,
        }
    }

    /// Looks up every name that was ever asked for. Returns whether one of them has lost an address: then there may be
    /// connections to where nobody should be sent any more.
    pub async fn refresh(&self) -> bool {
        let before: Vec<(Box<str>, Arc<[IpAddr]>)> = self.known(|known| {
            let known = known.iter();
            known.filter_map(|(name, entry)| Some((name.clone(), entry.answer.as_ref()?.addresses.clone()))).collect()
        });
        let mut lost = false;
        for (name, old) in before {
            // A look-up that fails says nothing about connections that are open; new ones will fail.
            if let Ok(new) = self.look_up(&name).await {
                lost |= old.iter().any(|address| !new.contains(address));
            }
        }
        lost
    }

    /// Looks a name up, or waits for whoever does so already.
    async fn look_up(&self, name: &str) -> Found {
        let mut pending = self.known(|known| {
            let entry = known.entry(name.into()).or_default();
            // One that was given up leaves nobody at the other end.
            entry.pending.take_if(|pending| pending.has_changed().is_err());
            entry.pending.get_or_insert_with(|| self.begin(name)).clone()
        });
        // Taken out of its guard at once: a guard must not be held while somebody else answers.
        let found = pending.wait_for(Option::is_some).await.ok().and_then(|found| found.clone());
        found.unwrap_or_else(|| Err("the look-up was given up".into()))
    }

    /// INVARIANT: it blocks a thread of its own and runs to its end, whoever stops waiting: there is never more than one look-up
    /// of a name.
    fn begin(&self, name: &str) -> watch::Receiver<Option<Found>> {
        let (sender, receiver) = watch::channel(None);
        let (names, name) = (self.clone(), Box::<str>::from(name));
        self.0.control.spawn_blocking(move || {
            let found = (names.0.look_up)(&name).map(Arc::from).map_err(|error| Arc::from(error.to_string()));
            names.known(|known| {
                let entry = known.entry(name).or_default();
                entry.pending = None;
                if let Ok(addresses) = &found {
                    entry.answer = Some(Answer { addresses: Arc::clone(addresses), at: Instant::now() });
                }
            });
            sender.send_replace(Some(found));
        });
        receiver
    }

    fn known<T>(&self, f: impl FnOnce(&mut HashMap<Box<str>, Entry>) -> T) -> T {
        f(&mut self.0.known.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Names").field("refresh", &self.0.refresh).finish_non_exhaustive()
    }
}

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let names = self.clone();
        Box::pin(async move {
            let places = names.places(name.as_str()).await.map_err(|why| io::Error::other(&*why))?;
            Ok(Box::new(places.into_iter()) as Addrs)
        })
    }
}

/// Another address first each time: one that is dead must not be the first for everybody. Which version of IP comes first stays
/// the system's choice (RFC 6724).
pub(super) fn in_turn(addresses: &[IpAddr], turn: usize) -> Vec<SocketAddr> {
    let first = addresses.first().map(IpAddr::is_ipv4);
    let (mut preferred, mut others): (Vec<_>, Vec<_>) = addresses
        .iter()
        .map(|address| SocketAddr::new(*address, 0))
        .partition(|address| Some(address.is_ipv4()) == first);
    for family in [&mut preferred, &mut others] {
        let by = turn % family.len().max(1);
        family.rotate_left(by);
    }
    [preferred, others].concat()
}

fn system(name: &str) -> io::Result<Vec<IpAddr>> {
    let mut addresses: Vec<IpAddr> = Vec::new();
    for address in (name, 0).to_socket_addrs()? {
        if !addresses.contains(&address.ip()) {
            addresses.push(address.ip());
        }
    }
    if addresses.is_empty() { Err(io::Error::other("the name has no address")) } else { Ok(addresses) }
}
