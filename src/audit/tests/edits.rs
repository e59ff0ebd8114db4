//! Whatever is done to a log by hand, `verify` says so.

use proptest::prelude::*;

use super::*;

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
    let small = AuditSettings { rotate_bytes: 4096, ..settings(original.path()) };
    for part in 0..4 {
        let audit = Audit::open(&small, 1).unwrap();
        (0..5).for_each(|n| commit(&audit.lanes()[0], &format!("{part}-{n}")));
        audit.flush_and_stop(Duration::from_secs(10)).unwrap();
    }
    assert_eq!(verified(original.path()).records, 20);
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
            assert_eq!(verified(copy.path()).records, 20);
            apply(&edit, copy.path());
            let result = verify(copy.path(), Front::Whole).unwrap();
            prop_assert!(result.is_err(), "{:?} went unnoticed", edit);
            Ok(())
        })
        .unwrap();
}
