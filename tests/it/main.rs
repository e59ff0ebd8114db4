//! Integration tests: the real binary, real sockets, one file per user story.

mod support;

mod fails_closed;
mod keeps_the_audit_trail;
mod proxies_faithfully;
mod protects_requests;
mod protects_responses;
mod reloads_rules;
mod reuses_connections;
mod runs_the_demo;
mod shows_the_dashboard;
mod shuts_down_cleanly;
mod tidy;
