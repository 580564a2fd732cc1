//! Level faces of a convex object under lips.
//!
//! Units: m, rad; axes of the object's upright frame, from the middle of its box.

use karakuri_collision::HullFace;
use karakuri_spatial::Vector3;

use super::hold::looking_down;
use super::lips::{Lips, Place};
use super::polygon::{clip, edges, on_edge};
use super::springs::Held;
use crate::hull::Hull;

/// Distance that a lip keeps from the edge of a face: errors of the arm and of the object's pose. [m]
pub(super) const EDGE: f64 = 0.002;
/// Difference of a face's heights below the lips up to which it is level: the stroke of a lip. [m]
const LEVEL: f64 = 5e-4;
/// Directions of the hand about each edge of a face.
const QUARTERS: u8 = 4;
/// Edges of a face, the longest ones, along which a hand is turned.
const EDGES: usize = 2;

/// Lips on a face.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    /// Yaw of the tool against the object. [rad]
    pub(super) turn: f64,
    /// Middle of the tool on the face. [m] (3)
    pub(super) middle: Vector3,
    pub(super) lips: Lips,
}

/// Cause for which lips do not lie on an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Fault {
    /// Its highest face leans. [rad]
    Leans(f64),
    /// Its level face has no room for the lips, or not at this place.
    Narrow,
}

/// Largest lean of a face on which the lips lie. [rad]
pub(super) fn largest_lean(places: &[Place]) -> f64 {
    let reach = |place: &Place| place.center.yz().norm() + place.radius;
    LEVEL / (2.0 * places.iter().map(reach).fold(0.0, f64::max))
}

/// The face that looks up, if lips lie level on it.
fn top<'a>(hull: &'a Hull, places: &[Place]) -> Result<&'a HullFace, Fault> {
    let highest = hull.faces().iter().max_by(|a, b| a.normal.z.total_cmp(&b.normal.z));
    let highest = highest.ok_or(Fault::Narrow)?;
    let lean = highest.normal.xy().norm().atan2(highest.normal.z);
    if lean > largest_lean(places) { Err(Fault::Leans(lean)) } else { Ok(highest) }
}

/// Lips on the face that looks up, where they are nearest to the centre of mass; turned by quarters along the frame, and along the face's edges.
pub(super) fn spots(hull: &Hull, places: &[Place], depth: f64) -> Result<Vec<Spot>, Fault> {
    let face = top(hull, places)?;
    let mut rims: Vec<_> = edges(&face.corners).map(|(p, q)| (q - p).xy()).collect();
    rims.sort_by(|a, b| b.norm().total_cmp(&a.norm()));
    let along = rims.iter().take(EDGES).map(|edge| edge.y.atan2(edge.x));
    let turns = core::iter::once(0.0).chain(along).flat_map(|from| {
        (0..QUARTERS).map(move |k| from + core::f64::consts::FRAC_PI_2 * f64::from(k))
    });
    let found = turns.filter_map(|turn| {
        let room = Room::of(face, places, turn);
        room.nearest(&hull.com()).and_then(|middle| spot(hull, places, depth, turn, middle))
    });
    let found: Vec<_> = found.collect();
    if found.is_empty() { Err(Fault::Narrow) } else { Ok(found) }
}

/// Lips at a place (3) on the face that looks up.
pub(super) fn spot_at(
    hull: &Hull,
    places: &[Place],
    depth: f64,
    turn: f64,
    place: &Vector3,
) -> Result<Spot, Fault> {
    let room = Room::of(top(hull, places)?, places, turn);
    let middle = room.nearest(place).filter(|middle| (middle - place).xy().norm() < 1e-9);
    middle.and_then(|middle| spot(hull, places, depth, turn, middle)).ok_or(Fault::Narrow)
}

fn spot(hull: &Hull, places: &[Place], depth: f64, turn: f64, middle: Vector3) -> Option<Spot> {
    let R_OT = looking_down(turn);
    let com = Vector3::x() * depth + R_OT.transpose() * (hull.com() - middle);
    let inertia = R_OT.transpose() * hull.unit_inertia() * R_OT;
    let lips = Lips::with(places, Held::solid(com, inertia))?;
    Some(Spot { turn, middle, lips })
}

/// Places of the tool on a face at which all lips are on it.
struct Room {
    /// Outward normals of its edges and their distances from the origin. [m]
    limits: Vec<(Vector3, f64)>,
    corners: Vec<Vector3>,
    normal: Vector3,
}

