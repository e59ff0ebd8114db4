//! Turns the trees of all files into one [`Ruleset`], or tells every problem in every file.
//!
//! First the names of all files are gathered, then each definition is compiled with those names at hand. It promises that
//! a ruleset is made only when there is not one error; it refuses to know where files come from and when they are read.

mod action;
mod detector;
mod json;
mod policy;
mod route;
mod rule;
mod secret;
mod upstream;
mod url;
mod wire;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::fields::{self, Fields, Kind};
use super::problem::{Place, Problems, quote};
use super::source::Reading;
use super::tree::{self, Node, Value};
use super::words::FILE;
use super::{Problem, Ruleset, suggest};
use crate::pii::{Customs, EntitySet};

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// What the rules refer to outside of their files. Tests put their own in its place.
#[derive(Clone)]
pub(crate) struct Surroundings {
    /// The environment variable with this name.
    pub env: Arc<Lookup>,
    /// The entity or group of entities with this name.
    pub entities: fn(&str) -> Option<EntitySet>,
    /// All names that `entities` knows.
    pub entity_names: fn() -> Vec<&'static str>,
}

impl Default for Surroundings {
    fn default() -> Self {
        Self {
            env: Arc::new(|name| std::env::var(name).ok()),
            entities: crate::pii::detector::named,
            entity_names: crate::pii::detector::names,
        }
    }
}

/// What came of one attempt.
pub(crate) struct Attempt {
    /// The ruleset, if there was no error.
    pub ruleset: Option<Ruleset>,
    /// Errors and warnings; only warnings if there is a ruleset.
    pub problems: Vec<Problem>,
    /// The secret files that were looked at, and a digest of each: a change there is a change of the rules.
    pub secrets: Vec<(PathBuf, String)>,
}

/// What is passed down while compiling.
struct Context<'f, 's> {
    problems: Problems<'f>,
    surroundings: &'s Surroundings,
    secrets: Vec<(PathBuf, String)>,
    /// The custom detectors, as soon as they are made.
    customs: Arc<Customs>,
    /// Some file could not be used: what is not defined may be defined there, and nothing is said about it.
    incomplete: bool,
}

impl Context<'_, '_> {
    /// Tells that a name is not defined, unless it may stand in a file that could not be used.
    fn unknown(&mut self, what: &str, name: &str, place: Place, known: &Names<'_>) {
        if !self.incomplete {
            let hint = suggest::hint(name, known.list.iter().map(|definition| definition.name));
            let hint = hint.or_else(|| known.list.is_empty().then(|| format!("no file defines any {what}")));
            self.problems.refuse_with(place, format!("there is no {what} {}", quote(name)), hint);
        }
    }
}

/// One named definition.
struct Definition<'t> {
    name: &'t str,
    place: Place,
    node: &'t Node,
}

/// All definitions of one kind in all files, in the order of files and lines.
#[derive(Default)]
struct Names<'t> {
    list: Vec<Definition<'t>>,
    positions: HashMap<&'t str, usize>,
}

impl<'t> Names<'t> {
    fn gather(&mut self, section: &'t Node, what: &str, problems: &mut Problems<'_>) {
        if is_nothing(section) {
            problems.refuse_with(
                section.place,
                format!("there is no {what} in this section"),
                "remove the key".to_owned(),
            );
            return;
        }
        let Some(entries) = fields::map(section, "this section", problems) else { return };
        for entry in entries {
            if !fields::name(&entry.key, entry.place, what, problems) {
                continue;
            }
            if let Some(first) = self.position(&entry.key).and_then(|position| self.list.get(position)) {
                let message = format!("the {what} `{}` is defined twice", entry.key);
                let hint = format!("the first one is at {}", problems.locate(first.place));
                // The same key twice in one mapping has been told by the tree.
                if first.place.file != entry.place.file {
                    problems.refuse_with(entry.place, message, hint);
                }
                continue;
            }
            self.positions.insert(&entry.key, self.list.len());
            self.list.push(Definition { name: &entry.key, place: entry.place, node: &entry.value });
        }
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }
}

/// Compiles what was read; the ruleset gets this generation number.
pub(crate) fn compile(reading: &Reading, surroundings: &Surroundings, generation: u64) -> Attempt {
    let mut problems = Problems::new(&reading.files);
    let trees: Vec<Option<Node>> = reading
        .files
        .iter()
        .enumerate()
        .map(|(position, file)| tree::parse(position, &file.text, &mut problems))
        .collect();
    let incomplete = !reading.problems.is_empty() || trees.iter().any(Option::is_none);
    let mut cx = Context { problems, surroundings, secrets: Vec::new(), customs: Arc::default(), incomplete };

    let [mut upstreams, mut routes, mut policies, mut detectors] = std::array::from_fn(|_| Names::default());
    for tree in trees.iter().flatten() {
        let Some(file) = Fields::of(tree, &FILE, &mut cx.problems) else { continue };
        version(&file, &mut cx.problems);
        for (key, what, names) in [
            ("upstreams", "upstream", &mut upstreams),
            ("routes", "route", &mut routes),
            ("policies", "policy", &mut policies),
            ("detectors", "detector", &mut detectors),
        ] {
            if let Some(section) = file.value(key) {
                names.gather(section, what, &mut cx.problems);
            }
        }
    }

    cx.customs = detector::compile_all(&detectors, &mut cx);
    let compiled_policies = policy::compile_all(&policies, &mut cx);
    let compiled_upstreams: Vec<_> =
        upstreams.list.iter().map(|upstream| upstream::compile(upstream, &mut cx)).collect();
    let routing = route::compile_all(&routes, &upstreams, &policies, &compiled_policies, &mut cx);
    if routes.list.is_empty() && !cx.incomplete && cx.problems.errors() == 0 {
        let message = "there is no route in any file: every request would be refused";
        cx.problems.refuse_with(Place { file: 0, line: 1, column: 1 }, message, "write a section `routes`".to_owned());
    }

    let Context { problems, secrets, customs, .. } = cx;
    let sound = problems.errors() == 0 && reading.problems.is_empty();
    let mut all = reading.problems.clone();
    all.extend(problems.finish());
    let ruleset = routing.filter(|_| sound).map(|routing| Ruleset {
        generation,
        hash: reading.hash(),
        files: reading.describe(),
        router: routing.router,
        routes: routing.routes,
        upstreams: compiled_upstreams.into_iter().flatten().collect(),
        customs,
        rules: compiled_policies.iter().map(policy::Compiled::rules).sum(),
        warnings: all.clone(),
    });
    Attempt { ruleset, problems: all, secrets }
}

fn version(file: &Fields<'_>, problems: &mut Problems<'_>) {
    let Some(node) = file.value("version") else {
        problems.refuse_with(
            file.place,
            "the file does not say `version`",
            "begin with the line `version: 1`".to_owned(),
        );
        return;
    };
    let is_one = matches!(&node.value, Value::Scalar(scalar) if scalar.kind() == Kind::Number && scalar.text == "1");
    if !is_one {
        let message = format!("this program reads rule language version 1, not {}", fields::describe(node));
        problems.refuse_with(node.place, message, "write `version: 1`".to_owned());
    }
}

fn is_nothing(node: &Node) -> bool {
    matches!(&node.value, Value::Scalar(scalar) if scalar.kind() == Kind::Null)
}
