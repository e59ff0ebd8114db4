use super::*;

/// `host|host path path METHOD METHOD`, `-` for every host.
fn route(text: &str) -> RouteMatch {
    let mut words = text.split(' ');
    let hosts = words.next().unwrap();
    let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let (paths, methods): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with('/'));
    let hosts = if hosts == "-" { Vec::new() } else { hosts.split('|').collect() };
    RouteMatch { hosts: owned(hosts), paths: owned(paths), methods: owned(methods) }
}

fn router(routes: &[&str]) -> Router {
    Router::new(&routes.iter().map(|text| route(text)).collect::<Vec<_>>()).unwrap()
}

fn check(routes: &[&str], request: &str, expected: Option<usize>) {
    let words: Vec<&str> = request.split(' ').collect();
    assert_eq!(router(routes).find(words[0], words[1], words[2]), expected, "{routes:?} {request}");
}

#[test]
fn paths() {
    let routes = ["- /", "- /a", "- /a/{id}", "- /a/{*rest}", "- /a/b", "- /{x}/c", "- /s/"];
    for (path, expected) in [
        ("/", Some(0)),
        ("/a", Some(1)),
        ("/a/7", Some(2)),
        ("/a/b", Some(4)),
        ("/a/b/", Some(3)),
        ("/a/", Some(3)),
        ("/a/7/8", Some(3)),
        // Text comes first from left to right, even if a placeholder would allow more text later.
        ("/a/c", Some(2)),
        ("/z/c", Some(5)),
        ("/z", None),
        ("/z/d", None),
        ("//c", None),
        ("/s/", Some(6)),
        ("/s", None),
        ("/A", None),
        ("*", None),
        ("", None),
    ] {
        check(&routes, &format!("h GET {path}"), expected);
    }
}

#[test]
fn rest_is_none_or_more() {
    for path in ["/c", "/c/", "/c/1", "/c/1/2/", "/c//x"] {
        check(&["- /c/{*rest}"], &format!("h GET {path}"), Some(0));
    }
    check(&["- /c/{*rest}"], "h GET /cc", None);
    for path in ["/", "/a", "/a/b", "//"] {
        check(&["- /{*rest}"], &format!("h GET {path}"), Some(0));
    }
    check(&["- /{x}", "- /c/{*rest}"], "h GET /c", Some(1));
    check(&["- /{x}/{*rest}"], "h GET /", None);
}

#[test]
fn hosts_before_paths() {
    let routes = ["- /a/b", "*.example.com /a/{*rest}", "*.eu.example.com /{*rest}", "api.example.com /a/{x}"];
    check(&routes, "api.example.com GET /a/b", Some(3));
    check(&routes, "api.example.com GET /a/b/c", Some(1));
    check(&routes, "x.eu.example.com GET /a/b", Some(2));
    check(&routes, "x.y.example.com GET /a/b", Some(1));
    check(&routes, "example.com GET /a/b", Some(0));
    check(&routes, "notexample.com GET /a/b", Some(0));
    check(&routes, "other GET /a/b", Some(0));
    check(&routes, "other GET /a/c", None);
    check(&["a|b /"], "b GET /", Some(0));
}

#[test]
fn a_route_without_the_method_is_passed_over() {
    let routes = ["- /a/{id} GET POST", "- /a/{*rest}", "- /b GET", "- /b POST", "h /a/{id} PUT"];
    check(&routes, "x GET /a/1", Some(0));
    check(&routes, "x DELETE /a/1", Some(1));
    check(&routes, "x POST /b", Some(3));
    check(&routes, "x PUT /b", None);
    check(&routes, "h PUT /a/1", Some(4));
    check(&routes, "h GET /a/1", Some(0));
    check(&routes, "x get /b", None);
}

fn check_refused(routes: &[&str], route_at: usize, conflicts_with: Option<usize>, message: &str) {
    let errors = Router::new(&routes.iter().map(|text| route(text)).collect::<Vec<_>>()).unwrap_err();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!((errors[0].route, errors[0].conflicts_with), (route_at, conflicts_with), "{errors:?}");
    assert!(errors[0].message.contains(message), "{errors:?}");
}

#[test]
fn encodings_are_no_way_round() {
    let routes = ["- /{*rest}", "- /pay:now", "- /a%20b", "- /%7Bx%7D", "- /d/%2f"];
    for (path, expected) in [
        ("/pay:now", Some(1)),
        ("/pay%3Anow", Some(1)),
        ("/pay%3anow", Some(1)),
        ("/a%20b", Some(2)),
        ("/%7bx%7d", Some(3)),
        ("/d/%2F", Some(4)),
        ("/d//", Some(0)),
        ("/pay%253Anow", Some(0)),
    ] {
        check(&routes, &format!("h GET {path}"), expected);
    }
}

#[test]
fn equal_routes_are_refused() {
    check_refused(&["- /a:b", "- /a%3ab"], 1, Some(0), "equally");
    check_refused(&["- /a", "- /b", "- /a"], 2, Some(0), "equally");
    check_refused(&["- /{x}", "- /{y}"], 1, Some(0), "equally");
    check_refused(&["- /{*x}", "- /{*y}"], 1, Some(0), "equally");
    check_refused(&["- /a GET", "- /a"], 1, Some(0), "equally");
    check_refused(&["- /a", "- /a GET"], 1, Some(0), "equally");
    check_refused(&["- /a GET PUT", "- /a POST GET"], 1, Some(0), "equally");
    check_refused(&["a|b /x", "c|b /x"], 1, Some(0), "equally");
    check_refused(&["- /{a} /{b}"], 0, None, "same route");
    router(&["- /a", "h /a", "*.h /a", "- /a/", "- /a/{*rest}", "- /a/{x}", "- /b GET", "- /b PUT"]);
}

#[test]
fn patterns_that_match_nothing_are_refused() {
    for (path, message) in [
        ("/a/{*rest}/b", "only at the end"),
        ("/a{x}", "whole segment"),
        ("/{x}.json", "whole segment"),
        ("/{x}{y}", "whole segment"),
        ("/{", "whole segment"),
        ("/}", "whole segment"),
        ("/{}", "needs a name"),
        ("/{*}", "needs a name"),
        ("/{a-b}", "needs a name"),
        ("/a//b", "`//`"),
        ("/a/*", "not a wildcard"),
        ("/a/../b", "never reach"),
        ("/%2E%2e", "never reach"),
        ("/a?b", "does not contain"),
        ("/ü", "percent-encode"),
        ("/%zz", "hexadecimal"),
        ("/%41", "write it as it is"),
    ] {
        check_refused(&[&format!("- {path}")], 0, None, message);
    }
    let errors =
        Router::new(&[RouteMatch { paths: vec!["a".into(), String::new()], ..RouteMatch::default() }]).unwrap_err();
    assert_eq!(errors.len(), 2);
    router(&["- /a%20b /%2Fx /a:b@c,d;e=f&g$h!i(j)+k'l~m"]);
}

#[test]
fn many_routes_are_found_as_surely_as_one() {
    let routes: Vec<RouteMatch> =
        (0..2000).map(|n| route(&format!("h{} /v{}/things/{{id}}/{{*rest}}", n % 10, n))).collect();
    let router = Router::new(&routes).unwrap();
    for n in 0..2000 {
        assert_eq!(router.find(&format!("h{}", n % 10), "GET", &format!("/v{n}/things/1/x")), Some(n));
    }
}
