//! Compiles `routes`: what a route matches, where it leads, and the two plans made of its policies.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::policy::Compiled;
use super::{Context, Definition, Names, policy, url};
use crate::policy::{Direction, Plan};
use crate::router::{RouteMatch, Router, RouterError};
use crate::rules::fields::{self, Fields};
use crate::rules::problem::{Place, quote};
use crate::rules::tree::Node;
use crate::rules::words::{LIMITS, MATCH, ROUTE};
use crate::rules::{Route, suggest};

/// `limits.body` where it is not written.
const BODY_LIMIT: usize = 8 << 20;
const GIB: u64 = 1 << 30;

/// All routes and the way to find them.
pub(super) struct Routing {
    pub router: Router,
    pub routes: Vec<Route>,
}

/// A route before its plans are made.
struct Draft<'t> {
    name: &'t str,
    place: Place,
    matches: RouteMatch,
    /// Where each path of `matches` stands.
    paths: Vec<Place>,
    upstream: usize,
    policies: Vec<usize>,
    strip_prefix: Option<Box<str>>,
    keep_encoded_slash: bool,
    body_limit: usize,
    total_limit: Option<u64>,
}

pub(super) fn compile_all(
    routes: &Names<'_>,
    upstreams: &Names<'_>,
    policies: &Names<'_>,
    compiled: &[Compiled],
    cx: &mut Context<'_, '_>,
) -> Option<Routing> {
    let drafts: Vec<Draft<'_>> = routes.list.iter().filter_map(|route| draft(route, upstreams, policies, cx)).collect();
    let matches: Vec<RouteMatch> = drafts.iter().map(|draft| draft.matches.clone()).collect();
    let router = match Router::new(&matches) {
        Ok(router) => router,
        Err(errors) => {
            for error in &errors {
                refuse_route(error, &drafts, cx);
            }
            return None;
        }
    };
    warn_unused("upstream", "no route leads to it", upstreams, drafts.iter().map(|draft| draft.upstream), cx);
    warn_unused("policy", "no route names it", policies, drafts.iter().flat_map(|draft| draft.policies.clone()), cx);

    // PERF: routes that name the same policies share their plans; 2,000 routes have few distinct lists.
    let mut plans: HashMap<Vec<usize>, (Arc<Plan>, Arc<Plan>)> = HashMap::new();
    let mut judged = HashSet::new();
    let routes = drafts.into_iter().map(|draft| {
        let (request, response) = plans
            .entry(draft.policies)
            .or_insert_with_key(|chosen| {
                let chosen = || chosen.iter().filter_map(|position| compiled.get(*position));
                let mut plan = |direction| {
                    policy::warn_shadowed(chosen(), direction, &mut judged, cx);
                    let rules = chosen().flat_map(|policy| policy.rules_of(direction)).collect();
                    Arc::new(Plan::compile(direction, rules, &cx.customs))
                };
                (plan(Direction::Request), plan(Direction::Response))
            })
            .clone();
        Route {
            name: Arc::from(draft.name),
            upstream: draft.upstream,
            strip_prefix: draft.strip_prefix,
            keep_encoded_slash: draft.keep_encoded_slash,
            body_limit: draft.body_limit,
            total_limit: draft.total_limit,
            request,
            response,
        }
    });
    let routes = routes.collect();
    Some(Routing { router, routes })
}

fn refuse_route(error: &RouterError, drafts: &[Draft<'_>], cx: &mut Context<'_, '_>) {
    let place_of = |position: usize| {
        let draft = drafts.get(position)?;
        let path = draft.matches.paths.iter().position(|path| *path == error.pattern);
        Some(path.and_then(|path| draft.paths.get(path)).copied().unwrap_or(draft.place))
    };
    let Some(place) = place_of(error.route) else { return };
    let hint = error.conflicts_with.and_then(|position| {
        let other = drafts.get(position)?;
        let place = cx.problems.locate(place_of(position).unwrap_or(other.place));
        Some(format!("route `{}` at {place} matches them too; tell them apart by host, path or method", other.name))
    });
    let name = drafts.get(error.route).map_or("", |draft| draft.name);
    cx.problems.refuse_with(place, format!("route `{name}`, path {}: {}", quote(&error.pattern), error.message), hint);
}

fn warn_unused(what: &str, why: &str, names: &Names<'_>, used: impl Iterator<Item = usize>, cx: &mut Context<'_, '_>) {
    let used: HashSet<usize> = used.collect();
    // A route that was refused may be the one that uses it.
    if cx.incomplete || cx.problems.errors() > 0 {
        return;
    }
    for (_, definition) in names.list.iter().enumerate().filter(|(position, _)| !used.contains(position)) {
        cx.problems.warn(
            definition.place,
            format!("the {what} `{}` is not used: {why}", definition.name),
            "use it or remove it",
        );
    }
}

fn draft<'t>(
    definition: &Definition<'t>,
    upstreams: &Names<'_>,
    policies: &Names<'_>,
    cx: &mut Context<'_, '_>,
) -> Option<Draft<'t>> {
    let fields = Fields::of(definition.node, &ROUTE, &mut cx.problems)?;
    let (matches, paths) =
        fields.required("match", &mut cx.problems).map(|node| route_match(node, cx)).unwrap_or_default();
    let mut draft = Draft {
        name: definition.name,
        place: definition.place,
        matches,
        paths,
        upstream: upstream(&fields, upstreams, cx),
        policies: fields.value("policies").map(|node| policy_list(node, policies, cx)).unwrap_or_default(),
        strip_prefix: None,
        keep_encoded_slash: false,
        body_limit: BODY_LIMIT,
        total_limit: None,
    };
    draft.strip_prefix = fields.value("strip_prefix").and_then(|node| strip_prefix(node, &draft.matches.paths, cx));
    if let Some(node) = fields.value("encoded_slash") {
        let words = [("keep", true), ("refuse", false)];
        draft.keep_encoded_slash =
            fields::word(node, "`encoded_slash`", &words, &[], &mut cx.problems).unwrap_or_default();
    }
    if let Some(limits) = fields.value("limits").and_then(|node| Fields::of(node, &LIMITS, &mut cx.problems)) {
        if let Some(node) = limits.value("body")
            && let Some(bytes) = fields::size(node, "`body`", 1..=GIB, &mut cx.problems)
        {
            draft.body_limit = bytes as usize;
        }
        draft.total_limit =
            limits.value("total").and_then(|node| fields::size(node, "`total`", 1..=1024 * GIB, &mut cx.problems));
    }
    Some(draft)
}

