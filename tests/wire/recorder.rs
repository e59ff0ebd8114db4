//! An upstream that records every byte it gets and reads it as strictly as the grammar allows.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::case::Then;
use super::message::{Body, Head, Progress};

/// A complete request, as it arrived.
#[derive(Debug, Clone)]
pub struct Arrived {
    /// Its first line and fields.
    pub head: Head,
    /// Its body, without chunks.
    pub body: Vec<u8>,
}

/// All that arrived.
#[derive(Debug, Clone, Default)]
pub struct Log {
    /// Every byte.
    pub raw: Vec<u8>,
    /// Complete requests.
    pub requests: Vec<Arrived>,
    /// What was not well formed.
    pub faults: Vec<String>,
    /// Bytes that belong to no complete request.
    pub pending: usize,
}

/// What is answered, and what is done then.
type Script = (Vec<u8>, Then);

/// The upstream. It lives as long as the process.
pub struct Recorder {
    /// Where it listens.
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    log: Mutex<Log>,
    script: Mutex<Script>,
}

/// What it answers where nothing else is asked for.
pub const PLAIN: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";

impl Recorder {
    /// Listens on a port of its own.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address");
        let script = Mutex::new((PLAIN.to_vec(), Then::Keep));
        let shared = Arc::new(Shared { log: Mutex::default(), script });
        let threads = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&threads);
                std::thread::spawn(move || serve(stream, &shared));
            }
        });
        Self { address, shared }
    }

    /// Answers like this from now on.
    pub fn answer(&self, bytes: &[u8], then: Then) {
        *self.shared.script.lock().expect("lock") = (bytes.to_vec(), then);
    }

    /// What has arrived since the last time, once it is quiet.
    pub fn take(&self) -> Log {
        let mut length = self.shared.log.lock().expect("lock").raw.len();
        let deadline = Instant::now() + Duration::from_secs(1);
        loop {
            std::thread::sleep(Duration::from_millis(8));
            let mut log = self.shared.log.lock().expect("lock");
            if log.raw.len() == length || Instant::now() > deadline {
                return std::mem::take(&mut log);
            }
            length = log.raw.len();
        }
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) {
    drop(stream.set_nodelay(true));
    let mut buffer = Vec::new();
    let mut chunk = [0; 16 * 1024];
    loop {
        let Ok(n @ 1..) = stream.read(&mut chunk) else { return };
        buffer.extend_from_slice(&chunk[..n]);
        {
            let mut log = shared.log.lock().expect("lock");
            log.raw.extend_from_slice(&chunk[..n]);
            log.pending += n;
        }
        loop {
            match take_request(&buffer) {
                Progress::More => break,
                Progress::Fault(why) => {
                    shared.log.lock().expect("lock").faults.push(why);
                    drop(
                        stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
                    );
                    return;
                }
                Progress::Done((arrived, used)) => {
                    buffer.drain(..used);
                    let is_head = arrived.head.method() == "HEAD";
                    {
                        let mut log = shared.log.lock().expect("lock");
                        log.requests.push(arrived);
                        log.pending = log.pending.saturating_sub(used);
                    }
                    let (answer, then) = shared.script.lock().expect("lock").clone();
                    let end = if is_head { head_end(&answer) } else { answer.len() };
                    drop(stream.write_all(&answer[..end]));
                    if !stay(&stream, then) {
                        return;
                    }
                }
            }
        }
    }
}

fn head_end(answer: &[u8]) -> usize {
    answer.windows(4).position(|w| w == b"\r\n\r\n").map_or(answer.len(), |at| at + 4)
}

/// Whether the connection goes on.
fn stay(stream: &TcpStream, then: Then) -> bool {
    match then {
        Then::Keep => true,
        Then::Fin => false,
        Then::Rst => {
            // Let what was said arrive first; then a close with this option is a reset.
            std::thread::sleep(Duration::from_millis(30));
            rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO)).expect("socket option");
            false
        }
        Then::Silence => {
            // Until the other side gives up.
            let mut waiting = stream;
            let mut ignored = [0; 1024];
            while waiting.read(&mut ignored).is_ok_and(|n| n > 0) {}
            false
        }
    }
}

/// Takes a request off the front; with it, how many bytes it took.
pub fn take_request(buffer: &[u8]) -> Progress<(Arrived, usize)> {
    let (head, at) = match Head::take(buffer) {
        Progress::Done(done) => done,
        Progress::More => return Progress::More,
        Progress::Fault(why) => return Progress::Fault(why),
    };
    if let Some(why) = head.request_fault() {
        return Progress::Fault(why);
    }
    let framing = match head.framing() {
        Ok(framing) => framing.unwrap_or(Body::Length(0)),
        Err(why) => return Progress::Fault(why),
    };
    match framing.take(&buffer[at..]) {
        Progress::Done((body, used)) => Progress::Done((Arrived { head, body }, at + used)),
        Progress::More => Progress::More,
        Progress::Fault(why) => Progress::Fault(why),
    }
}
