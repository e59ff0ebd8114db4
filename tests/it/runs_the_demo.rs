//! The first command of the README: everything on embedded defaults, and the customer comes back protected.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use crate::support::{get, post};

struct Demo(Child);

impl Drop for Demo {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn the_customer_comes_back_protected() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fieldgate"))
        .args(["demo", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"])
        .env_remove("PORT")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("start");
    let stdout = BufReader::new(child.stdout.take().expect("stdout"));
    let _demo = Demo(child);
    let mut addresses = Vec::new();
    for line in stdout.lines().map_while(Result::ok).take(3) {
        let (_, url) = line.split_once("http://").expect("an address");
        addresses.push(url.trim_end_matches('/').parse::<SocketAddr>().expect("address"));
    }
    let [gateway, admin, sample] = addresses[..] else { panic!("three addresses") };
    let plain = get(sample, "/customers/1").text();
    let expected = plain
        .replace("411111111111", "************")
        .replace("\"ssn\": \"123-45-6789\", ", "")
        .replace("\"phone\"", "\"tel\"")
        .replace("jane.alt@example.org", "[REDACTED:email]")
        .replace(".\"}", ".\",\"gateway\":\"fieldgate\"}");
    assert_ne!(plain, expected);
    assert_eq!(get(gateway, "/customers/1").text(), expected);
    assert_eq!(post(gateway, "/customers", r#"{"card":"4111111111111111"}"#).status, 422);
    assert!(get(admin, "/").text().contains("Fieldgate"));
}

#[test]
fn every_verb_explains_itself() {
    let run = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_fieldgate")).args(args).output().expect("run");
        (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let (ok, help) = run(&["--help"]);
    assert!(ok);
    for verb in ["demo", "run", "proxy", "check", "audit"] {
        assert!(help.contains(verb), "{verb}");
        assert!(run(&[verb, "--help"]).0, "{verb}");
    }
    assert!(run(&["--version"]).1.contains(env!("CARGO_PKG_VERSION")));
    let (ok, text) = run(&["run", "--rules", "/nowhere"]);
    assert!(!ok && text.contains("/nowhere"), "{text}");
    let (ok, text) = run(&["check", concat!(env!("CARGO_MANIFEST_DIR"), "/rules")]);
    assert!(ok && text.starts_with("ok:"), "{text}");
    let (ok, text) = run(&["proxy", "--to", "not a url", "--listen", "127.0.0.1:0", "--admin", "off"]);
    assert!(!ok && text.contains("not a url"), "{text}");
}
