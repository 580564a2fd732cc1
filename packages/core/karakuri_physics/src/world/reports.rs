//! Reports on the last step.

use karakuri_spatial::{Force, Vector3};

use super::World;
use crate::pipeline::outcome::Culprit;
use crate::state::ids::{BodyId, RobotId};
use crate::state::imu::Imu;
use crate::{ContactReport, StepOutcome};

/// Cost of the last step, and how well it was solved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistics {
    /// Number of steps so far.
    pub steps: u64,
    /// Highest level of the solver ladder that an island needed.
    pub level: u8,
    /// Iterations of the slowest island.
    pub iterations: usize,
    /// Largest natural-map residual of a block. [m/s or rad/s]
    pub residual: f64,
    /// Largest residual at which an island counts as solved: the tolerance of the settings, or more where a crowd moves.
    /// [m/s or rad/s]
    pub tolerance: f64,
    /// Number of contact points.
    pub n_contacts: usize,
    /// Number of contact points that carry force.
    pub n_loaded: usize,
    /// Number of those of them that did so in the step before: the solver begins there from that impulse.
    pub n_warm: usize,
    /// Number of row blocks, contacts among them.
    pub n_blocks: usize,
    /// Number of islands.
    pub n_islands: usize,
    /// Number of bodies asleep; their contacts are in no other number.
    pub n_asleep: usize,
}

impl World {
    /// Contacts of the last step that carry force; of what sleeps, as it fell asleep.
    pub fn contacts(&self) -> impl Iterator<Item = ContactReport> + '_ {
        self.loaded_contacts().filter_map(|c| {
            // What was taken away since has no owner.
            Some(ContactReport {
                a: self.state.attachments[c.a.0]?.owner,
                b: self.state.attachments[c.b.0]?.owner,
                position: c.point(),
                normal: c.normal,
                gap: c.gap,
                // Means over the step: of a blow within it only the impulse is known.
                force: c.impulse / self.settings.dt,
                moment: c.moment / self.settings.dt,
            })
        })
    }

    /// Reading of a force sensor in the last step, in its link's axes at its origin; `sensor` indexes the model's
    /// sensors. [N·m; N]
    pub fn sensor_wrench(&self, robot: RobotId, sensor: usize) -> Force {
        self.state.robots[robot.0].as_ref().map_or_else(Force::default, |r| r.wrenches[sensor])
    }

    /// Reading of an inertial sensor in the last step; `sensor` indexes the model's sensors.
    pub fn sensor_imu(&self, robot: RobotId, sensor: usize) -> Imu {
        self.state.robots[robot.0].as_ref().map_or_else(Imu::default, |r| r.imus[sensor])
    }

    /// Cost of the last step, and how well it was solved.
    pub fn statistics(&self) -> Statistics {
        let loaded =
            || self.constraints.contacts.active.iter().filter(|c| c.impulse != Vector3::zeros());
        Statistics {
            steps: self.steps,
            level: self.last.solution.level,
            iterations: self.last.solution.iterations,
            residual: self.last.solution.residual,
            tolerance: self.last.solution.tolerance,
            n_contacts: self.constraints.contacts.active.len(),
            n_loaded: loaded().count(),
            n_warm: loaded().filter(|c| c.warm_start > 0.0).count(),
            n_blocks: self.pipeline.problem.blocks.len(),
            n_islands: self.pipeline.problem.island_ends.len(),
            n_asleep: self.state.n_asleep,
        }
    }

    /// Message for a person after a step that ended in [`StepOutcome::NonFinite`].
    pub fn non_finite_report(&self) -> String {
        let StepOutcome::NonFinite(culprit) = self.last.outcome else {
            return "all quantities are finite".to_owned();
        };
        let joint = |robot: usize, dof: usize| {
            let view = self.robot(RobotId(robot));
            (view.name().to_owned(), view.model().joint_name_of(dof).to_owned())
        };
        match culprit {
            Culprit::Robot { robot, dof } => {
                let (robot, joint) = joint(robot, dof);
                format!(
                    "robot `{robot}`: velocity of joint `{joint}` is not finite (or above 1e30); check its commands, gains and inertia"
                )
            }
            Culprit::MassMatrix { robot, dof } => {
                let (robot, joint) = joint(robot, dof);
                format!(
                    "robot `{robot}`: joint `{joint}` moves no mass; give its links an inertia or the joint an armature"
                )
            }
            Culprit::Setting(name) => {
                format!(
                    "the setting `{name}` is no number that a step can use; `dt` must be positive"
                )
            }
            Culprit::Body { body } => {
                let name = self.body(BodyId(body)).description().name.clone();
                format!(
                    "body `{name}`: velocity is not finite (or above 1e30); check its mass, inertia and what it touches"
                )
            }
        }
    }
}
