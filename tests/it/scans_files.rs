//! Personal data in a file or a pipe, found on the command line: what is said, what is not said, what the exit code says, how much
//! memory it takes.

use std::io::Write;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("folder"))
    }

    fn with(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        std::fs::write(self.0.path().join(name), text).expect("file");
        self
    }

    fn spawn(&self, verb: &str, arguments: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_fieldgate"))
            .arg(verb)
            .args(arguments)
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("start")
    }

    /// Runs it with this on standard input.
    fn scan(&self, arguments: &[&str], stdin: impl AsRef<[u8]>) -> Output {
        let mut child = self.spawn("scan", arguments);
        // It may end before it has read everything.
        drop(child.stdin.take().expect("stdin").write_all(stdin.as_ref()));
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

/// Every line is a finding, at whose offsets `input` holds what is expected.
#[track_caller]
fn check_findings(output: &Output, input: &str, expected: &[(&str, &str, &str)]) {
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let found: Vec<_> = lines
        .iter()
        .map(|line| {
            let offset = |name: &str| line[name].as_u64().expect("offset") as usize;
            assert!(matches!(line["confidence"].as_str(), Some("likely" | "certain")), "{line}");
            let text = |name: &str| line[name].as_str().expect("text");
            (text("path"), text("entity"), &input[offset("start")..offset("end")])
        })
        .collect();
    assert_eq!(found, expected);
}

const RECORD: &str =
    "{ \"ssn\":\"123-45-6789\", \"n\":1,\n \"notes\":[\"mail jane@example.com\", \"x\"],\n \"bob@example.com\": 1 }";

#[test]
fn the_summary_says_what_and_where_and_no_value() {
    let folder = Folder::new().with("record.json", RECORD);
    let summary = |name: &str| {
        format!(
            "{name}: json, 94 bytes: 3 findings, likely or certain
    email   $.notes[*]  1 certain  first: byte 46
    email   $.[email]   1 likely   first: byte 73
    us_ssn  $.ssn       1 likely   first: byte 9
"
        )
    };
    check(&folder.scan(&["record.json"], ""), 0, &summary("`record.json`"), "");
    check(&folder.scan(&["-"], RECORD), 0, &summary("standard input"), "");
    check(&folder.scan(&[], RECORD), 0, &summary("standard input"), "");
    let shown = folder.scan(&["--show-values", "--detect", "us_ssn", "record.json"], "");
    check(
        &shown,
        0,
        "`record.json`: json, 94 bytes: 1 finding, likely or certain\n    us_ssn  $.ssn  1 likely  first: byte 9  123-45-6789\n",
        "",
    );
}

#[test]
fn lines_say_each_finding_with_its_place() {
    let folder = Folder::new();
    let jsonl = ["--format", "jsonl"];
    let expected = [
        ("$.ssn", "us_ssn", "123-45-6789"),
        ("$.notes[*]", "email", "jane@example.com"),
        ("$.[email]", "email", "bob@example.com"),
    ];
    check_findings(&folder.scan(&jsonl, RECORD), RECORD, &expected);

    let lines = "{\"ssn\":\"123-45-6789\"}\n\n{\"mail\":\"jane\\u0040example.com\"}\n";
    let output = folder.scan(&jsonl, lines);
    check_findings(
        &output,
        lines,
        &[("$.ssn", "us_ssn", "123-45-6789"), ("$.mail", "email", "jane\\u0040example.com")],
    );
    assert!(String::from_utf8_lossy(&output.stdout).lines().nth(1).expect("line").ends_with("\"line\":3}"));

    for delimiter in [",", ";", "\t"] {
        let table = "id,ssn,note\r\n7,123456789,\"say \"\"hi\"\" to jane@example.com\"\r\n".replace(',', delimiter);
        let expected = [("$.ssn", "us_ssn", "123456789"), ("$.note", "email", "jane@example.com")];
        check_findings(&folder.scan(&jsonl, &table), &table, &expected);
        check_findings(&folder.scan(&["--format", "jsonl", "--input", "csv"], &table), &table, &expected);
    }

    let log =
        "2026-01-02 INFO ssn=123-45-6789 ok\n2026-01-02 INFO {\"user\":{\"ssn\":123456789}}\nfrom jane@example.com\n";
    let expected =
        [("$", "us_ssn", "123-45-6789"), ("$.user.ssn", "us_ssn", "123456789"), ("$", "email", "jane@example.com")];
    check_findings(&folder.scan(&jsonl, log), log, &expected);
}

#[test]
fn what_is_looked_for_can_be_said() {
    let folder = Folder::new();
    let input = "{\"ssn\":\"123-45-6789\",\"mail\":\"jane@example.com\",\"x\":\"321-54-9876\"}";
    let run = |arguments: &[&str]| folder.scan(&[&["--format", "jsonl"], arguments].concat(), input);
    check_findings(&run(&["--detect", "email"]), input, &[("$.mail", "email", "jane@example.com")]);
    check_findings(&run(&["--detect", "secrets"]), input, &[]);
    check_findings(
        &run(&["--detect", "us,email"]),
        input,
        &[("$.ssn", "us_ssn", "123-45-6789"), ("$.mail", "email", "jane@example.com")],
    );
    check_findings(&run(&["--min-confidence", "certain"]), input, &[("$.mail", "email", "jane@example.com")]);
    let possible = run(&["--min-confidence", "possible", "--detect", "us_ssn"]);
    assert!(String::from_utf8_lossy(&possible.stdout).contains("\"confidence\":\"possible\""));
}

#[test]
fn the_exit_code_serves_scripts() {
    let folder = Folder::new()
        .with("a.json", "{\"a\":\"jane@example.com\"}")
        .with("b.json", "{\"a\":1,}")
        .with("c", [0x1f, 0x8b, 8]);
    let code = |arguments: &[&str]| folder.scan(arguments, "").status.code();
    assert_eq!(code(&["a.json"]), Some(0));
    assert_eq!(code(&["--fail", "a.json"]), Some(3));
    assert_eq!(code(&["--fail", "--format", "jsonl", "a.json"]), Some(3));
    assert_eq!(code(&["--fail", "--detect", "secrets", "a.json"]), Some(0));
    assert_eq!(code(&["--fail", "b.json"]), Some(4));
    check(&folder.scan(&["--format", "jsonl", "b.json"], ""), 4, "", "malformed at byte 7 of `b.json`, read as json: ");
    check(&folder.scan(&["c"], ""), 4, "", "malformed: `c` cannot be unpacked: gzip that breaks off");
    check(&folder.scan(&["nothing.json"], ""), 2, "", "there is no file `nothing.json`");
    check(&folder.scan(&["--detect", "emial"], ""), 2, "", "no entity or group `emial`; did you mean `email`?");
    check(&folder.scan(&["--input", "yaml"], ""), 2, "", "possible values: json, ndjson, csv, text");
    check(&folder.scan(&["--ndjson-field", "t", "--format", "human"], ""), 2, "", "`--format human` has none");
}

#[test]
fn what_is_packed_is_unpacked_on_the_way() {
    let lines = "{\"a\":1}\n{\"mail\":\"jane@example.com\"}\n";
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(lines.as_bytes()).expect("memory");
    let gzip = gzip.finish().expect("memory");
    let zstd = zstd::encode_all(lines.as_bytes(), 1).expect("memory");
    let mut brotli = Vec::new();
    brotli::BrotliCompress(&mut lines.as_bytes(), &mut brotli, &brotli::enc::BrotliEncoderParams::default())
        .expect("memory");
    let folder = Folder::new().with("a.ndjson.gz", &gzip).with("b.jsonl.zst", &zstd).with("c.NDJSON.br", &brotli);
    let folder = folder.with("d", &zstd).with("plain.gz", lines);
    let found =
        "{\"path\":\"$.mail\",\"entity\":\"email\",\"start\":17,\"end\":33,\"confidence\":\"certain\",\"line\":2}\n";
    for name in ["a.ndjson.gz", "b.jsonl.zst", "c.NDJSON.br", "d"] {
        check(&folder.scan(&["--format", "jsonl", name], ""), 0, found, "");
    }
    check(&folder.scan(&["--format", "jsonl", "-"], &gzip), 0, found, "");
    check(&folder.scan(&["plain.gz"], ""), 4, "", "`plain.gz` cannot be unpacked: not the gzip that it is said to be");
    let cut = folder.scan(&["--format", "jsonl"], &gzip[..gzip.len() - 1]);
    check(&cut, 4, "", "standard input cannot be unpacked: gzip that breaks off");
}

#[test]
fn broken_input_says_where_after_what_was_found() {
    let folder = Folder::new();
    let jsonl = |input: &str, stdin: &[u8]| folder.scan(&["--format", "jsonl", "--input", input], stdin);
    let said = |output: &Output, stderr: &str| {
        assert_eq!(output.status.code(), Some(4));
        assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 1);
        assert!(String::from_utf8_lossy(&output.stderr).contains(stderr), "{output:?}");
    };
    said(&jsonl("json", b"[\"jane@example.com\",]"), "malformed at byte 20 of standard input, read as json");
    said(&jsonl("ndjson", b"[\"jane@example.com\"]\n{\n"), "malformed at byte 23 of standard input, read as ndjson");
    said(&jsonl("csv", b"a,b\njane@example.com,\"x\" y\n"), "malformed at byte 24 of standard input, read as csv");
    said(
        &jsonl("text", &[b"{\"m\":\"jane@example.com\"}\n".as_slice(), b"caf\xe9 au lait"].concat()),
        "malformed at byte 28 of standard input, read as text: not UTF-8",
    );
    let summary = folder.scan(&["--input", "json"], "[\"jane@example.com\",]");
    assert!(String::from_utf8_lossy(&summary.stdout).contains("1 finding"), "{summary:?}");
}

