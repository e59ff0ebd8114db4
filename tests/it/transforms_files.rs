//! A body from a file or a pipe, rewritten on the command line: what comes out, what the exit code says, how much memory it
//! takes.

use std::io::{Read, Write};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

use crate::support::until;

const RULES: &str = r"version: 1
upstreams: {u: {targets: ['http://127.0.0.1:1']}}
routes:
  customers: {match: {paths: [/customers]}, upstream: u, policies: [edits]}
  orders: {match: {paths: [/orders]}, upstream: u, policies: [edits, blocks], limits: {body: 1KiB}}
policies:
  edits:
    on_failure: {malformed: pass, oversize: pass, unsupported: pass}
    request:
      - {id: in, select: $.ssn, action: remove}
    response:
      - {id: ssn, select: [$.ssn, '$[*].ssn'], action: mask}
      - {id: mail, detect: [email], action: redact}
  blocks:
    response:
      - {id: no-cards, detect: [credit_card], action: {block: {status: 451}}}
";

struct Folder(TempDir);

impl Folder {
    fn new(rules: &str) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        std::fs::create_dir(folder.path().join("rules")).expect("rules folder");
        std::fs::write(folder.path().join("rules/main.yaml"), rules).expect("rule file");
        Self(folder)
    }

    fn spawn(&self, arguments: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_fieldgate"))
            .args(["transform", "--rules", "rules"])
            .args(arguments)
            .current_dir(self.0.path())
            .env_remove("FIELDGATE_RULES")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("start")
    }

    /// Runs it with this on standard input.
    fn run(&self, arguments: &[&str], stdin: &[u8]) -> Output {
        let mut child = self.spawn(arguments);
        // It may end before it has read everything.
        drop(child.stdin.take().expect("stdin").write_all(stdin));
        child.wait_with_output().expect("end")
    }
}

#[track_caller]
fn check(output: &Output, code: i32, stdout: &str, stderr: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), stdout);
    if stderr.is_empty() { assert_eq!(said, "") } else { assert!(said.contains(stderr), "{said}") }
}

const RECORD: &[u8] = br#"{ "ssn":"123-45-6789", "n":1.10,"note":"mail jane@example.com" }"#;
const MASKED: &str = r#"{ "ssn":"***********", "n":1.10,"note":"mail [REDACTED:email]" }"#;

