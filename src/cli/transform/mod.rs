//! `fieldgate transform`: a body from a file or standard input, through a route's rules, to standard output; what the other
//! side would receive. It needs no gateway and no network, and it refuses to let pass what cannot be judged, whatever
//! `on_failure` says.

mod ending;
mod stream;
mod summary;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::input::Input;
use super::progress::Progress;
use super::{check, say};
use crate::content::coding::Codings;
use crate::policy::{Direction, Failure};
use crate::rules::{self, Source};
use ending::Ending;
use stream::Work;

const AFTER_HELP: &str = "Exit codes:
  0  written, changed or not
  1  standard input or output failed on the way
  2  a mistake in the rules or in what was asked for
  3  a rule blocks the body
  4  the body cannot be judged: malformed, oversize or unsupported; the reason and the byte are told

A body of up to 64 KiB, and every body that a rule may block, is written when all of it was judged;
a longer one is written as it is read, so that with 4 a part of it may be out already.

Examples:
  fieldgate transform --rules rules --route customers record.json
  curl -s http://127.0.0.1:9001/customers/1 | fieldgate transform --rules rules --route customers -v
  fieldgate transform --rules rules --route customers --content-encoding gzip export.json.gz
  fieldgate transform --rules rules --route customers --direction request order.json >/dev/null";

/// Rewrite one body from a file or standard input by a route's rules
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Transform {
    /// The rules folder
    #[arg(long, env = "FIELDGATE_RULES", value_name = "DIR")]
    rules: PathBuf,
    /// The route whose policies judge it
    #[arg(long, value_name = "NAME")]
    route: String,
    /// Which half of an exchange it is
    #[arg(long, value_enum, default_value_t = Half::Response, value_name = "HALF")]
    direction: Half,
    /// What the body says it is
    #[arg(long, default_value = "application/json", value_name = "TYPE")]
    content_type: String,
    /// The content codings that it comes with: gzip, deflate, br, zstd, or several; it is written without them
    #[arg(long, default_value = "identity", value_name = "CODINGS", hide_default_value = true)]
    content_encoding: String,
    /// Say on standard error what was found: rule, kind, place and count, never a value
    #[arg(long, short = 'v')]
    summary: bool,
    /// The body; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Half {
    /// What a client sends
    Request,
    /// What a client receives
    Response,
}

impl Transform {
    pub(super) fn execute(self) -> ExitCode {
        let stderr = &mut io::stderr();
        match self.run(stderr) {
            Ok(()) => ExitCode::SUCCESS,
            Err(ending) => {
                if let Some(message) = ending.message() {
                    say(&format!("fieldgate: {message}"), stderr);
                }
                ending.code()
            }
        }
    }

    fn run(self, stderr: &mut impl Write) -> Result<(), Ending> {
        let ruleset = rules::load(&Source::from(self.rules)).map_err(|problems| {
            // A closed standard error changes nothing: the exit code says it too.
            drop(check::refuse(&problems, stderr));
            Ending::Rules
        })?;
        let route = ruleset.route(&self.route).map_err(Ending::Usage)?;
        let mut input = Input::open(&self.file).map_err(Ending::Usage)?;
        let (plan, direction) = match self.direction {
            Half::Request => (&route.request, Direction::Request),
            Half::Response => (&route.response, Direction::Response),
        };
        if plan.reads_body() {
            let codings = Codings::of([self.content_encoding.as_bytes()]).map_err(|what| Ending::Unreadable {
                failure: Failure::Unsupported,
                at: 0,
                what,
            })?;
            input.unpack(&codings, route.decoded_limit);
        }
        let mut work = Work::new(plan, route, &self.content_type);
        // The bar and the body would write over each other.
        let mut progress = Progress::new(input.length(), !io::stdout().is_terminal());
        let result = work.run(&mut input, &mut io::stdout().lock(), |bytes| progress.at(bytes));
        progress.done();
        if self.summary {
            let head = format!("{} of route `{}`", direction.name(), route.name);
            drop(stderr.write_all(summary::of(&head, &work, &result).as_bytes()));
        }
        match result {
            // Whoever read it has seen enough.
            Err(Ending::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }
}

#[cfg(test)]
mod tests;
