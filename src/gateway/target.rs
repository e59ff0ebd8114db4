//! The canonical request target: what the router judges is what the upstream gets, or the request is refused. It knows
//! no routes.
//!
//! SECURITY: every way in which two programs read one target differently is a way round a policy (RFC 3986 section 7.3,
//! RFC 9112 section 3). So there is one form: percent-encoded unreserved characters are decoded, everything else stays as it
//! came; dot segments, empty segments, encoded slashes, backslashes, control characters and whatever must not stand in a path
//! unencoded are refused. In a query, characters that the URL type would encode later are encoded now.

use std::sync::{Arc, Mutex, PoisonError};

use http::header::HOST;
use http::uri::{Authority, Scheme};
use http::{HeaderMap, HeaderValue, Method, Uri};

/// Where a request wants to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Whom the client speaks to.
    pub named: Arc<Named>,
    /// The path, canonical, starting with `/`.
    pub path: String,
    /// The query without `?`, canonical.
    pub query: Option<String>,
    /// Whether the path holds `%2f`, which only a route with `encoded_slash: keep` lets through.
    pub encoded_slash: bool,
}

/// What a Host field says.
#[derive(Debug, PartialEq, Eq)]
pub struct Named {
    /// Host name or address: lower case, without port and trailing dot.
    pub host: String,
    /// Host with port, as the client wrote it but lower case: what `preserve_host` sends.
    pub authority: HeaderValue,
}

/// The Host field that was read last. PERF: clients say the same one over and over.
#[derive(Debug, Default)]
pub struct LastNamed(Mutex<Option<KnownName>>);

/// A field as it was written, and what it says.
type KnownName = (Box<[u8]>, Arc<Named>);

impl LastNamed {
    fn read(&self, line: &HeaderValue) -> Result<Arc<Named>, TargetError> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, named)) = &*last
            && **known == *line.as_bytes()
        {
            return Ok(Arc::clone(named));
        }
        let named = Arc::new(Named::read(line)?);
        *last = Some((line.as_bytes().into(), Arc::clone(&named)));
        Ok(named)
    }
}

/// Whether a method may be forwarded. CONNECT asks for a tunnel and TRACE echoes credentials; `get` is not GET (RFC 9110
/// section 9.1), but some upstreams think so and rules for GET would not have judged it.
pub fn is_forwarded(method: &Method) -> bool {
    *method != Method::CONNECT && *method != Method::TRACE && !method.as_str().bytes().any(|b| b.is_ascii_lowercase())
}

/// Why a target was refused, in words for the client.
pub type TargetError = &'static str;

impl Target {
    /// Reads the target of a request.
    pub fn read(uri: &Uri, headers: &HeaderMap, last: &LastNamed) -> Result<Self, TargetError> {
        let mut lines = headers.get_all(HOST).iter();
        let (Some(line), None) = (lines.next(), lines.next()) else {
            return Err("exactly one Host field is required");
        };
        let named = last.read(line)?;
        if let Some(given) = uri.authority() {
            // Absolute form (RFC 9112 section 3.2.2). A client that says two things is refused rather than interpreted.
            if uri.scheme() != Some(&Scheme::HTTP) || given.as_str().to_ascii_lowercase() != named.authority {
                return Err("the request target differs from the Host field");
            }
        }
        let path = uri.path();
        if path == "*" || !path.starts_with('/') {
            return Err("the request target must start with `/`");
        }
        let mut encoded_slash = false;
        let path = canonical_path(path, &mut encoded_slash)?;
        let query = uri.query().map(canonical_query).transpose()?;
        Ok(Self { named, path, query, encoded_slash })
    }
}

impl Named {
    fn read(line: &HeaderValue) -> Result<Self, TargetError> {
        let host = line.to_str().map_err(|_| "the Host field is not valid")?;
        let authority: Authority = host.parse().map_err(|_| "the Host field is not valid")?;
        if host.contains('@') || authority.host().is_empty() || (host.contains(':') && !well_formed_port(host)) {
            return Err("the Host field is not valid");
        }
        let authority = authority.as_str().to_ascii_lowercase();
        let name = match authority.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.ends_with(':') => name,
            _ => authority.as_str(),
        };
        let name = name.strip_suffix('.').unwrap_or(name);
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
        let inner = name.strip_prefix('[').and_then(|n| n.strip_suffix(']'));
        let bracketed = inner.is_some_and(|n| n.parse::<std::net::Ipv6Addr>().is_ok());
        if name.is_empty() || !(bracketed || name.bytes().all(plain)) {
            return Err("the Host field is not valid");
        }
        let host = name.to_owned();
        Ok(Self { host, authority: HeaderValue::try_from(authority).map_err(|_| "the Host field is not valid")? })
    }
}

