//! Who wins where several entities found something in the same place. It knows matches, no text.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::detector::Match;
use super::entity::Confidence;

/// Overlaps of so few matches are settled without a tree.
const FEW: usize = 16;

/// Puts the matches from `base` on in order and leaves one winner per span: the surer, then the longer, then the first in
/// the table. A winner takes over the rest of another entity's likely match that it cuts, so that no half of it is left.
pub(super) fn settle(found: &mut Vec<Match>, base: usize) {
    let Some(tail) = found.get_mut(base..) else { return };
    if is_settled(tail) {
        return;
    }
    tail.sort_unstable_by_key(|one| (one.start, one.end));
    if is_settled(tail) {
        return;
    }
    let sorted = found.split_off(base);
    let mut rest = sorted.as_slice();
    let mut ranked = Vec::new();
    while let Some(first) = rest.first() {
        let mut end = first.end;
        let count = rest
            .iter()
            .take_while(|one| {
                let is_near = one.start < end || one.start == first.start;
                end = end.max(one.end);
                is_near
            })
            .count();
        let (heap, others) = rest.split_at_checked(count).unwrap_or((rest, &[]));
        rest = others;
        if let [one] = heap {
            found.push(*one);
            continue;
        }
        ranked.clear();
        ranked.extend_from_slice(heap);
        settle_heap(&mut ranked, found);
    }
}

fn is_settled(found: &[Match]) -> bool {
    found.is_sorted_by(|one, next| one.end <= next.start)
}

/// Settles matches that overlap one another in a chain.
fn settle_heap(ranked: &mut [Match], found: &mut Vec<Match>) {
    let base = found.len();
    ranked.sort_unstable_by_key(|one| (Reverse(one.confidence), Reverse(one.end - one.start), one.entity, one.start));
    let mut losers = Vec::new();
    if ranked.len() <= FEW {
        for one in ranked.iter() {
            let winners = found.get(base..).unwrap_or_default();
            if winners.iter().any(|winner| winner.start < one.end && winner.end > one.start) {
                losers.push(*one);
            } else {
                found.push(*one);
            }
        }
        found.get_mut(base..).unwrap_or_default().sort_unstable_by_key(|winner| winner.start);
    } else {
        // PERF: a sorted map of winners keeps this at n log n however long the chain of overlaps is.
        let mut winners: BTreeMap<usize, Match> = BTreeMap::new();
        for one in ranked.iter() {
            let before = winners.range(..one.end).next_back();
            if before.is_some_and(|(_, winner)| winner.end > one.start) {
                losers.push(*one);
            } else {
                winners.insert(one.start, *one);
            }
        }
        found.extend(winners.into_values());
    }
    for loser in losers.iter().filter(|loser| loser.confidence >= Confidence::Likely) {
        cover(found.get_mut(base..).unwrap_or_default(), loser);
    }
}

/// Stretches the winners that cut `loser` over what is left of it.
fn cover(winners: &mut [Match], loser: &Match) {
    let first = winners.partition_point(|winner| winner.end <= loser.start);
    let last = winners.partition_point(|winner| winner.start < loser.end);
    let cutting = winners.get_mut(first..last).unwrap_or_default();
    if cutting.iter().all(|winner| winner.entity == loser.entity) {
        return;
    }
    let mut end = loser.end;
    for winner in cutting.iter_mut().rev() {
        winner.end = winner.end.max(end);
        end = winner.start;
    }
    if let Some(winner) = cutting.first_mut() {
        winner.start = winner.start.min(loser.start);
    }
}

#[cfg(test)]
mod tests {
    use super::super::entity::EntityId;
    use super::*;

    const fn at(entity: u8, start: usize, end: usize, confidence: Confidence) -> Match {
        Match { entity: EntityId(entity), start, end, confidence }
    }

    fn check(mut found: Vec<Match>, expected: &[Match]) {
        settle(&mut found, 0);
        assert_eq!(found, expected);
    }

    #[test]
    fn the_surer_wins_then_the_longer_then_the_first() {
        use Confidence::{Certain, Likely};
        check(vec![at(0, 0, 9, Likely), at(1, 0, 5, Certain)], &[at(1, 0, 9, Certain)]);
        check(vec![at(0, 0, 5, Likely), at(0, 0, 9, Likely)], &[at(0, 0, 9, Likely)]);
        check(vec![at(1, 0, 9, Likely), at(0, 0, 9, Likely)], &[at(0, 0, 9, Likely)]);
    }

    #[test]
    fn a_winner_covers_what_it_cuts() {
        use Confidence::{Certain, Likely, Possible};
        check(vec![at(0, 0, 6, Likely), at(1, 4, 9, Certain)], &[at(1, 0, 9, Certain)]);
        check(vec![at(0, 0, 6, Possible), at(1, 4, 9, Certain)], &[at(1, 4, 9, Certain)]);
        check(
            vec![at(0, 0, 6, Certain), at(1, 4, 12, Likely), at(2, 10, 16, Certain)],
            &[at(0, 0, 10, Certain), at(2, 10, 16, Certain)],
        );
    }

    #[test]
    fn neighbours_stay() {
        use Confidence::Likely;
        check(vec![at(0, 5, 9, Likely), at(1, 0, 5, Likely)], &[at(1, 0, 5, Likely), at(0, 5, 9, Likely)]);
    }
}
