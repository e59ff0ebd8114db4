//! Who speaks to us, and for whom. It believes what a request says about its way here only from the addresses that the
//! operator trusts, none by default, and refuses to know anything else about them.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use http::{HeaderMap, HeaderName, HeaderValue};
use ipnet::IpNet;

const FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The networks whose word is taken.
#[derive(Debug, Clone, Default)]
pub struct Trusted(Vec<IpNet>);

impl Trusted {
    /// Trusts these networks.
    pub const fn new(networks: Vec<IpNet>) -> Self {
        Self(networks)
    }

    fn holds(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// Who is connected to us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    address: IpAddr,
    // PERF: written once for a connection, read twice for each request.
    text: HeaderValue,
}

impl Peer {
    /// At this address.
    pub fn new(address: IpAddr) -> Self {
        let address = address.to_canonical();
        // INVARIANT: digits, letters, dots and colons.
        let text = HeaderValue::try_from(address.to_string()).unwrap_or(HeaderValue::from_static("unknown"));
        Self { address, text }
    }
}

/// Where a request comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Who is connected to us.
    pub peer: Peer,
    /// Whom the request is from: the peer, or whom trusted peers name.
    pub client: IpAddr,
    /// Whether the peer's word is taken.
    pub is_trusted: bool,
}

impl Origin {
    /// Reads `X-Forwarded-For` from the right: each trusted hop vouches for the one before it. SECURITY: the first that is
    /// not trusted is the client, whatever it claims further left; what is no address vouches for nothing.
    pub fn of(peer: Peer, headers: &HeaderMap, trusted: &Trusted) -> Self {
        let is_trusted = trusted.holds(peer.address);
        let mut client = peer.address;
        if is_trusted {
            let lines = headers.get_all(FOR).iter().rev();
            for hop in lines.flat_map(|line| line.as_bytes().rsplit(|b| *b == b',')).map(address) {
                let Some(hop) = hop else { break };
                client = hop;
                if !trusted.holds(hop) {
                    break;
                }
            }
        }
        Self { peer, client, is_trusted }
    }

    /// Whom the request is from, as it is written.
    pub fn client(&self) -> Cow<'_, str> {
        match self.peer.text.to_str() {
            Ok(peer) if self.client == self.peer.address => peer.into(),
            Ok(_) | Err(_) => self.client.to_string().into(),
        }
    }

    /// Writes the way here into the fields for the upstream: a trusted peer's account is continued, any other is replaced.
    pub fn write(&self, headers: &mut HeaderMap, authority: &HeaderValue, scheme: &'static str) {
        if !self.is_trusted {
            let claims: Vec<HeaderName> = headers.keys().filter(|name| is_claim(name)).cloned().collect();
            for name in claims {
                headers.remove(name);
            }
        }
        let mut way: Vec<u8> = Vec::new();
        for line in headers.get_all(FOR).iter().filter(|line| !line.is_empty()) {
            way.extend_from_slice(line.as_bytes());
            way.extend_from_slice(b", ");
        }
        if way.is_empty() {
            headers.insert(FOR, self.peer.text.clone());
        } else {
            way.extend_from_slice(self.peer.text.as_bytes());
            if let Ok(way) = HeaderValue::try_from(way) {
                headers.insert(FOR, way);
            }
        }
        headers.entry(HOST).or_insert_with(|| authority.clone());
        headers.entry(PROTO).or_insert(HeaderValue::from_static(scheme));
    }
}

/// Fields in which a request says where it comes from, or what it was before.
fn is_claim(name: &HeaderName) -> bool {
    name == "forwarded" || name.as_str().starts_with("x-forwarded-")
}

/// An address, with a port or without.
fn address(text: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse::<IpAddr>().or_else(|_| text.parse::<SocketAddr>().map(|socket| socket.ip()));
    address.ok().map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trusted() -> Trusted {
        Trusted::new(["10.0.0.0/8", "fd00::/8"].map(|network| network.parse().unwrap()).to_vec())
    }

    fn client(peer: &str, lines: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(FOR, line.parse().unwrap());
        }
        Origin::of(Peer::new(peer.parse().unwrap()), &headers, &trusted()).client().into_owned()
    }

    #[test]
    fn the_client_is_the_first_hop_from_the_right_that_is_not_trusted() {
        assert_eq!(client("192.0.2.1", &["203.0.113.7"]), "192.0.2.1");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &["203.0.113.7"]), "203.0.113.7");
        assert_eq!(client("10.0.0.1", &["6.6.6.6, 203.0.113.7, 10.0.0.2"]), "203.0.113.7");
        assert_eq!(client("10.0.0.1", &["6.6.6.6", "203.0.113.7:4711", "10.0.0.2"]), "203.0.113.7");
        assert_eq!(client("fd00::1", &["6.6.6.6, [2001:db8::7]:80,[fd00::2]"]), "2001:db8::7");
        assert_eq!(client("10.0.0.1", &["6.6.6.6, ::ffff:203.0.113.7"]), "203.0.113.7");
        assert_eq!(client("10.0.0.1", &["10.0.0.3, 10.0.0.2"]), "10.0.0.3");
        assert_eq!(client("10.0.0.1", &["6.6.6.6, unknown, 10.0.0.2"]), "10.0.0.2");
        assert_eq!(client("10.0.0.1", &["6.6.6.6,"]), "10.0.0.1");
    }

    fn written(peer: &str, fields: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, value.parse().unwrap());
        }
        Origin::of(Peer::new(peer.parse().unwrap()), &headers, &trusted()).write(
            &mut headers,
            &HeaderValue::from_static("api.example"),
            "http",
        );
        headers
    }

    #[test]
    fn an_account_is_continued_or_replaced() {
        let fields = [
            ("x-forwarded-for", "203.0.113.7"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "shop.example"),
            ("x-forwarded-prefix", "/x"),
            ("forwarded", "for=203.0.113.7"),
        ];
        let kept = written("10.0.0.1", &fields);
        assert_eq!(kept[FOR], "203.0.113.7, 10.0.0.1");
        assert_eq!(
            (&kept["x-forwarded-proto"], &kept["x-forwarded-host"]),
            (&"https".parse().unwrap(), &"shop.example".parse().unwrap())
        );
        assert!(kept.contains_key("forwarded") && kept.contains_key("x-forwarded-prefix"));
        let replaced = written("192.0.2.1", &fields);
        assert_eq!(replaced[FOR], "192.0.2.1");
        assert_eq!(
            (&replaced["x-forwarded-proto"], &replaced["x-forwarded-host"]),
            (&"http".parse().unwrap(), &"api.example".parse().unwrap())
        );
        assert!(!replaced.contains_key("forwarded") && !replaced.contains_key("x-forwarded-prefix"));
    }
}
