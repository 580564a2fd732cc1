//! The feed-forward controller: trajectories of all groups in, drive targets and feed-forward efforts out.
//!
//! Each group's machine gives the desired state of its joints one period from now; inverse dynamics gives the efforts of that
//! motion, with the payload carried and the forces exerted on the surroundings; friction is added; feedback and the
//! drives' servos only correct what is left: `τ = τ_ff + τ_fb + K (q_d − q) + D (v_d − v)`. [Isobe 2003]
//! A trajectory may ask for jumps of acceleration: corners between points without velocities, a preempted motion, more speed
//! than a joint has. No motor makes them and no gear likes them, so `τ_ff + τ_fb` changes at a bounded rate.
//! Units: rad or m, s, N·m or N. Arrays of a [`Command`] have one entry a joint of the model.

mod feedback;
mod force;
mod settings;

use std::sync::Arc;

use karakuri_dynamics::{Data, forward_kinematics, frame_pose};
use karakuri_model::{BodyId, FrameId, Model};
use karakuri_spatial::Force;

pub use feedback::Gains;
pub use force::{Axes, ForceSettings, TargetWrench};
pub use settings::{ControllerError, FeedforwardSettings, Payload, PreparedSettings};

use crate::inverse_dynamics::{DesiredMotion, InverseDynamics, Realised};
use crate::joint_trajectory::{FinishedGoal, GroupSettings, JointTrajectoryMachine};
use crate::trajectory::JointSample;
use feedback::{DriveEffort, Feedback};
use force::ForcePoint;
use karakuri_spatial::Time;

/// The measured state.
#[derive(Debug, Clone, Copy)]
pub struct State<'a> {
    /// Measured positions. [rad or m] (nq)
    pub q: &'a [f64],
    /// Measured velocities. [rad/s or m/s] (nv)
    pub v: &'a [f64],
    /// Efforts of the drives; NaN where unknown, empty if none is. [N·m or N] (nv)
    pub effort: &'a [f64],
}

/// Targets of the joint drives; NaN: not commanded. One entry a joint of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// Desired positions. [rad or m] (n joints)
    pub position: Vec<f64>,
    /// Desired velocities. [rad/s or m/s] (n joints)
    pub velocity: Vec<f64>,
    /// Efforts besides the drives' servos: feed-forward and feedback. [N·m or N] (n joints)
    pub effort: Vec<f64>,
}

impl Command {
    /// Command in which no joint is commanded.
    pub fn new(model: &Model) -> Self {
        let none = vec![f64::NAN; model.joints.len()];
        Self { position: none.clone(), velocity: none.clone(), effort: none }
    }
}

/// A goal that ended in one of the groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupEvent {
    /// Index of the group.
    pub group: usize,
    /// The goal and how it ended.
    pub finished: FinishedGoal,
}

/// Status of an update.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Status {
    /// Residuals of the inverse dynamics.
    pub realised: Realised,
    /// A joint whose feed-forward was cut at its effort limit.
    pub saturated: Option<BodyId>,
    /// The state had not come for longer than the time-out: every goal was ended, every group holds where it is.
    pub was_stale: bool,
    /// A joint that was not where it was commanded: its group's goal was ended, the group holds where it is.
    pub not_following: Option<BodyId>,
}