impl Room {
    fn of(face: &HullFace, places: &[Place], turn: f64) -> Self {
        let R_OT = looking_down(turn);
        let limit = |p: &Vector3, q: &Vector3| {
            let outward = Vector3::new(q.y - p.y, p.x - q.x, 0.0).try_normalize(1e-9)?;
            // The lip that comes nearest to the edge.
            let reach = |place: &Place| {
                let center = Vector3::new(0.0, place.center.y, place.center.z);
                outward.dot(&(R_OT * center)) + place.radius + EDGE
            };
            let most = places.iter().map(reach).fold(f64::NEG_INFINITY, f64::max);
            Some((outward, outward.dot(p) - most))
        };
        let limits: Vec<_> = edges(&face.corners).filter_map(|(p, q)| limit(p, q)).collect();
        let corners = limits
            .iter()
            .fold(face.corners.clone(), |part, (outward, offset)| clip(&part, outward, *offset));
        Self { limits, corners, normal: face.normal }
    }

    /// The place that is nearest to a point, seen from above, on the face; `None` where there is no room.
    fn nearest(&self, point: &Vector3) -> Option<Vector3> {
        let first = self.corners.first()?;
        // Straight above or below the point on the face's plane.
        let level = |p: &Vector3| {
            let down = (p - first).dot(&self.normal) / self.normal.z;
            p - Vector3::z() * down
        };
        let there = level(point);
        if self.limits.iter().all(|(outward, offset)| outward.dot(&there) <= *offset) {
            return Some(there);
        }
        let near = edges(&self.corners).map(|(p, q)| on_edge(&there, p, q));
        near.min_by(|a, b| (a - there).norm().total_cmp(&(b - there).norm()))
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use super::*;
    use crate::hand::payload::{COM_TOLERANCE, Payload};

    const CUP: Place = Place {
        area: 69.0 / 60e3,
        radius: 0.0191,
        least_radius: 0.06,
        center: Vector3::new(0.0, 0.0, 0.0),
    };

    /// A block with a slope from its top to its far end: its centre of mass is 70 mm from the upright side, and the top 50 mm wide.
    fn block(tilt: f64) -> Hull {
        let section = [[0.0, 0.0], [0.2, 0.0], [0.05, 0.1], [0.0, 0.1 + 0.05 * tilt]];
        let corners = section.iter().flat_map(|[y, z]| [0.0, 0.1].map(|x| Vector3::new(x, *y, *z)));
        Hull::around(&corners.collect::<Vec<_>>()).unwrap()
    }

    /// As near to the centre of mass as the lip's distance from the edge allows: `V = m g (1 + e/R)` of the lever arm that is left.
    #[test]
    fn a_lip_bears_the_lever_arm_that_the_face_leaves() {
        let found = spots(&block(0.0), &[CUP], 0.0).unwrap();
        let Spot { turn, middle, lips } = &found[0];
        let at = 0.05 - CUP.radius - EDGE;
        assert!(
            turn.abs() < 1e-12 && (middle - Vector3::new(0.0, at - 0.1, 0.05)).norm() < 1e-12,
            "{middle}"
        );
        let payload = Payload { mass: 1.0, friction: 0.5, safety: 1.0, gravity: 9.81 };
        let known = 9.81 * (1.0 + (0.07 - at + COM_TOLERANCE) / CUP.radius);
        assert_relative_eq!(lips.at_rest(&payload), known, max_relative = 1e-9);
    }

    #[test]
    fn a_face_that_leans_or_is_narrow_is_refused() {
        let most = largest_lean(&[CUP]);
        assert!(spots(&block(0.9 * most), &[CUP], 0.0).is_ok());
        let leans = spots(&block(1.1 * most), &[CUP], 0.0).unwrap_err();
        assert!(
            matches!(leans, Fault::Leans(lean) if (lean - 1.1 * most).abs() < 1e-4),
            "{leans:?}"
        );
        let wide = Place { radius: 0.024, ..CUP };
        assert_eq!(spots(&block(0.0), &[wide], 0.0).unwrap_err(), Fault::Narrow);
        // A row of two lips along x has no room across it.
        let row = [0.03, -0.03].map(|y| Place { center: Vector3::new(0.0, y, 0.0), ..CUP });
        assert_eq!(spots(&block(0.0), &row, 0.0).unwrap_err(), Fault::Narrow);
        let on_edge = spot_at(&block(0.0), &[CUP], 0.0, 0.0, &Vector3::new(0.0, -0.065, 0.05));
        assert_eq!(on_edge.unwrap_err(), Fault::Narrow);
    }
}
