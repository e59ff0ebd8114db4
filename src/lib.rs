//! Fieldgate: a self-hosted data-protection API gateway. One binary in front of HTTP APIs that judges every request and
//! response by rules in files, rewrites JSON on its way through, and records what it did.
//!
//! # The life of a request
//!
//! 1. [`gateway::serve`] accepts a connection and hands it to the worker with the fewest, where [`gateway::connection`] speaks
//!    TLS, HTTP/1.1 or HTTP/2 with it. What is not well formed to the letter ends before the parser (`gateway::wire`).
//! 2. [`gateway`] (`pass`, the whole story on one screen) reserves room for the record, reads the canonical target
//!    ([`gateway::target`]), and finds the route in the snapshot it took at the start ([`gateway::live`]).
//! 3. The request is judged: path, query, fields, body. [`content::coding`] takes off what it was packed with,
//!    [`content::kind`] says what the body is, [`policy`] decides, [`content::json`] reads and rewrites it (lines, events and
//!    parts one by one, text and forms without it), [`pii`] recognises, [`actions`] edit. What comes out is `Cleared`, the only
//!    thing that can be sent.
//! 4. [`gateway::upstream`] sends it on a pooled connection to the next target that is well, and once more where that does no
//!    harm.
//! 5. The response is judged the same way. What comes out is a `Reply`, the only thing that can be delivered.
//! 6. Before its last byte leaves, [`gateway::exchange`] counts it ([`stats`]) and puts its record down ([`audit`]).
//! 7. The operator sees it on the dashboard ([`admin`]).
//!
//! # The modules, in reading order
//!
//! [`app`] builds everything once; [`settings`] is what the process was started with; [`rules`] is what the operator wrote;
//! [`router`] where a request goes; [`gateway`] the path it takes; [`policy`] what may pass; [`content`] how a body is read
//! and rewritten; [`actions`] what is done to a value; [`pii`] how personal data is recognised; [`audit`] what is remembered;
//! [`stats`] what is measured; [`admin`] what the operator sees; [`scan`] how a file is searched offline; [`cli`] the verbs;
//! [`certificates`] what TLS is spoken with; [`supervisor`] what a service manager is told; [`sensitive`] what cannot be printed.
//!
//! # The laws
//!
//! 1. The core (`router`, `policy`, `content`, `actions`, `pii`, `scan`) does no I/O: same bytes in, same bytes out.
//! 2. One exchange, one snapshot. It is loaded once, judges both halves, and the record names its generation.
//! 3. The data path sees no configuration: what was written is compiled into what runs.
//! 4. HTTP clients are built in one file, before a ruleset is swapped in; an upstream that did not change keeps its own.
//! 5. A raw value leaves `policy` only as an edit to the body. Findings carry entity, key path, rule, action, count. `scan`, which
//!    runs offline, shows values to whoever asks for them with a flag.
//! 6. Every exchange is counted once and recorded once, at one place, however it ends; room for the record is reserved before
//!    anything is forwarded.
//! 7. What happens when protection cannot be given is decided in one place, and closed by default.
//! 8. Framing is rebuilt, never copied: `Content-Length`, `Transfer-Encoding`, digests and validators do not pass an edit.
//! 9. The request target is made canonical once, before routing; that value goes upstream, or nothing does. Routes compare
//!    paths in a form in which two are the same that an upstream may take for the same.
//!
//! `tests/it/tidy.rs` holds the edges between the modules and the sizes of files.
//!
//! # The words
//!
//! **client** sends to us; **upstream**: a named pool of **targets** we forward to; **exchange**: one request with its
//! response; **direction**: request or response; **route**: host, path and method to an upstream; **policy**: a named, ordered
//! list of rules with a **mode** (enforce, shadow, off); **rule**: selector or detector, and action; **ruleset**: all rule
//! files compiled, one **generation**; **plan**: a ruleset's part for one route and direction; **selector**: names fields of a
//! body (RFC 9535 JSONPath); **detector**: recognises an **entity**, a kind of personal data or secret; **finding**: one
//! recognised or selected value; **action**: what is done to it; **edit**: a replacement in the body; **verdict**: pass, edit
//! or block; **record**: an audit entry.
//!
//! # Where the design was changed by what was learned
//!
//! - One listener, accepted on the control thread and handed to the worker with the fewest connections, in place of one
//!   `SO_REUSEPORT` socket per core: no imbalance by hash, and a second process on the same port is an error.
//! - The JSON engine does not show a judge everything. A judge says what a glance may pass by
//!   ([`content::json::Show`]); most members of a body are passed by a loop that touches no stack, no path and no rule, and the
//!   context of a key is made only where something is looked at.
//! - A body that an enforced rule looked at goes on without its content codings even where nothing was changed: decoders differ,
//!   and what was looked at must be what is read. zstd is decoded by the reference library, because the one in Rust gives out
//!   nothing that still lies in its window: events would wait for ever.
//! - A runtime per worker and clients per worker, in place of one runtime for all: a request stays on the thread that accepted
//!   it, and costs four system calls (two reads, two writes) and a fourth of one for waiting and waking.
//! - In clear text a client does not know its target by name: it makes text of its URL and reads it twice for each request. It
//!   is given a short name that only the resolver of its upstream knows, and Host is written here.
//! - Each upstream has two clients per worker: a pooled one, and one that keeps nothing, on which a safe retry is sure to get a
//!   new connection. Both are swapped for new ones when a name of the upstream has lost an address: a pool has no other way to
//!   let go of connections that are busy.

pub mod actions;
pub mod admin;
pub mod app;
pub mod audit;
pub mod certificates;
pub mod cli;
pub mod content;
pub mod gateway;
pub mod pii;
pub mod policy;
#[cfg(test)]
mod properties;
mod quantity;
pub mod router;
pub mod rules;
pub mod scan;
pub mod sensitive;
pub mod settings;
pub mod stats;
pub mod supervisor;
