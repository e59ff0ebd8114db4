//! A client of HTTP/2 that does what a test says, down to the frame.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use http::{HeaderMap, Request};
use rustls::ClientConfig;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::tls;

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The fields.
    pub headers: HeaderMap,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// A field, as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body, as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A connection.
pub struct Client {
    /// Sends requests.
    pub send: SendRequest<Bytes>,
    /// Ends with the connection, and says how.
    pub ended: JoinHandle<Result<(), h2::Error>>,
}

/// Runs a test's conversation, at most thirty seconds.
pub fn talk<T>(conversation: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
    let talk = async { tokio::time::timeout(Duration::from_secs(30), conversation).await.expect("it took too long") };
    runtime.block_on(talk)
}

/// Waits for a condition while the conversation goes on.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Connects with TLS, and nothing yet inside.
pub async fn secure(config: &ClientConfig, address: SocketAddr) -> TlsStream<TcpStream> {
    let tcp = TcpStream::connect(address).await.expect("connect");
    TlsConnector::from(Arc::new(config.clone())).connect(tls::name(), tcp).await.expect("handshake")
}

impl Client {
    /// Connects.
    pub async fn open(config: &ClientConfig, address: SocketAddr) -> Self {
        Self::open_with(config, address, &Builder::new()).await
    }

    /// Connects with these settings.
    pub async fn open_with(config: &ClientConfig, address: SocketAddr, settings: &Builder) -> Self {
        let stream = secure(config, address).await;
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let (send, connection) = settings.handshake(stream).await.expect("preface");
        Self { send, ended: tokio::spawn(connection) }
    }

    /// Asks for a path.
    pub async fn get(&self, path: &str) -> Result<Answer, h2::Error> {
        self.ask(get(path), Bytes::new()).await
    }

    /// Asks.
    pub async fn ask(&self, request: Request<()>, body: Bytes) -> Result<Answer, h2::Error> {
        let mut send = self.send.clone().ready().await?;
        let (answer, mut stream) = send.send_request(request, body.is_empty())?;
        if !body.is_empty() {
            stream.send_data(body, true)?;
        }
        let (head, mut stream) = answer.await?.into_parts();
        let mut body = Vec::new();
        while let Some(data) = stream.data().await {
            let data = data?;
            stream.flow_control().release_capacity(data.len())?;
            body.extend_from_slice(&data);
        }
        Ok(Answer { status: head.status.as_u16(), headers: head.headers, body })
    }
}

/// A request for a path.
pub fn get(path: &str) -> Request<()> {
    Request::get(format!("https://t.example{path}")).body(()).expect("request")
}

/// One frame (RFC 9113 section 4.1).
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("length").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Connects and sends the preface with empty settings; what follows is up to the test.
pub async fn raw(config: &ClientConfig, address: SocketAddr) -> TlsStream<TcpStream> {
    let mut stream = secure(config, address).await;
    let preface = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".as_slice(), &frame(4, 0, 0, b"")].concat();
    stream.write_all(&preface).await.expect("preface");
    stream
}
