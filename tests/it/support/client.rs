//! A client that sends exactly the bytes it is told to, and reads whatever comes back.

use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The fields, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, de-chunked.
    pub body: Vec<u8>,
    /// Whether the message ended as its framing says.
    pub complete: bool,
}

impl Reply {
    /// The first field with this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The `code` of a problem document.
    pub fn code(&self) -> String {
        let problem: serde_json::Value = serde_json::from_slice(&self.body).unwrap_or_default();
        problem["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// A GET on a connection of its own.
pub fn get(address: SocketAddr, path: &str) -> Reply {
    request(address, "GET", path, &[], b"")
}

/// A POST of JSON on a connection of its own.
pub fn post(address: SocketAddr, path: &str, body: impl AsRef<[u8]>) -> Reply {
    request(address, "POST", path, &[("Content-Type", "application/json")], body.as_ref())
}

/// A request on a connection of its own.
pub fn request(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    let mut head = format!("{method} {path} HTTP/1.1\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        write!(head, "Host: {address}\r\n").expect("a string takes everything");
    }
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n").expect("a string takes everything");
    }
    if !body.is_empty() {
        write!(head, "Content-Length: {}\r\n", body.len()).expect("a string takes everything");
    }
    head.push_str("Connection: close\r\n\r\n");
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(body);
    raw(address, &bytes, method == "HEAD").expect("no answer")
}

/// Sends bytes and reads one response. `None`: the connection closed without one.
pub fn raw(address: SocketAddr, bytes: &[u8], no_body: bool) -> Option<Reply> {
    let mut connection = Connection::open(address);
    connection.send(bytes);
    connection.read(no_body)
}

/// A connection that stays open.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects.
    pub fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("connect");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("read timeout");
        stream.set_nodelay(true).expect("nodelay");
        Self { stream, buffer: Vec::new() }
    }

    /// Sends; the other side may have closed already.
    pub fn send(&mut self, bytes: &[u8]) {
        drop(self.stream.write_all(bytes));
    }

    /// Says that nothing more will be sent.
    pub fn end(&mut self) {
        drop(self.stream.shutdown(Shutdown::Write));
    }

    /// Whether the other side closes without another word.
    pub fn ends(&mut self) -> bool {
        self.buffer.is_empty() && !self.fill() && self.buffer.is_empty()
    }

    /// Asks for a path, keeping the connection.
    pub fn get(&mut self, path: &str) -> Option<Reply> {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: t.example\r\n\r\n").as_bytes());
        self.read(false)
    }

    /// Reads until this text has come, and hands out all that came. The rest of the response is left to be read.
    pub fn read_until(&mut self, text: &str) -> String {
        while find(&self.buffer, text.as_bytes()).is_none() {
            assert!(self.fill(), "ended before {text:?}: {:?}", String::from_utf8_lossy(&self.buffer));
        }
        String::from_utf8_lossy(&self.buffer).into_owned()
    }

    /// Reads that many bytes, or fewer at the end.
    pub fn take(&mut self, bytes: usize) -> Vec<u8> {
        while self.buffer.len() < bytes && self.fill() {}
        self.buffer.drain(..bytes.min(self.buffer.len())).collect()
    }

    /// Reads one response, skipping 1xx.
    pub fn read(&mut self, no_body: bool) -> Option<Reply> {
        loop {
            let end = loop {
                if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                    break end;
                }
                if !self.fill() {
                    return None;
                }
            };
            let head = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
            self.buffer.drain(..end + 4);
            let mut lines = head.split("\r\n");
            let status: u16 = lines.next()?.split(' ').nth(1)?.parse().ok()?;
            let headers: Vec<(String, String)> = lines
                .filter_map(|line| line.split_once(':'))
                .map(|(n, v)| (n.to_ascii_lowercase(), v.trim().to_owned()))
                .collect();
            if (100..200).contains(&status) && status != 101 {
                continue;
            }
            let mut reply = Reply { status, headers, body: Vec::new(), complete: true };
            if !(no_body || status == 204 || status == 304) {
                self.body(&mut reply);
            }
            return Some(reply);
        }
    }

    fn body(&mut self, reply: &mut Reply) {
        if reply.header("transfer-encoding").is_some() {
            reply.complete = self.chunked(&mut reply.body).is_some();
        } else if let Some(length) = reply.header("content-length") {
            let length: usize = length.parse().expect("content-length");
            while self.buffer.len() < length && self.fill() {}
            reply.complete = self.buffer.len() >= length;
            reply.body = self.buffer.drain(..length.min(self.buffer.len())).collect();
        } else {
            while self.fill() {}
            reply.body = std::mem::take(&mut self.buffer);
        }
    }

    fn chunked(&mut self, out: &mut Vec<u8>) -> Option<()> {
        loop {
            let line = self.line()?;
            let size = usize::from_str_radix(line.split(';').next()?.trim(), 16).ok()?;
            while self.buffer.len() < size + 2 {
                if !self.fill() {
                    out.append(&mut self.buffer);
                    return None;
                }
            }
            out.extend(self.buffer.drain(..size));
            self.buffer.drain(..2);
            if size == 0 {
                return Some(());
            }
        }
    }

    fn line(&mut self) -> Option<String> {
        loop {
            if let Some(end) = find(&self.buffer, b"\r\n") {
                let line = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
                self.buffer.drain(..end + 2);
                return Some(line);
            }
            if !self.fill() {
                return None;
            }
        }
    }

    fn fill(&mut self) -> bool {
        let mut chunk = vec![0; 64 * 1024];
        match self.stream.read(&mut chunk) {
            Ok(0) => false,
            Ok(n) => {
                self.buffer.extend_from_slice(&chunk[..n]);
                true
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("no answer within the read timeout"),
            Err(_) => false,
        }
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|w| w == needle)
}
