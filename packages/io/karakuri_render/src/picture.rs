//! Content of a picture: shapes, robots, whole worlds.

use karakuri_dynamics::{Data, forward_kinematics};
use karakuri_model::{Model, Shape};
use karakuri_physics::World;
use karakuri_spatial::Pose;

use crate::Camera;

/// Coloured shape at a pose.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Shape in its own frame.
    pub shape: Shape,
    /// Pose `X_WS` in the world.
    pub pose: Pose,
    /// Red, green, blue, opacity, 0 to 1, as on a screen; all shapes are drawn opaque.
    pub color: [f32; 4],
}

/// Camera, items and floor of a picture.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Camera that takes the picture.
    pub camera: Camera,
    /// Items in the picture.
    pub items: Vec<Item>,
    /// Height of the infinite floor. [m]
    pub floor: Option<f64>,
}

/// Visual shapes of a robot at a position `q` (nq); its collision shapes if it has no visual ones.
pub fn robot_items(model: &Model, q: &[f64]) -> Vec<Item> {
    let mut data = Data::new(model);
    forward_kinematics(model, &mut data, q);
    placed(model, &data)
}

/// Items of all robots and bodies of a world in its present state.
pub fn world_items(world: &World) -> Vec<Item> {
    let robots = world.robot_ids().flat_map(|id| {
        let robot = world.robot(id);
        placed(robot.model(), robot.data())
    });
    let bodies = world.body_ids().map(|id| {
        let body = world.body(id);
        let description = body.description();
        Item { shape: description.shape.clone(), pose: body.shape_pose(), color: description.color }
    });
    robots.chain(bodies).collect()
}

fn placed(model: &Model, data: &Data) -> Vec<Item> {
    let geometries = if model.visuals.is_empty() { &model.collisions } else { &model.visuals };
    geometries
        .iter()
        .map(|geometry| {
            let pose = match geometry.body {
                Some(body) => data.pose_in_world[body.0] * geometry.pose_in_body,
                None => geometry.pose_in_body,
            };
            Item { shape: geometry.shape.clone(), pose, color: geometry.color }
        })
        .collect()
}
