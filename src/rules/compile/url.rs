//! Where an upstream is: checks `http://host:port` and nothing more. It promises one spelling per place.

use http::Uri;

/// The URL in its one spelling, or why it is refused. Neither says more than the caller may show: a URL from the
/// environment may hold a password.
pub(super) fn origin(text: &str) -> Result<Box<str>, &'static str> {
    if text.contains('#') {
        return Err("must not have a fragment (`#…`)");
    }
    if text.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\') {
        return Err("contains white space, a backslash or a control character");
    }
    let uri: Uri = text.parse().map_err(|_| SHAPE)?;
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return Err(SHAPE) };
    if !matches!(scheme, "http" | "https") {
        return Err("must begin with `http://` or `https://`");
    }
    if authority.as_str().contains('@') {
        return Err("must not contain a user or password");
    }
    if uri.query().is_some() {
        return Err("must not have a query (`?…`)");
    }
    if !matches!(uri.path(), "" | "/") {
        return Err("must not have a path");
    }
    let host = authority.host();
    if !is_host(host) {
        return Err("does not name a host");
    }
    let after_host = authority.as_str().get(host.len()..).unwrap_or_default();
    if !after_host.is_empty() && authority.port_u16().is_none_or(|port| port == 0) {
        return Err("must have a port from 1 to 65535");
    }
    Ok(format!("{scheme}://{}", authority.as_str().to_ascii_lowercase()).into_boxed_str())
}

const SHAPE: &str = "must look like `http://host:port`";

fn is_host(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return address.parse::<std::net::Ipv6Addr>().is_ok();
    }
    is_domain(host)
}

/// A host name or IPv4 address: labels of letters, digits, `-` and `_`.
pub(super) fn is_domain(host: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    host.len() <= 253 && host.split('.').all(label)
}

#[cfg(test)]
mod tests {
    use super::origin;

    fn check(text: &str, expected: Result<&str, &str>) {
        let found = origin(text);
        assert_eq!(found.as_deref().map_err(|why| *why), expected, "{text}");
    }

    #[test]
    fn origins() {
        check("http://127.0.0.1:9001", Ok("http://127.0.0.1:9001"));
        check("https://CRM.internal/", Ok("https://crm.internal"));
        check("http://[::1]:80", Ok("http://[::1]:80"));
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "crm",
            "crm:80",
            "ftp://crm",
            "http://",
            "http://crm/path",
            "http://crm?x=1",
            "http://crm/#f",
            "http://u:p@crm",
            "http://crm:0",
            "http://crm:99999",
            "http://crm:",
            "http://a b",
            "http://cr\\m",
            "http://-a",
            "http://a..b",
            "http://[::g]",
            "//crm",
            "http:/crm",
            "http://crm:80:80",
            "unix:/run/x",
        ] {
            assert!(origin(text).is_err(), "{text}");
        }
    }
}
