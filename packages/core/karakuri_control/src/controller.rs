//! The feed-forward controller: trajectories of all groups in, drive targets and feed-forward efforts out.
//!
//! Each group's machine gives where its joints shall be one period from now; inverse dynamics gives the efforts of that
//! motion; the drives' servos only correct what is left: `τ = τ_ff + K (q_d − q) + D (v_d − v)`.
//! Units: rad or m, s, N·m or N. Arrays of a [`Command`] have one entry a joint of the model.

use std::sync::Arc;

use karakuri_model::{BodyId, Model};

use crate::Time;
use crate::inverse_dynamics::{InverseDynamics, METHODS, Motion, Realised, method};
use crate::joint_trajectory::{FinishedGoal, GroupSettings, JointTrajectoryMachine};

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub struct State<'a> {
    /// [rad or m] (nq)
    pub q: &'a [f64],
    /// [rad/s or m/s] (nv)
    pub v: &'a [f64],
}

/// Targets of the joint drives; NaN is: not commanded. One entry a joint of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// [rad or m] (n joints)
    pub position: Vec<f64>,
    /// [rad/s or m/s] (n joints)
    pub velocity: Vec<f64>,
    /// Feed-forward. [N·m or N] (n joints)
    pub effort: Vec<f64>,
}

impl Command {
    /// Nothing commanded.
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

/// How an update went.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Status {
    /// How well the motion could be realised.
    pub realised: Realised,
    /// A joint whose feed-forward was cut at its effort limit.
    pub saturated: Option<BodyId>,
    /// The state had not come for longer than the time-out: every goal was ended, every group holds where it is.
    pub was_stale: bool,
    /// A joint that was not where it was commanded: its group's goal was ended, the group holds where it is.
    pub not_following: Option<BodyId>,
}

/// Settings of the controller.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedforwardSettings {
    /// Name of the inverse-dynamics method.
    pub method: String,
    /// 0 leaves the feed-forward out, 1 applies all of it. [-]
    pub feedforward_scale: f64,
    /// Adds the joints' dry friction in the direction of the wanted motion.
    pub friction_compensation: bool,
    /// Longest time between two states before every group holds; 0 never. [s]
    pub state_timeout: f64,
}

impl Default for FeedforwardSettings {
    fn default() -> Self {
        Self {
            method: "recursive".to_owned(),
            feedforward_scale: 1.0,
            friction_compensation: true,
            state_timeout: 0.5,
        }
    }
}

/// Why a controller cannot be made or changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ControllerError {
    /// No such method.
    #[error("inverse-dynamics method `{name}` is not known; there are: {known}")]
    UnknownMethod {
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The robot has no joint group.
    #[error(
        "robot `{robot}` has no joint groups; name them in its YAML: `groups: {{arm: [joint, ...]}}`"
    )]
    NoGroups {
        /// Robot name.
        robot: String,
    },
    /// A joint of a group has no single freedom.
    #[error(
        "joint `{joint}` of group `{group}` has {freedoms} freedoms; only joints of one can be commanded"
    )]
    NotOneFreedom {
        /// Joint name.
        joint: String,
        /// Group name.
        group: String,
        /// Its freedoms.
        freedoms: usize,
    },
}

