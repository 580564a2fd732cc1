//! Which pairs are near: sort and sweep along x, in one fixed order.
//!
//! Boxes around the colliders, grown by half the prediction distance, are sorted by their lower x; a sweep finds the
//! overlaps. Half-spaces have no box and are paired with everything that moves.

use karakuri_spatial::Vector3;

use crate::scene::ColliderId;

/// An axis-aligned box in the world. [m]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) lower: Vector3,
    pub(crate) upper: Vector3,
}

/// Sorted boxes; kept between steps for their memory only.
#[derive(Debug, Clone, Default)]
pub(crate) struct BroadPhase {
    sorted: Vec<(f64, usize)>,
    active: Vec<usize>,
}

impl BroadPhase {
    /// Calls `pair` with every two overlapping boxes. `bounds[i]` is `None` where there is no collider.
    pub(crate) fn sweep(
        &mut self,
        bounds: &[Option<Bounds>],
        pairs: &mut Vec<(ColliderId, ColliderId)>,
    ) {
        self.sorted.clear();
        self.sorted.extend(
            bounds.iter().enumerate().filter_map(|(i, b)| b.as_ref().map(|b| (b.lower.x, i))),
        );
        self.sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
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

fn overlap_yz(a: &Bounds, b: &Bounds) -> bool {
    a.lower.y <= b.upper.y
        && b.lower.y <= a.upper.y
        && a.lower.z <= b.upper.z
        && b.lower.z <= a.upper.z
}
