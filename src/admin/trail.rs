//! The dashboard's view of the running audit trail, made of the trail's own read handles.

use super::{AuditHealth, AuditView};
use crate::audit::{Audit, Health, Recent, Stored};

/// Read handles of an [`Audit`].
#[derive(Debug, Clone)]
pub struct Trail {
    recent: Recent,
    health: Health,
}

impl Trail {
    /// Looks at `audit`; it keeps working, and shows the last state, when that has been closed.
    pub fn of(audit: &Audit) -> Self {
        Self { recent: audit.recent(), health: audit.health() }
    }
}

impl AuditView for Trail {
    fn newest(&self, before: Option<u64>, limit: usize, is_wanted: &dyn Fn(&Stored) -> bool) -> Vec<Stored> {
        self.recent.newest(before, limit, is_wanted)
    }

    fn by_id(&self, id: &str) -> Option<Stored> {
        self.recent.by_id(id)
    }

    fn health(&self) -> AuditHealth {
        AuditHealth {
            last_seq: self.health.last_seq(),
            last_hash: self.health.last_hash(),
            pending_bytes: self.health.pending_bytes(),
            lost: self.health.lost(),
            refused: self.health.refused(),
            failing: self.health.failing(),
            alarm: self.health.alarm(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::AuditSettings;

    #[test]
    fn a_new_trail_is_empty_and_well() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::open(&AuditSettings::in_dir(folder.path()), 1).unwrap();
        let trail = Trail::of(&audit);
        let health = trail.health();
        assert_eq!((health.last_seq, health.lost, health.failing, health.alarm), (0, 0, None, None));
        assert!(trail.newest(None, 10, &|_| true).is_empty() && trail.by_id("x").is_none());
        audit.flush_and_stop(std::time::Duration::from_secs(10)).unwrap();
    }
}
