//! The whole run, planned and checked before anything moves.
//!
//! The tool looks down and closes across the object at one of four yaws; of those whose whole way has an inverse
//! kinematics the one with the shortest way of the joints is taken. Carrying moves are slowed until the slip condition
//! holds at every sampled instant.
//! Units: m, rad, s; world axes.

use karakuri_control::cartesian::{MoveError, MoveLimits, MovePlanner};
use karakuri_control::trajectory::JointTrajectory;
use karakuri_model::{Base, Model};
use karakuri_spatial::{Matrix3, Pose, Vector3};

use super::{Measurement, ObjectPose, PickAndPlaceGoal, PickAndPlaceSettings, Stage};
use crate::EndEffector;
use crate::slip::{Grip, required_force};

/// Room between a fingertip and what the object stands on. [m]
const TIP_CLEARANCE: f64 = 0.004;
/// Spacing of the instants at which a carrying move is checked. [s]
const CHECK_PERIOD: f64 = 0.005;
/// [m/s²]
const GRAVITY: f64 = 9.81;
/// A carrying move slowed more often than this is not held by slowing it.
const SLOWINGS: usize = 20;

/// Why a goal is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// One run at a time.
    #[error("a pick and place is under way; cancel it first")]
    Busy,
    /// A number makes no sense.
    #[error("{what} is {value}; it must be {range}")]
    Range {
        /// Which number.
        what: &'static str,
        /// The value given.
        value: f64,
        /// What it may be.
        range: String,
    },
    /// The grip cannot hold the object.
    #[error(
        "holding {mass} kg needs {needed:.1} N a finger (friction {friction}, safety {safety}); {given:.1} N are wanted and {highest:.1} N possible"
    )]
    TooHeavy {
        /// [kg]
        mass: f64,
        /// [-]
        friction: f64,
        /// [-]
        safety: f64,
        /// [N]
        needed: f64,
        /// [N]
        given: f64,
        /// [N]
        highest: f64,
    },
    /// No yaw has a way.
    #[error("unreachable: {stage}: {why}")]
    Unreachable {
        /// Where it fails, of the yaw that came furthest.
        stage: Stage,
        /// Joint or distance that is short.
        why: String,
    },
    /// The robot has no arm.
    #[error("robot `{robot}` has no joint group for its arm")]
    NoArm {
        /// Robot name.
        robot: String,
    },
}

/// Trajectories of a run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Opening round the object. [m]
    pub open: f64,
    /// Width of the object between the fingers. [m]
    pub width: f64,
    approach: JointTrajectory,
    descend: JointTrajectory,
    lift: JointTrajectory,
    transit: JointTrajectory,
    lower: JointTrajectory,
    retreat: JointTrajectory,
    joints: Vec<karakuri_model::BodyId>,
}

/// Tool poses of one yaw.
struct Poses {
    above_pick: Pose,
    pick: Pose,
    above_place: Pose,
    place: Pose,
}

/// One way to do it, and how long its joints move.
type Way = (f64, Plan);

