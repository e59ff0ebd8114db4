//! Names without regard to case and compatibility forms: what `fold_case` compares, and the table in which a key's folded
//! form is looked up where its exact form is in none. Programs without folded names never come here.

use std::borrow::Cow;

use icu_casemap::{CaseMapper, CaseMapperBorrowed};
use icu_normalizer::{ComposingNormalizer, ComposingNormalizerBorrowed};

use super::items::Positions;
use super::program::{Edge, Table};

const NFKC: ComposingNormalizerBorrowed<'static> = ComposingNormalizer::new_nfkc();
const CASES: CaseMapperBorrowed<'static> = CaseMapper::new();

/// Names that fold alike are one to `fold_case`: NFKC, then full case folding (Unicode 3.13, D144), and NFKC again, since
/// folding can leave what composes.
pub(super) fn fold(name: &str) -> Cow<'_, str> {
    // PERF: nearly every key is ASCII, and most of those are in lower case: they are their own folded form.
    if name.is_ascii() {
        return if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(name.to_ascii_lowercase())
        } else {
            Cow::Borrowed(name)
        };
    }
    let normal = NFKC.normalize(name);
    Cow::Owned(NFKC.normalize(&CASES.fold_string(&normal)).into_owned())
}

/// The folded names that matter in a state.
#[derive(Debug, Default)]
pub(super) struct Folds {
    /// In order of the folded names. Their slots come after those of the exact names.
    pub(super) edges: Box<[Edge]>,
    pub(super) table: Table,
    /// For each slot of an exact name: the slot of its folded form, if that matters here.
    pub(super) beside: Box<[Option<u32>]>,
}

impl Folds {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// The edge of the key's folded form, and its place in the table.
    pub(super) fn find(&self, positions: &Positions, key: &str) -> Option<(u32, &Edge)> {
        if self.is_empty() {
            return None;
        }
        self.table.find(&self.edges, positions, fold(key).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::fold;

    fn check(name: &str, expected: &str) {
        assert_eq!(fold(name), expected);
    }

    #[test]
    fn folds_case_and_compatibility_forms() {
        check("e_mail", "e_mail");
        check("E-Mail", "e-mail");
        check("ＥＭＡＩＬ", "email");
        check("Straße", "strasse");
        check("STRASSE", "strasse");
        check("Ärzte", "ärzte");
        check("A\u{308}rzte", "ärzte");
        check("Σίσυφος", "σίσυφοσ");
        check("\u{212a}elvin", "kelvin");
        check("ﬁrst", "first");
        check("", "");
    }

    proptest! {
        #[test]
        fn a_folded_name_is_its_own_folded_form(name in "\\PC{0,12}") {
            let once = fold(&name).into_owned();
            let twice = fold(&once).into_owned();
            prop_assert_eq!(twice, once);
        }
    }
}
