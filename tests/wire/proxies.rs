//! The proxies that are measured: ours, and two that everybody knows in a plain configuration, each as a process with a
//! folder of its own.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A proxy in front of one upstream. Its process ends when it is dropped.
pub struct Proxy {
    /// What it is called in the table.
    pub name: &'static str,
    /// Where clients connect.
    pub address: SocketAddr,
    child: Child,
    _folder: TempDir,
}

impl Proxy {
    /// The gateway, with a rule about response bodies on every path and deadlines of a second.
    pub fn fieldgate(binary: &Path, upstream: SocketAddr) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let rules = folder.path().join("rules");
        std::fs::create_dir(&rules).expect("folder");
        let text = format!(
            "version: 1
upstreams:
  u: {{targets: [\"http://{upstream}\"], timeouts: {{connect: 1s, response: 1s, idle: 1s}}}}
routes:
  all: {{match: {{paths: [\"/{{*rest}}\"]}}, upstream: u, policies: [p]}}
policies:
  p: {{response: [{{select: $.ssn, action: remove}}]}}
"
        );
        std::fs::write(rules.join("main.yaml"), text).expect("write");
        let mut child = Command::new(binary)
            .args([
                "run",
                "--listen",
                "127.0.0.1:0",
                "--admin",
                "off",
                "--header-timeout",
                "1s",
                "--body-timeout",
                "1s",
            ])
            .args(["--log-level", "error"])
            .arg("--rules")
            .arg(&rules)
            .arg("--data")
            .arg(folder.path().join("data"))
            .env_remove("PORT")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", binary.display()));
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("stdout");
        let address = line.split("http://").nth(1).and_then(|rest| rest.trim().strip_suffix('/')?.parse().ok());
        std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
        Self { name: "Fieldgate", address: address.expect("address"), child, _folder: folder }
    }

    /// nginx; `None`: it is not installed.
    pub fn nginx(upstream: SocketAddr) -> Option<Self> {
        let (folder, address) = (tempfile::tempdir().expect("folder"), free_address());
        let at = folder.path().display();
        let text = format!(
            "daemon off; master_process off; pid {at}/pid; error_log {at}/log;
events {{ }}
http {{
  access_log off; client_body_temp_path {at}/b; proxy_temp_path {at}/p; fastcgi_temp_path {at}/f; uwsgi_temp_path {at}/u;
  scgi_temp_path {at}/s; client_header_timeout 1s; client_body_timeout 1s; proxy_read_timeout 1s;
  server {{ listen {address}; location / {{ proxy_pass http://{upstream}; proxy_http_version 1.1; }} }}
}}
"
        );
        let file = folder.path().join("nginx.conf");
        std::fs::write(&file, text).expect("write");
        let mut command = Command::new("nginx");
        command.arg("-e").arg(folder.path().join("log")).arg("-c").arg(&file);
        Self::peer("nginx", &mut command, address, folder)
    }

    /// `HAProxy`; `None`: it is not installed.
    pub fn haproxy(upstream: SocketAddr) -> Option<Self> {
        let (folder, address) = (tempfile::tempdir().expect("folder"), free_address());
        let text = format!(
            "defaults
  mode http
  timeout connect 1s
  timeout client 1s
  timeout server 1s
  timeout http-request 1s
frontend f
  bind {address}
  default_backend b
backend b
  server s {upstream}
"
        );
        let file = folder.path().join("haproxy.cfg");
        std::fs::write(&file, text).expect("write");
        let mut command = Command::new("haproxy");
        command.arg("-db").arg("-f").arg(&file);
        Self::peer("HAProxy", &mut command, address, folder)
    }

    fn peer(name: &'static str, command: &mut Command, address: SocketAddr, folder: TempDir) -> Option<Self> {
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        let proxy = Self { name, address, child, _folder: folder };
        let deadline = Instant::now() + Duration::from_secs(5);
        while TcpStream::connect(address).is_err() {
            assert!(Instant::now() < deadline, "{name} does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(proxy)
    }

    /// `name version`, as the program says it.
    pub fn version(&self) -> String {
        let flag = if self.name == "Fieldgate" { return self.name.to_owned() } else { "-v" };
        let output = Command::new(self.name.to_ascii_lowercase()).arg(flag).output().expect("version");
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        let version = text.split(|c: char| !c.is_ascii_digit() && c != '.').find(|word| word.contains('.'));
        format!("{} {}", self.name, version.unwrap_or_default())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port")
}
