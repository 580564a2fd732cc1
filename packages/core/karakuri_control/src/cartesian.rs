//! Moves of a tool frame, sampled through inverse kinematics into joint trajectories.
//!
//! A path `X_WT(s)`, `s` from 0 to 1, is solved at equally spaced `s`; with `s(t)` a quintic profile the knots get
//! `q̇ = q' ṡ`, `q̈ = q'' ṡ² + q' s̈`, `q'` and `q''` by central differences. Quintics between such knots follow the path to
//! the fourth order of the spacing. Limits are met by slowing the whole move: a move `λ` times longer has `1/λ` of
//! the speed and `1/λ²` of the acceleration.
//! Units: m, rad, s; world axes.

use karakuri_dynamics::{
    Data, IkOptions, IkProblem, IkTarget, InverseKinematics, forward_kinematics,
    frame_acceleration, update_accelerations, update_velocities,
};
use karakuri_model::{BodyId, FrameId, Model};
use karakuri_spatial::{Motion, Pose, UnitQuaternion, Vector3};

use crate::profile::Profile;
use crate::trajectory::{
    Entry, Interpolation, JointSample, JointTrajectory, Path, TrajectoryPoint,
};

/// Parts into which a path is cut.
// Quintics between the parts leave the path by the fourth power of their length; each costs one inverse kinematics.
const PARTS: usize = 40;
/// Largest step of a joint in one part: beyond it the joint jumped to another branch. [rad or m]
// Steps of 20° in each part add up to 14 rad, more than a move has; other branches of an arm mostly lie farther away.
const LARGEST_STEP: f64 = 0.35;

/// Spacing of the instants at which the tool's speed is looked at. [s]
// At 0.5 m/s every 5 mm.
const CHECK_PERIOD: f64 = 0.01;

/// Limits of a move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MoveLimits {
    /// Speed of the tool. [m/s]
    pub speed: f64,
    /// Acceleration of the tool. [m/s²]
    pub acceleration: f64,
    /// Fraction of every joint's speed limit. [-]
    pub joint_speed_scale: f64,
    /// Acceleration of every joint. [rad/s² or m/s²]
    pub joint_acceleration: f64,
}

/// Why a move cannot be planned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// Inverse kinematics failed somewhere on the path.
    #[error("at {percent:.0} % of the move to {x:.3} {y:.3} {z:.3} m: {why}")]
    Unreachable {
        /// Place on the path. [%]
        percent: f64,
        /// Position of the tool there along world x. [m]
        x: f64,
        /// Position of the tool there along world y. [m]
        y: f64,
        /// Position of the tool there along world z. [m]
        z: f64,
        /// Joint or distance that is short.
        why: String,
    },
    /// The arm would have to change its posture along the path.
    #[error(
        "joint `{joint}` would jump by {step:.2} rad at {percent:.0} % of the move; choose another yaw or start posture"
    )]
    Branch {
        /// Name of the joint.
        joint: String,
        /// Step of the joint in one part of the path. [rad or m]
        step: f64,
        /// Place on the path. [%]
        percent: f64,
    },
}

/// Plans moves of one tool frame by one group of joints.
#[derive(Debug, Clone)]
pub struct MovePlanner {
    frame: FrameId,
    joints: Vec<BodyId>,
    locked: Vec<BodyId>,
    ik: InverseKinematics,
    data: Data,
}

impl MovePlanner {
    /// Planner for a tool frame and the joints that move it.
    pub fn new(model: &Model, frame: FrameId, joints: &[BodyId]) -> Self {
        // All others hold, or inverse kinematics would turn joints that this move does not command.
        let locked = (0..model.joints.len()).map(BodyId).filter(|b| !joints.contains(b)).collect();
        Self {
            frame,
            joints: joints.to_vec(),
            locked,
            ik: InverseKinematics::new(model, 1),
            data: Data::new(model),
        }
    }

    /// The tool frame.
    pub fn frame(&self) -> FrameId {
        self.frame
    }

