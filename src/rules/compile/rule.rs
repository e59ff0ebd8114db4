//! Compiles one rule: where it looks and what it does there, refusing combinations that mean nothing.

use super::action::Subject;
use super::{Context, action, detector, is_nothing, wire};
use crate::actions::Action;
use crate::content::json::selector::Selector;
use crate::pii::{Confidence, EntitySet};
use crate::policy::{Direction, NamePattern, Target, Within};
use crate::rules::fields::{self, Fields};
use crate::rules::problem::{Place, quote};
use crate::rules::tree::{Entry, Node, Value};
use crate::rules::words::{PLACE, RULE};

/// A rule without what its policy gives it.
pub(super) struct Compiled<'t> {
    pub id: Option<(&'t str, Place)>,
    pub target: Target,
    /// Whether it looks at the JSON in the selected strings.
    pub parse: bool,
    pub action: Action,
}

/// The keys that say where a rule looks.
const TARGETS: &str = "`select`, `query`, `headers`, `detect` or `keep_only`";

pub(super) fn compile<'t>(node: &'t Node, direction: Direction, cx: &mut Context<'_, '_>) -> Option<Compiled<'t>> {
    let fields = Fields::of(node, &RULE, &mut cx.problems)?;
    let id = fields.value("id").and_then(|node| {
        let id = fields::text(node, "`id`", &mut cx.problems)?;
        fields::name(id, node.place, "rule", &mut cx.problems).then_some((id, node.place))
    });
    let target = target(&fields, direction, cx);
    let parse = parse(&fields, cx);
    let subject = Subject { direction, target: target.as_ref(), parse: parse == Some(true) };
    let action = match fields.entry("action").filter(|entry| !is_nothing(&entry.value)) {
        Some(entry) if fields.entry("keep_only").is_some() => keep_only_action(entry, cx),
        Some(entry) => action::compile(&entry.value, &subject, cx),
        None if fields.entry("keep_only").is_some() => Some(Action::Remove),
        None => {
            let hint = "for example `action: redact`; `action: log` only records".to_owned();
            cx.problems.refuse_with(node.place, "the rule has no `action`", hint);
            None
        }
    };
    Some(Compiled { id, target: target?, parse: parse?, action: action? })
}

/// Whether strings are opened. `None`: what it says was refused.
fn parse(fields: &Fields<'_>, cx: &mut Context<'_, '_>) -> Option<bool> {
    let Some(entry) = fields.entry("parse") else { return Some(false) };
    if fields.entry("select").is_none() {
        let hint = "say which strings hold JSON, as in `select: $..payload`".to_owned();
        cx.problems.refuse_with(entry.place, "`parse` goes only with `select`", hint);
        return None;
    }
    fields::word(&entry.value, "`parse`", &[("json", true)], &[], &mut cx.problems)
}

/// Whether the selectors' names match keys whatever their case. `None`: what it says was refused.
fn fold_case(fields: &Fields<'_>, cx: &mut Context<'_, '_>) -> Option<bool> {
    let Some(entry) = fields.entry("fold_case") else { return Some(false) };
    if fields.entry("select").is_none() && fields.entry("keep_only").is_none() {
        let hint = "it is about the names in selectors; header names match whatever their case".to_owned();
        cx.problems.refuse_with(entry.place, "`fold_case` goes only with `select` or `keep_only`", hint);
        return None;
    }
    fields::flag(&entry.value, "`fold_case`", &mut cx.problems)
}

fn keep_only_action(entry: &Entry, cx: &mut Context<'_, '_>) -> Option<Action> {
    let is_remove = matches!(&entry.value.value, Value::Scalar(scalar) if scalar.text == "remove");
    if !is_remove {
        let hint = "leave `action` away, or write `action: remove`".to_owned();
        cx.problems.refuse_with(entry.place, "`keep_only` removes everything else: it takes no other action", hint);
    }
    is_remove.then_some(Action::Remove)
}

