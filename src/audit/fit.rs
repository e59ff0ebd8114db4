//! How a record is made to fit the room reserved for it. Records carry what strangers wrote (paths, hosts, keys), so
//! that their length is nobody's promise: every text is capped, and findings that do not fit are dropped from the end
//! and counted. It always fits.

use std::borrow::Cow;

use super::line;
use super::record::{FindingRecord, Record, Uninspected};

/// The smallest reservation in which any record fits: the fixed fields at their caps are less than 3 KiB.
pub const LEAST_RESERVATION: usize = 4096;

// Bytes in the JSON text, escapes counted.
const ID: usize = 64;
const TIME: usize = 40;
const NAME: usize = 128;
const WORD: usize = 48;
const METHOD: usize = 32;
const HOST: usize = 255;
const PATH: usize = 1024;
const TARGET: usize = 512;
const PLACE: usize = 256;
const REASON: usize = 200;

/// Writes `record` as JSON in one line of at most `most` bytes to `out`, which is emptied first.
pub fn write(record: &Record<'_>, most: usize, out: &mut Vec<u8>) {
    print(record, out);
    // PERF: the usual record is plain and short: one pass, no allocation. Nothing but texts can bring in what is not ASCII.
    if out.len() > most || !out.is_ascii() || !is_short(record) {
        write_trimmed(record, most, out);
    }
}

fn print(record: &Record<'_>, out: &mut Vec<u8>) {
    out.clear();
    line::print(record, out);
}

fn write_trimmed(record: &Record<'_>, most: usize, out: &mut Vec<u8>) {
    let mut short = capped(record);
    let findings = std::mem::take(&mut short.findings);
    let uninspected = std::mem::take(&mut short.uninspected);
    // Room for the largest count, so that counting never overflows the room.
    short.findings_more = u64::MAX;
    print(&short, out);
    // The empty lists are not written; their keys and brackets are.
    let mut room = most.saturating_sub(out.len() + br#","findings":[],"uninspected":[]"#.len());
    let mut text = Vec::new();
    let mut fits = |print: &dyn Fn(&mut Vec<u8>)| {
        text.clear();
        print(&mut text);
        let needed = text.len() + 1;
        let has_room = needed <= room;
        room = if has_room { room - needed } else { 0 };
        has_room
    };
    let all = findings.len();
    short.uninspected = uninspected.into_iter().take_while(|one| fits(&|out| line::not_inspected(one, out))).collect();
    short.findings = findings.into_iter().take_while(|one| fits(&|out| line::finding(one, out))).collect();
    short.findings_more = record.findings_more.saturating_add((all - short.findings.len()) as u64);
    print(&short, out);
}

fn capped<'a>(record: &'a Record<'_>) -> Record<'a> {
    Record {
        id: cap(&record.id, ID),
        time: cap(&record.time, TIME),
        client: cap(&record.client, ID),
        method: cap(&record.method, METHOD),
        protocol: cap(&record.protocol, METHOD),
        host: cap(&record.host, HOST),
        path: cap(&record.path, PATH),
        route: cap(&record.route, NAME),
        upstream: cap(&record.upstream, NAME),
        target: cap(&record.target, TARGET),
        outcome: cap(&record.outcome, WORD),
        verdict: cap(&record.verdict, WORD),
        findings: record.findings.iter().map(capped_finding).collect(),
        uninspected: record.uninspected.iter().map(capped_uninspected).collect(),
        generation: record.generation,
        status: record.status,
        upstream_status: record.upstream_status,
        phases: record.phases,
        bytes_in: record.bytes_in,
        bytes_out: record.bytes_out,
        retries: record.retries,
        findings_more: record.findings_more,
    }
}

fn capped_finding<'a>(finding: &'a FindingRecord<'_>) -> FindingRecord<'a> {
    FindingRecord {
        direction: cap(&finding.direction, WORD),
        place: cap(&finding.place, PLACE),
        entity: cap(&finding.entity, NAME),
        policy: cap(&finding.policy, NAME),
        rule: cap(&finding.rule, NAME),
        action: cap(&finding.action, WORD),
        shadow: finding.shadow,
        count: finding.count,
    }
}

fn capped_uninspected<'a>(one: &'a Uninspected<'_>) -> Uninspected<'a> {
    Uninspected {
        direction: cap(&one.direction, WORD),
        failure: cap(&one.failure, WORD),
        reason: cap(&one.reason, REASON),
        decision: cap(&one.decision, WORD),
    }
}

/// Whether nothing in it needs capping.
fn is_short(record: &Record<'_>) -> bool {
    let is_short = |text: &str, most: usize| text.len() <= most;
    let is_short_finding = |one: &FindingRecord<'_>| {
        is_short(&one.direction, WORD)
            && is_short(&one.place, PLACE)
            && is_short(&one.entity, NAME)
            && is_short(&one.policy, NAME)
            && is_short(&one.rule, NAME)
            && is_short(&one.action, WORD)
    };
    let is_short_uninspected = |one: &Uninspected<'_>| {
        is_short(&one.direction, WORD)
            && is_short(&one.failure, WORD)
            && is_short(&one.reason, REASON)
            && is_short(&one.decision, WORD)
    };
    is_short(&record.id, ID)
        && is_short(&record.time, TIME)
        && is_short(&record.client, ID)
        && is_short(&record.method, METHOD)
        && is_short(&record.protocol, METHOD)
        && is_short(&record.host, HOST)
        && is_short(&record.path, PATH)
        && is_short(&record.route, NAME)
        && is_short(&record.upstream, NAME)
        && is_short(&record.target, TARGET)
        && is_short(&record.outcome, WORD)
        && is_short(&record.verdict, WORD)
        && record.findings.iter().all(is_short_finding)
        && record.uninspected.iter().all(is_short_uninspected)
}

