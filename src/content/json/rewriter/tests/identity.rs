//! What nobody touches stays as it is, byte by byte.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use super::{Script, bytewise, pieces, rules, whole};
use crate::content::json::selector::Program;
use crate::content::json::{
    Container, Edit, Edits, Entry, EntryId, Fault, Glance, Judge, KeyEdit, Limits, Long, Node, Path, Scalar, Show,
    rewrite_whole,
};

pub(super) fn read(body: &[u8]) -> Result<(), Fault> {
    let mut results = Vec::new();
    for list in [&[][..], &[(&["$..nothing_has_this_name"][..], super::Act::Remove)][..]] {
        let program = Arc::new(Program::compile(&rules(list).0));
        for selected_only in [false, true] {
            let judge = Script { selected_only, ..Script::default() };
            let limits = Limits::default();
            let at_once = rewrite_whole(&program, limits, &mut judge.clone(), body);
            if let Ok(new) = &at_once {
                assert_eq!(new, &None);
            }
            let (result, out, held) = pieces(&program, limits, &mut judge.clone(), body, &bytewise(body));
            match &result {
                Ok(out) => assert_eq!(out, body),
                Err(_) => assert!(body.starts_with(&[out, held].concat()), "held bytes continue what was written"),
            }
            assert_eq!(result.is_ok(), at_once.is_ok());
            results.push(at_once.map(|_| ()));
        }
    }
    let same = results.iter().all(|result| result.is_ok() == results[0].is_ok());
    assert!(same, "{results:?} for {:?}", String::from_utf8_lossy(body));
    results.swap_remove(0)
}

#[test]
fn what_json_is_passes_untouched() {
    for good in [
        "9007199254740993",
        "1.10",
        "1e400",
        "[]",
        "{}",
        r#""\u00e9""#,
        "-0",
        "0e1",
        " null ",
        "\t\r\n[ ]\n",
        r#"{"z":1,"a":2,"z":3}"#,
        r#"{"":{"":[[],{}]}}"#,
        r#""\ud83d\ude00 \/ \b""#,
        "\"\u{7f}é😀\u{2028}\"",
        "[1 , 2,\n3 ]",
        "true",
        r#"[[[[[[]]]]],{"a":{"b":{}}}]"#,
        r#"["\u0000"]"#,
        r#""\uffff""#,
    ] {
        assert_eq!(read(good.as_bytes()), Ok(()), "{good}");
    }
}

#[test]
fn what_json_is_not_is_refused() {
    for bad in [
        "",
        " ",
        "[",
        "{",
        "]",
        "}",
        "[1",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "[1,]",
        "[,1]",
        "{,}",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{a:1}",
        "{1:1}",
        "[1 2]",
        "1 2",
        "nul",
        "nulll",
        "True",
        "01",
        "1.",
        ".5",
        "+1",
        "-",
        "1e",
        "0x1",
        "NaN",
        "Infinity",
        "\"",
        "\"a",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud800\"",
        "\"\\ud800\\u0041\"",
        "\"\t\"",
        "'a'",
        "[1]]",
        "{}}",
        "[}",
        "{]",
        "[\"a\":1]",
        "\u{feff}[]",
        "[]\u{feff}",
        "[]\0",
        "/**/1",
        "[1]//",
        "\u{a0}1",
        "{\"a\":1 \"b\":2}",
        "[1:2]",
        "{\"a\":1:2}",
        "-a",
        "\"\\u\"",
        "1,",
        "{\"a\",\"b\"}",
    ] {
        assert!(matches!(read(bad.as_bytes()), Err(Fault::Malformed { .. })), "{bad:?}");
    }
    for bad in [
        &b"\"\xff\""[..],
        b"\"\xc0\xaf\"",
        b"\"\xed\xa0\x80\"",
        b"\"\xe9\"",
        b"[\"\xf0\x9f\"]",
        b"\xff",
        b"{\"\x80\":1}",
    ] {
        assert!(matches!(read(bad), Err(Fault::Malformed { .. })), "{bad:?}");
    }
}

/// The files of a public collection of hard cases, where they are at hand.
fn suite() -> Option<BTreeMap<String, Vec<u8>>> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/cases/json/json-test-suite.tar.gz");
    let path = std::env::var_os("FIELDGATE_JSON_SUITE").map_or(path, Into::into);
    let Ok(file) = std::fs::File::open(&path) else {
        println!("skipped: {} is not there (set FIELDGATE_JSON_SUITE)", path.display());
        return None;
    };
    let mut tar = Vec::new();
    flate2::read::GzDecoder::new(file).read_to_end(&mut tar).unwrap();
    let mut files = BTreeMap::new();
    let mut at = 0;
    while let Some(header) = tar.get(at..at + 512).filter(|header| header[0] != 0) {
        let text = |from: usize, to: usize| String::from_utf8_lossy(&header[from..to]).trim_matches('\0').to_owned();
        let size = usize::from_str_radix(text(124, 136).trim(), 8).unwrap_or(0);
        let name = text(0, 100).rsplit('/').next().unwrap_or_default().to_owned();
        if header[156] == b'0' {
            files.insert(name, tar[at + 512..at + 512 + size].to_vec());
        }
        at += 512 + size.div_ceil(512) * 512;
    }
    Some(files)
}

