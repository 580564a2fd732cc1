//! A motion as states of the whole robot: positions, velocities and accelerations of joints and root link at any time.
//!
//! The root link goes where the feet that stand leave it: `X_WRoot = X_WSole X_RootSole⁻¹`, with the sole where its foot came to
//! stand. Velocities and accelerations are derivatives of the curves. Units: SI, world axes; the floor is z = 0.

mod stances;

use std::collections::BTreeMap;
use std::sync::Arc;

use karakuri_dynamics::{
    Data, Reduction, centroidal_momentum, forward_kinematics, frame_acceleration, frame_pose,
    frame_velocity, rnea, update_accelerations, update_velocities,
};
use karakuri_gait::planner::Side;
use karakuri_model::{Base, BodyId};
use karakuri_spatial::{Pose, Vector3};

use crate::curve::{Curve, CurvePoint, Extent, Peak, PositionJump, VelocityJump};
use crate::document::Document;
use crate::problem::Problem;
use crate::robot::Performer;
use crate::root_curve::RootCurve;
use crate::score::{Added, Score, Span};

use stances::{Stance, Standing};

/// Time before a flight at which its velocity is taken. [s]
// Short: in it the velocity changes by what the acceleration gives in a hundredth of a millisecond.
const STEP: f64 = 1e-5;

/// A state of the whole robot in a motion.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MotionState {
    /// Time. [s]
    pub t: f64,
    /// Positions. [m or rad] (nq)
    pub q: Vec<f64>,
    /// Velocities. [m/s or rad/s] (nv)
    pub v: Vec<f64>,
    /// Accelerations. [m/s² or rad/s²] (nv)
    pub vdot: Vec<f64>,
    /// Whether the left and the right foot stand. (2)
    pub stands: [bool; 2],
    /// Scene that the time belongs to.
    pub scene: usize,
}

/// Extremes of a joint's curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extremes {
    /// Least and largest position. [rad or m]
    pub position: Extent,
    /// Largest speed; `None` of a single key. [rad/s or m/s]
    pub speed: Option<Peak>,
}

/// A motion of a document, ready to be asked for any time.
#[derive(Debug, Clone)]
pub struct Performance {
    performer: Arc<Performer>,
    reduction: Reduction,
    joints: BTreeMap<BodyId, JointCurve>,
    root: RootCurve,
    spans: Vec<Span>,
    stances: Vec<Stance>,
    duration: f64,
    frame: f64,
    data: Data,
}

/// The curve of a joint and what is added to it.
#[derive(Debug, Clone, Default)]
struct JointCurve {
    base: Curve,
    added: Vec<AddedCurve>,
}

#[derive(Debug, Clone)]
struct AddedCurve {
    curve: Curve,
    /// First time at which it is added, and first at which it is no more. [s]
    during: [f64; 2],
}

impl JointCurve {
    fn at(&self, t: f64) -> CurvePoint {
        let mut point = self.base.at(t);
        // Derivatives add as positions do.
        for added in self.added.iter().filter(|a| (a.during[0]..a.during[1]).contains(&t)) {
            let more = added.curve.at(t);
            point.position += more.position;
            point.velocity += more.velocity;
            point.acceleration += more.acceleration;
        }
        point
    }
}

