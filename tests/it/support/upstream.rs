//! An upstream on a real socket that answers as a test says, and remembers what it saw.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A request, as it arrived.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Request line and fields, as they came.
    pub head: String,
    /// The body, de-chunked.
    pub body: Vec<u8>,
}

impl Seen {
    /// The method.
    pub fn method(&self) -> &str {
        self.head.split(' ').next().unwrap_or_default()
    }

    /// The request target.
    pub fn target(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// The first field with this name, in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head
            .split("\r\n")
            .skip(1)
            .filter_map(|line| line.split_once(':'))
            .find(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, v)| v.trim())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// What the upstream does with a request.
pub enum Answer {
    /// Sends these bytes and keeps the connection.
    Keep(Vec<u8>),
    /// Sends these bytes and closes.
    Close(Vec<u8>),
    /// Writes for itself, then closes.
    Stream(Box<dyn FnOnce(&mut TcpStream) + Send>),
}

impl Answer {
    /// 200 with a JSON body.
    pub fn json(body: impl AsRef<[u8]>) -> Self {
        Self::typed("application/json", body)
    }

    /// 200 with a body of this type.
    pub fn typed(content_type: &str, body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n", body.len());
        Self::Keep([head.as_bytes(), body].concat())
    }
}

/// The upstream. It lives as long as the test process.
pub struct Upstream {
    /// Where it listens.
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    connections: Arc<AtomicUsize>,
}

impl Upstream {
    /// Answers each request with what `answer` says.
    pub fn new(answer: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::new(AtomicUsize::new(0));
        let (answer, log, count) = (Arc::new(answer), Arc::clone(&seen), Arc::clone(&connections));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
                std::thread::spawn(move || serve(stream, &*answer, &log));
            }
        });
        Self { address, seen, connections }
    }

    /// One that a test runs by itself.
    pub fn at(address: SocketAddr) -> Self {
        Self { address, seen: Arc::default(), connections: Arc::default() }
    }

    /// Answers as soon as a request's head is there, and then goes on reading.
    pub fn early(answer: Answer) -> Self {
        let Answer::Keep(bytes) = answer else { panic!("an early answer keeps the connection") };
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address");
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut buffer = Vec::new();
                // Long enough for the gateway to have sent on what it has.
                while buffer.len() < 10_000 && fill(&mut stream, &mut buffer).is_some() {}
                drop(stream.write_all(&bytes));
                while fill(&mut stream, &mut buffer).is_some() {}
            }
        });
        Self { address, seen: Arc::default(), connections: Arc::default() }
    }

    /// Answers everything with this JSON.
    pub fn json(body: &'static str) -> Self {
        Self::new(move |_| Answer::json(body))
    }

    /// What arrived so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("lock").clone()
    }

    /// What arrived last.
    pub fn last(&self) -> Seen {
        self.seen().pop().expect("nothing arrived")
    }

    /// Connections accepted so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

fn serve(mut stream: TcpStream, answer: &(dyn Fn(&Seen) -> Answer + Send + Sync), log: &Mutex<Vec<Seen>>) {
    let mut buffer = Vec::new();
    drop(stream.set_nodelay(true));
    while let Some(seen) = read(&mut stream, &mut buffer) {
        let what = answer(&seen);
        log.lock().expect("lock").push(seen);
        match what {
            Answer::Keep(bytes) => {
                if stream.write_all(&bytes).is_err() {
                    return;
                }
            }
            Answer::Close(bytes) => {
                drop(stream.write_all(&bytes));
                return;
            }
            Answer::Stream(write) => return write(&mut stream),
        }
    }
}

fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Seen> {
    let end = loop {
        if let Some(end) = buffer.windows(4).position(|w| w == b"\r\n\r\n") {
            break end;
        }
        fill(stream, buffer)?;
    };
    let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
    buffer.drain(..end + 4);
    let mut seen = Seen { head, body: Vec::new() };
    if seen.header("transfer-encoding").is_some() {
        loop {
            let line_end = loop {
                if let Some(at) = buffer.windows(2).position(|w| w == b"\r\n") {
                    break at;
                }
                fill(stream, buffer)?;
            };
            let size = usize::from_str_radix(std::str::from_utf8(&buffer[..line_end]).ok()?, 16).ok()?;
            while buffer.len() < line_end + 2 + size + 2 {
                fill(stream, buffer)?;
            }
            seen.body.extend_from_slice(&buffer[line_end + 2..line_end + 2 + size]);
            buffer.drain(..line_end + 2 + size + 2);
            if size == 0 {
                break;
            }
        }
    } else if let Some(length) = seen.header("content-length").and_then(|l| l.parse::<usize>().ok()) {
        while buffer.len() < length {
            fill(stream, buffer)?;
        }
        seen.body = buffer.drain(..length).collect();
    }
    Some(seen)
}

fn fill(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<()> {
    let mut chunk = vec![0; 64 * 1024];
    match stream.read(&mut chunk) {
        Ok(0) | Err(_) => None,
        Ok(n) => {
            buffer.extend_from_slice(&chunk[..n]);
            Some(())
        }
    }
}
