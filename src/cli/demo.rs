//! `fieldgate demo`: everything on this machine and nothing else installed. A sample API, the example rules in a folder that
//! can be edited while it runs, the gateway and the dashboard.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{announce, sample, say, serve};
use crate::app;
use crate::rules::Source;
use crate::settings::Flags;

/// The example rules, as they are in the repository.
const RULES: &[(&str, &str)] = &[
    ("routes.yaml", include_str!("../../rules/routes.yaml")),
    ("card-data.yaml", include_str!("../../rules/card-data.yaml")),
    ("detectors.yaml", include_str!("../../rules/detectors.yaml")),
];

/// Where the example rules expect the sample API.
const SAMPLE_ADDRESS: &str = "127.0.0.1:9001";

#[derive(Debug, Args)]
pub(super) struct Demo {
    #[command(flatten)]
    flags: Flags,
}

impl Demo {
    pub(super) fn execute(self) -> Result<(), app::Error> {
        let sample = sample::start(SAMPLE_ADDRESS)?;
        let folder = Folder::make()?;
        let rules = folder.0.join("rules");
        std::fs::create_dir(&rules)?;
        for (name, text) in RULES {
            std::fs::write(rules.join(name), text.replace(SAMPLE_ADDRESS, &sample.to_string()))?;
        }
        let shown = rules.clone();
        serve(self.flags, &folder.0.join("data"), Source::Folder(rules), |at| {
            let text = format!(
                "{}
sample API http://{sample}/
rules      {}

Try:
  curl -i http://{sample}/customers/1     what the API says
  curl -i http://{}/customers/1     what clients get
then look at the dashboard, edit a rule file and ask again. Ctrl-C ends it.",
                announce(at),
                shown.display(),
                at.listen,
            );
            say(&text, &mut std::io::stdout());
        })
    }
}

/// A folder that is gone when the demo ends.
struct Folder(PathBuf);

impl Folder {
    fn make() -> std::io::Result<Self> {
        let name = format!("fieldgate-demo-{}", uuid::Uuid::now_v7().simple());
        let path = std::env::temp_dir().join(name);
        // Fails if somebody else has made it.
        std::fs::create_dir(&path)?;
        restrict(&path)?;
        Ok(Self(path))
    }
}

/// Only its owner may look in.
fn restrict(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}
