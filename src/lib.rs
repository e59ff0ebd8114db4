//! Fieldgate: a self-hosted data-protection API gateway.

pub mod actions;
pub mod admin;
pub mod app;
pub mod audit;
pub mod cli;
pub mod content;
pub mod gateway;
pub mod pii;
pub mod policy;
mod quantity;
pub mod router;
pub mod rules;
pub mod sensitive;
pub mod settings;
pub mod stats;
