//! Reader of `loops:` of the robot YAML.

use karakuri_spatial::{Pose, Vector3};
use nalgebra::Rotation3;

use super::read_pose;
use crate::builder::{LoopFrames, LoopSpec};
use crate::yaml::{Fields, Node, Reader};

const KEYS: [&str; 9] =
    ["link_a", "link_b", "frame_a", "frame_b", "frame", "type", "axis", "locked", "posture"];
/// Order of [`LoopSpec::locked`].
const DOFS: [&str; 6] = ["rx", "ry", "rz", "tx", "ty", "tz"];

pub(super) fn read(
    reader: &mut Reader<'_>,
    name: &str,
    node: &Node,
    path: &str,
) -> Option<LoopSpec> {
    let fields = reader.fields(node, path, &KEYS);
    let mut link = |key| {
        let (node, path) = reader.required(&fields, key, "a link's name")?;
        reader.text(node, &path).map(str::to_owned)
    };
    let (link_a, link_b) = (link("link_a"), link("link_b"));
    let frames = read_frames(reader, &fields, node, path);
    // Without a type nothing more can be said of the loop.
    let (locked, turn) = read_joint_type(reader, &fields, path)?;
    let posture =
        fields.get("posture").and_then(|(node, path)| reader.text(node, &path).map(str::to_owned));
    // Here and not where frames are read, because all keys are to be asked for, and reported, first.
    let frames = match frames? {
        // The same turn on both sides: a closed loop stays closed, and its free axis is z.
        LoopFrames::OnLinks { a, b } => LoopFrames::OnLinks { a: a * turn, b: b * turn },
        LoopFrames::InRoot(pose) => LoopFrames::InRoot(pose * turn),
    };
    let name = name.to_owned();
    Some(LoopSpec { name, link_a: link_a?, link_b: link_b?, frames, locked, posture })
}

fn read_frames(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    node: &Node,
    path: &str,
) -> Option<LoopFrames> {
    // One way or the other: with three frames two of them would contradict the third.
    let [a, b, root] = ["frame_a", "frame_b", "frame"].map(|key| fields.get(key));
    match (a, b, root) {
        (Some((a, path_a)), Some((b, path_b)), None) => {
            let (a, b) = (read_pose(reader, a, &path_a), read_pose(reader, b, &path_b));
            Some(LoopFrames::OnLinks { a, b })
        }
        (None, None, Some((frame, path))) => {
            Some(LoopFrames::InRoot(read_pose(reader, frame, &path)))
        }
        _ => {
            let message = format!("{path}: needs `frame_a` and `frame_b`, or `frame` alone");
            let remedy = "write a pose {xyz, rpy} on each link, or one in the root link's frame";
            reader.error(node, message, remedy);
            None
        }
    }
}

/// Locks of a joint by its keys `type`, `axis` and `locked`, in the order rotation x y z, translation x y z, and the turn
/// that puts the joint's axis along its frame's z.
pub fn read_joint_type(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    path: &str,
) -> Option<([bool; 6], Pose)> {
    let (node, type_path) = reader.required(fields, "type", "hinge")?;
    let kind = reader.text(node, &type_path)?;
    // A key that the type does not use would be read and do nothing.
    for (key, users) in [("axis", &["hinge", "slider"][..]), ("locked", &["custom"])] {
        if let Some((node, path)) = fields.get(key)
            && !users.contains(&kind)
        {
            let message = format!("{path}: a {kind} joint has none");
            reader.error(node, message, &format!("delete it, or write `type: {}`", users[0]));
        }
    }
    // All of the six but one.
    let z_free = |free: usize| std::array::from_fn(|i| i != free);
    Some(match kind {
        // Free about or along z in all cases; the frames are turned to the axis, so that no lock depends on it.
        "hinge" => (z_free(2), read_axis(reader, fields)?),
        "slider" => (z_free(5), read_axis(reader, fields)?),
        "ball" => ([false, false, false, true, true, true], Pose::IDENTITY),
        "fixed" => ([true; 6], Pose::IDENTITY),
        "custom" => (read_locked(reader, fields)?, Pose::IDENTITY),
        other => {
            let message = format!("{path}.type: unknown loop joint `{other}`");
            reader.error(node, message, "write hinge, slider, ball, fixed or custom");
            return None;
        }
    })
}

fn read_axis(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Pose> {
    let Some((node, path)) = fields.get("axis") else { return Some(Pose::IDENTITY) };
    let axis = Vector3::from(reader.vector(node, &path, "-")?);
    let Some(axis) = axis.try_normalize(1e-9) else {
        reader.error(node, format!("{path} has no direction"), "write a unit vector, as [0, 0, 1]");
        return None;
    };
    // Opposite to z there is no shortest turn: half a turn about x is one.
    let turn = Rotation3::rotation_between(&Vector3::z(), &axis)
        .unwrap_or_else(|| Rotation3::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI));
    Some(Pose::new(turn.into_inner(), Vector3::zeros()))
}

fn read_locked(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<[bool; 6]> {
    let (node, path) = reader.required(fields, "locked", "[rx, ry, tx, ty, tz]")?;
    let mut locked = [false; 6];
    for item in reader.list(node, &path) {
        let name = reader.text(item, &path)?;
        if let Some(i) = DOFS.iter().position(|f| *f == name) {
            locked[i] = true;
        } else {
            let message = format!("{path}: unknown degree of freedom `{name}`");
            reader.error(item, message, &format!("use {}", DOFS.join(", ")));
        }
    }
    Some(locked)
}
