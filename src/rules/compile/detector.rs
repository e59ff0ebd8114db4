//! Compiles `detectors`: entities of the operator's own, each with a pattern, the words that should stand near, and examples
//! that are tried out before anything runs.

use std::sync::Arc;

use super::{Context, Definition, Names};
use crate::pii::custom::{Custom, LONGEST_MATCH, MOST_CUSTOMS, MOST_NAMES, Name, Pattern, PatternError, is_phrase};
use crate::pii::{self, Confidence, Customs, Detector, EntitySet};
use crate::rules::fields::{self, Fields};
use crate::rules::problem::{Place, quote};
use crate::rules::suggest;
use crate::rules::tree::Node;
use crate::rules::words::DETECTOR;

/// Most context words, examples and counter-examples of one detector.
const MOST_TEXTS: usize = 64;

/// All detectors that could be made.
pub(super) fn compile_all(detectors: &Names<'_>, cx: &mut Context<'_, '_>) -> Arc<Customs> {
    if let Some(definition) = detectors.list.get(MOST_CUSTOMS) {
        let hint = "patterns of the same kind can be alternatives of one detector: `(?:A-\\d{6}|B\\d{8})`".to_owned();
        cx.problems.refuse_with(definition.place, format!("there are more than {MOST_CUSTOMS} detectors"), hint);
    }
    let made: Vec<_> = detectors.list.iter().take(MOST_CUSTOMS).map(|one| (one, compile(one, cx))).collect();
    for (definition, made) in &made {
        if let Some(custom) = made {
            try_out(definition, custom, cx);
        }
    }
    Arc::new(Customs::new(made.into_iter().filter_map(|(_, custom)| custom).collect()))
}

fn compile(definition: &Definition<'_>, cx: &mut Context<'_, '_>) -> Option<Custom> {
    let fields = Fields::of(definition.node, &DETECTOR, &mut cx.problems)?;
    let is_free = is_free(definition, cx);
    let context = fields.value("context").map(|node| context(node, cx)).unwrap_or_default();
    let node = fields.required("pattern", &mut cx.problems)?;
    let pattern = pattern(node, cx)?;
    let name = Name::new(definition.name).map_err(|_| {
        let message = format!("{MOST_NAMES} different detectors have been loaded since the start, and no more fit");
        cx.problems.refuse_with(definition.place, message, "restart, or keep the names".to_owned());
    });
    is_free.then_some(Custom { name: name.ok()?, pattern, context })
}

/// Whether no entity or group that is built in has the name.
fn is_free(definition: &Definition<'_>, cx: &mut Context<'_, '_>) -> bool {
    let taken = (cx.surroundings.entities)(definition.name).is_some();
    if taken {
        let message = format!("{} is built in: a detector of your own needs another name", quote(definition.name));
        cx.problems.refuse_with(definition.place, message, format!("for example `our_{}`", definition.name));
    }
    !taken
}

fn context(node: &Node, cx: &mut Context<'_, '_>) -> Vec<Box<str>> {
    let texts = fields::texts(node, "`context`", &mut cx.problems);
    few(texts.len(), "context words", node.place, cx);
    for (text, node) in texts.iter().filter(|(text, _)| !is_phrase(text)) {
        let hint = "up to four words of letters: `badge`, `employee number`".to_owned();
        cx.problems.refuse_with(node.place, format!("{} cannot be a context word", quote(text)), hint);
    }
    texts.into_iter().map(|(text, _)| text.into()).collect()
}

fn few(count: usize, what: &str, place: Place, cx: &mut Context<'_, '_>) {
    if count > MOST_TEXTS {
        cx.problems.refuse(place, format!("there are {count} {what}, at most {MOST_TEXTS} are allowed"));
    }
}

fn pattern(node: &Node, cx: &mut Context<'_, '_>) -> Option<Pattern> {
    let text = fields::text(node, "`pattern`", &mut cx.problems)?;
    match Pattern::new(text) {
        Ok(pattern) => {
            if let Some(anchor) = pattern.anchor {
                let message =
                    format!("`{anchor}` ties the pattern to an end of the value: inside of a text it matches nothing");
                cx.problems.warn(
                    node.place,
                    message,
                    "leave it out: a match begins and ends at word boundaries by itself",
                );
            }
            Some(pattern)
        }
        Err(PatternError { at, message, hint }) => {
            let message = match at.and_then(|at| text.chars().nth(at).map(|found| (at, found))) {
                Some((at, found)) => format!("{message} (character {} of it, {})", at + 1, quote(&found.to_string())),
                None => message,
            };
            cx.problems.refuse_with(node.place, message, hint.map(str::to_owned));
            None
        }
    }
}

/// Examples must be found and counter-examples must not, each as a text of its own with the words of `context` granted.
fn try_out(definition: &Definition<'_>, custom: &Custom, cx: &mut Context<'_, '_>) {
    let Some(fields) = Fields::of(definition.node, &DETECTOR, &mut super::Problems::new(&[])) else { return };
    let customs = Arc::new(Customs::new(vec![custom.clone()]));
    let detector = Detector::with_customs(EntitySet::all_own(), &customs);
    let granted = custom
        .context
        .first()
        .map_or_else(pii::Context::default, |phrase| customs.under(pii::Context::default(), phrase));
    let is_found = |text: &str| {
        let mut found = Vec::new();
        detector.find(text, granted, &mut found);
        found.iter().any(|one| one.confidence >= Confidence::Likely)
    };
    for (key, wanted) in [("examples", true), ("counter_examples", false)] {
        let Some(node) = fields.value(key) else { continue };
        let texts = fields::texts(node, &format!("`{key}`"), &mut cx.problems);
        few(texts.len(), key, node.place, cx);
        for (text, node) in texts.into_iter().take(MOST_TEXTS).filter(|(text, _)| is_found(text) != wanted) {
            let (message, hint) = if wanted {
                (
                    format!("the pattern of `{}` does not match its example {}", definition.name, quote(text)),
                    format!("a match ends at ASCII word boundaries and is at most {LONGEST_MATCH} bytes long"),
                )
            } else {
                (
                    format!("the pattern of `{}` matches its counter-example {}", definition.name, quote(text)),
                    "make the pattern narrower, or take the counter-example out".to_owned(),
                )
            };
            cx.problems.refuse_with(node.place, message, hint);
        }
    }
}

/// What to say of a name that is neither an entity, a group nor a detector.
pub(super) fn guess(name: &str, customs: &Customs, built_in: &[&'static str]) -> Option<String> {
    suggest::hint(name, customs.list().iter().map(|custom| custom.name.as_str()).chain(built_in.iter().copied()))
}
