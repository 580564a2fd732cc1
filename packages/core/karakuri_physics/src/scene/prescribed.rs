//! `prescribed` of a scene: joints that move as a table says.

use std::path::PathBuf;

use karakuri_model::yaml::{Fields, Node, Reader};
use karakuri_model::{Place, Report};

use super::Scene;
use super::read::ANY;
use super::ties::{ScenePart, note, required_part};
use crate::{MotionTable, World};

/// A joint of a scene that moves as prescribed.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenePrescribed {
    /// `robot/joint`.
    pub joint: ScenePart,
    /// How.
    pub motion: SceneMotion,
    /// Where it is written.
    pub place: Place,
}

/// A motion over time.
#[derive(Debug, Clone, PartialEq)]
pub enum SceneMotion {
    /// Samples, in the scene file or read.
    Table(MotionTable),
    /// A CSV table, as written, that is not read yet, and its column of positions.
    File {
        /// Relative to the scene file.
        path: PathBuf,
        /// Name of the column, without its unit.
        column: String,
    },
}

impl Scene {
    /// Reads `prescribed`.
    pub(super) fn read_prescribed(&mut self, reader: &mut Reader<'_>, fields: &Fields<'_>) {
        let Some((node, path)) = fields.get("prescribed") else { return };
        let items = reader.list(node, &path).iter();
        self.prescribed = items.filter_map(|item| read_one(reader, item, &path)).collect();
    }
}

fn read_one(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<ScenePrescribed> {
    let keys = ["joint", "times", "positions", "velocities", "table", "column"];
    let fields = reader.fields(node, path, &keys);
    let joint = required_part(reader, &fields, "joint")?;
    let place = node.place.clone();
    if let Some((table, table_path)) = fields.get("table") {
        let inline = ["times", "positions", "velocities"].into_iter().find_map(|k| fields.get(k));
        if let Some((other, other_path)) = inline {
            let message = format!("{other_path}: the motion is in `table` already");
            reader.error(other, message, "delete one of the two");
        }
        let file = PathBuf::from(reader.text(table, &table_path)?);
        let given = fields.get("column").and_then(|(n, p)| reader.text(n, &p)).map(str::to_owned);
        let column = given.unwrap_or_else(|| format!("{}.q", joint.name.replace('/', ".")));
        return Some(ScenePrescribed {
            joint,
            motion: SceneMotion::File { path: file, column },
            place,
        });
    }
    let mut numbers = |key: &str, example: &str, unit: &str| -> Option<Vec<f64>> {
        let (node, path) = reader.required(&fields, key, example)?;
        let items = reader.list(node, &path).iter();
        items.map(|item| reader.number(item, &path, &ANY, unit)).collect()
    };
    let times = numbers("times", "[0, 1, 2] # s; or `table: motion.csv`", "s");
    let positions = numbers("positions", "[0, 0.5, 0]", "rad or m");
    let given = fields.get("velocities").is_some();
    let velocities = given.then(|| numbers("velocities", "[0, 0, 0]", "rad/s or m/s"));
    let velocities = match velocities {
        Some(None) => return None,
        Some(some) => some,
        None => None,
    };
    match MotionTable::new(times?, positions?, velocities) {
        Ok(table) => Some(ScenePrescribed { joint, motion: SceneMotion::Table(table), place }),
        Err(problem) => {
            let (what, remedy) = problem.split_once("; ").unwrap_or((problem, "correct it"));
            reader.error(node, format!("{path}: {what}"), remedy);
            None
        }
    }
}

impl World {
    /// Lets joints move as the scene says.
    pub(super) fn prescribe(&mut self, scene: &Scene, report: &mut Report) {
        for ScenePrescribed { joint, motion, place } in &scene.prescribed {
            let found = self.find_robot_joint(&joint.name);
            let Some((robot, body)) = note(found, &joint.place, report) else { continue };
            match motion {
                SceneMotion::Table(table) => {
                    note(self.prescribe_joint(robot, body, table.clone()), place, report);
                }
                SceneMotion::File { path, .. } => {
                    let message = format!("the table {} was not read", path.display());
                    report.error_at(place.clone(), message, "load the scene from its file");
                }
            }
        }
    }
}