impl Plan {
    pub(super) fn new(
        model: &Model,
        hand: &dyn EndEffector,
        goal: &PickAndPlaceGoal,
        settings: &PickAndPlaceSettings,
        q: &[f64],
    ) -> Result<Self, PlanError> {
        check(hand, goal, settings)?;
        let Some(arm) = model.groups.first() else {
            return Err(PlanError::NoArm { robot: model.name.clone() });
        };
        let mut planner = MovePlanner::new(model, hand.tool_frame(), &arm.joints);
        let mut best: Option<Way> = None;
        let mut furthest: Option<(usize, PlanError)> = None;
        let (_, highest) = hand.opening_range();
        for quarter in 0..4 {
            // Closing along the object's y at quarters 0 and 2, along its x at 1 and 3.
            let width = if quarter % 2 == 0 { goal.size.y } else { goal.size.x };
            if width + settings.clearance > highest {
                continue;
            }
            let yaw = core::f64::consts::FRAC_PI_2 * f64::from(quarter);
            let poses = poses(hand, goal, settings, width, yaw);
            let open = (width + 2.0 * settings.clearance).min(highest);
            let mut attempt = Attempt { model, goal, settings, planner: &mut planner };
            match attempt.plan(&poses, q, open, width) {
                Ok(way) if best.as_ref().is_none_or(|b| way.0 < b.0) => best = Some(way),
                Ok(_) => {}
                Err((stage, error)) => {
                    if furthest.as_ref().is_none_or(|f| stage as usize > f.0) {
                        let why = error.to_string();
                        furthest = Some((stage as usize, PlanError::Unreachable { stage, why }));
                    }
                }
            }
        }
        match (best, furthest) {
            (Some((_, plan)), _) => Ok(plan),
            (None, Some((_, error))) => Err(error),
            (None, None) => Err(PlanError::Range {
                what: "the object's narrow side [m]",
                value: goal.size.x.min(goal.size.y),
                range: format!(
                    "below {:.4}, the hand's opening less clearance",
                    highest - settings.clearance
                ),
            }),
        }
    }

    /// The arm's trajectory of a stage.
    pub(super) fn trajectory(&self, stage: Stage) -> Option<&JointTrajectory> {
        match stage {
            Stage::Approach => Some(&self.approach),
            Stage::Descend => Some(&self.descend),
            Stage::Lift | Stage::Undo => Some(&self.lift),
            Stage::Move => Some(&self.transit),
            Stage::Lower => Some(&self.lower),
            Stage::Retreat => Some(&self.retreat),
            _ => None,
        }
    }

    /// Planned time of a stage; 0 without a trajectory. [s]
    pub(super) fn duration(&self, stage: Stage) -> f64 {
        self.trajectory(stage).map_or(0.0, JointTrajectory::duration)
    }

    /// Planned time of all motions. [s]
    pub fn motion_time(&self) -> f64 {
        use Stage::{Approach, Descend, Lift, Lower, Move, Retreat};
        [Approach, Descend, Lift, Move, Lower, Retreat].iter().map(|s| self.duration(*s)).sum()
    }

    pub(super) fn progress(&self, stage: Stage, elapsed: f64) -> f64 {
        match self.duration(stage) {
            0.0 => 0.0,
            duration => (elapsed / duration).clamp(0.0, 1.0),
        }
    }

    /// The stage's time is over, and the joints stand where it ends.
    pub(super) fn arrived(
        &self,
        model: &Model,
        settings: &PickAndPlaceSettings,
        stage: Stage,
        elapsed: f64,
        measured: &Measurement<'_>,
    ) -> bool {
        let Some(end) = self.trajectory(stage).and_then(|t| t.points.last()) else { return true };
        elapsed >= end.time_from_start
            && self.joints.iter().zip(&end.positions).all(|(id, wanted)| {
                let joint = &model.joints[id.0];
                (measured.q[joint.q_start] - wanted).abs() < settings.position_tolerance
                    && measured.v[joint.v_start].abs() < settings.velocity_tolerance
            })
    }

    /// The joint that is furthest from the stage's end.
    pub(super) fn describe_error(
        &self,
        model: &Model,
        stage: Stage,
        measured: &Measurement<'_>,
    ) -> String {
        let Some(end) = self.trajectory(stage).and_then(|t| t.points.last()) else {
            return "the fingers did not get where they should".to_owned();
        };
        let errors = self.joints.iter().zip(&end.positions).map(|(id, wanted)| {
            let joint = &model.joints[id.0];
            (joint, wanted - measured.q[joint.q_start])
        });
        errors.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).map_or(String::new(), |(joint, e)| {
            format!("joint `{}` is {e:.4} rad from its goal", joint.name)
        })
    }
}

/// Planning with one yaw.
struct Attempt<'a> {
    model: &'a Model,
    goal: &'a PickAndPlaceGoal,
    settings: &'a PickAndPlaceSettings,
    planner: &'a mut MovePlanner,
}

