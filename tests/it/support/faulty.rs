//! An upstream that does with each connection whatever a test says, below HTTP.

use std::io::Read;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};

/// The upstream. It lives as long as the test process.
pub struct Faulty {
    /// Where it listens.
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Faulty {
    /// Hands each connection to `serve`, on a thread of its own.
    pub fn new(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address");
        let connections = Arc::new(AtomicUsize::new(0));
        let (serve, count) = (Arc::new(serve), Arc::clone(&connections));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let serve = Arc::clone(&serve);
                drop(stream.set_nodelay(true));
                std::thread::spawn(move || serve(stream));
            }
        });
        Self { address, connections }
    }

    /// Connections accepted so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// An address where nobody listens, nor will as long as the test process lives.
pub fn closed_port() -> SocketAddr {
    let bound = socket(AddressFamily::INET, SocketType::STREAM, None).expect("socket");
    bind(&bound, &SocketAddr::from(([127, 0, 0, 1], 0))).expect("bind");
    let address = getsockname(&bound).expect("address").try_into().expect("an internet address");
    // Bound and not listening: every connection is refused, and nobody else can be given the port.
    std::mem::forget(bound);
    address
}

/// An address where nothing is refused and nothing accepted, as long as what comes back is kept.
pub fn black_hole() -> (SocketAddr, impl Sized) {
    let listener = socket(AddressFamily::INET, SocketType::STREAM, None).expect("socket");
    bind(&listener, &SocketAddr::from(([127, 0, 0, 1], 0))).expect("bind");
    listen(&listener, 0).expect("listen");
    let listener = TcpListener::from(listener);
    let address = listener.local_addr().expect("address");
    let mut waiting = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
        waiting.push(stream);
    }
    (address, (listener, waiting))
}

/// Reads one request without a body. `None`: the connection has ended, or nothing came in time.
pub fn request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    while !bytes.windows(4).any(|window| window == b"\r\n\r\n") {
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&chunk[..read]),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Ends a connection with a reset.
pub fn reset(stream: TcpStream) {
    set_socket_linger(&stream, Some(Duration::ZERO)).expect("linger");
    drop(stream);
}
