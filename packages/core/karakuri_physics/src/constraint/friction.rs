//! Dry friction of joints: a row at rest with a bounded impulse, `|λ| ≤ h τ_f`.

use karakuri_model::Joint;

use super::kind::{Constraint, SolvedRow};
use super::row::{Account, Row, RowBuilder};
use crate::solver::RowSpec;
use crate::state::State;
use crate::state::robot::Robot;

/// Dry friction of joints.
#[derive(Debug, Clone, Default)]
pub(crate) struct DryFriction;

impl Constraint for DryFriction {
    fn acts_on_joints(&self, robot: &Robot) -> bool {
        robot.friction.iter().any(|effort| *effort > 0.0)
    }

    fn add_joint_rows(&self, rows: &mut RowBuilder, robot: usize, joint: &Joint) {
        for dof in joint.v_start..joint.v_start + joint.kind.nv() {
            let Some(r) = &rows.robots[robot] else { return };
            let limit = rows.settings.dt * r.friction[dof];
            if limit > 0.0 {
                // Coulomb's law in one coordinate: within its bounds it holds the rate at zero, at a bound it slides.
                let spec = RowSpec {
                    lower: -limit,
                    upper: limit,
                    warm_start: r.impulses[dof].friction,
                    ..RowSpec::default()
                };
                let row = Row::on_robot(robot, dof, Account::Friction);
                rows.push_on_robot(row, &spec, &[(dof, 1.0)]);
            }
        }
    }

    fn keep_impulse(&mut self, state: &mut State, solved: &SolvedRow) {
        if let Some(robot) = &mut state.robots[solved.row.owner] {
            robot.impulses[solved.row.part].friction = solved.block.impulse.x;
        }
    }
}