fn target(fields: &Fields<'_>, direction: Direction, cx: &mut Context<'_, '_>) -> Option<Target> {
    let exclusive: Vec<&Entry> =
        ["select", "query", "headers", "keep_only"].iter().filter_map(|key| fields.entry(key)).collect();
    let detect = fields.entry("detect");
    if let [first, second, ..] = exclusive.as_slice() {
        let message = format!("a rule looks in one place: `{}` and `{}` do not go together", first.key, second.key);
        cx.problems.refuse_with(second.place, message, "write two rules".to_owned());
        return None;
    }
    for key in ["in", "min_confidence"] {
        if let (Some(entry), None) = (fields.entry(key), detect) {
            cx.problems.refuse_with(entry.place, format!("`{key}` goes only with `detect`"), "remove it".to_owned());
        }
    }
    let folds = fold_case(fields, cx);
    let chosen = exclusive.first().map(|entry| (*entry, chosen(entry, folds, direction, cx)));
    let Some(detect) = detect else {
        let Some((_, chosen)) = chosen else {
            let message = format!("the rule does not say where it looks: it needs {TARGETS}");
            cx.problems.refuse(fields.place, message);
            return None;
        };
        return chosen;
    };
    let entities = entities(&detect.value, cx);
    let min_confidence = fields.value("min_confidence").map_or(Some(Confidence::Likely), |node| {
        let words =
            [("possible", Confidence::Possible), ("likely", Confidence::Likely), ("certain", Confidence::Certain)];
        fields::word(node, "`min_confidence`", &words, &[], &mut cx.problems)
    });
    let within = match (chosen, fields.entry("in")) {
        (Some((entry, _)), _) if entry.key == "keep_only" => {
            cx.problems.refuse_with(
                entry.place,
                "`keep_only` does not go together with `detect`",
                "write two rules".to_owned(),
            );
            None
        }
        (Some((entry, _)), Some(places)) => {
            let message = format!("`in` does not go together with `{}`: the rule looks only there", entry.key);
            cx.problems.refuse_with(places.place, message, "remove one of them".to_owned());
            None
        }
        (Some((_, target)), None) => match target? {
            Target::Select(selectors) => Some(Within::Select(selectors)),
            Target::Query(names) => Some(Within::Query(names)),
            Target::Headers(names) => Some(Within::Headers(names)),
            Target::KeepOnly(_) | Target::Detect { .. } => None,
        },
        (None, Some(entry)) => places(&entry.value, direction, cx),
        // A response has no query.
        (None, None) => Some(Within::Places {
            body: true,
            query: direction == Direction::Request,
            path: false,
            headers: Vec::new(),
        }),
    };
    Some(Target::Detect { entities: entities?, min_confidence: min_confidence?, within: within? })
}

fn chosen(entry: &Entry, folds: Option<bool>, direction: Direction, cx: &mut Context<'_, '_>) -> Option<Target> {
    let fold = |selectors: Vec<Selector>| {
        Some(if folds? { selectors.into_iter().map(Selector::fold_case).collect() } else { selectors })
    };
    match entry.key.as_str() {
        "select" => selectors(&entry.value, "`select`", cx).and_then(fold).map(Target::Select),
        "keep_only" => selectors(&entry.value, "`keep_only`", cx).and_then(fold).map(Target::KeepOnly),
        "headers" => header_patterns(&entry.value, cx).map(Target::Headers),
        _ if direction == Direction::Response => {
            cx.problems.refuse_with(entry.place, "a response has no query", "move the rule to `request`".to_owned());
            None
        }
        _ => query_patterns(&entry.value, cx).map(Target::Query),
    }
}

