//! Topic of a hand's references.

use karakuri_model::{BodyId, Model};

/// Topic of the references of a hand without joints.
const WITHOUT_JOINTS: &str = "hand/joint_trajectory";

/// Topic of the references of a hand by the group of its joint; of one without joints, as of cups, its own.
///
/// # Errors
/// When the joint is in no group.
pub fn hand_topic(model: &Model, joint: Option<BodyId>) -> Result<String, String> {
    let Some(joint) = joint else { return Ok(WITHOUT_JOINTS.to_owned()) };
    let group = model.groups.iter().position(|g| g.joints.contains(&joint)).ok_or_else(|| {
        format!(
            "the hand's joint `{}` is in no group; add it to `groups` of the robot YAML",
            model.joints[joint.0].name
        )
    })?;
    Ok(match group {
        0 => "joint_trajectory".to_owned(),
        _ => format!("{}/joint_trajectory", model.groups[group].name),
    })
}
