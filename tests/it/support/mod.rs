//! What the stories share: a gateway process, an upstream that can be scripted, a client that says exactly what it is told.

pub mod client;
pub mod faulty;
pub mod gateway;
pub mod http2;
pub mod tls;
pub mod upstream;

use std::time::{Duration, Instant};

pub use client::{get, post, raw, request};
pub use gateway::Gateway;
pub use upstream::{Answer, Upstream};

/// Waits for a condition, at most ten seconds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// One upstream, one route for everything, these rules for responses.
pub fn response_rules(upstream: &Upstream, rules: &str) -> String {
    rules_for(upstream, &format!("    response:\n{}", indent(rules)))
}

/// One upstream, one route for everything, these rules for requests.
pub fn request_rules(upstream: &Upstream, rules: &str) -> String {
    rules_for(upstream, &format!("    request:\n{}", indent(rules)))
}

/// One upstream, one route for everything, one policy with this text.
pub fn rules_for(upstream: &Upstream, policy: &str) -> String {
    format!(
        "version: 1
upstreams:
  u: {{targets: [\"http://{}\"], timeouts: {{connect: 1s, response: 2s, idle: 2s}}}}
routes:
  all: {{match: {{paths: [\"/{{*rest}}\"]}}, upstream: u, policies: [p]}}
policies:
  p:
{policy}
",
        upstream.address
    )
}

/// No policy at all.
pub fn no_rules(upstream: &Upstream) -> String {
    format!(
        "version: 1
upstreams:
  u: {{targets: [\"http://{}\"], timeouts: {{connect: 1s, response: 2s, idle: 2s}}}}
routes:
  all: {{match: {{paths: [\"/{{*rest}}\"]}}, upstream: u}}
",
        upstream.address
    )
}

fn indent(rules: &str) -> String {
    rules.lines().flat_map(|line| ["      ", line, "\n"]).collect()
}
