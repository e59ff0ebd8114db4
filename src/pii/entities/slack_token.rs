//! Slack tokens and webhook addresses, whose path is the secret.

use super::Entity;
use super::token::{is_base64url, token};
use crate::pii::evidence::{Reader, Sighting};

pub(super) const ENTITY: Entity = Entity {
    name: "slack_token",
    groups: &["secrets"],
    standard: "Slack token types",
    check: "xox?- or xapp- with a number and a secret behind it; hooks.slack.com/services/T…/B…/…",
    keys: "slack token, slack bot token, bot token, slack",
    words: "",
    reader: Reader::Prefix {
        starts: &[
            "xoxb-",
            "xoxp-",
            "xoxa-",
            "xoxr-",
            "xoxs-",
            "xoxe-",
            "xoxe.",
            "xoxc-",
            "xoxd-",
            "xapp-",
            "hooks.slack.com/",
        ],
        shortest: 20,
        read,
    },
    examples: &[
        ("slack_token", "«xoxb¦-191134684675-738437351329-v3vRNrPdW99JJSiYCSg6Sz4f»"),
        ("note", "SLACK_BOT_TOKEN=«xoxp¦-206065388619-753206408-zqAuukS7lIGC8a08v5V1Qba6»."),
        ("value", "«xapp¦-1-A012BCDEF-3456789-0a1b2c3d4e5f6a7b8c9d»"),
        ("url", "https://«hooks.slack.com/services¦/T00000001/B00000001/v3vRNrPdW99JJSiYCSg6Sz4f»"),
    ],
    counter_examples: &[
        ("slack_token", "xoxb¦-"),
        ("slack_token", "xoxb¦-your-token-here-please"),
        ("note", "foxoxb¦-191134684675-738437351329-v3vRNrPdW99JJSiYCSg6Sz4f"),
        ("url", "https://hooks.slack.com/docs"),
    ],
};

fn read(text: &str, start: usize) -> Option<Sighting> {
    let rest = text.get(start..)?;
    if let Some(path) = rest.strip_prefix("hooks.slack.com/") {
        path.starts_with("services/T").then_some(())?;
        let seen =
            token(text, start, "hooks.slack.com/services/".len(), 24..=128, |byte| is_base64url(byte) || byte == b'/')?;
        return (text.get(start..seen.end)?.matches('/').count() == 4).then_some(seen);
    }
    let seen = token(text, start, "xoxb-".len(), 16..=255, is_base64url)?;
    let has_number = text.get(start..seen.end)?.bytes().filter(u8::is_ascii_digit).count() >= 4;
    has_number.then_some(seen)
}
