//! Plan of the whole run, checked before anything moves.
//!
//! The tool looks down and closes across the object at one of four yaws; of those whose whole path has an inverse kinematics
//! and is clear of all known objects, one is taken: first of those whose strength can move the object, then of those where the open hand has room,
//! then the one with the shortest motion of the joints. Where its fingers have no way down with all of their clearance, they go about the object
//! with less of it. The path to above the object is
//! direct if the tool stays above everything that the goal names; else first straight up to a safe height, then across. Carrying
//! moves are slowed until the slip condition holds at every sampled instant.
//! Units: m, rad, s; world axes.

use karakuri_control::cartesian::MovePlanner;
use karakuri_control::trajectory::JointTrajectory;
use karakuri_model::{BodyId, Model};
use karakuri_spatial::{Pose, Vector3};

use super::clearance::Clearance;
use super::plan_error::PlanError;
use super::planner::{Candidate, Carry, Fault, Planner, Task, clear_all, limits, target};
use super::posture::HandPosture;
use super::tuning::{
    PLACE_CLEARANCE, POSITION_TOLERANCE, SAFETY_DISTANCE, SHAKE, VELOCITY_TOLERANCE,
};
use super::{KnownObject, Measurement, ObjectPose, PickAndPlaceGoal, PickAndPlaceSettings, Stage};
use crate::hand::hold::{Hold, looking_down};
use crate::hand::interface::Hand;

/// Most ways for which paths are planned: more than hands usually have.
const MOST: usize = 16;

/// Planned trajectories of a run.
#[derive(Debug, Clone)]
pub struct Plan {
    poses: Poses,
    approach: JointTrajectory,
    descend: JointTrajectory,
    carry: Carry,
    moves: MovePlanner,
    clearance: Clearance,
}

/// Tool poses of one yaw.
#[derive(Debug, Clone)]
pub(super) struct Poses {
    pub(super) above_pick: Pose,
    pub(super) pick: Pose,
    pub(super) above_place: Pose,
    pub(super) place: Pose,
    /// Pose of the held object in the tool, `X_TO`.
    pub(super) object: Pose,
    /// Edges of the held object's box along the tool's axes. [m] (3)
    pub(super) held: Vector3,
    pub(super) hold: Hold,
}

impl Plan {
    /// Plan by one of the holds that the hand has of the object.
    pub(super) fn new(
        task: Task<'_>,
        hand: &dyn Hand,
        holds: &[Hold],
        q: &[f64],
        objects: &[KnownObject],
    ) -> Result<Self, PlanError> {
        let Task { model, goal, .. } = task;
        let Some(arm) = model.groups.first() else {
            return Err(PlanError::NoArm { robot: model.name.clone() });
        };
        let target = target(goal, objects);
        // The object is no obstacle to the fingers that take it; the approach adds it for itself.
        let others: Vec<_> = objects.iter().filter(|o| o.name != target.name).cloned().collect();
        let mut planner = Planner {
            task,
            moves: MovePlanner::new(model, hand.tool_frame(), &arm.joints),
            clearance: Clearance::new(model, &others, SAFETY_DISTANCE),
        };
        let (mut unreachable, mut unclear): (Option<Fault>, Option<Fault>) = (None, None);
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut posture = HandPosture::new(model);
        let mut about =
            |hold: &Hold, opening: f64| posture.with(model, q, &hand.joints_at(hold, opening));
        for hold in holds {
            if candidates.len() == MOST {
                break;
            }
            let (poses, openings) = (poses(goal, hold), hold.openings());
            // Where even its narrowest hand is in something, no path leads.
            let narrowest = about(hold, openings.last().copied().unwrap_or_default());
            let tool = hand.tool_frame();
            let stands = planner.clearance.check_hand(model, &narrowest, tool, &poses.pick);
            if let Err(hit) = stands {
                keep_furthest(&mut unclear, (Stage::Descend, hit.to_string()));
                continue;
            }
            match planner.candidate(poses, q) {
                Ok(candidate) => candidates.push(candidate),
                Err(fault) => keep_furthest(&mut unreachable, fault),
            }
        }
        // Cheapest first, so that mostly one candidate alone is checked for clearance.
        candidates.sort_by(|a, b| a.is_weak.cmp(&b.is_weak).then(a.cost.total_cmp(&b.cost)));
        while let Some(first) = candidates.first() {
            // Of its class the first that has room, itself where none has.
            let is_weak = first.is_weak;
            let mut class = candidates.iter_mut().take_while(|c| c.is_weak == is_weak);
            let roomy = class.position(|candidate| {
                planner.has_room(candidate, |hold| about(hold, hold.openings()[0]))
            });
            let candidate = candidates.remove(roomy.unwrap_or(0));
            let hold = &candidate.poses.hold;
            let closed = about(hold, hold.closed());
            for opening in hold.openings() {
                match planner.clear(&candidate, [&about(hold, opening), &closed], &target) {
                    Ok(approach) => {
                        let Candidate { poses, descend, carry, .. } = candidate;
                        let poses = Poses { hold: poses.hold.opened(opening), ..poses };
                        let Planner { moves, clearance, .. } = planner;
                        return Ok(Self { poses, approach, descend, carry, moves, clearance });
                    }
                    Err(fault) => keep_furthest(&mut unclear, fault),
                }
            }
        }
        // A path that only an object bars says more than one that the joints do not reach.
        let none = || (Stage::Approach, "there is no way to hold the object".to_owned());
        let (stage, why) = unclear.or(unreachable).unwrap_or_else(none);
        Err(PlanError::Unreachable { stage, why })
    }

