//! TLS towards clients: one certificate for everybody, exchanged for a new one while connections go on. It promises that a
//! pair of files is taken as a whole or not at all, and that a broken pair never replaces a good one.
//!
//! With one certificate there is nothing that the server name of the handshake could choose, so that it is not compared with
//! the Host field: the route is found by Host, and every name is served by the same certificate.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, fs, io};

use arc_swap::ArcSwap;
use jiff::{SignedDuration, Timestamp};
use rustls::ServerConfig;
use rustls::crypto::ring::Ticketer;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::sync::watch;

use crate::certificates::{CertificateError, CertificateState, Identity, provider};

/// A chain of certificates is a few KiB; what is longer is something else.
const LONGEST_FILE: u64 = 1 << 20;
/// From when on the end of the validity is worth a warning.
const SOON: SignedDuration = SignedDuration::from_hours(14 * 24);

/// Where the certificate and its key are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The chain, PEM, its own certificate first.
    pub certificate: PathBuf,
    /// The key, PEM, not encrypted.
    pub key: PathBuf,
}

/// The certificate that is shown to clients, and the files that it comes from.
#[derive(Debug)]
pub struct ServerCertificate {
    files: CertificateFiles,
    shown: Arc<Shown>,
    seen: Mutex<Seen>,
    state: watch::Sender<CertificateState>,
}

#[derive(Debug)]
struct Seen {
    /// What was acted upon last, good or not.
    settled: Reading,
    /// What is there now, if it differs: it may be half written.
    newer: Option<Reading>,
    warned: bool,
}

/// What both files held at one moment. `Err` in words: an error cannot be compared.
type Reading = Result<(Vec<u8>, Vec<u8>), String>;

impl ServerCertificate {
    /// Reads the files for the first time.
    pub fn open(files: CertificateFiles) -> Result<Self, String> {
        let reading = files.read();
        let (identity, certified) = files.identity(&reading)?;
        let shown = Arc::new(Shown(ArcSwap::from_pointee(certified)));
        let state = CertificateState { expires: identity.expires(), refused: None };
        let mut seen = Seen { settled: reading, newer: None, warned: false };
        seen.warn_of_expiry(state.expires);
        Ok(Self { files, shown, seen: Mutex::new(seen), state: watch::Sender::new(state) })
    }

    /// How connections are secured: TLS 1.2 and 1.3, `protocols` offered by ALPN. No early data: it can be replayed.
    pub fn server_config(&self, protocols: &[&[u8]]) -> Result<ServerConfig, rustls::Error> {
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])?
            .with_no_client_auth()
            .with_cert_resolver(self.shown.clone());
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        // Resumption without memory per client.
        config.ticketer = Ticketer::new()?;
        config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
        Ok(config)
    }

    /// Looks at the files. What differs is acted upon at the next look, if it is still the same then: two files are written
    /// one after the other, and a slow writer writes half of one. To be called every second or so.
    pub fn look(&self) {
        let now = self.files.read();
        let mut seen = self.seen();
        if now == seen.settled {
            seen.newer = None;
        } else if seen.newer.as_ref() == Some(&now) {
            seen.newer = None;
            self.settle(&mut seen, now);
        } else {
            seen.newer = Some(now);
        }
        seen.warn_of_expiry(self.state.borrow().expires);
    }

    fn settle(&self, seen: &mut Seen, reading: Reading) {
        match self.files.identity(&reading) {
            Ok((identity, certified)) => {
                self.shown.0.store(Arc::new(certified));
                let expires = identity.expires();
                self.state.send_replace(CertificateState { expires, refused: None });
                seen.warned = false;
                tracing::info!(expires = %text(expires), "a new certificate is shown to clients");
            }
            Err(why) => {
                tracing::error!(%why, "the new certificate is not used: the one before stays");
                self.state.send_modify(|state| state.refused = Some(why));
            }
        }
        seen.settled = reading;
    }

    /// How it stands.
    pub fn state(&self) -> watch::Receiver<CertificateState> {
        self.state.subscribe()
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    /// Once for each certificate, at the start or when the time comes.
    fn warn_of_expiry(&mut self, expires: Option<Timestamp>) {
        let Some(expires) = expires.filter(|_| !self.warned) else { return };
        let left = expires.duration_since(Timestamp::now());
        if left < SignedDuration::ZERO {
            tracing::error!(%expires, "the certificate has expired: clients will refuse it");
        } else if left < SOON {
            tracing::warn!(%expires, "the certificate expires soon");
        }
        self.warned = left < SOON;
    }
}

