//! Motions of Choreonoid: sampled ones, `.seq`, and key poses, `.pseq`. Joint ids count the joints of the URDF in their order.

use karakuri_model::yaml::{Node, Value, read_tree};
use karakuri_model::{Base, BodyId};
use karakuri_spatial::{Matrix3, Pose, Vector3};
use serde::Deserialize;

use super::cells::{error, lines, number, words};
use super::csv::{pose, sampled};
use super::exchange::{Export, FormatOptions, notes};
use super::samples::{Row, Samples};
use crate::file::FileError;
use crate::motion::Ease;
use crate::performance::{MotionState, Performance};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Composite {
    #[serde(default)]
    frame_rate: Option<f64>,
    #[serde(default)]
    components: Vec<Component>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Component {
    #[serde(rename = "type")]
    kind: String,
    /// Of format version 2; `purpose` in version 1.
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    purpose: Option<String>,
    #[serde(default)]
    frame_rate: Option<f64>,
    #[serde(default, rename = "SE3Format")]
    se3_format: Option<String>,
    #[serde(default)]
    frames: Vec<Frame>,
}

/// Values of a frame, or of each part of it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Frame {
    Values(Vec<f64>),
    Parts(Vec<Vec<f64>>),
}

impl Frame {
    fn first(&self) -> &[f64] {
        match self {
            Self::Values(values) => values,
            Self::Parts(parts) => parts.first().map_or(&[], Vec::as_slice),
        }
    }
}

fn joints(options: &FormatOptions<'_>) -> Vec<BodyId> {
    options.performer.joints().collect()
}

pub(super) fn read_seq(
    file: &str,
    text: &str,
    options: &FormatOptions<'_>,
) -> Result<Samples, FileError> {
    // Both kinds are named `.seq`; a YAML document does not begin with a line of numbers.
    let is_table = lines(text)
        .next()
        .is_some_and(|(_, line)| line.split_whitespace().all(|word| word.parse::<f64>().is_ok()));
    if is_table {
        return read_table(file, text, options);
    }
    let root = read_tree(file, text)?;
    let Composite { frame_rate, components } = root.to()?;
    let mut samples = Samples::new(joints(options), Ease::Linear);
    samples.note(0, "the joints are taken in the order of the URDF".to_owned());
    let content =
        |c: &Component| c.content.clone().or_else(|| c.purpose.clone()).unwrap_or_default();
    let is_joints = |c: &&Component| {
        c.kind == "MultiValueSeq" && ["JointDisplacement", "JointPosition"].contains(&&*content(c))
    };
    let Some(positions) = components.iter().find(is_joints) else {
        let message =
            "there is no MultiValueSeq of JointDisplacement; save the motion with its joints";
        return Err(error(file, [1, 1], message));
    };
    // A component's own rate goes before that of the whole.
    let rate = positions.frame_rate.or(frame_rate).unwrap_or(0.0);
    if !(rate > 0.0 && rate <= 1e5) {
        return Err(error(file, [1, 1], "the frame rate is not above 0; write `frameRate: 100`"));
    }
    // Its first part is the root link; the joints place all others.
    let links = components.iter().find(|c| c.kind == "MultiSE3Seq");
    for component in &components {
        let what = content(component);
        if !["JointDisplacement", "JointPosition", "LinkPosition"].contains(&&*what) {
            let message = format!("{} of {what} is left out", component.kind);
            samples.note(0, message);
        }
    }
    for (k, frame) in positions.frames.iter().enumerate() {
        let values = frame.first();
        let n = samples.joints.len();
        if values.len() != n {
            let message = format!(
                "frame {k} has {} joints, the robot {n}; use the robot that the motion is of",
                values.len()
            );
            return Err(error(file, [line_of(&root), 1], &message));
        }
        let root = links.and_then(|links| {
            // Without a format, and by default, `w` comes first.
            let quaternion_last = links.se3_format.as_deref() == Some("XYZQXQYQZQW");
            Some((links.frames.get(k)?.first(), quaternion_last))
        });
        let root = root.map(|(se3, last)| se3_pose(file, se3, last)).transpose()?;
        let values = values.iter().copied().map(Some).collect();
        samples.rows.push(Row { line: 0, t: k as f64 / rate, values, root, note: String::new() });
    }
    Ok(samples)
}

