//! What the sender says of its body: types and codings. SECURITY: taken before any rule about fields has run, so that no rule
//! can make a coded body look plain. What is true of it, the body alone tells.

use http::{HeaderMap, HeaderValue, header};

use crate::content::coding::Codings;
use crate::content::kind::{Format, Kind};
use crate::policy::Plan;

/// All lines about the body.
#[derive(Debug, Default)]
pub struct Labels {
    types: Vec<HeaderValue>,
    codings: Vec<HeaderValue>,
}

impl Labels {
    /// Of a message with these fields. Where no rule reads the body, nobody asks.
    pub fn of(fields: &HeaderMap, plan: &Plan) -> Self {
        if !plan.reads_body() {
            return Self::default();
        }
        let all = |name| fields.get_all(name).iter().cloned().collect();
        Self { types: all(header::CONTENT_TYPE), codings: all(header::CONTENT_ENCODING) }
    }

    /// The codings that are to be taken off, or why they cannot be.
    pub fn codings(&self) -> Result<Codings, &'static str> {
        Codings::of(self.codings.iter().map(HeaderValue::as_bytes))
    }

    /// What a body is that begins so, without its codings.
    pub fn kind(&self, start: &[u8]) -> Kind {
        Kind::of(self.types.iter().map(HeaderValue::as_bytes), start)
    }

    /// For a row of documents that may go on for ever: what it is, before anything of it has come.
    pub fn endless(&self) -> Option<Format> {
        match Kind::labelled(self.types.iter().map(HeaderValue::as_bytes)) {
            Kind::Known(format) if format.is_endless() => Some(format),
            Kind::Known(_) | Kind::Empty | Kind::Unsupported(_) => None,
        }
    }
}
