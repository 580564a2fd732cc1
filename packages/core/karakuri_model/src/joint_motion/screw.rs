//! A screw: turns about an axis and advances along it by a fixed pitch.
//!
//! `X_JB = (Rot(a, q), a · pitch · q)`, `S = [a; pitch · a]`, `Ṡ = 0`.

use std::sync::Arc;

use karakuri_spatial::{Motion, Pose, Vector3};

use super::{DofKind, JointMotion, Reshaped};
use crate::JointKind;
use crate::yaml::{Node, Reader};

/// A screw joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Screw {
    /// Unit axis in the joint's frame. (3)
    pub axis: Vector3,
    /// Advance for a turn of one radian. [m/rad]
    pub pitch: f64,
}

impl JointMotion for Screw {
    fn name(&self) -> &'static str {
        "screw"
    }

    fn dof_kinds(&self) -> &[DofKind] {
        &[DofKind::Angle]
    }

    fn pose(&self, q: &[f64]) -> Pose {
        Pose {
            translation: self.axis * (self.pitch * q[0]),
            ..Pose::from_axis_angle(&self.axis, q[0])
        }
    }

    fn subspace(&self, _: &[f64], columns: &mut [Motion]) {
        // Velocity of B's origin, which lies on the axis: only the advance moves it.
        columns[0] = Motion::new(self.axis, self.axis * self.pitch);
    }

    fn subspace_rate(&self, _: &[f64], _: &[f64], columns: &mut [Motion]) {
        columns[0] = Motion::default();
    }
}

/// `{type: screw, axis: [x, y, z], pitch: m/rad}`.
pub(super) fn read(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<Reshaped> {
    let fields = reader.fields(node, path, &["type", "axis", "pitch"]);
    let axis = fields.get("axis").and_then(|(n, p)| reader.unit_vector(n, &p));
    // As of loop joints: z where no axis is said.
    let axis = axis.map_or(Vector3::z(), Into::into);
    let (node, path) = reader.required(&fields, "pitch", "0.001 # m for a turn of 1 rad")?;
    let pitch = reader.number(node, &path, &(-1e3..=1e3), "m/rad")?;
    Some(Reshaped { kind: JointKind::Custom(Arc::new(Screw { axis, pitch })), cone: None })
}