fn upstream(fields: &Fields<'_>, upstreams: &Names<'_>, cx: &mut Context<'_, '_>) -> usize {
    let Some(node) = fields.required("upstream", &mut cx.problems) else { return 0 };
    let Some(name) = fields::text(node, "`upstream`", &mut cx.problems) else { return 0 };
    let position = upstreams.position(name);
    if position.is_none() {
        cx.unknown("upstream", name, node.place, upstreams);
    }
    position.unwrap_or_default()
}

fn policy_list(node: &Node, policies: &Names<'_>, cx: &mut Context<'_, '_>) -> Vec<usize> {
    let mut chosen = Vec::new();
    for (name, node) in fields::texts(node, "`policies`", &mut cx.problems) {
        match policies.position(name) {
            Some(position) if chosen.contains(&position) => {
                cx.problems.refuse(node.place, format!("the policy {} is listed twice", quote(name)));
            }
            Some(position) => chosen.push(position),
            None => cx.unknown("policy", name, node.place, policies),
        }
    }
    chosen
}

fn route_match(node: &Node, cx: &mut Context<'_, '_>) -> (RouteMatch, Vec<Place>) {
    let mut matches = RouteMatch::default();
    let mut places = Vec::new();
    let Some(fields) = Fields::of(node, &MATCH, &mut cx.problems) else { return (matches, places) };
    if let Some(node) = fields.value("hosts") {
        for (text, node) in fields::texts(node, "`hosts`", &mut cx.problems) {
            let host = text.to_ascii_lowercase();
            add(&mut matches.hosts, host, is_host_pattern(text), HOST_HINT, node, cx);
        }
    }
    match fields.value("paths") {
        Some(node) => {
            for (text, node) in fields::texts(node, "`paths`", &mut cx.problems) {
                // The router knows what a path pattern is; only what it would not tell apart is told here.
                if add(&mut matches.paths, text.to_owned(), true, "", node, cx) {
                    places.push(node.place);
                }
            }
        }
        None => cx.problems.refuse_with(
            fields.place,
            "`match` needs `paths`",
            "`paths: [\"/{*rest}\"]` is every path".to_owned(),
        ),
    }
    if let Some(node) = fields.value("methods") {
        for (text, node) in fields::texts(node, "`methods`", &mut cx.problems) {
            add(&mut matches.methods, text.to_owned(), is_method(text), &method_hint(text), node, cx);
        }
    }
    (matches, places)
}

const HOST_HINT: &str = "a host without scheme and port, as in `api.example.com` or `*.example.com`";

fn is_host_pattern(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return address.parse::<std::net::Ipv6Addr>().is_ok();
    }
    url::is_domain(host.strip_prefix("*.").unwrap_or(host))
}

fn is_method(method: &str) -> bool {
    !method.is_empty()
        && method.len() <= 32
        && method.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-')
        && !["CONNECT", "TRACE"].contains(&method)
}

fn method_hint(method: &str) -> String {
    const KNOWN: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    suggest::closest(method, KNOWN)
        .map_or_else(|| "methods are upper case, as in `GET`".to_owned(), |near| format!("did you mean `{near}`?"))
}

fn add(list: &mut Vec<String>, text: String, fits: bool, hint: &str, node: &Node, cx: &mut Context<'_, '_>) -> bool {
    if !fits {
        cx.problems.refuse_with(node.place, format!("{} cannot be matched", quote(&text)), hint.to_owned());
    } else if list.contains(&text) {
        cx.problems.refuse(node.place, format!("{} is listed twice", quote(&text)));
    } else {
        list.push(text);
        return true;
    }
    false
}

fn strip_prefix(node: &Node, paths: &[String], cx: &mut Context<'_, '_>) -> Option<Box<str>> {
    let prefix = fields::text(node, "`strip_prefix`", &mut cx.problems)?;
    if !prefix.starts_with('/') || prefix.ends_with('/') || prefix.contains(['{', '}', '?', '#', '\\', ' ']) {
        let hint = "whole segments without a slash at the end, as in `/v1`".to_owned();
        cx.problems.refuse_with(node.place, format!("{} cannot be stripped", quote(prefix)), hint);
        return None;
    }
    let outside =
        |path: &&String| path.strip_prefix(prefix).is_none_or(|rest| !rest.is_empty() && !rest.starts_with('/'));
    if let Some(path) = paths.iter().find(outside) {
        let message = format!("the path {} does not begin with {}", quote(path), quote(prefix));
        cx.problems.refuse_with(
            node.place,
            message,
            "every path of the route must begin with what is stripped".to_owned(),
        );
        return None;
    }
    Some(prefix.into())
}
