//! What the process was started with: flags, then `FIELDGATE_*` variables, then the settings file, then defaults. Read once;
//! rules are not here, they are reloaded while it runs.

mod value;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ipnet::IpNet;
use serde::Deserialize;

use crate::audit::OnFailure;
use crate::quantity;
use crate::sensitive::Sensitive;

pub use value::{Admin, AuditFailure, LogFormat, Network, SecretSource, Size, Span};

/// Everything that can be set, by flag, variable (`FIELDGATE_` and the flag's name) or key of the settings file (the flag's
/// name with `_`). Nothing is required here; [`Flags::settle`] fills in the defaults.
#[derive(Debug, Clone, Default, clap::Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Flags {
    /// Settings file (YAML); its keys are these flags' names with `_` for `-`
    #[arg(long, env = "FIELDGATE_CONFIG", value_name = "FILE")]
    #[serde(skip)]
    pub config: Option<PathBuf>,
    /// Where clients connect [default: 127.0.0.1:8080, or 0.0.0.0:$PORT where PORT is set]
    #[arg(long, env = "FIELDGATE_LISTEN", value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// Certificate chain (PEM) for clients; with it, the listener speaks TLS, read again when it changes
    #[arg(long, env = "FIELDGATE_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// Private key (PEM, not encrypted) of the certificate
    #[arg(long, env = "FIELDGATE_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// Where the dashboard is, or `off`; beyond loopback it needs a token [default: 127.0.0.1:9090]
    #[arg(long, env = "FIELDGATE_ADMIN", value_name = "ADDR")]
    pub admin: Option<Admin>,
    /// Token for the dashboard and /metrics, as `env:NAME` or `file:PATH`
    #[arg(long, env = "FIELDGATE_ADMIN_TOKEN", value_name = "SOURCE")]
    pub admin_token: Option<SecretSource>,
    /// More names by which the dashboard may be called (Host allow-list), comma-separated
    #[arg(long, env = "FIELDGATE_ADMIN_HOSTS", value_name = "NAMES", value_delimiter = ',')]
    pub admin_hosts: Option<Vec<String>>,
    /// Folder for the audit log [default: `fieldgate-data` beside the rules folder]
    #[arg(long, env = "FIELDGATE_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Worker threads, each with its own connections [default: one per core]
    #[arg(long, env = "FIELDGATE_WORKERS", value_name = "N")]
    pub workers: Option<usize>,
    /// Client connections held open; beyond, new ones wait in the kernel's queue [default: 4096]
    #[arg(long, env = "FIELDGATE_MAX_CONNECTIONS", value_name = "N")]
    pub max_connections: Option<usize>,
    /// For a complete request head, and for an idle connection to send its next [default: 30s]
    #[arg(long, env = "FIELDGATE_HEADER_TIMEOUT", value_name = "TIME")]
    pub header_timeout: Option<Span>,
    /// Longest pause inside a request body [default: 30s]
    #[arg(long, env = "FIELDGATE_BODY_TIMEOUT", value_name = "TIME")]
    pub body_timeout: Option<Span>,
    /// For a client that does not read its answer [default: 60s]
    #[arg(long, env = "FIELDGATE_WRITE_TIMEOUT", value_name = "TIME")]
    pub write_timeout: Option<Span>,
    /// For what is under way when the process is told to stop [default: 10s]
    #[arg(long, env = "FIELDGATE_DRAIN", value_name = "TIME")]
    pub drain: Option<Span>,
    /// For the handshake of TLS [default: 10s]
    #[arg(long, env = "FIELDGATE_TLS_TIMEOUT", value_name = "TIME")]
    pub tls_timeout: Option<Span>,
    /// Requests at a time on one HTTP/2 connection (over TLS only); 0: no HTTP/2 [default: 100]
    #[arg(long, env = "FIELDGATE_HTTP2_STREAMS", value_name = "N")]
    pub http2_streams: Option<u32>,
    /// Largest request head [default: 64KiB]
    #[arg(long, env = "FIELDGATE_HEADER_SIZE", value_name = "SIZE")]
    pub header_size: Option<Size>,
    /// Proxies in front, as addresses or networks, comma-separated: what they say in X-Forwarded-* and Forwarded is believed
    /// [default: none, loopback neither]
    #[arg(long, env = "FIELDGATE_TRUSTED_ADDRESSES", value_name = "NETWORKS", value_delimiter = ',')]
    pub trusted_addresses: Option<Vec<Network>>,
    /// Most fields in a request head [default: 100]
    #[arg(long, env = "FIELDGATE_MAX_HEADERS", value_name = "N")]
    pub max_headers: Option<usize>,
    /// Bodies up to this size are read before they are sent on, with a length; longer ones stream [default: 64KiB]
    #[arg(long, env = "FIELDGATE_BUFFER", value_name = "SIZE")]
    pub buffer: Option<Size>,
    /// Memory for all bodies that are held together, beyond 64KiB each; more is refused with 503 [default: 256MiB]
    #[arg(long, env = "FIELDGATE_BODY_MEMORY", value_name = "SIZE")]
    pub body_memory: Option<Size>,
    /// Deepest nesting of JSON; deeper is malformed [default: 128]
    #[arg(long, env = "FIELDGATE_JSON_DEPTH", value_name = "N")]
    pub json_depth: Option<usize>,
    /// When no audit record can be written: `block` refuses with 503, `pass` lets through and counts [default: block]
    #[arg(long, env = "FIELDGATE_AUDIT_ON_FAILURE", value_name = "WHAT")]
    pub audit_on_failure: Option<AuditFailure>,
    /// Size at which a new audit file begins [default: 64MiB]
    #[arg(long, env = "FIELDGATE_AUDIT_ROTATE", value_name = "SIZE")]
    pub audit_rotate: Option<Size>,
    /// Memory-mapped journal per worker; 4KiB are reserved for each exchange under way [default: 4MiB]
    #[arg(long, env = "FIELDGATE_AUDIT_JOURNAL", value_name = "SIZE")]
    pub audit_journal: Option<Size>,
    /// Longest wait for room in the journal before an exchange is refused [default: 1s]
    #[arg(long, env = "FIELDGATE_AUDIT_WAIT", value_name = "TIME")]
    pub audit_wait: Option<Span>,
    /// `human`, `json`, or `auto`: human on a terminal [default: auto]
    #[arg(long, env = "FIELDGATE_LOG", value_name = "FORMAT")]
    pub log: Option<LogFormat>,
    /// What is logged: error, warn, info, debug, trace, or a filter such as `fieldgate=debug` [default: info]
    #[arg(long, env = "FIELDGATE_LOG_LEVEL", value_name = "FILTER")]
    pub log_level: Option<String>,
}

