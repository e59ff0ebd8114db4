//! A gateway process with a rules folder and a data folder of its own.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tempfile::TempDir;

use super::{client, until};

/// A running gateway. It is killed when dropped.
pub struct Gateway {
    /// For clients.
    pub address: SocketAddr,
    /// The dashboard.
    pub admin: SocketAddr,
    /// Rules and data live here.
    pub folder: Arc<TempDir>,
    child: Child,
    log: Arc<Mutex<String>>,
}

impl Gateway {
    /// Starts with one rule file.
    pub fn start(rules: &str) -> Self {
        Self::start_with(rules, &[])
    }

    /// Starts with one rule file and these flags.
    pub fn start_with(rules: &str, flags: &[&str]) -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("folder"));
        std::fs::create_dir(folder.path().join("rules")).expect("rules folder");
        std::fs::write(folder.path().join("rules/main.yaml"), rules).expect("rule file");
        Self::start_in(folder, flags)
    }

    /// Starts in a folder that has rules, and perhaps data, already.
    pub fn start_in(folder: Arc<TempDir>, flags: &[&str]) -> Self {
        Self::start_among(folder, flags, &[])
    }

    /// Starts in a folder that has rules already, with these variables in its environment.
    pub fn start_among(folder: Arc<TempDir>, flags: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fieldgate"))
            .args(["run", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"])
            .arg("--rules")
            .arg(folder.path().join("rules"))
            .arg("--data")
            .arg(folder.path().join("data"))
            .args(flags)
            .env_remove("PORT")
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("start");
        let log = Arc::new(Mutex::new(String::new()));
        let (stderr, lines) = (child.stderr.take().expect("stderr"), Arc::clone(&log));
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let mut log = lines.lock().expect("lock");
                log.push_str(&line);
                log.push('\n');
            }
        });
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout"));
        let mut address = |label: &str| {
            let mut line = String::new();
            stdout.read_line(&mut line).expect("stdout");
            let found = line
                .strip_prefix(label)
                .and_then(|rest| rest.trim().split_once("://")?.1.strip_suffix('/')?.parse::<SocketAddr>().ok());
            found.unwrap_or_else(|| panic!("no {label} address in {line:?}; log: {}", log.lock().expect("lock")))
        };
        let (listen, admin) = (address("gateway"), address("dashboard"));
        std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
        Self { address: listen, admin, folder, child, log }
    }

    /// Writes a rule file the way editors do: a new file, renamed over the old one.
    pub fn write_rules(&self, rules: &str) {
        let path = self.rules_path();
        let new = path.with_extension("tmp");
        std::fs::write(&new, rules).expect("write");
        std::fs::rename(&new, &path).expect("rename");
    }

    /// The rule file.
    pub fn rules_path(&self) -> PathBuf {
        self.folder.path().join("rules/main.yaml")
    }

    /// The records written so far, oldest first.
    pub fn records(&self) -> Vec<Value> {
        let mut files: Vec<_> = std::fs::read_dir(self.folder.path().join("data"))
            .expect("data folder")
            .flatten()
            .map(|e| e.path())
            .filter(|p| p.extension().is_some_and(|e| e == "jsonl"))
            .collect();
        files.sort();
        let text: String = files.iter().map(|f| std::fs::read_to_string(f).expect("audit file")).collect();
        // The last line may be half written.
        text.split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .map(|line| serde_json::from_str(line).expect("record"))
            .collect()
    }

    /// The record of the exchange that gave this reply.
    pub fn record_of(&self, reply: &client::Reply) -> Value {
        let id = reply.header("x-request-id").expect("x-request-id").to_owned();
        let mut found = None;
        until("the record is in the log", || {
            found = self.records().into_iter().find(|r| r["id"] == id.as_str());
            found.is_some()
        });
        found.expect("found")
    }

    /// What it logged so far.
    pub fn log(&self) -> String {
        self.log.lock().expect("lock").clone()
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.pid().to_string()).status().expect("kill");
        assert!(sent.success());
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> ExitStatus {
        let mut status = None;
        until("the process has ended", || {
            status = self.child.try_wait().expect("wait");
            status.is_some()
        });
        status.expect("status")
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
