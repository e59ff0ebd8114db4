use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::time::Instant;

use super::*;
use crate::rules::store::tests::{open, rules};

/// Waits for a condition, polling; fails after a deadline that is far above what is promised.
fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "not within 20 s: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

struct Watched {
    // Dropped first: the folder goes last.
    watch: Watch,
    store: Arc<Store<String>>,
    folder: PathBuf,
    _parent: tempfile::TempDir,
}

fn watched(prepare: impl Fn(&Path)) -> Watched {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("rules");
    fs::create_dir(&folder).unwrap();
    prepare(&folder);
    let store = Arc::new(open(&folder));
    let watch = Watch::start(store.clone()).unwrap();
    Watched { watch, store, folder, _parent: parent }
}

impl Watched {
    fn plain() -> Self {
        watched(|folder| fs::write(folder.join("a.yaml"), rules("one")).unwrap())
    }

    fn until_runs(&self, route: &str) {
        until(route, || self.store.current().as_str() == route);
    }

    fn until_rejected(&self) {
        until("rejected", || self.store.status().current().rejected.is_some());
    }
}

#[test]
fn follows_a_plain_write() {
    let it = Watched::plain();
    fs::write(it.folder.join("a.yaml"), rules("two")).unwrap();
    it.until_runs("two");
}

#[test]
fn follows_atomic_saves_one_after_the_other() {
    let it = Watched::plain();
    for n in 0..3 {
        fs::write(it.folder.join(".a.yaml.tmp"), rules(&format!("r{n}"))).unwrap();
        fs::rename(it.folder.join(".a.yaml.tmp"), it.folder.join("a.yaml")).unwrap();
        it.until_runs(&format!("r{n}"));
    }
}

#[test]
fn follows_a_mounted_config_map() {
    let it = watched(|folder| {
        fs::create_dir(folder.join("..1")).unwrap();
        fs::write(folder.join("..1/a.yaml"), rules("one")).unwrap();
        symlink("..1", folder.join("..data")).unwrap();
        symlink("..data/a.yaml", folder.join("a.yaml")).unwrap();
    });
    for n in 2..4 {
        let version = it.folder.join(format!("..{n}"));
        fs::create_dir(&version).unwrap();
        fs::write(version.join("a.yaml"), rules(&format!("r{n}"))).unwrap();
        symlink(format!("..{n}"), it.folder.join("..data_tmp")).unwrap();
        fs::rename(it.folder.join("..data_tmp"), it.folder.join("..data")).unwrap();
        it.until_runs(&format!("r{n}"));
    }
}

#[test]
fn follows_a_folder_that_is_made_anew() {
    let it = Watched::plain();
    for n in 0..2 {
        fs::rename(&it.folder, it.folder.with_file_name(format!("old{n}"))).unwrap();
        it.until_rejected();
        assert!(!it.store.current().is_empty(), "what ran keeps running");
        fs::create_dir(&it.folder).unwrap();
        fs::write(it.folder.join("a.yaml"), rules(&format!("r{n}"))).unwrap();
        it.until_runs(&format!("r{n}"));
        // The status is published a moment after the swap: what it names does run.
        until("no longer rejected", || it.store.status().current().rejected.is_none());
    }
    // The new folder is heard, not only polled.
    fs::write(it.folder.join("a.yaml"), rules("last")).unwrap();
    it.until_runs("last");
}

#[test]
fn a_file_cut_to_nothing_is_no_policy() {
    let it = Watched::plain();
    let mut file = OpenOptions::new().write(true).truncate(true).open(it.folder.join("a.yaml")).unwrap();
    file.flush().unwrap();
    drop(file);
    it.until_rejected();
    assert_eq!(it.store.current().as_str(), "one");
    fs::write(it.folder.join("a.yaml"), rules("two")).unwrap();
    it.until_runs("two");
}

#[test]
fn a_slow_writer_is_waited_for() {
    let it = Watched::plain();
    let generation = || it.store.status().current().generation;
    let text = format!("{}# {}\n", rules("two"), "x".repeat(200));
    // Every beginning that ends behind the routes is valid: loading one would be a generation more.
    let mut file = OpenOptions::new().write(true).truncate(true).open(it.folder.join("a.yaml")).unwrap();
    for byte in text.bytes() {
        file.write_all(&[byte]).unwrap();
        let next = Instant::now() + Duration::from_millis(3);
        until("the next byte", || Instant::now() >= next);
    }
    assert_eq!(generation(), 1, "nothing was loaded while it was written");
    drop(file);
    it.until_runs("two");
    until("generation 2", || generation() == 2);
    assert!(it.store.status().current().rejected.is_none());
}

#[test]
fn hidden_files_and_leftovers_change_nothing() {
    let it = Watched::plain();
    for name in [".a.yaml.swp", "a.yaml~", "a.yaml.tmp", ".#a.yaml", "4913"] {
        fs::write(it.folder.join(name), "not: [yaml").unwrap();
    }
    fs::write(it.folder.join("a.yaml"), rules("two")).unwrap();
    it.until_runs("two");
    until("generation 2", || it.store.status().current().generation == 2);
}

#[test]
fn a_trigger_tries_refused_content_again() {
    let it = Watched::plain();
    fs::write(it.folder.join("a.yaml"), "version: 2\n").unwrap();
    it.until_rejected();
    let first = it.store.status().current().rejected.clone().unwrap().at;
    it.watch.trigger();
    until("tried again", || it.store.status().current().rejected.clone().unwrap().at != first);
}

#[test]
fn a_linked_folder_that_leads_elsewhere_is_followed() {
    let parent = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        fs::create_dir(parent.path().join(name)).unwrap();
        fs::write(parent.path().join(name).join("a.yaml"), rules(name)).unwrap();
    }
    let link = parent.path().join("current");
    symlink("one", &link).unwrap();
    let store = Arc::new(open(&link));
    let _watch = Watch::start(store.clone()).unwrap();
    symlink("two", parent.path().join("next")).unwrap();
    fs::rename(parent.path().join("next"), &link).unwrap();
    until("two", || store.current().as_str() == "two");
}

#[test]
fn dropping_it_ends_the_thread() {
    let it = Watched::plain();
    let store = it.store.clone();
    drop(it);
    assert_eq!(Arc::strong_count(&store), 1, "the thread has let go of the store");
}
