//! A JSON body, whole and in pieces, under rules with every action: the same outcome, valid JSON, and no more than
//! `serde_json` takes for JSON.
#![no_main]

use std::sync::{Arc, LazyLock};

use fieldgate::content::json::Limits;
use fieldgate::content::kind::Format;
use fieldgate::policy::{BodyFilter, Plan};
use fieldgate::rules::{Source, load};
use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;

const RULES: &str = r#"
version: 1
upstreams: {u: {targets: ["http://127.0.0.1:1"]}}
routes:
  edits: {match: {paths: [/edits]}, upstream: u, policies: [edits]}
  keeps: {match: {paths: [/keeps]}, upstream: u, policies: [keeps]}
  blocks: {match: {paths: [/blocks]}, upstream: u, policies: [blocks]}
  nothing: {match: {paths: [/nothing]}, upstream: u, policies: [nothing]}
policies:
  edits:
    response:
      - {select: $.a, action: remove}
      - {select: $..b, fold_case: true, action: {mask: {keep_last: 2}}}
      - {select: "$..c[1:]", action: {replace: [1]}}
      - {select: $.d, action: {rename: e}}
      - {select: $.f, action: {set: 1}}
      - {select: $..p, parse: json, detect: [email, credit_card], action: redact}
      - {detect: [pii, secrets], action: redact}
  keeps: {response: [{keep_only: [$.a, "$.b[*].c"]}, {select: $..a, action: allow}, {select: $.b, action: redact}]}
  blocks: {response: [{detect: [email], action: block}]}
  nothing: {response: [{select: $..nothing_has_this_name, action: remove}]}
"#;

static PLANS: LazyLock<Vec<Arc<Plan>>> = LazyLock::new(|| {
    let ruleset = load(&Source::Files(vec![("fuzz.yaml".to_owned(), RULES.to_owned())]));
    let ruleset = ruleset.unwrap_or_else(|problems| panic!("{}", problems.first().unwrap()));
    ruleset.routes.iter().map(|route| route.response.clone()).collect()
});

fuzz_target!(|data: &[u8]| {
    let Some(([size], body)) = data.split_first_chunk() else { return };
    for plan in PLANS.iter() {
        let (whole, judge) = BodyFilter::whole(plan, Format::Json, Limits::default(), body);
        let mut filter = BodyFilter::new(plan, Format::Json, Limits::default(), 0);
        let mut out = Vec::new();
        let mut pieces = body.chunks(usize::from(*size) + 1).try_for_each(|chunk| filter.push(chunk, &mut out));
        if pieces.is_ok() {
            pieces = filter.finish(&mut out);
        }
        match (&whole, &pieces) {
            (Ok(new), Ok(())) => {
                assert_eq!(new.as_deref().unwrap_or(body), out);
                assert_eq!(judge.findings().list(), filter.findings().list());
                assert!(serde_json::from_slice::<IgnoredAny>(body).is_ok(), "taken for JSON");
                assert!(serde_json::from_slice::<IgnoredAny>(&out).is_ok(), "became what is not JSON");
            }
            (whole, pieces) => assert_eq!(whole.as_ref().err(), pieces.as_ref().err()),
        }
    }
});