/// The settings in force.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where clients connect.
    pub listen: SocketAddr,
    /// What TLS is spoken with; `None`: clear text.
    pub tls: Option<TlsFiles>,
    /// Where the dashboard is; `None`: nowhere.
    pub admin: Option<SocketAddr>,
    /// What the dashboard asks for; `None`: nothing.
    pub admin_token: Option<Sensitive<String>>,
    /// More names for the dashboard.
    pub admin_hosts: Vec<String>,
    /// Where the audit log is.
    pub data: PathBuf,
    /// Worker threads.
    pub workers: usize,
    /// See [`Flags::max_connections`].
    pub max_connections: usize,
    /// See [`Flags::header_timeout`].
    pub header_timeout: Duration,
    /// See [`Flags::body_timeout`].
    pub body_timeout: Duration,
    /// See [`Flags::write_timeout`].
    pub write_timeout: Duration,
    /// See [`Flags::drain`].
    pub drain: Duration,
    /// See [`Flags::tls_timeout`].
    pub tls_timeout: Duration,
    /// See [`Flags::http2_streams`].
    pub http2_streams: u32,
    /// See [`Flags::header_size`], in bytes.
    pub header_size: usize,
    /// See [`Flags::max_headers`].
    pub max_headers: usize,
    /// See [`Flags::trusted_addresses`].
    pub trusted_addresses: Vec<IpNet>,
    /// See [`Flags::buffer`], in bytes.
    pub buffer: usize,
    /// See [`Flags::body_memory`], in bytes.
    pub body_memory: usize,
    /// See [`Flags::json_depth`].
    pub json_depth: usize,
    /// See [`Flags::audit_on_failure`].
    pub audit_on_failure: OnFailure,
    /// See [`Flags::audit_rotate`], in bytes.
    pub audit_rotate: u64,
    /// See [`Flags::audit_journal`], in bytes.
    pub audit_journal: u64,
    /// See [`Flags::audit_wait`].
    pub audit_wait: Duration,
    /// See [`Flags::log`].
    pub log: LogFormat,
    /// See [`Flags::log_level`].
    pub log_level: String,
}

/// Where the certificate for clients is, and its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// See [`Flags::tls_cert`].
    pub certificate: PathBuf,
    /// See [`Flags::tls_key`].
    pub key: PathBuf,
}

/// Why the process cannot start with these settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError(pub String);

impl std::fmt::Display for SettingsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}

/// Takes each setting from the first that has it.
macro_rules! first_of {
    ($flags:expr, $file:expr; $($name:ident),* $(,)?) => { Flags { config: $flags.config, $($name: $flags.$name.or($file.$name)),* } };
}

