//! E-mail addresses, also internationalised: a local part, a domain under a known top-level domain.

use super::Entity;
use crate::pii::context::floor_boundary;
use crate::pii::evidence::{Evidence, Reader, Sighting};

pub(super) const ENTITY: Entity = Entity {
    name: "email",
    groups: &["pii"],
    standard: "RFC 5321, RFC 6531; Public Suffix List",
    check: "local part and domain as SMTP allows, top-level domain known, not user info of a URL, not a package version",
    keys: "email, e mail, mail, email address, mail address, recipient, sender, reply to, correo, correo \
            electronico, courriel, adresse email, adresse mail, posta elettronica, e post, epost, indirizzo email, \
            emailadres, sahkoposti, eposta, почта, 邮箱, メール",
    words: "contact, write to, schreiben, antworten sie, escribeme, scrivimi",
    reader: Reader::At(read),
    examples: &[
        ("email", "«john.doe+tag@example.com»"),
        ("note", "Please reply to «O'Brien@sub.example.co.uk»."),
        ("note", "<«a@b.io»>, mailto:c@d.org"),
        ("note", "«aimée.martel@kunde.example.museum»"),
        ("note", "«info@müller.de»"),
        ("note", "«用户@例子.中国»"),
        ("note", "请联系«john@example.com»谢谢"),
        ("note", "«x@xn--mller-kva.de»,"),
        ("email", "«\"john doe\"@example.com»"),
        ("email", "«user!name#1@example.com»"),
        ("q", "email=«john%40example.com»&x=1"),
        ("q", "mail=«o%27hara%40%E4%BE%8B%E3%81%88.jp»&x=1"),
        ("url", "https://x.example.com/?email=«john@example.com»"),
        ("note", "Mail «anna@example.de».Bitte"),
        ("note", "('«anna@example.de»')"),
        ("note", "«joe@[192.168.0.1]»"),
        ("note", "«joe@correo.みんな»."),
        ("html", "<td>«joe&#64;example.com»</td>"),
        ("note", "请联系«joe@example.com».谢谢"),
    ],
    counter_examples: &[
        ("image", "logo@2x.png"),
        ("image", "icon@2x.ai"),
        ("dependency", "lodash@4.17.21"),
        ("dependency", "@scope/pkg@1.2.3"),
        ("url", "https://john@example.com/"),
        ("url", "postgres://user:secret@db.example.com:5432/x"),
        ("remote", "git@github.com:org/repo.git"),
        ("handle", "@example.com"),
        ("note", "a@b"),
        ("note", "john@example.notatld"),
        ("note", "john@-example.com"),
        ("note", ".@example.com"),
        ("note", "{{user@email}}"),
        ("html", "&#64;4 joe&lt;a&gt;"),
    ],
};

/// RFC 5321, 4.5.3.1.
const MAX_LOCAL: usize = 64;
/// RFC 5321, 4.5.3.1, and what an address may have in all.
const MAX_DOMAIN: usize = 253;
/// How far before an address a scheme is looked for.
const MAX_USER_INFO: usize = 128;

fn read(text: &str, at: usize) -> Option<Sighting> {
    let (before, after) = (text.get(..at)?, text.get(at + 1..)?);
    // PERF: most bare `@` end here.
    if !after.starts_with(|first: char| first == '[' || first.is_alphanumeric()) {
        return None;
    }
    let (domain, evidence) = domain(after)?;
    let end = at + 1 + domain;
    let start = quoted_local(before).or_else(|| local(before, end == text.len()))?;
    let rest = text.get(end..)?.as_bytes();
    let is_remote = matches!(rest, [b':', next, ..] if !next.is_ascii_whitespace()) && text.get(start..at)? == "git";
    (!is_remote && !is_user_info(text.get(..start)?)).then_some(Sighting { start, end, evidence })
}

/// Where the local part that ends `before` begins.
fn local(before: &str, ends_value: bool) -> Option<usize> {
    let last_is_ascii = before.ends_with(|letter: char| letter.is_ascii());
    let mut start = before.len();
    for letter in before.chars().rev() {
        let is_ours = letter.is_ascii_alphanumeric()
            || matches!(letter, '.' | '_' | '%' | '+' | '-' | '\'')
            || letter.is_alphanumeric() && (!last_is_ascii || !is_unspaced_script(letter));
        if !is_ours {
            break;
        }
        start -= letter.len_utf8();
        // One more than allowed is enough to see that it is too long.
        if before.len() - start > MAX_LOCAL {
            return None;
        }
    }
    // RFC 5322 allows these too. In running text they are more often something else; where the value is an address and
    // nothing more, they are its own.
    if ends_value && before.len() <= MAX_LOCAL && before.bytes().all(|byte| is_atom(byte) || byte == b'.') {
        start = 0;
    }
    let local = before.get(start..)?;
    // What comes before two dots, or before a dot or quote that leads, is not of the address.
    let start = start + local.rfind("..").map_or(0, |at| at + 2);
    let local = before.get(start..)?;
    let start = start + (local.len() - local.trim_start_matches(['.', '\'', '-', '%']).len());
    let local = before.get(start..)?;
    (!local.is_empty() && !local.ends_with(['.', '\''])).then_some(start)
}