impl Performance {
    /// Prepares a motion of a document for a robot.
    ///
    /// # Errors
    /// Every problem: joints that the robot lacks, feet that it lacks, tables that lack a joint, what [`Document::check`] finds.
    pub fn new(
        document: &Document,
        motion: &str,
        performer: &Arc<Performer>,
    ) -> Result<Self, Vec<Problem>> {
        let score = Score::new(document, motion, performer)?;
        let model = &performer.model;
        let neutral = model.default_position();
        let mut joints: BTreeMap<BodyId, JointCurve> = BTreeMap::new();
        for (joint, keys) in &score.keys {
            joints.entry(*joint).or_default().base = Curve::new(keys);
        }
        for Added { joint, keys, during } in &score.added {
            let [start, end] = *during;
            // Where repetitions meet only the later one counts; at the end of the whole motion the robot stays as it is.
            let during = [start, if end < score.duration { end } else { f64::INFINITY }];
            let curve = AddedCurve { curve: Curve::new(keys), during };
            let base = neutral[model.joints[joint.0].q_start];
            // Added to a joint without keys: it moves about the place where the robot's default posture has it.
            joints.entry(*joint).or_insert_with(|| resting(base)).added.push(curve);
        }
        let mut performance = Self {
            performer: Arc::clone(performer),
            reduction: Reduction::new(model),
            joints,
            root: RootCurve::new(&score.root),
            spans: score.spans,
            stances: Vec::new(),
            duration: score.duration,
            // A motion of the document: `Score::new` has found it.
            frame: document.motions.get(motion).map_or(0.015, |motion| motion.frame),
            data: Data::new(model),
        };
        stances::place(&mut performance, document, motion)?;
        Ok(performance)
    }

    /// The robot that performs.
    pub fn performer(&self) -> &Arc<Performer> {
        &self.performer
    }

    /// End of the motion. [s]
    pub fn duration(&self) -> f64 {
        self.duration
    }

    /// Period at which a robot gets samples. [s]
    pub fn frame(&self) -> f64 {
        self.frame
    }

