//! What may be sent again, and how often. It promises that a request which may have arrived is never repeated unless its
//! method says that this does no harm (RFC 9110 section 9.2.2), that nothing is repeated once the head of an answer is there, and
//! that all repetitions together stay within a share of the requests; it refuses to know targets and bodies.

use std::sync::atomic::{AtomicI64, Ordering};

use http::Method;

use super::fault::Failed;
use crate::rules::Retries;

/// Where a request may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// Nowhere.
    No,
    /// On another target, if there is one, and if the budget has room.
    Elsewhere,
    /// On a fresh connection, on another target or on the same. The budget is not asked: the upstream closed an idle connection
    /// as a request was on its way, so that there was no work for it, and each connection can only be lost once.
    Anywhere,
}

/// What may be done about a failed attempt. `can_repeat`: the body is still all here.
pub fn again(failed: &Failed, method: &Method, can_repeat: bool) -> Again {
    match failed {
        _ if !can_repeat => Again::No,
        // Nothing was sent, so any method may. The same target would only be refused again.
        Failed::Unreached(_) => Again::Elsewhere,
        // It was not begun, so any method may. A connection that is closing is no reason to ask somebody else.
        Failed::NotBegun => Again::Anywhere,
        Failed::Died { stale: true } if is_idempotent(method) => Again::Anywhere,
        Failed::Died { stale: false } if is_idempotent(method) => Again::Elsewhere,
        // SECURITY: it may have arrived: a second POST may be a second payment. And an answer that came too late or was no
        // answer would be no better the second time, only more work.
        Failed::Died { .. } | Failed::Upstream(_) | Failed::Ours(_) => Again::No,
    }
}

/// RFC 9110 section 9.2.2, without TRACE, which is not forwarded.
pub fn is_idempotent(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::PUT | Method::DELETE | Method::OPTIONS)
}

/// What a hundred requests pay in for each per cent, and what one repetition costs.
const PRICE: i64 = 100;

/// The budget of one upstream, shared by all workers: each request pays in its share, each repetition costs one.
#[derive(Debug)]
pub struct Budget {
    percent: i64,
    /// In hundredths of a repetition.
    saved: AtomicI64,
}

/// Repetitions that are there from the start, and the most that can be saved up: an upstream with one request a minute may
/// repeat it, and one that was well for days does not pay out a flood.
const RESERVE: i64 = 10 * PRICE;

impl Budget {
    /// A budget with its reserve.
    pub fn new(retries: Retries) -> Self {
        let percent = i64::from(retries.budget);
        Self { percent, saved: AtomicI64::new(if percent == 0 { 0 } else { RESERVE }) }
    }

    /// A request is sent for the first time.
    pub fn pay_in(&self) {
        // PERF: an upstream that is well has a full budget, and a full one is only read: no cache line moves between cores.
        let saved = self.saved.load(Ordering::Relaxed);
        if saved < RESERVE && self.percent > 0 {
            // Two at once may save a little beyond the reserve.
            self.saved.fetch_add(self.percent.min(RESERVE - saved), Ordering::Relaxed);
        }
    }

    /// Whether a request may be sent again now; if so, it is paid.
    pub fn pay_out(&self) -> bool {
        let paid = |saved: i64| (saved >= PRICE).then_some(saved - PRICE);
        self.saved.fetch_update(Ordering::Relaxed, Ordering::Relaxed, paid).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::gateway::error::Refusal;

    fn check(failed: &Failed, method: &Method, expected: Again) {
        assert_eq!(again(failed, method, true), expected, "{failed:?} {method}");
        assert_eq!(again(failed, method, false), Again::No, "a body that is gone");
    }

    #[test]
    fn a_request_that_may_have_arrived_is_repeated_only_if_that_does_no_harm() {
        let unreached = || Failed::Unreached(Refusal::UpstreamConnect);
        for method in [Method::GET, Method::HEAD, Method::PUT, Method::DELETE, Method::OPTIONS] {
            check(&unreached(), &method, Again::Elsewhere);
            check(&Failed::Died { stale: true }, &method, Again::Anywhere);
            check(&Failed::NotBegun, &method, Again::Anywhere);
            check(&Failed::Died { stale: false }, &method, Again::Elsewhere);
            check(&Failed::Upstream(Refusal::UpstreamTimeout), &method, Again::No);
            check(&Failed::Ours(Refusal::ClientBody), &method, Again::No);
        }
        for method in [Method::POST, Method::PATCH, Method::from_bytes(b"PURGE").unwrap()] {
            check(&unreached(), &method, Again::Elsewhere);
            check(&Failed::NotBegun, &method, Again::Anywhere);
            check(&Failed::Died { stale: true }, &method, Again::No);
            check(&Failed::Died { stale: false }, &method, Again::No);
            check(&Failed::Upstream(Refusal::UpstreamBroken), &method, Again::No);
        }
    }

    #[test]
    fn no_budget_means_none() {
        let budget = Budget::new(Retries { attempts: 1, budget: 0 });
        budget.pay_in();
        assert!(!budget.pay_out());
    }

    proptest! {
        #![proptest_config(crate::properties::cases(64))]

        #[test]
        fn repetitions_stay_within_the_share_and_the_reserve(
            percent in 0_u32..=100,
            tries in prop::collection::vec(any::<bool>(), 0..2000),
        ) {
            let budget = Budget::new(Retries { attempts: 1, budget: percent });
            let mut repeated = 0;
            for (sent, fails) in (1_u32..).zip(tries) {
                budget.pay_in();
                repeated += u32::from(fails && budget.pay_out());
                prop_assert!(repeated * 100 <= sent * percent + RESERVE as u32);
            }
        }
    }
}