#[test]
fn documents_in_a_field_are_searched_one_by_one() {
    let folder = Folder::new();
    let documents = [
        "{\"ssn\":\"123-45-6789\",\"m\":\"jane\\u0040example.com\"}",
        "id,ssn\n1,123456789\n",
        "write to jane@example.com\n",
        "nothing",
    ];
    let lines: Vec<_> = documents.iter().map(|it| serde_json::json!({ "id": 1, "text": it }).to_string()).collect();
    let output = folder.scan(&["--ndjson-field", "text", "-"], format!("{}\n\n{{\"id\":2}}\n", lines.join("\n")));
    assert_eq!(output.status.code(), Some(0));
    let found: Vec<Value> =
        String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let numbers: Vec<_> = found.iter().map(|row| row["line"].as_u64().expect("line")).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 6]);
    let said: Vec<Vec<_>> = found
        .iter()
        .zip(documents.iter().chain([&""]))
        .map(|(row, document)| {
            let findings = row["findings"].as_array().expect("findings");
            let offset = |value: &Value| value.as_u64().expect("offset") as usize;
            findings
                .iter()
                .map(|it| (it["path"].as_str().expect("path"), &document[offset(&it["start"])..offset(&it["end"])]))
                .collect()
        })
        .collect();
    assert_eq!(said[0], [("$.ssn", "123-45-6789"), ("$.m", "jane\\u0040example.com")]);
    assert_eq!(said[1], [("$.ssn", "123456789")]);
    assert_eq!(said[2], [("$", "jane@example.com")]);
    assert!(said[3].is_empty() && said[4].is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 of 5 lines have no string `text`"), "{output:?}");
    check(
        &folder.scan(&["--ndjson-field", "txt"], "{\"text\":\"a\"}"),
        2,
        "{\"line\":1,\"findings\":[]}\n",
        "no line of standard input is",
    );
    check(
        &folder.scan(&["--ndjson-field", "t"], "{}\nx"),
        4,
        "{\"line\":1,\"findings\":[]}\n",
        "malformed at byte 3 of standard input",
    );
}

