//! Compiles `policies`: mode, what happens on failure, and the rules of both directions.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Context, Definition, Names, rule};
use crate::actions::Action;
use crate::content::json::selector::Selector;
use crate::policy::{Direction, FailurePolicy, Mode, OnFailure, Rule, Target, Within};
use crate::rules::fields::{self, Fields};
use crate::rules::problem::{Place, quote};
use crate::rules::tree::Node;
use crate::rules::words::{ON_FAILURE, POLICY};

/// A plan counts its rules with 16 bits; far below that a policy is a mistake.
const MOST_RULES: usize = 2000;

/// A policy; `off` ones have been checked like the others but give no rules.
#[derive(Default)]
pub(super) struct Compiled {
    off: bool,
    request: Vec<(Rule, Place)>,
    response: Vec<(Rule, Place)>,
}

impl Compiled {
    fn placed(&self, direction: Direction) -> impl Iterator<Item = &(Rule, Place)> {
        let rules = match direction {
            Direction::Request => &self.request,
            Direction::Response => &self.response,
        };
        rules.iter().filter(|_| !self.off)
    }

    /// Its rules for one direction.
    pub fn rules_of(&self, direction: Direction) -> impl Iterator<Item = Rule> {
        self.placed(direction).map(|(rule, _)| rule.clone())
    }

    /// How many rules it has.
    pub fn rules(&self) -> usize {
        self.request.len() + self.response.len()
    }
}

/// All policies, in the order of their names' positions.
pub(super) fn compile_all(policies: &Names<'_>, cx: &mut Context<'_, '_>) -> Vec<Compiled> {
    policies.list.iter().map(|policy| compile(policy, cx).unwrap_or_default()).collect()
}

fn compile(definition: &Definition<'_>, cx: &mut Context<'_, '_>) -> Option<Compiled> {
    let fields = Fields::of(definition.node, &POLICY, &mut cx.problems)?;
    let mode = match fields.value("mode") {
        Some(node) => {
            let words = [("enforce", Some(Mode::Enforce)), ("shadow", Some(Mode::Shadow)), ("off", None)];
            fields::word(node, "`mode`", &words, &[], &mut cx.problems).unwrap_or(Some(Mode::Enforce))
        }
        None => Some(Mode::Enforce),
    };
    if mode.is_none() {
        let message = format!("the policy `{}` is off: it protects nothing", definition.name);
        cx.problems.warn(
            fields.value("mode").map_or(definition.place, |node| node.place),
            message,
            "`shadow` records what it would do",
        );
    }
    let head = Head {
        policy: Arc::from(definition.name),
        mode: mode.unwrap_or(Mode::Shadow),
        on_failure: fields.value("on_failure").map(|node| on_failure(node, cx)).unwrap_or_default(),
    };
    let mut rules = |direction: Direction| {
        fields.value(direction.name()).map(|node| head.rules(node, direction, cx)).unwrap_or_default()
    };
    let compiled =
        Compiled { off: mode.is_none(), request: rules(Direction::Request), response: rules(Direction::Response) };
    let written = fields.value("request").is_some() || fields.value("response").is_some();
    if !written {
        let hint = "write `request` or `response` with a list of rules, or remove the policy".to_owned();
        cx.problems.refuse_with(
            definition.place,
            format!("the policy `{}` has no rules: it protects nothing", definition.name),
            hint,
        );
    }
    Some(compiled)
}

/// What all rules of a policy have in common.
struct Head {
    policy: Arc<str>,
    mode: Mode,
    on_failure: FailurePolicy,
}

