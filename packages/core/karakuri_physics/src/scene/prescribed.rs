//! `prescribed` of a scene: joints and bodies that move as tables say.

use std::path::PathBuf;

use karakuri_model::yaml::{Fields, Node, Reader};
use karakuri_model::{Place, Report};

use super::Scene;
use super::read::ANY;
use super::ties::{ScenePart, note, read_part};
use crate::{MotionTable, Owner, PoseTable, World};

/// A joint or body of a scene that moves as prescribed.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenePrescribed {
    /// `robot/joint`, or a body's name.
    pub part: ScenePart,
    /// Motion over the simulated time.
    pub motion: SceneMotion,
    /// Place where it is written.
    pub place: Place,
}

/// A motion over time.
#[derive(Debug, Clone, PartialEq)]
pub enum SceneMotion {
    /// Motion of a joint.
    Joint(MotionTable),
    /// Motion of a body.
    Body(Box<PoseTable>),
    /// Motion of a joint, in a CSV table that is not read yet.
    JointFile {
        /// Path as written, relative to the scene file.
        path: PathBuf,
        /// Name of the column of positions, without its unit.
        column: String,
    },
    /// Motion of a body in such a table: columns `x`, `y`, `z`, `roll`, `pitch`, `yaw`, those that there are.
    BodyFile {
        /// Path as written, relative to the scene file.
        path: PathBuf,
    },
}

impl Scene {
    /// Reads the key `prescribed`.
    pub(super) fn read_prescribed(&mut self, reader: &mut Reader<'_>, fields: &Fields<'_>) {
        let Some((node, path)) = fields.get("prescribed") else { return };
        let items = reader.list(node, &path).iter();
        self.prescribed = items.filter_map(|item| read_one(reader, item, &path)).collect();
    }
}

fn read_one(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<ScenePrescribed> {
    let keys =
        ["joint", "body", "times", "positions", "velocities", "xyz", "rpy", "table", "column"];
    let fields = reader.fields(node, path, &keys);
    let (name, of_joint) = match (fields.get("joint"), fields.get("body")) {
        (Some(joint), None) => (joint, true),
        (None, Some(body)) => (body, false),
        _ => {
            let message = format!("{path}: names no joint and no body, or both");
            reader.error(node, message, "write `joint: robot/joint`, or `body: name`");
            return None;
        }
    };
    let part = read_part(reader, name.0, &name.1)?;
    let place = node.place.clone();
    let motion = if let Some((table, table_path)) = fields.get("table") {
        let inline = ["times", "positions", "velocities", "xyz", "rpy"];
        // Of a motion in two places neither is left out in silence.
        if let Some((other, other_path)) = inline.into_iter().find_map(|k| fields.get(k)) {
            let message = format!("{other_path}: the motion is in `table` already");
            reader.error(other, message, "delete one of the two");
        }
        let path = PathBuf::from(reader.text(table, &table_path)?);
        let given = fields.get("column").and_then(|(n, p)| reader.text(n, &p)).map(str::to_owned);
        // The column that a recorded run has for the joint.
        let column = given.unwrap_or_else(|| format!("{}.q", part.name.replace('/', ".")));
        if of_joint {
            SceneMotion::JointFile { path, column }
        } else {
            SceneMotion::BodyFile { path }
        }
    } else if of_joint {
        SceneMotion::Joint(read_joint_motion(reader, node, &fields, path)?)
    } else {
        SceneMotion::Body(Box::new(read_body_motion(reader, node, &fields, path)?))
    };
    Some(ScenePrescribed { part, motion, place })
}

fn read_numbers(reader: &mut Reader<'_>, node: &Node, path: &str, unit: &str) -> Option<Vec<f64>> {
    let items = reader.list(node, path).iter();
    items.map(|item| reader.number(item, path, &ANY, unit)).collect()
}

fn read_times(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Vec<f64>> {
    let example = "[0, 1, 2] # s; or `table: motion.csv`";
    let (node, path) = reader.required(fields, "times", example)?;
    read_numbers(reader, node, &path, "s")
}

fn read_joint_motion(
    reader: &mut Reader<'_>,
    node: &Node,
    fields: &Fields<'_>,
    path: &str,
) -> Option<MotionTable> {
    let times = read_times(reader, fields);
    let positions = reader
        .required(fields, "positions", "[0, 0.5, 0]")
        .and_then(|(node, path)| read_numbers(reader, node, &path, "rad or m"));
    // Without velocities the spline takes its own slopes.
    let velocities = match fields.get("velocities") {
        Some((node, path)) => Some(read_numbers(reader, node, &path, "rad/s or m/s")?),
        None => None,
    };
    let made = MotionTable::new(times?, positions?, velocities);
    made.map_err(|problem| refuse_table(reader, node, path, problem)).ok()
}

fn read_body_motion(
    reader: &mut Reader<'_>,
    node: &Node,
    fields: &Fields<'_>,
    path: &str,
) -> Option<PoseTable> {
    let times = read_times(reader, fields)?;
    // Without `xyz` the body stays in its place, without `rpy` in its attitude.
    let mut poses = PoseTable::default();
    if fields.get("xyz").is_none() && fields.get("rpy").is_none() {
        let message = format!("{path}: says neither where nor how the body turns");
        reader.error(node, message, "write `xyz: [[0, 0, 0], ...]`, `rpy`, or both");
        return None;
    }
    for (key, first, unit) in [("xyz", 0, "m"), ("rpy", 3, "rad")] {
        let Some((node, path)) = fields.get(key) else { continue };
        let items = reader.list(node, &path).iter();
        let rows: Vec<[f64; 3]> =
            items.map(|item| reader.vector(item, &path, unit)).collect::<Option<_>>()?;
        for axis in 0..3 {
            let values = rows.iter().map(|row| row[axis]).collect();
            match MotionTable::new(times.clone(), values, None) {
                Ok(table) => poses.0[first + axis] = Some(table),
                Err(problem) => {
                    refuse_table(reader, node, &path, problem);
                    return None;
                }
            }
        }
    }
    Some(poses)
}

fn refuse_table(reader: &mut Reader<'_>, node: &Node, path: &str, problem: &str) {
    let (what, remedy) = problem.split_once("; ").unwrap_or((problem, "correct it"));
    reader.error(node, format!("{path}: {what}"), remedy);
}

impl World {
    /// Lets joints and bodies move as the scene says.
    pub(super) fn prescribe(&mut self, scene: &Scene, report: &mut Report) {
        for ScenePrescribed { part, motion, place } in &scene.prescribed {
            match motion {
                SceneMotion::Joint(table) => {
                    let found = self.find_robot_joint(&part.name);
                    if let Some((robot, body)) = note(found, &part.place, report) {
                        note(self.prescribe_joint(robot, body, table.clone()), place, report);
                    }
                }
                SceneMotion::Body(table) => {
                    match note(self.find_part(&part.name), &part.place, report) {
                        Some(Owner::Body(body)) => {
                            note(self.prescribe_body(body, PoseTable::clone(table)), place, report);
                        }
                        Some(_) => {
                            let message = format!("`{}` is no body", part.name);
                            let remedy =
                                "name a fixed body of the scene; of a robot prescribe the joints";
                            report.error_at(part.place.clone(), message, remedy);
                        }
                        None => {}
                    }
                }
                // This crate opens no files: whoever loads a scene puts the table in the file's place.
                SceneMotion::JointFile { path, .. } | SceneMotion::BodyFile { path } => {
                    let message = format!("the table {} was not read", path.display());
                    report.error_at(place.clone(), message, "load the scene from its file");
                }
            }
        }
    }
}
