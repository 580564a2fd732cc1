//! Ties and pushes of a scene: `springs`, `gears`, `joints`, `suctions`, `pushes`, and what passes through each other: `ignore`. Things are
//! named as [`World::find_part`] names them, and looked up when the world is there.

use karakuri_model::yaml::{Fields, Node, Reader};
use karakuri_model::{FrameId, Place, Report, read_joint_type};
use karakuri_spatial::{Force, Pose, Vector3};

use super::read::{ANY, GAIN, number, read_pose, required_number, vector};
use super::suctions::read_suction;
use super::{Scene, refuse};
use crate::state::mover::Owner;
use crate::{
    Anchor, Bushing, Failure, GearDescription, GearEnd, JointDescription, Push, Spring, Strength,
    World, WorldError,
};

/// Name of a thing, and where it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenePart {
    /// `robot/link`, a body's name, or `world`.
    pub name: String,
    /// Place where it is written.
    pub place: Place,
}

/// A point of a thing.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneAnchor {
    /// Thing that has the point.
    pub part: ScenePart,
    /// Point in its frame. [m] (3)
    pub point: Vector3,
}

/// A spring of a scene.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneSpring {
    /// Name, by which it can be changed and taken off; empty: it has none.
    pub name: String,
    /// Ends of the spring.
    pub ends: [SceneAnchor; 2],
    /// Stiffness of the spring. [N/m]
    pub stiffness: f64,
    /// Damping of the damper beside it. [N·s/m]
    pub damping: f64,
    /// Length without force. [m]
    pub rest_length: f64,
    /// Place where it is written.
    pub place: Place,
}

/// End of a gear of a scene.
#[derive(Debug, Clone, PartialEq)]
pub enum SceneGearEnd {
    /// A joint, `robot/joint`.
    Joint(ScenePart),
    /// A link or body about an axis of its own frame. (3)
    Turn(ScenePart, Vector3),
}

/// A gear of a scene, as [`World::attach_gear`] takes it.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneGear {
    /// Name, by which it can be taken off.
    pub name: String,
    /// End that drives, and end that is driven.
    pub ends: [SceneGearEnd; 2],
    /// Rate of B for a unit rate of A. [-]
    pub ratio: f64,
    /// Largest torque on B. [N·m or N]
    pub torque: f64,
    /// Place where it is written.
    pub place: Place,
}

/// A joint of a scene between two things, as [`World::attach_joint`] takes it.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneJoint {
    /// Name, by which it can be detached.
    pub name: String,
    /// Ends of the joint.
    pub ends: [ScenePart; 2],
    /// Frame of the joint on A.
    pub pose_in_a: Pose,
    /// Locked degrees of freedom: rotation x y z, translation x y z.
    pub locked: [bool; 6],
    /// Springs and dampers of the other degrees of freedom.
    pub bushing: Option<Bushing>,
    /// Strength above which it breaks or yields.
    pub strength: Option<Strength>,
    /// Place where it is written.
    pub place: Place,
}

/// A push of a scene.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenePush {
    /// Point of application, in the frame of the thing.
    pub at: SceneAnchor,
    /// Wrench about the point, in world axes. [N·m; N]
    pub wrench: Force,
    /// Simulated times of its begin and end. [s]
    pub span: [f64; 2],
    /// Place where it is written.
    pub place: Place,
}

