//! Points that lie in one plane or on one line but for a rounding, as a plate or a bar of a thickness that is computed safely.

use karakuri_spatial::{Matrix3, Vector3};

/// Half the least thickness, as a part of the size.
const HALF_THICKNESS: f64 = 1e-5;
/// Grid of the corners in the axes of the points, as a part of the size.
const GRID: f64 = 1e-6;

/// Corners of a body at least `2 HALF_THICKNESS` thick. [m] `None` where all points are one.
///
/// A tetrahedron whose corners are nearly in one plane has side faces whose normals are noise: moved by a grid, they
/// turn by tens of degrees. A plate's side faces are square to it.
pub(super) fn corners(points: &[Vector3], size: f64) -> Option<Vec<Vector3>> {
    let origin = *points.first()?;
    // In units of the size, as the thickness and the grid are.
    let axes = axes(points, size)?;
    let place = |p: &Vector3| axes.tr_mul(&(p - origin)) / size;
    let mut lower = Vector3::repeat(f64::INFINITY);
    let mut upper = -lower;
    for p in points.iter().map(place) {
        (lower, upper) = (lower.inf(&p), upper.sup(&p));
    }
    let is_thin = |k: usize| upper[k] - lower[k] < 2.0 * HALF_THICKNESS;
    let mut corners: Vec<Vector3> = Vec::with_capacity(4 * points.len());
    corners.extend(points.iter().map(place));
    // Along each thin axis every point goes to both faces of the plate.
    // A bar is thin along two axes: the second doubles the corners of the first.
    for k in (0..3).filter(|&k| is_thin(k)) {
        let middle = 0.5 * (lower[k] + upper[k]);
        for p in &mut corners {
            p[k] = middle - HALF_THICKNESS;
        }
        for i in 0..corners.len() {
            let mut p = corners[i];
            p[k] = middle + HALF_THICKNESS;
            corners.push(p);
        }
    }
    // On a grid, points of one plane are in it but for the rounding of the axes, and near ones are one.
    let mut on_grid: Vec<Vector3> =
        corners.iter().map(|p| p.map(|x| (x / GRID).round() * GRID)).collect();
    let compare = |p: &Vector3, q: &Vector3| {
        p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y)).then(p.z.total_cmp(&q.z))
    };
    on_grid.sort_by(compare);
    on_grid.dedup();
    Some(on_grid.into_iter().map(|p| origin + axes * (p * size)).collect())
}

/// Right-handed axes of the points as columns: the longest extent, the largest across it, and the rest.
fn axes(points: &[Vector3], size: f64) -> Option<Matrix3> {
    let farthest = |of: &dyn Fn(&Vector3) -> f64| {
        points.iter().max_by(|p, q| of(p).total_cmp(&of(q))).copied()
    };
    // A tilted direction has one farthest point, where x alone could have a face of them.
    let a = farthest(&|p| p.x + 1e-3 * p.y + 1e-6 * p.z)?;
    let b = farthest(&|p| (p - a).norm())?;
    let u = (b - a).try_normalize(0.0)?;
    let across = |p: &Vector3| (p - a) - u * u.dot(&(p - a));
    let c = farthest(&|p| across(p).norm())?;
    let [any, _] = karakuri_spatial::tangent_frame(&u);
    // Points on a line have no second axis: any across it is as good.
    let v = across(&c).try_normalize(1e-9 * size).unwrap_or(any);
    let w = u.cross(&v).try_normalize(0.0)?;
    // w × u rather than v, which is square to u only as far as the rounding of `across`.
    Some(Matrix3::from_columns(&[u, w.cross(&u), w]))
}
