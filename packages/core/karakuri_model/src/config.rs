//! Robot YAML: additions to a URDF. `docs/robot-yaml.md` lists every key.

mod apply;
mod joints;
mod loops;
mod suction;
mod values;

use std::ops::RangeInclusive;

pub use loops::read_joint_type;

use karakuri_spatial::Pose;

use self::values::{ANY, DriveConfig, MaterialConfig, POSITIVE, RobotConfig};
use crate::builder::{EndEffectorSpec, SensorSpec};
use crate::diagnostic::{Report, Subject};
use crate::yaml::{self, Fields, Node, Reader, Value};
use crate::{Base, Convex, Noise, SensorKind, SensorNoise, read_motor};

const KEYS: [&str; 14] = [
    "base",
    "base_pose",
    "groups",
    "joints",
    "gears",
    "drives",
    "motors",
    "loops",
    "sensors",
    "suction",
    "end_effector",
    "postures",
    "collision",
    "srdf",
];

/// Reads a robot YAML; problems go to the report.
pub(crate) fn read(file: &str, text: &str, report: &mut Report) -> RobotConfig {
    let mut config = RobotConfig::default();
    // A file of comments only, or none, is a robot without additions.
    let Some(root) = yaml::parse(file, text, report).filter(|root| !root.is_nothing()) else {
        return config;
    };
    let mut reader = Reader { report };
    let fields = reader.fields(&root, "", &KEYS);
    // Read before it is known whether the base may have one, so that mistakes in it are reported either way.
    let pose =
        fields.get("base_pose").map(|(node, path)| (read_pose(&mut reader, node, &path), node));
    config.base = fields.get("base").and_then(|(node, path)| read_base(&mut reader, node, &path));
    if let Some((pose, node)) = pose {
        if config.base == Some(Base::Floating) {
            reader.error(
                node,
                "base_pose: a floating base has no pose of its own".to_owned(),
                "delete it; the scene places the robot",
            );
        }
        config.base = config.base.map(|base| match base {
            Base::Fixed(_) => Base::Fixed(pose),
            Base::Floating => base,
        });
        // A pose without `base` says that the base is fixed there.
        config.base.get_or_insert(Base::Fixed(pose));
    }
    if let Some((node, path)) = fields.get("groups") {
        for (name, place, list, path) in reader.entries(node, &path) {
            // Places are left here, by subject: whether the names in it exist is found only when the model is built.
            reader.report.locate(Subject::Group(name.to_owned()), place.clone());
            config.groups.push((name.to_owned(), reader.texts(list, &path)));
        }
    }
    read_joints(&mut reader, &fields, &mut config);
    if let Some((node, path)) = fields.get("drives") {
        for (name, place, node, path) in reader.entries(node, &path) {
            let drive = read_drive(&mut reader, node, &path);
            config.drives.push((name.to_owned(), place.clone(), drive));
        }
    }
    if let Some((node, path)) = fields.get("loops") {
        for (name, place, node, path) in reader.entries(node, &path) {
            reader.report.locate(Subject::Loop(name.to_owned()), place.clone());
            config.loops.extend(loops::read(&mut reader, name, node, &path));
        }
    }
    if let Some((node, path)) = fields.get("sensors") {
        for (name, place, node, path) in reader.entries(node, &path) {
            reader.report.locate(Subject::Sensor(name.to_owned()), place.clone());
            config.sensors.extend(read_sensor(&mut reader, name, node, &path));
        }
    }
    if let Some((node, path)) = fields.get("suction") {
        for (name, place, node, path) in reader.entries(node, &path) {
            reader.report.locate(Subject::Suction(name.to_owned()), place.clone());
            config.suctions.extend(suction::read(&mut reader, name, node, &path));
        }
    }
    if let Some((node, path)) = fields.get("postures") {
        for (name, place, node, path) in reader.entries(node, &path) {
            reader.report.locate(Subject::Posture(name.to_owned()), place.clone());
            let positions = read_numbers(&mut reader, node, &path, "rad or m");
            config.postures.push((name.to_owned(), positions));
        }
    }
    if let Some((node, path)) = fields.get("end_effector") {
        reader.report.locate(Subject::EndEffector, node.place.clone());
        config.end_effector = read_end_effector(&mut reader, node, &path);
    }
    if let Some((node, path)) = fields.get("collision") {
        read_collision(&mut reader, node, &path, &mut config);
    }
    config.srdf = fields
        .get("srdf")
        .and_then(|(node, path)| Some((reader.text(node, &path)?.to_owned(), node.place.clone())));
    config
}

