//! Compiles `upstreams`: where to forward to, with which deadlines, and which credentials the client never sees.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};

use super::{Context, Definition, resilience, secret, url, wire};
use crate::certificates::{Identity, certificates};
use crate::rules::fields::{self, Fields};
use crate::rules::problem::{names_a_secret, quote};
use crate::rules::tree::{Node, Value};
use crate::rules::upstream::{Balance, Retries};
use crate::rules::words::{POOL, TARGET, TIMEOUTS, TLS, UPSTREAM, UPSTREAM_HEADERS};
use crate::rules::{Target, Upstream};
use crate::sensitive::Sensitive;

const MOST_TARGETS: usize = 256;
const HOUR: Duration = Duration::from_secs(3600);

pub(super) fn compile(definition: &Definition<'_>, cx: &mut Context<'_, '_>) -> Option<Upstream> {
    let fields = Fields::of(definition.node, &UPSTREAM, &mut cx.problems)?;
    let mut upstream = Upstream {
        name: Arc::from(definition.name),
        targets: targets(&fields, cx),
        preserve_host: false,
        set_headers: Vec::new(),
        connect_timeout: Duration::from_secs(2),
        response_timeout: Duration::from_secs(30),
        idle_timeout: Duration::from_secs(60),
        max_idle: 64,
        pool_idle_timeout: Duration::from_secs(4),
        total_timeout: None,
        balance: Balance::RoundRobin,
        health: None,
        circuit_breaker: None,
        retries: Retries::default(),
        max_in_flight: None,
        dns_refresh: resilience::DNS_REFRESH,
        authorities: None,
        identity: None,
    };
    if let Some(node) = fields.value("preserve_host") {
        upstream.preserve_host = fields::flag(node, "`preserve_host`", &mut cx.problems).unwrap_or_default();
    }
    if let Some(node) = fields.value("headers") {
        upstream.set_headers = set_headers(node, cx);
    }
    if let Some(node) = fields.value("timeouts") {
        timeouts(node, &mut upstream, cx);
    }
    if let Some(node) = fields.value("pool") {
        pool(node, &mut upstream, cx);
    }
    resilience::compile(&fields, &mut upstream, cx);
    if let Some(node) = fields.value("tls") {
        tls(node, &mut upstream, cx);
    }
    Some(upstream)
}

fn targets(fields: &Fields<'_>, cx: &mut Context<'_, '_>) -> Vec<Target> {
    let Some(node) = fields.required("targets", &mut cx.problems) else { return Vec::new() };
    let Some(items) = fields::list(node, "`targets`", &mut cx.problems) else { return Vec::new() };
    if items.is_empty() || items.len() > MOST_TARGETS {
        cx.problems.refuse(node.place, format!("`targets` must list 1 to {MOST_TARGETS} targets"));
    }
    items.iter().take(MOST_TARGETS).filter_map(|item| target(item, cx)).collect()
}

fn target(node: &Node, cx: &mut Context<'_, '_>) -> Option<Target> {
    let Value::Map(_) = &node.value else {
        return Some(Target { url: target_url(node, cx)?, weight: 1 });
    };
    let fields = Fields::of(node, &TARGET, &mut cx.problems)?;
    let weight = match fields.value("weight") {
        Some(node) => fields::whole(node, "`weight`", 1..=100, &mut cx.problems)? as u32,
        None => 1,
    };
    let url = fields.required("url", &mut cx.problems)?;
    Some(Target { url: target_url(url, cx)?, weight })
}

fn target_url(node: &Node, cx: &mut Context<'_, '_>) -> Option<Box<str>> {
    let text = fields::text(node, "a target", &mut cx.problems)?;
    let (shown, checked) = if secret::is_reference(text) {
        let value = secret::look_up(text, node.place, cx)?;
        // SECURITY: a URL from the environment may hold a password, so the message names the reference only.
        (format!("the target from {}", quote(text)), url::origin(value.expose().trim()))
    } else if text.contains('@') {
        ("the target".to_owned(), url::origin(text))
    } else {
        (format!("the target {}", quote(text)), url::origin(text))
    };
    match checked {
        Ok(url) => Some(url),
        Err(why) => {
            let hint = "scheme, host and port only, as in `http://127.0.0.1:9001`; the path comes from the request";
            cx.problems.refuse_with(node.place, format!("{shown} {why}"), hint.to_owned());
            None
        }
    }
}

fn set_headers(node: &Node, cx: &mut Context<'_, '_>) -> Vec<(HeaderName, HeaderValue)> {
    let Some(headers) = Fields::of(node, &UPSTREAM_HEADERS, &mut cx.problems) else { return Vec::new() };
    let Some(set) = headers.value("set") else { return Vec::new() };
    let Some(entries) = fields::map(set, "`set`", &mut cx.problems) else { return Vec::new() };
    let mut fields: Vec<(HeaderName, HeaderValue)> = Vec::new();
    for entry in entries {
        let Some(name) = wire::field_name(&entry.key, entry.place, &mut cx.problems) else { continue };
        if fields.iter().any(|(earlier, _)| *earlier == name) {
            cx.problems.refuse(entry.place, format!("the header `{name}` is set twice"));
            continue;
        }
        if let Some(value) = header_value(&name, &entry.value, cx) {
            fields.push((name, value));
        }
    }
    fields
}

