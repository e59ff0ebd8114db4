//! `redact`: a fixed text stands where the value was, so that nothing of it is left, its length included.

/// `redact {with, whole, as}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redact {
    /// The text; `None`: `[REDACTED]`, or `[REDACTED:entity]` for detectors.
    pub with: Option<Box<str>>,
    /// Whether an object or array is replaced as a whole instead of leaf by leaf; for detectors, whether the whole value
    /// goes instead of the matched span.
    pub whole: bool,
    /// Whether a number becomes a string. Otherwise it becomes 0.
    pub as_string: bool,
}

impl Redact {
    /// Appends what stands for a value; `entity` is what a detector took it for.
    pub(crate) fn push_text(&self, entity: Option<&str>, out: &mut String) {
        match (&self.with, entity) {
            (Some(with), _) => out.push_str(with),
            (None, None) => out.push_str("[REDACTED]"),
            (None, Some(entity)) => {
                out.push_str("[REDACTED:");
                out.push_str(entity);
                out.push(']');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Redact;

    #[track_caller]
    fn check(with: Option<&str>, entity: Option<&str>, expected: &str) {
        let mut out = String::new();
        Redact { with: with.map(Into::into), ..Redact::default() }.push_text(entity, &mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn says_what_it_was_unless_told_otherwise() {
        check(None, None, "[REDACTED]");
        check(None, Some("email"), "[REDACTED:email]");
        check(Some("gone"), Some("email"), "gone");
        check(Some(""), None, "");
    }
}
