//! The trail as a whole: nothing lost, nothing twice, nothing unnoticed.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::verify::{Broken, Flaw, Front, Verified, verify};
use super::*;

mod crashes;
mod edits;
mod ring;

fn settings(dir: &Path) -> AuditSettings {
    AuditSettings { journal_bytes: 64 << 10, ..AuditSettings::in_dir(dir) }
}

fn commit(lane: &Arc<Lane>, id: &str) {
    lane.reserve().unwrap().commit(&sample(id));
}

/// Commits, however small the journal is.
fn commit_when_possible(lane: &Arc<Lane>, id: &str) {
    until(|| lane.reserve().map(|room| room.commit(&sample(id))).is_ok());
}

fn until(mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "it did not come true in time");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

fn verified(dir: &Path) -> Verified {
    verify(dir, Front::Whole).unwrap().unwrap()
}

fn broken(dir: &Path) -> Broken {
    verify(dir, Front::Whole).unwrap().unwrap_err()
}

fn ids(dir: &Path) -> Vec<String> {
    last_records(dir, 1_000_000).unwrap().into_iter().map(|one| one.record.id.into_owned()).collect()
}

fn write_log(dir: &Path, settings: &AuditSettings, count: usize) {
    let audit = Audit::open(settings, 1).unwrap();
    for n in 0..count {
        commit_when_possible(&audit.lanes()[0], &format!("id-{n}"));
    }
    audit.flush_and_stop(Duration::from_secs(10)).unwrap();
    assert_eq!(verified(dir).records, count as u64);
}

#[test]
fn what_is_committed_is_in_the_log_and_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let audit = Audit::open(&settings(dir.path()), 2).unwrap();
    commit(&audit.lanes()[0], "a");
    commit(&audit.lanes()[1], "b");
    commit(&audit.lanes()[0], "c");
    until(|| audit.recent().len() == 3);
    let health = audit.health();
    assert_eq!((health.last_seq(), health.records_written(), health.pending_bytes()), (3, 3, 0));
    assert_eq!(audit.recent().by_id("b").unwrap().record, sample("b"));
    let live = verified(dir.path());
    assert!(live.is_live);
    audit.flush_and_stop(Duration::from_secs(10)).unwrap();
    let whole = verified(dir.path());
    assert_eq!((whole.records, whole.first_seq, whole.last_seq, whole.files), (3, 1, 3, 1));
    assert_eq!(whole.last_hash, health.last_hash());
    assert_eq!(ids(dir.path()), ["a", "b", "c"]);
}

#[test]
fn the_chain_goes_on_over_restarts_and_files() {
    let dir = tempfile::tempdir().unwrap();
    let small = AuditSettings { rotate_bytes: 4096, ..settings(dir.path()) };
    for round in 0..5 {
        let audit = Audit::open(&small, 1 + round % 3).unwrap();
        for n in 0..40 {
            commit_when_possible(audit.lanes().last().unwrap(), &format!("{round}-{n}"));
            if n % 7 == 0 {
                until(|| audit.health().pending_bytes() == 0);
            }
        }
        audit.flush_and_stop(Duration::from_secs(10)).unwrap();
    }
    let whole = verified(dir.path());
    assert_eq!(whole.records, 200);
    assert!(whole.files > 5, "{whole:?}");
    let audit = Audit::open(&small, 1).unwrap();
    assert_eq!(audit.recent().newest(None, 1, |_| true)[0].seq, 200);
}

#[test]
fn a_folder_has_one_process() {
    let dir = tempfile::tempdir().unwrap();
    let _first = Audit::open(&settings(dir.path()), 1).unwrap();
    let second = Audit::open(&settings(dir.path()), 1).unwrap_err();
    assert!(matches!(second, AuditError::Taken(_)));
    assert!(second.to_string().contains(&dir.path().display().to_string()), "{second}");
}

