//! The journal as a ring, and the price of a record.

use proptest::prelude::*;

use super::*;

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

/// The price of a record: `cargo test --release --lib audit::tests::ring::price -- --ignored --nocapture`.
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
