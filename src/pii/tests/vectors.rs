//! Compares every scheme that is known here with numbers that independent software has judged
//! (`checksum_vectors.jsonl.gz` in `FIELDGATE_PII_CASES`, else beside the checkout): valid ones are found under a key that
//! names them, invalid ones are not.

use super::corpus::rows;
use super::*;

/// Why a row says nothing about the scheme itself, if so: the oracle judged its format, or less than we do.
fn beside_the_point(scheme: &str, value: &str, is_valid: bool) -> Option<&'static str> {
    let is_plain = value.bytes().all(|byte| byte.is_ascii_digit());
    let digits: String = value.chars().filter(char::is_ascii_digit).collect();
    let part = |range: std::ops::Range<usize>| digits.get(range).map_or(0, |part| part.parse::<u32>().unwrap());
    match scheme {
        "CREDIT_CARD(luhn)" if is_valid => Some("it read the check digit alone; issuer and length decide here too"),
        "CREDIT_CARD(luhn)" if !is_plain => Some("it takes no separators"),
        "US_SSN" if !is_plain && !value.contains('-') => Some("it takes dashes only"),
        "US_ITIN" if (50..=65).contains(&part(3..5)) => Some("it does not know the groups 50 to 65"),
        "SE_PERSONNUMMER" if digits.len() == 12 && !(18..=20).contains(&part(0..2)) => {
            Some("it does not read the century")
        }
        _ => None,
    }
}

#[test]
fn other_software_agrees() {
    let folder = std::env::var("FIELDGATE_PII_CASES").unwrap_or_else(|_| "../shared/cases/pii".into());
    let Some(rows) = rows(&format!("{folder}/checksum_vectors.jsonl.gz")) else {
        println!("skipped: no vectors in `{folder}` (set FIELDGATE_PII_CASES)");
        return;
    };
    let (mut wrong, mut explained, mut compared) = (Vec::new(), std::collections::BTreeMap::new(), 0);
    for row in &rows {
        let [scheme, value] = ["scheme", "value"].map(|name| row[name].as_str().unwrap());
        let is_valid = row["valid"].as_bool().unwrap();
        let name = scheme.split('(').next().unwrap().to_lowercase();
        let Some((id, entity)) = ids().find(|(_, entity)| entity.name == name) else { continue };
        if let Some(reason) = beside_the_point(scheme, value, is_valid) {
            *explained.entry(reason).or_insert(0) += 1;
            continue;
        }
        let key = entity.keys.split(',').next().unwrap();
        let mut found = Vec::new();
        Detector::new(EntitySet::EMPTY.with(id)).find(value, under(key), &mut found);
        found.retain(|one| one.confidence >= Confidence::Likely);
        let is_found = found.iter().any(|one| (one.start, one.end) == (0, value.len()));
        if is_found != is_valid {
            wrong.push(format!("{scheme} `{value}` is valid: {is_valid}, found: {found:?}"));
        }
        compared += 1;
    }
    println!("{compared} compared, beside the point: {explained:?}");
    assert!(wrong.is_empty(), "{} of {compared} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 2000, "only {compared} compared");
}
