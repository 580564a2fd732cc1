//! The states of a run as rows of numbers, in chunks that are sent while it goes on.

use karakuri_model::JointKind;
use karakuri_physics::{RobotId, World};
use karakuri_spatial::Pose;
use serde::Serialize;

use super::PreviewSettings;

/// Names of what a row of a clip has: poses of bodies, `x y z qx qy qz qw` [m], then position, velocity and effort of joints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClipLayout {
    /// Bodies of the robot, then those around it.
    pub bodies: Vec<String>,
    /// Joints of one degree of freedom.
    pub joints: Vec<String>,
    /// Time between two rows. [s]
    pub period: f64,
}

impl ClipLayout {
    /// Numbers of a row.
    pub fn width(&self) -> usize {
        7 * self.bodies.len() + 3 * self.joints.len()
    }
}

/// Rows of a clip.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipChunk {
    /// Index of the first row; its time is that times the period.
    pub first_row: usize,
    /// The rows, one after another. (n × width)
    pub rows: Vec<f32>,
}

/// A clip that grows.
pub(super) struct Clip {
    layout: ClipLayout,
    chunk: ClipChunk,
    chunk_rows: usize,
    /// Rows so far.
    n: usize,
}

impl Clip {
    pub(super) fn new(world: &World, settings: &PreviewSettings) -> Self {
        let mut layout =
            ClipLayout { bodies: Vec::new(), joints: Vec::new(), period: settings.clip_period };
        for id in world.robot_ids() {
            let model = world.robot(id).model();
            layout.bodies.extend(model.bodies.iter().map(|body| body.name.clone()));
            let single = model.joints.iter().filter(|joint| joint.kind.single().is_some());
            layout.joints.extend(single.map(|joint| joint.name.clone()));
        }
        let bodies = world.body_ids().map(|id| world.body(id).description().name.clone());
        layout.bodies.extend(bodies);
        let chunk = ClipChunk { first_row: 0, rows: Vec::new() };
        Self { layout, chunk, chunk_rows: settings.chunk_rows.max(1), n: 0 }
    }

    pub(super) fn layout(&self) -> &ClipLayout {
        &self.layout
    }

    /// Takes the state of the world where a row is due; a chunk when it is full.
    pub(super) fn take(&mut self, world: &World) -> Option<ClipChunk> {
        let due = self.n as f64 * self.layout.period;
        if world.time() < due - 0.5 * world.settings().dt {
            return None;
        }
        for id in world.robot_ids() {
            for pose in &world.robot(id).data().pose_in_world {
                self.pose(pose);
            }
        }
        for id in world.body_ids() {
            self.pose(&world.body(id).shape_pose());
        }
        for id in world.robot_ids() {
            self.joints(world, id);
        }
        self.n += 1;
        if self.n - self.chunk.first_row < self.chunk_rows { None } else { self.rest() }
    }

    /// The rows that were not given yet.
    pub(super) fn rest(&mut self) -> Option<ClipChunk> {
        let next = ClipChunk { first_row: self.n, rows: Vec::new() };
        let chunk = std::mem::replace(&mut self.chunk, next);
        (!chunk.rows.is_empty()).then_some(chunk)
    }

    fn pose(&mut self, pose: &Pose) {
        let q = pose.quaternion();
        let p = pose.translation;
        self.extend(&[p.x, p.y, p.z, q.i, q.j, q.k, q.w]);
    }

    fn joints(&mut self, world: &World, id: RobotId) {
        let robot = world.robot(id);
        let is_single = |kind: &JointKind| kind.single().is_some();
        for joint in robot.model().joints.iter().filter(|joint| is_single(&joint.kind)) {
            let (q, v) = (robot.q()[joint.q_start], robot.v()[joint.v_start]);
            self.extend(&[q, v, robot.efforts()[joint.v_start]]);
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "pictures need no more")]
    fn extend(&mut self, values: &[f64]) {
        self.chunk.rows.extend(values.iter().map(|value| *value as f32));
    }
}
