use super::*;
use crate::gateway::forwarded::Peer;

fn map(fields: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.append(HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
    }
    headers
}

fn sent(fields: &[(&str, &str)], inspected: bool) -> HeaderMap {
    sent_with(&Method::GET, fields, inspected)
}

fn sent_with(method: &Method, fields: &[(&str, &str)], inspected: bool) -> HeaderMap {
    let address = std::net::IpAddr::from([192, 0, 2, 7]);
    let mut headers = map(fields);
    RequestFields {
        origin: &Origin { peer: Peer::new(address), client: address, is_trusted: false },
        secure: false,
        method,
        authority: &HeaderValue::from_static("api.example"),
        id: &HeaderValue::from_static("id"),
        via: &Via::new("x"),
        reads_response: inspected,
        edits_response: inspected,
        edits_body: false,
        preserve_host: false,
        set: &[(header::AUTHORIZATION, HeaderValue::from_static("upstream"))],
    }
    .apply(&mut headers);
    headers
}

#[test]
fn hop_by_hop_fields_stay_here() {
    let out = sent(
        &[
            ("connection", "close, X-Secret"),
            ("connection", "x-b, Host, Content-Type, Cookie, x-forwarded-for"),
            ("x-secret", "1"),
            ("x-b", "1"),
            ("content-type", "application/json"),
            ("cookie", "a=b"),
            ("te", "trailers"),
            ("upgrade", "h2c"),
            ("http2-settings", "AA"),
            ("content-length", "5"),
            ("proxy-authorization", "x"),
        ],
        false,
    );
    for gone in
        ["connection", "x-secret", "x-b", "te", "upgrade", "http2-settings", "content-length", "proxy-authorization"]
    {
        assert!(!out.contains_key(gone), "{gone}");
    }
    for kept in ["content-type", "cookie", "x-forwarded-for", "via"] {
        assert!(out.contains_key(kept), "{kept}");
    }
}

#[test]
fn a_client_cannot_say_who_it_is() {
    let out = sent(
        &[
            ("x-forwarded-for", "1.2.3.4"),
            ("forwarded", "for=evil"),
            ("x_forwarded_for", "evil"),
            ("x-real-ip", "evil"),
            ("x-http-method-override", "DELETE"),
            ("x-request-id", "evil"),
            ("authorization", "client"),
        ],
        false,
    );
    assert_eq!(out["x-forwarded-for"], "192.0.2.7");
    assert_eq!(out["x-request-id"], "id");
    assert_eq!(out["authorization"], "upstream");
    assert!(!out.values().any(|v| v == "evil" || v == "for=evil" || v == "DELETE"));
}

#[test]
fn an_inspected_response_comes_whole_and_readable() {
    let fields = [("range", "bytes=0-1"), ("if-none-match", "\"a\""), ("accept-encoding", "gzip, dcb, *")];
    let out = sent(&fields, true);
    assert!(!out.contains_key("range") && !out.contains_key("if-none-match"));
    assert_eq!(out["accept-encoding"], "gzip");
    assert_eq!(sent(&[], true)["accept-encoding"], "identity");
    assert_eq!(sent(&fields, false)["accept-encoding"], "gzip, dcb, *");
}

#[test]
fn a_condition_on_a_write_stays() {
    let fields = [("range", "bytes=0-1"), ("if-match", "\"a\""), ("if-none-match", "*")];
    let out = sent_with(&Method::PUT, &fields, true);
    assert!(!out.contains_key("range") && out.contains_key("if-match") && out.contains_key("if-none-match"));
    let out = sent_with(&Method::HEAD, &fields, true);
    assert!(!out.contains_key("if-match") && !out.contains_key("if-none-match"));
}

#[test]
fn hops_are_counted_for_options_alone() {
    let count = |method: Method, lines: &[(&str, &str)]| {
        let mut headers = map(lines);
        count_hop(&method, &mut headers)
            .map(|()| headers.get(header::MAX_FORWARDS).map(|v| v.to_str().unwrap().to_owned()).unwrap_or_default())
    };
    assert_eq!(count(Method::OPTIONS, &[("max-forwards", "3")]), Ok("2".into()));
    assert_eq!(count(Method::OPTIONS, &[("max-forwards", "0")]), Err(Refusal::LastHop));
    assert_eq!(count(Method::OPTIONS, &[("max-forwards", "99999999999")]), Ok("4294967294".into()));
    assert_eq!(count(Method::GET, &[("max-forwards", "0")]), Ok("0".into()));
    assert_eq!(count(Method::OPTIONS, &[]), Ok(String::new()));
    for bad in ["", "-1", "+1", "1.0", "x"] {
        assert!(count(Method::OPTIONS, &[("max-forwards", bad)]).is_err(), "{bad:?}");
    }
    assert!(count(Method::OPTIONS, &[("max-forwards", "1"), ("max-forwards", "1")]).is_err());
}

#[test]
fn framing_is_never_guessed() {
    let check = |fields: &[(&str, &str)]| check_framing(http::Version::HTTP_11, &map(fields)).is_ok();
    assert!(check(&[("transfer-encoding", "chunked")]));
    assert!(check(&[("content-length", "3")]));
    assert!(!check(&[("transfer-encoding", "gzip, chunked")]));
    assert!(!check(&[("transfer-encoding", "chunked"), ("transfer-encoding", "chunked")]));
    assert!(!check(&[("transfer-encoding", "chunked, chunked")]));
    assert!(!check(&[("transfer-encoding", "chunked"), ("content-length", "3")]));
    assert!(!check(&[("content-length", "3"), ("content-length", "3")]));
    assert!(!check(&[("expect", "200-ok")]));
    assert!(check_framing(http::Version::HTTP_10, &map(&[("transfer-encoding", "chunked")])).is_err());
}

#[test]
fn loops_are_seen() {
    let via = Via::new("abc");
    assert!(via.is_loop(&map(&[("via", "1.0 other, 1.1 fieldgate-abc")])));
    assert!(!via.is_loop(&map(&[("via", "1.1 fieldgate-def")])));
}

#[test]
fn trace_contexts_are_kept_or_begun() {
    let id = uuid::Uuid::now_v7();
    let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let mut headers = map(&[("traceparent", good), ("tracestate", "a=b")]);
    trace(&mut headers, id);
    assert_eq!(headers["traceparent"], good);
    for bad in ["", "00-0-0-00", "00-00000000000000000000000000000000-00f067aa0ba902b7-01"] {
        let mut headers = map(&[("traceparent", bad), ("tracestate", "a=b")]);
        trace(&mut headers, id);
        assert!(is_traceparent(headers["traceparent"].as_bytes()), "{bad}");
        assert!(!headers.contains_key("tracestate"));
    }
}
