//! Fieldgate: a self-hosted data-protection API gateway.

pub mod actions;
pub mod admin;
pub mod audit;
pub mod cli;
pub mod content;
pub mod pii;
pub mod policy;
pub mod router;
pub mod rules;
pub mod sensitive;
pub mod stats;
