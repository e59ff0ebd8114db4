//! What the operator sees: the dashboard, the live streams, health and metrics, on a listener of their own. Read-only:
//! it holds read handles, and no request changes anything but the visitor's own cookie.
//!
//! `state` is what it may look at; `guard` decides who may look; `pages` holds one file per page; `live` pushes fragments
//! of them once a second; `chart`, `format` and `assets` are what pages are made of. It refuses to know the gateway.

mod assets;
mod chart;
mod format;
mod guard;
mod live;
mod login;
mod pages;
mod probes;
mod state;
#[cfg(test)]
mod tests;
mod trail;

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use axum::{Router, middleware};
use tower_http::csrf::CsrfLayer;

pub use guard::Hosts;
pub use state::{AdminState, AuditHealth, AuditView, Lifecycle, System};
pub use trail::Trail;

use live::Live;

/// What handlers share.
#[derive(Debug)]
struct Admin {
    state: AdminState,
    live: Live,
}

/// The whole dashboard. To be served on its own listener.
pub fn router(state: AdminState) -> Router {
    let admin = Arc::new(Admin { state, live: Live::default() });
    let guarded = Router::new()
        .route("/", get(pages::overview::show))
        .route("/audit", get(pages::audit::show))
        .route("/audit/{id}", get(pages::record::show))
        .route("/rules", get(pages::rules::show))
        .route("/system", get(pages::system::show))
        .route("/live", get(live::stream))
        .route("/metrics", get(probes::metrics))
        .fallback(pages::not_found)
        .layer(middleware::from_fn_with_state(admin.clone(), guard::require_token));
    let open = Router::new()
        .route("/login", get(login::show).post(login::sign_in))
        .route("/logout", post(login::sign_out))
        .route("/healthz", get(probes::healthz))
        .route("/readyz", get(probes::readyz))
        .route("/static/{hash}/{name}", get(assets::serve));
    // Layers run from the last to the first: every answer, refusals included, carries the headers.
    open.merge(guarded)
        .layer(DefaultBodyLimit::max(4 * 1024))
        .layer(CsrfLayer::new())
        .layer(middleware::from_fn_with_state(admin.clone(), guard::check_host))
        .layer(middleware::from_fn(guard::secure))
        .with_state(admin)
}
