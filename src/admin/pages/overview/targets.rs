//! Each target of each upstream, as it is now: whether it is well, and how much it does.

use super::super::super::format::{count, visible};
use crate::stats::{Circuit, TargetFigures};

/// One target.
pub(super) struct TargetRow {
    pub(super) upstream: String,
    pub(super) name: String,
    pub(super) state: State,
    pub(super) under_way: String,
    pub(super) failures: String,
}

/// In a word, so that colour is never alone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Well,
    Unhealthy,
    Open,
    Tried,
}

impl State {
    fn of(target: &TargetFigures) -> Self {
        match target.circuit {
            Circuit::Open => Self::Open,
            Circuit::HalfOpen => Self::Tried,
            Circuit::Closed if target.is_unhealthy => Self::Unhealthy,
            Circuit::Closed => Self::Well,
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Well => "✓ in use",
            Self::Unhealthy => "✕ unhealthy",
            Self::Open => "✕ circuit open",
            Self::Tried => "▲ being tried",
        }
    }

    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Well => "",
            Self::Unhealthy | Self::Open | Self::Tried => "bad",
        }
    }
}

/// The rows, of at most so many targets: those that are not well first.
pub(super) fn rows(targets: &[TargetFigures], most: usize) -> Vec<TargetRow> {
    let mut targets: Vec<_> = targets.iter().map(|target| (State::of(target), target)).collect();
    targets.sort_by_key(|(state, _)| *state == State::Well);
    let rows = targets.into_iter().take(most).map(|(state, target)| TargetRow {
        upstream: visible(&target.upstream, 60),
        name: visible(&target.name, 80),
        state,
        under_way: count(target.under_way),
        failures: count(target.failures),
    });
    rows.collect()
}

/// How many are not well.
pub(super) fn out(targets: &[TargetFigures]) -> usize {
    targets.iter().filter(|target| State::of(target) != State::Well).count()
}
