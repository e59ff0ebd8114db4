//! Live pages: one server-sent event stream per open page. A view is rendered once per tick however many look at it; each
//! stream sends only the fragments that changed. It refuses to know what is in a fragment.

use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;
use tokio::sync::watch;

use super::{Admin, pages};
use crate::stats::Window;

/// Streams open at a time; browsers beyond get a page that stands still.
const MOST_STREAMS: usize = 64;

/// A page that can be watched. There are seven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum View {
    Overview(Window),
    Audit,
    Rules,
    System,
}

impl View {
    /// The address of its stream.
    pub(super) fn url(self) -> String {
        match self {
            Self::Overview(window) => format!("/live?page=overview&window={}", window.name()),
            Self::Audit => "/live?page=audit".into(),
            Self::Rules => "/live?page=rules".into(),
            Self::System => "/live?page=system".into(),
        }
    }

    fn named(page: &str, window: &str) -> Option<Self> {
        match page {
            "overview" => Window::named(window).map(Self::Overview),
            "audit" => Some(Self::Audit),
            "rules" => Some(Self::Rules),
            "system" => Some(Self::System),
            _ => None,
        }
    }
}

/// A piece of a page, with a hash to tell whether it changed.
#[derive(Debug, Clone)]
struct Fragment {
    html: String,
    hash: u64,
}

type Fragments = Arc<[Fragment]>;

/// The views that somebody watches.
#[derive(Debug, Default)]
pub(super) struct Live(Mutex<HashMap<View, watch::Sender<Fragments>>>);

impl Live {
    fn views(&self) -> MutexGuard<'_, HashMap<View, watch::Sender<Fragments>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    page: String,
    #[serde(default)]
    window: String,
}

/// `GET /live?page=overview&window=1m`
pub(super) async fn stream(State(admin): State<Arc<Admin>>, Query(wanted): Query<Wanted>) -> Response {
    let Some(view) = View::named(&wanted.page, &wanted.window) else {
        return (StatusCode::BAD_REQUEST, "400: no such view\n").into_response();
    };
    if admin.state.lifecycle.is_draining() {
        return (StatusCode::SERVICE_UNAVAILABLE, "503: shutting down\n").into_response();
    }
    let Some(fragments) = subscribe(&admin, view) else {
        return (StatusCode::SERVICE_UNAVAILABLE, "503: too many live pages are open\n").into_response();
    };
    let events = stream::unfold((fragments, Vec::new()), |(mut fragments, sent)| async move {
        // The sender goes when the process drains; the stream then ends.
        fragments.changed().await.ok()?;
        let now = fragments.borrow_and_update().clone();
        let fresh: String = now.iter().filter(|one| !sent.contains(&one.hash)).map(|one| one.html.as_str()).collect();
        let sent = now.iter().map(|one| one.hash).collect();
        Some((Ok::<_, Infallible>(Event::default().event("tick").data(fresh)), (fragments, sent)))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(10))).into_response()
}

fn subscribe(admin: &Arc<Admin>, view: View) -> Option<watch::Receiver<Fragments>> {
    let mut views = admin.live.views();
    if views.values().map(watch::Sender::receiver_count).sum::<usize>() >= MOST_STREAMS {
        return None;
    }
    if let Some(sender) = views.get(&view) {
        return Some(sender.subscribe());
    }
    let (sender, receiver) = watch::channel(Fragments::from([]));
    views.insert(view, sender.clone());
    // Owned by its view: it ends when nobody watches any more, or when the process drains.
    tokio::spawn(feed(admin.clone(), view, sender));
    Some(receiver)
}

async fn feed(admin: Arc<Admin>, view: View, sender: watch::Sender<Fragments>) {
    let mut ticks = admin.state.stats.ticks();
    loop {
        let goes_on = tokio::select! {
            changed = ticks.changed() => changed.is_ok(),
            () = admin.state.lifecycle.draining() => false,
        };
        {
            // INVARIANT: counted and removed under the lock under which others subscribe.
            let mut views = admin.live.views();
            if !goes_on || sender.receiver_count() == 0 {
                views.remove(&view);
                return;
            }
        }
        if let Ok(body) = pages::body(&admin, view) {
            sender.send_replace(fragments(&body));
        }
    }
}

/// Cuts a page's body at the marks between its fragments. Strangers' text is escaped and cannot hold a mark.
fn fragments(body: &str) -> Fragments {
    let fragments = body.split("<!--cut-->").map(|html| {
        let html = html.trim().replace('\r', "");
        let mut hasher = DefaultHasher::new();
        html.hash(&mut hasher);
        Fragment { hash: hasher.finish(), html }
    });
    fragments.collect()
}
