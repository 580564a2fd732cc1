//! Zero moment point: the floor point about which the floor's reaction has no tilting moment.
//!
//! The floor must exert the wrench that accelerates the robot and carries its weight. About the ZMP on the floor that wrench has
//! no horizontal moment, so that soles can exert it by pressure alone where the ZMP is inside the support polygon: the robot does
//! not tip. With the wrench `(M, F)` at a point `(x, y)` at height `z` above the floor,
//! `p_x = x − (M_y + z F_x)/F_z`, `p_y = y + (M_x − z F_y)/F_z`. [Vukobratovic 1990], [Kajita 2003, §IV]
//!
//! Units: SI, world axes; Z up, the floor horizontal.

use karakuri_dynamics::{Data, rnea};
use karakuri_model::Model;
use karakuri_spatial::{Force, Vector3};

/// Zero moment point of a wrench that the floor exerts, given at a point whose `z` is its height above the floor. [m] (2)
#[inline]
pub fn zero_moment_point(wrench: &Force, point: &Vector3) -> [f64; 2] {
    let Force { moment, force } = wrench;
    [
        point.x - (moment.y + point.z * force.x) / force.z,
        point.y + (moment.x - point.z * force.y) / force.z,
    ]
}

/// An instant of a whole robot's motion.
#[derive(Debug, Clone, Copy)]
pub struct WholeBodyMotion<'a> {
    /// Positions. [m or rad] (nq)
    pub q: &'a [f64],
    /// Velocities. [m/s or rad/s] (nv)
    pub v: &'a [f64],
    /// Accelerations. [m/s² or rad/s²] (nv)
    pub vdot: &'a [f64],
}

/// Wrench that the floor must exert for a motion, and its zero moment point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FloorReaction {
    /// Zero moment point on the floor. [m] (2)
    pub zmp: [f64; 2],
    /// Wrench at the origin of the root link, world axes. [N·m; N]
    pub wrench: Force,
}

/// Zero moment point of the whole robot and the floor's wrench, by inverse dynamics under the gravity of `data`.
///
/// The root link floats; nothing but the floor at height `floor` [m] touches the robot. Leaves the efforts of all degrees of
/// freedom in `data.effort`, the floor's wrench not yet taken by the feet.
pub fn whole_body_zmp(
    model: &Model,
    data: &mut Data,
    motion: &WholeBodyMotion<'_>,
    floor: f64,
) -> FloorReaction {
    let WholeBodyMotion { q, v, vdot } = *motion;
    let tau = rnea(model, data, q, v, vdot, &[]);
    // The efforts of the floating base are the wrench that no joint exerts: the floor's.
    let force = Vector3::new(tau[0], tau[1], tau[2]);
    let moment = Vector3::new(tau[3], tau[4], tau[5]);
    let wrench = Force::new(moment, force);
    // The wrench acts at the root link's origin, whose height above the floor is the lever of its horizontal force.
    let root = Vector3::new(q[0], q[1], q[2] - floor);
    FloorReaction { zmp: zero_moment_point(&wrench, &root), wrench }
}

#[cfg(test)]
mod tests;
