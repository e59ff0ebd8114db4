//! `block`: the exchange is refused. It says with what; `gateway` makes the reply.

/// `block {status, message}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// 400 to 599. Default 403 for requests, 502 for responses.
    pub status: u16,
    /// Shown to the client as the problem's detail.
    pub message: Option<Box<str>>,
}
