//! Google API keys: a fixed prefix and thirty-five characters.

use super::Entity;
use super::token::{is_base64url, token};
use crate::pii::evidence::{Reader, Sighting};

pub(super) const ENTITY: Entity = Entity {
    name: "google_api_key",
    groups: &["secrets"],
    standard: "Google Cloud API keys",
    check: "AIza and 35 characters of base64url, nothing joined",
    keys: "google api key, maps key, maps api key, google key, gcp api key, firebase api key",
    words: "",
    reader: Reader::Prefix { starts: &["AIza"], shortest: 39, read },
    examples: &[
        ("google_api_key", "«AIza¦dsz0pwSpy2aJMjeE85ldb39G7C_gyR2d7iu»"),
        ("url", "maps?key=«AIza¦ZFmcZzSP8FIWfh-aJ-mX9ijQvRVg82nzaQ5»&x=1"),
    ],
    counter_examples: &[
        ("google_api_key", "AIza¦dsz0pwSpy2aJMjeE85ldb39G7C_gyR2d7i"),
        ("google_api_key", "AIza¦dsz0pwSpy2aJMjeE85ldb39G7C_gyR2d7iuX"),
        ("blob", "xAIza¦dsz0pwSpy2aJMjeE85ldb39G7C_gyR2d7iu"),
    ],
};

fn read(text: &str, start: usize) -> Option<Sighting> {
    token(text, start, "AIza".len(), 35..=35, is_base64url)
}
