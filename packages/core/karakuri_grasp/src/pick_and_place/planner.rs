//! Paths of the arm for a pick and place: candidates, and those of them that are clear.
//!
//! Units: m, rad, s; world axes.

use karakuri_control::cartesian::{MoveError, MoveLimits, MovePlanner};
use karakuri_control::trajectory::{JointTrajectory, TrajectoryPoint};
use karakuri_model::{Base, BodyId, Model};
use karakuri_spatial::{Pose, UnitQuaternion, Vector3};

use super::clearance::Clearance;
use super::plan::Poses;
use super::tuning::{ROOM, SAFETY_DISTANCE, WEIGH_HEIGHT};
use super::upright::{Upright, upright};
use super::{KnownObject, ObjectShape, Part, PickAndPlaceGoal, PickAndPlaceSettings, Stage};
use crate::hand::hold::Hold;
use crate::hand::payload::{MOVABLE, Payload, ToolMotion};

/// Spacing of the instants at which a carrying move is checked. [s]
// At the tool's full speed 3 mm of the path.
const CHECK_PERIOD: f64 = 0.005;
/// Most slowings of a carrying move. At rest the grip holds, as the plan has checked: they end long before.
const SLOWINGS: usize = 20;

/// Trajectories from the grip on.
#[derive(Debug, Clone, Default)]
pub(super) struct Carry {
    pub(super) lift_off: JointTrajectory,
    pub(super) lift: JointTrajectory,
    pub(super) transit: JointTrajectory,
    pub(super) lower: JointTrajectory,
    pub(super) retreat: JointTrajectory,
}

impl Carry {
    /// Trajectories with the object in the hand.
    pub(super) fn carrying(&self) -> [(Stage, &JointTrajectory); 4] {
        [
            (Stage::LiftOff, &self.lift_off),
            (Stage::Lift, &self.lift),
            (Stage::Move, &self.transit),
            (Stage::Lower, &self.lower),
        ]
    }
}

/// Candidate of one yaw: from above the object on.
pub(super) struct Candidate {
    /// Whether the strength that is allowed holds the object, but does not move it.
    pub(super) is_weak: bool,
    /// Whether the open hand has room, once that was asked.
    has_room: Option<bool>,
    /// Approximate time of its motions by the joints. [s]
    pub(super) cost: f64,
    pub(super) poses: Poses,
    pub(super) q_above: Vec<f64>,
    pub(super) descend: JointTrajectory,
    pub(super) carry: Carry,
}

/// Stage in which a candidate fails, and the cause.
pub(super) type Fault = (Stage, String);

pub(super) fn clear_all(
    clearance: &mut Clearance,
    model: &Model,
    q: &[f64],
    joints: &[BodyId],
    trajectories: &[(Stage, &JointTrajectory)],
) -> Result<(), Fault> {
    for (stage, trajectory) in trajectories {
        let checked = clearance.check(model, q, joints, trajectory);
        checked.map_err(|hit| (*stage, hit.to_string()))?;
    }
    Ok(())
}

pub(super) fn limits(settings: &PickAndPlaceSettings, speed: f64) -> MoveLimits {
    MoveLimits {
        speed,
        acceleration: settings.acceleration,
        joint_speed_scale: settings.joint_speed_scale,
        joint_acceleration: settings.joint_acceleration,
    }
}

/// A goal, the robot that it is planned for, and the settings of its motion.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) model: &'a Model,
    pub(super) goal: &'a PickAndPlaceGoal,
    pub(super) settings: &'a PickAndPlaceSettings,
}

/// Planner of one goal.
pub(super) struct Planner<'a> {
    pub(super) task: Task<'a>,
    pub(super) moves: MovePlanner,
    pub(super) clearance: Clearance,
}