fn line_of(node: &Node) -> usize {
    node.get("components").map_or(node.place.line, |node| node.place.line)
}

fn se3_pose(file: &str, se3: &[f64], quaternion_last: bool) -> Result<Pose, FileError> {
    let [x, y, z, a, b, c, d] = se3 else {
        let message =
            format!("a link position has {} numbers; write x, y, z and a quaternion", se3.len());
        return Err(error(file, [0, 0], &message));
    };
    let base =
        if quaternion_last { [*x, *y, *z, *a, *b, *c, *d] } else { [*x, *y, *z, *b, *c, *d, *a] };
    pose(file, 0, &base)
}

/// Lines of a time and the joints' positions.
fn read_table(file: &str, text: &str, options: &FormatOptions<'_>) -> Result<Samples, FileError> {
    let mut samples = Samples::new(joints(options), Ease::Linear);
    samples.note(0, "the joints are taken in the order of the URDF".to_owned());
    for (line, row) in lines(text) {
        let row = words(row, line);
        let n = samples.joints.len();
        if row.len() != n + 1 {
            let message = format!("{} numbers; write the time and the {n} joints", row.len());
            return Err(error(file, [line, 1], &message));
        }
        let t = number(file, row[0], "the time")?;
        let values = row[1..].iter().map(|cell| number(file, *cell, "a position").map(Some));
        let values = values.collect::<Result<_, _>>()?;
        samples.rows.push(Row { line, t, values, root: None, note: String::new() });
    }
    Ok(samples)
}

pub(super) fn write_seq(performance: &mut Performance) -> Export {
    let performer = std::sync::Arc::clone(performance.performer());
    let model = &performer.model;
    let joints: Vec<BodyId> = performer.joints().collect();
    let period = performance.frame();
    let (mut positions, mut links) = (String::new(), String::new());
    let (mut state, mut n) = (MotionState::default(), 0_u32);
    // Whole frames only, since the format has a rate and no times: an end between two frames is not in the file.
    while f64::from(n) * period <= performance.duration() + 1e-9 {
        performance.sample(f64::from(n) * period, &mut state);
        let values = joints.iter().map(|id| state.q[model.joints[id.0].q_start].to_string());
        positions.extend([format!("      - [{}]\n", values.collect::<Vec<_>>().join(", "))]);
        if model.base == Base::Floating {
            let q = &state.q;
            // Ours is `x y z qx qy qz qw`, theirs has `w` before the vector.
            let se3 = [q[0], q[1], q[2], q[6], q[3], q[4], q[5]].map(|x| x.to_string());
            links.extend([format!("      - [[{}]]\n", se3.join(", "))]);
        }
        n += 1;
    }
    let rate = 1.0 / period;
    let mut text = format!(
        "type: CompositeSeq\ncontent: BodyMotion\nformatVersion: 2\nframeRate: {rate}\nnumFrames: {n}\ncomponents:\n"
    );
    let head = |kind: &str, content: &str, parts: usize| {
        format!(
            "  -\n    type: {kind}\n    content: {content}\n    frameRate: {rate}\n    numParts: {parts}\n    numFrames: {n}\n"
        )
    };
    text += &head("MultiValueSeq", "JointDisplacement", joints.len());
    text.extend([format!("    frames:\n{positions}")]);
    if !links.is_empty() {
        text += &head("MultiSE3Seq", "LinkPosition", 1);
        text.extend([format!("    SE3Format: XYZQWQXQYQZ\n    frames:\n{links}")]);
    }
    Export { text, notes: notes(sampled(performance)) }
}

