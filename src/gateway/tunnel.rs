//! A tunnel: a connection that a client and an upstream have agreed to use for something else than HTTP. It promises that
//! nothing becomes one that did not ask for it properly, that a silent one ends, and that it is recorded as not inspected; it
//! refuses to know what goes through.
//!
//! Only WebSocket (RFC 6455), only over HTTP/1.1, only on routes that say so. Extended CONNECT of HTTP/2 (RFC 8441) is not
//! offered.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Version, header};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use ring::digest;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::error::Refusal;
use super::exchange::Exchange;
use super::serve::told_to_stop;
use crate::policy::Direction;

/// Why it is not inspected, in the record.
pub const REASON: &str = "a websocket tunnel is not inspected";
/// RFC 6455 section 1.3.
const MAGIC: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const WEBSOCKET: HeaderValue = HeaderValue::from_static("websocket");
const PIECE: usize = 16 << 10;
/// For the last words of one side when the other has ended.
const LAST_WORDS: Duration = Duration::from_secs(10);
/// A pause that is long enough to end a tunnel in when the process is stopping.
const PAUSE: Duration = Duration::from_secs(1);

/// A request that asks for a tunnel as it should.
#[derive(Debug)]
pub struct Ask {
    client: OnUpgrade,
    key: HeaderValue,
}

impl Ask {
    /// Takes it off a request. Whatever is not a proper handshake is a request like any other, whose `Upgrade` goes no
    /// further than here.
    pub fn take(head: &mut Parts) -> Option<Self> {
        let fields = &head.headers;
        let asks = head.method == Method::GET
            && head.version == Version::HTTP_11
            && names_upgrade(fields)
            && is_word(&only(fields, &header::UPGRADE)?, b"websocket")
            && only(fields, &header::SEC_WEBSOCKET_VERSION)?.as_bytes() == b"13"
            && !fields.contains_key(header::CONTENT_LENGTH)
            && !fields.contains_key(header::TRANSFER_ENCODING);
        let key = only(fields, &header::SEC_WEBSOCKET_KEY)?;
        let is_key = BASE64_STANDARD.decode(key.as_bytes()).is_ok_and(|nonce| nonce.len() == 16);
        let client = head.extensions.remove::<OnUpgrade>()?;
        (asks && is_key).then_some(Self { client, key })
    }

    /// Writes into the fields of a request, or of its answer, that the connection becomes something else.
    pub fn say(fields: &mut HeaderMap) {
        fields.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        fields.insert(header::UPGRADE, WEBSOCKET);
    }

    /// Both ends, if the upstream's answer is the one that was asked for.
    pub fn agreed(self, fields: &HeaderMap, upstream: Option<OnUpgrade>) -> Result<Ends, Refusal> {
        let is_accepted = names_upgrade(fields)
            && only(fields, &header::UPGRADE).is_some_and(|to| is_word(&to, b"websocket"))
            && only(fields, &header::SEC_WEBSOCKET_ACCEPT).is_some_and(|proof| *proof.as_bytes() == *self.proof());
        match upstream.filter(|_| is_accepted) {
            Some(upstream) => Ok(Ends { client: self.client, upstream }),
            None => Err(Refusal::UpstreamBroken),
        }
    }

    fn proof(&self) -> Vec<u8> {
        let hash = digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, &[self.key.as_bytes(), MAGIC].concat());
        BASE64_STANDARD.encode(hash).into_bytes()
    }
}

fn only(fields: &HeaderMap, name: &HeaderName) -> Option<HeaderValue> {
    let mut lines = fields.get_all(name).iter();
    lines.next().filter(|_| lines.next().is_none()).cloned()
}

fn is_word(value: &HeaderValue, word: &[u8]) -> bool {
    value.as_bytes().trim_ascii().eq_ignore_ascii_case(word)
}

fn names_upgrade(fields: &HeaderMap) -> bool {
    let lines = fields.get_all(header::CONNECTION).iter().map(HeaderValue::as_bytes);
    lines.flat_map(|line| line.split(|b| *b == b',')).any(|word| word.trim_ascii().eq_ignore_ascii_case(b"upgrade"))
}

/// Both ends of a tunnel that was agreed upon.
#[derive(Debug)]
pub struct Ends {
    client: OnUpgrade,
    upstream: OnUpgrade,
}

/// A tunnel with the exchange that opened it.
#[derive(Debug)]
pub struct Tunnel {
    ends: Ends,
    exchange: Exchange,
    idle: Duration,
}

/// Where a request leaves its tunnel for the connection, which runs it: so it counts as a connection, and ends with it.
#[derive(Debug, Clone, Default)]
pub struct Handover(Arc<Mutex<Option<Box<Tunnel>>>>);

impl Handover {
    /// Leaves it.
    pub fn give(&self, tunnel: Tunnel) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(tunnel));
    }

    /// Takes what was left.
    pub fn take(&self) -> Option<Box<Tunnel>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Who broke a tunnel.
enum Broken {
    Client,
    Upstream,
}

/// How a tunnel ended.
enum End {
    Closed,
    Broken(Broken),
    Silent,
    Stopped,
}

impl Tunnel {
    /// Both ends, and what may pass between two pieces at most.
    pub fn new(ends: Ends, exchange: Exchange, idle: Duration) -> Self {
        Self { ends, exchange, idle }
    }

