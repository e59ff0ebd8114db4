//! `fieldgate run`: the gateway in front of the upstreams that the rule files name.

use std::path::PathBuf;

use clap::Args;

use super::{announce, say, serve};
use crate::app::{self, data_beside};
use crate::rules::Source;
use crate::settings::Flags;

#[derive(Debug, Args)]
pub(super) struct Run {
    /// The rules folder: every `*.yaml`, `*.yml` and `*.json` file in it
    #[arg(long, env = "FIELDGATE_RULES", value_name = "DIR")]
    rules: PathBuf,
    #[command(flatten)]
    flags: Flags,
}

impl Run {
    pub(super) fn execute(self) -> Result<(), app::Error> {
        let data = data_beside(&self.rules);
        serve(self.flags, &data, Source::Folder(self.rules), |at| say(&announce(at), &mut std::io::stdout()))
    }
}