impl Head {
    fn rules(&self, node: &Node, direction: Direction, cx: &mut Context<'_, '_>) -> Vec<(Rule, Place)> {
        let what = format!("`{}` of a policy", direction.name());
        let Some(items) = fields::list(node, &what, &mut cx.problems) else { return Vec::new() };
        if items.is_empty() || items.len() > MOST_RULES {
            cx.problems.refuse(node.place, format!("{what} must list 1 to {MOST_RULES} rules"));
        }
        let mut ids: HashMap<Arc<str>, Place> = HashMap::new();
        let mut rules = Vec::new();
        for (position, item) in items.iter().take(MOST_RULES).enumerate() {
            let Some(compiled) = rule::compile(item, direction, cx) else { continue };
            let id = compiled.id.map_or_else(
                || format!("{}.{}.{}", self.policy, direction.name(), position + 1).into(),
                |(id, _)| Arc::<str>::from(id),
            );
            let place = compiled.id.map_or(item.place, |(_, place)| place);
            if let Some(first) = ids.insert(id.clone(), place) {
                let hint = format!("the first one is at {}", cx.problems.locate(first));
                cx.problems.refuse_with(place, format!("the rule id {} is used twice", quote(&id)), hint);
            }
            let rule = Rule {
                policy: self.policy.clone(),
                id,
                mode: self.mode,
                on_failure: self.on_failure,
                target: compiled.target,
                parse: compiled.parse,
                action: compiled.action,
            };
            rules.push((rule, item.place));
        }
        rules
    }
}

fn on_failure(node: &Node, cx: &mut Context<'_, '_>) -> FailurePolicy {
    let mut policy = FailurePolicy::default();
    let Some(fields) = Fields::of(node, &ON_FAILURE, &mut cx.problems) else { return policy };
    for (key, chosen) in [
        ("malformed", &mut policy.malformed),
        ("oversize", &mut policy.oversize),
        ("unsupported", &mut policy.unsupported),
    ] {
        if let Some(node) = fields.value(key) {
            let words = [("block", OnFailure::Block), ("pass", OnFailure::Pass)];
            *chosen =
                fields::word(node, &format!("`{key}`"), &words, &[], &mut cx.problems).unwrap_or(OnFailure::Block);
        }
    }
    policy
}

/// Warns of rules whose values an earlier enforced rule of the same plan always claims. `told` keeps a rule that is part
/// of several plans from being told twice.
pub(super) fn warn_shadowed<'c>(
    policies: impl Iterator<Item = &'c Compiled>,
    direction: Direction,
    told: &mut HashSet<Place>,
    cx: &mut Context<'_, '_>,
) {
    // By a selector's text, and whether it folds case: one that does claims what the other would have, not the reverse.
    let mut claimed: HashMap<(&str, bool), &Arc<str>> = HashMap::new();
    for (rule, place) in policies.flat_map(|policy| policy.placed(direction)) {
        let Some(selectors) = claimable(rule) else { continue };
        let claimants: Option<Vec<_>> = selectors
            .iter()
            .map(|it| claimed.get(&(it.text(), it.folds_case())).or_else(|| claimed.get(&(it.text(), true))))
            .collect();
        if let Some(Some(first)) = claimants.map(|claimants| claimants.first().copied())
            && told.insert(*place)
        {
            let message = format!("this rule can never fire: rule {} claims the same values before it", quote(first));
            cx.problems.warn(*place, message, "remove one of them, or put the more special one first");
        }
        // What is in a string is not the string.
        if rule.mode == Mode::Enforce && !rule.parse {
            for selector in selectors {
                claimed.entry((selector.text(), selector.folds_case())).or_insert(&rule.id);
            }
        }
    }
}

/// The selectors of a rule that claims what they select. `log` claims nothing, `block` wins wherever it stands, and
/// `rename` is about the key.
fn claimable(rule: &Rule) -> Option<&[Selector]> {
    let claims = match &rule.action {
        Action::Allow | Action::Mask(_) | Action::Redact(_) | Action::Remove | Action::Replace(_) | Action::Set(_) => {
            true
        }
        Action::Log | Action::Rename(_) | Action::Block(_) => false,
    };
    match &rule.target {
        Target::Select(selectors) if claims => Some(selectors),
        Target::Detect {
            within: Within::Select(_) | Within::Places { .. } | Within::Query(_) | Within::Headers(_),
            ..
        }
        | Target::Select(_)
        | Target::KeepOnly(_)
        | Target::Query(_)
        | Target::Headers(_) => None,
    }
}
