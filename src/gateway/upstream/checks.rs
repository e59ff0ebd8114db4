//! Asking a target for its health, from time to time, as one task for all workers. It promises a connection of its own for each
//! question, which shows that one can be made; it refuses to know what follows from the answer.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Method, header};
use tokio::time::sleep;

use super::target::Target;
use crate::rules::HealthCheck;

/// A question, ready to be asked.
pub struct Question {
    client: reqwest::Client,
    url: reqwest::Url,
    headers: Vec<(HeaderName, HeaderValue)>,
    check: HealthCheck,
}

impl Question {
    /// What this target is asked. The upstream's own fields go along: a health page may want to know who asks, too.
    pub fn of(
        target: &Target,
        check: &HealthCheck,
        headers: &[(HeaderName, HeaderValue)],
        client: reqwest::Client,
    ) -> Option<Self> {
        let url = target.base.join(&check.path).ok()?;
        // SECURITY: a path that begins with two slashes would be another host.
        (url.origin() == target.base.origin()).then(|| Self {
            client,
            url,
            headers: headers.to_vec(),
            check: check.clone(),
        })
    }

    async fn ask(&self) -> Result<(), String> {
        let mut request = reqwest::Request::new(Method::GET, self.url.clone());
        let fields = request.headers_mut();
        fields.insert(header::USER_AGENT, HeaderValue::from_static(concat!("fieldgate/", env!("CARGO_PKG_VERSION"))));
        for (name, value) in &self.headers {
            fields.insert(name, value.clone());
        }
        match tokio::time::timeout(self.check.timeout, self.client.execute(request)).await {
            Err(_) => Err("no answer in time".to_owned()),
            Ok(Err(error)) if error.is_dns() => Err("its name cannot be looked up".to_owned()),
            Ok(Err(error)) if error.is_connect() => Err("no connection".to_owned()),
            Ok(Err(_)) => Err("no HTTP".to_owned()),
            // A redirect is a sign of life: it is not followed.
            Ok(Ok(answer)) if answer.status().is_success() || answer.status().is_redirection() => Ok(()),
            Ok(Ok(answer)) => Err(format!("status {}", answer.status().as_u16())),
        }
    }
}

/// Asks until it is aborted.
pub async fn watch(question: Question, standing: Arc<super::target::Standing>) {
    // The first time at once, but not all targets of all upstreams at one moment.
    sleep(question.check.interval.mul_f64(0.1 * chance())).await;
    loop {
        let answer = question.ask().await;
        standing.checked(answer.as_ref().copied().map_err(String::as_str));
        sleep(jittered(question.check.interval, chance())).await;
    }
}

/// Give or take a tenth, so that many gateways do not ask in step.
fn jittered(interval: Duration, chance: f64) -> Duration {
    interval.mul_f64(0.9 + 0.2 * chance)
}

/// From 0 to 1. Not for secrets.
fn chance() -> f64 {
    f64::from(RandomState::new().hash_one(0_u8) as u32) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_about_the_interval() {
        let second = Duration::from_secs(1);
        assert_eq!(jittered(second, 0.0), Duration::from_millis(900));
        assert_eq!(jittered(second, 1.0), Duration::from_millis(1100));
        for _ in 0..1000 {
            assert!((0.0..=1.0).contains(&chance()));
        }
    }
}
