//! Trace of a run: one row per output time, units in the header.

use std::path::Path;

use karakuri_files::{Column, TraceError, TraceWriter};
use karakuri_model::{Base, DofKind, Joint, JointKind, Model};
use karakuri_physics::{RobotView, World};
use karakuri_spatial::{Motion, Pose, Vector3};

use super::loads;

/// File of the trace, and the row that is being filled.
pub(super) struct Trace {
    writer: TraceWriter,
    row: Vec<f64>,
    /// Whether it includes energies.
    energy: bool,
}

const POSE: [(&str, &str); 7] =
    [("x", "m"), ("y", "m"), ("z", "m"), ("qx", ""), ("qy", ""), ("qz", ""), ("qw", "")];
const VELOCITY: [(&str, &str); 6] = [
    ("vx", "m/s"),
    ("vy", "m/s"),
    ("vz", "m/s"),
    ("wx", "rad/s"),
    ("wy", "rad/s"),
    ("wz", "rad/s"),
];

impl Trace {
    pub(super) fn create(file: &Path, world: &World) -> Result<Self, TraceError> {
        let (mut columns, energy) = (columns(world), world.settings().energy_ledger);
        if energy {
            loads::energy_columns(&mut columns);
        }
        Ok(Self {
            writer: TraceWriter::create(file, &columns)?,
            row: Vec::with_capacity(columns.len()),
            energy,
        })
    }

    pub(super) fn row(&mut self, world: &mut World) -> Result<(), TraceError> {
        sample(world, &mut self.row);
        if self.energy {
            loads::sample_energy(world, &mut self.row);
        }
        self.writer.row(&self.row)
    }

    pub(super) fn finish(self) -> Result<(), TraceError> {
        self.writer.finish()
    }
}

/// Columns of the state of a world.
pub(crate) fn columns(world: &World) -> Vec<Column> {
    let rigid = |name: String| {
        let parts = POSE.into_iter().chain(VELOCITY);
        parts.map(move |(part, unit)| Column::new(format!("{name}.{part}"), unit))
    };
    let mut columns = vec![Column::new("time", "s")];
    for robot in world.robot_ids().map(|id| world.robot(id)) {
        columns.extend(rigid(format!("{}.base", robot.name())));
        for joint in joints(robot.model()) {
            let name = format!("{}.{}", robot.name(), joint.name);
            let (position, rate, effort) = units(&joint.kind);
            let (nq, nv) = (joint.kind.nq(), joint.kind.nv());
            for (quantity, n, unit) in [("q", nq, position), ("v", nv, rate), ("tau", nv, effort)] {
                columns.extend((0..n).map(|i| {
                    let number = if n > 1 { i.to_string() } else { String::new() };
                    Column::new(format!("{name}.{quantity}{number}"), unit)
                }));
            }
        }
    }
    for body in world.body_ids().map(|id| world.body(id)) {
        columns.extend(rigid(body.description().name.clone()));
    }
    loads::columns(world, &mut columns);
    columns
}

/// Adds the present state of a world to a row, a value per column.
pub(crate) fn sample(world: &World, row: &mut Vec<f64>) {
    row.clear();
    row.push(world.time());
    for robot in world.robot_ids().map(|id| world.robot(id)) {
        let (pose, velocity) = base_state(robot);
        add_rigid(row, &pose, &velocity);
        for joint in joints(robot.model()) {
            let (q, v) = (joint.q_start, joint.v_start);
            let (nq, nv) = (joint.kind.nq(), joint.kind.nv());
            row.extend_from_slice(&robot.q()[q..q + nq]);
            row.extend_from_slice(&robot.v()[v..v + nv]);
            row.extend_from_slice(&robot.efforts()[v..v + nv]);
        }
    }
    for body in world.body_ids().map(|id| world.body(id)) {
        add_rigid(row, &body.pose(), &body.velocity());
    }
    loads::sample(world, row);
}

fn add_rigid(row: &mut Vec<f64>, pose: &Pose, velocity: &Motion) {
    row.extend(pose.translation.iter().chain(pose.quaternion().coords.iter()));
    row.extend(velocity.linear.iter().chain(&velocity.angular));
}

/// All joints but a floating base.
pub(super) fn joints(model: &Model) -> impl Iterator<Item = &Joint> {
    let skip = usize::from(matches!(model.base, Base::Floating));
    model.joints.iter().skip(skip)
}

/// Pose of the root link, and its velocity at its origin in world axes.
pub(super) fn base_state(robot: RobotView<'_>) -> (Pose, Motion) {
    match robot.model().base {
        Base::Fixed(pose) => (pose, Motion::default()),
        Base::Floating => {
            let v = robot.v();
            let three = |i: usize| Vector3::new(v[i], v[i + 1], v[i + 2]);
            (robot.data().pose_in_world[0], Motion::new(three(3), three(0)))
        }
    }
}

/// Units of position, rate and effort; none where a joint's coordinates have different ones.
pub(crate) fn units(kind: &JointKind) -> (&'static str, &'static str, &'static str) {
    match kind.single() {
        Some(DofKind::Angle) => ("rad", "rad/s", "N·m"),
        Some(DofKind::Length) => ("m", "m/s", "N"),
        None if matches!(kind, JointKind::Spherical) => ("", "rad/s", "N·m"),
        None => ("", "", ""),
    }
}