    /// The joints that move, in order.
    pub fn joints(&self) -> &[BodyId] {
        &self.joints
    }

    /// Pose of the tool `X_WT` at a position. [m] (nq)
    pub fn tool_pose(&mut self, model: &Model, q: &[f64]) -> Pose {
        forward_kinematics(model, &mut self.data, q);
        karakuri_dynamics::frame_pose(model, &self.data, self.frame)
    }

    /// A position with the tool at `X_WT`, near `start`; `restarts` random starts if that fails. [rad or m] (nq)
    ///
    /// # Errors
    ///
    /// A sentence with the obstacle, if the pose is not reached.
    pub fn solve(
        &mut self,
        model: &Model,
        X_WT: &Pose,
        start: &[f64],
        restarts: usize,
    ) -> Result<Vec<f64>, String> {
        let targets = [IkTarget::pose(self.frame, *X_WT)];
        let problem =
            IkProblem { targets: &targets, start, locked: &self.locked, ..IkProblem::default() };
        let options = IkOptions { restarts, ..IkOptions::default() };
        match self.ik.solve(model, &problem, &options) {
            Ok(outcome) if outcome.converged => Ok(self.ik.position.clone()),
            Ok(outcome) => Err(outcome.explain(model, &targets)),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Trajectory from rest at `from` to rest at `to`, each joint on its own quintic. (nq)
    pub fn joint_move(
        &self,
        model: &Model,
        from: &[f64],
        to: &[f64],
        limits: &MoveLimits,
    ) -> JointTrajectory {
        let profile = Profile::Quintic;
        // A move of no length still takes a time: points at one instant are refused.
        let duration = self.joints.iter().fold(0.05, |longest: f64, id| {
            let joint = &model.joints[id.0];
            let distance = (to[joint.q_start] - from[joint.q_start]).abs();
            let speed = joint.limits.velocity * limits.joint_speed_scale;
            longest.max(profile.duration(distance, speed, limits.joint_acceleration))
        });
        let point = |q: &[f64], time_from_start| TrajectoryPoint {
            time_from_start,
            positions: self.joints.iter().map(|id| q[model.joints[id.0].q_start]).collect(),
            velocities: vec![0.0; self.joints.len()],
            accelerations: vec![0.0; self.joints.len()],
            efforts: Vec::new(),
        };
        JointTrajectory {
            start: None,
            joints: self.names(model),
            points: vec![point(from, 0.0), point(to, duration)],
        }
    }

    /// Trajectory along `path(s)` from rest at `from`, which has the tool at `path(0)`, and its last position. (nq)
    ///
    /// # Errors
    ///
    /// If a pose of the path is not reached, or only by a jump to another posture.
    pub fn path_move(
        &mut self,
        model: &Model,
        from: &[f64],
        path: impl Fn(f64) -> Pose,
        limits: &MoveLimits,
    ) -> Result<(JointTrajectory, Vec<f64>), MoveError> {
        let mut positions: Vec<Vec<f64>> = vec![from.to_vec()];
        let mut length = 0.0;
        for i in 1..=PARTS {
            let s = i as f64 / PARTS as f64;
            let X_WT = path(s);
            // The length of the path is taken as the sum of its chords.
            length += (X_WT.translation - path(s - 1.0 / PARTS as f64).translation).norm();
            let last = &positions[i - 1];
            let percent = 100.0 * s;
            // No random starts: they would find another posture, which is no continuation of the path.
            let next = self.solve(model, &X_WT, last, 0).map_err(|why| {
                let p = X_WT.translation;
                MoveError::Unreachable { percent, x: p.x, y: p.y, z: p.z, why }
            })?;
            for id in &self.joints {
                let joint = &model.joints[id.0];
                let step = next[joint.q_start] - last[joint.q_start];
                // Inverse kinematics stays near its start but does not promise it: beside a singular posture it may cross over.
                if step.abs() > LARGEST_STEP {
                    return Err(MoveError::Branch { joint: joint.name.clone(), step, percent });
                }
            }
            positions.push(next);
        }
        let duration =
            // As in `joint_move`: points at one instant are refused.
            Profile::Quintic.duration(length, limits.speed, limits.acceleration).max(0.05);
        let mut trajectory = self.time_path(model, &positions, duration);
        // The tool's limits are in the duration; what the joints make of the path is known only now.
        let peaks = self.joint_peaks(model, &trajectory, limits);
        // A move λ times longer has 1/λ of the speed and 1/λ² of the acceleration.
        if peaks > 1.0 {
            trajectory.stretch(peaks);
        }
        Ok((trajectory, positions.swap_remove(PARTS)))
    }

    /// Straight path from `X_from` to `X_to`, turning evenly.
    pub fn straight(X_from: Pose, X_to: Pose) -> impl Fn(f64) -> Pose {
        let (a, b) = (X_from.quaternion(), X_to.quaternion());
        move |s| {
            // Half a turn apart, the two orientations have no shortest rotation between them.
            let q = a.try_slerp(&b, s, 1e-9).unwrap_or(if s < 0.5 { a } else { b });
            Pose::from_quaternion(&q, X_from.translation.lerp(&X_to.translation, s))
        }
    }

    /// Path round a vertical axis through `axis`: azimuth, radius, height change evenly, the tool turns with the azimuth
    /// and, evenly, by what is left of the turn between the two orientations. [m]
    pub fn arc(axis: Vector3, X_from: Pose, X_to: Pose) -> impl Fn(f64) -> Pose {
        let (a, b) = (X_from.translation - axis, X_to.translation - axis);
        let (radius_a, radius_b) = (a.xy().norm(), b.xy().norm());
        let azimuth_a = a.y.atan2(a.x);
        // The short side of the axis: across ±π the difference of the azimuths would go round the long one.
        let sweep = crate::trajectory::shortest_angle(azimuth_a, b.y.atan2(b.x));
        let about_z = |angle: f64| UnitQuaternion::from_axis_angle(&Vector3::z_axis(), angle);
        let start = X_from.quaternion();
        // The tool turns with the azimuth; the interpolation from `start` to `end` is the rest of its turn.
        let end = about_z(-sweep) * X_to.quaternion();
        move |s| {
            let (sin, cos) = (azimuth_a + sweep * s).sin_cos();
            let radius = radius_a + (radius_b - radius_a) * s;
            let p = Vector3::new(radius * cos, radius * sin, a.z + (b.z - a.z) * s);
            let turned = start.try_slerp(&end, s, 1e-9).unwrap_or(start);
            Pose::from_quaternion(&(about_z(sweep * s) * turned), axis + p)
        }
    }

    /// Visits the tool's pose, velocity and classical acceleration (world axes) every `dt` along a trajectory from
    /// `q`, whose other joints stand still. [s] (nq)
    pub fn visit(
        &mut self,
        model: &Model,
        q: &[f64],
        trajectory: &JointTrajectory,
        dt: f64,
        mut see: impl FnMut(f64, &Pose, &Motion, &Motion),
    ) {
        let order: Vec<_> = (0..self.joints.len()).map(Some).collect();
        let path = Path::new(trajectory, &order);
        let mut samples = vec![JointSample::default(); self.joints.len()];
        let (mut q, mut v, mut vdot) = (q.to_vec(), vec![0.0; model.nv], vec![0.0; model.nv]);
        let first: Vec<_> = path.first().iter().map(crate::trajectory::Knot::sample).collect();
        let entry = Entry { time: 0.0, states: &first };
        let mut t = 0.0;
        while t <= path.duration() {
            path.sample(t, entry, Interpolation::Splines, &mut samples);
            for (id, sample) in self.joints.iter().zip(&samples) {
                let joint = &model.joints[id.0];
                q[joint.q_start] = sample.position;
                v[joint.v_start] = sample.velocity;
                vdot[joint.v_start] = sample.acceleration;
            }
            forward_kinematics(model, &mut self.data, &q);
            update_velocities(model, &mut self.data, &v);
            update_accelerations(model, &mut self.data, &v, &vdot);
            let X_WT = karakuri_dynamics::frame_pose(model, &self.data, self.frame);
            let V = karakuri_dynamics::frame_velocity(model, &self.data, self.frame);
            let A = frame_acceleration(model, &self.data, self.frame);
            see(t, &X_WT, &V, &A);
            t += dt;
        }
    }

    /// Slows a trajectory from `q` until the tool keeps its speed and its acceleration: of motions by the joints nobody says where the tool goes. (nq)
    pub fn slow_for_tool(
        &mut self,
        model: &Model,
        q: &[f64],
        trajectory: &mut JointTrajectory,
        limits: &MoveLimits,
    ) {
        let (mut speed, mut acceleration) = (0.0_f64, 0.0_f64);
        self.visit(model, q, trajectory, CHECK_PERIOD, |_, _, V, A| {
            speed = speed.max(V.linear.norm());
            acceleration = acceleration.max(A.linear.norm());
        });
        // A move λ times longer has 1/λ of the speed and 1/λ² of the acceleration.
        let slower = (speed / limits.speed).max((acceleration / limits.acceleration).sqrt());
        if slower > 1.0 {
            trajectory.stretch(slower);
        }
    }

    /// Factor by which the trajectory must be slowed for the joints' limits; 1 if they are kept. [-]
    fn joint_peaks(&self, model: &Model, trajectory: &JointTrajectory, limits: &MoveLimits) -> f64 {
        let mut factor: f64 = 1.0;
        for point in &trajectory.points {
            for (j, id) in self.joints.iter().enumerate() {
                let speed = model.joints[id.0].limits.velocity * limits.joint_speed_scale;
                factor = factor.max(point.velocities[j].abs() / speed);
                // Slowed by λ, a speed falls by λ and an acceleration by λ²: the factor of the latter is a square root.
                factor =
                    factor.max((point.accelerations[j].abs() / limits.joint_acceleration).sqrt());
            }
        }
        factor
    }

    fn names(&self, model: &Model) -> Vec<String> {
        self.joints.iter().map(|id| model.joints[id.0].name.clone()).collect()
    }

    fn time_path(&self, model: &Model, positions: &[Vec<f64>], duration: f64) -> JointTrajectory {
        let h = 1.0 / PARTS as f64;
        let mut points = Vec::with_capacity(PARTS + 1);
        for i in 0..=PARTS {
            let t = time_at(i as f64 * h, duration);
            let along = Profile::Quintic.sample(t, duration);
            // Differences are taken one part inside the ends, where `ṡ = 0` makes them count for nothing.
            let c = i.clamp(1, PARTS - 1);
            let mut point = TrajectoryPoint { time_from_start: t, ..TrajectoryPoint::default() };
            for id in &self.joints {
                let k = model.joints[id.0].q_start;
                let (a, b, d) = (positions[c - 1][k], positions[c][k], positions[c + 1][k]);
                // q' and q'' by central differences, then q̇ = q' ṡ and q̈ = q'' ṡ² + q' s̈.
                let (first, second) = ((d - a) / (2.0 * h), (d - 2.0 * b + a) / (h * h));
                let v = along.velocity;
                point.positions.push(positions[i][k]);
                point.velocities.push(first * v);
                point.accelerations.push(second * v * v + first * along.acceleration);
            }
            points.push(point);
        }
        JointTrajectory { start: None, joints: self.names(model), points }
    }
}

/// Time at which the quintic profile is at `s`, by bisection: the profile is monotone. [s]
fn time_at(s: f64, duration: f64) -> f64 {
    // The profile is flat at its end and rounds to 1 before: bisection would put the last point too early.
    if s >= 1.0 {
        return duration;
    }
    let (mut low, mut high) = (0.0, duration);
    // 60 halvings leave less than a double resolves.
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if Profile::Quintic.sample(middle, duration).s < s { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}
