use super::*;
use crate::rules::source::SourceFile;

fn problems_of(text: &str) -> Vec<String> {
    let files = [SourceFile { name: "a.yaml".into(), text: text.into() }];
    let mut problems = Problems::new(&files);
    parse(0, text, &mut problems);
    problems.finish().into_iter().map(|p| format!("{}:{} {}", p.line, p.column, p.message)).collect()
}

fn check(text: &str, expected: &str) {
    let found = problems_of(text);
    assert!(found.first().is_some_and(|first| first.contains(expected)), "{text:?}: {found:?}");
}

#[test]
fn refuses_what_cannot_be_trusted() {
    check("", "1:1 the file is empty");
    check("# only a comment\n", "the file is empty");
    check("- a\n", "1:1 a rule file is a mapping");
    check("a: 1\na: 2\n", "2:1 the key `a` is written twice");
    check("a: 1\n---\nb: 1\n", "2:1 a second document begins here");
    check("a:\n\tb: 1\n", "this is not YAML");
    check("a: *b\n", "this is not YAML");
    check("a: &x [*x]\n", "inside the value that it names");
    check("a: !!str 1\n", "tags");
    check("%YAML 1.1\n---\na: 1\n", "this is not YAML");
    check("{[a]: 1}", "a key must be a plain text");
    check(&format!("a: {}", "[".repeat(100)), "this is not YAML");
    check("a: \"b", "this is not YAML");
}

#[test]
fn a_bomb_does_not_go_off() {
    let mut lines = vec!["a0: &a0 [x, x, x, x, x, x, x, x, x]".to_owned()];
    for level in 1..20 {
        let alias = format!("*a{}", level - 1);
        lines.push(format!("a{level}: &a{level} [{}]", [alias.as_str(); 9].join(", ")));
    }
    check(&lines.join("\n"), "more than 200000 values");
}

#[test]
fn json_is_yaml() {
    assert_eq!(problems_of(r#"{"version": 1, "a": {"b": [1, "x\u00e9", null]}}"#), Vec::<String>::new());
}
