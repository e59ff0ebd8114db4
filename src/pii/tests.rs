//! The detector as a whole: context, numbers, windows, hostile input. `corpus` scores it on labelled documents.

mod corpus;
mod gates;
mod vectors;
mod writings;

use super::*;
use entities::ids;
use std::sync::LazyLock;
use std::time::Instant;

fn all() -> EntitySet {
    ids().map(|(id, _)| id).collect()
}

fn describe(text: &str, found: &[Match]) -> Vec<String> {
    found
        .iter()
        .map(|one| format!("{} {:?} {}", one.entity.name(), one.confidence, &text[one.start..one.end]))
        .collect()
}

fn under(path: &str) -> Context {
    path.split('/').filter(|key| !key.is_empty()).fold(Context::default(), Context::under)
}

fn check(path: &str, text: &str, expected: &[&str]) {
    let mut found = Vec::new();
    Detector::new(all()).find(text, under(path), &mut found);
    found.retain(|one| one.confidence >= Confidence::Likely);
    let names: Vec<_> =
        found.iter().map(|one| format!("{} {}", one.entity.name(), &text[one.start..one.end])).collect();
    assert_eq!(names, expected, "`{path}`: `{text}`");
}

fn check_number(path: &str, lexeme: &str, expected: &[&str]) {
    let mut found = Vec::new();
    Detector::new(all()).find_in_number(lexeme, under(path), &mut found);
    found.retain(|one| one.confidence >= Confidence::Likely);
    let names: Vec<_> = found.iter().map(|one| one.entity.name()).collect();
    assert_eq!(names, expected, "`{path}`: `{lexeme}`");
}

#[test]
fn containers_speak_for_what_is_in_them() {
    check("phone/value", "5551234567", &["phone 5551234567"]);
    check("phone/home", "5551234567", &["phone 5551234567"]);
    check("card/phone", "617-953-0389", &["phone 617-953-0389"]);
    check("order/number", "4111111111111111", &[]);
    check("order/customer/value", "4111111111111111", &["credit_card 4111111111111111"]);
    check("phone/created_at", "1747712972", &[]);
    check("orderPhone", "617-953-0389", &["phone 617-953-0389"]);
    check("ssn_version", "123-45-6789", &[]);
}

#[test]
fn the_nearest_word_decides() {
    check("", "order 5551234567, phone 6179530389", &["phone 6179530389"]);
    check("", "phone? order 6179530389", &[]);
    check("", "phone calls; then 6179530389", &[]);
    check("", "phone: +44 121 230 6000 NHS no: 6092335476", &["phone +44 121 230 6000", "uk_nhs 6092335476"]);
    check("", "SSN 123-45-6789 on file, other 057063715", &["us_ssn 123-45-6789"]);
    check(
        "note",
        "SSN 123-45-6789 and card 4111 1111 1111 1111",
        &["us_ssn 123-45-6789", "credit_card 4111 1111 1111 1111"],
    );
}

#[test]
fn numbers_are_judged_when_whole() {
    check_number("card", "4111111111111111", &["credit_card"]);
    check_number("value", "4111111111111111", &["credit_card"]);
    check_number("order_id", "4111111111111111", &[]);
    check_number("card", "4111111111111111.0", &["credit_card"]);
    check_number("card", "-4111111111111111", &["credit_card"]);
    check_number("card", "4111111111111111e1", &[]);
    check_number("ssn", "123456789", &["us_ssn"]);
    check_number("value", "123456789", &[]);
    check_number("phone", "5551234567", &["phone"]);
    check_number("ts", "1747712972", &[]);
}

#[test]
fn only_what_is_wanted_is_found() {
    let mut found = Vec::new();
    let text = "a@b.com 4111 1111 1111 1111 203.0.113.7";
    Detector::new(entities::named("ipv4").unwrap()).find(text, Context::default(), &mut found);
    assert_eq!(describe(text, &found), ["ipv4 Likely 203.0.113.7"]);
    found.clear();
    Detector::new(EntitySet::EMPTY).find(text, Context::default(), &mut found);
    assert!(found.is_empty());
}

#[test]
fn matches_are_appended() {
    let mut found = Vec::new();
    let detector = Detector::new(all());
    detector.find("a@b.com", Context::default(), &mut found);
    detector.find("a@b.com c@d.org", Context::default(), &mut found);
    assert_eq!(found.iter().map(|one| one.start).collect::<Vec<_>>(), [0, 0, 8]);
}

/// What this thread has used of a core, so that a busy machine does not matter. Where the system does not say: the clock.
fn cpu_micros() -> u64 {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let used = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = used.and_then(|used| used.split(' ').next().and_then(|nanos| nanos.parse::<u64>().ok()));
    nanos.map_or_else(|| BEGIN.elapsed().as_micros() as u64, |nanos| nanos / 1000)
}

