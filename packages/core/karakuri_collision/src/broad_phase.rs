//! Pairs of colliders that are near: sort and sweep along x, of boxes that are kept for several steps.
//!
//! Boxes around the colliders, grown by half the prediction distance, are kept larger than that, by some steps of their motion.
//! While all stay within them, the pairs of a step are those pairs of kept boxes whose own boxes overlap. The few that left are
//! compared with all; where many left, all kept boxes are made again, sorted by their lower x, and a sweep finds the overlaps. The order
//! of the last sweep is put right by insertion, which costs as much as has changed. Pairs come in the order of their numbers, so they
//! do not depend on the past. Half-spaces have no box and are paired with everything that moves.

use core::cmp::Ordering;

use crate::bounds::Bounds;
use crate::collider::ColliderId;

/// A box in the order along x, with all that the sweep reads of it side by side.
#[derive(Debug, Clone, Copy)]
struct Sorted {
    bounds: Bounds,
    index: usize,
}

/// A pair of colliders, the lower first.
pub(crate) type Pair = (ColliderId, ColliderId);

/// The pair of two colliders, the lower first, whichever was found first: a manifold's normal points from the lower to the higher.
pub(crate) fn pair_of(i: usize, j: usize) -> Pair {
    (ColliderId(i.min(j)), ColliderId(i.max(j)))
}

/// A pair as one number, in the order of pairs: one comparison, and no branch.
pub(crate) fn order_of(&(a, b): &Pair) -> u128 {
    (a.0 as u128) << 64 | b.0 as u128
}

/// Adds pairs to others, both in order.
pub(crate) fn merge(pairs: &mut Vec<Pair>, added: &[Pair]) {
    // From the back, where there is room: each moves once.
    let (mut n_old, mut n_added) = (pairs.len(), added.len());
    pairs.extend_from_slice(added);
    while n_added > 0 {
        let last = added[n_added - 1];
        if n_old > 0 && order_of(&pairs[n_old - 1]) > order_of(&last) {
            n_old -= 1;
            pairs[n_old + n_added] = pairs[n_old];
        } else {
            n_added -= 1;
            pairs[n_old + n_added] = last;
        }
    }
}

/// Steps of its last motion by which a kept box is larger on each side than it must be. [-]
const STEPS_AHEAD: f64 = 8.0;
/// Least by which it is larger [m], and most, over its size [-].
const LEAST_AHEAD: f64 = 5e-4;
const MOST_AHEAD: f64 = 0.25;

/// Kept boxes, and their order in the last sweep.
#[derive(Debug, Clone, Default)]
pub(crate) struct BroadPhase {
    sorted: Vec<Sorted>,
    /// Boxes of the last step.
    before: Vec<Option<Bounds>>,
    /// Boxes around those of several steps.
    kept: Vec<Option<Bounds>>,
    /// Pairs of kept boxes that overlap, in order.
    near: Vec<Pair>,
    /// Colliders that left their kept boxes, and whether one did.
    left: Vec<usize>,
    has_left: Vec<bool>,
    added: Vec<Pair>,
}

impl BroadPhase {
    /// Adds every two overlapping boxes to `pairs`, in order. `bounds[i]` is `None` where there is no collider.
    pub(crate) fn find(&mut self, bounds: &[Option<Bounds>], pairs: &mut Vec<Pair>) {
        self.before.resize(bounds.len(), None);
        self.kept.resize(bounds.len(), None);
        self.left.clear();
        let each = bounds.iter().zip(&self.kept).enumerate();
        self.left.extend(
            each.filter(|(_, (now, kept))| !stays(now.as_ref(), kept.as_ref())).map(|(i, _)| i),
        );
        // A few are compared with all; to sweep is less work where many left.
        if self.left.len() * self.left.len() <= bounds.len() {
            for &i in &self.left {
                self.kept[i] = bounds[i].map(|now| ahead(&now, self.before[i].as_ref()));
            }
            self.find_of_few();
        } else {
            // All of them: else some would leave in every step, and all be swept again for those.
            for ((kept, now), before) in self.kept.iter_mut().zip(bounds).zip(&self.before) {
                *kept = now.map(|now| ahead(&now, before.as_ref()));
            }
            self.sweep();
        }
        self.before.copy_from_slice(bounds);
        let overlaps = |&&(a, b): &&Pair| match (&bounds[a.0], &bounds[b.0]) {
            (Some(a), Some(b)) => a.overlaps(b),
            _ => false,
        };
        pairs.extend(self.near.iter().filter(overlaps));
    }