/// The longest beginning of `text` that takes at most `most` bytes in JSON, with characters that would steer a
/// terminal replaced.
fn cap(text: &str, most: usize) -> Cow<'_, str> {
    let mut taken = 0;
    let mut cleaned = String::new();
    let mut is_changed = false;
    for (index, c) in text.char_indices() {
        let shown = if steers(c) { char::REPLACEMENT_CHARACTER } else { c };
        taken += escaped_length(shown);
        if taken > most {
            is_changed = true;
            break;
        }
        if shown != c && !is_changed {
            is_changed = true;
            cleaned.push_str(text.get(..index).unwrap_or_default());
        }
        if is_changed {
            cleaned.push(shown);
        }
    }
    if !is_changed {
        return Cow::Borrowed(text);
    }
    if cleaned.is_empty() {
        // Only cut, nothing replaced.
        let mut used = 0;
        let end = text.char_indices().find(|&(_, c)| {
            used += escaped_length(c);
            used > most
        });
        return Cow::Borrowed(end.and_then(|(index, _)| text.get(..index)).unwrap_or(text));
    }
    Cow::Owned(cleaned)
}

/// SECURITY: JSON escapes C0 controls only. C1 controls drive terminals just as well, and bidirectional marks make a
/// line read as another one.
fn steers(c: char) -> bool {
    let is_control = matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}');
    let is_direction =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    is_control || is_direction
}

fn escaped_length(c: char) -> usize {
    match c {
        '"' | '\\' | '\u{8}' | '\t' | '\n' | '\u{c}' | '\r' => 2,
        '\0'..='\u{1f}' => 6,
        c => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use proptest::prelude::*;

    const STRANGE: &str = "\\PC{0,40}|[\\x00-\\x1f]{0,1500}|[a\"\\\\]{0,1500}";

    fn a_finding() -> FindingRecord<'static> {
        sample("0190").findings.remove(0)
    }

    fn check_cap(text: &str, most: usize, expected: &str) {
        assert_eq!(cap(text, most), expected);
    }

    #[test]
    fn texts_are_cut_on_characters_and_by_what_they_take_in_json() {
        check_cap("plain", 5, "plain");
        check_cap("plain", 4, "plai");
        check_cap("äöü", 5, "äö");
        check_cap("\u{1}\u{1}\u{1}", 12, "\u{1}\u{1}");
        check_cap("\"\"\"", 5, "\"\"");
        check_cap("a\u{9b}2J", 100, "a\u{fffd}2J");
        check_cap("\u{202e}abc", 5, "\u{fffd}ab");
        check_cap("äbc", 1, "");
    }

    #[test]
    fn a_plain_record_is_written_as_it_is() {
        let record = sample("0190");
        let mut out = Vec::new();
        write(&record, 4000, &mut out);
        assert_eq!(serde_json::from_slice::<Record<'_>>(&out).unwrap(), record);
    }

    #[test]
    fn findings_that_do_not_fit_are_counted() {
        let mut record = sample("0190");
        record.findings = vec![record.findings[0].clone(); 500];
        record.findings_more = 7;
        let mut out = Vec::new();
        write(&record, 4000, &mut out);
        let kept: Record<'_> = serde_json::from_slice(&out).unwrap();
        assert!(out.len() <= 4000 && out.len() > 3000, "{}", out.len());
        assert_eq!(kept.findings.len() as u64 + kept.findings_more, 507);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
        #[test]
        fn whatever_strangers_write_fits(texts in prop::collection::vec(STRANGE, 12), count in 0_usize..60) {
            let text = |n: usize| Cow::Owned(texts[n].clone());
            let finding = FindingRecord { place: text(0), rule: text(1), entity: text(2), count: u64::MAX, ..a_finding() };
            let uninspected = Uninspected {
                direction: "request".into(),
                failure: "malformed".into(),
                reason: text(3),
                decision: "block".into(),
            };
            let record = Record {
                id: text(0),
                time: text(1),
                client: text(2),
                method: text(3),
                protocol: text(2),
                host: text(4),
                path: text(5),
                route: text(6),
                upstream: text(7),
                target: text(8),
                outcome: text(9),
                verdict: text(10),
                findings: vec![finding; count],
                uninspected: vec![uninspected; 2],
                bytes_in: u64::MAX,
                bytes_out: u64::MAX,
                generation: u64::MAX,
                ..sample("0190")
            };
            let mut out = Vec::new();
            write(&record, LEAST_RESERVATION - 16, &mut out);
            prop_assert!(out.len() <= LEAST_RESERVATION - 16, "{}", out.len());
            prop_assert!(!out.contains(&b'\n'));
            let kept: Record<'_> = serde_json::from_slice(&out).unwrap();
            prop_assert_eq!(kept.findings.len() as u64 + kept.findings_more, count as u64);
        }
    }
}
