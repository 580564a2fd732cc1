//! Operations on poses.

use super::lists::{Before, Inverse, check_unused, find, put, rename, set_joints, shift, take};
use crate::document::Document;
use crate::op::Op;
use crate::problem::Problem;

pub(super) fn apply(document: &mut Document, op: &Op) -> Result<Inverse, Problem> {
    let poses = &mut document.poses;
    match op {
        Op::PutPose { name, pose, index } => {
            let before = put(poses, name, pose.clone(), *index);
            Ok(vec![match before {
                Before::Nothing => Op::RemovePose { name: name.clone() },
                Before::Value(pose) => Op::PutPose { name: name.clone(), pose, index: None },
            }])
        }
        Op::SetPoseJoints { name, joints } => {
            let index = find(poses, "poses", name)?;
            // The whole pose: joints put back one by one would lose their order in the file.
            let pose = poses[index].clone();
            set_joints(&mut poses[index].joints, joints);
            Ok(vec![Op::PutPose { name: name.clone(), pose, index: None }])
        }
        Op::RemovePose { name } => {
            let taken = take(poses, "poses", name)?;
            let index = Some(taken.index);
            Ok(vec![Op::PutPose { name: name.clone(), pose: taken.value, index }])
        }
        Op::RenamePose { name, to } => {
            // Inside a list of operations something may name a pose that is gone; the new name must not become its target.
            let is_used = name != to && is_used(document, to);
            check_unused("poses", to, is_used)?;
            rename(&mut document.poses, "poses", name, to)?;
            rename_uses(document, name, to);
            Ok(vec![Op::RenamePose { name: to.clone(), to: name.clone() }])
        }
        Op::MovePose { name, index } => {
            let index = shift(poses, "poses", name, *index)?;
            Ok(vec![Op::MovePose { name: name.clone(), index }])
        }
        _ => Ok(Vec::new()),
    }
}

fn rename_uses(document: &mut Document, name: &str, to: &str) {
    let change = |used: &mut Option<String>| {
        if used.as_deref() == Some(name) {
            *used = Some(to.to_owned());
        }
    };
    document.poses.values_mut().for_each(|pose| change(&mut pose.from));
    document.gamepad.iter_mut().for_each(|binding| change(&mut binding.pose));
    for motion in document.motions.values_mut() {
        let uses = motion.start.pose.as_deref() == Some(name)
            || motion.scenes.iter().any(|scene| scene.pose.as_deref() == Some(name));
        // Looked at before `make_mut`, which copies a shared motion even if nothing in it changes.
        if uses {
            let motion = std::sync::Arc::make_mut(motion);
            change(&mut motion.start.pose);
            motion.scenes.iter_mut().for_each(|scene| change(&mut scene.pose));
        }
    }
}

/// Whether anything names a pose, there or not.
fn is_used(document: &Document, name: &str) -> bool {
    let names = |used: &Option<String>| used.as_deref() == Some(name);
    // A pose that is there is refused by `rename`, with a better reason.
    !document.poses.contains_key(name)
        && (document.poses.values().any(|pose| names(&pose.from))
            || document.gamepad.iter().any(|binding| names(&binding.pose))
            || document.motions.values().any(|motion| {
                names(&motion.start.pose) || motion.scenes.iter().any(|scene| names(&scene.pose))
            }))
}