    /// Finds the pairs of those that left their kept boxes again.
    fn find_of_few(&mut self) {
        if self.left.is_empty() {
            return;
        }
        let Self { kept, near, left, has_left, added, .. } = self;
        has_left.resize(kept.len(), false);
        for &i in &*left {
            has_left[i] = true;
        }
        near.retain(|(a, b)| !(has_left[a.0] || has_left[b.0]));
        added.clear();
        for &i in &*left {
            let Some(own) = &kept[i] else { continue };
            for (j, other) in kept.iter().enumerate() {
                // Of two that left the lower one finds the pair.
                let is_new = i != j && !(has_left[j] && j < i);
                if is_new && other.as_ref().is_some_and(|other| own.overlaps(other)) {
                    added.push(pair_of(i, j));
                }
            }
        }
        for &i in &*left {
            has_left[i] = false;
        }
        added.sort_unstable_by_key(order_of);
        merge(near, added);
    }

    fn sort(&mut self) {
        let bounds = &self.kept;
        // By the lower end along x, then by index.
        let order = |a: &Sorted, b: &Sorted| {
            a.bounds.lower.x.total_cmp(&b.bounds.lower.x).then(a.index.cmp(&b.index))
        };
        let at = |index: usize| Some(Sorted { bounds: (*bounds.get(index)?)?, index });
        let before = self.sorted.len();
        // Boxes are refreshed in the order of the last step, which is nearly sorted.
        self.sorted.retain_mut(|b| at(b.index).map(|now| *b = now).is_some());
        let present = bounds.iter().filter(|b| b.is_some()).count();
        if self.sorted.len() == before && present == before {
            // Insertion sort of the last step's order: linear where little has moved.
            for k in 1..self.sorted.len() {
                let mut at = k;
                while at > 0 && order(&self.sorted[at - 1], &self.sorted[at]) == Ordering::Greater {
                    self.sorted.swap(at - 1, at);
                    at -= 1;
                }
            }
        } else {
            // Insertion of many new colliders would be quadratic.
            self.sorted.clear();
            self.sorted.extend((0..bounds.len()).filter_map(at));
            // Unstable is deterministic here: ties go by index, so no two keys are equal.
            self.sorted.sort_unstable_by(order);
        }
    }

    /// Finds the pairs of all kept boxes.
    fn sweep(&mut self) {
        self.sort();
        self.near.clear();
        for (k, own) in self.sorted.iter().enumerate() {
            let begins_within = |other: &&Sorted| other.bounds.lower.x <= own.bounds.upper.x;
            for other in self.sorted[k + 1..].iter().take_while(begins_within) {
                if own.bounds.overlaps_yz(&other.bounds) {
                    self.near.push(pair_of(own.index, other.index));
                }
            }
        }
        self.near.sort_unstable_by_key(order_of);
    }
}

/// Whether a box is still within its kept one.
fn stays(now: Option<&Bounds>, kept: Option<&Bounds>) -> bool {
    match (now, kept) {
        (Some(now), Some(kept)) => kept.contains(now),
        (None, None) => true,
        _ => false,
    }
}

/// A box around those of the next steps, if it goes on as in the last.
fn ahead(now: &Bounds, before: Option<&Bounds>) -> Bounds {
    let motion = before.map_or(0.0, |before| {
        (now.lower - before.lower).amax().max((now.upper - before.upper).amax())
    });
    let most = MOST_AHEAD * (now.upper - now.lower).amax();
    now.grown((STEPS_AHEAD * motion).min(most).max(LEAST_AHEAD))
}

#[cfg(test)]
mod tests {
    use karakuri_spatial::Vector3;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The sweep finds every overlap once, whatever it saw before.
        #[test]
        fn pairs_are_those_of_all_against_all(
            mut places in prop::collection::vec(prop::option::of(prop::array::uniform3(0.0..3.0_f64)), 12),
            steps in prop::collection::vec(
                prop::collection::vec((0..12_usize, prop::option::of(prop::array::uniform3(0.0..3.0_f64)), 0.0..1.0_f64), 0..8), 8),
        ) {
            let mut broad = BroadPhase::default();
            for changes in steps {
                // Some move a little, some far, some come and go.
                for (i, to, part) in changes {
                    places[i] = match (places[i], to) {
                        (Some(from), Some(to)) => {
                            Some([0, 1, 2].map(|k| from[k] + part * part * (to[k] - from[k])))
                        }
                        (_, to) => to,
                    };
                }
                let step = &places;
                let bounds: Vec<Option<Bounds>> = step.iter().map(|c| c.map(|c| {
                    Bounds { lower: c.into(), upper: Vector3::from(c) }.grown(0.4)
                })).collect();
                let mut found = Vec::new();
                broad.find(&bounds, &mut found);
                prop_assert!(found.is_sorted());
                let mut expected = Vec::new();
                for i in 0..bounds.len() {
                    for j in i + 1..bounds.len() {
                        if let (Some(a), Some(b)) = (&bounds[i], &bounds[j])
                            && (0..3).all(|k| a.lower[k] <= b.upper[k] && b.lower[k] <= a.upper[k])
                        {
                            expected.push((ColliderId(i), ColliderId(j)));
                        }
                    }
                }
                prop_assert_eq!(found, expected);
            }
        }
    }
}
