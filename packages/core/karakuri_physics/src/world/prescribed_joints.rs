//! Joints that move as prescribed: rheonomic constraints `q_k = q_d(t)`.
//!
//! Over a step such a joint has the mean rate of its table, `v' = (q_d(t + h) − q) / h`: as for all joints that forces move, the
//! position at the end is `q + h v'`, so bodies that touch it move with it. Its acceleration `(v' − v) / h` is the table's at
//! the step's start to second order.
//!
//! They are rows of the mechanism's loops, eliminated and not iterated: under any force the joint is where its table has it at
//! the end of every step. The multiplier that this takes is given as the joint's effort and booked as that of a drive. The
//! joint's own drive is off.
//!
//! Reactions of loops, mimic joints and prescribed joints are the multipliers `λ` of `J_Lᵀ λ = r`, where `r` is what the
//! step's change of momentum leaves unexplained.

use std::sync::Arc;

use karakuri_dynamics::loops::PrescribedCoordinate;
use karakuri_model::BodyId;
use karakuri_spatial::{Force, Vector3};

use crate::constraint::row::Account;
use crate::errors::WorldError;
use crate::pipeline::energy::take_impulses;
use crate::state::free_motion::Method;
use crate::state::ids::RobotId;
use crate::state::motion_table::MotionTable;
use crate::state::prescribed_joint::PrescribedJoint;
use crate::world::World;

impl World {
    /// Lets a joint with one degree of freedom move as a table over the simulated time says, whatever pushes; it begins there
    /// now. Its drive is off from now on. The effort that moves it is in [`crate::RobotView::efforts`].
    ///
    /// # Errors
    /// When the joint has more than one degree of freedom or follows another.
    ///
    /// # Panics
    /// When the robot was removed.
    pub fn prescribe_joint(
        &mut self,
        id: RobotId,
        joint: BodyId,
        motion: MotionTable,
    ) -> Result<(), WorldError> {
        let time = self.time();
        let robot = self.robot_mut(id);
        let model = Arc::clone(&robot.model);
        let spec = &model.joints[joint.0];
        let refuse = |reason| Err(WorldError::Joint { name: spec.name.clone(), reason });
        if spec.kind.single().is_none() {
            return refuse("it has more than one degree of freedom; prescribe joints with one");
        }
        if model.couplings.iter().any(|c| c.follower == joint) {
            return refuse("it follows another joint; prescribe the one that leads");
        }
        let (dof, coordinate) = (spec.v_start, spec.q_start);
        let motion = Arc::new(motion);
        // At once: a joint off its table would get there in one step, at whatever speed.
        let (position, rate) = motion.at(time);
        // Two laws for one coordinate: the drive would only load the constraint.
        robot.drives.enabled[dof] = false;
        let (mut q, mut v) = (robot.q.clone(), robot.v.clone());
        (q[coordinate], v[dof]) = (position, rate);
        robot.loops.prescribe(&model, PrescribedCoordinate { dof, coordinate, position, rate });
        robot.prescribed.retain(|other| other.joint != joint);
        robot.prescribed.push(PrescribedJoint { joint, motion });
        robot.set_state(&q, &v);
        self.place_colliders();
        Ok(())
    }

    /// Sets position and mean rate of prescribed joints for the step that begins: `v' = (q_d(t + h) − q)/h`.
    pub(crate) fn update_prescribed_joints(&mut self) {
        let (end, h) = (self.time_at_end(), self.settings.dt);
        for robot in self.state.robots.iter_mut().flatten() {
            for (p, joint) in robot.loops.prescribed.iter_mut().zip(&robot.prescribed) {
                p.position = joint.motion.at(end).0;
                // From the joint as it is, so that nothing adds up.
                p.rate = (p.position - robot.q[p.coordinate]) / h;
            }
        }
    }