    /// Times of the scenes, in their order.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Joints that the motion moves.
    pub fn joints(&self) -> impl Iterator<Item = BodyId> + '_ {
        self.joints.keys().copied()
    }

    /// Position, velocity and acceleration of a joint at a time; of one that the motion leaves alone where it rests. [rad or m]
    pub fn joint(&self, joint: BodyId, t: f64) -> CurvePoint {
        self.joints.get(&joint).map_or_else(
            || {
                let q = self.performer.model.default_position();
                let position = q[self.performer.model.joints[joint.0].q_start];
                CurvePoint { position, ..CurvePoint::default() }
            },
            |curve| curve.at(t),
        )
    }

    /// Jumps of a joint's velocity at its keys: impulses, which no drive can follow.
    pub fn velocity_jumps(&self, joint: BodyId) -> Vec<VelocityJump> {
        let Some(curve) = self.joints.get(&joint) else { return Vec::new() };
        let added = curve.added.iter().flat_map(|added| added.curve.velocity_jumps());
        curve.base.velocity_jumps().into_iter().chain(added).collect()
    }

    /// Leaps of a joint: of holds, and where a track begins or ends to be added.
    pub fn position_jumps(&self, joint: BodyId) -> Vec<PositionJump> {
        let Some(curve) = self.joints.get(&joint) else { return Vec::new() };
        let mut all = curve.base.position_jumps();
        for AddedCurve { curve, during: [start, end] } in &curve.added {
            all.extend(curve.position_jumps().into_iter().filter(|j| *start < j.t && j.t < *end));
            if *start > 0.0 {
                all.push(PositionJump { t: *start, by: curve.at(*start).position });
            }
            if end.is_finite() {
                all.push(PositionJump { t: *end, by: -curve.at(end.next_down()).position });
            }
        }
        all.sort_by(|a, b| a.t.total_cmp(&b.t));
        // Leaps of one time are one: a repetition may go on where the one before it ended.
        let mut jumps: Vec<PositionJump> = Vec::with_capacity(all.len());
        for jump in all {
            match jumps.last_mut() {
                Some(last) if last.t.total_cmp(&jump.t).is_eq() => last.by += jump.by,
                _ => jumps.push(jump),
            }
        }
        jumps
    }

    /// Least and largest position of a joint, and its largest speed, between the samples as well; `None` of a joint without keys, or
    /// with keys that are added to others.
    pub fn extremes(&self, joint: BodyId) -> Option<Extremes> {
        // Of a sum of curves there is no closed form: samples must do.
        let curve = self.joints.get(&joint).filter(|curve| curve.added.is_empty())?;
        Some(Extremes { position: curve.base.extent()?, speed: curve.base.peak_speed() })
    }

    /// Scene that a time belongs to.
    pub fn scene_at(&self, t: f64) -> usize {
        // A time at which two scenes meet belongs to the later one, as keys do; the end of the motion to the last.
        let after = self.spans.partition_point(|span| span.end <= t);
        let span = self.spans.get(after).or_else(|| self.spans.last());
        span.map_or(0, |span| span.scene)
    }

    /// Times from 0 to the end, one a frame and the end itself. [s]
    pub fn times(&self) -> Vec<f64> {
        // A whole number of frames, but for rounding, is that number.
        let n = (self.duration / self.frame - 1e-9).ceil().max(0.0);
        let mut times: Vec<f64> = Vec::new();
        let mut k = 0.0;
        // Counted, not summed: sums of the period drift by rounding.
        while k < n {
            times.push(k * self.frame);
            k += 1.0;
        }
        times.push(self.duration);
        times
    }

    /// The robot's state at a time.
    pub fn state(&mut self, t: f64) -> MotionState {
        let mut state = MotionState::default();
        self.sample(t, &mut state);
        state
    }

    /// Writes the robot's state at a time, in the memory of another one.
    pub fn sample(&mut self, t: f64, state: &mut MotionState) {
        // The stance that began last.
        let index = self.stances.partition_point(|stance| stance.start <= t).saturating_sub(1);
        let stance = self.stances.get(index).cloned();
        self.sample_in(t, stance.as_ref(), state);
        state.scene = self.scene_at(t);
    }

    /// State at a time with the feet of a stance.
    fn sample_in(&mut self, t: f64, stance: Option<&Stance>, state: &mut MotionState) {
        self.sample_joints(t, state);
        state.stands = stance.map_or([false; 2], |stance| stance.feet);
        // A fixed base has no root to place, whatever feet the model may show.
        if self.performer.model.base != Base::Floating {
            return;
        }
        match stance.map(|stance| &stance.standing) {
            Some(Standing::On { anchor, sole }) => self.root_from_sole(*anchor, sole, state),
            Some(Standing::Flying(flight)) => flight.root(self, t, state),
            Some(Standing::Fixed(pose)) => set_root(state, pose),
            // Rates are derivatives of the root's own curves.
            Some(Standing::Keyed) | None if !self.root.is_empty() => {
                let root = self.root.at(t);
                set_root(state, &root.pose);
                set_run(&mut state.v, &root.velocity);
                set_run(&mut state.vdot, &root.acceleration);
            }
            Some(Standing::Keyed) | None => {}
        }
    }

    /// Joints at a time; the root link at the world's origin, at rest.
    fn sample_joints(&self, t: f64, state: &mut MotionState) {
        let model = &self.performer.model;
        state.t = t;
        state.q.clear();
        state.q.extend(model.default_position());
        for run in [&mut state.v, &mut state.vdot] {
            run.clear();
            run.resize(model.nv, 0.0);
        }
        for (id, curve) in &self.joints {
            let (joint, point) = (&model.joints[id.0], curve.at(t));
            state.q[joint.q_start] = point.position;
            state.v[joint.v_start] = point.velocity;
            state.vdot[joint.v_start] = point.acceleration;
        }
        // Followers of mimic joints have no curves: their leaders say where they are and how fast.
        self.reduction.project_position(&mut state.q);
        self.reduction.project_velocity(&mut state.v);
        self.reduction.project_velocity(&mut state.vdot);
    }

    /// Root link such that a sole rests at a pose.
    fn root_from_sole(&mut self, side: Side, X_WSole: &Pose, state: &mut MotionState) {
        let performer = Arc::clone(&self.performer);
        let (model, data) = (&performer.model, &mut self.data);
        let Some(legs) = &performer.legs else { return };
        let leg = &legs[side.index()];
        // The root is at the origin yet, so a pose in the world is one in the root link.
        forward_kinematics(model, data, &state.q);
        let X_RootSole = frame_pose(model, data, leg.foot) * leg.sole_in_foot;
        let X_WRoot = *X_WSole * X_RootSole.inverse();
        set_root(state, &X_WRoot);
        // The foot must not move: the root link has what undoes the foot's motion by the joints alone.
        forward_kinematics(model, data, &state.q);
        update_velocities(model, data, &state.v);
        let V = frame_velocity(model, data, leg.foot);
        let lever = frame_pose(model, data, leg.foot).translation - X_WRoot.translation;
        // Positions first, then velocities: each level needs the root of the level before.
        set_run(&mut state.v, &undo(&[V.linear, V.angular], &lever));
        // With the root link's velocity: centripetal parts are of the whole motion.
        update_velocities(model, data, &state.v);
        update_accelerations(model, data, &state.v, &state.vdot);
        let A = frame_acceleration(model, data, leg.foot);
        set_run(&mut state.vdot, &undo(&[A.linear, A.angular], &lever));
    }

    /// Pose of the sole of a side in a state. Moves the workspace there.
    fn sole(&mut self, side: Side, q: &[f64]) -> Option<Pose> {
        let performer = Arc::clone(&self.performer);
        let leg = &performer.legs.as_ref()?[side.index()];
        forward_kinematics(&performer.model, &mut self.data, q);
        Some(frame_pose(&performer.model, &self.data, leg.foot) * leg.sole_in_foot)
    }

    /// Centre of mass and its velocity in a state. [m] and [m/s]
    fn center_of_mass(&mut self, state: &MotionState) -> [Vector3; 2] {
        let model = &self.performer.model;
        // `ċ = h/m` with the linear momentum `h`.
        let momentum = centroidal_momentum(model, &mut self.data, &state.q, &state.v);
        let com = karakuri_dynamics::center_of_mass(model, &self.data);
        [com, momentum.linear / model.mass()]
    }

    /// Acceleration of a root link that moves without turning, added to that of a state, at which nothing holds the robot. [m/s²]
    fn free_fall(&mut self, state: &MotionState) -> Vector3 {
        let model = &self.performer.model;
        let tau = rnea(model, &mut self.data, &state.q, &state.v, &state.vdot, &[]);
        // The base's efforts are `m (c̈ − g)`: what the floor would have to exert. Without it the whole robot moves by the opposite.
        -Vector3::new(tau[0], tau[1], tau[2]) / model.mass()
    }
}

