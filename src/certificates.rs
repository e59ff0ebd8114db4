//! Certificates and private keys as they stand in PEM files: read, checked against each other, and how long they last. It
//! promises that no part of a key gets into a message; it refuses to know sockets and who is shown what.

use std::fmt;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error as TlsError, InconsistentKeys};
use x509_cert::Certificate;
use x509_cert::der::Decode;

use crate::sensitive::Sensitive;

/// The one provider of cryptography, for listeners and upstreams alike.
pub fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    Arc::clone(PROVIDER.get_or_init(|| Arc::new(rustls::crypto::ring::default_provider())))
}

/// A certificate chain with the private key that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: Arc<Sensitive<PrivateKeyDer<'static>>>,
}

/// What an operator should know of a certificate that is shown to others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CertificateState {
    /// The last moment of its validity, where it can be read.
    pub expires: Option<Timestamp>,
    /// Why the files that are there now are not used.
    pub refused: Option<String>,
}

/// Why PEM cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificateError {
    /// There is no certificate.
    NoCertificate,
    /// A certificate cannot be read.
    BadCertificate,
    /// There is no private key.
    NoKey,
    /// The key needs a passphrase.
    EncryptedKey,
    /// The key cannot be read, or is of a kind that nobody should use.
    BadKey,
    /// The key belongs to another certificate.
    Mismatch,
}

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoCertificate => "there is no certificate in it (PEM, `-----BEGIN CERTIFICATE-----`)",
            Self::BadCertificate => "a certificate in it cannot be read",
            Self::NoKey => "there is no private key in it (PEM, `-----BEGIN PRIVATE KEY-----`)",
            Self::EncryptedKey => "the private key is encrypted; decrypt it with `openssl pkey -in KEY -out PLAIN`",
            Self::BadKey => "the private key cannot be used (RSA of 2048 bits or more, ECDSA P-256 or P-384, Ed25519)",
            Self::Mismatch => "the private key does not belong to the first certificate",
        })
    }
}

impl std::error::Error for CertificateError {}

impl CertificateError {
    /// Whether it is the file of the key that must be mended, not the file of the certificate.
    pub const fn is_about_key(self) -> bool {
        match self {
            Self::NoKey | Self::EncryptedKey | Self::BadKey | Self::Mismatch => true,
            Self::NoCertificate | Self::BadCertificate => false,
        }
    }
}

impl Identity {
    /// Reads a chain, its own certificate first, and the key of that one.
    pub fn read(chain: &[u8], key: &[u8]) -> Result<Self, CertificateError> {
        let identity = Self { chain: certificates(chain)?, key: Arc::new(Sensitive::new(private_key(key)?)) };
        identity.certified().map(|_| identity)
    }

    /// The chain, its own certificate first.
    pub fn chain(&self) -> &[CertificateDer<'static>] {
        &self.chain
    }

    /// The key.
    pub fn key(&self) -> PrivateKeyDer<'static> {
        self.key.expose().clone_key()
    }

    /// Ready to sign handshakes.
    pub fn certified(&self) -> Result<CertifiedKey, CertificateError> {
        #[expect(clippy::wildcard_enum_match_arm, reason = "the enum is open, and all the rest speaks of the key")]
        CertifiedKey::from_der(self.chain.clone(), self.key(), &provider()).map_err(|error| match error {
            TlsError::InconsistentKeys(InconsistentKeys::KeyMismatch) => CertificateError::Mismatch,
            TlsError::InvalidCertificate(_) => CertificateError::BadCertificate,
            _ => CertificateError::BadKey,
        })
    }

    /// The last moment of the certificate's validity, where it can be read.
    pub fn expires(&self) -> Option<Timestamp> {
        let certificate = Certificate::from_der(self.chain.first()?).ok()?;
        let seconds = certificate.tbs_certificate().validity().not_after.to_unix_duration().as_secs();
        Timestamp::from_second(i64::try_from(seconds).ok()?).ok()
    }
}

/// All certificates in a PEM text, at least one. What else stands there is passed over.
pub fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let found: Vec<_> =
        CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().map_err(|_| CertificateError::BadCertificate)?;
    // The end of validity is not asked for here; that it can be read shows that it is a certificate at all.
    let readable = |der: &CertificateDer<'_>| Certificate::from_der(der).is_ok();
    match found.as_slice() {
        [] => Err(CertificateError::NoCertificate),
        all if all.iter().all(readable) => Ok(found),
        _ => Err(CertificateError::BadCertificate),
    }
}

fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, CertificateError> {
    // Both forms say so: PKCS#8 in its first line, older ones in a header (RFC 1421).
    if memchr::memmem::find(pem, b"ENCRYPTED").is_some() {
        return Err(CertificateError::EncryptedKey);
    }
    match PrivateKeyDer::pem_slice_iter(pem).next() {
        Some(Ok(key)) => Ok(key),
        Some(Err(_)) => Err(CertificateError::BadKey),
        None => Err(CertificateError::NoKey),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(["t.example".to_owned()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    fn read(chain: &str, key: &str) -> Result<Identity, CertificateError> {
        Identity::read(chain.as_bytes(), key.as_bytes())
    }

    #[test]
    fn a_pair_is_read_and_never_shown() {
        let (chain, key) = pair();
        let identity = read(&chain, &key).unwrap();
        assert_eq!(identity.chain().len(), 1);
        assert!(identity.expires().unwrap() > Timestamp::now());
        assert!(format!("{identity:?}").contains("[sensitive]"));
        assert_eq!(identity, read(&chain, &key).unwrap());
    }

    #[test]
    fn what_is_wrong_is_told() {
        use CertificateError as E;
        let ((chain, key), (_, other)) = (pair(), pair());
        let encrypted = |label: &str| key.replace("PRIVATE KEY", label);
        let legacy = key.replacen("-----\n", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n", 1);
        let cut = chain.lines().take(4).collect::<Vec<_>>().join("\n");
        let junk = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for (chain, key, expected) in [
            ("", &*key, E::NoCertificate),
            (&key, &key, E::NoCertificate),
            (&cut, &key, E::BadCertificate),
            (junk, &key, E::BadCertificate),
            (&chain, "", E::NoKey),
            (&chain, &chain, E::NoKey),
            (&chain, &encrypted("ENCRYPTED PRIVATE KEY"), E::EncryptedKey),
            (&chain, &legacy, E::EncryptedKey),
            (&chain, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", E::BadKey),
            (&chain, &other, E::Mismatch),
        ] {
            assert_eq!(read(chain, key), Err(expected), "{chain} {}", key.len());
        }
    }
}
