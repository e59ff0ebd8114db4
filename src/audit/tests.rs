//! The trail as a whole: nothing lost, nothing twice, nothing unnoticed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::verify::{Broken, Flaw, Front, Verified, verify};
use super::*;

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
    assert_eq!((0..16).map(|_| lane.reserve().unwrap()).count(), 16);
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
    let soon = tokio::time::Instant::now() + Duration::from_millis(30);
    assert_eq!(lane.reserve_until(soon).await.unwrap_err(), AuditFull);
    let later = tokio::time::Instant::now() + Duration::from_secs(20);
    let (room, ()) = tokio::join!(lane.reserve_until(later), async { drop(rooms.pop()) });
    drop(room.unwrap());
    // Room that only the writer makes.
    let room = rooms.pop().unwrap();
    let (waited, ()) =
        tokio::join!(async { (lane.reserve_until(later).await, lane.reserve_until(later).await) }, async {
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

// ---- Mutations -----------------------------------------------------------------------------------------------------

#[derive(Debug, Clone)]
enum Edit {
    Flip(usize, u8),
    Delete(usize),
    Swap(usize, usize),
    CutInside(usize),
    Forge(usize),
    Replay(usize, usize),
    DropFile(usize),
    CutEnd(usize),
}

fn an_edit() -> impl Strategy<Value = Edit> {
    let n = any::<usize>;
    prop_oneof![
        (n(), 1_u8..).prop_map(|(at, bits)| Edit::Flip(at, bits)),
        n().prop_map(Edit::Delete),
        (n(), n()).prop_map(|(a, b)| Edit::Swap(a, b)),
        n().prop_map(Edit::CutInside),
        n().prop_map(Edit::Forge),
        (n(), n()).prop_map(|(a, b)| Edit::Replay(a, b)),
        n().prop_map(Edit::DropFile),
        (1_usize..20).prop_map(Edit::CutEnd),
    ]
}

fn apply(edit: &Edit, dir: &Path) {
    let files = log::files(dir).unwrap();
    let pick = |n: usize| &files[n % files.len()].1;
    let change = |path: &Path, change: &dyn Fn(&mut Vec<Vec<u8>>)| {
        let text = std::fs::read(path).unwrap();
        let mut lines: Vec<Vec<u8>> = text.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        change(&mut lines);
        std::fs::write(path, lines.concat()).unwrap();
    };
    match *edit {
        Edit::Flip(at, bits) => {
            let mut text = std::fs::read(pick(at)).unwrap();
            let place = (at / 7) % text.len();
            text[place] ^= bits;
            std::fs::write(pick(at), text).unwrap();
        }
        Edit::Delete(at) => change(pick(at), &|lines| drop(lines.remove((at / 7) % lines.len()))),
        Edit::Swap(a, b) => change(pick(a), &|lines| {
            let first = (a / 7) % lines.len();
            let second = (first + 1 + b % (lines.len() - 1)) % lines.len();
            lines.swap(first, second);
        }),
        Edit::CutInside(at) => change(pick(at), &|lines| {
            let line = (at / 7) % lines.len();
            let keep = (at / 99) % (lines[line].len() - 1) + 1;
            lines[line].truncate(keep);
        }),
        Edit::Forge(at) => change(pick(at), &|lines| {
            let place = (at / 7) % (lines.len() + 1);
            let mut forged = Vec::new();
            // As clever as can be without a place to put it: linked to the line before.
            let mut chain = match place.checked_sub(1) {
                Some(before) => chain::Link::read(lines[before].trim_ascii_end()).unwrap().end(),
                None => chain::Chain::start(),
            };
            if place == lines.len() {
                chain.hash[0] ^= 1;
            }
            chain.seal(&serde_json::to_vec(&sample("forged")).unwrap(), &mut forged);
            lines.insert(place, forged);
        }),
        Edit::Replay(from, to) => {
            let text = std::fs::read(pick(from)).unwrap();
            let lines: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
            let again = lines[(from / 7) % lines.len()].to_vec();
            change(pick(to), &|lines| lines.insert((to / 7) % (lines.len() + 1), again.clone()));
        }
        Edit::DropFile(at) => std::fs::remove_file(pick(at)).unwrap(),
        Edit::CutEnd(count) => change(&files.last().unwrap().1, &|lines| {
            lines.truncate(lines.len().saturating_sub(count));
        }),
    }
}

#[test]
fn a_thousand_edits_are_a_thousand_reports() {
    let original = tempfile::tempdir().unwrap();
    let small = AuditSettings { rotate_bytes: 8192, ..settings(original.path()) };
    for part in 0..4 {
        let audit = Audit::open(&small, 1).unwrap();
        (0..9).for_each(|n| commit(&audit.lanes()[0], &format!("{part}-{n}")));
        audit.flush_and_stop(Duration::from_secs(10)).unwrap();
    }
    assert_eq!(verified(original.path()).records, 36);
    let copy = tempfile::tempdir().unwrap();
    let fresh = || {
        for entry in std::fs::read_dir(copy.path()).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
        for entry in std::fs::read_dir(original.path()).unwrap() {
            let entry = entry.unwrap();
            if !entry.file_name().to_string_lossy().ends_with(".journal") {
                std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
            }
        }
    };
    let config = ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() };
    proptest::test_runner::TestRunner::new(config)
        .run(&an_edit(), |edit| {
            fresh();
            assert_eq!(verified(copy.path()).records, 36);
            apply(&edit, copy.path());
            let result = verify(copy.path(), Front::Whole).unwrap();
            prop_assert!(result.is_err(), "{:?} went unnoticed", edit);
            Ok(())
        })
        .unwrap();
}

// ---- Crashes -------------------------------------------------------------------------------------------------------

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
        .args(["audit::tests::child", "--exact", "--nocapture"])
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
    for round in 0..20_usize {
        let mut child = spawn_child(dir.path(), &format!("r{round}"));
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Killed after another number of records each time, so at any point of the writer's round.
        let wanted = said.len() + (round * 577) % 3_001 + 1;
        let mut note = |line: std::io::Result<String>| {
            said.extend(line.ok().and_then(|line| Some(line.split_once("committed ")?.1.to_owned())));
            said.len()
        };
        while let Some(line) = lines.next() {
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
    // A line may have been cut by the kill itself: its id is then another one's beginning, and not said.
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
    assert!(said.len() > 1_000);
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

// ---- The ring ------------------------------------------------------------------------------------------------------

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn what_goes_into_a_journal_comes_out(
        payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..80),
        capacity in 316_u64..2000,
        start in any::<u32>(),
        eager in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ring.journal");
        let (mut writer, mut reader) = journal::create(&path, capacity, u64::from(start)).unwrap();
        let (mut out, mut read) = (Vec::new(), Vec::new());
        for (n, payload) in payloads.iter().enumerate() {
            while writer.push(n as u64, payload).is_err() {
                // Full: reading makes room, and only then.
                prop_assert!(writer.pending() + payload.len() as u64 + 16 > capacity);
                prop_assert_eq!(reader.next(&mut out), journal::Next::Frame { at: read.len() as u64 });
                read.push(out.clone());
                reader.release(reader.position());
            }
            if eager {
                // Reopened, as after a crash: what is there is what is pending.
                (writer, reader) = journal::open(&path).unwrap().unwrap();
            }
        }
        while let journal::Next::Frame { .. } = reader.next(&mut out) {
            read.push(out.clone());
        }
        prop_assert_eq!(reader.next(&mut out), journal::Next::Empty);
        prop_assert_eq!(read, payloads);
    }
}

/// The price of a record: `cargo test --release --lib audit::tests::price -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn price() {
    let dir = tempfile::tempdir().unwrap();
    let audit = Audit::open(&AuditSettings::in_dir(dir.path()), 1).unwrap();
    let record = sample("01980000-0000-7000-8000-000000000000");
    let (mut committing, mut count) = (Duration::ZERO, 0);
    // User and system time of all threads, in hundredths of a second.
    let cpu_ms = || -> u64 {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
        stat.split(' ').skip(13).take(2).map(|ticks| ticks.parse::<u64>().unwrap() * 10).sum()
    };
    let before = cpu_ms();
    for _ in 0..200 {
        let start = Instant::now();
        for _ in 0..1_000 {
            audit.lanes()[0].reserve().unwrap().commit(&record);
            count += 1;
        }
        committing += start.elapsed();
        until(|| audit.health().pending_bytes() == 0);
    }
    let all = (cpu_ms() - before) * 1_000_000;
    let line = std::fs::metadata(log::path(dir.path(), 1)).unwrap().len();
    println!(
        "commit {} ns, everything {} ns of CPU, {count} records, first file {line} bytes",
        committing.as_nanos() / count,
        all / count as u64
    );
}