#[test]
fn fifty_megabytes_take_no_memory() {
    // Without optimisation the same is shown by a tenth of it.
    let megabytes = if cfg!(debug_assertions) { 5 } else { 50 };
    let item =
        r#"{"id":9007199254740993,"ssn":"123-45-6789","price":1.10,"note":"J\u00fcrgen wrote to jane@example.com" },"#;
    let block = item.repeat(1_000_000 / item.len());
    let table = "1,2026-01-02,\"Jane, the first\",jane@example.com,123-45-6789\n".repeat(17_000);
    let text = "2026-01-02 INFO user jane@example.com has ssn 123-45-6789 and more\n".repeat(15_000);
    let lines = format!("{}\n", item.trim_end_matches(',')).repeat(1_000_000 / item.len());
    let long = "all the words of one string and jane@example.com with ssn 123-45-6789 ".repeat(14_000);
    for (format, start, block, end) in [
        ("json", "[", &block, "0]"),
        ("json", "\"", &long, "\""),
        ("ndjson", "", &lines, ""),
        ("csv", "id,day,name,mail,ssn\n", &table, ""),
        ("text", "", &text, ""),
    ] {
        let mut child = Folder::new().spawn("scan", &["--input", format]);
        let mut stdin = child.stdin.take().expect("stdin");
        stdin.write_all(start.as_bytes()).expect("write");
        for _ in 0..megabytes {
            stdin.write_all(block.as_bytes()).expect("write");
        }
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("VmHWM");
        let peak: u64 = line.trim().trim_end_matches(" kB").parse().expect("number");
        assert!(peak < 50 * 1024, "{format}: {peak} KiB");
        stdin.write_all(end.as_bytes()).expect("write");
        drop(stdin);
        let output = child.wait_with_output().expect("end");
        let stdout = String::from_utf8_lossy(&output.stdout);
        let found = megabytes * block.matches("jane@").count();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(stdout.contains(&format!(": {} findings", 2 * found)), "{format}: {found} pairs: {stdout}");
    }
}

