//! Compiles what an upstream says about failing: `balance`, `health`, `circuit_breaker`, `retries`, `max_in_flight`, `dns`.
//! Each default stands beside its reason, here and nowhere else.

use std::time::Duration;

use super::Context;
use crate::rules::Upstream;
use crate::rules::fields::{self, Fields};
use crate::rules::problem::quote;
use crate::rules::tree::Node;
use crate::rules::upstream::{Balance, CircuitBreaker, HealthCheck, Retries};
use crate::rules::words::{CIRCUIT_BREAKER, DNS, HEALTH, RETRIES};

const HOUR: Duration = Duration::from_secs(3600);

/// Young enough for a target that moves, old enough that a name server is asked six times a minute and not per connection.
pub(super) const DNS_REFRESH: Duration = Duration::from_secs(10);

/// Reads those keys into `upstream`, which has its defaults and its `timeouts` already.
pub(super) fn compile(fields: &Fields<'_>, upstream: &mut Upstream, cx: &mut Context<'_, '_>) {
    if let Some(node) = fields.value("balance") {
        let words = [("round_robin", Balance::RoundRobin), ("least_requests", Balance::LeastRequests)];
        upstream.balance = fields::word(node, "`balance`", &words, &[], &mut cx.problems).unwrap_or(upstream.balance);
    }
    if let Some(node) = fields.value("health") {
        upstream.health = health(node, upstream.connect_timeout, cx);
    }
    if let Some(node) = fields.value("circuit_breaker") {
        upstream.circuit_breaker = circuit_breaker(node, cx);
    }
    if let Some(node) = fields.value("retries") {
        upstream.retries = retries(node, cx);
    }
    if let Some(node) = fields.value("max_in_flight") {
        let most = fields::whole(node, "`max_in_flight`", 1..=1_000_000, &mut cx.problems);
        upstream.max_in_flight = most.map(|most| most as u32);
    }
    if let Some(dns) = fields.value("dns").and_then(|node| Fields::of(node, &DNS, &mut cx.problems)) {
        upstream.dns_refresh = duration(&dns, "refresh", Duration::from_secs(1)..=HOUR, DNS_REFRESH, cx);
    }
}

fn health(node: &Node, connect_timeout: Duration, cx: &mut Context<'_, '_>) -> Option<HealthCheck> {
    let fields = Fields::of(node, &HEALTH, &mut cx.problems)?;
    let path_node = fields.required("path", &mut cx.problems)?;
    let path = fields::text(path_node, "`path`", &mut cx.problems)?;
    if !is_origin_form(path) {
        let hint = "a path from the root of the target, as in `/healthz`".to_owned();
        let message = format!("`path` of `health` cannot be {}", quote(path));
        cx.problems.refuse_with(path_node.place, message, hint);
        return None;
    }
    let interval = duration(&fields, "interval", Duration::from_millis(100)..=HOUR, Duration::from_secs(5), cx);
    // An answer that takes longer than a connection may is no sign of health; and questions do not overlap.
    let usual = connect_timeout.min(interval);
    Some(HealthCheck {
        path: path.into(),
        interval,
        timeout: duration(&fields, "timeout", Duration::from_millis(1)..=interval, usual, cx),
        // One lost packet takes nothing out, and one lucky answer puts nothing back.
        unhealthy_after: number(&fields, "unhealthy_after", 1..=100, 3, cx),
        healthy_after: number(&fields, "healthy_after", 1..=100, 2, cx),
    })
}

/// What may stand in a request line (RFC 9112 section 3.2.1), and goes out as it was written.
fn is_origin_form(path: &str) -> bool {
    path.starts_with('/')
        && path.len() <= 1024
        && path.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'#' | b'\\' | b'"' | b'<' | b'>'))
}

fn circuit_breaker(node: &Node, cx: &mut Context<'_, '_>) -> Option<CircuitBreaker> {
    let fields = Fields::of(node, &CIRCUIT_BREAKER, &mut cx.problems)?;
    Some(CircuitBreaker {
        // Each failure is remembered until it is older than the window, so their number is bounded.
        failures: number(&fields, "failures", 1..=10_000, 20, cx),
        window: duration(&fields, "window", Duration::from_millis(100)..=HOUR, Duration::from_secs(10), cx),
        open: duration(&fields, "open", Duration::from_millis(100)..=HOUR, Duration::from_secs(5), cx),
    })
}

fn retries(node: &Node, cx: &mut Context<'_, '_>) -> Retries {
    let mut retries = Retries::default();
    let Some(fields) = Fields::of(node, &RETRIES, &mut cx.problems) else { return retries };
    retries.attempts = number(&fields, "attempts", 0..=5, retries.attempts, cx);
    if let Some(node) = fields.value("budget") {
        let percent = fields::percent(node, "`budget`", 0..=100, &mut cx.problems);
        retries.budget = percent.unwrap_or(retries.budget);
    }
    retries
}

fn number(
    fields: &Fields<'_>,
    key: &str,
    range: std::ops::RangeInclusive<u64>,
    default: u32,
    cx: &mut Context<'_, '_>,
) -> u32 {
    let written = fields.value(key).and_then(|node| fields::whole(node, &format!("`{key}`"), range, &mut cx.problems));
    written.map_or(default, |number| number as u32)
}

fn duration(
    fields: &Fields<'_>,
    key: &str,
    range: std::ops::RangeInclusive<Duration>,
    default: Duration,
    cx: &mut Context<'_, '_>,
) -> Duration {
    let written =
        fields.value(key).and_then(|node| fields::duration(node, &format!("`{key}`"), range, &mut cx.problems));
    written.unwrap_or(default)
}
