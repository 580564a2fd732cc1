//! What a robot sees of its cell: the scene for checks, and what `look` and `status` answer.

use std::collections::BTreeMap;

use karakuri_commands::{Scene, SceneObject, is_name};
use karakuri_grasp::pick_and_place::{KnownObject, ToolMove};
use karakuri_rehearsal::{Cell, ToolChanger};
use karakuri_spatial::{Pose, Vector3};
use serde_json::{Value, json};

/// What is seen at an instant.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// For the checks of commands.
    pub(crate) scene: Scene,
    /// Time of the simulation. [s]
    time: f64,
    /// Digest of the world.
    pub(crate) world: String,
    tool: Value,
    robot: Value,
    flange: Option<String>,
    tools: Vec<String>,
    stage: &'static str,
    /// Part of the act that is done, 0 to 1. [-]
    pub(crate) progress: f64,
    /// Name of what was picked and is in the hand.
    pub(crate) held: Option<String>,
}

impl Seen {
    /// What a cell shows. The digest is taken at rest only: it takes longer than a period.
    pub(crate) fn of(cell: &Cell, held: Option<&str>, has_digest: bool) -> Self {
        let world = cell.io.world();
        let of_body = |object: KnownObject| {
            let description = world.find_body(&object.name).map(|id| world.body(id).description());
            SceneObject {
                shape: description.map_or("box", |description| description.shape.kind()),
                position_m: object.pose.translation.into(),
                size_m: object.size.into(),
                yaw_rad: yaw(&object.pose),
                mass_kg: description.map(|description| description.mass),
                is_fixed: description.is_some_and(|description| description.fixed),
                name: object.name,
            }
        };
        let tool = cell.machine().map(|machine| {
            let pose = cell.tool_pose();
            let hand = machine.opening_hand();
            let opening = hand.map(|_| machine.feedback().opening);
            let widest = hand.map(|hand| hand.fingers().opening_range().1);
            json!({
                "kind": machine.kind(),
                "xyz_m": pose.translation.as_slice(),
                "yaw_rad": ToolMove::yaw(&pose),
                "opening_m": opening,
                "widest_m": widest,
            })
        });
        let robot = cell.gait.as_ref().map(|gait| {
            let stance = cell.stance(gait);
            json!({
                "xyz_m": stance.translation.as_slice(),
                "yaw_rad": yaw(&stance),
                "stands": gait.is_engaged(),
            })
        });
        let progress = cell.machine().map_or(0.0, |machine| machine.feedback().progress);
        Self {
            scene: Scene {
                objects: cell.objects().into_iter().map(of_body).collect(),
                is_busy: false,
            },
            time: cell.now().seconds(),
            world: if has_digest { cell.digest().to_string() } else { String::new() },
            tool: json!(tool),
            robot: json!(robot),
            flange: cell.tool().map(str::to_owned),
            tools: cell.tools.iter().flat_map(ToolChanger::names).map(str::to_owned).collect(),
            stage: cell.stage(),
            progress,
            held: held.map(str::to_owned),
        }
    }

    /// Answer to `look`; all objects, or those of these names, with the names of the hands that hold each, where they are known. What has no name that
    /// can be said has none here.
    pub(crate) fn look(
        &self,
        names: Option<&[String]>,
        hands: Option<&BTreeMap<String, Vec<String>>>,
    ) -> Value {
        let is_meant =
            |object: &&SceneObject| names.is_none_or(|names| names.contains(&object.name));
        let describe = |object: &SceneObject| {
            let held = self.held.as_ref() == Some(&object.name);
            json!({
                "name": is_name(&object.name).then_some(&object.name),
                "shape": object.shape,
                "xyz_m": object.position_m,
                "size_m": object.size_m,
                "yaw_rad": object.yaw_rad,
                "mass_kg": if object.is_fixed { None } else { object.mass_kg },
                "fixed": object.is_fixed,
                "held": held,
                "graspable_by": hands.map(|hands| hands.get(&object.name).cloned().unwrap_or_default()),
            })
        };
        let objects = self.scene.objects.iter().filter(is_meant).map(describe);
        json!({
            "time_s": self.time,
            "objects": objects.collect::<Vec<_>>(),
            "tool": self.tool,
            "flange": self.flange,
            "tools": self.tools,
            "robot": self.robot,
            "world": self.world,
        })
    }

    /// What the robot does and holds, for `status`.
    pub(crate) fn status(&self, is_busy: bool) -> Value {
        json!({
            "time_s": self.time,
            "busy": is_busy,
            "stage": self.stage,
            "progress": self.progress,
            "held": self.held.as_ref().filter(|name| is_name(name)),
        })
    }
}

/// Angle about the vertical. [rad]
pub(crate) fn yaw(pose: &Pose) -> f64 {
    pose.rotation[(1, 0)].atan2(pose.rotation[(0, 0)])
}

/// Half of the height that a box takes as it stands or leans. [m]
pub(crate) fn half_height(object: &KnownObject) -> f64 {
    let up = object.pose.rotation.row(2).abs();
    0.5 * (up.x * object.size.x + up.y * object.size.y + up.z * object.size.z)
}

/// Height of the highest top below a point, of all objects but one. [m]
pub(crate) fn top_below(cell: &Cell, [x, y]: [f64; 2], except: Option<&str>) -> Option<f64> {
    let objects = cell.objects();
    let others = objects.iter().filter(|object| except != Some(object.name.as_str()));
    let is_below = |object: &&KnownObject| {
        let from = Vector3::new(x, y, object.pose.translation.z);
        let local = object.pose.inverse().transform_point(&from);
        local.x.abs() <= 0.5 * object.size.x && local.y.abs() <= 0.5 * object.size.y
    };
    let tops =
        others.filter(is_below).map(|object| object.pose.translation.z + half_height(object));
    tops.max_by(f64::total_cmp)
}