fn well_formed_port(host: &str) -> bool {
    if host.ends_with(']') {
        return true;
    }
    host.rsplit_once(':').is_some_and(|(_, port)| {
        !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|p| p > 0)
    })
}

/// The value of `%XY` at the front of `rest`.
fn percent(rest: &[u8]) -> Result<u8, TargetError> {
    let digit = |i: usize| rest.get(i).and_then(|b| char::from(*b).to_digit(16));
    match (digit(1), digit(2)) {
        (Some(high), Some(low)) => Ok((high * 16 + low) as u8),
        _ => Err("the request target has an incomplete percent-encoding"),
    }
}

const fn is_unreserved(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~')
}

fn push_encoded(out: &mut String, b: u8) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(char::from(HEX[usize::from(b >> 4)]));
    out.push(char::from(HEX[usize::from(b & 15)]));
}

/// What stands in a path and means nothing but itself.
const fn is_plain(b: u8) -> bool {
    is_unreserved(b) || matches!(b, b'/' | b':' | b'@' | b'=' | b',' | b'+' | b'$' | b'&' | b'!')
}

/// One pass: decodes unreserved characters, refuses what nobody should send.
fn canonical_path(raw: &str, encoded_slash: &mut bool) -> Result<String, TargetError> {
    let bytes = raw.as_bytes();
    // PERF: nearly every path; it is what it was.
    if bytes.iter().all(|b| is_plain(*b)) {
        refuse_dots(raw)?;
        return Ok(raw.to_owned());
    }
    let mut out = String::with_capacity(bytes.len());
    let mut i = 0;
    while let Some(&b) = bytes.get(i) {
        match b {
            b'%' => {
                let value = percent(bytes.get(i..).unwrap_or_default())?;
                match value {
                    b'/' => {
                        *encoded_slash = true;
                        out.push_str(raw.get(i..i + 3).unwrap_or_default());
                    }
                    b'\\' => return Err("an encoded backslash in the path is not allowed"),
                    // Never part of UTF-8: the overlong `%c0%ae` is a dot to lenient decoders.
                    0xc0 | 0xc1 | 0xf5.. => return Err("the path has an encoding that is not UTF-8"),
                    0..=0x1f | 0x7f => return Err("an encoded control character in the path is not allowed"),
                    value if is_unreserved(value) => out.push(char::from(value)),
                    _ => out.push_str(raw.get(i..i + 3).unwrap_or_default()),
                }
                i += 3;
                continue;
            }
            b'\\' => return Err("a backslash in the path is not allowed"),
            // Encoding them here would send on another path than the one that was asked for (RFC 9112 section 3.2).
            0..=0x20 | b'"' | b'#' | b'<' | b'>' | b'^' | b'`' | b'{' | b'|' | b'}' | 0x7f.. => {
                return Err("the path has a character that must be percent-encoded");
            }
            _ => out.push(char::from(b)),
        }
        i += 1;
    }
    refuse_dots(&out)?;
    if *encoded_slash {
        // An upstream that decodes it sees more segments.
        refuse_dots(&out.replace("%2f", "/").replace("%2F", "/"))?;
    }
    Ok(out)
}

fn refuse_dots(path: &str) -> Result<(), TargetError> {
    // PERF: nearly no path has any of the two; each segment begins after a slash.
    if !path.as_bytes().windows(2).any(|pair| matches!(pair, b"//" | b"/.")) {
        return Ok(());
    }
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        // `..;x` is a dot segment to servers that cut path parameters off first, encoded or not.
        if segment.starts_with('.') {
            let name = segment.split(';').next().unwrap_or_default();
            let name = name.split("%3b").next().unwrap_or_default().split("%3B").next().unwrap_or_default();
            if name == "." || name == ".." {
                return Err("a dot segment in the path is not allowed");
            }
        }
        if segment.is_empty() && segments.peek().is_some() {
            return Err("an empty segment (`//`) in the path is not allowed");
        }
    }
    Ok(())
}

