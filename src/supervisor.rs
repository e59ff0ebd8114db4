//! The service manager's side of the process (systemd's protocols): the socket that it listened on before we ran, and what it
//! is told of us. Without one, everything here does nothing. It refuses to know what is served.

use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use listenfd::ListenFd;
use sd_notify::NotifyState;

/// The first socket that was handed over (`LISTEN_FDS`, `sd_listen_fds(3)`): clients that connect while we start, or start again,
/// wait there instead of being refused.
pub fn listener() -> std::io::Result<Option<(TcpListener, SocketAddr)>> {
    let Some(listener) = ListenFd::from_env().take_tcp_listener(0)? else { return Ok(None) };
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok(Some((listener, address)))
}

/// Traffic is taken (`READY=1`, `sd_notify(3)`).
pub fn ready() {
    tell(NotifyState::Ready);
}

/// What is under way ends, nothing new is taken (`STOPPING=1`).
pub fn stopping() {
    tell(NotifyState::Stopping);
}

/// Says that we are alive (`WATCHDOG=1`) twice as often as it is asked for (`WATCHDOG_USEC`), for ever. Whoever runs this must
/// be who would hang.
pub async fn stay_alive() {
    let Some(allowed) = sd_notify::watchdog_enabled() else { return std::future::pending().await };
    let mut often = tokio::time::interval((allowed / 2).max(Duration::from_millis(1)));
    often.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        often.tick().await;
        tell(NotifyState::Watchdog);
    }
}

fn tell(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "the service manager cannot be told");
    }
}
