//! At most four points that carry what all of them could.
//!
//! The deepest; the farthest from it; the farthest from their line; the farthest on the line's other side. Ties, within a
//! small part of the patch's size, go to the lower feature, so that a resting body keeps the same four points.

use karakuri_spatial::Vector3;

use super::clip::Patch;
use crate::manifold::{ContactPoint, MAX_POINTS};

/// Difference relative to the patch's size below which two points are equally good.
const TIE: f64 = 1e-5;

impl Patch {
    /// Leaves at most [`MAX_POINTS`] points.
    pub(super) fn reduce(&mut self) {
        if self.len <= MAX_POINTS {
            return;
        }
        let points = &mut self.points[..self.len];
        points.sort_unstable_by_key(|p| p.feature);
        let size =
            points.iter().map(|p| (p.position - points[0].position).norm()).fold(0.0, f64::max);
        let normal = self.normal;
        let deepest = best(points, TIE * size, |p| -p.gap);
        let p0 = points[deepest].position;
        let farthest = best(points, TIE * size, |p| (p.position - p0).norm());
        let across = normal.cross(&(points[farthest].position - p0)).try_normalize(0.0);
        let across = across.unwrap_or_else(Vector3::zeros);
        let left = best(points, TIE * size, |p| across.dot(&(p.position - p0)));
        let right = best(points, TIE * size, |p| -across.dot(&(p.position - p0)));
        let mut chosen = [deepest, farthest, left, right];
        chosen.sort_unstable();
        let mut len = 0;
        for (i, &c) in chosen.iter().enumerate() {
            if i == 0 || c != chosen[i - 1] {
                points[len] = points[c];
                len += 1;
            }
        }
        self.len = len;
    }
}

/// The first point whose score is within `tie` of the highest.
fn best(points: &[ContactPoint], tie: f64, score: impl Fn(&ContactPoint) -> f64) -> usize {
    let highest = points.iter().map(&score).fold(f64::NEG_INFINITY, f64::max);
    points.iter().position(|p| score(p) >= highest - tie).unwrap_or(0)
}
