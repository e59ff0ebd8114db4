use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::rules::tests::surroundings;

/// A rule file with one route of this name.
pub(in crate::rules) fn rules(route: &str) -> String {
    format!(
        "version: 1
upstreams: {{crm: {{targets: [\"http://127.0.0.1:9001\"]}}}}
routes: {{{route}: {{match: {{paths: [\"/{{*rest}}\"]}}, upstream: crm}}}}
"
    )
}

/// A store that prepares the name of the first route.
pub(in crate::rules) fn open(folder: &Path) -> Store<String> {
    let prepare = |ruleset: Ruleset, _: Option<&Arc<String>>| Ok(ruleset.routes[0].name.to_string());
    Store::open_in(folder.into(), surroundings(), Box::new(prepare)).unwrap()
}

fn folder_with(route: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.yaml"), rules(route)).unwrap();
    folder
}

#[test]
fn swaps_counts_and_rejects() {
    let folder = folder_with("one");
    let file = folder.path().join("a.yaml");
    let store = open(folder.path());
    let status = store.status();
    assert_eq!((store.current().as_str(), status.current().generation), ("one", 1));
    assert_eq!(store.reload(), Reloaded::Unchanged);

    fs::write(&file, rules("two")).unwrap();
    assert_eq!(store.reload(), Reloaded::Swapped(2));
    assert_eq!((store.current().as_str(), status.current().generation), ("two", 2));

    fs::write(&file, "version: 1\nrouts: {}\n").unwrap();
    assert_eq!(store.reload(), Reloaded::Rejected);
    assert_eq!(store.reload(), Reloaded::Unchanged, "refused content is not tried twice");
    assert_eq!(store.reload_again(), Reloaded::Rejected, "unless asked");
    assert_eq!((store.current().as_str(), status.current().generation), ("two", 2));
    let rejected = status.current().rejected.clone().unwrap();
    assert!(rejected.problems[0].message.contains("unknown key `routs`"), "{rejected:?}");

    fs::write(&file, rules("two")).unwrap();
    assert_eq!(store.reload(), Reloaded::Unchanged, "that is what runs");
    assert!(status.current().rejected.is_none());

    fs::write(&file, rules("three")).unwrap();
    assert_eq!(store.reload(), Reloaded::Swapped(3));
    assert_ne!(status.current().hash, open(folder_with("two").path()).status().current().hash);
}

#[test]
fn at_the_start_every_problem_is_fatal() {
    let folder = folder_with("-");
    fs::write(folder.path().join("b.yaml"), "verson: 1\n").unwrap();
    let problems = Store::open(folder.path(), |ruleset, _| Ok(ruleset)).unwrap_err();
    assert_eq!(problems.iter().filter(|problem| problem.file == "b.yaml").count(), 2, "{problems:?}");
    assert_eq!(problems.len(), 3, "{problems:?}");
}

/// Whatever happens to the folder, what ran keeps running, and the alarm says so.
fn check_keeps_the_last_good(harm: impl Fn(&Path), message: &str) {
    let folder = folder_with("good");
    let rules_folder = folder.path().join("rules");
    fs::create_dir(&rules_folder).unwrap();
    fs::write(rules_folder.join("a.yaml"), rules("good")).unwrap();
    let store = open(&rules_folder);
    harm(&rules_folder);
    assert_eq!(store.reload(), Reloaded::Rejected, "{message}");
    assert_eq!(store.current().as_str(), "good");
    let status = store.status().current();
    assert_eq!(status.generation, 1);
    let found = &status.rejected.as_ref().unwrap().problems[0].message;
    assert!(found.contains(message), "{found}");
}

#[test]
fn an_emptied_or_vanished_folder_changes_nothing() {
    check_keeps_the_last_good(|folder| fs::remove_file(folder.join("a.yaml")).unwrap(), "there is no rule file");
    check_keeps_the_last_good(|folder| fs::remove_dir_all(folder).unwrap(), "no such file or folder");
    check_keeps_the_last_good(|folder| fs::write(folder.join("a.yaml"), "").unwrap(), "the file is empty");
    check_keeps_the_last_good(
        |folder| fs::write(folder.join("a.yaml"), "version: 1\n").unwrap(),
        "no route in any file",
    );
    check_keeps_the_last_good(|folder| fs::write(folder.join("b.yaml"), [0xff]).unwrap(), "not UTF-8");
    check_keeps_the_last_good(
        |folder| {
            fs::remove_dir_all(folder).unwrap();
            symlink(folder, folder).unwrap();
        },
        "cannot be read",
    );
    check_keeps_the_last_good(
        |folder| {
            fs::remove_file(folder.join("a.yaml")).unwrap();
            symlink("a.yaml", folder.join("a.yaml")).unwrap();
        },
        "cannot be read",
    );
}

#[test]
fn two_files_change_together_or_not_at_all() {
    let folder = folder_with("one");
    let (routes, policies) = (folder.path().join("a.yaml"), folder.path().join("b.yaml"));
    let store = open(folder.path());
    fs::write(&routes, rules("two").replace("upstream: crm", "upstream: crm, policies: [p]")).unwrap();
    assert_eq!(store.reload(), Reloaded::Rejected);
    assert_eq!(store.current().as_str(), "one");
    fs::write(&policies, "version: 1\npolicies: {p: {response: [{headers: server, action: remove}]}}\n").unwrap();
    assert_eq!(store.reload(), Reloaded::Swapped(2));
    assert_eq!(store.current().as_str(), "two");
    assert_eq!(store.status().current().rules, 1);
}

#[test]
fn a_new_secret_is_a_new_generation() {
    let folder = folder_with("one");
    let secret = folder.path().join("secret");
    let header = format!("headers: {{set: {{authorization: \"file:{}\"}}}}, targets", secret.display());
    fs::write(folder.path().join("a.yaml"), rules("one").replace("targets", &header)).unwrap();
    fs::write(&secret, "first\n").unwrap();
    let prepare = |ruleset: Ruleset, _: Option<&Arc<_>>| Ok(ruleset.upstreams[0].set_headers[0].1.clone());
    let store = Store::open_in(folder.path().into(), surroundings(), Box::new(prepare)).unwrap();
    assert_eq!(*store.current(), "first");
    assert_eq!(store.reload(), Reloaded::Unchanged);
    fs::write(&secret, "second\n").unwrap();
    assert_eq!(store.reload(), Reloaded::Swapped(2));
    assert_eq!(*store.current(), "second");
    fs::remove_file(&secret).unwrap();
    assert_eq!(store.reload(), Reloaded::Rejected);
    assert_eq!(*store.current(), "second");
    fs::write(&secret, "third\n").unwrap();
    assert_eq!(store.reload(), Reloaded::Swapped(3));
    let shown = format!("{:?} {:?}", store, store.status().current());
    assert!(!shown.contains("second") && !shown.contains("third"), "{shown}");
}

#[test]
fn what_cannot_be_prepared_is_refused() {
    let folder = folder_with("one");
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let prepare = move |ruleset: Ruleset, running: Option<&Arc<String>>| {
        assert_eq!(counted.fetch_add(1, Ordering::SeqCst) > 0, running.is_some());
        let name = ruleset.routes[0].name.to_string();
        if name == "bad" { Err(vec![Problem::of_file("", "no client", None)]) } else { Ok(name) }
    };
    let store = Store::open_in(folder.path().into(), surroundings(), Box::new(prepare)).unwrap();
    fs::write(folder.path().join("a.yaml"), rules("bad")).unwrap();
    assert_eq!(store.reload(), Reloaded::Rejected);
    assert_eq!(store.current().as_str(), "one");
    fs::write(folder.path().join("a.yaml"), rules("two")).unwrap();
    assert_eq!(store.reload(), Reloaded::Swapped(2));
    assert_eq!(calls.load(Ordering::SeqCst), 3);
}

#[test]
fn files_in_memory_are_a_source() {
    let source = Source::Files(vec![("proxy.yaml".to_owned(), rules("all"))]);
    let store = Store::open(source, |ruleset, _| Ok(ruleset.generation)).unwrap();
    assert_eq!(*store.current(), 1);
    assert_eq!(store.reload(), Reloaded::Unchanged);
    assert_eq!(store.status().current().files[0].name, "proxy.yaml");
}