#[test]
fn the_public_suite_is_judged_rightly() {
    let Some(files) = suite() else { return };
    let mut counts = [0; 3];
    for (name, body) in &files {
        let result = read(body);
        match name.get(..2) {
            Some("y_") => {
                counts[0] += 1;
                assert_eq!(result, Ok(()), "{name}");
            }
            Some("n_") => {
                counts[1] += 1;
                assert!(matches!(result, Err(Fault::Malformed { .. })), "{name}: {result:?}");
            }
            Some("i_") => {
                counts[2] += 1;
                // Numbers are never computed, so their size does not matter; everything else in doubt is refused.
                assert_eq!(result.is_ok(), name.contains("number"), "{name}: {result:?}");
            }
            _ => {}
        }
    }
    assert!(counts.iter().all(|count| *count > 30), "{counts:?}");
}

#[test]
fn nesting_is_limited() {
    let nested = |n: usize| [vec![b'['; n], vec![b']'; n]].concat();
    assert_eq!(read(&nested(128)), Ok(()));
    assert_eq!(read(&nested(129)), Err(Fault::Malformed { at: 128, what: "nested too deeply" }));
    assert!(read(&vec![b'['; 100_000]).is_err());
}

#[test]
fn every_call_comes_in_order_with_its_path() {
    let mut script = Script::default();
    let body = br#"{"a":[1,{"b c":"x\n"}],"d":null}"#;
    whole(&Program::compile(&[]), Limits::default(), &mut script, body).unwrap();
    let expected = [
        "enter $ Object",
        "key $.a a",
        "enter $.a Array",
        "scalar $.a[*] Number(\"1\")",
        "enter $.a[*] Object",
        "key $.a[*]['b c'] b c",
        "scalar $.a[*]['b c'] String(\"x\\n\")",
        "leave $.a[*] []",
        "leave $.a []",
        "key $.d d",
        "scalar $.d Null",
        "leave $ []",
    ];
    assert_eq!(script.log, expected);
}

/// Takes notes of what it is shown; the values of keys with a `k` in them matter.
#[derive(Default)]
struct Peeker(Vec<String>);

impl Judge for Peeker {
    fn show(&self) -> Show {
        Show::Promising(Glance { length: 6, number: 4, keys: true })
    }
    fn key_matters(&mut self, key: &str) -> bool {
        key.contains('k')
    }
    fn key(&mut self, node: Node<'_>, _: &str, _: &mut Edits) -> KeyEdit {
        self.0.push(format!("key {}", node.path));
        KeyEdit::Keep
    }
    fn scalar(&mut self, node: Node<'_>, value: Scalar<'_>, _: &mut Edits) -> Edit {
        self.0.push(format!("{} {value:?}", node.path));
        Edit::Keep
    }
    fn enter(&mut self, node: Node<'_>, _: Container, _: &mut Edits) -> Entry {
        self.0.push(format!("enter {}", node.path));
        Entry::Enter
    }
    fn leave(&mut self, _: &Path, _: &[EntryId], _: &mut Edits) {}
    fn long_string(&mut self, _: Node<'_>, _: &mut Edits) -> Long {
        Long::Pass
    }
    fn window(&mut self, _: Node<'_>, text: &str, _: usize, _: bool, _: &mut Edits) -> Option<usize> {
        Some(text.len())
    }
}

#[test]
fn a_glance_decides_what_is_shown() {
    let body = br#"{"a":"short","b":"longer","c":"d1","e":true,"f":999,"g":1000,"h":["x","@",1,{"i":"j","key":"l"}],"k":["m",2]}"#;
    let mut peeker = Peeker::default();
    whole(&Program::compile(&[]), Limits::default(), &mut peeker, body).unwrap();
    let expected = [
        "$.b String(\"longer\")",
        "$.c String(\"d1\")",
        "$.g Number(\"1000\")",
        "$.h[*] String(\"@\")",
        "key $.h[*].key",
        "$.h[*].key String(\"l\")",
        "key $.k",
        "enter $.k",
        "$.k[*] String(\"m\")",
        "$.k[*] Number(\"2\")",
    ];
    assert_eq!(peeker.0, expected);
}

#[test]
fn what_no_selector_reaches_is_not_shown_to_who_does_not_want_it() {
    let (entries, script) = rules(&[(&["$.a.b"], super::Act::Keep)]);
    let mut script = Script { selected_only: true, ..script };
    let body = br#"{"x":{"b":[1]},"a":{"y":1,"b":2,"c":[{}]},"z":"s"}"#;
    whole(&Program::compile(&entries), Limits::default(), &mut script, body).unwrap();
    assert_eq!(script.log, ["scalar $.a.b Number(\"2\")"]);
}