impl Attempt<'_> {
    fn plan(
        &mut self,
        poses: &Poses,
        q: &[f64],
        open: f64,
        width: f64,
    ) -> Result<Way, (Stage, MoveError)> {
        let model = self.model;
        let free = self.limits(self.settings.speed);
        let slow = self.limits(self.settings.vertical_speed);
        let at = |stage: Stage| move |e: MoveError| (stage, e);
        let q_above = self.start_of_way(poses, q).map_err(at(Stage::Approach))?;
        let approach = self.planner.joint_move(model, q, &q_above, &free);
        let down = MovePlanner::straight(poses.above_pick, poses.pick);
        let (descend, q_pick) =
            self.planner.path_move(model, &q_above, down, &slow).map_err(at(Stage::Descend))?;
        let up = MovePlanner::straight(poses.pick, poses.above_pick);
        let (mut lift, q_lifted) =
            self.planner.path_move(model, &q_pick, up, &slow).map_err(at(Stage::Lift))?;
        let (mut transit, q_there) =
            self.transit(poses, &q_lifted, &free).map_err(at(Stage::Move))?;
        let down = MovePlanner::straight(poses.above_place, poses.place);
        let (mut lower, q_place) =
            self.planner.path_move(model, &q_there, down, &slow).map_err(at(Stage::Lower))?;
        let up = MovePlanner::straight(poses.place, poses.above_place);
        let (retreat, _) =
            self.planner.path_move(model, &q_place, up, &slow).map_err(at(Stage::Retreat))?;
        for trajectory in [&mut lift, &mut transit, &mut lower] {
            self.slow_for_grip(q, trajectory);
        }
        let joints = self.planner.joints().to_vec();
        let plan = Plan { open, width, approach, descend, lift, transit, lower, retreat, joints };
        Ok((plan.approach.duration() + plan.transit.duration(), plan))
    }

    fn limits(&self, speed: f64) -> MoveLimits {
        MoveLimits {
            speed,
            acceleration: self.settings.acceleration,
            joint_speed_scale: self.settings.joint_speed_scale,
            joint_acceleration: self.settings.joint_acceleration,
        }
    }

    /// Above the object: from the measured position if that leads there, else from the model's postures.
    fn start_of_way(&mut self, poses: &Poses, q: &[f64]) -> Result<Vec<f64>, MoveError> {
        let mut best: Option<(f64, Vec<f64>)> = None;
        let mut why = String::new();
        for posture in self.model.postures.iter().map(Some).chain([None]) {
            let mut start = q.to_vec();
            for (id, value) in posture.iter().flat_map(|p| &p.positions) {
                if self.planner.joints().contains(id) {
                    start[self.model.joints[id.0].q_start] = *value;
                }
            }
            match self.planner.solve(self.model, &poses.above_pick, &start, 0) {
                Ok(found) => {
                    // The way must go on from there: the grasp below decides which solutions count.
                    let down = MovePlanner::straight(poses.above_pick, poses.pick);
                    let limits = self.limits(self.settings.vertical_speed);
                    if self.planner.path_move(self.model, &found, down, &limits).is_err() {
                        continue;
                    }
                    let way = found.iter().zip(q).fold(0.0, |w: f64, (a, b)| w.max((a - b).abs()));
                    if best.as_ref().is_none_or(|b| way < b.0) {
                        best = Some((way, found));
                    }
                }
                Err(text) => why = text,
            }
        }
        let p = poses.above_pick.translation;
        best.map(|b| b.1).ok_or(MoveError::Unreachable {
            percent: 100.0,
            x: p.x,
            y: p.y,
            z: p.z,
            why,
        })
    }

    /// Round the base, or straight if that has no way.
    fn transit(
        &mut self,
        poses: &Poses,
        q: &[f64],
        limits: &MoveLimits,
    ) -> Result<(JointTrajectory, Vec<f64>), MoveError> {
        let base = match self.model.base {
            Base::Fixed(X_WRoot) => X_WRoot.translation,
            Base::Floating => Vector3::zeros(),
        };
        let arc = MovePlanner::arc(base, poses.above_pick, poses.above_place);
        self.planner.path_move(self.model, q, arc, limits).or_else(|_| {
            let line = MovePlanner::straight(poses.above_pick, poses.above_place);
            self.planner.path_move(self.model, q, line, limits)
        })
    }

    /// Slows a carrying move until the grip holds everywhere on it.
    fn slow_for_grip(&mut self, q: &[f64], trajectory: &mut JointTrajectory) {
        let grip = Grip {
            mass: self.goal.mass,
            friction: self.goal.friction,
            force: 2.0 * self.goal.grip_force,
            safety: self.settings.slip_safety,
        };
        for _ in 0..SLOWINGS {
            let mut load: f64 = 0.0;
            self.planner.visit(self.model, q, trajectory, CHECK_PERIOD, |_, X_WT, _, A| {
                let specific = A.linear + Vector3::z() * GRAVITY;
                let closing = X_WT.rotation.column(1).into_owned();
                load = load.max(grip.load(&specific, &closing));
            });
            if load <= 1.0 {
                return;
            }
            trajectory.stretch(load.sqrt().max(1.05));
        }
    }
}

