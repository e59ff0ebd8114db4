//! A circuit breaker: a target that fails too often is left alone for a while, then tried by one request at a time. It
//! promises that a result counts only for the state it was asked in, and bounded memory; it refuses to know the clock, what a
//! failure is, and what is sent.

use std::collections::VecDeque;
use std::time::Instant;

use crate::rules::CircuitBreaker;
use crate::stats::Circuit;

/// How a request ended, as far as the target is to blame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// With an answer.
    Well,
    /// By the target's fault.
    Badly,
    /// In a way that says nothing about the target: the client went away.
    Unknown,
}

/// Leave to send one request, to be given back with how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket(u64);

/// The breaker of one target.
#[derive(Debug)]
pub struct Breaker {
    settings: CircuitBreaker,
    state: State,
    /// Counts the changes of state. INVARIANT: a ticket of another epoch changes nothing, so that requests which began before
    /// the circuit opened cannot close it, and not open it again.
    epoch: u64,
}

#[derive(Debug)]
enum State {
    /// With the moments of the latest failures, oldest first; never more than `failures` of them.
    Closed(VecDeque<Instant>),
    Open {
        until: Instant,
    },
    HalfOpen {
        is_tried: bool,
    },
}

impl Breaker {
    /// A closed one.
    pub fn new(settings: CircuitBreaker) -> Self {
        Self { settings, state: State::Closed(VecDeque::new()), epoch: 0 }
    }

    /// Its state.
    pub fn circuit(&self) -> Circuit {
        match self.state {
            State::Closed(_) => Circuit::Closed,
            State::Open { .. } => Circuit::Open,
            State::HalfOpen { .. } => Circuit::HalfOpen,
        }
    }

    /// Whether a request may be sent now; otherwise when to ask again.
    pub fn look(&self, now: Instant) -> Result<(), Instant> {
        match self.state {
            State::Open { until } if now < until => Err(until),
            // Nobody knows when the one that tries it will be answered.
            State::HalfOpen { is_tried: true } => Err(now),
            State::Closed(_) | State::Open { .. } | State::HalfOpen { is_tried: false } => Ok(()),
        }
    }

    /// Takes leave to send a request now; otherwise when to ask again.
    pub fn enter(&mut self, now: Instant) -> Result<Ticket, Instant> {
        self.look(now)?;
        if matches!(self.state, State::Open { .. }) {
            self.change(State::HalfOpen { is_tried: false });
        }
        if let State::HalfOpen { is_tried } = &mut self.state {
            *is_tried = true;
        }
        Ok(Ticket(self.epoch))
    }

    /// A request has ended.
    pub fn leave(&mut self, ticket: Ticket, ended: Ended, now: Instant) {
        if ticket.0 != self.epoch {
            return;
        }
        match (&mut self.state, ended) {
            (State::Closed(failures), Ended::Badly) => {
                while failures.front().is_some_and(|at| now.saturating_duration_since(*at) >= self.settings.window) {
                    failures.pop_front();
                }
                failures.push_back(now);
                if failures.len() >= self.settings.failures as usize {
                    self.change(State::Open { until: now + self.settings.open });
                }
            }
            (State::HalfOpen { .. }, Ended::Badly) => self.change(State::Open { until: now + self.settings.open }),
            (State::HalfOpen { .. }, Ended::Well) => self.change(State::Closed(VecDeque::new())),
            (State::HalfOpen { is_tried }, Ended::Unknown) => *is_tried = false,
            (State::Closed(_), Ended::Well | Ended::Unknown) | (State::Open { .. }, _) => {}
        }
    }