/// Law that turns states into commands, one period at a time.
pub trait Controller: core::fmt::Debug + Send {
    /// The command for the period that starts at `now` and lasts `dt`, from the state measured at `now`. [s]
    fn update(&mut self, state: &State<'_>, now: Time, dt: f64, command: &mut Command) -> Status;

    /// Ends the active motions and brakes.
    fn hold(&mut self);
}

/// One group of joints and its machine.
#[derive(Debug, Clone)]
pub struct Group {
    /// Name, such as `arm`.
    pub name: String,
    /// Joints in the order of the machine's arrays.
    pub joints: Vec<BodyId>,
    /// Machine that runs the group's trajectories.
    pub machine: JointTrajectoryMachine,
    position: Vec<f64>,
    velocity: Vec<f64>,
    feedback: Vec<Feedback>,
    /// Efforts of the last command; NaN before the first. [N·m or N]
    efforts: Vec<f64>,
}

/// The feed-forward controller; see the module.
#[derive(Debug, Clone)]
pub struct FeedforwardController {
    model: Arc<Model>,
    /// The model with its payload, when there is one.
    loaded: Option<Model>,
    settings: FeedforwardSettings,
    method: Box<dyn InverseDynamics>,
    groups: Vec<Group>,
    events: Vec<GroupEvent>,
    last: Option<(Time, Status)>,
    /// Position and velocity at the last update.
    measured: (Vec<f64>, Vec<f64>),
    q: Vec<f64>,
    v: Vec<f64>,
    vdot: Vec<f64>,
    tau: Vec<f64>,
    driven: Vec<bool>,
    forces: Vec<ForcePoint>,
    data: Data,
    /// Wrench on every body at its origin, in world axes. [N·m; N] (n bodies)
    external: Vec<Force>,
}

impl FeedforwardController {
    /// Controller of a robot whose YAML names joint groups.
    ///
    /// # Errors
    ///
    /// If there are no groups, a joint of a group does not have one degree of freedom, or the settings are invalid.
    pub fn new(model: Arc<Model>, settings: FeedforwardSettings) -> Result<Self, ControllerError> {
        if model.groups.is_empty() {
            return Err(ControllerError::NoGroups { robot: model.name.clone() });
        }
        let loaded = settings.check(&model)?;
        let method = settings.find_method(loaded.as_ref().unwrap_or(&model))?;
        let mut driven = vec![false; model.nv];
        let mut groups = Vec::new();
        for group in &model.groups {
            for &id in &group.joints {
                let joint = &model.joints[id.0];
                if joint.kind.nv() != 1 {
                    return Err(ControllerError::NotOneDof {
                        joint: joint.name.clone(),
                        group: group.name.clone(),
                        dofs: joint.kind.nv(),
                    });
                }
                driven[joint.v_start] = true;
            }
            let zeros = vec![0.0; group.joints.len()];
            groups.push(Group {
                name: group.name.clone(),
                joints: group.joints.clone(),
                machine: JointTrajectoryMachine::new(GroupSettings::for_group(&model, group)),
                position: zeros.clone(),
                velocity: zeros,
                feedback: vec![Feedback::default(); group.joints.len()],
                efforts: vec![f64::NAN; group.joints.len()],
            });
        }
        // A group ends at most two goals in an update: one by a lost state, one in the update itself.
        let events = Vec::with_capacity(2 * groups.len());
        let zeros = vec![0.0; model.nv];
        Ok(Self {
            measured: (model.neutral_position(), zeros.clone()),
            q: model.neutral_position(),
            v: zeros.clone(),
            vdot: zeros.clone(),
            tau: zeros,
            forces: Vec::new(),
            data: Data::new(&model),
            external: vec![Force::default(); model.bodies.len()],
            model,
            loaded,
            settings,
            method,
            groups,
            events,
            last: None,
            driven,
        })
    }

    /// Model of the robot, without payload.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The groups, in the robot YAML's order.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// A group's machine, to give it goals. `None` when there is no such group.
    pub fn machine_mut(&mut self, group: usize) -> Option<&mut JointTrajectoryMachine> {
        self.groups.get_mut(group).map(|g| &mut g.machine)
    }

    /// Goals that ended in the last update.
    pub fn events(&self) -> &[GroupEvent] {
        &self.events
    }

    /// The settings in force.
    pub fn settings(&self) -> &FeedforwardSettings {
        &self.settings
    }

    /// Changes settings between two updates.
    ///
    /// # Errors
    ///
    /// If the settings are invalid; those in force stay.
    pub fn set_settings(&mut self, settings: FeedforwardSettings) -> Result<(), ControllerError> {
        let mut prepared = PreparedSettings::new(&self.model, &self.settings, settings)?;
        self.apply(&mut prepared);
        Ok(())
    }

    /// Puts settings into force that were prepared to follow those in force. Nothing is allocated or freed: what was in force
    /// is left in `prepared`.
    pub fn apply(&mut self, prepared: &mut PreparedSettings) {
        core::mem::swap(&mut self.settings, &mut prepared.settings);
        if let Some((method, loaded)) = &mut prepared.rebuilt {
            core::mem::swap(&mut self.method, method);
            core::mem::swap(&mut self.loaded, loaded);
        }
    }

    /// Lets a link exert forces on its surroundings; returns the index by which to set them.
    ///
    /// # Errors
    ///
    /// If the robot has no such link, or the link does not move.
    pub fn add_force_point(&mut self, link: &str) -> Result<usize, ControllerError> {
        let (frame, body) = settings::moving_link(&self.model, link)?;
        self.forces.push(ForcePoint::new(frame, body));
        Ok(self.forces.len() - 1)
    }

    /// The links that may exert forces, in the order of their indices.
    pub fn force_points(&self) -> impl Iterator<Item = FrameId> {
        self.forces.iter().map(ForcePoint::frame)
    }

    /// Sets the force that a link exerts on its surroundings from `now` on; it fades unless it is set repeatedly.
    pub fn set_target_wrench(&mut self, point: usize, target: TargetWrench, now: Time) {
        if let Some(point) = self.forces.get_mut(point) {
            point.set_target(target, now);
        }
    }