#[derive(Debug, Deserialize)]
struct PoseSequence {
    refs: Vec<PoseRef>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PoseRef {
    time: f64,
    #[serde(default)]
    max_transition_time: f64,
    refer: Refer,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Refer {
    Name(String),
    Pose(Box<KeyPose>),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeyPose {
    #[serde(default)]
    name: String,
    #[serde(default)]
    joints: Vec<usize>,
    #[serde(default)]
    q: Vec<f64>,
    #[serde(default)]
    ik_links: Vec<IkLink>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct IkLink {
    #[serde(default)]
    is_base_link: bool,
    #[serde(default)]
    translation: Vec<f64>,
    #[serde(default)]
    rotation: Vec<f64>,
}

pub(super) fn read_pseq(
    file: &str,
    text: &str,
    options: &FormatOptions<'_>,
) -> Result<Samples, FileError> {
    let root = read_tree(file, text)?;
    let PoseSequence { refs } = root.to()?;
    let places: Vec<usize> = root.get("refs").map_or_else(Vec::new, |node| match &node.value {
        Value::List(items) => items.iter().map(|item| item.place.line).collect(),
        _ => Vec::new(),
    });
    let mut samples = Samples::new(joints(options), Ease::Natural);
    samples.note(
        0,
        "the joints are taken in the order of the URDF, natural splines between the poses"
            .to_owned(),
    );
    // A pose is written where it is first used, and referred to by its name later.
    let mut known: Vec<&KeyPose> = Vec::new();
    for (k, PoseRef { time, max_transition_time, refer }) in refs.iter().enumerate() {
        let line = places.get(k).copied().unwrap_or(1);
        let pose = match refer {
            Refer::Pose(pose) => pose.as_ref(),
            Refer::Name(name) => {
                if let Some(pose) = known.iter().find(|pose| pose.name == *name) {
                    pose
                } else {
                    let message =
                        format!("no pose before refs[{k}] is `{name}`; write the pose here");
                    return Err(error(file, [line, 1], &message));
                }
            }
        };
        known.push(pose);
        if *max_transition_time > 0.0 {
            samples.note(
                line,
                "`maxTransitionTime` is left out: the robot moves all the time before".to_owned(),
            );
        }
        if pose.joints.len() != pose.q.len() {
            let message = format!(
                "{} joints and {} positions; write as many",
                pose.joints.len(),
                pose.q.len()
            );
            return Err(error(file, [line, 1], &message));
        }
        // Joints that a pose does not list go on to the next pose that does.
        let mut values = vec![None; samples.joints.len()];
        for (id, q) in pose.joints.iter().zip(&pose.q) {
            let n = values.len();
            let Some(value) = values.get_mut(*id) else {
                let message =
                    format!("joint {id} of a robot with {n}; use the robot that the poses are of");
                return Err(error(file, [line, 1], &message));
            };
            if !q.is_finite() {
                return Err(error(file, [line, 1], "a position is no number; write one"));
            }
            *value = Some(*q);
        }
        // Of the links that are held by inverse kinematics only the base link says something that joints do not.
        let root = pose.ik_links.iter().find(|link| link.is_base_link);
        let root = root.map(|link| link_pose(file, line, link)).transpose()?;
        let note = pose.name.clone();
        samples.rows.push(Row { line, t: *time, values, root, note });
    }
    Ok(samples)
}

fn link_pose(file: &str, line: usize, link: &IkLink) -> Result<Pose, FileError> {
    match (&link.translation[..], &link.rotation[..]) {
        ([x, y, z], rotation) if rotation.len() == 9 => {
            let rotation = Matrix3::from_row_slice(rotation);
            // `RᵀR = 1`, which a shear breaks though it keeps the volume, and no mirror.
            let skew = (rotation.tr_mul(&rotation) - Matrix3::identity()).amax();
            if skew.is_nan() || skew > 0.01 || rotation.determinant() < 0.0 {
                let message = "the base link's rotation is none; write nine numbers of a rotation";
                return Err(error(file, [line, 1], message));
            }
            Ok(Pose::new(rotation, Vector3::new(*x, *y, *z)))
        }
        _ => {
            let message =
                "the base link lacks 3 numbers of `translation` or 9 of `rotation`; write them";
            Err(error(file, [line, 1], message))
        }
    }
}