    fn change(&mut self, state: State) {
        self.state = state;
        self.epoch += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    const SETTINGS: CircuitBreaker =
        CircuitBreaker { failures: 3, window: Duration::from_secs(10), open: Duration::from_secs(5) };

    struct Bench {
        breaker: Breaker,
        start: Instant,
    }

    impl Bench {
        fn new() -> Self {
            Self { breaker: Breaker::new(SETTINGS), start: Instant::now() }
        }

        fn at(&self, second: u64) -> Instant {
            self.start + Duration::from_secs(second)
        }

        /// One request that begins and ends in this second.
        fn send(&mut self, second: u64, ended: Ended) -> Circuit {
            let ticket = self.breaker.enter(self.at(second)).expect("let in");
            self.breaker.leave(ticket, ended, self.at(second));
            self.breaker.circuit()
        }
    }

    #[test]
    fn it_opens_after_so_many_failures_within_the_window() {
        let mut bench = Bench::new();
        for second in [0, 6, 12, 18, 24] {
            assert_eq!(bench.send(second, Ended::Badly), Circuit::Closed, "never three within ten seconds");
        }
        assert_eq!(bench.send(24, Ended::Well), Circuit::Closed);
        assert_eq!(bench.send(25, Ended::Badly), Circuit::Open);
        assert_eq!(bench.breaker.enter(bench.at(29)), Err(bench.at(30)));
    }

    #[test]
    fn one_at_a_time_tries_it_and_one_good_answer_closes_it() {
        let mut bench = Bench::new();
        for _ in 0..3 {
            bench.send(0, Ended::Badly);
        }
        let probe = bench.breaker.enter(bench.at(5)).expect("tries");
        assert_eq!(bench.breaker.circuit(), Circuit::HalfOpen);
        assert!(bench.breaker.enter(bench.at(5)).is_err(), "only one");
        bench.breaker.leave(probe, Ended::Badly, bench.at(6));
        assert_eq!(bench.breaker.look(bench.at(10)), Err(bench.at(11)), "open again, for as long");
        assert_eq!(bench.send(11, Ended::Unknown), Circuit::HalfOpen, "says nothing, and the next may try");
        assert_eq!(bench.send(11, Ended::Well), Circuit::Closed);
        assert_eq!(bench.send(11, Ended::Badly), Circuit::Closed, "what was before is forgotten");
    }

    #[test]
    fn what_began_before_a_change_does_not_count_after_it() {
        let mut bench = Bench::new();
        let slow = bench.breaker.enter(bench.at(0)).expect("let in");
        for _ in 0..3 {
            bench.send(0, Ended::Badly);
        }
        bench.breaker.leave(slow, Ended::Well, bench.at(1));
        assert_eq!(bench.breaker.circuit(), Circuit::Open);
        let probe = bench.breaker.enter(bench.at(5)).expect("tries");
        bench.breaker.leave(slow, Ended::Well, bench.at(5));
        assert_eq!(bench.breaker.circuit(), Circuit::HalfOpen);
        bench.breaker.leave(probe, Ended::Well, bench.at(5));
        bench.breaker.leave(slow, Ended::Badly, bench.at(5));
        assert_eq!(bench.breaker.circuit(), Circuit::Closed);
    }

    #[derive(Debug, Clone)]
    enum Step {
        Wait(u64),
        Enter,
        Leave(usize, Ended),
    }

    fn step() -> impl Strategy<Value = Step> {
        let ended = prop_oneof![Just(Ended::Well), Just(Ended::Badly), Just(Ended::Unknown)];
        prop_oneof![
            (0_u64..4000).prop_map(Step::Wait),
            Just(Step::Enter),
            (any::<usize>(), ended).prop_map(|(which, ended)| Step::Leave(which, ended)),
        ]
    }

    proptest! {
        #![proptest_config(crate::properties::cases(128))]

        /// Whatever happens: memory is bounded, at most one request tries a half-open circuit, a look agrees with entering, an
        /// open circuit lets nobody in before its time, and it is never stuck once everybody has left.
        #[test]
        fn it_keeps_its_promises(steps in prop::collection::vec(step(), 1..300)) {
            let mut breaker = Breaker::new(SETTINGS);
            let mut now = Instant::now();
            let mut held: Vec<Ticket> = Vec::new();
            for step in steps {
                match step {
                    Step::Wait(millis) => now += Duration::from_millis(millis),
                    Step::Enter => {
                        let before = (breaker.look(now), breaker.circuit());
                        let entered = breaker.enter(now);
                        prop_assert_eq!(entered.map(|_| ()), before.0);
                        if let Ok(ticket) = entered {
                            if breaker.circuit() == Circuit::HalfOpen {
                                prop_assert!(held.iter().all(|other| *other != ticket), "two try it");
                            }
                            held.push(ticket);
                        }
                    }
                    Step::Leave(which, ended) if !held.is_empty() => {
                        breaker.leave(held.remove(which % held.len()), ended, now);
                    }
                    Step::Leave(..) => {}
                }
                if let State::Closed(failures) = &breaker.state {
                    prop_assert!(failures.len() < SETTINGS.failures as usize);
                }
            }
            for ticket in held {
                breaker.leave(ticket, Ended::Unknown, now);
            }
            prop_assert!(breaker.look(now + SETTINGS.open).is_ok(), "stuck: {:?}", breaker);
        }
    }
}
