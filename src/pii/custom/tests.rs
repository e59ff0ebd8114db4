use proptest::prelude::*;

use super::*;
use crate::pii::Detector;

fn custom(name: &str, pattern: &str, context: &[&str]) -> Custom {
    Custom {
        name: Name::new(name).unwrap(),
        pattern: Pattern::new(pattern).unwrap(),
        context: context.iter().map(|phrase| (*phrase).into()).collect(),
    }
}

fn find(list: Vec<Custom>, key: &str, text: &str) -> Vec<String> {
    let customs = Arc::new(Customs::new(list));
    let detector = Detector::with_customs(EntitySet::all().union(EntitySet::all_own()), &customs);
    let mut found = Vec::new();
    detector.find(text, customs.under(Context::default(), key), &mut found);
    found
        .iter()
        .map(|one| {
            format!("{} {:?} {}", customs.name(one.entity), one.confidence, text.get(one.start..one.end).unwrap())
        })
        .collect()
}

#[track_caller]
fn check(pattern: &str, context: &[&str], key: &str, text: &str, expected: &[&str]) {
    assert_eq!(find(vec![custom("own", pattern, context)], key, text), expected, "{pattern} in {text}");
}

#[test]
fn a_pattern_alone_is_likely_at_word_boundaries() {
    let pattern = r"EMP-\d{6}";
    check(pattern, &[], "", "EMP-104233", &["own Likely EMP-104233"]);
    check(pattern, &[], "note", "ask EMP-104233, or EMP-104234.", &["own Likely EMP-104233", "own Likely EMP-104234"]);
    check(pattern, &[], "", "TEMP-104233 EMP-1042334", &[]);
    check("#[0-9]{3}", &[], "", "see #123, a#124", &["own Likely #123", "own Likely #124"]);
    // The longest alternative that ends at a boundary, not the first.
    check("A|AB", &[], "", "AB", &["own Likely AB"]);
}

#[test]
fn with_context_words_the_shape_is_only_possible() {
    let (pattern, context): (_, &[&str]) = (r"\d{6}", &["badge", "employee number"]);
    check(pattern, context, "", "104233", &["own Possible 104233"]);
    check(pattern, context, "badge", "104233", &["own Likely 104233"]);
    check(pattern, context, "employeeNumbers", "104233", &["own Likely 104233"]);
    check(pattern, context, "note", "Badge: 104233 and 1", &["own Likely 104233"]);
    check(pattern, context, "employee", "104233", &["own Possible 104233"]);
}

#[test]
fn containers_pass_their_word_on_as_for_entities_that_are_built_in() {
    let customs = Customs::new(vec![custom("own", r"\d{6}", &["badge"])]);
    let below = |keys: &[&str]| keys.iter().fold(Context::default(), |above, key| customs.under(above, key)).own() != 0;
    assert!(below(&["badge", "number"]) && below(&["badge", "whatever"]) && below(&["BADGES"]));
    assert!(!below(&["badge", "order_id"]) && !below(&["whatever"]));
}

#[test]
fn one_winner_per_span_with_those_built_in() {
    let list = vec![custom("own", r"\d{4} \d{4}", &[])];
    assert_eq!(find(list, "", "4111 1111 1111 1111"), ["credit_card Likely 4111 1111 1111 1111"]);
}

#[test]
fn classes_are_ascii() {
    assert_eq!(Pattern::new(r"X\d{2}").unwrap().find_iter("X\u{661}\u{662}").count(), 0);
    check(r"X[\d.]{2}", &[], "", "X1.", &["own Likely X1."]);
    check(r"X\w\s\W\S\D", &[], "", "Xa ;;é", &["own Likely Xa ;;é"]);
}

#[test]
fn other_scripts_and_percent_encoding_are_folded() {
    check(r"EMP-\d{6}", &[], "", "id=EMP%2D104233", &["own Likely EMP%2D104233"]);
    check(r"EMP-\d{6}", &[], "", "EMP\u{2011}１04233", &["own Likely EMP\u{2011}１04233"]);
}

#[track_caller]
fn refused(pattern: &str, at: Option<usize>, message: &str) {
    let error = Pattern::new(pattern).unwrap_err();
    assert_eq!((error.at, error.message.contains(message)), (at, true), "{pattern}: {error:?}");
}

#[test]
fn what_cannot_be_matched_in_bounded_time_and_room_is_refused() {
    refused(r"a(?=b)", Some(1), "look-around");
    refused(r"(é)\1", Some(3), "backreferences");
    refused("(a", Some(0), "mistake");
    refused("a*", None, "matches nothing");
    refused("a+", None, "longer than 1024 bytes");
    refused(r"(a{1000}){1000}", None, "longer than 1024 bytes");
    refused(r"(?:\p{L}x){200}", None, "too large");
    refused(&format!("{}a{}", "(".repeat(100), ")".repeat(100)), Some(32), "nested");
    refused(&"a".repeat(5000), None, "5000 bytes");
    refused("(?-u:\\xFF)", None, "not accepted");
    refused(r"[a&&b]", None, "never match");
}

#[test]
fn anchors_are_noticed() {
    assert_eq!(Pattern::new("^a").unwrap().anchor, Some("^"));
    assert_eq!(Pattern::new("a$").unwrap().anchor, Some("$"));
    assert_eq!(Pattern::new(r"a\b").unwrap().anchor, None);
}

#[test]
fn names_are_kept_once() {
    let (one, other) = (Name::new("the_same").unwrap(), Name::new("the_same").unwrap());
    assert!(std::ptr::eq(one.as_str(), other.as_str()));
}

proptest! {
    #![proptest_config(crate::properties::cases(200))]

    #[test]
    fn any_pattern_is_accepted_or_refused(pattern in r"[a-c0-9(){}\[\]|?*+.\\dwsbpL^$,:=!<&~-]{0,24}", text in ".{0,40}") {
        if let Ok(pattern) = Pattern::new(&pattern) {
            for found in pattern.find_iter(&text) {
                prop_assert!((pattern.shortest..=pattern.longest).contains(&found.len()));
                prop_assert!(text.get(found).is_some());
            }
        }
    }
}