/// One long text may cost about as much as the same bytes in 32 short ones; were the time quadratic, 32 times as much.
#[test]
fn hostile_text_costs_linear_time() {
    const ROUNDS: usize = 32;
    let detector = Detector::new(all());
    let time = |text: &str, rounds: usize| {
        let start = cpu_micros();
        for _ in 0..rounds {
            detector.find(text, under("phone"), &mut Vec::new());
        }
        cpu_micros() - start
    };
    for unit in [
        "@",
        "1",
        "1-",
        "1 ",
        "a.a.a.a@",
        "a@",
        "eyJ",
        "eyJ.",
        "eyJhbGciOiJub25lIn0.",
        "1.",
        "555-1234 ",
        "a1",
        "GB82",
        "1.1.1.1 ",
        "+49",
        "(1)",
        "４",
        "%40",
        "-",
        "\"a\"@",
        "AKIA",
        "//a:",
        "1:",
        "a@a.com",
        "\u{200b}1",
        "DE89 3704 0044 ",
        "order ",
        "password",
        "password ",
        "x:password ",
        "<password ",
        "password:",
        "_pass",
        "パスワード",
        "&#4",
        "&#49;",
        "&nbsp;1",
        "4111_1111_",
        "1  ",
        "(1234567) ",
        "aa:",
        "x4",
        "1年",
    ] {
        let short = unit.repeat((1 << 11) / unit.len());
        let (small, large) = (time(&short, ROUNDS), time(&short.repeat(ROUNDS), 1));
        assert!(large < 8 * small + 50_000, "`{unit}`: in 2 KiB pieces {small} us, at once {large} us");
    }
}

/// However a text is cut, what is found before the undecided end is found in the whole, and nothing else is.
#[test]
fn what_is_decided_stays() {
    let detector = Detector::new(all());
    let text = "Reach john.doe@example.com or +49 30 901820, card 4111 1111 1111 1111 and IBAN \
                DE89 3704 0044 0532 0130 00; login from 203.0.113.7 at noon. My SSN is 123-45-6789, and then some more words \
                follow so that the end of the text is far away from everything that matters in it, as it should be here now, \
                with even more of them to make sure that the first half is decided well before the second is seen.";
    let mut whole = Vec::new();
    detector.find(text, Context::default(), &mut whole);
    assert_eq!(whole.iter().filter(|one| one.confidence >= Confidence::Likely).count(), 6);
    let mut decided_before_end = 0;
    for cut in 0..=text.len() {
        let mut part = Vec::new();
        let window = &text[..cut];
        detector.find(window, Context::default(), &mut part);
        let undecided = detector.undecided(window);
        assert!(undecided <= cut);
        let before = |found: &[Match]| found.iter().copied().filter(|one| one.end < undecided).collect::<Vec<_>>();
        assert_eq!(before(&part), before(&whole), "cut at {cut}");
        decided_before_end = decided_before_end.max(before(&part).len());
    }
    assert_eq!(decided_before_end, before_end(&whole, detector.undecided(text)));
}

fn before_end(found: &[Match], end: usize) -> usize {
    found.iter().filter(|one| one.end < end).count()
}

proptest::proptest! {
    /// Spans are ordered, apart, and on character boundaries, whatever the text is.
    #[test]
    fn spans_are_sound(text in "([a-c@.]{1,6}|[0-9 .()+-]{1,20}|\\PC{0,4}|phone |DE89|%40|a@b\\.com|\u{200b}){0,12}") {
        let mut found = Vec::new();
        Detector::new(all()).find(&text, under("phone"), &mut found);
        let mut end = 0;
        for one in &found {
            proptest::prop_assert!(one.start >= end && one.end > one.start && text.get(one.start..one.end).is_some());
            end = one.end;
        }
    }
}

#[test]
fn a_number_can_be_a_password() {
    let password = ids().find(|(_, entity)| entity.name == "password").map(|(id, _)| id);
    let detector = Detector::new(password.into_iter().collect());
    let mut found = Vec::new();
    detector.find_in_number("73519482", under("password"), &mut found);
    assert_eq!(found.len(), 1);
}

/// Contexts that speak for each entity in turn, and for none.
fn contexts() -> Vec<Context> {
    let keys = ids().filter_map(|(_, entity)| entity.keys.split(", ").next());
    keys.map(str::trim).chain([""]).map(|key| Context::default().under(key)).collect()
}

proptest::proptest! {
    #![proptest_config(crate::properties::cases(400))]

    #[test]
    fn what_a_glance_passes_by_holds_nothing(text in "[a-zA-Z \\[\\]^_`{|}~]{0,15}", number in "[0-9]{1,6}") {
        static ALL: LazyLock<(Detector, Vec<Context>)> = LazyLock::new(|| (Detector::new(all()), contexts()));
        let (detector, contexts) = &*ALL;
        let mut found = Vec::new();
        for context in contexts {
            if detector.takes_whole(*context) {
                continue;
            }
            detector.find(&text, *context, &mut found);
            proptest::prop_assert!(found.is_empty(), "{:?} in `{}`", found, text);
            detector.find_in_number(&number, *context, &mut found);
            proptest::prop_assert!(found.is_empty(), "{:?} in `{}`", found, number);
        }
    }
}
