//! What the dashboard may look at: read handles and facts, nothing that can be changed from here.

use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::watch;

use super::guard::Hosts;
use crate::audit::Stored;
use crate::certificates::CertificateState;
use crate::rules::status::StatusHandle;
use crate::sensitive::Sensitive;
use crate::stats::Stats;

/// Everything the dashboard is given. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct AdminState {
    /// The figures.
    pub stats: Stats,
    /// The state of the rules.
    pub rules: StatusHandle,
    /// The newest records.
    pub audit: Arc<dyn AuditView>,
    /// What the process is.
    pub system: Arc<System>,
    /// Whether traffic is taken.
    pub lifecycle: Lifecycle,
    /// When set, every page and the metrics ask for it; health and readiness never do.
    pub token: Option<Sensitive<String>>,
    /// The certificate that clients are shown; `None`: they speak clear text.
    pub certificate: Option<watch::Receiver<CertificateState>>,
    /// Under which names the listener answers.
    pub hosts: Hosts,
}

/// Facts about the process that do not change.
#[derive(Debug, Clone)]
pub struct System {
    /// The program's version.
    pub version: String,
    /// When the process started.
    pub started: Timestamp,
    /// What it listens on: purpose and address.
    pub listen: Vec<(String, String)>,
    /// The effective settings, name and value; secrets already hidden.
    pub settings: Vec<(String, String)>,
    /// A command that sends a first request, shown while there was none.
    pub try_line: String,
}

/// How the audit trail does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditHealth {
    /// The newest record in the log; 0: none yet.
    pub last_seq: u64,
    /// Its chain hash.
    pub last_hash: String,
    /// Put down and not yet in the log, in bytes.
    pub pending_bytes: u64,
    /// Exchanges that passed without a record, and records that could not be read back.
    pub lost: u64,
    /// Exchanges refused because there was no room for their record.
    pub refused: u64,
    /// Why the log cannot be written, if so.
    pub failing: Option<String>,
    /// The last thing an operator should look into although writing goes on.
    pub alarm: Option<String>,
}

/// What the dashboard asks of the audit trail.
pub trait AuditView: std::fmt::Debug + Send + Sync + 'static {
    /// Newest first: records older than `before` that pass the filter, at most `limit`.
    fn newest(&self, before: Option<u64>, limit: usize, is_wanted: &dyn Fn(&Stored) -> bool) -> Vec<Stored>;
    /// The record of that id, if it is still at hand.
    fn by_id(&self, id: &str) -> Option<Stored>;
    /// How it does.
    fn health(&self) -> AuditHealth;
}

/// Whether the process takes traffic. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct Lifecycle(Arc<watch::Sender<bool>>);

impl Lifecycle {
    /// Taking traffic.
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// From now on not ready; live streams end.
    pub fn drain(&self) {
        self.0.send_replace(true);
    }

    /// Whether it is shutting down.
    pub fn is_draining(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns once it is.
    pub async fn draining(&self) {
        // INVARIANT: the sender is held by `self`, so waiting cannot fail.
        self.0.subscribe().wait_for(|draining| *draining).await.ok();
    }
}

impl Default for Lifecycle {
    fn default() -> Self {
        Self::new()
    }
}

impl AdminState {
    /// How the certificate stands, if there is one.
    pub(super) fn certificate(&self) -> Option<CertificateState> {
        self.certificate.as_ref().map(|state| state.borrow().clone())
    }

    /// Why no traffic should be sent here, if so.
    pub(super) fn unready(&self) -> Option<String> {
        if self.lifecycle.is_draining() {
            return Some("shutting down".into());
        }
        if self.rules.current().generation == 0 {
            return Some("no rules are loaded".into());
        }
        self.audit.health().failing.map(|why| format!("the audit log cannot be written: {why}"))
    }
}
