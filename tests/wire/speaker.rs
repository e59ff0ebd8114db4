//! A client that sends exactly the bytes it is given and says what came back, and whether the connection was closed.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::message::{Body, Head, Progress};

/// A complete answer.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Its first line and fields.
    pub head: Head,
    /// Its body, without chunks.
    pub body: Vec<u8>,
}

/// What came back.
#[derive(Debug, Default)]
pub struct Heard {
    /// Every byte.
    pub raw: Vec<u8>,
    /// Complete final answers.
    pub replies: Vec<Reply>,
    /// Whether the other side closed before it was asked to.
    pub is_closed: bool,
    /// What was not well formed.
    pub fault: Option<String>,
    /// Bytes that belong to no complete answer.
    pub pending: usize,
}

/// How long is waited for what.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// For the first answer.
    pub answer: Duration,
    /// After an answer, for more or for a close.
    pub more: Duration,
}

/// Sends and listens.
pub fn say(address: SocketAddr, bytes: &[u8], patience: Patience) -> Heard {
    let mut stream = TcpStream::connect(address).expect("connect");
    drop(stream.set_nodelay(true));
    // The other side may close while it is still being spoken to.
    drop(stream.write_all(bytes));
    let is_head = bytes.starts_with(b"HEAD ");
    let mut heard = Heard::default();
    listen(&mut stream, &mut heard, is_head, Instant::now() + patience.answer, patience.more);
    if !heard.is_closed {
        // What is still under way may come to its end.
        drop(stream.shutdown(Shutdown::Write));
        let mut rest = Heard { raw: std::mem::take(&mut heard.raw), ..Heard::default() };
        listen(&mut stream, &mut rest, is_head, Instant::now() + patience.more, patience.more);
        let (is_closed, fault) = (heard.is_closed, heard.fault.take());
        heard = Heard { is_closed, fault: fault.or(rest.fault.take()), ..rest };
    }
    heard
}

fn listen(stream: &mut TcpStream, heard: &mut Heard, is_head: bool, deadline: Instant, more: Duration) {
    let mut deadline = deadline;
    let mut chunk = [0; 16 * 1024];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        drop(stream.set_read_timeout(Some(left)));
        match stream.read(&mut chunk) {
            Ok(0) => heard.is_closed = true,
            Ok(n) => heard.raw.extend_from_slice(&chunk[..n]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
            Err(_) => heard.is_closed = true,
        }
        let before = heard.replies.len();
        read(heard, is_head);
        if heard.is_closed {
            return;
        }
        if heard.replies.len() > before && heard.pending == 0 {
            deadline = Instant::now() + more;
        }
    }
    read(heard, is_head);
}

/// Reads all answers anew.
fn read(heard: &mut Heard, is_head: bool) {
    heard.replies.clear();
    let mut at = 0;
    while at < heard.raw.len() {
        match take(&heard.raw[at..], is_head, heard.is_closed) {
            Progress::Done((reply, used)) => {
                at += used;
                if !(100..200).contains(&reply.head.status()) || reply.head.status() == 101 {
                    heard.replies.push(reply);
                }
            }
            Progress::More => break,
            Progress::Fault(why) => {
                heard.fault = Some(why);
                break;
            }
        }
    }
    heard.pending = heard.raw.len() - at;
}

fn take(bytes: &[u8], is_head: bool, is_closed: bool) -> Progress<(Reply, usize)> {
    let (head, at) = match Head::take(bytes) {
        Progress::Done(done) => done,
        Progress::More => return Progress::More,
        Progress::Fault(why) => return Progress::Fault(why),
    };
    let framing = match head.framing() {
        Ok(framing) => framing,
        Err(why) => return Progress::Fault(why),
    };
    let status = head.status();
    if is_head || (100..200).contains(&status) || status == 204 || status == 304 {
        return Progress::Done((Reply { head, body: Vec::new() }, at));
    }
    let Some(framing) = framing else {
        let body = bytes[at..].to_vec();
        return if is_closed { Progress::Done((Reply { head, body }, bytes.len())) } else { Progress::More };
    };
    match Body::take(framing, &bytes[at..]) {
        Progress::Done((body, used)) => Progress::Done((Reply { head, body }, at + used)),
        Progress::More => Progress::More,
        Progress::Fault(why) => Progress::Fault(why),
    }
}
