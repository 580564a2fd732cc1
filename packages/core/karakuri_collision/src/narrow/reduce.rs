//! At most four points that carry what all of them could; where the surfaces turn against each other, four more.
//!
//! The deepest; the farthest from it; the farthest from their line; the farthest on the line's other side; of those that touch,
//! if they are enough. Ties, within a small part of the patch's size, go to the lower feature. The four of the last step stay as
//! long as they are there, as deep as the deepest, and span nearly as much: a resting body keeps its points, and its forces do
//! not jump. What turns may load any of the others in the next step: the nearest of them are kept, too.

use karakuri_spatial::Vector3;

use super::clip::Patch;
use crate::manifold::{ContactPoint, MAX_POINTS};

/// Difference relative to the patch's size below which two points are equally good.
const TIE: f64 = 1e-5;
/// Difference of depth, relative to the patch's size, below which two points are equally deep.
const AS_DEEP: f64 = 1e-6;
/// Part of the patch's size by which a point that touches may be less deep than the deepest: on uneven ground most points of a
/// patch touch nothing, and may not take the place of one that carries.
const TOUCHES: f64 = 2e-4;
/// Part of the largest area with which four known points are still good.
const ENOUGH: f64 = 0.9;

/// Change of a known point's gap in a step above which its surfaces turn against each other: a corner that is left out sinks in by
/// about as much before it is seen. [m]
// With four points a corner that was left out 0.3 mm above a face was 0.3 to 0.7 mm deep after the step, twice in 1.5 s of a heap
// of 200; with four more 0.2 mm at most in seven heaps, with as many contacts. At 5e-5 a face that lay still, hit from above, was 0.4 mm
// deep; below 3e-5 heaps that settle take part, whose redundant points cost digits.
const TURNS: f64 = 3e-5;

impl Patch {
    /// Chooses at most [`MAX_POINTS`] points, or `most` of what turns; those of `before` if they are good; the deepest comes
    /// first. Behind them those that were left out stay, the nearest first, up to `most` of all.
    pub(super) fn reduce(&mut self, before: &[ContactPoint], most: usize) {
        self.n_chosen = self.points.len();
        // By name, so that ties do not depend on the order of clipping; `still_there` searches by it.
        self.points.sort_unstable_by_key(|p| p.feature);
        let Some(first) = self.points.first().map(|p| p.position) else { return };
        let size = self.points.iter().map(|p| (p.position - first).norm()).fold(0.0, f64::max);
        if self.points.len() > MAX_POINTS {
            self.n_chosen = self.choose(size, before, most);
            self.points.truncate(most);
        }
        // By depth, as names are not mirrored with a scene: where several solutions exist, the order of rows selects one.
        // In units of the tie, so that rounding does not reorder what lies flat.
        let unit = (TIE * size).max(f64::MIN_POSITIVE);
        // The sum makes −0, which is ordered before 0, the same.
        let level = |p: &ContactPoint| (p.gap / unit).round() + 0.0;
        self.points[..self.n_chosen].sort_by(|p, q| level(p).total_cmp(&level(q)));
    }