    /// How the hand holds the object.
    pub(super) fn hold(&self) -> &Hold {
        &self.poses.hold
    }

    /// Planned trajectory of the arm in a stage.
    pub(super) fn trajectory(&self, stage: Stage) -> Option<&JointTrajectory> {
        match stage {
            Stage::Approach => Some(&self.approach),
            Stage::Descend => Some(&self.descend),
            Stage::LiftOff => Some(&self.carry.lift_off),
            Stage::Lift => Some(&self.carry.lift),
            Stage::Move => Some(&self.carry.transit),
            Stage::Lower => Some(&self.carry.lower),
            Stage::Retreat => Some(&self.carry.retreat),
            _ => None,
        }
    }

    /// Planned time of all motions. [s]
    pub fn motion_time(&self) -> f64 {
        MOTIONS.iter().filter_map(|s| self.trajectory(*s)).map(JointTrajectory::duration).sum()
    }

    /// Part of the planned motion that is done, `elapsed` after a stage began [s]; `None` in stages outside the plan. [-]
    pub(super) fn progress(&self, stage: Stage, elapsed: f64) -> Option<f64> {
        // Stages are numbered in the order of an untroubled run; those of trouble come after it.
        if stage as usize > Stage::Retreat as usize {
            return None;
        }
        let duration = |s: Stage| self.trajectory(s).map_or(0.0, JointTrajectory::duration);
        let before: f64 =
            MOTIONS.iter().filter(|s| (**s as usize) < stage as usize).map(|s| duration(*s)).sum();
        Some((before + elapsed.min(duration(stage))) / self.motion_time().max(1e-9))
    }

    /// Joints of the arm.
    pub(super) fn joints(&self) -> &[BodyId] {
        self.moves.joints()
    }

    /// Distance of the tool along the opening from the planned pick pose. [m] (nq)
    pub(super) fn off_centre(&mut self, model: &Model, q: &[f64]) -> f64 {
        let X_WT = self.moves.tool_pose(model, q);
        let closing = self.poses.pick.rotation.column(1).into_owned();
        (X_WT.translation - self.poses.pick.translation).dot(&closing)
    }

    /// Motion back to the pose at which the object was taken.
    pub(super) fn grasp(&self) -> Reaction {
        Reaction::To(self.poses.pick)
    }

    /// Trajectory of a stage that no plan foresees, from `q`. (nq)
    pub(super) fn reaction(
        &mut self,
        model: &Model,
        settings: &PickAndPlaceSettings,
        q: &[f64],
        reaction: Reaction,
    ) -> Option<JointTrajectory> {
        let X_WT = self.moves.tool_pose(model, q);
        let mut limits = limits(settings, settings.vertical_speed);
        let to = |displacement| Pose::new(X_WT.rotation, X_WT.translation + displacement);
        let target = match reaction {
            Reaction::Up => {
                let up = self.poses.above_pick.translation.z - X_WT.translation.z;
                // Higher than that already: it stays there and does not go down with something in its way.
                to(Vector3::z() * up.max(0.0))
            }
            Reaction::To(pose) => pose,
            Reaction::By { displacement, speed } => {
                limits.speed = speed;
                to(displacement)
            }
            Reaction::Shake => {
                // Two periods of a sine along the pads.
                let side = X_WT.rotation.column(2) * SHAKE;
                let path = move |s: f64| {
                    let (sin, _) = (2.0 * core::f64::consts::TAU * s).sin_cos();
                    Pose::new(X_WT.rotation, X_WT.translation + side * sin)
                };
                return self.moves.path_move(model, q, path, &limits).ok().map(|found| found.0);
            }
        };
        let path = MovePlanner::straight(X_WT, target);
        self.moves.path_move(model, q, path, &limits).ok().map(|found| found.0)
    }

