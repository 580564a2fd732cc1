//! What touches where.

use karakuri_spatial::Vector3;

use crate::scene::ColliderId;

/// Most points of a manifold: four span a face.
pub(crate) const MAX_POINTS: usize = 8;

/// A point of contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactPoint {
    /// Names the touching features (vertices, edges, faces); the same from step to step while they touch.
    pub feature: u64,
    /// Midway between the surfaces, in the world. [m] (3)
    pub position: Vector3,
    /// Signed distance along the normal: negative when the shapes overlap. [m]
    pub gap: f64,
}

impl ContactPoint {
    const NONE: Self = Self { feature: 0, position: Vector3::new(0.0, 0.0, 0.0), gap: 0.0 };
}

/// The points where two colliders touch or nearly touch.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifold {
    /// First collider.
    pub a: ColliderId,
    /// Second collider.
    pub b: ColliderId,
    /// Unit normal from `a` towards `b`, in the world. (3)
    pub normal: Vector3,
    points: [ContactPoint; MAX_POINTS],
    n_points: usize,
}

impl Manifold {
    pub(crate) fn new(a: ColliderId, b: ColliderId, normal: Vector3) -> Self {
        Self { a, b, normal, points: [ContactPoint::NONE; MAX_POINTS], n_points: 0 }
    }

    /// The points.
    pub fn points(&self) -> &[ContactPoint] {
        &self.points[..self.n_points]
    }

    /// Adds a point; a full manifold keeps the four that matter and goes on.
    pub(crate) fn push(&mut self, point: ContactPoint) {
        if self.n_points == MAX_POINTS {
            self.keep_four();
        }
        self.points[self.n_points] = point;
        self.n_points += 1;
    }

    /// Keeps the deepest point, the farthest from it, and the two farthest to either side of their line.
    pub(crate) fn keep_four(&mut self) {
        if self.n_points <= 4 {
            return;
        }
        let points = &self.points[..self.n_points];
        let best = |score: &dyn Fn(&ContactPoint) -> f64| {
            let mut chosen = 0;
            for i in 1..points.len() {
                // A later point must be clearly better, so that round-off does not change the choice.
                let (a, b) = (score(&points[chosen]), score(&points[i]));
                if b > a + 1e-9 * a.abs().max(b.abs()) {
                    chosen = i;
                }
            }
            chosen
        };
        let deepest = best(&|p| -p.gap);
        let origin = points[deepest].position;
        let farthest = best(&|p| (p.position - origin).norm_squared());
        let across = self.normal.cross(&(points[farthest].position - origin));
        let left = best(&|p| across.dot(&(p.position - origin)));
        let right = best(&|p| -across.dot(&(p.position - origin)));
        let mut keep = [deepest, farthest, left, right];
        keep.sort_unstable();
        let old = self.points;
        self.n_points = 0;
        for (i, &k) in keep.iter().enumerate() {
            if i == 0 || k != keep[i - 1] {
                self.points[self.n_points] = old[k];
                self.n_points += 1;
            }
        }
    }
}