/// Reads the kinds of joints, and what moves them beside their drives.
fn read_joints(reader: &mut Reader<'_>, fields: &Fields<'_>, config: &mut RobotConfig) {
    if let Some((node, path)) = fields.get("joints") {
        for (name, place, node, path) in reader.entries(node, &path) {
            let reshaped = joints::read(reader, node, &path);
            config.joints.extend(reshaped.map(|r| (name.to_owned(), place.clone(), r)));
        }
    }
    if let Some((node, path)) = fields.get("gears") {
        for (name, place, node, path) in reader.entries(node, &path) {
            let gear = joints::read_gear(reader, node, &path);
            config.gears.extend(gear.map(|g| (name.to_owned(), place.clone(), g)));
        }
    }
    if let Some((node, path)) = fields.get("motors") {
        for (name, place, node, path) in reader.entries(node, &path) {
            reader.report.locate(Subject::Motor(name.to_owned()), place.clone());
            config.motors.extend(read_motor(reader, name, node, &path));
        }
    }
}

fn read_base(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<Base> {
    match reader.text(node, path)? {
        "fixed" => Some(Base::Fixed(Pose::IDENTITY)),
        "floating" => Some(Base::Floating),
        other => {
            reader.error(
                node,
                format!("{path}: unknown base `{other}`"),
                "write fixed or floating",
            );
            None
        }
    }
}

/// Reads `{xyz: [m], rpy: [rad]}`, both optional.
fn read_pose(reader: &mut Reader<'_>, node: &Node, path: &str) -> Pose {
    let fields = reader.fields(node, path, &["xyz", "rpy"]);
    let mut vector = |key, unit| {
        fields
            .get(key)
            .and_then(|(node, path)| reader.vector(node, &path, unit))
            .unwrap_or_default()
    };
    let (xyz, rpy) = (vector("xyz", "m"), vector("rpy", "rad"));
    Pose::from_xyz_rpy(xyz, rpy)
}

fn read_drive(reader: &mut Reader<'_>, node: &Node, path: &str) -> DriveConfig {
    let known = [
        "stiffness",
        "damping",
        "armature",
        "friction",
        "viscous",
        "back_emf",
        "effort",
        "velocity",
        "limit_stiffness",
        "limit_damping",
        "limit_restitution",
    ];
    let fields = reader.fields(node, path, &known);
    let mut number = |key, unit| {
        fields.get(key).and_then(|(node, path)| reader.number(node, &path, &POSITIVE, unit))
    };
    DriveConfig {
        stiffness: number("stiffness", "N·m/rad or N/m"),
        damping: number("damping", "N·m·s/rad or N·s/m"),
        armature: number("armature", "kg·m² or kg"),
        friction: number("friction", "N·m or N"),
        viscous: number("viscous", "N·m·s/rad or N·s/m"),
        back_emf: number("back_emf", "N·m·s/rad or N·s/m"),
        effort: number("effort", "N·m or N"),
        velocity: number("velocity", "rad/s or m/s"),
        limit_stiffness: number("limit_stiffness", "N·m/rad or N/m"),
        limit_damping: number("limit_damping", "N·m·s/rad or N·s/m"),
        limit_restitution: number("limit_restitution", "-"),
    }
}

fn read_sensor(reader: &mut Reader<'_>, name: &str, node: &Node, path: &str) -> Option<SensorSpec> {
    let fields = reader.fields(node, path, &["type", "link", "noise"]);
    // Both are asked for before either is missed: a report names all that lacks.
    let kind = reader.required(&fields, "type", "contact_wrench, joint_wrench or imu");
    let link = reader.required(&fields, "link", "the link that carries it");
    let kind = kind.and_then(|(node, path)| match reader.text(node, &path)? {
        "contact_wrench" => Some(SensorKind::ContactWrench),
        "joint_wrench" => Some(SensorKind::JointWrench),
        "imu" => Some(SensorKind::Imu),
        other => {
            let message = format!("{path}: unknown sensor `{other}`");
            reader.error(node, message, "write contact_wrench, joint_wrench or imu");
            None
        }
    });
    let link = link.and_then(|(node, path)| reader.text(node, &path));
    let (link, kind) = (link?.to_owned(), kind?);
    let noise = fields.get("noise").map(|(node, path)| read_noise(reader, kind, node, &path));
    Some(SensorSpec { name: name.to_owned(), link, kind, noise })
}

/// Reads `{seed, angular_velocity, linear_acceleration, orientation}` of an IMU, `{seed, moment, force}` of the others.
fn read_noise(reader: &mut Reader<'_>, kind: SensorKind, node: &Node, path: &str) -> SensorNoise {
    let imu = kind == SensorKind::Imu;
    // Keys by kind: the noise of a force on an IMU would be read and never felt.
    let keys = if imu {
        &["seed", "angular_velocity", "linear_acceleration", "orientation"][..]
    } else {
        &["seed", "moment", "force"]
    };
    let fields = reader.fields(node, path, keys);
    let seed = fields.get("seed").and_then(|(node, path)| reader.count(node, &path));
    let mut noise = |key: &str, unit: &str| {
        let Some((node, path)) = fields.get(key) else { return Noise::default() };
        let fields = reader.fields(node, &path, &["white", "bias", "walk"]);
        let mut number = |key: &str, unit: String| {
            let given = fields.get(key);
            given.and_then(|(n, p)| reader.number(n, &p, &(0.0..=1e6), &unit)).unwrap_or(0.0)
        };
        Noise {
            white: number("white", format!("{unit}/√Hz")),
            bias: number("bias", unit.to_owned()),
            walk: number("walk", format!("{unit}/√s")),
        }
    };
    let (angular, linear) = if imu {
        (noise("angular_velocity", "rad/s"), noise("linear_acceleration", "m/s²"))
    } else {
        (noise("moment", "N·m"), noise("force", "N"))
    };
    // Only an IMU tells an orientation.
    let orientation = if imu { noise("orientation", "rad") } else { Noise::default() };
    SensorNoise { seed: seed.unwrap_or(0), angular, linear, orientation }
}

/// Reads lines `name: number`.
fn read_numbers(
    reader: &mut Reader<'_>,
    node: &Node,
    path: &str,
    unit: &str,
) -> Vec<(String, f64)> {
    let mut numbers = Vec::new();
    for (name, _, value, path) in reader.entries(node, path) {
        if let Some(number) = reader.number(value, &path, &ANY, unit) {
            numbers.push((name.to_owned(), number));
        }
    }
    numbers
}

fn read_end_effector(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<EndEffectorSpec> {
    let fields = reader.fields(node, path, &["kind", "tool", "joints", "sensors", "parameters"]);
    let kind = reader.required(&fields, "kind", "parallel_linkage");
    let kind = kind.and_then(|(node, path)| reader.text(node, &path));
    let tool = reader.required(&fields, "tool", "the link at the tool centre");
    let tool = tool.and_then(|(node, path)| reader.text(node, &path));
    let joints = reader.required(&fields, "joints", "[finger_joint]");
    let joints = joints.map(|(node, path)| reader.texts(node, &path));
    let sensors = fields.get("sensors").map(|(node, path)| reader.texts(node, &path));
    let parameters =
        fields.get("parameters").map(|(node, path)| read_numbers(reader, node, &path, "SI units"));
    Some(EndEffectorSpec {
        kind: kind?.to_owned(),
        tool: tool?.to_owned(),
        joints: joints?,
        sensors: sensors.unwrap_or_default(),
        parameters: parameters.unwrap_or_default(),
    })
}

fn read_collision(reader: &mut Reader<'_>, node: &Node, path: &str, config: &mut RobotConfig) {
    let fields = reader.fields(node, path, &["self", "ignore", "touch", "materials", "convex"]);
    if let Some((node, path)) = fields.get("self") {
        match reader.text(node, &path) {
            // `None` was reported by `text`.
            Some("true") | None => {}
            Some("false") => config.passes_through_itself = true,
            Some(other) => {
                reader.error(
                    node,
                    format!("{path}: unknown value `{other}`"),
                    "write true or false",
                );
            }
        }
    }
    let lists = [("ignore", &mut config.ignored_pairs), ("touch", &mut config.touching_pairs)];
    for (key, pairs) in lists {
        let Some((node, path)) = fields.get(key) else { continue };
        for pair in reader.list(node, &path) {
            let names = reader.texts(pair, &path);
            // Three names are as wrong as one: which pairs of them are meant is not said.
            if let Ok([a, b]) = <[String; 2]>::try_from(names) {
                pairs.push((a, b, pair.place.clone()));
            } else {
                let message = format!("{path}: a pair has two links");
                reader.error(pair, message, "write - [link_a, link_b]");
            }
        }
    }
    if let Some((node, path)) = fields.get("materials") {
        for (link, place, node, path) in reader.entries(node, &path) {
            let fields = reader.fields(node, &path, &["friction", "restitution"]);
            let mut number = |key, range: RangeInclusive<f64>| {
                fields.get(key).and_then(|(node, path)| reader.number(node, &path, &range, "-"))
            };
            let material = MaterialConfig {
                // Above 1 for rubber; ten is beyond any pair of surfaces.
                friction: number("friction", 0.0..=10.0),
                restitution: number("restitution", 0.0..=1.0),
            };
            config.materials.push((link.to_owned(), place.clone(), material));
        }
    }
    if let Some((node, path)) = fields.get("convex") {
        for (link, place, node, path) in reader.entries(node, &path) {
            if let Some(convex) = read_link_convex(reader, node, &path) {
                config.convex.push((link.to_owned(), place.clone(), convex));
            }
        }
    }
}

/// Range of the distances that convex parts may be asked to keep from their mesh. [m]
// Below a micrometre every triangle would be a part; above a metre one hull is within any link's tolerance.
const DEVIATION: RangeInclusive<f64> = 1e-6..=1.0;

/// Reads the collision shape of a link's meshes: `hull`, `decompose`, or `{convex: decompose, tolerance: 0.002}`.
fn read_link_convex(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<Convex> {
    if !matches!(node.value, Value::Map(_)) {
        return read_convex_kind(reader, node, path);
    }
    let fields = reader.fields(node, path, &["convex", "tolerance"]);
    read_convex(reader, &fields)
}

/// Reads the keys `convex`, `hull` (the default) or `decompose`, and `tolerance` [m]: the collision shape of a mesh that moves.
pub fn read_convex(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Convex> {
    let kind = match fields.get("convex") {
        Some((node, path)) => read_convex_kind(reader, node, &path)?,
        None => Convex::Hull,
    };
    let Some((node, path)) = fields.get("tolerance") else { return Some(kind) };
    let tolerance = Some(reader.number(node, &path, &DEVIATION, "m")?);
    // A hull is what it is: a tolerance with it shows that the other kind was meant.
    if kind == Convex::Hull {
        let message = format!("{path}: a convex hull has no tolerance");
        reader.error(node, message, "write convex: decompose, or delete it");
        return None;
    }
    Some(Convex::Decompose { tolerance })
}

fn read_convex_kind(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<Convex> {
    match reader.text(node, path)? {
        "hull" => Some(Convex::Hull),
        "decompose" => Some(Convex::Decompose { tolerance: None }),
        other => {
            let message = format!("{path}: unknown convex shape `{other}`");
            reader.error(node, message, "write hull or decompose");
            None
        }
    }
}
