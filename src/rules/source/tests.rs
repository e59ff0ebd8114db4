use std::os::unix::fs::symlink;

use super::*;

fn check_name(name: &str, expected: bool) {
    assert_eq!(is_rule_file(name), expected, "{name}");
}

#[test]
fn knows_rule_files_by_name() {
    check_name("a.yaml", true);
    check_name("a.yml", true);
    check_name("a.json", true);
    for ignored in
        [".a.yaml", "a.yaml~", ".a.yaml.swp", "a.yaml.tmp", "a.txt", "yaml", "..data", ".#a.yaml", "#a.yaml#"]
    {
        check_name(ignored, false);
    }
}

#[test]
fn reads_a_mounted_config_map() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("..2026")).unwrap();
    fs::write(folder.path().join("..2026/a.yaml"), "version: 1").unwrap();
    symlink("..2026", folder.path().join("..data")).unwrap();
    symlink("..data/a.yaml", folder.path().join("a.yaml")).unwrap();
    let reading = Source::from(folder.path()).read();
    assert_eq!(reading.files.len(), 1);
    assert!(reading.problems.is_empty(), "{:?}", reading.problems);
}

#[test]
fn whatever_cannot_be_read_is_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    let messages = |path: &Path| Source::from(path).read().problems.into_iter().map(|p| p.message).collect::<Vec<_>>();
    assert!(messages(folder.path())[0].starts_with("there is no rule file in"));
    assert!(messages(&folder.path().join("gone"))[0].contains("no such file"));
    symlink("loop.yaml", folder.path().join("loop.yaml")).unwrap();
    symlink("nowhere", folder.path().join("dangling.yaml")).unwrap();
    fs::write(folder.path().join("latin.yaml"), b"a: 1\nb: \xe9\n").unwrap();
    fs::write(folder.path().join("long.yaml"), vec![b' '; (4 << 20) + 1]).unwrap();
    fs::write(folder.path().join("good.yaml"), "version: 1").unwrap();
    let found = messages(folder.path());
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(found.iter().any(|message| message.contains("first wrong byte is in line 2")));
    assert!(found.iter().any(|message| message.contains("larger than 4 MiB")));
}

#[test]
fn the_hash_sees_names_and_contents() {
    let hash = |files: &[(&str, &str)]| {
        Source::Files(files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()).read().hash()
    };
    let base = hash(&[("a.yaml", "x"), ("b.yaml", "y")]);
    assert_eq!(base, hash(&[("b.yaml", "y"), ("a.yaml", "x")]));
    assert_ne!(base, hash(&[("a.yaml", "x"), ("b.yaml", "z")]));
    assert_ne!(base, hash(&[("a.yaml", "x"), ("c.yaml", "y")]));
    assert_ne!(hash(&[("a", "bc")]), hash(&[("ab", "c")]));
}
