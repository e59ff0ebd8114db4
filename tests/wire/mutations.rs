//! Requests that nobody thought of: good ones, changed at random, the same for the same seed. Whatever they are, the upstream
//! gets well-formed requests alone, and no more of them than a strict reader finds in what was sent.

use std::time::Duration;

use super::message::Progress;
use super::proxies::Proxy;
use super::recorder::{PLAIN, Recorder, take_request};
use super::{case::Then, speaker};

const GOOD: [&str; 5] = [
    "GET /a HTTP/1.1\r\nHost: t.example\r\n\r\n",
    "POST /b HTTP/1.1\r\nHost: t.example\r\nContent-Length: 5\r\n\r\nHELLO",
    "POST /c HTTP/1.1\r\nHost: t.example\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHELLO\r\n3;x=y\r\nYOU\r\n0\r\n\r\n",
    "POST /d HTTP/1.1\r\nHost: t.example\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHELLO\r\n0\r\nX-T: 1\r\n\r\n",
    "GET /e HTTP/1.1\r\nHost: t.example\r\nConnection: x-a\r\nX-A: 1\r\nAccept: */*\r\n\r\n",
];

const PIECES: [&str; 28] = [
    "\r",
    "\n",
    "\r\n",
    "\0",
    " ",
    "\t",
    ":",
    ",",
    ";",
    "#",
    "0",
    "+",
    "-",
    "x",
    "\"",
    "\u{b}",
    "%2e",
    "chunked",
    "HTTP/1.0",
    "0\r\n\r\n",
    "Host: u\r\n",
    "Content-Length: 5\r\n",
    "Content-Length: 0\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: identity\r\n",
    "\r\nTransfer-Encoding: chunked",
    "Expect: 100-continue\r\n",
    "GET /hidden HTTP/1.1\r\nHost: t\r\n\r\n",
];

/// Numbers that look like chance (xorshift64*).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit.max(1)
    }

    fn of<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }
}

/// One to three good requests in a row, one of them changed in one to three places.
fn mutated(chance: &mut Chance) -> Vec<u8> {
    let mut requests: Vec<Vec<u8>> = (0..=chance.below(3)).map(|_| chance.of(&GOOD).as_bytes().to_vec()).collect();
    let changed = chance.below(requests.len());
    let bytes = &mut requests[changed];
    for _ in 0..=chance.below(3) {
        // Most interesting are the places where something begins.
        let seams: Vec<usize> = (1..bytes.len()).filter(|at| b"\n :;".contains(&bytes[at - 1])).collect();
        let at = if seams.is_empty() || chance.below(2) == 0 {
            chance.below(bytes.len())
        } else {
            seams[chance.below(seams.len())]
        };
        match chance.below(4) {
            0 | 1 => drop(bytes.splice(at..at, chance.of(&PIECES).bytes())),
            2 => drop(bytes.drain(at..bytes.len().min(at + 1 + chance.below(3)))),
            _ if at < bytes.len() => bytes[at] = b"\0\t\n\r #0:;A\x7f\xc8"[chance.below(12)],
            _ => {}
        }
    }
    requests.concat()
}

/// Requests at the front that are well formed to the last letter.
fn readable(mut bytes: &[u8]) -> usize {
    let mut found = 0;
    loop {
        while let Some(rest) = bytes.strip_prefix(b"\r\n") {
            bytes = rest;
        }
        let Progress::Done((_, used)) = take_request(bytes) else { return found };
        bytes = &bytes[used..];
        found += 1;
    }
}

/// Sends so many of them; how many went wrong.
pub fn run(proxy: &Proxy, recorder: &Recorder, seed: u64, times: usize) -> usize {
    let mut chance = Chance(seed.max(1));
    let (mut arrived, mut wrong) = (0, 0);
    recorder.answer(PLAIN, Then::Keep);
    for _ in 0..times {
        let bytes = mutated(&mut chance);
        recorder.take();
        let patience = speaker::Patience { answer: Duration::from_millis(200), more: Duration::from_millis(30) };
        let heard = speaker::say(proxy.address, &bytes, patience);
        let log = recorder.take();
        arrived += log.requests.len();
        if log.requests.len() > readable(&bytes) || !log.faults.is_empty() || heard.fault.is_some() {
            wrong += 1;
            let lines: Vec<&str> = log.requests.iter().map(|request| request.head.line.as_str()).collect();
            println!(
                "{}: {:?}: {lines:?} arrived; {:?} {:?}",
                proxy.name,
                String::from_utf8_lossy(&bytes),
                log.faults,
                heard.fault
            );
        }
    }
    println!("{}: {times} mutated requests (seed {seed}): {arrived} arrived, {wrong} wrong", proxy.name);
    wrong
}