impl Scene {
    /// Reads `springs`, `gears`, `joints`, `suctions`, `pushes` and `ignore`.
    pub(super) fn read_ties(&mut self, reader: &mut Reader<'_>, fields: &Fields<'_>) {
        fn all<T>(
            reader: &mut Reader<'_>,
            fields: &Fields<'_>,
            key: &str,
            read: impl Fn(&mut Reader<'_>, &Node, &str) -> Option<T>,
        ) -> Vec<T> {
            let Some((node, path)) = fields.get(key) else { return Vec::new() };
            reader.list(node, &path).iter().filter_map(|item| read(reader, item, &path)).collect()
        }
        self.springs = all(reader, fields, "springs", read_spring);
        self.gears = all(reader, fields, "gears", read_gear);
        self.joints = all(reader, fields, "joints", read_joint);
        self.suctions = all(reader, fields, "suctions", read_suction);
        self.pushes = all(reader, fields, "pushes", read_push);
        self.ignored = all(reader, fields, "ignore", read_ignored);
    }
}

pub(super) fn read_part(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<ScenePart> {
    let name = reader.text(node, path)?.to_owned();
    Some(ScenePart { name, place: node.place.clone() })
}

pub(super) fn required_part(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    key: &str,
) -> Option<ScenePart> {
    let (node, path) = reader.required(fields, key, "arm/tool0 # or a body, or world")?;
    read_part(reader, node, &path)
}

/// A point of a thing.
fn read_anchor(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<SceneAnchor> {
    let fields = reader.fields(node, path, &["part", "point"]);
    let part = required_part(reader, &fields, "part")?;
    let point = vector(reader, &fields, "point", "m").unwrap_or_default();
    Some(SceneAnchor { part, point })
}

pub(super) fn read_name(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    example: &str,
) -> Option<String> {
    let (node, path) = reader.required(fields, "name", example)?;
    reader.text(node, &path).map(str::to_owned)
}

fn read_spring(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<SceneSpring> {
    let keys = ["name", "a", "b", "stiffness", "damping", "rest_length"];
    let fields = reader.fields(node, path, &keys);
    let name = match fields.get("name") {
        Some((node, path)) => reader.text(node, &path)?.to_owned(),
        None => String::new(),
    };
    let mut end = |key| {
        let (node, path) = reader.required(&fields, key, "{part: world, point: [0, 0, 1]}")?;
        read_anchor(reader, node, &path)
    };
    // Both ends before either is missed, so that all problems are reported at once.
    let (a, b) = (end("a"), end("b"));
    let stiffness = required_number(reader, &fields, "stiffness", &GAIN, "N/m", "1000");
    let damping = number(reader, &fields, "damping", &GAIN, "N·s/m").unwrap_or(0.0);
    let rest = required_number(reader, &fields, "rest_length", &(0.0..=1e9), "m", "0.1");
    let place = node.place.clone();
    Some(SceneSpring {
        name,
        ends: [a?, b?],
        stiffness: stiffness?,
        damping,
        rest_length: rest?,
        place,
    })
}

fn read_gear(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<SceneGear> {
    let fields = reader.fields(node, path, &["name", "a", "b", "ratio", "torque"]);
    let name = read_name(reader, &fields, "belt");
    let mut end = |key| {
        let (node, path) = reader.required(&fields, key, "{joint: arm/elbow}")?;
        read_gear_end(reader, node, &path)
    };
    let (a, b) = (end("a"), end("b"));
    let ratio = required_number(reader, &fields, "ratio", &ANY, "-", "-0.5");
    // Teeth, unless the file gives the torque at which a clutch slips.
    let torque = number(reader, &fields, "torque", &GAIN, "N·m or N").unwrap_or(f64::INFINITY);
    let place = node.place.clone();
    Some(SceneGear { name: name?, ends: [a?, b?], ratio: ratio?, torque, place })
}

fn read_gear_end(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<SceneGearEnd> {
    let fields = reader.fields(node, path, &["joint", "part", "axis"]);
    // Exactly the keys of one kind: a joint has its own axis, a part needs one.
    match (fields.get("joint"), fields.get("part"), fields.get("axis")) {
        (Some((node, path)), None, None) => read_part(reader, node, &path).map(SceneGearEnd::Joint),
        (None, Some((part, part_path)), Some((axis, axis_path))) => {
            let part = read_part(reader, part, &part_path)?;
            Some(SceneGearEnd::Turn(part, reader.unit_vector(axis, &axis_path)?.into()))
        }
        _ => {
            let remedy = "write {joint: robot/joint}, or {part: body, axis: [0, 0, 1]}";
            reader.error(
                node,
                format!("{path}: names no joint, and no part with its axis"),
                remedy,
            );
            None
        }
    }
}

fn read_joint(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<SceneJoint> {
    let keys = ["name", "a", "b", "pose", "type", "axis", "locked", "bushing", "strength"];
    let fields = reader.fields(node, path, &keys);
    let name = read_name(reader, &fields, "glue");
    let (a, b) = (required_part(reader, &fields, "a"), required_part(reader, &fields, "b"));
    let pose = read_pose(reader, &fields);
    let (locked, turn) = read_joint_type(reader, &fields, path)?;
    let strength = match fields.get("strength") {
        Some((node, path)) => Some(read_strength(reader, node, &path)?),
        None => None,
    };
    let bushing = fields.get("bushing").map(|(node, path)| read_bushing(reader, node, &path));
    let place = node.place.clone();
    // The frame keeps its origin and turns its z to the axis of the file: the locks name no other.
    let pose_in_a = pose * turn;
    Some(SceneJoint { name: name?, ends: [a?, b?], pose_in_a, locked, bushing, strength, place })
}

/// Reads a bushing; values that are not given are 0.
fn read_bushing(reader: &mut Reader<'_>, node: &Node, path: &str) -> Bushing {
    let keys = ["angular_stiffness", "linear_stiffness", "angular_damping", "linear_damping"];
    let fields = reader.fields(node, path, &keys);
    let mut three = |key, unit| vector(reader, &fields, key, unit).unwrap_or_default();
    let six = |angular: Vector3, linear: Vector3| {
        [angular.x, angular.y, angular.z, linear.x, linear.y, linear.z]
    };
    Bushing {
        stiffness: six(three(keys[0], "N·m/rad"), three(keys[1], "N/m")),
        damping: six(three(keys[2], "N·m·s/rad"), three(keys[3], "N·s/m")),
    }
}

/// Reads a strength; without a bound for the force or the torque, that one is unlimited.
fn read_strength(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<Strength> {
    let fields = reader.fields(node, path, &["force", "torque", "failure"]);
    let force = number(reader, &fields, "force", &GAIN, "N").unwrap_or(f64::INFINITY);
    let torque = number(reader, &fields, "torque", &GAIN, "N·m").unwrap_or(f64::INFINITY);
    let (node, path) = reader.required(&fields, "failure", "breaks # or yields")?;
    let name = reader.text(node, &path)?;
    if let Some(failure) = Failure::find(name) {
        return Some(Strength { force, torque, failure });
    }
    let known = Failure::ALL.map(Failure::name).join(" or ");
    let message = format!("{path}: unknown failure mode `{name}`");
    reader.error(node, message, &format!("write {known}"));
    None
}

/// Reads a pair of two things.
fn read_ignored(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<[ScenePart; 2]> {
    let names = reader.list(node, path);
    let parts: Vec<_> = names.iter().filter_map(|item| read_part(reader, item, path)).collect();
    let pair = <[ScenePart; 2]>::try_from(parts);
    if pair.is_err() {
        reader.error(node, format!("{path}: a pair has two things"), "write [arm/tool0, cube]");
    }
    pair.ok()
}

fn read_push(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<ScenePush> {
    let keys = ["part", "point", "force", "torque", "from", "until"];
    let fields = reader.fields(node, path, &keys);
    let part = required_part(reader, &fields, "part")?;
    let point = vector(reader, &fields, "point", "m").unwrap_or_default();
    let force = vector(reader, &fields, "force", "N").unwrap_or_default();
    let torque = vector(reader, &fields, "torque", "N·m").unwrap_or_default();
    let mut time = |key| number(reader, &fields, key, &(0.0..=1e9), "s");
    // From the start and without an end, unless the file gives times.
    let span = [time("from").unwrap_or(0.0), time("until").unwrap_or(f64::INFINITY)];
    let at = SceneAnchor { part, point };
    Some(ScenePush { at, wrench: Force::new(torque, force), span, place: node.place.clone() })
}

impl World {
    /// Adds the scene's ties and pushes.
    pub(super) fn tie(&mut self, scene: &Scene, report: &mut Report) {
        for spring in &scene.springs {
            let [Some(a), Some(b)] = [0, 1].map(|i| self.scene_anchor(&spring.ends[i], report))
            else {
                continue;
            };
            let SceneSpring { stiffness, damping, rest_length, .. } = *spring;
            let between = Spring { a, b, stiffness, damping, rest_length };
            let added = match spring.name.as_str() {
                "" => self.add_spring(between),
                name => self.attach_spring(name, between),
            };
            note(added, &spring.place, report);
        }
        for joint in &scene.joints {
            let [Some(a), Some(b)] = [0, 1].map(|i| self.scene_part(&joint.ends[i], report)) else {
                continue;
            };
            let SceneJoint { pose_in_a, locked, bushing, strength, .. } = *joint;
            let description = JointDescription { a, b, pose_in_a, locked, bushing, strength };
            note(self.attach_joint(&joint.name, description), &joint.place, report);
        }
        self.seal(&scene.suctions, report);
        for gear in &scene.gears {
            let [Some(a), Some(b)] = [0, 1].map(|i| self.scene_gear_end(&gear.ends[i], report))
            else {
                continue;
            };
            let SceneGear { ratio, torque, .. } = *gear;
            let description = GearDescription { a, b, ratio, torque };
            note(self.attach_gear(&gear.name, description), &gear.place, report);
        }
        for pair in &scene.ignored {
            let [of_a, of_b] = [0, 1].map(|i| self.scene_parts(&pair[i], report));
            for &a in &of_a {
                // A robot named twice: its links pass through each other, and none has a pair with itself.
                for &b in of_b.iter().filter(|&&b| b != a) {
                    self.ignore_contacts(a, b);
                }
            }
        }
        for push in &scene.pushes {
            let Some(part) = self.scene_part(&push.at.part, report) else { continue };
            let (point, wrench, [from, until]) = (push.at.point, push.wrench, push.span);
            note(self.add_push(Push { part, point, wrench, from, until }), &push.place, report);
        }
    }

    /// Things that a name of a pair stands for: one, or all links of a robot.
    fn scene_parts(&self, part: &ScenePart, report: &mut Report) -> Vec<Owner> {
        if let Some(robot) = self.find_robot(&part.name) {
            let frames = self.robot(robot).model().frames.len();
            return (0..frames).map(|i| Owner::Link { robot, frame: FrameId(i) }).collect();
        }
        self.scene_part(part, report).into_iter().collect()
    }

    pub(super) fn scene_part(&self, part: &ScenePart, report: &mut Report) -> Option<Owner> {
        note(self.find_part(&part.name), &part.place, report)
    }

    fn scene_anchor(&self, anchor: &SceneAnchor, report: &mut Report) -> Option<Anchor> {
        self.scene_part(&anchor.part, report).map(|part| self.anchor_on(part, &anchor.point))
    }

    fn scene_gear_end(&self, end: &SceneGearEnd, report: &mut Report) -> Option<GearEnd> {
        match end {
            SceneGearEnd::Joint(joint) => {
                let found = self.find_robot_joint(&joint.name);
                let (robot, body) = note(found, &joint.place, report)?;
                Some(GearEnd::Joint(robot, body))
            }
            SceneGearEnd::Turn(part, axis) => {
                Some(GearEnd::Turn(self.scene_part(part, report)?, *axis))
            }
        }
    }
}

/// The result, or nothing after a report of the refusal.
pub(super) fn note<T>(
    result: Result<T, WorldError>,
    place: &Place,
    report: &mut Report,
) -> Option<T> {
    result.map_err(|error| refuse(&error, place, report)).ok()
}