#[test]
fn content_codings_come_off() {
    let folder = Folder::new(RULES);
    let packed = zstd::encode_all(&br#"{"ssn":"123","a":1}"#[..], 1).expect("memory");
    let run = |codings: &str, body: &[u8]| {
        let output = folder.run(&["--route", "customers", "--content-encoding", codings], body);
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let done = |text: &str| (Some(0), text.to_owned(), String::new());
    let failed = |text: &str| (Some(4), String::new(), format!("fieldgate: {text}\n"));
    assert_eq!(run("identity, zstd", &packed), done(r#"{"ssn":"***","a":1}"#));
    assert_eq!(run("zstd", &packed[..9]), failed("malformed at byte 0: zstd that breaks off"));
    assert_eq!(run("gzip", &packed), failed("malformed at byte 0: not the gzip that it is said to be"));
    assert_eq!(run("compress", &packed), failed("unsupported at byte 0: content encoding"));
}

#[test]
fn files_and_pipes_come_out_as_clients_get_them() {
    let folder = Folder::new(RULES);
    std::fs::write(folder.0.path().join("record.json"), RECORD).expect("file");
    let customers = ["--route", "customers"];
    check(&folder.run(&customers, RECORD), 0, MASKED, "");
    check(&folder.run(&[&customers[..], &["-"]].concat(), RECORD), 0, MASKED, "");
    check(&folder.run(&[&customers[..], &["record.json"]].concat(), b""), 0, MASKED, "");
    check(&folder.run(&customers, b"[1, 2]"), 0, "[1, 2]", "");
    let request = folder.run(&[&customers[..], &["--direction", "request"]].concat(), RECORD);
    check(&request, 0, r#"{ "n":1.10,"note":"mail jane@example.com" }"#, "");
}

#[test]
fn the_summary_names_rules_and_places_and_no_value() {
    let folder = Folder::new(RULES);
    let output = folder.run(&["--route", "customers", "--summary"], RECORD);
    let said = "response of route `customers`: edited; 64 bytes read, 64 written
    $.ssn - mask x1 by ssn of edits
    $.note email redact x1 by mail of edits
";
    check(&output, 0, MASKED, said);
    assert_eq!(String::from_utf8_lossy(&output.stderr), said);
}

#[test]
fn the_exit_code_says_why_nothing_came_out() {
    let folder = Folder::new(RULES);
    let customers = ["--route", "customers"];
    check(&folder.run(&customers, b""), 4, "", "fieldgate: malformed at byte 0: the body is empty\n");
    check(&folder.run(&customers, b"{\"a\":1,}"), 4, "", "malformed at byte 7: ");
    check(&folder.run(&customers, &[b'['; 200]), 4, "", "malformed at byte 128: ");
    check(
        &folder.run(&[&customers[..], &["--content-type", "image/png"]].concat(), b"x"),
        4,
        "",
        "unsupported at byte 0: binary\n",
    );
    let card = ["{\"pan\":\"4111", "1111", "1111", "1111\"}"].concat();
    let blocked = folder.run(&["--route", "orders"], card.as_bytes());
    check(&blocked, 3, "", "fieldgate: blocked: rule `no-cards` of policy `blocks` (status 451)\n");
    assert!(!String::from_utf8_lossy(&blocked.stderr).contains("1111"));
    let long = format!("[{}1]", "0,".repeat(1000));
    check(&folder.run(&["--route", "orders"], long.as_bytes()), 4, "", "oversize at byte 1024: ");
}

#[test]
fn mistakes_are_told_with_a_way_out() {
    let folder = Folder::new(RULES);
    check(
        &folder.run(&["--route", "custmers"], b"1"),
        2,
        "",
        "did you mean `customers`? the routes are `customers`, `orders`",
    );
    check(&folder.run(&["--route", "customers", "nothing.json"], b""), 2, "", "there is no file `nothing.json`");
    check(&folder.run(&["--route", "customers", "rules"], b""), 2, "", "`rules` is a folder");
    check(&folder.run(&[], b""), 2, "", "--route <NAME>");
    let broken = Folder::new(&RULES.replace("remove", "remvoe").replace("[email]", "[emial]"));
    let output = broken.run(&["--route", "customers"], b"1");
    check(&output, 2, "", "did you mean `remove`?");
    check(&output, 2, "", "2 errors in 1 file\n");
}

#[test]
fn a_reader_that_has_seen_enough_ends_it_quietly() {
    let folder = Folder::new(RULES);
    let mut child = folder.spawn(&["--route", "customers"]);
    let mut stdin = child.stdin.take().expect("stdin");
    let writer = std::thread::spawn(move || {
        // Ends with a broken pipe, some time after standard output was closed.
        while stdin.write_all(&[b' '; 4096]).is_ok() && stdin.write_all(b"1,").is_ok() {}
    });
    drop(child.stdout.take());
    drop(writer.join());
    let output = child.wait_with_output().expect("end");
    assert!(output.status.code().is_some_and(|code| code == 0 || code == 4), "{:?}", output.status);

    let mut child = folder.spawn(&["--route", "customers"]);
    let mut stdin = child.stdin.take().expect("stdin");
    drop(child.stdout.take());
    std::thread::spawn(move || {
        stdin.write_all(b"[").is_ok() && (0..1_000_000).all(|_| stdin.write_all(b"\"some text\",").is_ok())
    });
    check(&child.wait_with_output().expect("end"), 0, "", "");
}

#[test]
fn two_hundred_megabytes_take_no_memory() {
    // Without optimisation the same is shown by a tenth of it.
    let megabytes = if cfg!(debug_assertions) { 20 } else { 200 };
    let folder = Folder::new(RULES);
    let mut child = folder.spawn(&["--route", "customers"]);
    let (mut stdin, mut stdout) = (child.stdin.take().expect("stdin"), child.stdout.take().expect("stdout"));
    let item =
        r#"{"id":9007199254740993,"ssn":"123-45-6789","price":1.10,"note":"J\u00fcrgen wrote to jane@example.com" },"#;
    let block = item.repeat(1_000_000 / item.len());
    let (length, edited) =
        (block.len(), block.replace("123-45-6789", "***********").replace("jane@example.com", "[REDACTED:email]"));
    let reader = std::thread::spawn(move || {
        let mut start = [0];
        stdout.read_exact(&mut start).expect("read");
        let (mut blocks, mut piece) = (0, vec![0; edited.len()]);
        while stdout.read_exact(&mut piece[..1]).is_ok() && piece[0] == b'{' {
            stdout.read_exact(&mut piece[1..]).expect("read");
            assert!(piece == edited.as_bytes());
            blocks += 1;
        }
        blocks
    });
    stdin.write_all(b"[").expect("write");
    let peak = |pid: u32| -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("VmHWM");
        line.trim().trim_end_matches(" kB").parse().expect("number")
    };
    let mut early = 0;
    for n in 0..megabytes {
        stdin.write_all(block.as_bytes()).expect("write");
        if n == 4 {
            early = peak(child.id());
        }
    }
    let late = peak(child.id());
    assert!(late < 64 * 1024 && late < early + 2048, "from {early} to {late} KiB in {} bytes", megabytes * length);
    stdin.write_all(b"0]").expect("write");
    drop(stdin);
    assert_eq!(reader.join().expect("reader"), megabytes);
    until("it has ended", || child.try_wait().expect("wait").is_some());
    assert!(child.wait().expect("wait").success());
}
