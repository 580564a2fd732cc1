//! Which pairs are near: sort and sweep along x, in one fixed order.
//!
//! Boxes around the colliders, grown by half the prediction distance, are sorted by their lower x; a sweep finds the
//! overlaps. The order of the last step is put right by insertion, which costs as much as has changed; ties go by
//! number, so the order does not depend on the past. Half-spaces have no box and are paired with everything that moves.

use core::cmp::Ordering;

use karakuri_spatial::{Pose, Vector3};
use parry3d_f64::bounding_volume::Aabb;

use crate::convert;
use crate::scene::ColliderId;

/// An axis-aligned box in the world. [m]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) lower: Vector3,
    pub(crate) upper: Vector3,
}

impl Bounds {
    /// As parry's.
    pub(crate) fn aabb(&self) -> Aabb {
        Aabb::new(convert::vector(&self.lower), convert::vector(&self.upper))
    }

    /// The box about `center` that reaches `half` to each side.
    pub(crate) fn about(center: &Vector3, half: &Vector3) -> Self {
        Self { lower: center - half, upper: center + half }
    }

    /// The box around points.
    pub(crate) fn around(points: &[Vector3]) -> Self {
        let far = Vector3::repeat(f64::INFINITY);
        let none = Self { lower: far, upper: -far };
        points.iter().fold(none, |b, p| Self { lower: b.lower.inf(p), upper: b.upper.sup(p) })
    }

    /// Larger by `margin` on all sides. [m]
    pub(crate) fn grown(&self, margin: f64) -> Self {
        let margin = Vector3::repeat(margin);
        Self { lower: self.lower - margin, upper: self.upper + margin }
    }

    pub(crate) fn is_finite(&self) -> bool {
        (self.lower + self.upper).iter().all(|x| x.is_finite())
    }

    /// The box around this box at the pose `X_WB`.
    pub(crate) fn turned(&self, X_WB: &Pose) -> Self {
        let center = X_WB.transform_point(&(0.5 * (self.lower + self.upper)));
        let half = X_WB.rotation.abs() * (0.5 * (self.upper - self.lower));
        Self::about(&center, &half)
    }

    /// Least height of a point of the box along `normal`. [m]
    pub(crate) fn lowest(&self, normal: &Vector3) -> f64 {
        self.lower.component_mul(normal).inf(&self.upper.component_mul(normal)).sum()
    }
}

/// Boxes in the order of the last step.
#[derive(Debug, Clone, Default)]
pub(crate) struct BroadPhase {
    sorted: Vec<(f64, usize)>,
    active: Vec<usize>,
}

impl BroadPhase {
    fn sort(&mut self, bounds: &[Option<Bounds>]) {
        let lower = |i: usize| bounds.get(i)?.as_ref().map(|b| b.lower.x);
        let before = self.sorted.len();
        self.sorted.retain_mut(|(x, i)| lower(*i).map(|now| *x = now).is_some());
        let present = bounds.iter().filter(|b| b.is_some()).count();
        if self.sorted.len() == before && present == before {
            for k in 1..self.sorted.len() {
                let mut at = k;
                while at > 0 && order(&self.sorted[at - 1], &self.sorted[at]) == Ordering::Greater {
                    self.sorted.swap(at - 1, at);
                    at -= 1;
                }
            }
        } else {
            self.sorted.clear();
            self.sorted.extend((0..bounds.len()).filter_map(|i| Some((lower(i)?, i))));
            self.sorted.sort_unstable_by(order);
        }
    }

    /// Calls `pair` with every two overlapping boxes. `bounds[i]` is `None` where there is no collider.
    pub(crate) fn sweep(
        &mut self,
        bounds: &[Option<Bounds>],
        pairs: &mut Vec<(ColliderId, ColliderId)>,
    ) {
        self.sort(bounds);
        self.active.clear();
        for &(lower, i) in &self.sorted {
            let Some(own) = &bounds[i] else { continue };
            self.active.retain(|&j| bounds[j].as_ref().is_some_and(|other| other.upper.x >= lower));
            for &j in &self.active {
                if bounds[j].as_ref().is_some_and(|other| overlap_yz(own, other)) {
                    pairs.push((ColliderId(i.min(j)), ColliderId(i.max(j))));
                }
            }
            self.active.push(i);
        }
    }
}

fn order(a: &(f64, usize), b: &(f64, usize)) -> Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

fn overlap_yz(a: &Bounds, b: &Bounds) -> bool {
    a.lower.y <= b.upper.y
        && b.lower.y <= a.upper.y
        && a.lower.z <= b.upper.z
        && b.lower.z <= a.upper.z
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
                            && (a.lower.x <= b.upper.x && b.lower.x <= a.upper.x)
                            && overlap_yz(a, b)
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
