//! Rows of a sampled motion: bodies, joints, and the polygon around the soles that stand.

use std::sync::Arc;

use karakuri_dynamics::{Data, forward_kinematics, frame_pose};
use karakuri_gait::geometry::ConvexPolygon;
use karakuri_motion::{LoadsOf, MotionState, Performance, Performer};

use crate::stage::place_of;
use crate::wire::{Code, Stage, WireError};

/// Most rows of a clip: ten minutes at 60 Hz.
const ROWS: usize = 36_000;
/// Distance by which corners of a support polygon move while it counts as the same. [m]
const SAME: f64 = 1e-5;

/// Times of rows, the last one at the end. [s]
pub(crate) fn times(duration: f64, dt: f64) -> Result<Vec<f64>, WireError> {
    let n = (duration / dt - 1e-9).ceil().max(0.0);
    if n >= ROWS as f64 {
        let text = format!("the motion lasts {duration:.0} s: more than {ROWS} rows");
        return Err(WireError::new(Code::Limit, text, "ask for fewer rows a second"));
    }
    let mut times = Vec::new();
    while (times.len() as f64) < n {
        times.push(times.len() as f64 * dt);
    }
    times.push(duration);
    Ok(times)
}

/// What is on a stage beside the robot that performs, at rest.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// Number of the stage.
    pub(crate) stage: u16,
    /// Poses of the bodies. (7 × n)
    poses: Vec<f64>,
    /// Number of joints of the other robots.
    n_joints: usize,
}

impl From<&Stage> for Surroundings {
    fn from(stage: &Stage) -> Self {
        let robots = stage.robots.iter().skip(1);
        let mut poses: Vec<f64> = robots.clone().flat_map(|r| r.bodies_at_rest.concat()).collect();
        poses.extend(stage.objects.iter().flat_map(|object| object.pose));
        Self { stage: stage.number, poses, n_joints: robots.map(|r| r.joints.len()).sum() }
    }
}

/// Rows of a clip.
pub(super) struct Rows {
    /// The rows, one after another.
    pub(super) numbers: Vec<f64>,
    /// Support polygons, each with the first row that it holds for.
    pub(super) polygons: Vec<(u32, Vec<[f64; 2]>)>,
    state: MotionState,
    data: Data,
    loads: LoadsOf,
    surroundings: Surroundings,
    n: u32,
}

impl Rows {
    pub(super) fn new(performance: &Performance, surroundings: Surroundings, gravity: f64) -> Self {
        let performer = performance.performer();
        Self {
            numbers: Vec::new(),
            polygons: Vec::new(),
            state: MotionState::default(),
            data: Data::new(&performer.model),
            loads: LoadsOf::new(performer, gravity),
            surroundings,
            n: 0,
        }
    }

    /// Adds the row of a time.
    pub(super) fn add(&mut self, performance: &mut Performance, t: f64) {
        performance.sample(t, &mut self.state);
        let performer = Arc::clone(performance.performer());
        let model = &performer.model;
        forward_kinematics(model, &mut self.data, &self.state.q);
        self.numbers.extend(self.data.pose_in_world.iter().flat_map(place_of));
        self.numbers.extend(&self.surroundings.poses);
        let effort = self.loads.effort(&self.state);
        for joint in model.joints.iter().filter(|j| j.kind.single().is_some()) {
            let (q, v) = (joint.q_start, joint.v_start);
            self.numbers.extend([self.state.q[q], self.state.v[v], effort[v]]);
        }
        self.numbers.extend(std::iter::repeat_n(0.0, 3 * self.surroundings.n_joints));
        let polygon = self.polygon(&performer);
        let same = |old: &[[f64; 2]]| {
            old.len() == polygon.len()
                && old.iter().zip(&polygon).all(|(a, b)| (a[0] - b[0]).hypot(a[1] - b[1]) < SAME)
        };
        if !self.polygons.last().is_some_and(|(_, old)| same(old)) {
            self.polygons.push((self.n, polygon));
        }
        self.n += 1;
    }

    /// Corners of the polygon around the soles that stand. [m] (n × 2)
    fn polygon(&self, performer: &Performer) -> Vec<[f64; 2]> {
        let Some(legs) = &performer.legs else { return Vec::new() };
        let standing = legs.iter().zip(self.state.stands).filter(|(_, stands)| *stands);
        let corners = standing.flat_map(|(leg, _)| {
            let X_WSole = frame_pose(&performer.model, &self.data, leg.foot) * leg.sole_in_foot;
            leg.outline.corners().map(|[x, y]| {
                let p = X_WSole.transform_point(&karakuri_spatial::Vector3::new(x, y, 0.0));
                [p.x, p.y]
            })
        });
        ConvexPolygon::hull(&corners.collect::<Vec<_>>()).corners
    }
}
