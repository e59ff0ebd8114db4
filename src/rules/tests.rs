//! Whole rule files: the examples load, the broken ones say exactly what is wrong.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::compile::{Attempt, Surroundings, compile};
use super::source::Source;
use super::*;
use crate::pii::{EntityId, EntitySet};

pub(super) fn surroundings() -> Surroundings {
    const NAMES: [&str; 9] =
        ["email", "credit_card", "us_ssn", "phone", "iban", "ipv4", "jwt", "aws_access_key_id", "pii"];
    Surroundings {
        env: Arc::new(|name| {
            let value = match name {
                "CRM_URL" => "http://crm.internal:8080/\n",
                "BAD_URL" => "http://me:hunter2@crm/path",
                "CRM_TOKEN" => "Bearer hunter2\n",
                "EMPTY" => "\n",
                "TWO_LINES" => "hunter2\nhunter3",
                _ => return None,
            };
            Some(value.to_owned())
        }),
        entities: |name| {
            NAMES
                .iter()
                .position(|known| *known == name)
                .map(|position| EntitySet::EMPTY.with(EntityId(position as u8)))
        },
        entity_names: || NAMES.to_vec(),
    }
}

pub(super) fn compiled(files: &[(&str, &str)]) -> Attempt {
    let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    compile(&Source::Files(files).read(), &surroundings(), 1)
}

fn good(text: &str) -> Ruleset {
    let attempt = compiled(&[("a.yaml", text)]);
    let shown: Vec<String> = attempt.problems.iter().map(ToString::to_string).collect();
    attempt.ruleset.unwrap_or_else(|| panic!("{}", shown.join("\n")))
}

