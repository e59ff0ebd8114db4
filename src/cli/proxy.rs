//! `fieldgate proxy`: zero configuration. Everything is forwarded to one upstream, and every built-in detector runs in shadow
//! mode, so that the dashboard shows what would be found before anybody writes a rule.

use clap::Args;

use super::{announce, say, serve};
use crate::app::{self, data_beside};
use crate::rules::Source;
use crate::settings::Flags;

#[derive(Debug, Args)]
pub(super) struct Proxy {
    /// The upstream: `http://HOST:PORT` or `https://HOST:PORT`
    #[arg(long, value_name = "URL")]
    to: String,
    #[command(flatten)]
    flags: Flags,
}

impl Proxy {
    pub(super) fn execute(self) -> Result<(), app::Error> {
        let data = data_beside(std::path::Path::new("rules"));
        let source = Source::Files(vec![("proxy.yaml".to_owned(), rules_for(&self.to))]);
        serve(self.flags, &data, source, |at| {
            say(&announce(at), &mut std::io::stdout());
            say("shadow mode: findings are recorded, nothing is changed or blocked", &mut std::io::stdout());
        })
    }
}

/// The rules that stand for no rules. The URL is written as a JSON string, which is YAML: it cannot become anything else.
fn rules_for(url: &str) -> String {
    let url = serde_json::Value::from(url);
    format!(
        "version: 1
upstreams:
  upstream: {{targets: [{url}]}}
routes:
  everything: {{match: {{paths: [\"/{{*rest}}\"]}}, upstream: upstream, policies: [watch]}}
policies:
  watch:
    mode: shadow
    request:
      - {{id: found-in-requests, detect: [pii, secrets], in: [body, query, path], action: redact}}
    response:
      - {{id: found-in-responses, detect: [pii, secrets], action: redact}}
"
    )
}