    /// Plans the carrying moves again from the present pose of the hand. (nq)
    pub(super) fn carry_from(&mut self, task: Task<'_>, q: &[f64]) -> Result<(), Fault> {
        let model = task.model;
        let X_WT = self.moves.tool_pose(model, q);
        // The pose above moves sideways with the new pick pose; its height stays.
        let shift = X_WT.translation - self.poses.pick.translation;
        self.poses.pick = X_WT;
        self.poses.above_pick.translation += Vector3::new(shift.x, shift.y, 0.0);
        let (moves, clearance) = (self.moves.clone(), self.clearance.clone());
        let mut planner = Planner { task, moves, clearance };
        self.carry = planner.carry(&self.poses, q)?;
        planner.clear_carried(&self.poses, &self.carry, q)
    }

    /// Plans the way of an object that is in the hand to the goal's place, from where the hand has it, clear of the known objects. (nq)
    pub(super) fn bring(
        &mut self,
        task: Task<'_>,
        q: &[f64],
        objects: &[KnownObject],
    ) -> Result<(), Fault> {
        let Task { model, goal, .. } = task;
        let X_WT = self.moves.tool_pose(model, q);
        let mut poses = Poses { object: self.poses.object, ..poses(goal, &self.poses.hold) };
        let rise = (poses.above_place.translation.z - X_WT.translation.z).max(0.0);
        poses.pick = X_WT;
        poses.above_pick = Pose::new(X_WT.rotation, X_WT.translation + Vector3::z() * rise);
        let clearance = self.clearance_of_others(task, q, objects);
        let mut planner = Planner { task, moves: self.moves.clone(), clearance };
        let carry = planner.bring(&poses, q)?;
        planner.clear_carried(&poses, &carry, q)?;
        let Planner { moves, mut clearance, .. } = planner;
        let retreat = [(Stage::Retreat, &carry.retreat)];
        clear_all(&mut clearance, model, q, moves.joints(), &retreat)?;
        let (approach, descend) = Default::default();
        *self = Self { poses, approach, descend, carry, moves, clearance };
        Ok(())
    }

    /// Checker of clearance from all known objects but the one in the hand, with nothing in the hand. (nq)
    fn clearance_of_others(
        &mut self,
        task: Task<'_>,
        q: &[f64],
        objects: &[KnownObject],
    ) -> Clearance {
        let Task { model, goal, .. } = task;
        let held = (self.moves.tool_pose(model, q) * self.poses.object).translation;
        // What is in the hand is no obstacle to itself.
        let is_held = |o: &KnownObject| (o.pose.translation - held).norm() < 0.5 * goal.size.min();
        let others: Vec<_> = objects.iter().filter(|o| !is_held(o)).cloned().collect();
        Clearance::new(model, &others, SAFETY_DISTANCE)
    }

    /// Checker of clearance from all known objects, with the object in the hand. (nq)
    pub(super) fn clearance_of_held(
        &mut self,
        task: Task<'_>,
        q: &[f64],
        objects: &[KnownObject],
    ) -> Clearance {
        let mut clearance = self.clearance_of_others(task, q, objects);
        clearance.hold(self.moves.frame(), self.poses.object, &self.poses.held);
        clearance
    }

    /// Slows the carrying moves that are still to come until the grip holds. (nq)
    pub(super) fn slow_for_grip(&mut self, task: Task<'_>, q: &[f64]) {
        let (moves, clearance) = (self.moves.clone(), self.clearance.clone());
        let mut planner = Planner { task, moves, clearance };
        let Carry { lift, transit, lower, .. } = &mut self.carry;
        for trajectory in [lift, transit, lower] {
            planner.slow_for_grip(&self.poses.hold, q, trajectory);
        }
    }
}

fn keep_furthest(furthest: &mut Option<Fault>, fault: Fault) {
    // The yaw that came furthest has the obstacle that is worth removing.
    if furthest.as_ref().is_none_or(|f| fault.0 as usize > f.0 as usize) {
        *furthest = Some(fault);
    }
}

/// Stages that move the arm as planned, in order.
const MOTIONS: [Stage; 7] = [
    Stage::Approach,
    Stage::Descend,
    Stage::LiftOff,
    Stage::Lift,
    Stage::Move,
    Stage::Lower,
    Stage::Retreat,
];