#[test]
fn whoever_reads_no_further_ends_it_quietly() {
    let mut child = Folder::new().spawn("scan", &["--input", "text", "--format", "jsonl"]);
    let mut stdin = child.stdin.take().expect("stdin");
    drop(child.stdout.take());
    let writer = std::thread::spawn(move || while stdin.write_all(b"mail jane@example.com\n").is_ok() {});
    check(&child.wait_with_output().expect("end"), 0, "", "");
    writer.join().expect("writer");
}

#[test]
fn findings_are_out_before_the_input_ends() {
    use std::io::{BufRead, BufReader};
    let mut child = Folder::new().spawn("scan", &["--input", "ndjson", "--format", "jsonl"]);
    let mut stdin = child.stdin.take().expect("stdin");
    stdin.write_all(b"{\"m\":\"jane@example.com\"}\n").expect("write");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut line).expect("read");
    assert!(line.contains("\"path\":\"$.m\",\"entity\":\"email\""), "{line}");
    drop(stdin);
    assert_eq!(child.wait().expect("end").code(), Some(0));
}

#[test]
fn entities_are_listed_from_the_one_table() {
    let list = |arguments: &[&str]| {
        let output = Folder::new().spawn("entities", arguments).wait_with_output().expect("end");
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).expect("text")
    };
    assert!(list(&[]).lines().any(|line| line.starts_with("credit_card ") && line.contains("ISO/IEC 7812")));
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/entities.md")).expect("page");
    assert!(list(&["--markdown"]) == page, "docs/entities.md is out of date");
    let json: Value = serde_json::from_str(&list(&["--json"])).expect("JSON");
    assert!(json.as_array().expect("list").iter().any(|one| one["name"] == "iban" && one["context"] == "not needed"));
}
