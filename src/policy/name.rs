//! Names of parameters and headers, with `*` for any run of characters.

/// A name with `*` for any run of characters. Header names are compared without case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern(pub Box<str>);

impl NamePattern {
    /// Whether `name` is meant; `fold`: ASCII case makes no difference.
    pub fn matches(&self, name: &str, fold: bool) -> bool {
        let same = |a: u8, b: u8| if fold { a.eq_ignore_ascii_case(&b) } else { a == b };
        let (pattern, name) = (self.0.as_bytes(), name.as_bytes());
        let (mut p, mut n) = (0, 0);
        // Where to go on after the last `*` if what follows it does not fit: linear in practice, never exponential.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            match (pattern.get(p), name.get(n)) {
                (None, None) => return true,
                (Some(b'*'), _) => {
                    retry = Some((p + 1, n));
                    p += 1;
                }
                (Some(&a), Some(&b)) if same(a, b) => (p, n) = (p + 1, n + 1),
                (_, rest) => match retry {
                    Some((after, at)) if rest.is_some() || at < name.len() => {
                        retry = Some((after, at + 1));
                        (p, n) = (after, at + 1);
                    }
                    Some(_) | None => return false,
                },
            }
        }
    }
}

/// Whether any of `patterns` means `name`.
pub(super) fn any_matches(patterns: &[NamePattern], name: &str, fold: bool) -> bool {
    patterns.iter().any(|pattern| pattern.matches(name, fold))
}

#[cfg(test)]
mod tests {
    use super::NamePattern;

    #[track_caller]
    fn check(pattern: &str, name: &str, expected: bool) {
        assert_eq!(NamePattern(pattern.into()).matches(name, false), expected, "{pattern} {name}");
    }

    #[test]
    fn a_star_is_any_run() {
        for (pattern, name, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a", "", false),
            ("", "", true),
            ("*", "", true),
            ("*", "anything", true),
            ("x-user-*", "x-user-", true),
            ("x-user-*", "x-user", false),
            ("*id", "idid", true),
            ("*id", "idx", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("**a", "bba", true),
        ] {
            check(pattern, name, expected);
        }
    }

    #[test]
    fn case_counts_unless_folded() {
        check("X-Id", "x-id", false);
        assert!(NamePattern("X-I*".into()).matches("x-id", true));
    }
}
