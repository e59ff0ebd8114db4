//! The order of claims and what it does to bodies and heads, told as one-liners: rules, what goes in, what comes out.

mod body;
mod formats;
mod head;
mod nested;
mod oracle;
mod order;
mod scalars;
mod streams;

use std::sync::Arc;

use super::{
    BodyFault, BodyFilter, Direction, FailurePolicy, Finding, Mode, NamePattern, Plan, Rule, Target, Verdict, Within,
};
use crate::actions::{Action, Block, Mask, Redact};
use crate::content::json::Limits;
use crate::content::json::selector::Selector;
use crate::content::kind::Format;
use crate::pii::{Confidence, EntitySet, detector};

fn selectors(list: &str) -> Vec<Selector> {
    list.split_whitespace().map(|text| Selector::parse(text).unwrap()).collect()
}

fn patterns(list: &str) -> Vec<NamePattern> {
    list.split_whitespace().map(|name| NamePattern(name.into())).collect()
}

fn entities(list: &str) -> EntitySet {
    list.split_whitespace().map(|name| detector::named(name).unwrap()).fold(EntitySet::EMPTY, EntitySet::union)
}

fn rule(target: Target, action: Action) -> Rule {
    Rule {
        policy: "p".into(),
        id: "r".into(),
        mode: Mode::Enforce,
        on_failure: FailurePolicy::default(),
        target,
        parse: false,
        action,
    }
}

fn select(list: &str, action: Action) -> Rule {
    rule(Target::Select(selectors(list)), action)
}

fn keep_only(list: &str) -> Rule {
    rule(Target::KeepOnly(selectors(list)), Action::Remove)
}

fn query(names: &str, action: Action) -> Rule {
    rule(Target::Query(patterns(names)), action)
}

fn headers(names: &str, action: Action) -> Rule {
    rule(Target::Headers(patterns(names)), action)
}

fn detect_within(list: &str, within: Within, action: Action) -> Rule {
    rule(Target::Detect { entities: entities(list), min_confidence: Confidence::Likely, within }, action)
}

fn detect(list: &str, action: Action) -> Rule {
    detect_within(list, Within::Places { body: true, query: true, path: false, headers: Vec::new() }, action)
}

fn detect_in_path(list: &str, action: Action) -> Rule {
    detect_within(list, Within::Places { body: false, query: false, path: true, headers: Vec::new() }, action)
}

fn detect_below(list: &str, below: &str, action: Action) -> Rule {
    detect_within(list, Within::Select(selectors(below)), action)
}

fn shadow(policy: &str, rule: Rule) -> Rule {
    Rule { mode: Mode::Shadow, policy: policy.into(), ..rule }
}

fn mask(keep_first: usize, keep_last: usize) -> Action {
    Action::Mask(Mask { keep_first, keep_last, ..Mask::default() })
}

fn redact() -> Action {
    Action::Redact(Redact::default())
}

fn redact_whole() -> Action {
    Action::Redact(Redact { whole: true, ..Redact::default() })
}

fn replace(json: &str) -> Action {
    Action::Replace(json.into())
}

fn rename(name: &str) -> Action {
    Action::Rename(name.into())
}

fn set(json: &str) -> Action {
    Action::Set(json.into())
}

fn block() -> Action {
    Action::Block(Block { status: 422, message: None })
}

fn plan(rules: Vec<Rule>) -> Arc<Plan> {
    Arc::new(Plan::compile(Direction::Response, rules, &Arc::default()))
}

/// What became of a body: the new text (or the old one), or who blocked it, and what was found.
fn judge(rules: Vec<Rule>, body: &str) -> (Result<String, BodyFault>, Verdict, Vec<String>) {
    let plan = plan(rules);
    let (result, judge) = BodyFilter::whole(&plan, Format::Json, Limits::default(), body.as_bytes());
    let result = result.map(|new| new.map_or_else(|| body.to_owned(), |new| String::from_utf8(new).unwrap()));
    (result, judge.verdict(), told(judge.findings().list()))
}

/// `rule entity place count`
fn told(findings: &[Finding]) -> Vec<String> {
    let tell = |finding: &Finding| {
        let entity = finding.entity.map_or("-", crate::pii::EntityId::name);
        format!("{} {entity} {} {}", finding.rule, finding.place, finding.count)
    };
    findings.iter().map(tell).collect()
}

#[track_caller]
fn check(rules: Vec<Rule>, body: &str, expected: &str) {
    let (result, verdict, _) = judge(rules, body);
    assert_eq!(result.as_deref(), Ok(expected));
    assert_eq!(verdict == Verdict::Edit, body != expected, "the verdict is {verdict:?}");
}

#[track_caller]
fn check_blocked(rules: Vec<Rule>, body: &str, by: u16) {
    let (result, verdict, _) = judge(rules, body);
    assert_eq!(result, Err(BodyFault::Blocked));
    assert_eq!(verdict, Verdict::Block(Block { status: 422, message: None }, by));
}

#[track_caller]
fn check_found(rules: Vec<Rule>, body: &str, expected: &[&str]) {
    assert_eq!(judge(rules, body).2, expected);
}
