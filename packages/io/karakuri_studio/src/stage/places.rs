//! Poses of bodies as the page gets them.

use karakuri_dynamics::{Data, forward_kinematics};
use karakuri_model::Model;
use karakuri_physics::World;
use karakuri_spatial::Pose;

use crate::wire::Place;

/// Pose as `x y z qx qy qz qw`.
pub(crate) fn place_of(pose: &Pose) -> Place {
    let (p, q) = (pose.translation, pose.quaternion());
    [p.x, p.y, p.z, q.i, q.j, q.k, q.w]
}

/// Poses of a robot's bodies at a position. (nq)
pub(crate) fn robot_places(model: &Model, data: &mut Data, q: &[f64]) -> Vec<Place> {
    forward_kinematics(model, data, q);
    data.pose_in_world.iter().map(place_of).collect()
}

/// Numbers of a state frame: the poses of all bodies, and position, velocity and effort of all joints.
pub(crate) fn world_numbers(world: &World, numbers: &mut Vec<f64>) {
    numbers.clear();
    for id in world.robot_ids() {
        numbers.extend(world.robot(id).data().pose_in_world.iter().flat_map(place_of));
    }
    for id in world.body_ids() {
        numbers.extend(place_of(&world.body(id).shape_pose()));
    }
    for id in world.robot_ids() {
        let robot = world.robot(id);
        for joint in robot.model().joints.iter().filter(|j| j.kind.single().is_some()) {
            numbers.extend([
                robot.q()[joint.q_start],
                robot.v()[joint.v_start],
                robot.efforts()[joint.v_start],
            ]);
        }
    }
}