    /// Sets the wrench of the surroundings on a link, measured at `now` at its origin, in its axes. [N·m; N]
    pub fn set_measured_wrench(&mut self, point: usize, wrench: Force, now: Time) {
        if let Some(point) = self.forces.get_mut(point) {
            point.set_measured(wrench, now);
        }
    }

    /// Restarts all machines, as a reset put the robot elsewhere at the same instant.
    fn restart(&mut self) {
        for (index, group) in self.groups.iter_mut().enumerate() {
            if let Some(finished) = group.machine.restart() {
                self.events.push(GroupEvent { group: index, finished });
            }
        }
    }

    fn run_machines(&mut self, state: &State<'_>, now: Time, dt: f64, stale: bool) {
        for (index, group) in self.groups.iter_mut().enumerate() {
            for (k, id) in group.joints.iter().enumerate() {
                let joint = &self.model.joints[id.0];
                group.position[k] = state.q[joint.q_start];
                group.velocity[k] = state.v[joint.v_start];
            }
            // Before the update, so that the group holds in this very period.
            let ended = if stale { group.machine.lose_state() } else { None };
            let updated = group.machine.update(now, dt, &group.position, &group.velocity);
            if group.machine.has_restarted() {
                // What the integrals learnt was of another place or time, and so was where the loops were closed.
                group.feedback.fill(Feedback::default());
                self.method.restart();
                // A robot put elsewhere takes any effort at once; one that does not follow still stands under its last ones.
                if group.machine.not_following().is_none() {
                    group.efforts.fill(f64::NAN);
                }
            }
            for finished in [ended, updated].into_iter().flatten() {
                self.events.push(GroupEvent { group: index, finished });
            }
        }
    }

    /// Lets a hand press on with what its drive gives beyond the desired motion: what it held for a commander that went away is
    /// not dropped.
    fn take_over_grip(&mut self, measured: &[f64]) {
        let Some(hand) = &self.model.end_effector else { return };
        for group in &mut self.groups {
            for (k, id) in
                group.joints.iter().enumerate().filter(|(_, id)| hand.joints.contains(id))
            {
                let joint = &self.model.joints[id.0];
                let given = measured.get(joint.v_start).filter(|effort| effort.is_finite());
                // A drive that measures no effort leaves the hand where it is.
                let Some(given) = given else { continue };
                let limit = joint.limits.effort;
                let press = (given - self.tau[joint.v_start]).clamp(-limit, limit);
                group.machine.press(k, press, joint.drive.map_or(0.0, |drive| drive.stiffness));
            }
        }
    }

    /// Efforts of the desired motion and of the forces to exert, in `tau`.
    fn feed_forward(&mut self, state: &State<'_>, now: Time, dt: f64) -> Realised {
        self.q.copy_from_slice(state.q);
        // What no group commands is taken where it was measured and at rest: nobody knows where it is going.
        self.v.fill(0.0);
        self.vdot.fill(0.0);
        for group in &self.groups {
            for (id, command) in group.joints.iter().zip(group.machine.command()) {
                let joint = &self.model.joints[id.0];
                self.q[joint.q_start] = command.position;
                self.v[joint.v_start] = command.velocity;
                self.vdot[joint.v_start] = command.acceleration;
            }
        }
        let exerts = self.fill_external(now, dt);
        let motion = DesiredMotion {
            q: &self.q,
            v: &self.v,
            vdot: &self.vdot,
            driven: &self.driven,
            external: if exerts { &self.external } else { &[] },
        };
        let model = self.loaded.as_ref().unwrap_or(&self.model);
        self.method.efforts(model, &motion, &mut self.tau)
    }

    /// Reactions of the surroundings on the bodies to the forces that the links exert; false when there are none.
    fn fill_external(&mut self, now: Time, dt: f64) -> bool {
        if self.forces.iter().all(ForcePoint::is_idle) {
            return false;
        }
        // Places alone are needed, which a payload does not change.
        forward_kinematics(&self.model, &mut self.data, &self.q);
        self.external.fill(Force::default());
        for point in &mut self.forces {
            let X_WL = frame_pose(&self.model, &self.data, point.frame());
            let F = point.wrench(&self.settings.force, &X_WL.rotation, now, dt);
            let body = point.body().0;
            let arm = X_WL.translation - self.data.pose_in_world[body].translation;
            // The surroundings react with −F at the link's origin; about the body's origin the moment gains arm × F.
            self.external[body] -= Force::new(F.moment + arm.cross(&F.force), F.force);
        }
        true
    }

