//! Rotation of a robot's joints in a step.

use karakuri_model::{BodyId, DofKind, JointKind, Model};
use karakuri_spatial::{Inertia, Vector3};

use crate::state::robot::Robot;

/// Relative asymmetry of a wheel that is a rounding. [-]
const SYMMETRIC: f64 = 1e-9;

/// Velocity coordinates of a joint that are one motion: an angle, the three of a ball or a floating base, or a slide.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rotation {
    joint: usize,
    first: usize,
    n: usize,
    /// Whether it is that of a wheel at the end of a branch, which changes no inertia.
    is_wheel: bool,
    /// Whether it is a translation: at a lever of 1 m it changes inertia as a rotation does.
    is_slide: bool,
}

/// The largest rotation of a joint in a step.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LongestTurn {
    /// Angle by which it turns. [rad]
    pub(crate) angle: f64,
    /// Index of the joint.
    pub(crate) joint: usize,
    /// Largest angle of those that are no wheels, slides at a lever of 1 m among them. [rad]
    pub(crate) angle_of_links: f64,
}

/// Whether a joint turns a link about an axis of symmetry of its inertia, and nothing hangs on it.
fn is_wheel(model: &Model, joint: usize) -> bool {
    let JointKind::Revolute { axis } = model.joints[joint].kind else { return false };
    let axis: &Vector3 = &axis;
    let Inertia { com, about_com, .. } = &model.bodies[joint].inertia;
    let scale = SYMMETRIC * about_com.norm();
    // Symmetric about the axis: equal moments across it, no products of inertia.
    // Any axis across will do, as a symmetric wheel has no preferred one.
    let across = axis.cross(&if axis.x.abs() < 0.7 { Vector3::x() } else { Vector3::y() });
    let (across, along) = (across.normalize(), axis);
    let other = along.cross(&across);
    let moment = |a: &Vector3, b: &Vector3| a.dot(&(about_com * b));
    let products = [moment(&across, &other), moment(along, &across), moment(along, &other)];
    // What it carried would turn with it, and change the inertia of the tree.
    !model.bodies.iter().any(|b| b.parent == Some(BodyId(joint)))
        && com.cross(along).norm() <= SYMMETRIC * com.norm().max(1e-3)
        && (moment(&across, &across) - moment(&other, &other)).abs() <= scale
        && products.iter().all(|p| p.abs() <= scale)
}

/// The rotations of a model's joints.
pub(crate) fn rotations_of(model: &Model) -> Vec<Rotation> {
    let mut rotations = Vec::new();
    for (joint, j) in model.joints.iter().enumerate() {
        let is_slide = matches!(j.kind, JointKind::Prismatic { .. });
        let mut add = |offset: usize, n: usize| {
            let (first, is_wheel) = (j.v_start + offset, is_wheel(model, joint));
            rotations.push(Rotation { joint, first, n, is_wheel, is_slide });
        };
        match &j.kind {
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => add(0, 1),
            JointKind::Planar { .. } => add(2, 1),
            JointKind::Spherical => add(0, 3),
            JointKind::Floating => add(3, 3),
            JointKind::Custom(motion) => {
                let kinds = motion.dof_kinds().iter().enumerate();
                kinds.filter(|(_, kind)| **kind == DofKind::Angle).for_each(|(k, _)| add(k, 1));
            }
        }
    }
    rotations
}

impl Robot {
    /// The largest rotation of its joints in a step at its rates. [s]
    pub(crate) fn turn_in_step(&self, h: f64) -> LongestTurn {
        let mut longest = LongestTurn::default();
        for r in &self.rotations {
            // Squares until the end: one root a robot. Most joints have one rate, for which a sum over a slice is long.
            let square = match r.n {
                1 => self.v[r.first] * self.v[r.first],
                n => self.v[r.first..r.first + n].iter().map(|v| v * v).sum::<f64>(),
            };
            if square > longest.angle && !r.is_slide {
                (longest.angle, longest.joint) = (square, r.joint);
            }
            if !r.is_wheel {
                longest.angle_of_links = longest.angle_of_links.max(square);
            }
        }
        longest.angle = h * longest.angle.sqrt();
        longest.angle_of_links = h * longest.angle_of_links.sqrt();
        longest
    }
}