    /// Carries bytes both ways until both have ended, nothing has come for too long, or a stop finds a pause.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        let Self { ends, mut exchange, idle } = self;
        let flow = Flow::default();
        let carried = async {
            // Both have been promised: the answer has left, and hyper hands the sockets over when its side is done.
            let Ok(client) = ends.client.await else { return Err(Broken::Client) };
            let Ok(upstream) = ends.upstream.await else { return Err(Broken::Upstream) };
            carry(TokioIo::new(client), TokioIo::new(upstream), &flow).await
        };
        let stopped = async {
            told_to_stop(&mut stop).await;
            flow.silent(PAUSE).await;
        };
        let end = tokio::select! {
            carried = carried => carried.map_or_else(End::Broken, |()| End::Closed),
            () = flow.silent(idle) => End::Silent,
            () = stopped => End::Stopped,
        };
        exchange.count_body(Direction::Request, flow.up.load(Ordering::Relaxed) as usize);
        exchange.count_out(flow.down.load(Ordering::Relaxed) as usize);
        let status = http::StatusCode::SWITCHING_PROTOCOLS.as_u16();
        match end {
            End::Closed => exchange.ended("tunnel_closed", status),
            End::Silent => exchange.ended("tunnel_idle", status),
            End::Broken(Broken::Upstream) => exchange.refuse(&Refusal::UpstreamBroken, status),
            // Both are what is said of an exchange that nobody ended.
            End::Broken(Broken::Client) | End::Stopped => drop(exchange),
        }
    }
}

/// What went through, and when last.
struct Flow {
    up: AtomicU64,
    down: AtomicU64,
    last: Mutex<Instant>,
}

impl Default for Flow {
    fn default() -> Self {
        Self { up: AtomicU64::new(0), down: AtomicU64::new(0), last: Mutex::new(Instant::now()) }
    }
}

impl Flow {
    fn moved(&self, counter: &AtomicU64, bytes: usize) {
        counter.fetch_add(bytes as u64, Ordering::Relaxed);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    async fn silent(&self, allowed: Duration) {
        loop {
            let end = *self.last.lock().unwrap_or_else(PoisonError::into_inner) + allowed;
            if end <= Instant::now() {
                return;
            }
            sleep_until(end).await;
        }
    }
}

async fn carry<C, U>(client: C, upstream: U, flow: &Flow) -> Result<(), Broken>
where
    C: AsyncRead + AsyncWrite,
    U: AsyncRead + AsyncWrite,
{
    let (from_client, to_client) = tokio::io::split(client);
    let (from_upstream, to_upstream) = tokio::io::split(upstream);
    let up = pump(from_client, to_upstream, |bytes| flow.moved(&flow.up, bytes));
    let down = pump(from_upstream, to_client, |bytes| flow.moved(&flow.down, bytes));
    let up = async { up.await.map_err(|side| if side == Side::From { Broken::Client } else { Broken::Upstream }) };
    let down = async { down.await.map_err(|side| if side == Side::From { Broken::Upstream } else { Broken::Client }) };
    tokio::pin!(up, down);
    tokio::select! {
        ended = &mut up => { ended?; timeout(LAST_WORDS, down).await.unwrap_or(Ok(())) }
        ended = &mut down => { ended?; timeout(LAST_WORDS, up).await.unwrap_or(Ok(())) }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Side {
    From,
    To,
}

/// One way, to its end, which is handed on.
async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    moved: impl Fn(usize),
) -> Result<(), Side> {
    let mut piece = vec![0; PIECE];
    loop {
        let bytes = match from.read(&mut piece).await {
            Ok(0) => break,
            Ok(bytes) => bytes,
            // Closed without the farewell of TLS.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            Err(_) => return Err(Side::From),
        };
        let written = async {
            to.write_all(piece.get(..bytes).unwrap_or_default()).await?;
            to.flush().await
        };
        written.await.map_err(|_: io::Error| Side::To)?;
        moved(bytes);
    }
    to.shutdown().await.or(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(fields: &[(&str, &str)], method: Method, version: Version) -> bool {
        let mut request = http::Request::builder().method(method).version(version);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let (mut head, ()) = request.body(()).unwrap().into_parts();
        // Without a connection behind it: what a client can upgrade is what hyper puts there.
        head.extensions.insert(hyper::upgrade::on(http::Request::new(())));
        Ask::take(&mut head).is_some()
    }

    const GOOD: [(&str, &str); 4] = [
        ("connection", "keep-alive, Upgrade"),
        ("upgrade", "WebSocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];

    #[test]
    fn only_a_proper_handshake_asks() {
        assert!(asks(&GOOD, Method::GET, Version::HTTP_11));
        assert!(!asks(&GOOD, Method::POST, Version::HTTP_11));
        assert!(!asks(&GOOD, Method::GET, Version::HTTP_10));
        for missing in 0..GOOD.len() {
            let mut fields = GOOD.to_vec();
            fields.remove(missing);
            assert!(!asks(&fields, Method::GET, Version::HTTP_11), "{missing}");
        }
        for (name, value) in [
            ("upgrade", "h2c"),
            ("upgrade", "websocket, h2c"),
            ("sec-websocket-version", "8"),
            ("sec-websocket-key", "c2hvcnQ="),
            ("sec-websocket-key", "!"),
            ("connection", "close"),
        ] {
            let fields: Vec<_> = GOOD.iter().map(|(n, v)| (*n, if *n == name { value } else { *v })).collect();
            assert!(!asks(&fields, Method::GET, Version::HTTP_11), "{name}: {value}");
        }
        for more in [("upgrade", "websocket"), ("content-length", "3"), ("transfer-encoding", "chunked")] {
            assert!(!asks(&[GOOD.as_slice(), &[more]].concat(), Method::GET, Version::HTTP_11), "{more:?}");
        }
    }

    #[test]
    fn the_proof_is_that_of_the_standard() {
        let ask = Ask {
            client: hyper::upgrade::on(http::Request::new(())),
            key: HeaderValue::from_static("dGhlIHNhbXBsZSBub25jZQ=="),
        };
        // The example of RFC 6455 section 1.3.
        assert_eq!(ask.proof(), b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }
}