    /// Effort of one joint besides its drive's servo, within its limit; true when it had to be cut.
    fn joint_effort(&mut self, group: usize, index: usize, dt: f64) -> (f64, bool) {
        let Group { joints, machine, feedback, efforts, .. } = &mut self.groups[group];
        let id = joints[index];
        let (desired, error) = (&machine.command()[index], &machine.error()[index]);
        let joint = &self.model.joints[id.0];
        let mut effort = self.tau[joint.v_start];
        if self.settings.friction_compensation {
            // Dry friction opposes the desired motion; below `friction_speed` it is compensated in proportion.
            // By the desired velocity: the measured one changes its sign with the noise at rest, and the effort would chatter.
            let speed = desired.velocity / self.settings.friction_speed;
            effort += joint.friction * speed.clamp(-1.0, 1.0);
        }
        // The trajectory's own effort is a command and not an estimate of the model: it is not scaled.
        effort = effort * self.settings.feedforward_scale + desired.effort;
        let limit = joint.limits.effort;
        let gains = self.settings.gains.get(id.0).copied().unwrap_or_default();
        // The drive's servo counts here only against wind-up of the integral.
        let servo = joint.drive.map_or(0.0, |d| servo_effort(d, error));
        let drive = DriveEffort { others: effort + servo, limit };
        effort += feedback[index].effort(&gains, error, drive, dt);
        // An effort that is not a number must not reach a motor.
        if effort.is_nan() {
            return (0.0, true);
        }
        let within = effort.clamp(-limit, limit);
        let last = &mut efforts[index];
        // As a share of the limit, one rate suits motors of any size.
        let reach = self.settings.effort_rate * limit * dt;
        // From nothing any effort is reached at once, as it is without a limit.
        *last = if last.is_nan() || !reach.is_finite() {
            within
        } else {
            within.clamp(*last - reach, *last + reach)
        };
        // By what was asked, not by what the bounded rate leaves of it.
        (*last, effort.abs() > limit)
    }
}

/// Effort of the drive's own servo.
fn servo_effort(drive: karakuri_model::Drive, error: &JointSample) -> f64 {
    drive.stiffness * error.position + drive.damping * error.velocity
}

impl Controller for FeedforwardController {
    fn update(&mut self, state: &State<'_>, now: Time, dt: f64, command: &mut Command) -> Status {
        let mut status = Status::default();
        self.events.clear();
        // After a reset that set time back, too: what then happens is what happened at the start.
        let is_first = self.last.is_none_or(|(last, _)| now < last);
        let mut moved = false;
        if let Some((last, previous)) = self.last {
            // Equal to the bit: a paused simulation repeats its sample exactly.
            let same_place = self.measured.0 == state.q && self.measured.1 == state.v;
            if last == now && same_place {
                // The same instant again (a paused simulation) gets the same answer: `command` holds it.
                return previous;
            }
            // Another place at the same instant: the simulation was reset while its time stood still.
            moved = last == now;
            let timeout = self.settings.state_timeout;
            status.was_stale = timeout > 0.0 && now.seconds_since(last) > timeout;
        }
        self.measured.0.copy_from_slice(state.q);
        self.measured.1.copy_from_slice(state.v);
        // Before the machines run, so that they hold the place of this sample.
        if moved {
            self.restart();
        }
        // Forces were asked of a robot at another place or in contact with something else.
        if moved || is_first || status.was_stale {
            self.forces.iter_mut().for_each(ForcePoint::release);
        }
        self.run_machines(state, now, dt, status.was_stale);
        status.realised = self.feed_forward(state, now, dt);
        // After inverse dynamics, because the press is what the drive gives beyond it.
        if is_first || status.was_stale {
            self.take_over_grip(state.effort);
        }
        for index in 0..self.groups.len() {
            let lost = self.groups[index].machine.not_following();
            let lost = lost.map(|s| self.groups[index].joints[s.joint]);
            status.not_following = status.not_following.or(lost);
            for k in 0..self.groups[index].joints.len() {
                let (effort, cut) = self.joint_effort(index, k, dt);
                let group = &self.groups[index];
                let (id, desired) = (group.joints[k], &group.machine.command()[k]);
                if cut {
                    status.saturated.get_or_insert(id);
                }
                command.position[id.0] = desired.position;
                command.velocity[id.0] = desired.velocity;
                command.effort[id.0] = effort;
            }
        }
        self.last = Some((now, status));
        status
    }

    fn hold(&mut self) {
        for (group, g) in self.groups.iter_mut().enumerate() {
            if let Some(finished) = g.machine.deactivate() {
                self.events.push(GroupEvent { group, finished });
            }
        }
    }
}