/// Something that turns states into commands, one period at a time.
pub trait Controller: core::fmt::Debug + Send {
    /// The command for the period that starts at `now` and lasts `dt`, from the state measured at `now`. [s]
    fn update(&mut self, state: &State<'_>, now: Time, dt: f64, command: &mut Command) -> Status;

    /// Ends what is under way and brakes.
    fn hold(&mut self);
}

/// One group of joints and its machine.
#[derive(Debug)]
pub struct Group {
    /// Name, such as `arm`.
    pub name: String,
    /// Joints in the order of the machine's arrays.
    pub joints: Vec<BodyId>,
    /// The machine.
    pub machine: JointTrajectoryMachine,
    position: Vec<f64>,
    velocity: Vec<f64>,
}

/// See the module.
#[derive(Debug)]
pub struct FeedforwardController {
    model: Arc<Model>,
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
}

/// Below this speed dry friction is compensated in proportion. [rad/s or m/s]
const FRICTION_SPEED: f64 = 0.01;

impl FeedforwardController {
    /// For a robot whose YAML names joint groups.
    pub fn new(model: Arc<Model>, settings: FeedforwardSettings) -> Result<Self, ControllerError> {
        if model.groups.is_empty() {
            return Err(ControllerError::NoGroups { robot: model.name.clone() });
        }
        let method = find_method(&settings.method, &model)?;
        let mut driven = vec![false; model.nv];
        let mut groups = Vec::new();
        for group in &model.groups {
            for &id in &group.joints {
                let joint = &model.joints[id.0];
                if joint.kind.nv() != 1 {
                    return Err(ControllerError::NotOneFreedom {
                        joint: joint.name.clone(),
                        group: group.name.clone(),
                        freedoms: joint.kind.nv(),
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
            });
        }
        let events = Vec::with_capacity(2 * groups.len());
        let zeros = vec![0.0; model.nv];
        Ok(Self {
            measured: (model.neutral_position(), zeros.clone()),
            q: model.neutral_position(),
            v: zeros.clone(),
            vdot: zeros.clone(),
            tau: zeros,
            model,
            settings,
            method,
            groups,
            events,
            last: None,
            driven,
        })
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
    pub fn set_settings(&mut self, settings: FeedforwardSettings) -> Result<(), ControllerError> {
        if settings.method != self.settings.method {
            self.method = find_method(&settings.method, &self.model)?;
        }
        self.settings = settings;
        Ok(())
    }

    /// A reset put the robot elsewhere at the same instant.
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
            let ended = if stale { group.machine.lose_state() } else { None };
            let updated = group.machine.update(now, dt, &group.position, &group.velocity);
            for finished in [ended, updated].into_iter().flatten() {
                self.events.push(GroupEvent { group: index, finished });
            }
        }
    }

    /// Efforts of the wanted motion, in `tau`.
    fn feed_forward(&mut self, state: &State<'_>) -> Realised {
        self.q.copy_from_slice(state.q);
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
        let motion = Motion { q: &self.q, v: &self.v, vdot: &self.vdot, driven: &self.driven };
        self.method.efforts(&self.model, &motion, &mut self.tau)
    }
}

fn find_method(name: &str, model: &Model) -> Result<Box<dyn InverseDynamics>, ControllerError> {
    method(name, model).ok_or_else(|| ControllerError::UnknownMethod {
        name: name.to_owned(),
        known: METHODS.join(", "),
    })
}

impl Controller for FeedforwardController {
    fn update(&mut self, state: &State<'_>, now: Time, dt: f64, command: &mut Command) -> Status {
        let mut status = Status::default();
        self.events.clear();
        let mut moved = false;
        if let Some((last, previous)) = self.last {
            let same_place = self.measured.0 == state.q && self.measured.1 == state.v;
            if last == now && same_place {
                // The same instant again (a paused simulation) gets the same answer: `command` holds it.
                return previous;
            }
            moved = last == now;
            let timeout = self.settings.state_timeout;
            status.was_stale = timeout > 0.0 && now.since(last) > timeout;
        }
        self.measured.0.copy_from_slice(state.q);
        self.measured.1.copy_from_slice(state.v);
        if moved {
            self.restart();
        }
        self.run_machines(state, now, dt, status.was_stale);
        status.realised = self.feed_forward(state);
        for group in &self.groups {
            let lost = group.machine.not_following().map(|s| group.joints[s.joint]);
            status.not_following = status.not_following.or(lost);
            for (id, wanted) in group.joints.iter().zip(group.machine.command()) {
                let joint = &self.model.joints[id.0];
                let mut effort = self.tau[joint.v_start];
                if self.settings.friction_compensation {
                    effort += joint.friction * (wanted.velocity / FRICTION_SPEED).clamp(-1.0, 1.0);
                }
                effort = effort * self.settings.feedforward_scale + wanted.effort;
                let limit = joint.limits.effort;
                // An effort that is not a number must not reach a motor.
                if effort.is_nan() || effort.abs() > limit {
                    status.saturated.get_or_insert(*id);
                    effort = if effort.is_nan() { 0.0 } else { effort.clamp(-limit, limit) };
                }
                command.position[id.0] = wanted.position;
                command.velocity[id.0] = wanted.velocity;
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
