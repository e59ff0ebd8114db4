//! Integration tests: the real binary, real sockets, one file per user story.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::string_slice,
    reason = "a test that cannot go on says so and ends"
)]

mod support;

mod bounds_clients;
mod decodes_bodies;
mod fails_closed;
mod finds_on_unseen_ground;
mod finds_what_operators_define;
mod keeps_the_audit_trail;
mod opens_tunnels;
mod protects_other_bodies;
mod protects_parts;
mod protects_requests;
mod protects_responses;
mod proxies_faithfully;
mod reaches_upstreams_over_tls;
mod refuses_confusing_input;
mod reloads_rules;
mod reuses_connections;
mod runs_the_demo;
mod scans_files;
mod shows_the_dashboard;
mod shuts_down_cleanly;
mod spares_upstreams;
mod speaks_http2;
mod speaks_tls;
mod streams_without_end;
mod survives_confusing_answers;
mod survives_upstreams;
mod tidy;
mod transforms_files;
