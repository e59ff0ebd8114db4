//! A child process is killed, or may not write any more; then the log is looked at.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use super::*;

/// What the child process does; not a test of its own. It commits, and says so, until it is killed.
#[test]
fn child() {
    let Ok(dir) = std::env::var("FIELDGATE_TEST_AUDIT_DIR") else { return };
    let run = std::env::var("FIELDGATE_TEST_AUDIT_RUN").unwrap();
    let small = AuditSettings { rotate_bytes: 200_000, ..settings(Path::new(&dir)) };
    let audit = Audit::open(&small, 2).unwrap();
    if run == "full" {
        return full_disk(&audit);
    }
    let mut out = std::io::stdout().lock();
    for n in 0_u64.. {
        let id = format!("{run}-{n}");
        commit_when_possible(&audit.lanes()[(n % 2) as usize], &id);
        writeln!(out, "committed {id}").unwrap();
    }
}

fn spawn_child(dir: &Path, run: &str) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["audit::tests::crashes::child", "--exact", "--nocapture"])
        .env("FIELDGATE_TEST_AUDIT_DIR", dir)
        .env("FIELDGATE_TEST_AUDIT_RUN", run)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn kill_loses_nothing_and_repeats_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut said = Vec::new();
    for round in 0..12_usize {
        let mut child = spawn_child(dir.path(), &format!("r{round}"));
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Killed after another number of records each time, so at any point of the writer's round.
        let wanted = said.len() + (round * 577) % 1_201 + 1;
        let mut note = |line: std::io::Result<String>| {
            said.extend(line.ok().and_then(|line| Some(line.split_once("committed ")?.1.to_owned())));
            said.len()
        };
        for line in lines.by_ref() {
            if note(line) >= wanted {
                break;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        for line in lines {
            note(line);
        }
    }
    let audit = Audit::open(&settings(dir.path()), 1).unwrap();
    audit.flush_and_stop(Duration::from_secs(10)).unwrap();
    let whole = verified(dir.path());
    let mut written = ids(dir.path());
    assert_eq!(written.len() as u64, whole.records);
    written.sort_unstable();
    let once = written.len();
    written.dedup();
    assert_eq!(written.len(), once, "a record is in the log twice");
    let missing = said.iter().filter(|id| written.binary_search(id).is_err()).count();
    assert_eq!(missing, 0, "of {} records", said.len());
    assert!(said.len() > 1_000, "{}", said.len());
}

/// In the child: files may not grow any more (as on a full disk), then they may again.
fn full_disk(audit: &Audit) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let lane = &audit.lanes()[0];
    let health = audit.health();
    (0..10).for_each(|n| commit_when_possible(lane, &format!("before-{n}")));
    until(|| health.pending_bytes() == 0);
    let before = getrlimit(Resource::Fsize);
    setrlimit(Resource::Fsize, Rlimit { current: Some(10_000), ..before }).unwrap();
    let mut kept = 0;
    until(|| {
        kept += u64::from(lane.reserve().map(|room| room.commit(&sample(&format!("during-{kept}")))).is_ok());
        health.refused() > 0 && health.failing().is_some()
    });
    assert!(kept > 50, "{kept}");
    let failing = health.failing().unwrap();
    assert!(failing.contains("audit-000000000001.jsonl"), "{failing}");
    setrlimit(Resource::Fsize, before).unwrap();
    until(|| health.pending_bytes() == 0 && health.failing().is_none());
    commit_when_possible(lane, "after");
    until(|| health.records_written() == 10 + kept + 1);
}

#[test]
fn a_full_disk_refuses_and_recovers() {
    let dir = tempfile::tempdir().unwrap();
    let output = spawn_child(dir.path(), "full").wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let ids = ids(dir.path());
    assert_eq!(verified(dir.path()).records, ids.len() as u64);
    let during = ids.iter().filter(|id| id.starts_with("during-")).cloned().collect::<Vec<_>>();
    assert_eq!(during, (0..during.len()).map(|n| format!("during-{n}")).collect::<Vec<_>>());
    assert_eq!(ids.len(), 10 + during.len() + 1);
}
