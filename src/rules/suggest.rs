//! "Did you mean": the nearest of the words that would have been right. It knows words, not what they stand for.

/// The candidate that `word` is most likely a misspelling of; `None` when nothing is near enough to be worth a guess.
pub(crate) fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = fold(word);
    let length = word.chars().count();
    if length > LONGEST {
        return None;
    }
    // One slip per three letters: `upstraem` finds `upstream`, `tls` does not find `url`.
    let tolerance = (length / 3).max(1);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(word.len()) <= tolerance * 4)
        .map(|candidate| (strsim::osa_distance(&word, &fold(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= tolerance && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A hint made of [`closest`], or of the list of right words if the list is short enough to be read.
pub(crate) fn hint<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    if let Some(near) = closest(word, candidates.clone()) {
        return Some(format!("did you mean `{near}`?"));
    }
    let all: Vec<String> = candidates.into_iter().take(LISTED + 1).map(|candidate| format!("`{candidate}`")).collect();
    match all.as_slice() {
        [] => None,
        [only] => Some(format!("there is only {only}")),
        some if some.len() <= LISTED => Some(format!("known here: {}", some.join(", "))),
        _ => None,
    }
}

/// A longer word is no typing mistake, and comparing it costs its length squared.
const LONGEST: usize = 64;
/// More words than this are a wall, not a hint.
const LISTED: usize = 16;

fn fold(word: &str) -> String {
    word.to_ascii_lowercase().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::{closest, hint};

    fn check(word: &str, expected: Option<&str>) {
        assert_eq!(closest(word, ["upstreams", "routes", "policies", "url", "keep_last"]), expected, "{word}");
    }

    #[test]
    fn finds_what_was_meant() {
        check("upstream", Some("upstreams"));
        check("uspreams", Some("upstreams"));
        check("Routes", Some("routes"));
        check("keep-last", Some("keep_last"));
        check("polices", Some("policies"));
    }

    #[test]
    fn does_not_guess_wildly() {
        check("tls", None);
        check("x", None);
        check("", None);
        check(&"upstreams".repeat(100), None);
    }

    #[test]
    fn lists_what_there_is() {
        assert_eq!(hint("zzzzz", ["block", "pass"]).as_deref(), Some("known here: `block`, `pass`"));
        assert_eq!(hint("zzzzz", std::iter::empty()), None);
        assert_eq!(hint("zzzzz", ["crm"]).as_deref(), Some("there is only `crm`"));
    }
}