const fn is_atom(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || byte >= 0x80
        || matches!(
            byte,
            b'!' | b'#' | b'$' | b'%' | b'*' | b'+' | b'-' | b'^' | b'_' | b'`' | b'{' | b'|' | b'}' | b'~' | b'\''
        )
}

/// Scripts that are written without spaces: an address in such a text begins where the script changes.
const fn is_unspaced_script(letter: char) -> bool {
    matches!(letter, '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Where a quoted local part (RFC 5321 `Quoted-string`) that ends `before` begins.
fn quoted_local(before: &str) -> Option<usize> {
    let inner = before.strip_suffix('"')?;
    let from = floor_boundary(inner, inner.len().saturating_sub(MAX_LOCAL));
    let open = from + inner.get(from..)?.rfind('"')?;
    let is_open =
        inner.get(..open)?.chars().next_back().is_none_or(|letter| letter.is_whitespace() || "<(,;:=".contains(letter));
    (is_open && open + 1 < inner.len()).then_some(open)
}

/// How long the domain that begins `after` is, and what it shows.
fn domain(after: &str) -> Option<(usize, Evidence)> {
    if after.starts_with('[') {
        let literal = after.get(1..after.bytes().take(48).position(|byte| byte == b']')?)?;
        let is_address = literal.strip_prefix("IPv6:").unwrap_or(literal).parse::<std::net::IpAddr>().is_ok();
        return is_address.then_some((literal.len() + 2, Evidence::Strong));
    }
    let starts_ascii = after.starts_with(|letter: char| letter.is_ascii());
    // A label of its own may be in another script: `correo.みんな`.
    let (mut length, mut begins_label) = (0, false);
    for letter in after.chars() {
        let is_ours = letter.is_ascii_alphanumeric()
            || matches!(letter, '.' | '-')
            || letter.is_alphanumeric() && (!starts_ascii || begins_label || !is_unspaced_script(letter));
        begins_label = letter == '.' || begins_label && is_unspaced_script(letter);
        if !is_ours || length > MAX_DOMAIN {
            break;
        }
        length += letter.len_utf8();
    }
    let is_retina =
        |label: &str| label.strip_suffix('x').is_some_and(|scale| scale.bytes().all(|byte| byte.is_ascii_digit()));
    let mut domain = after.get(..length)?;
    if domain.split('.').next().is_some_and(is_retina) {
        return None;
    }
    let valid = domain.split('.').take_while(|label| is_label(label)).fold(0, |sum, label| sum + label.len() + 1);
    domain = domain.get(..valid.saturating_sub(1))?;
    // The sentence may go on behind a dot without a space: labels are given up until one is a top-level domain.
    while let Some((rest, top)) = domain.rsplit_once('.') {
        if is_top_level(domain, top) {
            return Some((domain.len(), Evidence::Strong));
        }
        if RESERVED.iter().any(|reserved| top.eq_ignore_ascii_case(reserved)) {
            return Some((domain.len(), Evidence::Hint));
        }
        domain = rest;
    }
    None
}

/// RFC 2606 and the names that people use inside: an address only where the context says so.
const RESERVED: &[&str] = &["example", "test", "invalid", "localhost", "local", "internal", "lan", "corp", "intranet"];

fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
}

fn is_top_level(domain: &str, top: &str) -> bool {
    if top.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    // The list knows lower case only, and some top-level domains only with the label before them.
    let tail = domain.rmatch_indices('.').nth(1).map_or(domain, |(at, _)| domain.get(at + 1..).unwrap_or(domain));
    let mut lower = [0_u8; 2 * 63 + 1];
    match lower.get_mut(..tail.len()) {
        Some(lower) if tail.is_ascii() => {
            lower.copy_from_slice(tail.as_bytes());
            lower.make_ascii_lowercase();
            psl::suffix(lower).is_some_and(|suffix| suffix.is_known())
        }
        Some(_) | None => psl::suffix(tail.to_lowercase().as_bytes()).is_some_and(|suffix| suffix.is_known()),
    }
}

/// Whether what follows `before` stands behind `//` as the user info of a URL (RFC 3986, 3.2.1).
fn is_user_info(before: &str) -> bool {
    let info = before
        .as_bytes()
        .iter()
        .rev()
        .take(MAX_USER_INFO)
        .take_while(|&&byte| byte.is_ascii_alphanumeric() || byte >= 0x80 || b"-._~%!$&'()*+,;=:".contains(&byte));
    before.as_bytes().get(..before.len() - info.count()).is_some_and(|rest| rest.ends_with(b"//"))
}