    /// Joints that move as prescribed, each with its distance from its table: more than rounding where loops contradict.
    /// [rad or m]
    pub fn prescribed_joints(&self, id: RobotId) -> impl Iterator<Item = (BodyId, f64)> + '_ {
        let robot = self.robot_ref(id);
        let rows = robot.prescribed.iter().zip(&robot.loops.prescribed);
        rows.map(|(joint, p)| (joint.joint, robot.q[p.coordinate] - p.position))
    }

    /// Lets [`Self::mimic_effort`] and [`Self::loop_wrench`] tell of the steps from now on; costs time, and changes no bit.
    pub fn record_reactions(&mut self, on: bool) {
        self.account.records_reactions = on;
    }

    /// Mean effort that a coupling of the model (mimic joint) gives its follower in the last step; its leader gets
    /// `-multiplier` times as much. NaN where it was not recorded, or is not known: springs in free motion, and the
    /// integrator `variational` there. [N·m or N]
    pub fn mimic_effort(&self, id: RobotId, coupling: usize) -> f64 {
        let robot = self.robot_ref(id);
        let first = robot.model.loops.iter().map(|l| count(l.locked)).sum::<usize>();
        robot.reactions.get(first + coupling).copied().unwrap_or(f64::NAN)
    }

    /// Mean wrench of a loop joint of the model on its body B in the last step, at B's joint frame, in the axes of A's.
    /// Where the mechanism is redundant, one of those that do. NaN as of [`Self::mimic_effort`]. [N·m; N]
    pub fn loop_wrench(&self, id: RobotId, index: usize) -> Force {
        let robot = self.robot_ref(id);
        let loops = &robot.model.loops;
        let first = loops[..index].iter().map(|l| count(l.locked)).sum::<usize>();
        let mut rows = robot.reactions.get(first..).unwrap_or_default().iter();
        let mut six = [0.0; 6];
        for (value, _) in six.iter_mut().zip(&loops[index].locked).filter(|(_, locked)| **locked) {
            *value = rows.next().copied().unwrap_or(f64::NAN);
        }
        let [a, b, c, x, y, z] = six;
        Force::new(Vector3::new(a, b, c), Vector3::new(x, y, z))
    }

    /// Finds the multipliers of loops, couplings and prescribed joints in the step; adds the last to the efforts. Needs the
    /// dynamics of the step's start, and the impulses of all rows.
    pub(crate) fn compute_reactions(&mut self) {
        let h = self.settings.dt;
        for robot in self.state.robots.iter_mut().flatten().filter(|r| !r.loops.is_empty()) {
            let holds = !robot.prescribed.is_empty();
            // Only methods whose momentum balance is at the step's start leave a residual that is the loops' alone.
            let known = !robot.free_motion.on
                || (robot.free_motion.method == Method::Midpoint && !robot.springs.any());
            if !known || !(holds || self.account.records_reactions) {
                robot.reactions.clear();
                continue;
            }
            // `r` takes the whole mass matrix, which an articulated factor does not make.
            robot.complete_mass_matrix();
            let run = robot.start..robot.start + robot.v.len();
            // `J_Lᵀ λ = r`, with what the step's change of momentum leaves unexplained as `r`.
            robot.unexplained(&self.pipeline.problem.velocity[run], h);
            if !robot.free_motion.on {
                let rows = self.pipeline.rows.iter().zip(&self.pipeline.problem.blocks);
                for (_, block) in rows.filter(|(row, _)| row.account != Account::Drive) {
                    take_impulses(&self.pipeline.problem, block, robot.start, &mut robot.residual);
                }
            }
            let crate::state::robot::Robot { loops, model, factor, residual, reactions, .. } =
                robot;
            let multipliers = loops.reactions(model, factor, residual);
            reactions.clear();
            reactions.extend(multipliers.iter().map(|m| m / h));
            // Prescribed coordinates are the last rows of the projection.
            let first = reactions.len() - robot.prescribed.len();
            for (p, effort) in robot.loops.prescribed.iter().zip(&robot.reactions[first..]) {
                robot.efforts[p.dof] += effort;
            }
        }
    }
}

fn count(locked: [bool; 6]) -> usize {
    locked.iter().filter(|&&l| l).count()
}
