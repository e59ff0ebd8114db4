//! Passwords in the user info of URLs: what stands between `:` and `@` in the authority.

use super::Entity;
use super::token::is_placeholder;
use crate::pii::evidence::{Evidence, Reader, Sighting};

pub(super) const ENTITY: Entity = Entity {
    name: "url_credentials",
    groups: &["secrets"],
    standard: "RFC 3986, 3.2.1",
    check: "behind a scheme, user and password before the last `@` of the authority; not a placeholder",
    keys: "database url, db url, dsn, connection string, jdbc url, redis url, mongo uri, broker, amqp url",
    words: "",
    reader: Reader::Prefix { starts: &["://"], shortest: 10, read },
    examples: &[
        ("database_url", "postgres://admin:«P_a95!X75»@db.example.com:5432/app"),
        ("note", "git clone https://bot:«7RGSc1CtZIaU6a»@git.example.com/a.git now"),
        ("redis", "redis://:«hunter2»@127.0.0.1:6379/0"),
        ("url", "amqp://a:«p%40ss»@mq/%2f"),
        ("url", "mysql://root:«D!xd@wu»@db/x"),
    ],
    counter_examples: &[
        ("url", "https://example.com:8080/@scope/pkg"),
        ("url", "https://john@example.com/"),
        ("url", "https://user:${PASSWORD}@example.com/"),
        ("url", "https://user:<password>@example.com/"),
        ("url", "https://user:***@example.com/"),
        ("url", "https://user:@example.com/"),
        ("url", "https://example.com/a:b@c"),
        ("url", "://a:secret1@example.com/"),
        ("note", "see https://example.com: mail me@example.com"),
    ],
};

/// How long user info is looked at.
const MAX_USER_INFO: usize = 256;

fn read(text: &str, start: usize) -> Option<Sighting> {
    let bytes = text.as_bytes();
    let has_scheme = start.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    let authority = start + "://".len();
    let ends = |byte: u8| byte <= b' ' || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'\\' | b'`');
    let rest = bytes.get(authority..)?;
    let length = rest.iter().take(MAX_USER_INFO).take_while(|&&byte| !ends(byte)).count();
    let at = rest.get(..length)?.iter().rposition(|&byte| byte == b'@')?;
    let colon = rest.get(..at)?.iter().position(|&byte| byte == b':')?;
    let (from, to) = (authority + colon + 1, authority + at);
    let password = text.get(from..to)?;
    let has_host = rest.get(at + 1).is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'[' || byte >= 0x80);
    (has_scheme && has_host && !password.is_empty() && !is_placeholder(password)).then_some(Sighting {
        start: from,
        end: to,
        evidence: Evidence::Unmistakable,
    })
}
