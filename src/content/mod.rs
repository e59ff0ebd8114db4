//! How a body is read and rewritten: bytes in, bytes out. No I/O, no clock, nothing of ours: what should happen to a
//! value is asked of a [`json::Judge`], which `policy` implements.

pub mod coding;
pub mod documents;
pub mod events;
pub mod json;
pub mod kind;
pub mod multipart;
pub mod text;
