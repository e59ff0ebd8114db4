//! API keys of language-model services, each with its prefix.

use super::Entity;
use super::token::{is_base64url, token};
use crate::pii::evidence::{Reader, Sighting};

pub(super) const ENTITY: Entity = Entity {
    name: "llm_api_key",
    groups: &["secrets"],
    standard: "key formats of OpenAI, Anthropic, OpenRouter, Groq, xAI, Hugging Face, Replicate, Perplexity",
    check: "the service's prefix and a mixture of letters and digits of its length",
    keys: "openai api key, anthropic api key, llm api key, openai key, anthropic key, claude api key, groq api key, hf token, \
            hugging face token, openrouter api key",
    words: "",
    reader: Reader::Prefix { starts: &["sk-", "gsk_", "xai-", "hf_", "r8_", "pplx-"], shortest: 35, read },
    examples: &[
        ("openai_api_key", "«sk¦-proj-p8guqAviQ3AcYr0R599Y8QULMaglcpkZ0p6mR8Zii2NVkfuY»"),
        ("note", "my api key is «sk¦-ant-api03-a9A9aAaaaAA9a99aAAA9Aa9A9AaAAA-aaa9»."),
        ("value", "«sk¦-or-v1-0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9»"),
        ("value", "«hf¦_AbCdEfGhIjKlMnOpQrStUvWxYz0123ABCD»"),
        ("value", "«sk¦-A9aa9A9aaaAAa9a9AA9Aa9AaAAa9aA9aAaaaaaA9aaaaaaaA»"),
    ],
    counter_examples: &[
        ("key", "sk¦-short"),
        ("note", "task¦-proj-p8guqAviQ3AcYr0R599Y8QULMaglcpkZ0p6mR8Zii2NVkfuY"),
        ("class", "sk¦-fading-circle-and-other-names-of-classes-in-styles"),
        ("key", "hf¦_AbCdEfGhIjKlMnOpQrStUvWxYz"),
    ],
};

fn read(text: &str, start: usize) -> Option<Sighting> {
    let rest = text.get(start..)?;
    let is_alphanumeric = |byte: u8| byte.is_ascii_alphanumeric();
    let seen = match rest.as_bytes() {
        [b'h', ..] => token(text, start, "hf_".len(), 34..=40, is_alphanumeric),
        [b'r', ..] => token(text, start, "r8_".len(), 37..=40, is_alphanumeric),
        [b'g', ..] => token(text, start, "gsk_".len(), 40..=64, is_alphanumeric),
        [b'x', ..] => token(text, start, "xai-".len(), 70..=100, is_alphanumeric),
        [b'p', ..] => token(text, start, "pplx-".len(), 40..=64, is_alphanumeric),
        _ => token(text, start, "sk-".len(), 32..=255, is_base64url),
    }?;
    let secret = rest.as_bytes().get(..seen.end - start)?;
    let digits = secret.iter().filter(|byte| byte.is_ascii_digit()).count();
    (digits >= 3).then_some(seen)
}