/// Motion that no plan foresees.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reaction {
    /// Straight up to the height above the object.
    Up,
    /// Straight to a tool pose.
    To(Pose),
    /// Straight by a displacement [m] at a speed [m/s].
    By { displacement: Vector3, speed: f64 },
    /// To and fro along the pads, two times.
    Shake,
}

/// Whether the joints stand at the end of a trajectory.
pub(super) fn arrived(
    model: &Model,
    joints: &[BodyId],
    trajectory: &JointTrajectory,
    elapsed: f64,
    measured: &Measurement<'_>,
) -> bool {
    let Some(end) = trajectory.points.last() else { return true };
    // By time as well: at the start of a short move the joints are at its end within the tolerance.
    elapsed >= end.time_from_start
        && joints.iter().zip(&end.positions).all(|(id, desired)| {
            let joint = &model.joints[id.0];
            (measured.q[joint.q_start] - desired).abs() < POSITION_TOLERANCE
                && measured.v[joint.v_start].abs() < VELOCITY_TOLERANCE
        })
}

/// Describes the joint that is furthest from a trajectory's end.
pub(super) fn describe_error(
    model: &Model,
    joints: &[BodyId],
    trajectory: &JointTrajectory,
    measured: &Measurement<'_>,
) -> String {
    let Some(end) = trajectory.points.last() else { return String::new() };
    let errors = joints.iter().zip(&end.positions).map(|(id, desired)| {
        let joint = &model.joints[id.0];
        (joint, desired - measured.q[joint.q_start])
    });
    errors.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).map_or(String::new(), |(joint, e)| {
        format!("joint `{}` is {e:.4} rad from its goal", joint.name)
    })
}

/// Refuses numbers outside their ranges.
pub(super) fn check(goal: &PickAndPlaceGoal) -> Result<(), PlanError> {
    let positive = [
        ("object_size.x [m]", goal.size.x),
        ("object_size.y [m]", goal.size.y),
        ("object_size.z [m]", goal.size.z),
        ("mass [kg]", goal.mass),
        ("friction [-]", goal.friction),
        ("grip_force [N]", goal.grip_force),
        ("max_grip_force [N]", goal.max_grip_force),
        ("approach_height [m]", goal.approach_height),
    ];
    for (what, value) in positive {
        if !(value > 0.0 && value.is_finite()) {
            return Err(PlanError::Range { what, value, range: "above 0".to_owned() });
        }
    }
    for (what, pose) in [("object_pose", &goal.pick), ("place_pose", &goal.place)] {
        let numbers = [pose.position.x, pose.position.y, pose.position.z, pose.yaw];
        if let Some(&value) = numbers.iter().find(|x| !x.is_finite()) {
            return Err(PlanError::Range { what, value, range: "finite".to_owned() });
        }
    }
    for grasp in &goal.grasps {
        let numbers = grasp.position.iter().copied().chain([grasp.turn, grasp.score]);
        if let Some(value) = numbers.chain(grasp.width).find(|x| !x.is_finite()) {
            return Err(PlanError::Range { what: "grasps", value, range: "finite".to_owned() });
        }
    }
    Ok(())
}

/// Tool poses of a run: x down, y along the closing direction.
fn poses(goal: &PickAndPlaceGoal, hold: &Hold) -> Poses {
    // The pads move along the tool as a linkage closes; the tool is placed for the opening at which they hold.
    let Hold { turn, middle, raise, depth, aside, .. } = *hold;
    let tool = |object: &ObjectPose, lift: f64| {
        let rotation = looking_down(object.yaw + turn);
        let [x, y] = [0, 1].map(|k| rotation.column(k).into_owned());
        let middle = Pose::from_axis_angle(&Vector3::z(), object.yaw).transform_vector(&middle);
        let contact = object.position + Vector3::z() * (raise + lift) + middle;
        Pose::new(rotation, contact - x * depth - y * aside)
    };
    let (center, held) = hold.held_box(goal);
    let (height, clearance) = (goal.approach_height, PLACE_CLEARANCE);
    // Both vertical moves end at one height where the lower of them still has its full length.
    let top = goal.pick.position.z.max(goal.place.position.z) + height;
    Poses {
        above_pick: tool(&goal.pick, top - goal.pick.position.z),
        pick: tool(&goal.pick, 0.0),
        above_place: tool(&goal.place, top - goal.place.position.z),
        place: tool(&goal.place, clearance),
        object: Pose::from_translation(center),
        held,
        hold: hold.clone(),
    }
}
