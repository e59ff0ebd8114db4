//! Compiles an action in all its spellings (`redact`, `{redact: {with: x}}`), and refuses it where it cannot work.

use super::{Context, is_nothing, json, wire};
use crate::actions::{Action, Block, Mask, Redact};
use crate::policy::{Direction, Target, Within};
use crate::rules::fields::{self, Fields};
use crate::rules::problem::{Place, quote};
use crate::rules::suggest;
use crate::rules::tree::{Node, Value};
use crate::rules::words::{ACTION, BLOCK, MASK, NOT_YET_HINT, REDACT, Scope, not_yet};

/// What the action is for. The target is `None` when it was refused: then nothing is said about how they combine.
pub(super) struct Subject<'r> {
    pub direction: Direction,
    pub target: Option<&'r Target>,
    /// Whether the rule looks at the JSON in selected strings.
    pub parse: bool,
}

impl Subject<'_> {
    fn detects(&self) -> bool {
        matches!(self.target, Some(Target::Detect { .. }))
    }

    fn selects(&self) -> bool {
        matches!(self.target, Some(Target::Select(_)))
    }

    /// Whether what the action writes gets into header fields.
    fn writes_headers(&self) -> bool {
        match self.target {
            Some(Target::Headers(_) | Target::Detect { within: Within::Headers(_), .. }) => true,
            Some(Target::Detect { within: Within::Places { headers, .. }, .. }) => !headers.is_empty(),
            Some(Target::Detect { .. } | Target::Select(_) | Target::KeepOnly(_) | Target::Query(_)) | None => false,
        }
    }
}

pub(super) fn compile(node: &Node, subject: &Subject<'_>, cx: &mut Context<'_, '_>) -> Option<Action> {
    let (word, place, argument) = spelled(node, cx)?;
    if ACTION.later.contains(&word) {
        cx.problems.refuse_with(place, not_yet(word), NOT_YET_HINT.to_owned());
        return None;
    }
    fits(word, place, subject, cx)?;
    let action = match word {
        "mask" => Action::Mask(mask(argument, cx)?),
        "redact" => Action::Redact(redact(argument, subject, cx)?),
        "block" => Action::Block(block(argument, subject.direction, cx)?),
        "replace" => Action::Replace(replacement(value_of("replace", place, argument, cx)?, subject, cx)?),
        "set" => Action::Set(json::render(value_of("set", place, argument, cx)?, &mut cx.problems)?),
        "rename" => Action::Rename(new_name(value_of("rename", place, argument, cx)?, cx)?),
        "allow" | "log" | "remove" => {
            if let Some(argument) = argument {
                let hint = format!("write `action: {word}`");
                cx.problems.refuse_with(argument.place, format!("`{word}` takes no settings"), hint);
                return None;
            }
            match word {
                "allow" => Action::Allow,
                "log" => Action::Log,
                _ => Action::Remove,
            }
        }
        _ => {
            let known = ACTION.keys.iter().chain(ACTION.later).copied();
            cx.problems.refuse_with(place, format!("there is no action {}", quote(word)), suggest::hint(word, known));
            return None;
        }
    };
    Some(action)
}

/// The action's word, its place, and what it is given.
fn spelled<'t>(node: &'t Node, cx: &mut Context<'_, '_>) -> Option<(&'t str, Place, Option<&'t Node>)> {
    match &node.value {
        Value::Map(entries) => {
            if let [entry] = entries.as_slice() {
                return Some((&entry.key, entry.place, Some(&entry.value)));
            }
            let message = format!("a rule has one action, not {}", entries.len());
            let hint = "as in `action: {mask: {keep_last: 4}}`; further actions are further rules".to_owned();
            cx.problems.refuse_with(entries.get(1).map_or(node.place, |entry| entry.place), message, hint);
            None
        }
        Value::Scalar(_) | Value::List(_) => {
            Some((fields::text(node, "`action`", &mut cx.problems)?, node.place, None))
        }
    }
}

/// Refuses combinations of action and target that cannot work.
fn fits(word: &str, place: Place, subject: &Subject<'_>, cx: &mut Context<'_, '_>) -> Option<()> {
    let mut refuse = |message: String, hint: &str| {
        cx.problems.refuse_with(place, message, hint.to_owned());
        None
    };
    match (word, subject.target) {
        ("remove" | "replace" | "rename" | "set", Some(Target::Select(_))) if subject.parse => refuse(
            format!("`{word}` does not go together with `parse`: what is selected is the whole string"),
            "use `mask` or `redact` for every value in it, add `detect`, or leave `parse` out",
        ),
        ("remove" | "rename" | "set", Some(Target::Detect { .. })) => refuse(
            format!("`{word}` does not go together with `detect`: what is detected is a part of a value"),
            "use `redact` or `mask`, or name the field with `select` alone",
        ),
        ("rename" | "set", Some(Target::Query(_) | Target::Headers(_))) => {
            refuse(format!("`{word}` works on body fields only"), "use it with `select`")
        }
        ("rename", Some(Target::Select(selectors))) => match selectors.iter().find(|it| !it.selects_members()) {
            Some(selector) => refuse(
                format!("`rename` needs a selector that ends in a name, which {} does not", quote(selector.text())),
                "as in `$.phone` or `$..phone`",
            ),
            None => Some(()),
        },
        ("set", Some(Target::Select(selectors))) => match selectors.iter().find(|it| it.definite_name().is_none()) {
            Some(selector) => refuse(
                format!("`set` needs a selector for exactly one field, which {} is not", quote(selector.text())),
                "names and indexes only, a name at the end: `$.meta.gateway`; `replace` works with every selector",
            ),
            None => Some(()),
        },
        _ => Some(()),
    }
}

