//! The command line: one file per verb. It reads flags and prints results; what a verb does lives elsewhere.

mod audit;
mod check;
mod demo;
mod entities;
mod input;
mod logging;
mod progress;
mod proxy;
mod run;
mod sample;
mod scan;
mod transform;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::app::{self, Addresses};
use crate::settings::Flags;

/// Data-protection API gateway: inspects and rewrites JSON on its way through, by rules in files, and records every exchange
#[derive(Debug, Parser)]
#[command(name = "fieldgate", version, about, max_term_width = 120, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

const EXAMPLES: &str = "Examples:
  fieldgate demo                              see it work: sample API, example rules, dashboard
  fieldgate proxy --to http://127.0.0.1:3000  what would be found in front of your API; nothing is changed
  fieldgate check rules                       every problem in the rule files, with its place
  fieldgate run --rules rules                 protect; edit the files while it runs
  fieldgate transform --rules rules --route customers record.json
                                              one body, as the other side would receive it
  fieldgate scan export.csv                   where personal data and secrets are in a file";

#[derive(Debug, Subcommand)]
enum Verb {
    /// Show it on this machine: a sample API with personal data, the example rules, the dashboard
    Demo(demo::Demo),
    /// Protect the upstreams that the rule files name; edited files are live within a second
    Run(run::Run),
    /// Without any rules: forward to one upstream and show on the dashboard what the built-in detectors find
    Proxy(proxy::Proxy),
    /// Check rule files: every problem with file, line, column and hint; exit code 1 if there is one
    Check {
        /// The rules folder
        #[arg(value_name = "DIR")]
        rules: PathBuf,
    },
    /// Rewrite one body by a route's rules: from a file or standard input to standard output
    Transform(transform::Transform),
    /// Find personal data and secrets in a file or standard input, without a gateway
    Scan(scan::Scan),
    /// List what can be recognised, and how
    Entities(entities::Entities),
    /// Read the audit log
    #[command(subcommand)]
    Audit(audit::AuditVerb),
}

impl Cli {
    /// Does what was asked for.
    pub fn execute(self) -> ExitCode {
        let done = match self.verb {
            Verb::Demo(demo) => demo.execute(),
            Verb::Run(run) => run.execute(),
            Verb::Proxy(proxy) => proxy.execute(),
            Verb::Check { rules } => return check::check(&rules, &mut std::io::stdout()).unwrap_or(ExitCode::FAILURE),
            Verb::Transform(transform) => return transform.execute(),
            Verb::Scan(scan) => return scan.execute(),
            Verb::Entities(entities) => return entities.execute(),
            Verb::Audit(verb) => return verb.execute(),
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                say(&format!("fieldgate: {error}"), &mut std::io::stderr());
                ExitCode::FAILURE
            }
        }
    }
}

/// What serving verbs have in common.
fn serve(
    flags: Flags,
    data: &std::path::Path,
    source: crate::rules::Source,
    ready: impl FnOnce(Addresses),
) -> Result<(), app::Error> {
    let settings = flags.settle(data)?;
    logging::start(settings.log, &settings.log_level)?;
    app::run(&settings, source, ready)
}

/// Prints the addresses: for people, and for scripts that chose port 0.
fn announce(addresses: Addresses) -> String {
    let admin = addresses.admin.map_or_else(|| "off".to_owned(), |a| format!("http://{a}/"));
    format!(
        "gateway    {}://{}/\ndashboard  {admin}",
        if addresses.secure { "https" } else { "http" },
        addresses.listen
    )
}

/// Writes a line; a closed pipe is not an error worth a message.
fn say(text: &str, out: &mut impl Write) {
    drop(writeln!(out, "{text}").and_then(|()| out.flush()));
}
