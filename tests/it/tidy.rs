//! The house is in order: who may use whom, how long a file may be, what no file may be called.

use std::path::{Path, PathBuf};

fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("source file")
}

#[test]
fn files_stay_short_and_open_with_a_sentence() {
    for path in [files("src", ".rs"), files("tests", ".rs"), files("static", ".js")].concat() {
        let text = read(&path);
        let lines = text.lines().count();
        assert!(lines <= 500, "{} has {lines} lines; 500 is the wall", path.display());
        let opening = if path.extension().is_some_and(|e| e == "js") { "//" } else { "//!" };
        let is_test_module = path.ends_with("tests.rs") || path.components().any(|c| c.as_os_str() == "tests");
        assert!(is_test_module || text.starts_with(opening), "{} does not say what it is", path.display());
    }
    let script: usize = files("static", ".js").iter().map(|p| read(p).lines().count()).sum();
    assert!(script < 250, "the dashboard's script has {script} lines");
    assert!(read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/main.rs")).lines().count() < 80);
}

#[test]
fn no_file_is_a_drawer_for_odds_and_ends() {
    for path in files("src", ".rs") {
        let name = path.file_stem().expect("name").to_string_lossy().into_owned();
        assert!(
            !["utils", "util", "helpers", "helper", "common", "misc"].contains(&name.as_str()),
            "{}",
            path.display()
        );
    }
}

#[test]
fn dependencies_point_one_way() {
    // A part, and what of ours it may use.
    let allowed: &[(&str, &[&str])] = &[
        ("sensitive.rs", &[]),
        ("quantity.rs", &[]),
        ("supervisor.rs", &[]),
        ("certificates.rs", &["sensitive"]),
        ("router", &[]),
        ("content", &[]),
        ("pii", &["sensitive"]),
        ("actions", &["sensitive"]),
        ("policy", &["pii", "actions", "content", "sensitive"]),
        ("scan", &["policy", "pii", "content"]),
        ("rules", &["policy", "pii", "actions", "content", "router", "sensitive", "quantity", "certificates"]),
        ("audit", &["sensitive"]),
        ("stats", &[]),
        (
            "gateway",
            &["rules", "router", "policy", "content", "audit", "stats", "pii", "actions", "sensitive", "certificates"],
        ),
        ("admin", &["rules", "audit", "stats", "sensitive", "certificates"]),
        ("settings.rs", &["audit", "quantity", "sensitive"]),
    ];
    for (part, may_use) in allowed {
        let part_name = part.trim_end_matches(".rs");
        for path in files("src", ".rs") {
            let below = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).expect("below src");
            if !below.starts_with(part) {
                continue;
            }
            for (n, line) in read(&path).lines().enumerate() {
                for used in line.split("crate::").skip(1) {
                    let used: Vec<&str> = match used.strip_prefix('{') {
                        Some(list) => list.split('}').next().unwrap_or_default().split(',').collect(),
                        None => vec![used],
                    };
                    for one in used {
                        let one: String = one.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                        // `properties` is for tests only.
                        let fine = one == part_name || one == "properties" || may_use.contains(&one.as_str());
                        assert!(fine, "{}:{}: `{part_name}` may not use `{one}`", path.display(), n + 1);
                    }
                }
            }
        }
    }
}

#[test]
fn clients_are_built_in_one_place() {
    for path in files("src", ".rs") {
        let text = read(&path);
        let builds = text.contains("reqwest::Client::builder()") || text.contains("Client::new()");
        assert!(!builds || path.ends_with("gateway/upstream/client.rs"), "{}", path.display());
    }
}

#[test]
fn unsafe_stands_in_one_small_module() {
    for path in files("src", ".rs") {
        let has =
            read(&path).lines().any(|l| l.contains("unsafe {") || l.contains("unsafe fn") || l.contains("unsafe impl"));
        assert!(!has || path.ends_with("audit/journal.rs"), "{}", path.display());
    }
}

#[test]
fn the_readme_lists_every_setting() {
    let flags = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/settings.rs"));
    let flags = flags.split("pub struct Flags {").nth(1).expect("flags").split("\n}\n").next().expect("end");
    let readme = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md"));
    let reference = readme.split("\n## Settings\n").nth(1).expect("settings").split("\n## ").next().expect("end");
    let names = flags.lines().filter_map(|line| line.strip_prefix("    pub ")?.split_once(':'));
    let names: Vec<_> = names.map(|(name, _)| name.replace('_', "-")).filter(|name| name != "config").collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        assert!(reference.contains(&format!("`{name}`")), "`{name}` is not in the README's settings");
    }
}
