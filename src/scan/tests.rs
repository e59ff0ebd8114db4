use proptest::prelude::*;

use super::{Finding, Format, Scan, Search};
use crate::content::json::Fault;
use crate::pii::{Confidence, EntitySet};

/// What a finding says, as a line.
type Said = Vec<String>;

fn find(format: Format, document: &[u8], size: usize) -> (Said, Result<(), Fault>) {
    let search = Search::new(EntitySet::all(), std::sync::Arc::default(), Confidence::Likely);
    let mut said = Vec::new();
    let mut sink = |one: &Finding<'_>| {
        let written = &document[one.start as usize..one.end as usize];
        let line = one.line.map_or_else(String::new, |line| format!("{line} "));
        let written = String::from_utf8_lossy(written).into_owned();
        said.push(format!("{line}{} {}={written}", one.path, one.name));
        if !written.contains(['\\', '"']) {
            assert_eq!(one.value, written);
        }
    };
    let mut scan = Scan::new(format, &search);
    let mut result = document.chunks(size).try_for_each(|chunk| scan.push(chunk, &mut sink));
    if result.is_ok() {
        result = scan.finish(&mut sink);
    }
    (said, result)
}

#[track_caller]
fn check(format: Format, document: &str, expected: &[&str]) {
    for size in [1, 2, 7, 100_000] {
        let (said, result) = find(format, document.as_bytes(), size);
        assert_eq!(result, Ok(()));
        assert_eq!(said, expected, "{document} in chunks of {size}");
    }
}

#[test]
fn json_is_searched_with_its_keys() {
    check(
        Format::Json,
        r#"{"users":[{"ssn":"123-45-6789","n":1},{"ssn":123456789}],"note":"mail jane@example.com, ok"}"#,
        &["$.users[*].ssn us_ssn=123-45-6789", "$.users[*].ssn us_ssn=123456789", "$.note email=jane@example.com"],
    );
    check(
        Format::Json,
        r#"{"id":"123-45-6789","password":{"value":"hunter2x"}}"#,
        &["$.password.value password=hunter2x"],
    );
    check(Format::Json, r#"{"jane@example.com":1}"#, &["$['jane@example.com'] email=jane@example.com"]);
}

#[test]
fn places_are_those_of_what_is_written() {
    check(
        Format::Json,
        r#"{"t":"\u00e9\n jane\u0040example.com\ttoo: bob@example.com"}"#,
        &[r"$.t email=jane\u0040example.com", "$.t email=bob@example.com"],
    );
    check(Format::Json, r#"{"jane\u0040example.com":"x"}"#, &[r"$['jane@example.com'] email=jane\u0040example.com"]);
}

#[test]
fn long_strings_are_searched_in_windows() {
    let filler = "\\u00e9 word ".repeat(20_000);
    let document = format!("{{\"a\":\"{filler}jane@example.com {filler}bob@example.com\",\"b\":\"eve@example.com\"}}");
    for size in [1000, 65_536, 10_000_000] {
        let (said, result) = find(Format::Json, document.as_bytes(), size);
        assert_eq!(result, Ok(()));
        assert_eq!(said, ["$.a email=jane@example.com", "$.a email=bob@example.com", "$.b email=eve@example.com"]);
    }
}

#[test]
fn lines_are_documents_with_numbers() {
    check(
        Format::Lines,
        "{\"ssn\":\"123-45-6789\"}\n\n [\"jane@example.com\"]\r\n{}",
        &["1 $.ssn us_ssn=123-45-6789", "3 $[*] email=jane@example.com"],
    );
    let long = format!("1\n{{\"a\":\"{}\",\"ssn\":\"123-45-6789\"}}\n[\"bob@example.com\"]\n", "x".repeat(300_000));
    check(Format::Lines, &long, &["2 $.ssn us_ssn=123-45-6789", "3 $[*] email=bob@example.com"]);
}

#[test]
fn cells_have_the_name_of_their_column() {
    check(
        Format::Csv(b','),
        "id,ssn,note\n123456789,123456789,x\n2,,\"say \"\"jane@example.com\"\"\n\nbob@example.com\"\n",
        &["2 $.ssn us_ssn=123456789", "3 $.note email=jane@example.com", "3 $.note email=bob@example.com"],
    );
    check(
        Format::Csv(b';'),
        "\u{feff}ssn;x\n123456789;y;z@example.com\n",
        &["2 $.ssn us_ssn=123456789", "2 $[*] email=z@example.com"],
    );
    check(Format::Csv(b','), "jane@example.com,1\nx,2\n", &["1 $[*] email=jane@example.com"]);
}

#[test]
fn text_is_searched_with_the_words_before() {
    check(
        Format::Text,
        "2025 INFO ssn=123-45-6789 x\nmail: jane@example.com\n\nids 123-45-6789\n",
        &["1 $ us_ssn=123-45-6789", "2 $ email=jane@example.com"],
    );
}

#[test]
fn objects_in_text_are_read_as_json() {
    check(
        Format::Text,
        "a@b.example.com\nINFO {\"user\":{\"ssn\":123456789}}\nthen {\"ssn\":\"123-45-67\\u00389\"}\r\nend bob@example.com",
        &[
            "1 $ email=a@b.example.com",
            "2 $.user.ssn us_ssn=123456789",
            "3 $.ssn us_ssn=123-45-67\\u00389",
            "4 $ email=bob@example.com",
        ],
    );
}

#[test]
fn values_may_go_over_lines_and_windows() {
    let key =
        ["-----BEGIN PRIVATE", " KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE", " KEY-----"].concat();
    let text = format!("{}\n{key}\n", "some words\n".repeat(7000));
    check(Format::Text, &text, &[&format!("7002 $ private_key={key}")]);
}

#[test]
fn what_cannot_be_read_is_a_fault_with_its_place() {
    let fault = |format, document: &[u8]| find(format, document, 3).1.unwrap_err();
    let at = |fault| match fault {
        Fault::Malformed { at, .. } => at,
        Fault::Oversize { .. } | Fault::Stopped => panic!("{fault:?}"),
    };
    assert_eq!(at(fault(Format::Json, b"{\"a\":1,}")), 7);
    assert_eq!(at(fault(Format::Json, b"")), 0);
    assert_eq!(at(fault(Format::Lines, b"{}\n{\"a\":}\n")), 8);
    assert_eq!(at(fault(Format::Csv(b','), b"\xef\xbb\xbfa,\"b\n")), 5);
    assert_eq!(at(fault(Format::Text, b"{}\nabc\xff\n")), 6);
}

#[test]
fn empty_files_hold_nothing() {
    check(Format::Lines, "", &[]);
    check(Format::Csv(b','), "", &[]);
    check(Format::Text, "", &[]);
}

proptest! {
    #[test]
    fn chunks_make_no_difference(
        pieces in prop::collection::vec(
            "(jane@example\\.com|ssn 123-45-6789|\\{\"ssn\":123456789\\}|\n|,|\"| |é|x|[a-z]{1,4})", 0..40),
        size in 1_usize..20,
    ) {
        let text = pieces.concat();
        for format in [Format::Text, Format::Csv(b','), Format::Lines, Format::Json] {
            prop_assert_eq!(find(format, text.as_bytes(), size), find(format, text.as_bytes(), usize::MAX));
        }
    }
}
