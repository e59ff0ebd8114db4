//! Certificates made for a test, and TLS put before whatever speaks clear text: a plain client through it, a plain upstream
//! behind it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// Somebody who issues certificates.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate with its key, PEM.
pub struct Pair {
    /// The certificate.
    pub cert: String,
    /// The key.
    pub key: String,
}

impl Authority {
    /// A new one, whom nobody knows yet.
    pub fn new() -> Self {
        let mut params = CertificateParams::new([]).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().expect("key")).expect("authority"))
    }

    /// Its own certificate, PEM.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for this name.
    pub fn issue(&self, name: &str) -> Pair {
        self.issue_with(name, |_| ())
    }

    /// A certificate for this name that ended long ago.
    pub fn issue_expired(&self, name: &str) -> Pair {
        self.issue_with(name, |params| {
            params.not_before = rcgen::date_time_ymd(2020, 1, 1);
            params.not_after = rcgen::date_time_ymd(2020, 2, 1);
        })
    }

    fn issue_with(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Pair {
        let mut params = CertificateParams::new([name.to_owned()]).expect("parameters");
        change(&mut params);
        let key = KeyPair::generate().expect("key");
        Pair { cert: params.signed_by(&key, &self.0).expect("certificate").pem(), key: key.serialize_pem() }
    }

    /// A client that trusts nobody else and offers these protocols.
    pub fn client(&self, protocols: &[&str]) -> ClientConfig {
        self.client_of(protocols, rustls::ALL_VERSIONS)
    }

    /// The same with these versions of TLS.
    pub fn client_of(
        &self,
        protocols: &[&str],
        versions: &[&'static rustls::SupportedProtocolVersion],
    ) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).expect("authority");
        let mut config = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(versions)
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        config
    }

    /// A verifier of clients that this authority knows.
    pub fn clients(&self) -> Arc<dyn rustls::server::danger::ClientCertVerifier> {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).expect("authority");
        rustls::server::WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider())
            .build()
            .expect("verifier")
    }
}

impl Pair {
    /// A certificate that nobody but itself vouches for.
    pub fn self_signed(name: &str) -> Self {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).expect("certificate");
        Self { cert: made.cert.pem(), key: made.signing_key.serialize_pem() }
    }

    /// Writes both files and tells where they are.
    pub fn write_to(&self, folder: &Path) -> (PathBuf, PathBuf) {
        let (cert, key) = (folder.join("cert.pem"), folder.join("key.pem"));
        std::fs::write(&cert, &self.cert).expect("certificate file");
        std::fs::write(&key, &self.key).expect("key file");
        (cert, key)
    }

    /// A server that shows it, to clients that this verifier lets in.
    pub fn server(
        &self,
        protocols: &[&str],
        clients: Option<Arc<dyn rustls::server::danger::ClientCertVerifier>>,
    ) -> ServerConfig {
        let builder =
            ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions().expect("versions");
        let builder = match clients {
            Some(verifier) => builder.with_client_cert_verifier(verifier),
            None => builder.with_no_client_auth(),
        };
        let chain = vec![CertificateDer::from_pem_slice(self.cert.as_bytes()).expect("certificate")];
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).expect("key");
        let mut config = builder.with_single_cert(chain, key).expect("pair");
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        config
    }
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// An address where a plain client reaches `secure` through TLS.
pub fn through(config: ClientConfig, secure: SocketAddr) -> SocketAddr {
    let connector = TlsConnector::from(Arc::new(config));
    relay(move |plain| {
        let connector = connector.clone();
        async move {
            let tcp = TcpStream::connect(secure).await?;
            join(plain, connector.connect(name(), tcp).await?).await
        }
    })
}

/// An address where a client of TLS reaches `plain`.
pub fn before(config: ServerConfig, plain: SocketAddr) -> SocketAddr {
    let acceptor = TlsAcceptor::from(Arc::new(config));
    relay(move |tcp| {
        let acceptor = acceptor.clone();
        async move {
            let secure = acceptor.accept(tcp).await?;
            join(secure, TcpStream::connect(plain).await?).await
        }
    })
}

/// What the tests' certificates are for.
pub fn name() -> ServerName<'static> {
    ServerName::try_from("localhost").expect("name")
}

async fn join(
    mut one: impl AsyncRead + AsyncWrite + Unpin,
    mut other: impl AsyncRead + AsyncWrite + Unpin,
) -> std::io::Result<()> {
    copy_bidirectional(&mut one, &mut other).await.map(drop)
}

/// Hands each connection to `serve`, for as long as the tests run.
pub fn relay<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = std::io::Result<()>> + 'static,
{
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("bind");
    let address = listener.local_addr().expect("address");
    listener.set_nonblocking(true).expect("nonblocking");
    std::thread::spawn(move || {
        let local = tokio::task::LocalSet::new();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
        local.block_on(&runtime, async move {
            let listener = TcpListener::from_std(listener).expect("listener");
            while let Ok((stream, _)) = listener.accept().await {
                let served = serve(stream);
                tokio::task::spawn_local(async move { drop(served.await) });
            }
        });
    });
    address
}
