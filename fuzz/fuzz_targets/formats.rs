//! Bodies of the other formats, whole and in pieces, under detectors: the same outcome, whatever the bytes.
#![no_main]

use std::sync::{Arc, LazyLock};

use fieldgate::content::json::Limits;
use fieldgate::content::kind::Format;
use fieldgate::content::multipart::Boundary;
use fieldgate::policy::{BodyFilter, Plan};
use fieldgate::rules::{Source, load};
use libfuzzer_sys::fuzz_target;

const RULES: &str = r#"
version: 1
upstreams: {u: {targets: ["http://127.0.0.1:1"]}}
routes: {all: {match: {paths: ["/{*rest}"]}, upstream: u, policies: [p]}}
policies: {p: {response: [{detect: [pii, secrets], action: redact}]}}
"#;

static PLAN: LazyLock<Arc<Plan>> = LazyLock::new(|| {
    let ruleset = load(&Source::Files(vec![("fuzz.yaml".to_owned(), RULES.to_owned())]));
    let ruleset = ruleset.unwrap_or_else(|problems| panic!("{}", problems.first().unwrap()));
    ruleset.routes.first().unwrap().response.clone()
});

fuzz_target!(|data: &[u8]| {
    let Some(([size], body)) = data.split_first_chunk() else { return };
    let parts = Format::Multipart(Boundary::of("multipart/form-data; boundary=b").unwrap());
    for format in [Format::Lines, Format::Records, Format::Events, Format::Form, Format::Text, parts] {
        let (whole, _) = BodyFilter::whole(&PLAN, format, Limits::default(), body);
        let mut filter = BodyFilter::new(&PLAN, format, Limits::default(), body.len());
        let mut out = Vec::new();
        let mut pieces = body.chunks(usize::from(*size) + 1).try_for_each(|chunk| filter.push(chunk, &mut out));
        if pieces.is_ok() {
            pieces = filter.finish(&mut out);
        }
        match (&whole, &pieces) {
            (Ok(new), Ok(())) => assert_eq!(new.as_deref().unwrap_or(body), out, "{format:?}"),
            (whole, pieces) => assert_eq!(whole.is_err(), pieces.is_err(), "{format:?}"),
        }
    }
});