#[test]
fn room_runs_out_and_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let audit = Audit::open(&settings(dir.path()), 1).unwrap();
    let lane = &audit.lanes()[0];
    let mut rooms: Vec<Reservation> = (0..16).map(|_| lane.reserve().unwrap()).collect();
    assert_eq!(lane.reserve().unwrap_err(), AuditFull);
    assert_eq!(audit.health().refused(), 1);
    rooms.pop();
    let room = lane.reserve().unwrap();
    room.commit(&sample("a"));
    until(|| audit.health().pending_bytes() == 0);
    drop(rooms);
    let again: Vec<Reservation> = (0..16).map(|_| lane.reserve().unwrap()).collect();
    assert!(lane.reserve().is_err());
    drop(again);
}

#[test]
fn passing_counts_what_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let open = AuditSettings { on_failure: OnFailure::Pass, ..settings(dir.path()) };
    let audit = Audit::open(&open, 1).unwrap();
    let lane = &audit.lanes()[0];
    let rooms: Vec<Reservation> = (0..16).map(|_| lane.reserve().unwrap()).collect();
    lane.reserve().unwrap().commit(&sample("lost"));
    assert_eq!((audit.health().lost(), audit.health().refused()), (1, 0));
    let late = lane.reserve().unwrap();
    drop(rooms);
    late.commit(&sample("kept"));
    until(|| audit.health().records_written() == 1);
    assert_eq!(audit.health().lost(), 1);
}

#[tokio::test]
async fn waiting_ends_with_room_or_at_the_deadline() {
    let dir = tempfile::tempdir().unwrap();
    let audit = Audit::open(&settings(dir.path()), 1).unwrap();
    let lane = &audit.lanes()[0];
    let mut rooms = Vec::new();
    for _ in 0..16 {
        rooms.push(lane.reserve().unwrap());
    }
    let (short, long) = (Duration::from_millis(30), Duration::from_secs(20));
    assert_eq!(lane.reserve_within(short).await.unwrap_err(), AuditFull);
    let (room, ()) = tokio::join!(lane.reserve_within(long), async { drop(rooms.pop()) });
    drop(room.unwrap());
    // Room that only the writer makes.
    let room = rooms.pop().unwrap();
    let (waited, ()) =
        tokio::join!(async { (lane.reserve_within(long).await, lane.reserve_within(long).await) }, async {
            room.commit(&sample("a"));
        });
    assert!(waited.0.is_ok() && waited.1.is_ok());
}

#[test]
fn an_unfinished_end_is_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    write_log(dir.path(), &settings(dir.path()), 5);
    let path = log::path(dir.path(), 1);
    let torn = b"\0\0\0\0\n{\"seq\":6,\"prev\":\"00";
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(torn).unwrap();
    assert_eq!(broken(dir.path()).line, 6);
    write_more(dir.path(), "next");
    assert_eq!(verified(dir.path()).records, 6);
    assert_eq!(std::fs::read(path.with_extension("jsonl.torn")).unwrap(), torn);
}

fn write_more(dir: &Path, id: &str) {
    let audit = Audit::open(&settings(dir), 1).unwrap();
    commit(&audit.lanes()[0], id);
    audit.flush_and_stop(Duration::from_secs(10)).unwrap();
}

#[test]
fn lines_missing_from_the_end_show_before_and_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    write_log(dir.path(), &settings(dir.path()), 5);
    let path = log::path(dir.path(), 1);
    let text = std::fs::read_to_string(&path).unwrap();
    let kept: String = text.split_inclusive('\n').take(3).collect();
    std::fs::write(&path, kept).unwrap();
    assert_eq!(broken(dir.path()).flaw, Flaw::EndMissing { written: 5 });
    write_more(dir.path(), "next");
    assert_eq!(broken(dir.path()).flaw, Flaw::OutOfOrder { expected: 4, found: 6 });
}