fn selectors(node: &Node, what: &str, cx: &mut Context<'_, '_>) -> Option<Vec<Selector>> {
    let texts = fields::texts(node, what, &mut cx.problems);
    let written = texts.len();
    let parsed: Vec<Selector> = texts
        .into_iter()
        .filter_map(|(text, node)| match Selector::parse(text) {
            Ok(selector) => Some(selector),
            Err(error) => {
                let message = format!("the selector {} is not valid: {}", quote(text), error.message);
                cx.problems.refuse_with(inside(node, text, error.at), message, error.hint);
                None
            }
        })
        .collect();
    (written > 0 && parsed.len() == written).then_some(parsed)
}

/// The place of a byte of a scalar's text; the scalar's own place where the file spells the text otherwise.
fn inside(node: &Node, text: &str, at: usize) -> Place {
    let mut place = node.place;
    if let Value::Scalar(scalar) = &node.value
        && let Some(column) = scalar.column
        && let Some(before) = text.get(..at)
    {
        place.column = column + before.chars().count() as u32;
    }
    place
}

fn header_patterns(node: &Node, cx: &mut Context<'_, '_>) -> Option<Vec<NamePattern>> {
    let texts = fields::texts(node, "`headers`", &mut cx.problems);
    let written = texts.len();
    let patterns: Vec<NamePattern> = texts
        .into_iter()
        .filter_map(|(text, node)| wire::field_pattern(text, node.place, &mut cx.problems).map(NamePattern))
        .collect();
    (written > 0 && patterns.len() == written).then_some(patterns)
}

fn query_patterns(node: &Node, cx: &mut Context<'_, '_>) -> Option<Vec<NamePattern>> {
    let texts = fields::texts(node, "`query`", &mut cx.problems);
    if let Some((_, node)) = texts.iter().find(|(text, _)| text.is_empty() || text.chars().any(char::is_control)) {
        cx.problems.refuse(node.place, "a query parameter's name is empty or contains control characters");
        return None;
    }
    (!texts.is_empty()).then(|| texts.into_iter().map(|(text, _)| NamePattern(text.into())).collect())
}

fn entities(node: &Node, cx: &mut Context<'_, '_>) -> Option<EntitySet> {
    let mut set = EntitySet::EMPTY;
    let mut known = true;
    for (name, node) in fields::texts(node, "`detect`", &mut cx.problems) {
        if let Some(found) = (cx.surroundings.entities)(name).or_else(|| cx.customs.named(name)) {
            set = set.union(found);
        } else {
            known = false;
            let hint = detector::guess(name, &cx.customs, &(cx.surroundings.entity_names)());
            let message = format!("there is no entity, group or detector {}", quote(name));
            cx.problems.refuse_with(node.place, message, hint);
        }
    }
    (known && !set.is_empty()).then_some(set)
}

fn places(node: &Node, direction: Direction, cx: &mut Context<'_, '_>) -> Option<Within> {
    let items = fields::list(node, "`in`", &mut cx.problems)?;
    if items.is_empty() {
        cx.problems.refuse(node.place, "`in` is an empty list: the rule would look nowhere");
        return None;
    }
    let (mut body, mut query, mut path, mut headers) = (false, false, false, Vec::new());
    let mut sound = true;
    for item in items {
        if let Value::Map(_) = &item.value {
            let patterns = Fields::of(item, &PLACE, &mut cx.problems)
                .and_then(|fields| fields.required("headers", &mut cx.problems))
                .and_then(|node| header_patterns(node, cx));
            sound &= patterns.is_some();
            headers.extend(patterns.unwrap_or_default());
            continue;
        }
        let words = [("body", 'b'), ("query", 'q'), ("path", 'p')];
        match fields::word(item, "a place of `in`", &words, &[], &mut cx.problems) {
            Some('b') => body = true,
            Some(_) if direction == Direction::Response => {
                let hint = "write `body`, or `{headers: [x-user-*]}`".to_owned();
                cx.problems.refuse_with(item.place, "a response has neither query nor path", hint);
                sound = false;
            }
            Some('q') => query = true,
            Some(_) => path = true,
            None => sound = false,
        }
    }
    sound.then_some(Within::Places { body, query, path, headers })
}
