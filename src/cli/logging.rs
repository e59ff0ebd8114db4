//! How the process logs: to standard error, for people on a terminal and as JSON otherwise. The audit trail is not a log and
//! goes its own way.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::app::Error;
use crate::settings::LogFormat;

/// Starts logging. `filter` is a level or a filter such as `fieldgate=debug`.
pub(super) fn start(format: LogFormat, filter: &str) -> Result<(), Error> {
    // At `trace` the file watcher would log each write to a log file beside the rules, and so write to it.
    let filter = format!("{filter},notify=warn,mio=warn");
    let filter = EnvFilter::try_new(filter).map_err(|error| format!("`log-level` is not a filter: {error}"))?;
    let is_terminal = std::io::stderr().is_terminal();
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    let json = match format {
        LogFormat::Json => true,
        LogFormat::Human => false,
        LogFormat::Auto => !is_terminal,
    };
    if json { builder.json().flatten_event(true).try_init() } else { builder.with_ansi(is_terminal).try_init() }
}
