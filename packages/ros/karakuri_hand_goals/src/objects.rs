//! Sightings.

use karakuri_grasp::pick_and_place::KnownObject;
use karakuri_ros::FromMessage;
use karakuri_ros::msg::karakuri_msgs::msg::ObjectStates;
use karakuri_spatial::{Pose, Vector3};

use crate::frames::Locate;

/// Seen objects, in the model's world; those in unknown frames or without a size are left out.
pub fn objects(message: &ObjectStates, frames: &impl Locate) -> Vec<KnownObject> {
    let seen = message.objects.iter().filter_map(|object| {
        let pose = Pose::from_message(&object.pose)?;
        let size = Vector3::from_message(&object.size).filter(|size| size.min() > 0.0)?;
        let pose = frames.in_world(&message.header.frame_id, &pose)?;
        Some(KnownObject { name: object.name.clone(), pose, size, shape: None })
    });
    seen.collect()
}