impl Flags {
    /// Reads the settings file, if there is one, fills in the defaults and checks that they go together. `data` is the
    /// default data folder.
    pub fn settle(self, data: &Path) -> Result<Settings, SettingsError> {
        let file = self.config.as_deref().map(read_file).transpose()?.unwrap_or_default();
        let flags = first_of!(self, file; listen, admin, admin_token, admin_hosts, data, workers, max_connections,
            header_timeout, body_timeout, write_timeout, drain, tls_cert, tls_key, tls_timeout, http2_streams, header_size,
            max_headers, trusted_addresses, buffer, body_memory, json_depth,
            audit_on_failure, audit_rotate, audit_journal, audit_wait, log, log_level);
        let settings = Settings {
            listen: flags.listen.map_or_else(default_listen, Ok)?,
            tls: tls_files(flags.tls_cert, flags.tls_key)?,
            admin: flags.admin.unwrap_or(Admin(Some((Ipv4Addr::LOCALHOST, 9090).into()))).0,
            admin_token: flags.admin_token.map(|source| source.read()).transpose()?,
            admin_hosts: flags.admin_hosts.unwrap_or_default(),
            data: flags.data.unwrap_or_else(|| data.to_owned()),
            workers: flags.workers.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
            max_connections: flags.max_connections.unwrap_or(4096),
            header_timeout: span(flags.header_timeout, 30),
            body_timeout: span(flags.body_timeout, 30),
            write_timeout: span(flags.write_timeout, 60),
            drain: span(flags.drain, 10),
            tls_timeout: span(flags.tls_timeout, 10),
            http2_streams: flags.http2_streams.unwrap_or(100),
            header_size: flags.header_size.map_or(64 << 10, |s| s.0 as usize),
            max_headers: flags.max_headers.unwrap_or(100),
            trusted_addresses: flags
                .trusted_addresses
                .unwrap_or_default()
                .into_iter()
                .map(|network| network.0)
                .collect(),
            buffer: flags.buffer.map_or(64 << 10, |s| s.0 as usize),
            body_memory: flags.body_memory.map_or(256 << 20, |s| s.0 as usize),
            json_depth: flags.json_depth.unwrap_or(128),
            audit_on_failure: flags.audit_on_failure.map_or(OnFailure::Block, |f| f.0),
            audit_rotate: flags.audit_rotate.map_or(64 << 20, |s| s.0),
            audit_journal: flags.audit_journal.map_or(4 << 20, |s| s.0),
            audit_wait: span(flags.audit_wait, 1),
            log: flags.log.unwrap_or_default(),
            log_level: flags.log_level.unwrap_or_else(|| "info".to_owned()),
        };
        settings.check()?;
        Ok(settings)
    }
}

impl Settings {
    fn check(&self) -> Result<(), SettingsError> {
        let in_range = |name: &str, value: u64, least: u64, most: u64| {
            if (least..=most).contains(&value) {
                Ok(())
            } else {
                Err(SettingsError(format!("`{name}` is {value}; it must be {least} to {most}")))
            }
        };
        in_range("workers", self.workers as u64, 1, 256)?;
        in_range("max-connections", self.max_connections as u64, 1, 1_000_000)?;
        in_range("http2-streams", u64::from(self.http2_streams), 0, 10_000)?;
        in_range("max-headers", self.max_headers as u64, 8, 1000)?;
        in_range("header-size", self.header_size as u64, 8 << 10, 1 << 20)?;
        in_range("buffer", self.buffer as u64, 1 << 10, 64 << 20)?;
        in_range("body-memory", self.body_memory as u64, 1 << 20, 1 << 40)?;
        in_range("json-depth", self.json_depth as u64, 1, 10_000)?;
        in_range("audit-journal", self.audit_journal, 64 << 10, 1 << 30)?;
        in_range("audit-rotate", self.audit_rotate, 64 << 10, 1 << 40)?;
        match self.admin {
            // SECURITY: the dashboard shows who asked for what; beyond this machine it needs a key.
            Some(admin) if !admin.ip().is_loopback() && self.admin_token.is_none() => Err(SettingsError(format!(
                "the dashboard would be open to the network on {admin}; give it a token \
                 (`--admin-token file:PATH`) or bind it to 127.0.0.1"
            ))),
            _ => Ok(()),
        }
    }

