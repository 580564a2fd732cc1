//! Pairs of colliders that are near: sort and sweep along x, in one fixed order.
//!
//! Boxes around the colliders, grown by half the prediction distance, are sorted by their lower x; a sweep finds the
//! overlaps. The order of the last step is put right by insertion, which costs as much as has changed; ties go by
//! number, so the order does not depend on the past. Half-spaces have no box and are paired with everything that moves.

use core::cmp::Ordering;

use karakuri_spatial::Vector3;

use crate::bounds::Bounds;
use crate::collider::ColliderId;

/// A box in the order along x, with all that the sweep reads of it side by side.
#[derive(Debug, Clone, Copy)]
struct Sorted {
    lower: Vector3,
    upper: Vector3,
    index: usize,
}

/// Boxes in the order of the last step.
#[derive(Debug, Clone, Default)]
pub(crate) struct BroadPhase {
    sorted: Vec<Sorted>,
}

impl BroadPhase {
    fn sort(&mut self, bounds: &[Option<Bounds>]) {
        // By the lower end along x, then by index.
        let order =
            |a: &Sorted, b: &Sorted| a.lower.x.total_cmp(&b.lower.x).then(a.index.cmp(&b.index));
        let at = |index: usize| {
            let Bounds { lower, upper } = *bounds.get(index)?.as_ref()?;
            Some(Sorted { lower, upper, index })
        };
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

    /// Adds every two overlapping boxes to `pairs`. `bounds[i]` is `None` where there is no collider.
    pub(crate) fn sweep(
        &mut self,
        bounds: &[Option<Bounds>],
        pairs: &mut Vec<(ColliderId, ColliderId)>,
    ) {
        self.sort(bounds);
        for (k, own) in self.sorted.iter().enumerate() {
            let begins_within = |other: &&Sorted| other.lower.x <= own.upper.x;
            for other in self.sorted[k + 1..].iter().take_while(begins_within) {
                if overlap_yz(own, other) {
                    // Lower id first, whichever begins first along x: a manifold's normal points from the lower to the higher.
                    let (i, j) = (own.index, other.index);
                    pairs.push((ColliderId(i.min(j)), ColliderId(i.max(j))));
                }
            }
        }
    }
}

/// Whether two boxes overlap along y and z.
// Without a branch a test: one of a dozen pairs overlaps, and which cannot be foreseen.
#[inline]
fn overlap_yz(a: &Sorted, b: &Sorted) -> bool {
    let along_y = u8::from(a.lower.y <= b.upper.y) & u8::from(b.lower.y <= a.upper.y);
    let along_z = u8::from(a.lower.z <= b.upper.z) & u8::from(b.lower.z <= a.upper.z);
    along_y & along_z != 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The sweep finds every overlap once, whatever it saw before.
        #[test]
        fn pairs_are_those_of_all_against_all(
            steps in prop::collection::vec(
                prop::collection::vec(prop::option::of(prop::array::uniform3(0.0..3.0_f64)), 12), 4),
        ) {
            let mut broad = BroadPhase::default();
            for step in steps {
                let bounds: Vec<Option<Bounds>> = step.iter().map(|c| c.map(|c| {
                    Bounds { lower: c.into(), upper: Vector3::from(c) }.grown(0.4)
                })).collect();
                let mut found = Vec::new();
                broad.sweep(&bounds, &mut found);
                found.sort_unstable();
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
