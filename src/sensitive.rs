//! `Sensitive<T>`: a value that cannot be printed or serialised by accident. It knows nothing of what it holds.

use std::fmt;

/// A secret or personal value. `Debug` shows a placeholder; there is no `Display` and no `Serialize`, so that a
/// log line, an error message or a template that tries to show it does not compile.
#[derive(Clone, PartialEq, Eq)]
pub struct Sensitive<T>(T);

impl<T> Sensitive<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value itself. Every call is a place to ask whether the value may leave here.
    pub const fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Sensitive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[sensitive]")
    }
}

#[cfg(test)]
mod tests {
    use super::Sensitive;

    #[test]
    fn is_not_printed() {
        let secret = Sensitive::new("4111");
        assert_eq!(format!("{secret:?}"), "[sensitive]");
        assert_eq!(*secret.expose(), "4111");
    }
}
