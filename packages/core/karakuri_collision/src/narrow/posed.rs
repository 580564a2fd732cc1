//! Convex cores at their poses, as the narrow phase sees them.

use karakuri_spatial::{Pose, Vector3};

use crate::solid::Solid;

/// A shape, or a triangle of one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Core<'a> {
    Shape(&'a Solid),
    /// Triangle in world axes, relative to the origin of the computation. [m]
    Triangle([Vector3; 3]),
}

/// A core at its pose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Posed<'a> {
    pub(crate) core: Core<'a>,
    pub(crate) pose: Pose,
    pub(crate) margin: f64,
    /// Angle of the first rim point in the last step; NaN if there was none. [rad]
    pub(crate) rim: f64,
}

impl<'a> Posed<'a> {
    pub(crate) fn new(shape: &'a Solid, pose: Pose) -> Self {
        Self { core: Core::Shape(shape), pose, margin: shape.margin(), rim: f64::NAN }
    }

    /// A triangle whose corners are in world axes already. [m]
    pub(crate) fn triangle(corners: [Vector3; 3]) -> Self {
        let pose = Pose::IDENTITY;
        Self { core: Core::Triangle(corners), pose, margin: 0.0, rim: f64::NAN }
    }

    /// Copy that is moved by `d`. [m] (3)
    pub(crate) fn shifted(&self, d: &Vector3) -> Self {
        let mut moved = *self;
        match &mut moved.core {
            Core::Shape(_) => moved.pose.translation += d,
            Core::Triangle(corners) => *corners = corners.map(|p| p + d),
        }
        moved
    }

    /// The core's point farthest along `d`, in world axes. [m] (3)
    pub(crate) fn support(&self, d: &Vector3) -> Vector3 {
        match &self.core {
            Core::Shape(shape) => {
                self.pose.transform_point(&shape.support(&self.pose.rotation.tr_mul(d)))
            }
            Core::Triangle(corners) => {
                let mut best = corners[0];
                for p in &corners[1..] {
                    // Strictly: of equally far corners the first, whatever the direction's noise.
                    if p.dot(d) > best.dot(d) {
                        best = *p;
                    }
                }
                best
            }
        }
    }

    /// Room between two planes square to `n` that bound this and `other` behind it; negative where they overlap. [m]
    pub(crate) fn gap_along(&self, other: &Self, n: &Vector3) -> f64 {
        n.dot(&(other.support(&-n) - self.support(n))) - self.margin - other.margin
    }

    /// Outward normal of the flat face that looks most along `d`, in world axes, if the core has faces. (3)
    pub(crate) fn face_normal(&self, d: &Vector3) -> Option<Vector3> {
        let R = &self.pose.rotation;
        match &self.core {
            Core::Triangle([a, b, c]) => {
                let n = (b - a).cross(&(c - a)).try_normalize(0.0)?;
                Some(n * 1.0_f64.copysign(n.dot(d)))
            }
            Core::Shape(Solid::Box { .. }) => {
                let d = R.tr_mul(d);
                let i = d.iamax();
                Some(R.column(i) * 1.0_f64.copysign(d[i]))
            }
            Core::Shape(Solid::Cylinder { .. }) => {
                let axis: Vector3 = R.column(2).into();
                Some(axis * 1.0_f64.copysign(axis.dot(d)))
            }
            Core::Shape(Solid::Hull(hull)) => Some(R * hull.support_face(&R.tr_mul(d)).0),
            Core::Shape(_) => None,
        }
    }

    pub(crate) fn has_only_corners(&self) -> bool {
        match self.core {
            Core::Triangle(_) => true,
            Core::Shape(shape) => shape.has_only_corners(),
        }
    }

    /// Whether straight lines lie on the surface of the core without being edges, or the core is one.
    pub(crate) fn is_round(&self) -> bool {
        matches!(self.core, Core::Shape(Solid::Cylinder { .. } | Solid::Capsule { .. }))
    }

    /// Direction from the axis of a round core to a point of the world. (3)
    pub(crate) fn radial(&self, p: &Vector3) -> Option<Vector3> {
        let axis: Vector3 = self.pose.rotation.column(2).into();
        let arm = p - self.pose.translation;
        // On the axis itself no radius is better than another.
        (arm - axis * axis.dot(&arm)).try_normalize(1e-9).filter(|_| self.is_round())
    }

    /// Directions of straight lines on the core, and of a cylinder's rim near `p`, in world axes.
    pub(crate) fn axes(&self, p: &Vector3) -> impl Iterator<Item = Vector3> + '_ {
        let lines: [Option<Vector3>; 3] = match &self.core {
            Core::Triangle([a, b, c]) => [Some(b - a), Some(c - b), Some(a - c)],
            Core::Shape(Solid::Box { .. }) => {
                [0, 1, 2].map(|i| Some(self.pose.rotation.column(i).into()))
            }
            Core::Shape(Solid::Cylinder { .. } | Solid::Capsule { .. }) => {
                let axis: Vector3 = self.pose.rotation.column(2).into();
                // The rim's tangent there: a rim against an edge touches across both.
                [Some(axis), self.radial(p).map(|r| axis.cross(&r)), None]
            }
            Core::Shape(_) => [None; 3],
        };
        lines.into_iter().flatten()
    }

    pub(crate) fn center(&self) -> Vector3 {
        match &self.core {
            Core::Shape(_) => self.pose.translation,
            Core::Triangle([a, b, c]) => (a + b + c) / 3.0,
        }
    }
}

/// The closest points of two cores and the direction between them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Closest {
    pub(crate) normal: Vector3,
    /// Points on A and on B. [m]
    pub(crate) points: [Vector3; 2],
}
