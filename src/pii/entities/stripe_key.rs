//! Stripe's secret and restricted keys and webhook secrets. Publishable keys (`pk_`) are public.

use super::Entity;
use super::token::token;
use crate::pii::evidence::{Reader, Sighting};

pub(super) const ENTITY: Entity = Entity {
    name: "stripe_key",
    groups: &["secrets", "financial"],
    standard: "Stripe API keys",
    check: "sk_ or rk_ with live_ or test_ and at least 16 letters and digits; whsec_ and at least 32",
    keys: "stripe key, stripe secret, stripe api key, stripe",
    words: "",
    reader: Reader::Prefix { starts: &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"], shortest: 24, read },
    examples: &[
        ("stripe_key", "«rk¦_live_OOe8xuUzPprDwTHXZfy44i1x»"),
        ("note", "STRIPE_SECRET=«sk¦_test_4eC39HqLyjWDarjtT1zdp7dc»."),
        ("secret", "«whsec¦_A99Aaa9AaAAAa999aA9AaAaaAaAa9aaaaaaa»"),
    ],
    counter_examples: &[
        ("key", "pk¦_live_OOe8xuUzPprDwTHXZfy44i1x"),
        ("key", "sk¦_live_short"),
        ("key", "task¦_live_OOe8xuUzPprDwTHXZfy44i1x"),
        ("key", "sk¦_test_xxxxxxxxxxxxxxxxxxxxxxxx"),
    ],
};

fn read(text: &str, start: usize) -> Option<Sighting> {
    let is_webhook = text.get(start..)?.starts_with("whsec");
    let (prefix, shortest) = if is_webhook { ("whsec_".len(), 32) } else { ("sk_live_".len(), 16) };
    token(text, start, prefix, shortest..=247, |byte| byte.is_ascii_alphanumeric())
}