fn canonical_query(raw: &str) -> Result<String, TargetError> {
    let mut out = String::with_capacity(raw.len());
    for b in raw.bytes() {
        match b {
            0..=0x20 | 0x7f | b'#' => return Err("the query has a character that must be percent-encoded"),
            b'"' | b'<' | b'>' | b'\'' | 0x80.. => push_encoded(&mut out, b),
            _ => out.push(char::from(b)),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(uri: &str, hosts: &[&str]) -> Result<Target, TargetError> {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(HOST, host.parse().unwrap());
        }
        Target::read(&uri.parse().unwrap(), &headers, &LastNamed::default())
    }

    fn path(uri: &str) -> Result<String, TargetError> {
        read(uri, &["t.example"]).map(|t| t.path)
    }

    #[test]
    fn decodes_only_unreserved() {
        assert_eq!(path("/%61dmin"), Ok("/admin".into()));
        assert_eq!(path("/a%20b%c3%a9"), Ok("/a%20b%c3%a9".into()));
        assert_eq!(path("/a%2520"), Ok("/a%2520".into()));
        assert_eq!(path("/%252e%252e/admin"), Ok("/%252e%252e/admin".into()));
    }

    #[test]
    fn refuses_what_two_programs_read_differently() {
        for bad in [
            "/public/../admin",
            "/public/%2e%2e/admin",
            "/./a",
            "/a/%2E",
            "/public/..;/admin",
            "/public//admin",
            "//evil.example/s",
            "/a%00",
            "/a%0a",
            "/a%zz",
            "/a%4",
            "/a%5c..%5cb",
            "/v1/..%2f..%2fadmin",
            "/v1/%2e%2e%2fx",
            "/v1/%2f%2fevil",
            "/a/..%3b/x",
            "/%c0%ae%c0%ae/x",
        ] {
            assert!(path(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn marks_encoded_slashes() {
        let target = read("/a%2Fb", &["t.example"]).unwrap();
        assert!(target.encoded_slash);
        assert_eq!(target.path, "/a%2Fb");
    }

    #[test]
    fn encodes_in_a_query_what_the_url_type_would() {
        assert_eq!(read("/a?q='x'", &["t"]).unwrap().query.as_deref(), Some("q=%27x%27"));
    }

    #[test]
    fn leaves_nothing_for_the_url_type_to_rewrite() {
        for c in (0x21..=0x10f_u32).filter_map(char::from_u32) {
            for (front, behind) in [("/a", "b"), ("/", ""), ("/a/", "/b")] {
                let Ok(uri) = format!("{front}{c}{behind}?{c}").parse::<Uri>() else { continue };
                let mut headers = HeaderMap::new();
                headers.append(HOST, "t".parse().unwrap());
                let Ok(target) = Target::read(&uri, &headers, &LastNamed::default()) else { continue };
                let mut url = reqwest::Url::parse("http://upstream").unwrap();
                url.set_path(&target.path);
                url.set_query(target.query.as_deref());
                assert_eq!((url.path(), url.query()), (target.path.as_str(), target.query.as_deref()), "{c:?}");
                assert!(target.path == uri.path(), "{c:?} is sent on as {:?}", target.path);
            }
        }
    }

    #[test]
    fn methods_are_what_they_say() {
        for (method, forwarded) in
            [("GET", true), ("PROPFIND", true), ("get", false), ("CONNECT", false), ("TRACE", false)]
        {
            assert_eq!(is_forwarded(&method.parse().unwrap()), forwarded, "{method}");
        }
    }

    #[test]
    fn wants_one_true_host() {
        assert!(read("/", &[]).is_err());
        assert!(read("/", &["a", "b"]).is_err());
        assert!(read("/", &["a", "a"]).is_err());
        for bad in ["u@a", "a b", "a, b", "a/b", "", "a:", "a:x", "a:0", "a:70000", "a:1:2", ":80", ".", "[zz]"] {
            assert!(read("/", &[bad]).is_err(), "{bad}");
        }
        for (good, host) in
            [("T.Example", "t.example"), ("t.example.:80", "t.example"), ("[::1]:8080", "[::1]"), ("[::1]", "[::1]")]
        {
            assert_eq!(read("/", &[good]).map(|t| t.named.host.clone()), Ok(host.into()), "{good}");
        }
        assert!(read("http://other/s", &["t"]).is_err());
        assert!(read("http://T/s", &["t"]).is_ok());
        assert!(read("ftp://t/s", &["t"]).is_err());
    }
}