/// Curve of a joint that rests.
fn resting(position: f64) -> JointCurve {
    let key = crate::motion::Key { t: 0.0, y: position, ease: crate::motion::Ease::Hold };
    JointCurve { base: Curve::new(&[key]), added: Vec::new() }
}

/// Linear and angular motion of a body that undoes that of a point with a lever from its origin.
fn undo([linear, angular]: &[Vector3; 2], lever: &Vector3) -> [Vector3; 2] {
    // A point at lever `l` moves by `v + ω × l`; with `ω = −ω_p` and `v = −v_p − ω × l` it stays.
    let turn = -angular;
    [-linear - turn.cross(lever), turn]
}

fn set_root(state: &mut MotionState, pose: &Pose) {
    state.q[..3].copy_from_slice(pose.translation.as_slice());
    // The coordinates of nalgebra's quaternion are in the order of `q`: x, y, z, w.
    state.q[3..7].copy_from_slice(pose.quaternion().coords.as_slice());
}

/// Sets the root link's run of a velocity or acceleration.
fn set_run(run: &mut [f64], [linear, angular]: &[Vector3; 2]) {
    run[..3].copy_from_slice(linear.as_slice());
    run[3..6].copy_from_slice(angular.as_slice());
}

#[cfg(test)]
mod tests;
