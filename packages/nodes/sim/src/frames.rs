//! Frames that a pose may be given in: the world, entities, links of robots.

use karakuri_physics::World;
use karakuri_spatial::{Motion, Pose};

use crate::world::{self, Entity};

/// Present pose `X_WF` of a frame: empty or `world`, the name of an entity, `robot/link`, or the name of a link that only one
/// robot has, as in `/tf`.
pub(crate) fn pose_in_world(world: &World, frame: &str) -> Result<Pose, String> {
    if matches!(frame, "" | "world") {
        return Ok(Pose::IDENTITY);
    }
    if let Some(entity) = world::find(world, frame) {
        return Ok(world::state(world, entity).0);
    }
    let (robot, link) = frame.split_once('/').map_or((None, frame), |(r, l)| (Some(r), l));
    let mut found = Vec::new();
    for id in world.robot_ids().filter(|&id| robot.is_none_or(|r| world.robot(id).name() == r)) {
        let view = world.robot(id);
        if let Some(frame) = view.model().frames.iter().find(|f| f.name == link) {
            let body = frame.body.map_or(Pose::IDENTITY, |b| view.data().pose_in_world[b.0]);
            found.push((view.name().to_owned(), body * frame.pose_in_body));
        }
    }
    match found.as_slice() {
        [(_, pose)] => Ok(*pose),
        [] => Err(format!(
            "there is no frame `{frame}`; write world, the name of an entity, or robot/link"
        )),
        several => {
            let names: Vec<_> = several.iter().map(|(r, _)| format!("{r}/{link}")).collect();
            Err(format!("several robots have a link `{link}`; write {}", names.join(" or ")))
        }
    }
}

/// Pose and velocity in the world of those given in a frame; the frame counts as at rest.
pub(crate) fn to_world(frame_pose: &Pose, pose: &Pose, velocity: &Motion) -> (Pose, Motion) {
    let turned = Motion {
        linear: frame_pose.rotation * velocity.linear,
        angular: frame_pose.rotation * velocity.angular,
    };
    (*frame_pose * *pose, turned)
}

/// Whether an entity never moves.
pub(crate) fn is_static(world: &World, entity: Entity) -> bool {
    match entity {
        Entity::Object(id) => world.body(id).description().fixed,
        Entity::Robot(_) => false,
    }
}