/// SECURITY: no message shows the value, whatever its type.
fn header_value(name: &HeaderName, node: &Node, cx: &mut Context<'_, '_>) -> Option<HeaderValue> {
    let Value::Scalar(scalar) = &node.value else {
        cx.problems.refuse(node.place, format!("the value of the header `{name}` must be text"));
        return None;
    };
    if secret::is_reference(&scalar.text) {
        let value = secret::look_up(&scalar.text, node.place, cx)?;
        return match wire::field_value(value.expose()) {
            Ok(mut value) => {
                value.set_sensitive(true);
                Some(value)
            }
            Err(why) => {
                let message = format!("what {} holds {why}: it cannot be the value of `{name}`", quote(&scalar.text));
                cx.problems.refuse(node.place, message);
                None
            }
        };
    }
    if names_a_secret(name.as_str()) {
        let hint = format!("keep it outside: `{name}: \"env:NAME\"` or `{name}: \"file:/run/secrets/name\"`");
        cx.problems.refuse_with(
            node.place,
            format!("the value of `{name}` is a secret, and secrets never stand in a rule file"),
            hint,
        );
        return None;
    }
    let text = fields::text(node, "the value of a header", &mut cx.problems)?;
    match wire::field_value(text) {
        Ok(value) => Some(value),
        Err(why) => {
            cx.problems.refuse(node.place, format!("the value of the header `{name}` {why}"));
            None
        }
    }
}

fn tls(node: &Node, upstream: &mut Upstream, cx: &mut Context<'_, '_>) {
    let Some(fields) = Fields::of(node, &TLS, &mut cx.problems) else { return };
    if !upstream.is_secure() {
        let hint = "write the targets with `https://`, or remove `tls`".to_owned();
        cx.problems.refuse_with(node.place, "no target of this upstream is reached over TLS".to_owned(), hint);
    }
    if let Some(node) = fields.value("ca")
        && let Some(pem) = pem(node, "`ca`", cx)
    {
        match certificates(pem.expose().as_bytes()) {
            Ok(authorities) => upstream.authorities = Some(authorities.into()),
            Err(error) => cx.problems.refuse(node.place, format!("`ca`: {error}")),
        }
    }
    match (fields.value("cert"), fields.value("key")) {
        (Some(cert_node), Some(key_node)) => {
            let (Some(cert), Some(key)) = (pem(cert_node, "`cert`", cx), pem(key_node, "`key`", cx)) else { return };
            match Identity::read(cert.expose().as_bytes(), key.expose().as_bytes()) {
                Ok(identity) => upstream.identity = Some(identity),
                Err(error) if error.is_about_key() => cx.problems.refuse(key_node.place, format!("`key`: {error}")),
                Err(error) => cx.problems.refuse(cert_node.place, format!("`cert`: {error}")),
            }
        }
        (None, None) => {}
        (Some(node), None) | (None, Some(node)) => {
            cx.problems.refuse(node.place, "`cert` and `key` go together: one is of no use without the other");
        }
    }
}

/// PEM that stands outside of the rule files.
fn pem(node: &Node, what: &str, cx: &mut Context<'_, '_>) -> Option<Sensitive<String>> {
    let text = fields::text(node, what, &mut cx.problems)?;
    if secret::is_reference(text) {
        return secret::look_up(text, node.place, cx);
    }
    // SECURITY: whatever it is, it may be a key.
    let hint = "as in `file:/etc/fieldgate/upstream.pem`".to_owned();
    cx.problems.refuse_with(node.place, format!("{what} must say where the PEM is, and is none itself"), hint);
    None
}

fn timeouts(node: &Node, upstream: &mut Upstream, cx: &mut Context<'_, '_>) {
    let Some(fields) = Fields::of(node, &TIMEOUTS, &mut cx.problems) else { return };
    for (key, most, timeout) in [
        ("connect", HOUR / 60, &mut upstream.connect_timeout),
        ("response", HOUR, &mut upstream.response_timeout),
        ("idle", HOUR, &mut upstream.idle_timeout),
    ] {
        if let Some(node) = fields.value(key)
            && let Some(duration) =
                fields::duration(node, &format!("`{key}`"), Duration::from_millis(1)..=most, &mut cx.problems)
        {
            *timeout = duration;
        }
    }
    if let Some(node) = fields.value("total") {
        let range = Duration::from_millis(1)..=HOUR * 24;
        upstream.total_timeout = fields::duration(node, "`total`", range, &mut cx.problems);
    }
}

fn pool(node: &Node, upstream: &mut Upstream, cx: &mut Context<'_, '_>) {
    let Some(fields) = Fields::of(node, &POOL, &mut cx.problems) else { return };
    if let Some(node) = fields.value("max_idle")
        && let Some(max_idle) = fields::whole(node, "`max_idle`", 0..=10_000, &mut cx.problems)
    {
        upstream.max_idle = max_idle as usize;
    }
    if let Some(node) = fields.value("idle_timeout")
        && let Some(timeout) =
            fields::duration(node, "`idle_timeout`", Duration::from_millis(1)..=HOUR, &mut cx.problems)
    {
        upstream.pool_idle_timeout = timeout;
    }
}
