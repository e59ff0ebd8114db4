//! Which target is next. It promises that over time each usable target gets its share by weight, in single turns rather than
//! in runs; it refuses to know why a target is not usable, and the clock.

use crate::rules::Balance;

/// The turns of one worker.
#[derive(Debug)]
pub struct Balancer {
    kind: Balance,
    targets: Vec<Turn>,
    /// All weights.
    sum: i64,
}

#[derive(Debug)]
struct Turn {
    weight: i64,
    /// How far it is ahead of its share (below zero) or behind it (above).
    owed: i64,
}

impl Balancer {
    /// For targets with these weights.
    pub fn new(kind: Balance, weights: impl Iterator<Item = u32>) -> Self {
        let targets: Vec<_> = weights.map(|weight| Turn { weight: i64::from(weight.max(1)), owed: 0 }).collect();
        Self { kind, sum: targets.iter().map(|turn| turn.weight).sum(), targets }
    }

    /// The position of the next target, of those for which `load` says how many requests are under way. `None`: there is none.
    pub fn next(&mut self, load: impl Fn(usize) -> Option<u32>) -> Option<usize> {
        match self.kind {
            Balance::RoundRobin => self.turn(|at| load(at).is_some()),
            Balance::LeastRequests => {
                let loads: Vec<Option<u32>> = (0..self.targets.len()).map(load).collect();
                let busy = |at: usize| loads.get(at).copied().flatten();
                let least =
                    (0..self.targets.len()).filter(|at| busy(*at).is_some()).min_by(|a, b| self.order(*a, *b, busy))?;
                // Among those that are equally busy it goes in turn: an idle upstream is no reason to wear out one target.
                let ties: Vec<bool> = (0..self.targets.len())
                    .map(|at| busy(at).is_some() && self.order(at, least, busy).is_eq())
                    .collect();
                self.turn(|at| ties.get(at).copied().unwrap_or_default())
            }
        }
    }

    /// By requests under way for each unit of weight, compared without a division.
    fn order(&self, a: usize, b: usize, busy: impl Fn(usize) -> Option<u32>) -> std::cmp::Ordering {
        let weight = |at: usize| self.targets.get(at).map_or(1, |turn| turn.weight);
        let load = |at: usize| i64::from(busy(at).unwrap_or(u32::MAX));
        (load(a) * weight(b)).cmp(&(load(b) * weight(a)))
    }

    /// Smooth weighted round robin: each usable target is owed its weight more, the one that is owed most has its turn and pays
    /// for all. `{a: 2, b: 1}` is `a b a`, not `a a b`.
    fn turn(&mut self, is_usable: impl Fn(usize) -> bool) -> Option<usize> {
        let mut sum = 0;
        let mut best: Option<(usize, i64)> = None;
        for (at, turn) in self.targets.iter_mut().enumerate().filter(|(at, _)| is_usable(*at)) {
            sum += turn.weight;
            // Usable targets that change all the time must not let anybody save up turns; otherwise nobody gets that far.
            turn.owed = (turn.owed + turn.weight).min(self.sum);
            if best.is_none_or(|(_, owed)| turn.owed > owed) {
                best = Some((at, turn.owed));
            }
        }
        let (best, _) = best?;
        if let Some(turn) = self.targets.get_mut(best) {
            turn.owed = (turn.owed - sum).max(-self.sum);
        }
        Some(best)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(kind: Balance, weights: &[u32], loads: &[Option<u32>], expected: &[usize]) {
        let mut balancer = Balancer::new(kind, weights.iter().copied());
        let found: Vec<_> = expected.iter().filter_map(|_| balancer.next(|at| loads[at])).collect();
        assert_eq!(found, expected, "{kind:?} {weights:?} {loads:?}");
    }

    #[test]
    fn round_robin_goes_in_single_turns() {
        use Balance::RoundRobin;
        check(RoundRobin, &[1], &[Some(9)], &[0, 0, 0]);
        check(RoundRobin, &[2, 1], &[Some(0), Some(0)], &[0, 1, 0, 0, 1, 0]);
        check(RoundRobin, &[1, 1, 1], &[Some(5), None, Some(0)], &[0, 2, 0, 2]);
    }

    #[test]
    fn least_requests_looks_at_the_load_for_its_weight() {
        use Balance::LeastRequests;
        check(LeastRequests, &[1, 1], &[Some(3), Some(2)], &[1, 1]);
        check(LeastRequests, &[2, 1], &[Some(3), Some(2)], &[0, 0]);
        check(LeastRequests, &[2, 1], &[Some(4), Some(2)], &[0, 1, 0]);
        check(LeastRequests, &[1, 1, 1], &[None, Some(7), None], &[1]);
        check(LeastRequests, &[1, 1], &[Some(0), Some(0)], &[0, 1, 0, 1]);
    }

    #[test]
    fn without_a_usable_target_there_is_none() {
        for kind in [Balance::RoundRobin, Balance::LeastRequests] {
            assert_eq!(Balancer::new(kind, [1, 1].into_iter()).next(|_| None), None);
            assert_eq!(Balancer::new(kind, std::iter::empty()).next(|_| Some(0)), None);
        }
    }

    proptest! {
        #![proptest_config(crate::properties::cases(64))]

        #[test]
        fn shares_are_exact_after_each_round(weights in prop::collection::vec(1_u32..20, 1..8), rounds in 1_u32..4) {
            let mut balancer = Balancer::new(Balance::RoundRobin, weights.iter().copied());
            let mut got = vec![0; weights.len()];
            for _ in 0..rounds * weights.iter().sum::<u32>() {
                got[balancer.next(|_| Some(0)).unwrap()] += 1;
            }
            prop_assert_eq!(got, weights.iter().map(|weight| weight * rounds).collect::<Vec<_>>());
        }

        #[test]
        fn only_usable_targets_are_chosen_and_nobody_saves_up_turns(
            weights in prop::collection::vec(1_u32..20, 1..6),
            moments in prop::collection::vec(prop::collection::vec(prop::option::of(0_u32..5), 6), 1..200),
            least in any::<bool>(),
        ) {
            let kind = if least { Balance::LeastRequests } else { Balance::RoundRobin };
            let mut balancer = Balancer::new(kind, weights.iter().copied());
            for loads in moments {
                match balancer.next(|at| loads[at]) {
                    Some(chosen) => prop_assert!(loads[chosen].is_some()),
                    None => prop_assert!(loads[..weights.len()].iter().all(Option::is_none)),
                }
                for turn in &balancer.targets {
                    prop_assert!(turn.owed.abs() <= balancer.sum, "{:?}", balancer);
                }
            }
        }
    }
}
