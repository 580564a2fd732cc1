//! Joints that a URDF has no words for, and gears between two joints of the tree.

use super::apply::did_you_mean;
use super::values::{ANY, GearConfig};
use crate::ModelBuilder;
use crate::builder::MimicSpec;
use crate::closest::closest;
use crate::diagnostic::{Place, Report};
use crate::joint_motion::Reshaped;
use crate::joint_motion::kinds::KINDS;
use crate::yaml::{Node, Reader};

/// Reads `{type: ..., ...}`, the rest as the kind says.
pub(super) fn read(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<Reshaped> {
    let known = KINDS.map(|(name, _)| name).join(", ");
    let mut entries = reader.entries(node, path).into_iter();
    // The kind first: it says which other keys there may be.
    let Some((.., word, at)) = entries.find(|(key, ..)| *key == "type") else {
        reader.error(node, format!("{path}.type is missing"), &format!("write one of {known}"));
        return None;
    };
    let name = reader.text(word, &at)?;
    if let Some((_, read)) = KINDS.iter().find(|(kind, _)| *kind == name) {
        return read(reader, node, path);
    }
    let remedy = closest(name, KINDS.iter().map(|(kind, _)| *kind))
        .map_or(format!("write one of {known}"), |kind| format!("did you mean `{kind}`?"));
    reader.error(word, format!("{at}: there is no joint of type `{name}`"), &remedy);
    None
}

/// Reads `{follower, leader, ratio, offset}`.
pub(super) fn read_gear(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<GearConfig> {
    let fields = reader.fields(node, path, &["follower", "leader", "ratio", "offset"]);
    let mut name = |key, example| {
        let (node, path) = reader.required(&fields, key, example)?;
        Some(reader.text(node, &path)?.to_owned())
    };
    let (follower, leader) =
        (name("follower", "the joint that is driven"), name("leader", "the joint that drives it"));
    let ratio = reader.required(&fields, "ratio", "-2");
    let ratio = ratio.and_then(|(n, p)| reader.number(n, &p, &ANY, "-"));
    let offset = fields.get("offset").and_then(|(n, p)| reader.number(n, &p, &ANY, "rad or m"));
    let offset = offset.unwrap_or(0.0);
    Some(GearConfig { follower: follower?, leader: leader?, ratio: ratio?, offset })
}

/// Gives a joint of the URDF another kind; its place, limits, friction and armature stay.
pub(super) fn reshape(
    name: &str,
    place: &Place,
    reshaped: Reshaped,
    builder: &mut ModelBuilder,
    report: &mut Report,
) {
    let Some(joint) = builder.joints.iter_mut().find(|j| j.name == name) else {
        let remedy = did_you_mean(name, builder.joints.iter().map(|j| j.name.as_str()));
        report.error_at(place.clone(), format!("joints: joint `{name}` does not exist"), remedy);
        return;
    };
    // Also a fixed joint of the URDF may become one that moves: URDF has no type to stand for it.
    joint.kind = Some(reshaped.kind);
    joint.cone = reshaped.cone;
}

/// Lets a joint of the tree follow another.
pub(super) fn gear(
    name: &str,
    place: &Place,
    gear: &GearConfig,
    builder: &mut ModelBuilder,
    report: &mut Report,
) {
    for joint in [&gear.follower, &gear.leader] {
        if !builder.joints.iter().any(|j| j.name == *joint) {
            let remedy = did_you_mean(joint, builder.joints.iter().map(|j| j.name.as_str()));
            let message = format!("gears.{name}: joint `{joint}` does not exist");
            return report.error_at(place.clone(), message, remedy);
        }
    }
    let Some(follower) = builder.joints.iter_mut().find(|j| j.name == gear.follower) else {
        return;
    };
    // A gear is a mimic relation by another file: two of them would contradict each other.
    if let Some(other) = &follower.mimic {
        let message =
            format!("gears.{name}: joint `{}` follows `{}` already", gear.follower, other.leader);
        return report.error_at(place.clone(), message, "a joint follows one other");
    }
    follower.mimic = Some(MimicSpec {
        leader: gear.leader.clone(),
        multiplier: gear.ratio,
        offset: gear.offset,
    });
}