    /// Moves [`MAX_POINTS`] of more points, sorted by feature, to the front, and the nearest of the others where the surfaces turn;
    /// their number.
    fn choose(&mut self, size: f64, before: &[ContactPoint], most: usize) -> usize {
        let (normal, points) = (self.normal, &mut self.points);
        let deepest = best(points, AS_DEEP * size, |p| -p.gap);
        let reach = points[deepest].gap + TOUCHES * size;
        let touches = |p: &ContactPoint| p.gap <= reach;
        let n_touching = points.iter().filter(|p| touches(p)).count();
        let mut chosen = if n_touching >= MAX_POINTS {
            spanning(points, &normal, deepest, TIE * size, touches)
        } else {
            // What touches first, then what spans most with it.
            let mut chosen = [deepest; MAX_POINTS];
            let touching = (0..points.len()).filter(|&i| touches(&points[i]));
            let [_, left, farthest, right] =
                spanning(points, &normal, deepest, TIE * size, |_| true);
            // The side with the wider point first, or the choice would depend on which side is called left.
            let line = points[farthest].position - points[deepest].position;
            let width = |i: usize| {
                let d = points[i].position - points[deepest].position;
                line.cross(&d).norm()
            };
            let sides = if width(right) > width(left) + TIE * size * line.norm() {
                [right, left]
            } else if width(left) > width(right) + TIE * size * line.norm() {
                [left, right]
            } else {
                [left.min(right), left.max(right)]
            };
            let others =
                [farthest, sides[0], sides[1]].into_iter().filter(|&i| !touches(&points[i]));
            for (place, i) in chosen.iter_mut().zip(touching.chain(others)) {
                *place = i;
            }
            chosen
        };
        // The four of the last step stay if they are as deep, touch as much and span nearly as much.
        let turns = most > MAX_POINTS && turns(points, before);
        if let Some(known) = still_there(points, before).filter(|_| !turns) {
            // As deep as the deepest: points kept beside a new, deeper one would let it sink in.
            let depth = known.iter().map(|&i| -points[i].gap).fold(f64::NEG_INFINITY, f64::max);
            let area = |of: &[usize; 4]| area(of.map(|i| points[i].position), &normal);
            let n_known = known.iter().filter(|&&i| touches(&points[i])).count();
            if depth >= -points[deepest].gap - AS_DEEP * size
                && n_known == n_touching.min(MAX_POINTS)
                && area(&known) >= ENOUGH * area(&chosen)
            {
                chosen = known;
            }
        }
        chosen.sort_unstable();
        let mut len = 0;
        for (i, &c) in chosen.iter().enumerate() {
            if i == 0 || c != chosen[i - 1] {
                points.swap(len, c);
                len += 1;
            }
        }
        // Those that were passed over, the nearest first: they were moved behind the chosen.
        points[len..]
            .sort_unstable_by(|p, q| p.gap.total_cmp(&q.gap).then(p.feature.cmp(&q.feature)));
        if turns { points.len().min(most) } else { len }
    }
}

/// Whether two surfaces turn against each other: a known point came nearer or went away.
fn turns(points: &[ContactPoint], before: &[ContactPoint]) -> bool {
    before.iter().any(|known| {
        let now = points.binary_search_by_key(&known.feature, |p| p.feature);
        now.is_ok_and(|i| (points[i].gap - known.gap).abs() > TURNS)
    })
}

/// The deepest; of those allowed the farthest from it, and on both sides of their line.
fn spanning(
    points: &[ContactPoint],
    normal: &Vector3,
    deepest: usize,
    tie: f64,
    allowed: impl Fn(&ContactPoint) -> bool,
) -> [usize; MAX_POINTS] {
    let p0 = points[deepest].position;
    let best = |score: &dyn Fn(&ContactPoint) -> f64| {
        best(points, tie, |p| if allowed(p) { score(p) } else { f64::NEG_INFINITY })
    };
    let farthest = best(&|p| (p.position - p0).norm());
    // Where all points coincide there is no line: every score is 0, and duplicates go below.
    let across = normal.cross(&(points[farthest].position - p0)).try_normalize(0.0);
    let across = across.unwrap_or_else(Vector3::zeros);
    let left = best(&|p| across.dot(&(p.position - p0)));
    let right = best(&|p| -across.dot(&(p.position - p0)));
    // In order around the patch, as `area` pairs opposite corners.
    [deepest, left, farthest, right]
}

/// The points of `before` among `points`, if all four are there.
fn still_there(points: &[ContactPoint], before: &[ContactPoint]) -> Option<[usize; 4]> {
    let mut found = [0; 4];
    if before.len() != found.len() {
        return None;
    }
    for (place, known) in found.iter_mut().zip(before) {
        *place = points.binary_search_by_key(&known.feature, |p| p.feature).ok()?;
    }
    Some(found)
}

/// Area that four points span across `normal`, in whatever order. [m²]
fn area([a, b, c, d]: [Vector3; 4], normal: &Vector3) -> f64 {
    let quad = |p: Vector3, q: Vector3| 0.5 * normal.dot(&p.cross(&q)).abs();
    // Of the three pairings of diagonals, the convex quadrangle's spans the most.
    quad(c - a, d - b).max(quad(b - a, d - c)).max(quad(d - a, c - b))
}

/// The first point whose score is within `tie` of the highest.
fn best(points: &[ContactPoint], tie: f64, score: impl Fn(&ContactPoint) -> f64) -> usize {
    let highest = points.iter().map(&score).fold(f64::NEG_INFINITY, f64::max);
    // The first within the tie, not the highest: rounding must not choose between points at equal distance.
    points.iter().position(|p| score(p) >= highest - tie).unwrap_or(0)
}
