//! Text of an SRDF: groups, postures, hand, joints that nobody commands, and pairs of links that are not checked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use karakuri_grasp::end_effector::from_model;
use karakuri_model::{Base, BodyId, FrameId, JointGroup, Model};

use super::pairs::Reason;
use super::{arm, is_hand, joint_name};

/// SRDF of a robot.
pub(super) fn text(model: &Model, pairs: &BTreeMap<(FrameId, FrameId), Reason>) -> String {
    let mut text =
        String::from("<?xml version=\"1.0\"?>\n<!-- Written by `karakuri moveit`. -->\n");
    let mut line = |depth: usize, content: &str| {
        let _infallible = writeln!(text, "{}{content}", "  ".repeat(depth));
    };
    let link = |id: FrameId| escaped(&model.frames[id.0].name);
    line(0, &format!("<robot name=\"{}\">", escaped(&model.name)));
    for group in &model.groups {
        line(1, &format!("<group name=\"{}\">", escaped(&group.name)));
        if let Some([base, tip]) = chain(model, group) {
            line(2, &format!("<chain base_link=\"{}\" tip_link=\"{}\"/>", link(base), link(tip)));
        } else {
            for &joint in &group.joints {
                line(2, &format!("<joint name=\"{}\"/>", escaped(joint_name(model, joint))));
            }
            for frame in hand_links(model, group) {
                line(2, &format!("<link name=\"{}\"/>", link(frame)));
            }
        }
        line(1, "</group>");
    }
    for State { name, group, positions } in states(model) {
        line(
            1,
            &format!(
                "<group_state name=\"{}\" group=\"{}\">",
                escaped(&name),
                escaped(&group.name)
            ),
        );
        for (joint, position) in positions {
            let joint = escaped(joint_name(model, joint));
            line(2, &format!("<joint name=\"{joint}\" value=\"{position}\"/>"));
        }
        line(1, "</group_state>");
    }
    if let Some(hand) = model.groups.iter().find(|group| is_hand(model, group))
        && let Some(arm) = arm(model)
        && let Some(carrier) = carrier(model, arm)
    {
        let [hand, arm] = [hand, arm].map(|group| escaped(&group.name));
        line(
            1,
            &format!(
                "<end_effector name=\"{hand}\" parent_link=\"{}\" group=\"{hand}\" parent_group=\"{arm}\"/>",
                link(carrier)
            ),
        );
    }
    let root = link(FrameId(0));
    let kind = if matches!(model.base, Base::Floating) { "floating" } else { "fixed" };
    line(
        1,
        &format!(
            "<virtual_joint name=\"base_in_world\" type=\"{kind}\" parent_frame=\"world\" child_link=\"{root}\"/>"
        ),
    );
    for joint in passive(model) {
        line(1, &format!("<passive_joint name=\"{}\"/>", escaped(joint_name(model, joint))));
    }
    for ((a, b), reason) in pairs {
        let (a, b, reason) = (link(*a), link(*b), reason.name());
        line(1, &format!("<disable_collisions link1=\"{a}\" link2=\"{b}\" reason=\"{reason}\"/>"));
    }
    line(0, "</robot>");
    text
}

/// First and last link of a group whose joints are those of one path from the root. It ends at the link that the hand is on, which has
/// the links beyond for itself, or at the tool of a robot without a hand of its own joints.
pub(super) fn chain(model: &Model, group: &JointGroup) -> Option<[FrameId; 2]> {
    let last = carrier(model, group)?;
    let has_hand = model.groups.iter().any(|group| is_hand(model, group));
    let tool = model.end_effector.as_ref().map(|hand| hand.tool_frame).filter(|_| !has_hand);
    [tool, Some(last)].into_iter().flatten().find_map(|tip| {
        let mut joints = BTreeSet::new();
        let mut frame = tip;
        while let Some(parent) = &model.frames[frame.0].parent {
            if !parent.fixed {
                joints.insert(model.joint(&parent.joint)?);
            }
            frame = parent.frame;
        }
        let own: BTreeSet<BodyId> = group.joints.iter().copied().collect();
        (joints == own).then_some([frame, tip])
    })
}

/// Link that the last joint of a group carries.
fn carrier(model: &Model, group: &JointGroup) -> Option<FrameId> {
    model.link_of(*group.joints.last()?)
}

/// Links of a hand's group: those that the last joint of the arm carries, but for the link itself and the tool.
fn hand_links(model: &Model, group: &JointGroup) -> Vec<FrameId> {
    if !is_hand(model, group) {
        return Vec::new();
    }
    let Some(carrier) = arm(model).and_then(|arm| carrier(model, arm)) else { return Vec::new() };
    let tool = model.end_effector.as_ref().map(|hand| hand.tool_frame);
    let is_of_hand = |&id: &FrameId| id != carrier && Some(id) != tool;
    model.links_from(carrier).into_iter().filter(is_of_hand).collect()
}

/// Named state of a group: positions of its joints. [rad or m]
struct State<'a> {
    name: String,
    group: &'a JointGroup,
    positions: Vec<(BodyId, f64)>,
}

/// Named states of groups: the postures of the robot YAML, and `open` and `closed` of the hand.
fn states(model: &Model) -> Vec<State<'_>> {
    let mut states = Vec::new();
    for group in &model.groups {
        for posture in &model.postures {
            let of_group = |(joint, _): &&(BodyId, f64)| group.joints.contains(joint);
            let positions: Vec<_> = posture.positions.iter().filter(of_group).copied().collect();
            // MoveIt takes a state of all joints of its group.
            if positions.len() == group.joints.len() {
                states.push(State { name: posture.name.clone(), group, positions });
            }
        }
        if is_hand(model, group)
            && let Ok(hand) = from_model(model)
        {
            let (lowest, highest) = hand.opening_range();
            for (name, opening) in [("open", highest), ("closed", lowest)] {
                let position = hand.position(opening);
                let joints = hand.closing_joints().into_iter();
                let positions = joints.map(|joint| (joint, position)).collect();
                states.push(State { name: name.to_owned(), group, positions });
            }
        }
    }
    states
}

/// Joints that nobody commands, but for followers, which `MoveIt` knows by `<mimic>`.
fn passive(model: &Model) -> Vec<BodyId> {
    let commanded = |id: &BodyId| model.groups.iter().any(|group| group.joints.contains(id));
    let follows = |id: &BodyId| model.couplings.iter().any(|c| c.follower == *id);
    let joints = (0..model.joints.len()).map(BodyId);
    let is_base = |id: &BodyId| matches!(model.base, Base::Floating) && id.0 == 0;
    joints.filter(|id| !commanded(id) && !follows(id) && !is_base(id)).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