#[test]
fn a_log_that_is_moved_away_goes_on_in_a_new_file() {
    let dir = tempfile::tempdir().unwrap();
    let away = tempfile::tempdir().unwrap();
    let audit = Audit::open(&settings(dir.path()), 1).unwrap();
    let mut count = 0;
    for _ in 0..3 {
        let files = log::files(dir.path()).unwrap();
        for (_, path) in files {
            std::fs::rename(&path, away.path().join(path.file_name().unwrap())).unwrap();
        }
        until(|| {
            count += 1;
            commit_when_possible(&audit.lanes()[0], &format!("id-{count}"));
            !log::files(dir.path()).unwrap().is_empty()
        });
    }
    audit.flush_and_stop(Duration::from_secs(10)).unwrap();
    assert_eq!(verify(dir.path(), Front::Whole).unwrap().unwrap_err().flaw.to_string().split(',').count(), 2);
    assert!(verify(dir.path(), Front::Archived).unwrap().is_ok());
    // With everything moved away, a restart still goes on where it was.
    for (_, path) in log::files(dir.path()).unwrap() {
        std::fs::rename(&path, away.path().join(path.file_name().unwrap())).unwrap();
    }
    write_more(dir.path(), "last");
    for (_, path) in log::files(dir.path()).unwrap() {
        std::fs::rename(&path, away.path().join(path.file_name().unwrap())).unwrap();
    }
    assert_eq!(verified(away.path()).records, count + 1);
}

#[test]
fn a_removed_folder_is_made_anew_and_nothing_pending_is_lost() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("data");
    let audit = Audit::open(&settings(&dir), 1).unwrap();
    commit(&audit.lanes()[0], "before");
    until(|| audit.health().records_written() == 1);
    std::fs::remove_dir_all(&dir).unwrap();
    until(|| {
        commit_when_possible(&audit.lanes()[0], "after");
        dir.join("journal-000.journal").exists()
    });
    commit_when_possible(&audit.lanes()[0], "last");
    let health = audit.health();
    until(|| health.pending_bytes() == 0);
    assert!(health.alarm().is_some());
    audit.flush_and_stop(Duration::from_secs(10)).unwrap();
    assert_eq!(verify(&dir, Front::Archived).unwrap().unwrap().last_seq, health.last_seq());
    assert_eq!(ids(&dir).last().unwrap(), "last");
}

#[test]
fn journals_of_other_numbers_and_sizes_are_replayed() {
    let dir = tempfile::tempdir().unwrap();
    for (number, capacity) in [(0, 9000), (5, 20_000)] {
        let path = dir.path().join(format!("journal-{number:03}.journal"));
        let (mut writer, _reader) = journal::create(&path, capacity, 12_345).unwrap();
        for n in 0..10_u64 {
            let record = serde_json::to_vec(&sample(&format!("{number}-{n}"))).unwrap();
            writer.push(n * 10 + number, &record).unwrap();
        }
    }
    std::fs::write(dir.path().join("journal-009.journal"), [7; 9000]).unwrap();
    let audit = Audit::open(&settings(dir.path()), 1).unwrap();
    assert!(audit.health().alarm().is_some_and(|alarm| alarm.contains("damaged")));
    audit.flush_and_stop(Duration::from_secs(10)).unwrap();
    let expected: Vec<String> = (0..10).flat_map(|n| [format!("0-{n}"), format!("5-{n}")]).collect();
    assert_eq!(ids(dir.path()), expected);
    assert_eq!(open::journal_files(dir.path()).unwrap().len(), 1);
}

#[test]
fn a_damaged_frame_costs_what_follows_it_and_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal-000.journal");
    let (mut writer, _reader) = journal::create(&path, 9000, 0).unwrap();
    let record = serde_json::to_vec(&sample("a")).unwrap();
    (0..3).for_each(|n| writer.push(n, &record).unwrap());
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[4096 + 2 * (16 + record.len()) + 100] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let audit = Audit::open(&settings(dir.path()), 1).unwrap();
    until(|| audit.health().records_written() == 2 && audit.health().lost() == 1);
    assert!(audit.health().alarm().is_some_and(|alarm| alarm.contains("kept as")));
}

#[test]
fn what_is_in_both_after_a_crash_is_written_once() {
    let dir = tempfile::tempdir().unwrap();
    write_log(dir.path(), &settings(dir.path()), 6);
    let (mut writer, _reader) = journal::create(&dir.path().join("journal-000.journal"), 9000, 0).unwrap();
    for n in 3..9 {
        writer.push(n, &serde_json::to_vec(&sample(&format!("id-{n}"))).unwrap()).unwrap();
    }
    Audit::open(&settings(dir.path()), 1).unwrap().flush_and_stop(Duration::from_secs(10)).unwrap();
    assert_eq!(ids(dir.path()), (0..9).map(|n| format!("id-{n}")).collect::<Vec<_>>());
}