fn text(expires: Option<Timestamp>) -> String {
    expires.map_or_else(|| "unknown".to_owned(), |at| at.to_string())
}

impl CertificateFiles {
    fn read(&self) -> Reading {
        Ok((read(&self.certificate)?, read(&self.key)?))
    }

    fn identity(&self, reading: &Reading) -> Result<(Identity, CertifiedKey), String> {
        let (chain, key) = reading.as_ref().map_err(Clone::clone)?;
        let told = |error: CertificateError| {
            let path = if error.is_about_key() { &self.key } else { &self.certificate };
            format!("`{}`: {error}", path.display())
        };
        let identity = Identity::read(chain, key).map_err(told)?;
        let certified = identity.certified().map_err(told)?;
        Ok((identity, certified))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        fs::File::open(path)?.take(LONGEST_FILE).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error| format!("`{}` cannot be read: {error}", path.display()))
}

/// What each handshake is given.
struct Shown(ArcSwap<CertifiedKey>);

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shown").finish_non_exhaustive()
    }
}

impl ResolvesServerCert for Shown {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn files(&self) -> CertificateFiles {
            CertificateFiles { certificate: self.0.path().join("cert.pem"), key: self.0.path().join("key.pem") }
        }

        fn write(&self, pair: &(String, String)) {
            fs::write(self.files().certificate, &pair.0).unwrap();
            fs::write(self.files().key, &pair.1).unwrap();
        }
    }

    fn pair() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(["t.example".to_owned()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    fn shown(certificate: &ServerCertificate) -> Vec<u8> {
        certificate.shown.0.load().cert.first().unwrap().to_vec()
    }

    #[test]
    fn a_new_pair_is_taken_when_it_has_settled() {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.write(&pair());
        let certificate = ServerCertificate::open(folder.files()).unwrap();
        let first = shown(&certificate);
        certificate.look();
        assert_eq!(shown(&certificate), first);
        let next = pair();
        fs::write(folder.files().certificate, &next.0).unwrap();
        certificate.look();
        folder.write(&next);
        certificate.look();
        assert_eq!(
            (shown(&certificate), certificate.state().borrow().refused.clone()),
            (first.clone(), None),
            "not the same twice yet"
        );
        certificate.look();
        assert_ne!(shown(&certificate), first);
    }

    #[test]
    fn a_broken_pair_never_replaces_a_good_one() {
        let folder = Folder(tempfile::tempdir().unwrap());
        let good = pair();
        folder.write(&good);
        let certificate = ServerCertificate::open(folder.files()).unwrap();
        let first = shown(&certificate);
        let broken: [&dyn Fn(); 3] =
            [&|| folder.write(&(pair().0, pair().1)), &|| folder.write(&(String::new(), String::new())), &|| {
                fs::remove_file(folder.files().key).unwrap();
            }];
        for (case, spoil) in broken.iter().enumerate() {
            spoil();
            certificate.look();
            certificate.look();
            assert_eq!(shown(&certificate), first, "{case}");
            assert!(certificate.state().borrow().refused.clone().is_some(), "{case}");
        }
        folder.write(&good);
        certificate.look();
        certificate.look();
        assert_eq!(certificate.state().borrow().refused.clone(), None);
    }

    #[test]
    fn the_file_at_fault_is_named() {
        let folder = Folder(tempfile::tempdir().unwrap());
        let error = |pair: (String, String)| {
            folder.write(&pair);
            ServerCertificate::open(folder.files()).unwrap_err()
        };
        assert!(error((pair().0, pair().1)).contains("key.pem`: the private key does not belong"));
        assert!(error((String::new(), pair().1)).contains("cert.pem`: there is no certificate"));
        let missing = CertificateFiles { certificate: "/nowhere/cert.pem".into(), key: "/nowhere/key.pem".into() };
        assert!(ServerCertificate::open(missing).unwrap_err().contains("cannot be read"));
    }
}