    /// Each setting by name, for the dashboard; secrets only as set or not.
    pub fn listing(&self) -> Vec<(String, String)> {
        let time = quantity::duration_text;
        let size = |n: usize| quantity::size_text(n as u64);
        let token = if self.admin_token.is_some() { "set" } else { "not set" };
        [
            ("listen", self.listen.to_string()),
            (
                "tls-cert",
                self.tls.as_ref().map_or_else(|| "off".to_owned(), |tls| tls.certificate.display().to_string()),
            ),
            ("tls-key", if self.tls.is_some() { "set" } else { "not set" }.to_owned()),
            ("tls-timeout", time(self.tls_timeout)),
            ("http2-streams", self.http2_streams.to_string()),
            ("admin", self.admin.map_or_else(|| "off".to_owned(), |a| a.to_string())),
            ("admin-token", token.to_owned()),
            ("admin-hosts", self.admin_hosts.join(", ")),
            ("data", self.data.display().to_string()),
            ("workers", self.workers.to_string()),
            ("max-connections", self.max_connections.to_string()),
            ("header-timeout", time(self.header_timeout)),
            ("body-timeout", time(self.body_timeout)),
            ("write-timeout", time(self.write_timeout)),
            ("drain", time(self.drain)),
            ("header-size", size(self.header_size)),
            ("max-headers", self.max_headers.to_string()),
            ("trusted-addresses", self.trusted_addresses.iter().map(IpNet::to_string).collect::<Vec<_>>().join(", ")),
            ("buffer", size(self.buffer)),
            ("body-memory", size(self.body_memory)),
            ("json-depth", self.json_depth.to_string()),
            (
                "audit-on-failure",
                match self.audit_on_failure {
                    OnFailure::Block => "block",
                    OnFailure::Pass => "pass",
                }
                .to_owned(),
            ),
            ("audit-rotate", quantity::size_text(self.audit_rotate)),
            ("audit-journal", quantity::size_text(self.audit_journal)),
            ("audit-wait", time(self.audit_wait)),
            ("log", self.log.name().to_owned()),
            ("log-level", self.log_level.clone()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }
}

fn read_file(path: &Path) -> Result<Flags, SettingsError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| SettingsError(format!("the settings file `{}` cannot be read: {error}", path.display())))?;
    if text.trim().is_empty() {
        return Ok(Flags::default());
    }
    serde_saphyr::from_str(&text).map_err(|error| SettingsError(format!("settings file `{}`: {error}", path.display())))
}

/// Platforms that give the port in `PORT` route to it from outside the container.
fn default_listen() -> Result<SocketAddr, SettingsError> {
    match std::env::var("PORT") {
        Ok(port) => port
            .parse::<u16>()
            .map(|port| (Ipv4Addr::UNSPECIFIED, port).into())
            .map_err(|_| SettingsError(format!("the variable PORT is `{port}`; it must be a port number, 0 to 65535"))),
        Err(_) => Ok((Ipv4Addr::LOCALHOST, 8080).into()),
    }
}

fn tls_files(certificate: Option<PathBuf>, key: Option<PathBuf>) -> Result<Option<TlsFiles>, SettingsError> {
    match (certificate, key) {
        (Some(certificate), Some(key)) => Ok(Some(TlsFiles { certificate, key })),
        (None, None) => Ok(None),
        // SECURITY: half of it must not mean clear text.
        (Some(_), None) => Err(SettingsError("`tls-cert` needs `tls-key`: where is the private key?".to_owned())),
        (None, Some(_)) => Err(SettingsError("`tls-key` needs `tls-cert`: where is the certificate?".to_owned())),
    }
}

fn span(given: Option<Span>, default_seconds: u64) -> Duration {
    given.map_or(Duration::from_secs(default_seconds), |s| s.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settle(yaml: &str, flags: Flags) -> Result<Settings, SettingsError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.yaml");
        std::fs::write(&path, yaml).unwrap();
        Flags { config: Some(path), ..flags }.settle(Path::new("data"))
    }

    #[test]
    fn flags_win_over_the_file_and_the_file_over_defaults() {
        let flags = Flags { drain: Some(Span(Duration::from_secs(3))), ..Flags::default() };
        let text = "drain: 5s\nbuffer: 128KiB\nadmin: off\ntrusted_addresses: [10.0.0.0/8, '::1']\n";
        let settings = settle(text, flags).unwrap();
        assert_eq!(settings.trusted_addresses, ["10.0.0.0/8", "::1/128"].map(|n| n.parse::<IpNet>().unwrap()));
        assert_eq!(settings.drain, Duration::from_secs(3));
        assert_eq!(settings.buffer, 128 << 10);
        assert_eq!(settings.admin, None);
        assert_eq!(settings.max_headers, 100);
    }

    #[test]
    fn mistakes_are_named() {
        let error = |yaml: &str| settle(yaml, Flags::default()).unwrap_err().0;
        assert!(error("drian: 5s").contains("drian"));
        assert!(error("drain: 5").contains("length of time"));
        assert!(error("trusted_addresses: [10.0.0.0/33]").contains("10.0.0.0/33"));
        assert!(error("workers: 0").contains("1 to 256"));
        assert!(error("admin: 0.0.0.0:9090").contains("token"));
        assert!(error("tls_cert: a.pem").contains("private key"));
        assert!(error("tls_key: a.pem").contains("certificate"));
        assert!(error("admin_token: hunter2-hunter2-hunter2").contains("env:NAME"));
    }
}
