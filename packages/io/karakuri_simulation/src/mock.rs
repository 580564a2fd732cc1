//! Mock of a robot without a body: every joint follows its drive alone, `m·a = k·(q_d − q) + d·(v_d − v)`, clipped at the
//! effort limit, with backward Euler so that any gain is stable. Gravity and coupling are absent, and so is the feed-forward
//! that would balance them. Contacts are never felt. Good for trying a whole pipeline on a laptop.

use std::sync::Arc;

use karakuri_dynamics::{Data, crba};
use karakuri_hardware::{JointCommand, RobotIo, RobotIoError, RobotLayout, RobotState};
use karakuri_model::{Drive, Limits, Model};

/// One mocked robot.
#[derive(Debug, Clone)]
pub struct Mock {
    layouts: Vec<RobotLayout>,
    axes: Vec<Axis>,
    period: f64,
    ticks: u64,
}

/// Joint of the mock, independent of the others.
#[derive(Debug, Clone, Copy)]
struct Axis {
    /// Inertia at the drive, of the mass matrix and the rotor. [kg·m² or kg]
    inertia: f64,
    drive: Option<Drive>,
    limits: Limits,
    position: f64,
    velocity: f64,
    effort: f64,
    target: f64,
    target_velocity: f64,
}

impl Mock {
    /// Mock of a robot at posture `q` (nq), sampled every `period` [s].
    pub fn new(name: &str, model: &Arc<Model>, q: &[f64], period: f64) -> Self {
        let mut data = Data::new(model);
        let mass_matrix = crba(model, &mut data, q);
        let layout = RobotLayout::new(name, Arc::clone(model));
        let axes = layout
            .joints
            .iter()
            .map(|j| {
                let joint = &model.joints[j.body.0];
                Axis {
                    inertia: mass_matrix[(j.v, j.v)] + joint.armature,
                    drive: joint.drive,
                    limits: joint.limits,
                    position: q[j.q],
                    velocity: 0.0,
                    effort: 0.0,
                    target: q[j.q],
                    target_velocity: 0.0,
                }
            })
            .collect();
        Self { layouts: vec![layout], axes, period, ticks: 0 }
    }

    /// Moves mimic joints with their leaders; loops stay open, as the mock has no constraint solver.
    fn follow_couplings(&mut self) {
        let layout = &self.layouts[0];
        let index = |body| layout.joints.iter().position(|j| j.body == body);
        for coupling in &layout.model.couplings {
            if let (Some(follower), Some(leader)) =
                (index(coupling.follower), index(coupling.leader))
            {
                let leader = self.axes[leader];
                let axis = &mut self.axes[follower];
                axis.position = coupling.multiplier * leader.position + coupling.offset;
                axis.velocity = coupling.multiplier * leader.velocity;
            }
        }
    }
}

impl Axis {
    fn advance(&mut self, dt: f64) {
        let Some(drive) = self.drive else { return };
        // Backward Euler, with the unknown v⁺ on both sides: (m + Δt (d + Δt k)) v⁺ = m v + Δt (k (q_d − q) + d v_d).
        let servo = drive.damping + dt * drive.stiffness;
        let effort = |velocity: f64| {
            drive.stiffness * (self.target - self.position - dt * velocity)
                + drive.damping * (self.target_velocity - velocity)
        };
        let impulse =
            drive.stiffness * (self.target - self.position) + drive.damping * self.target_velocity;
        let free = (self.inertia * self.velocity + dt * impulse) / (self.inertia + dt * servo);
        self.effort = effort(free).clamp(-self.limits.effort, self.limits.effort);
        self.velocity += dt * self.effort / self.inertia.max(f64::MIN_POSITIVE);
        self.velocity = self.velocity.clamp(-self.limits.velocity, self.limits.velocity);
        let desired = self.position + dt * self.velocity;
        self.position = desired.clamp(self.limits.lower, self.limits.upper);
        if self.position.to_bits() != desired.to_bits() {
            self.velocity = 0.0;
        }
    }
}

impl RobotIo for Mock {
    fn robots(&self) -> &[RobotLayout] {
        &self.layouts
    }

    fn period(&self) -> f64 {
        self.period
    }

    fn time(&self) -> f64 {
        self.ticks as f64 * self.period
    }

    fn write(&mut self, robot: usize, command: &JointCommand) -> Result<(), RobotIoError> {
        self.layouts[robot].check(command)?;
        for (i, axis) in self.axes.iter_mut().enumerate() {
            if command.position[i].is_finite() {
                axis.target = command.position[i];
            }
            if command.velocity[i].is_finite() {
                axis.target_velocity = command.velocity[i];
            }
        }
        Ok(())
    }

    fn hold(&mut self, _robot: usize, gripping: bool) {
        for (axis, joint) in self.axes.iter_mut().zip(&self.layouts[0].joints) {
            axis.target_velocity = 0.0;
            if !(gripping && joint.grips) {
                axis.target = axis.position;
            }
        }
    }

    fn advance(&mut self) -> Result<(), RobotIoError> {
        for axis in &mut self.axes {
            axis.advance(self.period);
        }
        self.follow_couplings();
        self.ticks += 1;
        Ok(())
    }

    fn read(&self, _robot: usize, state: &mut RobotState) {
        for (i, axis) in self.axes.iter().enumerate() {
            state.position[i] = axis.position;
            state.velocity[i] = axis.velocity;
            state.effort[i] = axis.effort;
        }
    }
}
