//! How a request came: from whom, over what, and what its connection may become. Made once for each request by the
//! connection, before anything looks at the request. A request of HTTP/2 or over TLS is brought into the one form that the
//! rest of the request path reads: origin form with a Host field.

use std::net::SocketAddr;

use http::header::{COOKIE, HOST};
use http::uri::Scheme;
use http::{HeaderValue, Request, Uri, Version};

use super::forwarded::Peer;
use super::tunnel::Handover;

/// What a connection says of a request.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// The other end of the connection.
    pub peer: Peer,
    /// Whether it came over TLS.
    pub secure: bool,
    /// What is wrong with its target, in words for the client.
    pub fault: Option<&'static str>,
    /// What the connection does when it has stopped speaking HTTP.
    pub handover: Handover,
}

impl Arrival {
    /// A connection that begins.
    pub fn new(peer: SocketAddr, secure: bool) -> Self {
        Self { peer: Peer::new(peer.ip()), secure, fault: None, handover: Handover::default() }
    }

    /// What is to be said of this request, which is brought into origin form.
    pub fn receive<B>(&self, mut request: Request<B>) -> (Self, Request<B>) {
        let mut arrival = self.clone();
        if arrival.secure {
            arrival.fault = to_origin_form(&mut request).err();
        }
        if request.version() == Version::HTTP_2 {
            join_cookies(&mut request);
        }
        (arrival, request)
    }
}

/// Moves `:authority` (RFC 9113 section 8.3.1), or the authority of an absolute form (RFC 9112 section 3.2.2), to where Host
/// is read. Whoever says two things is refused rather than interpreted.
fn to_origin_form<B>(request: &mut Request<B>) -> Result<(), &'static str> {
    let uri = request.uri();
    let (Some(authority), Some(path)) = (uri.authority(), uri.path_and_query()) else { return Ok(()) };
    if uri.scheme() != Some(&Scheme::HTTPS) {
        return Err("the scheme of the request target is not that of the connection");
    }
    let (authority, path) = (authority.as_str().to_owned(), path.clone());
    let mut lines = request.headers().get_all(HOST).iter();
    match (lines.next(), lines.next()) {
        (None, _) if request.version() == Version::HTTP_2 => {
            let host = HeaderValue::from_str(&authority).map_err(|_| "the authority of the request is not valid")?;
            request.headers_mut().insert(HOST, host);
        }
        (Some(host), None) if !host.as_bytes().eq_ignore_ascii_case(authority.as_bytes()) => {
            return Err("the request target differs from the Host field");
        }
        // None or more than one: refused where Host is read.
        _ => {}
    }
    *request.uri_mut() = Uri::from(path);
    Ok(())
}

/// HTTP/2 may send a cookie in crumbs, which nobody behind us would put together (RFC 9113 section 8.2.3).
fn join_cookies<B>(request: &mut Request<B>) {
    let headers = request.headers_mut();
    if headers.get_all(COOKIE).iter().nth(1).is_none() {
        return;
    }
    let crumbs: Vec<&[u8]> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    // INVARIANT: what was the bytes of field values is one again.
    if let Ok(whole) = HeaderValue::from_bytes(&crumbs.join(&b"; "[..])) {
        headers.insert(COOKIE, whole);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive(version: Version, secure: bool, uri: &str, fields: &[(&str, &str)]) -> (Arrival, Request<()>) {
        let mut request = Request::builder().version(version).uri(uri);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        Arrival::new("127.0.0.1:1".parse().unwrap(), secure).receive(request.body(()).unwrap())
    }

    fn read((arrival, request): &(Arrival, Request<()>)) -> Result<(String, Vec<&str>), &'static str> {
        let hosts = request.headers().get_all(HOST).iter().map(|host| host.to_str().unwrap()).collect();
        arrival.fault.map_or_else(|| Ok((request.uri().to_string(), hosts)), Err)
    }

    #[test]
    fn an_authority_becomes_the_host() {
        let h2 =
            |uri, fields: &[_]| read(&receive(Version::HTTP_2, true, uri, fields)).map(|(u, h)| (u, h.join(" | ")));
        let (path, host) = ("/a?q".to_owned(), "t.example".to_owned());
        assert_eq!(h2("https://t.example/a?q", &[]), Ok((path.clone(), host.clone())));
        assert_eq!(h2("https://T.example/a?q", &[("host", "t.example")]), Ok((path.clone(), host.clone())));
        assert_eq!(h2("/a?q", &[("host", "t.example")]), Ok((path, host)));
        assert!(h2("https://t.example/", &[("host", "other.example")]).is_err());
        assert!(h2("http://t.example/", &[]).is_err());
        assert_eq!(h2("https://t.example/", &[("host", "a"), ("host", "b")]), Ok(("/".into(), "a | b".into())));
    }

    #[test]
    fn an_absolute_form_must_fit_its_connection() {
        let h1 = |secure, uri, fields: &[_]| read(&receive(Version::HTTP_11, secure, uri, fields)).map(|(uri, _)| uri);
        assert_eq!(h1(true, "https://t.example/a", &[("host", "t.example")]), Ok("/a".into()));
        assert!(h1(true, "http://t.example/a", &[("host", "t.example")]).is_err());
        assert!(h1(true, "https://other.example/a", &[("host", "t.example")]).is_err());
        // In clear text the target itself is judged elsewhere.
        assert_eq!(h1(false, "http://t.example/a", &[]), Ok("http://t.example/a".into()));
    }

    #[test]
    fn crumbs_become_one_cookie() {
        let (_, request) = receive(Version::HTTP_2, true, "/", &[("cookie", "a=1"), ("cookie", "b=2")]);
        let cookies: Vec<_> = request.headers().get_all(COOKIE).iter().collect();
        assert_eq!(cookies, ["a=1; b=2"]);
    }
}
