//! Contacts as springs that a held object rests on: each bears its share of what the object pulls with.
//!
//! A wrench moves the object rigidly against all springs, and each bears what it gives. Such shares are in balance, so that what they say is
//! held is held: contacts could share more evenly when they slip, not less.
//!
//! Units: m, N, kg; tool axes.

use karakuri_spatial::{Force, Matrix3, Vector3, Vector6};
use nalgebra::Matrix6;

use super::payload::{COM_TOLERANCE, Payload, ToolMotion};
use crate::slip::SpecificWrench;
use crate::suction::cup::Cup;

/// Stiffnesses of a spring at its centre against turning about and moving along the tool's axes, relative to the others'. (6)
pub(super) type Stiffness = Vector6;

/// Shares of springs in a wrench.
#[derive(Debug, Clone)]
pub(super) struct Springs {
    /// Each spring's share of a wrench about the tool, at its own centre: `S_i (Σ S)⁻¹`. (6×6 each)
    shares: Vec<Matrix6<f64>>,
}

impl Springs {
    /// Springs of these stiffnesses at these centres in the tool frame [m] (3). `None` where they do not hold in all directions.
    pub(super) fn new(springs: &[(Stiffness, Vector3)]) -> Option<Self> {
        let parts = springs
            .iter()
            .map(|(stiffness, center)| (Matrix6::from_diagonal(stiffness), motion_at(center)));
        let total = parts
            .clone()
            .fold(Matrix6::zeros(), |sum, (local, to)| sum + to.transpose() * local * to);
        let inverse = total.try_inverse()?;
        Some(Self { shares: parts.map(|(local, to)| local * to * inverse).collect() })
    }

    /// What each spring bears of a wrench about the tool, about its own centre.
    pub(super) fn bear(&self, wrench: &Force) -> impl Iterator<Item = Force> {
        let (m, f) = (wrench.moment, wrench.force);
        let whole = Vector6::new(m.x, m.y, m.z, f.x, f.y, f.z);
        self.shares.iter().map(move |share| {
            let own = share * whole;
            Force::new(own.fixed_rows::<3>(0).into(), own.fixed_rows::<3>(3).into())
        })
    }
}

/// Motion of a centre [m] (3) by a turn and a shift of the tool. (6×6)
fn motion_at(center: &Vector3) -> Matrix6<f64> {
    let mut to = Matrix6::identity();
    // `θ × r`, as a matrix on θ.
    let cross: Matrix3 = -center.cross_matrix();
    to.fixed_view_mut::<3, 3>(3, 0).copy_from(&cross);
    to
}

/// Mass distribution of a held object, a kilogram of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    /// Centre of mass in the tool frame. [m] (3)
    com: Vector3,
    /// Rotational inertia about it, in tool axes. [m²] (3×3)
    gyration: Matrix3,
}

impl Held {
    /// A box of these edges along the tool's axes (3), with its centre of mass there [m] (3).
    pub(super) fn new(com: Vector3, edges: &Vector3) -> Self {
        let squares = edges.component_mul(edges) / 12.0;
        let gyration =
            Vector3::new(squares.y + squares.z, squares.z + squares.x, squares.x + squares.y);
        Self::solid(com, Matrix3::from_diagonal(&gyration))
    }

    /// A solid with its centre of mass there [m] (3), and this inertia about it in the tool's axes [m²] (3×3).
    pub(super) fn solid(com: Vector3, gyration: Matrix3) -> Self {
        Self { com, gyration }
    }

    /// Wrenches about the tool with which the payload pulls at rest, the tool looking down. (4)
    pub(super) fn at_rest(&self, payload: &Payload) -> [Force; 4] {
        // What pulls is along the tool's x.
        self.wrenches(payload, &(-Vector3::x() * payload.gravity), &Vector3::zeros())
    }

    /// Wrenches about the tool with which the payload pulls in a motion. (4)
    pub(super) fn moving(&self, payload: &Payload, motion: &ToolMotion<'_>) -> [Force; 4] {
        let SpecificWrench { force, moment } = self.needed(payload, motion);
        self.wrenches(payload, &force, &moment)
    }

    /// What the payload needs to move with the tool, in the tool's axes.
    pub(super) fn needed(&self, payload: &Payload, motion: &ToolMotion<'_>) -> SpecificWrench {
        let R_TW = motion.X_WT.rotation.transpose();
        let omega = R_TW * motion.V.angular;
        let alpha = R_TW * motion.A.angular;
        // `a − g` of the centre of mass, which turns about the tool.
        let tool = R_TW * (motion.A.linear + Vector3::z() * payload.gravity);
        let force = tool + alpha.cross(&self.com) + omega.cross(&omega.cross(&self.com));
        let moment = self.gyration * alpha + omega.cross(&(self.gyration * omega));
        SpecificWrench { force, moment }
    }

    /// Wrenches by a specific force [m/s²] (3) and a moment for a kilogram [m²/s²] (3), with the centre of mass off by the tolerance.
    fn wrenches(&self, payload: &Payload, specific: &Vector3, spin: &Vector3) -> [Force; 4] {
        // It may be off in any direction; along the axes of the tool the contacts at the edge feel it most.
        [Vector3::y(), -Vector3::y(), Vector3::z(), -Vector3::z()].map(|off| {
            let com = self.com + off * COM_TOLERANCE;
            let mut pull = Cup::wrench_of(payload.mass, specific, &com);
            pull.moment -= spin * payload.mass;
            pull
        })
    }
}