impl Planner<'_> {
    /// Plans all of a yaw but the path to above the object, known objects aside.
    pub(super) fn candidate(&mut self, poses: Poses, q: &[f64]) -> Result<Candidate, Fault> {
        let q_above = self.joints_above(&poses, q).map_err(at(Stage::Approach))?;
        let (descend, q_pick) =
            self.vertical(poses.above_pick, poses.pick, &q_above).map_err(at(Stage::Descend))?;
        let carry = self.carry(&poses, &q_pick)?;
        let there = self.moves.joint_move(self.task.model, q, &q_above, &self.free());
        // The approach and the transit differ from yaw to yaw; the vertical motions are much alike.
        let cost = there.duration() + carry.transit.duration();
        let Task { goal, settings, .. } = self.task;
        let at_rest = poses.hold.contact.at_rest(&Payload::of(goal, settings));
        let is_weak = MOVABLE * at_rest > goal.max_grip_force;
        Ok(Candidate { is_weak, has_room: None, cost, poses, q_above, descend, carry })
    }

    /// Plans the trajectories with the object, from the grip on.
    pub(super) fn carry(&mut self, poses: &Poses, q_pick: &[f64]) -> Result<Carry, Fault> {
        let (start, end) = (poses.pick, poses.above_pick);
        let height = end.translation.z - start.translation.z;
        // The lift is divided at the height where the object is weighed.
        // At most half, so that both parts of a low lift have a length.
        let share = (WEIGH_HEIGHT / height.max(1e-6)).min(0.5);
        let between = Pose::new(start.rotation, start.translation.lerp(&end.translation, share));
        let (lift_off, q_up) = self.vertical(start, between, q_pick).map_err(at(Stage::LiftOff))?;
        let (lift, q_lifted) = self.vertical(between, end, &q_up).map_err(at(Stage::Lift))?;
        let [transit, lower, retreat] = match self.task.goal.part {
            Part::Pick => Default::default(),
            Part::Whole => self.put_down(poses, &q_lifted)?,
        };
        let mut carry = Carry { lift_off, lift, transit, lower, retreat };
        let Carry { lift_off, lift, transit, lower, .. } = &mut carry;
        for trajectory in [lift_off, lift, transit, lower] {
            self.slow_for_grip(&poses.hold, q_pick, trajectory);
        }
        Ok(carry)
    }

    /// Plans the trajectories with an object that is in the hand already, from where the hand has it. The lift, with which they begin, slows them for the grip.
    pub(super) fn bring(&mut self, poses: &Poses, q: &[f64]) -> Result<Carry, Fault> {
        let (lift, q_lifted) =
            self.vertical(poses.pick, poses.above_pick, q).map_err(at(Stage::Lift))?;
        let [transit, lower, retreat] = self.put_down(poses, &q_lifted)?;
        Ok(Carry { lift, transit, lower, retreat, ..Carry::default() })
    }

    /// Plans the trajectories from above the object to its place, and up from there.
    fn put_down(&mut self, poses: &Poses, q: &[f64]) -> Result<[JointTrajectory; 3], Fault> {
        let (transit, q_there) = self.transit(poses, q).map_err(at(Stage::Move))?;
        let (lower, q_place) =
            self.vertical(poses.above_place, poses.place, &q_there).map_err(at(Stage::Lower))?;
        let (retreat, _) =
            self.vertical(poses.place, poses.above_place, &q_place).map_err(at(Stage::Retreat))?;
        Ok([transit, lower, retreat])
    }

    /// Whether the hand has room about the object and about its place, all joints being as `open` says. (nq)
    pub(super) fn has_room(
        &mut self,
        candidate: &mut Candidate,
        open: impl FnOnce(&Hold) -> Vec<f64>,
    ) -> bool {
        if let Some(known) = candidate.has_room {
            return known;
        }
        let (q, joints) = (open(&candidate.poses.hold), self.moves.joints().to_vec());
        let (descend, retreat) = (&candidate.descend, &candidate.carry.retreat);
        let vertical = [(Stage::Descend, descend), (Stage::Retreat, retreat)];
        self.clearance.keep(ROOM);
        let checked = clear_all(&mut self.clearance, self.task.model, &q, &joints, &vertical);
        self.clearance.keep(SAFETY_DISTANCE);
        *candidate.has_room.insert(checked.is_ok())
    }

    /// Checks a candidate against the known objects and finds a path to above the object. `open` and `closed` are the positions of all joints with
    /// the hand about the object, before and after it has taken it. (nq each)
    pub(super) fn clear(
        &mut self,
        candidate: &Candidate,
        [open, closed]: [&[f64]; 2],
        target: &KnownObject,
    ) -> Result<JointTrajectory, Fault> {
        let joints = self.moves.joints().to_vec();
        let (model, descend) = (self.task.model, [(Stage::Descend, &candidate.descend)]);
        clear_all(&mut self.clearance, model, open, &joints, &descend)?;
        self.clear_carried(&candidate.poses, &candidate.carry, closed)?;
        let retreat = [(Stage::Retreat, &candidate.carry.retreat)];
        clear_all(&mut self.clearance, model, open, &joints, &retreat)?;
        // During the approach the object is an obstacle; from the descent on the fingers are to be about it.
        self.clearance.add(target);
        let approach = self.approach(candidate, open);
        self.clearance.remove(&target.name);
        approach.map_err(|why| (Stage::Approach, why))
    }

    /// Checks the trajectories with the object in the hand against the known objects. (nq)
    pub(super) fn clear_carried(
        &mut self,
        poses: &Poses,
        carry: &Carry,
        q: &[f64],
    ) -> Result<(), Fault> {
        let joints = self.moves.joints().to_vec();
        self.clearance.hold(self.moves.frame(), poses.object, &poses.held);
        let checked =
            clear_all(&mut self.clearance, self.task.model, q, &joints, &carry.carrying());
        // Before any fault is returned: what comes next begins with an empty hand.
        self.clearance.release();
        checked
    }

    /// Path to above the object: directly, or first straight up and then across, by the joints or around the base.
    fn approach(&mut self, candidate: &Candidate, q: &[f64]) -> Result<JointTrajectory, String> {
        let (model, free) = (self.task.model, self.free());
        let X_WT = self.moves.tool_pose(model, q);
        let direct = self.moves.joint_move(model, q, &candidate.q_above, &free);
        // By the joints first: shorter than any path of the tool, though nobody says where the tool goes.
        let mut why = match self.is_clear(q, &direct, self.floor(&candidate.poses)) {
            Ok(()) => return Ok(direct),
            Err(why) => why,
        };
        // Straight up to the safe height, then across by the joints, else along an arc around the base.
        let up = (candidate.poses.above_pick.translation.z - X_WT.translation.z).max(0.0);
        let lifted = Pose::new(X_WT.rotation, X_WT.translation + Vector3::z() * up);
        let (rise, q_lifted) = self
            .vertical(X_WT, lifted, q)
            .map_err(|e| format!("{why}; and there is no path straight up from here: {e}"))?;
        // No floor: the tool may begin below it, and goes up.
        self.is_clear(q, &rise, f64::NEG_INFINITY)?;
        let across = self.moves.joint_move(model, &q_lifted, &candidate.q_above, &free);
        match self.is_clear(q, &across, self.floor(&candidate.poses)) {
            Ok(()) => return Ok(joined(rise, &across)),
            Err(hit) => why = hit,
        }
        let arc = MovePlanner::arc(axis(self.task.model), lifted, candidate.poses.above_pick);
        let (round, q_end) = self.moves.path_move(model, &q_lifted, arc, &free).map_err(|_| why)?;
        self.is_clear(q, &round, self.floor(&candidate.poses))?;
        // The arc may end in another posture of the same tool pose: then the descent would not follow.
        let turn = self.moves.joints().iter().fold(0.0, |turn: f64, id| {
            let k = model.joints[id.0].q_start;
            turn.max((q_end[k] - candidate.q_above[k]).abs())
        });
        if turn > 1e-3 {
            return Err(format!(
                "the arm would have to change its posture by {turn:.2} rad; start nearer"
            ));
        }
        Ok(joined(rise, &round))
    }

    /// Checks that a trajectory is clear of all known objects, and the tool never below `floor`. [m]
    fn is_clear(
        &mut self,
        q: &[f64],
        trajectory: &JointTrajectory,
        floor: f64,
    ) -> Result<(), String> {
        let joints = self.moves.joints().to_vec();
        let checked = self.clearance.check(self.task.model, q, &joints, trajectory);
        checked.map_err(|hit| hit.to_string())?;
        let mut lowest = f64::INFINITY;
        self.moves.visit(self.task.model, q, trajectory, 0.02, |_, X_WT, _, _| {
            lowest = lowest.min(X_WT.translation.z);
        });
        if lowest < floor {
            return Err(format!("the tool would go down to {lowest:.3} m, below {floor:.3} m"));
        }
        Ok(())
    }

    /// Height of the tool at which the fingers pass over the object and over its place. [m]
    fn floor(&self, poses: &Poses) -> f64 {
        let top = self.task.goal.pick.position.z.max(self.task.goal.place.position.z)
            + 0.5 * self.task.goal.size.z;
        // Not above the end of the approach itself, or a low approach height would refuse every path.
        (top + poses.hold.tip).min(poses.above_pick.translation.z - 1e-3)
    }

    fn free(&self) -> MoveLimits {
        limits(self.task.settings, self.task.settings.speed)
    }

    fn vertical(
        &mut self,
        from: Pose,
        to: Pose,
        q: &[f64],
    ) -> Result<(JointTrajectory, Vec<f64>), MoveError> {
        let slow = limits(self.task.settings, self.task.settings.vertical_speed);
        self.moves.path_move(self.task.model, q, MovePlanner::straight(from, to), &slow)
    }

    /// Positions above the object: from the measured position if that leads there, else from the model's postures. (nq)
    fn joints_above(&mut self, poses: &Poses, q: &[f64]) -> Result<Vec<f64>, MoveError> {
        let mut best: Option<(f64, Vec<f64>)> = None;
        let mut why = String::new();
        for posture in self.task.model.postures.iter().map(Some).chain([None]) {
            let mut start = q.to_vec();
            for (id, value) in posture.iter().flat_map(|p| &p.positions) {
                if self.moves.joints().contains(id) {
                    start[self.task.model.joints[id.0].q_start] = *value;
                }
            }
            // No random starts: they could lead to a posture from which the rest of the run has no path.
            match self.moves.solve(self.task.model, &poses.above_pick, &start, 0) {
                Ok(found) => {
                    // The path must continue from there: the descent to the grasp decides which solutions count.
                    if self.vertical(poses.above_pick, poses.pick, &found).is_err() {
                        continue;
                    }
                    let distance =
                        found.iter().zip(q).fold(0.0, |w: f64, (a, b)| w.max((a - b).abs()));
                    // The one that is nearest to where the arm is.
                    if best.as_ref().is_none_or(|b| distance < b.0) {
                        best = Some((distance, found));
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

    /// Path to above the place: around the base, or straight if that has no solution.
    fn transit(
        &mut self,
        poses: &Poses,
        q: &[f64],
    ) -> Result<(JointTrajectory, Vec<f64>), MoveError> {
        let free = self.free();
        let arc = MovePlanner::arc(axis(self.task.model), poses.above_pick, poses.above_place);
        self.moves.path_move(self.task.model, q, arc, &free).or_else(|_| {
            let line = MovePlanner::straight(poses.above_pick, poses.above_place);
            self.moves.path_move(self.task.model, q, line, &free)
        })
    }

    /// Slows a carrying move until the grip holds everywhere on it. (nq)
    pub(super) fn slow_for_grip(
        &mut self,
        hold: &Hold,
        q: &[f64],
        trajectory: &mut JointTrajectory,
    ) {
        if trajectory.points.is_empty() {
            return;
        }
        let Task { goal, settings, .. } = self.task;
        // With what the object needs, not with the goal's strength alone: less could slow a move without end.
        let strength = hold.strength(goal, settings);
        let payload = Payload::of(goal, settings);
        for _ in 0..SLOWINGS {
            let mut load: f64 = 0.0;
            self.moves.visit(self.task.model, q, trajectory, CHECK_PERIOD, |_, X_WT, V, A| {
                let motion = ToolMotion { X_WT, V, A };
                load = load.max(hold.contact.load(&payload, strength, &motion));
            });
            // What is squeezed out at rest is not held by being slower.
            if load <= 1.0 || load.is_infinite() {
                return;
            }
            // Time stretched by √load divides the accelerations by the load.
            // At least 5 %, because gravity's part of the load does not shrink and √load alone would take ever smaller steps.
            trajectory.stretch(load.sqrt().max(1.05));
        }
    }
}

/// Point of the vertical axis that the arm turns about. [m] (3)
pub(super) fn axis(model: &Model) -> Vector3 {
    match model.base {
        Base::Fixed(X_WRoot) => X_WRoot.translation,
        Base::Floating => Vector3::zeros(),
    }
}

fn at(stage: Stage) -> impl Fn(MoveError) -> Fault {
    move |error| (stage, error.to_string())
}

/// Joins two trajectories, at rest between them.
pub(super) fn joined(mut first: JointTrajectory, second: &JointTrajectory) -> JointTrajectory {
    let end = first.duration();
    // The second one's first point is the first one's last: two points at one time are refused.
    first.points.extend(second.points.iter().skip(1).map(|point| TrajectoryPoint {
        time_from_start: end + point.time_from_start,
        ..point.clone()
    }));
    first
}

/// Object to be picked: as it was seen, or as the goal says.
pub(super) fn target(goal: &PickAndPlaceGoal, objects: &[KnownObject]) -> KnownObject {
    // Nearer than half an edge it is inside the goal's own box, so it is no neighbour.
    let near = 0.5 * goal.size.min();
    let is_it = |o: &&KnownObject| {
        (o.pose.translation - goal.pick.position).norm() < near && as_it_stands(goal, o).is_some()
    };
    let yaw = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), goal.pick.yaw);
    objects.iter().find(is_it).cloned().unwrap_or_else(|| KnownObject {
        name: "the object".to_owned(),
        pose: Pose::from_quaternion(&yaw, goal.pick.position),
        size: goal.size,
        shape: None,
    })
}

/// A seen object as it stands, if it may be the goal's.
pub(super) fn as_it_stands(goal: &PickAndPlaceGoal, seen: &KnownObject) -> Option<Upright> {
    // What stands is turned from the goal's hull, not from the box that was seen: that must be its box.
    let is_its_box = match &goal.shape {
        ObjectShape::Hull(hull) => similar(&hull.size(), &seen.size),
        _ => true,
    };
    let stands = upright(&goal.shape, &seen.pose, &seen.size).ok()?;
    (is_its_box && similar(&stands.size, &goal.size)).then_some(stands)
}

/// Whether two boxes may be the same: every edge within a fifth, in any horizontal order. [m] (3)
fn similar(a: &Vector3, b: &Vector3) -> bool {
    let near = |x: f64, y: f64| (x - y).abs() < 0.2 * x.max(y);
    // A sighting may have its x and y exchanged, as boxes look alike after a quarter turn.
    near(a.z, b.z) && ((near(a.x, b.x) && near(a.y, b.y)) || (near(a.x, b.y) && near(a.y, b.x)))
}