/// Each `broken/x.yaml` must give exactly what `broken/x.txt` says. `UPDATE_GOLDEN=1` writes what is found.
#[test]
fn broken_files_say_what_is_wrong() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules/tests/broken");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.retain(|file| file.extension().is_some_and(|ending| ending != "txt"));
    assert!(files.len() >= 20);
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_str().unwrap();
        let attempt = compiled(&[(name, &fs::read_to_string(&file).unwrap())]);
        let found = attempt.problems.iter().map(|problem| format!("{problem}\n\n")).collect::<Vec<_>>().concat();
        assert!(!found.contains("hunter"), "{name} shows a secret:\n{found}");
        assert_eq!(attempt.ruleset.is_some(), name == "warnings.yaml", "{name}");
        let golden = file.with_extension("txt");
        if update {
            fs::write(&golden, &found).unwrap();
        } else if fs::read_to_string(&golden).unwrap_or_default() != found {
            wrong.push(format!("--- {name}\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "not as in the .txt files (UPDATE_GOLDEN=1 writes them):\n{}", wrong.join("\n"));
}

#[test]
fn the_examples_load_without_a_warning() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
    let attempt = compile(&Source::from(folder).read(), &surroundings(), 1);
    let shown: Vec<String> = attempt.problems.iter().map(ToString::to_string).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
    let ruleset = attempt.ruleset.unwrap();
    let customers = ruleset.router.find("127.0.0.1", "GET", "/customers/1").unwrap();
    assert_eq!(&*ruleset.routes[customers].name, "customers");
    assert_eq!(ruleset.routes[customers].request.rules.len(), 1);
    assert_eq!(ruleset.routes[customers].response.rules.len(), 6);
    assert_eq!(ruleset.rules, 7);
    assert_eq!(&*ruleset.upstreams[0].targets[0].url, "http://127.0.0.1:9001");
}

const ROUTES: &str = "version: 1
upstreams: {crm: {targets: [\"http://127.0.0.1:9001\"]}}
routes: {all: {match: {paths: [\"/{*rest}\"]}, upstream: crm, policies: [p]}}
";

#[test]
fn everything_written_is_compiled() {
    let ruleset = good(
        "version: 1
upstreams:
  crm:
    targets: [http://a:1, {url: http://b:2, weight: 3}, \"env:CRM_URL\"]
    balance: round_robin
    preserve_host: true
    headers: {set: {authorization: \"env:CRM_TOKEN\", X-Via: fieldgate}}
    timeouts: {connect: 1s, response: 2m, idle: 500ms}
    pool: {max_idle: 5, idle_timeout: 3s}
    retries: {attempts: 0}
routes:
  all:
    match: {hosts: [API.example.com], paths: [\"/v1/{*rest}\"], methods: [GET, POST]}
    upstream: crm
    strip_prefix: /v1
    encoded_slash: keep
    limits: {body: 64KiB, total: 1GB}
",
    );
    let upstream = &ruleset.upstreams[0];
    let targets: Vec<_> = upstream.targets.iter().map(|target| (&*target.url, target.weight)).collect();
    assert_eq!(targets, [("http://a:1", 1), ("http://b:2", 3), ("http://crm.internal:8080", 1)]);
    assert!(upstream.preserve_host);
    assert_eq!(upstream.set_headers[0].1, "Bearer hunter2");
    assert!(!format!("{ruleset:?}").contains("hunter2"));
    assert_eq!(upstream.connect_timeout, Duration::from_secs(1));
    assert_eq!(upstream.response_timeout, Duration::from_secs(120));
    assert_eq!(upstream.idle_timeout, Duration::from_millis(500));
    assert_eq!((upstream.max_idle, upstream.pool_idle_timeout), (5, Duration::from_secs(3)));
    assert_eq!(upstream.retry_attempts, 0);
    let route = &ruleset.routes[0];
    assert_eq!(route.strip_prefix.as_deref(), Some("/v1"));
    assert!(route.keep_encoded_slash);
    assert_eq!((route.body_limit, route.total_limit), (65536, Some(1_000_000_000)));
    assert_eq!(ruleset.router.find("api.example.com", "GET", "/v1/x"), Some(0));
    assert_eq!(ruleset.router.find("api.example.com", "PUT", "/v1/x"), None);
}

/// The rules of the one policy `p`, for responses, with their target and action in short.
fn check_rule(rule: &str, expected: &str) {
    let ruleset = good(&format!("{ROUTES}policies: {{p: {{response: [{rule}]}}}}\n"));
    let rule = &ruleset.routes[0].response.rules[0];
    let found = format!("{} {:?} {:?}", rule.id, rule.target, rule.action);
    assert!(found.contains(expected), "{found}");
}

#[test]
fn every_spelling_of_an_action() {
    check_rule(
        "{select: $.a, action: mask}",
        "Mask(Mask { keep_first: 0, keep_last: 0, with: '*', as_string: false })",
    );
    check_rule(
        "{select: $.a, action: {mask: {keep_first: 1, keep_last: 2, char: '#', as: string}}}",
        "Mask(Mask { keep_first: 1, keep_last: 2, with: '#', as_string: true })",
    );
    check_rule("{select: $.a, action: redact}", "Redact(Redact { with: None, whole: false, as_string: false })");
    check_rule(
        "{select: $.a, action: {redact: {with: '', whole: true}}}",
        "Redact(Redact { with: Some(\"\"), whole: true, as_string: false })",
    );
    check_rule("{select: $.a, action: {redact: {}}}", "Redact { with: None");
    check_rule("{select: $.a, action: block}", "Block(Block { status: 502, message: None })");
    check_rule("{select: $.a, action: {block: {status: 422, message: no}}}", "status: 422, message: Some(\"no\")");
    check_rule("{select: $.a, action: allow}", "Allow");
    check_rule("{id: x.y, select: $.a, action: log}", "x.y ");
    check_rule("{select: $.a, action: remove}", "p.response.1 Select(");
    check_rule("{select: $.a, action: {replace: {a: [1.10, x]}}}", r#"Replace("{\"a\":[1.10,\"x\"]}")"#);
    check_rule("{select: $.a, action: {set: null}}", "Set(\"null\")");
    check_rule("{select: $.a, action: {rename: b}}", "Rename(\"b\")");
    check_rule("{keep_only: [$.a, $.b]}", "Remove");
    check_rule("{keep_only: $.a, action: remove}", "KeepOnly(");
    check_rule(
        "{headers: [X-User-*, server], action: remove}",
        "Headers([NamePattern(\"x-user-*\"), NamePattern(\"server\")])",
    );
}

#[test]
fn every_place_of_a_detector() {
    let places = "within: Places { body: true, query: false, path: false, headers: [] }";
    check_rule("{detect: [email], action: redact}", places);
    check_rule(
        "{detect: email, action: redact}",
        "entities: EntitySet { built_in: 1, own: 0 }, min_confidence: Likely",
    );
    check_rule(
        "{detect: [email, pii], min_confidence: certain, action: log}",
        "EntitySet { built_in: 257, own: 0 }, min_confidence: Certain",
    );
    check_rule(
        "{detect: [pii], in: [{headers: [X-A]}], action: redact}",
        "body: false, query: false, path: false, headers: [NamePattern(\"x-a\")]",
    );
    check_rule("{detect: [pii], select: $.a, action: redact}", "within: Select(");
    check_rule("{detect: [pii], headers: x-a, action: redact}", "within: Headers(");
    let ruleset = good(&format!("{ROUTES}policies: {{p: {{request: [{{detect: [pii], action: block}}]}}}}\n"));
    let rule = &ruleset.routes[0].request.rules[0];
    assert!(format!("{:?}", rule.target).contains("body: true, query: true, path: false"));
    assert!(format!("{:?}", rule.action).contains("403"));
}

#[test]
fn a_policy_that_is_off_is_in_no_plan() {
    let text = format!("{ROUTES}policies: {{p: {{mode: off, response: [{{select: $.a, action: redact}}]}}}}\n");
    assert!(good(&text).routes[0].response.rules.is_empty());
    let shadow = good(&text.replace("off", "shadow"));
    assert_eq!(shadow.routes[0].response.rules[0].mode, crate::policy::Mode::Shadow);
}

#[test]
fn problems_of_all_files_are_told_at_once() {
    let second = ROUTES.replace("all:", "other:").replace("/{*rest}", "/{*all}");
    let attempt = compiled(&[("a.yaml", ROUTES), ("b.yaml", &second), ("c.yaml", "verson: 1\n")]);
    let found: Vec<String> =
        attempt.problems.iter().map(|problem| format!("{}: {}", problem.file, problem.message)).collect();
    assert_eq!(
        found,
        [
            "a.yaml: there is no policy `p`",
            "b.yaml: the upstream `crm` is defined twice",
            "b.yaml: route `other`, path `/{*all}`: another route matches the same requests equally",
            "b.yaml: there is no policy `p`",
            "c.yaml: unknown key `verson` in a rule file",
            "c.yaml: the file does not say `version`",
        ]
    );
    assert_eq!(attempt.problems[1].hint.as_deref(), Some("the first one is at a.yaml:2:13"));
}

#[test]
fn names_in_a_file_that_cannot_be_read_are_not_called_unknown() {
    let attempt = compiled(&[("a.yaml", ROUTES), ("b.yaml", "version: 1\npolicies: {p: {\n")]);
    let files: Vec<&str> = attempt.problems.iter().map(|problem| problem.file.as_str()).collect();
    assert_eq!(files, ["b.yaml"]);
}

#[test]
fn hostile_files_end_in_problems() {
    for text in [
        "{".repeat(100_000),
        "a: ".repeat(50_000),
        "- ".repeat(50_000),
        "? ".repeat(10_000),
        "\u{feff}x: &a *a".to_owned(),
        "x: |\n".repeat(1000),
    ] {
        assert!(compiled(&[("a.yaml", &text)]).ruleset.is_none());
    }
    let many = (0..20_000).map(|n| format!("k{n}: 1\n")).collect::<Vec<_>>().concat();
    assert!(compiled(&[("a.yaml", &many)]).problems.len() <= 501);
}
