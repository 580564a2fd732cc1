//! Contacts with a memory: points of this step matched to those of the last.
//!
//! A contact keeps its impulse (the warm start) and its drift, the tangential slip summed up since it began to
//! stick. The drift is pulled back inside the friction cone, so that solver residuals do not add up to creep; it is
//! measured as slip, not as a distance of material points, so that rolling is free. Friction coefficients mix by
//! their geometric mean, restitution by the larger.

use karakuri_collision::{ColliderId, Manifold};
use karakuri_model::{BodyId, FrameId};
use karakuri_spatial::Vector3;

/// A point that lost its feature is taken for the same if it moved less than this. [m]
const SAME_POINT: f64 = 2e-3;

/// To what a collider belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A link of a robot.
    Link {
        /// The robot.
        robot: crate::RobotId,
        /// The link.
        frame: FrameId,
    },
    /// A free or fixed body.
    Body(crate::ObjectId),
    /// The ground.
    Ground,
}

/// How an owner moves in the world's velocity vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mover {
    Robot { robot: usize, body: BodyId },
    Body(usize),
    Fixed,
}

/// A collider as the world knows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attachment {
    pub(crate) owner: Owner,
    pub(crate) mover: Mover,
    pub(crate) friction: f64,
    pub(crate) restitution: f64,
}

/// A contact point with its memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contact {
    pub(crate) a: ColliderId,
    pub(crate) b: ColliderId,
    feature: u64,
    pub(crate) position: Vector3,
    pub(crate) normal: Vector3,
    pub(crate) gap: f64,
    pub(crate) friction: f64,
    pub(crate) restitution: f64,
    /// Impulse on b, in the world. [N·s] (3)
    pub(crate) impulse: Vector3,
    /// Tangential slip since it began to stick, in the world. [m] (3)
    pub(crate) drift: Vector3,
}

/// A contact of the last step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactReport {
    /// First side.
    pub a: Owner,
    /// Second side.
    pub b: Owner,
    /// In the world. [m] (3)
    pub position: Vector3,
    /// Unit normal from a to b, in the world. (3)
    pub normal: Vector3,
    /// Signed distance at the start of the step. [m]
    pub gap: f64,
    /// Mean force on b over the step, in the world. [N] (3)
    pub force: Vector3,
}

/// Two unit tangents that make a right-handed frame with `normal`.
pub(crate) fn tangents(normal: &Vector3) -> [Vector3; 2] {
    let helper = if normal.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
    let first = normal.cross(&helper).normalize();
    [first, normal.cross(&first)]
}

/// Fills `contacts` with the points of `manifolds`, each with the memory of its counterpart in `previous`.
pub(crate) fn match_contacts(
    manifolds: &[Manifold],
    attachments: &[Option<Attachment>],
    previous: &[Contact],
    contacts: &mut Vec<Contact>,
) {
    contacts.clear();
    for manifold in manifolds {
        let (Some(a), Some(b)) = (attachments[manifold.a.0], attachments[manifold.b.0]) else {
            continue;
        };
        let pair = (manifold.a, manifold.b);
        let start = previous.partition_point(|c| (c.a, c.b) < pair);
        let known = &previous[start..];
        let known = &known[..known.partition_point(|c| (c.a, c.b) <= pair)];
        for point in manifold.points() {
            let memory = known.iter().find(|c| c.feature == point.feature).or_else(|| {
                known.iter().find(|c| {
                    (c.position - point.position).norm_squared() < SAME_POINT * SAME_POINT
                })
            });
            let normal = manifold.normal;
            let tangential = |v: Vector3| v - normal * normal.dot(&v);
            contacts.push(Contact {
                a: manifold.a,
                b: manifold.b,
                feature: point.feature,
                position: point.position,
                normal,
                gap: point.gap,
                friction: (a.friction * b.friction).sqrt(),
                restitution: a.restitution.max(b.restitution),
                impulse: memory.map_or_else(Vector3::zeros, |c| c.impulse),
                drift: memory.map_or_else(Vector3::zeros, |c| tangential(c.drift)),
            });
        }
    }
}