fn value_of<'t>(word: &str, place: Place, argument: Option<&'t Node>, cx: &mut Context<'_, '_>) -> Option<&'t Node> {
    if argument.is_none() {
        cx.problems.refuse_with(place, format!("`{word}` needs a value"), format!("as in `action: {{{word}: text}}`"));
    }
    argument
}

/// The settings of an action. `{mask: }` is a slip of the pen, not the bare word.
fn settings<'t>(node: &'t Node, scope: &'static Scope, cx: &mut Context<'_, '_>) -> Option<Fields<'t>> {
    if is_nothing(node) {
        let hint = "without settings write the bare word, as in `action: redact`".to_owned();
        cx.problems.refuse_with(node.place, format!("the settings of {} are missing", scope.what), hint);
        return None;
    }
    Fields::of(node, scope, &mut cx.problems)
}

fn mask(argument: Option<&Node>, cx: &mut Context<'_, '_>) -> Option<Mask> {
    let mut mask = Mask { keep_first: 0, keep_last: 0, with: '*', as_string: false };
    let Some(argument) = argument else { return Some(mask) };
    let fields = settings(argument, &MASK, cx)?;
    for (key, kept) in [("keep_first", &mut mask.keep_first), ("keep_last", &mut mask.keep_last)] {
        if let Some(node) = fields.value(key) {
            *kept = fields::whole(node, &format!("`{key}`"), 0..=1000, &mut cx.problems)? as usize;
        }
    }
    if let Some(node) = fields.value("char") {
        let text = fields::text(node, "`char`", &mut cx.problems)?;
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(only), None) if !only.is_control() => mask.with = only,
            _ => {
                let hint = "as in `char: \"#\"`".to_owned();
                cx.problems.refuse_with(node.place, format!("`char` must be one character, not {}", quote(text)), hint);
                return None;
            }
        }
    }
    mask.as_string = as_string(&fields, cx)?;
    Some(mask)
}

fn redact(argument: Option<&Node>, subject: &Subject<'_>, cx: &mut Context<'_, '_>) -> Option<Redact> {
    let mut redact = Redact { with: None, whole: false, as_string: false };
    let Some(argument) = argument else { return Some(redact) };
    let fields = settings(argument, &REDACT, cx)?;
    if let Some(node) = fields.value("with") {
        let text = fields::text(node, "`with`", &mut cx.problems)?;
        if subject.writes_headers() && !wire::fits_field(text) {
            cx.problems.refuse(node.place, "`with` contains characters that a header cannot hold");
            return None;
        }
        redact.with = Some(text.into());
    }
    if let Some(entry) = fields.entry("whole") {
        redact.whole = fields::flag(&entry.value, "`whole`", &mut cx.problems)?;
        if redact.whole && subject.target.is_some() && !subject.selects() {
            let hint = "it replaces an object or array that `select` names".to_owned();
            cx.problems.refuse_with(entry.place, "`whole` goes only with `select` alone", hint);
            return None;
        }
    }
    if redact.whole && subject.parse {
        let hint = "leave one of them out: without `whole` every value in the string is redacted".to_owned();
        cx.problems.refuse_with(argument.place, "`whole` does not go together with `parse`", hint);
        return None;
    }
    redact.as_string = as_string(&fields, cx)?;
    Some(redact)
}

fn as_string(fields: &Fields<'_>, cx: &mut Context<'_, '_>) -> Option<bool> {
    let Some(node) = fields.value("as") else { return Some(false) };
    fields::word(node, "`as`", &[("string", true)], &[], &mut cx.problems)
}

fn block(argument: Option<&Node>, direction: Direction, cx: &mut Context<'_, '_>) -> Option<Block> {
    let status = match direction {
        Direction::Request => 403,
        Direction::Response => 502,
    };
    let mut block = Block { status, message: None };
    let Some(argument) = argument else { return Some(block) };
    let fields = settings(argument, &BLOCK, cx)?;
    if let Some(node) = fields.value("status") {
        block.status = fields::whole(node, "`status`", 400..=599, &mut cx.problems)? as u16;
    }
    if let Some(node) = fields.value("message") {
        let text = fields::text(node, "`message`", &mut cx.problems)?;
        if text.chars().count() > 1000 {
            cx.problems.refuse(node.place, "`message` is longer than 1000 characters");
            return None;
        }
        block.message = Some(text.into());
    }
    Some(block)
}

fn replacement(node: &Node, subject: &Subject<'_>, cx: &mut Context<'_, '_>) -> Option<Box<str>> {
    let in_body = subject.target.is_none() || subject.selects() || (subject.detects() && !subject.writes_headers());
    if !in_body {
        let fits = matches!(&node.value, Value::Scalar(scalar) if wire::fits_field(&scalar.text));
        if !fits {
            let message = "a header or query parameter can be replaced with one line of text or a number only";
            cx.problems.refuse(node.place, message);
            return None;
        }
    }
    json::render(node, &mut cx.problems)
}

fn new_name(node: &Node, cx: &mut Context<'_, '_>) -> Option<Box<str>> {
    let name = fields::text(node, "the new name", &mut cx.problems)?;
    if name.is_empty() || name.len() > 256 {
        cx.problems.refuse(node.place, "the new name must have 1 to 256 bytes");
        return None;
    }
    Some(name.into())
}