/// Numbers that make no sense, and objects too heavy to hold.
fn check(
    hand: &dyn EndEffector,
    goal: &PickAndPlaceGoal,
    settings: &PickAndPlaceSettings,
) -> Result<(), PlanError> {
    let highest = hand.force_max();
    let positive = [
        ("object size x [m]", goal.size.x),
        ("object size y [m]", goal.size.y),
        ("object size z [m]", goal.size.z),
        ("object mass [kg]", goal.mass),
        ("friction [-]", goal.friction),
        ("grip force [N]", goal.grip_force),
        ("approach height [m]", goal.approach_height),
    ];
    for (what, value) in positive {
        if !(value > 0.0 && value.is_finite()) {
            return Err(PlanError::Range { what, value, range: "above 0".to_owned() });
        }
    }
    for (what, pose) in [("pick pose", &goal.pick), ("place pose", &goal.place)] {
        let numbers = [pose.position.x, pose.position.y, pose.position.z, pose.yaw];
        if let Some(&value) = numbers.iter().find(|x| !x.is_finite()) {
            return Err(PlanError::Range { what, value, range: "finite".to_owned() });
        }
    }
    let (mass, friction, safety) = (goal.mass, goal.friction, settings.slip_safety);
    let needed = required_force(mass, friction, safety, GRAVITY);
    if goal.grip_force > highest || needed > goal.grip_force {
        let given = goal.grip_force;
        return Err(PlanError::TooHeavy { mass, friction, safety, needed, given, highest });
    }
    Ok(())
}

/// Tool poses of a run: x down, y along the closing direction.
fn poses(
    hand: &dyn EndEffector,
    goal: &PickAndPlaceGoal,
    settings: &PickAndPlaceSettings,
    width: f64,
    turn: f64,
) -> Poses {
    // The pads' middle is at the object's centre, higher if the fingertips would touch the ground.
    let raise = (0.5 * hand.pad_depth() + TIP_CLEARANCE - 0.5 * goal.size.z).max(0.0);
    let depth = hand.tool_depth(hand.position(width));
    let tool = |object: &ObjectPose, lift: f64| {
        let (sin, cos) = (object.yaw + turn).sin_cos();
        let (x, y) = (-Vector3::z(), Vector3::new(-sin, cos, 0.0));
        let rotation = Matrix3::from_columns(&[x, y, x.cross(&y)]);
        Pose::new(rotation, object.position + Vector3::z() * (raise + lift) - x * depth)
    };
    let (height, clearance) = (goal.approach_height, settings.place_clearance);
    // Both vertical ways end at one height where the lower of them still has its full length.
    let top = goal.pick.position.z.max(goal.place.position.z) + height;
    Poses {
        above_pick: tool(&goal.pick, top - goal.pick.position.z),
        pick: tool(&goal.pick, 0.0),
        above_place: tool(&goal.place, top - goal.place.position.z),
        place: tool(&goal.place, clearance),
    }
}
