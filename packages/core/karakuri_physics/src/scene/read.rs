//! Reader of the text of a [`Scene`].

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

use karakuri_model::yaml::{self, Fields, Node, Reader};
use karakuri_model::{
    Convex, Diagnostics, Mesh, MotorSpec, Place, Report, Shape, read_convex, read_motor,
};
use karakuri_spatial::{Inertia, InertiaError, Matrix3, Motion, Pose, Vector3};

use super::balls::{Coordinates, SceneBall, read_coordinates};
use super::materials::{read_material, read_name};
use super::{EARTH, Ground, Scene, SceneBody, SceneDrive, SceneMaterials, SceneRobot};
use crate::solver::{SOLVERS, solver};
use crate::{BodyDescription, Integrator, Sleeping, SolverSettings, WorldSettings};

// Wide ranges: what is outside is a mistake of units, which a step would meet later and without its line.
const DT: RangeInclusive<f64> = 1e-6..=0.1;
pub(super) const FRICTION: RangeInclusive<f64> = 0.0..=10.0;
pub(super) const RESTITUTION: RangeInclusive<f64> = 0.0..=1.0;
const LENGTH: RangeInclusive<f64> = 1e-6..=1e4;
const MASS: RangeInclusive<f64> = 1e-9..=1e9;
pub(super) const GAIN: RangeInclusive<f64> = 0.0..=1e12;
pub(super) const ANY: RangeInclusive<f64> = -1e9..=1e9;
/// Friction coefficient of wood, until the scene says more. [-]
const BODY_FRICTION: f64 = 0.5;

impl Scene {
    /// Reads a scene from the text of `file`, or reports all that is wrong with it.
    ///
    /// # Errors
    /// When the text is no YAML, a key is unknown or missing, or a value is of the wrong type or range; every
    /// problem.
    pub fn parse(text: &str, file: &str) -> Result<Self, Diagnostics> {
        let mut report = Report::default();
        let mut scene = Self {
            settings: WorldSettings::default(),
            ground: None,
            robots: Vec::new(),
            bodies: Vec::new(),
            materials: SceneMaterials::default(),
            ground_material: None,
            springs: Vec::new(),
            joints: Vec::new(),
            gears: Vec::new(),
            suctions: Vec::new(),
            prescribed: Vec::new(),
            pushes: Vec::new(),
            ignored: Vec::new(),
        };
        scene.settings.gravity = EARTH;
        if let Some(root) = yaml::parse(file, text, &mut report) {
            scene.read(&mut Reader { report: &mut report }, &root);
        }
        report.finish(Some(scene)).map(|(scene, _)| scene)
    }

    fn read(&mut self, reader: &mut Reader<'_>, root: &Node) {
        // An empty file is an empty world.
        if root.is_nothing() {
            return;
        }
        let keys = [
            "gravity",
            "dt",
            "integrator",
            "solver",
            "threads",
            "sleeping",
            "materials",
            "mixing",
            "pairs",
            "restitution_threshold",
            "penetration_slop",
            "penetration_rate",
            "penetration_step",
            "anchor_rate",
            "ground",
            "robots",
            "bodies",
            "springs",
            "joints",
            "gears",
            "suctions",
            "prescribed",
            "pushes",
            "ignore",
        ];
        let fields = reader.fields(root, "", &keys);
        self.read_settings(reader, &fields);
        self.materials.read(reader, &fields);
        self.read_ties(reader, &fields);
        self.read_prescribed(reader, &fields);
        if let Some((node, path)) = fields.get("ground") {
            let fields = reader.fields(node, &path, &["friction", "restitution", "material"]);
            let (friction, restitution) = surface(reader, &fields, Ground::default().friction);
            self.ground = Some(Ground { friction, restitution });
            self.ground_material = read_material(reader, &fields);
        }
        if let Some((node, path)) = fields.get("robots") {
            // One that is wrong is reported and left out; those after it are read all the same.
            for item in reader.list(node, &path) {
                self.robots.extend(read_robot(reader, item, "robots"));
            }
        }
        if let Some((node, path)) = fields.get("bodies") {
            for item in reader.list(node, &path) {
                self.bodies.extend(read_body(reader, item, "bodies"));
            }
        }
    }

    fn read_settings(&mut self, reader: &mut Reader<'_>, fields: &Fields<'_>) {
        if let Some(g) = vector(reader, fields, "gravity", "m/s²") {
            self.settings.gravity = g;
        }
        if let Some(dt) = number(reader, fields, "dt", &DT, "s") {
            self.settings.dt = dt;
        }
        if let Some((node, path)) = fields.get("integrator")
            && let Some(name) = reader.text(node, &path)
        {
            if let Some(found) = Integrator::find(name) {
                self.settings.integrator = found;
            } else {
                let known = Integrator::ALL.map(Integrator::name).join(", ");
                let remedy = format!("write one of {known}");
                reader.error(node, format!("{path}: there is no integrator `{name}`"), &remedy);
            }
        }
        if let Some((node, path)) = fields.get("solver") {
            read_solver(reader, node, &path, &mut self.settings.solver);
        }
        let settings = &mut self.settings;
        for (key, most, unit, value) in [
            ("restitution_threshold", 1e3, "m/s", &mut settings.restitution_threshold),
            ("penetration_slop", 1.0, "m", &mut settings.penetration_slop),
            ("penetration_rate", 1.0, "-", &mut settings.penetration_rate),
            ("penetration_step", 1.0, "m", &mut settings.penetration_step),
            ("anchor_rate", 1.0, "-", &mut settings.anchor_rate),
        ] {
            *value = number(reader, fields, key, &(0.0..=most), unit).unwrap_or(*value);
        }
        if let Some(threads) = whole(reader, fields, "threads", &(1.0..=256.0)) {
            self.settings.threads = threads;
        }
        if let Some((node, path)) = fields.get("sleeping") {
            // The key alone switches sleeping on, by the default numbers.
            let fields = reader.fields(node, &path, &["linear", "angular", "time"]);
            let mut sleeping = Sleeping::default();
            for (key, unit, value) in [
                ("linear", "m/s", &mut sleeping.linear),
                ("angular", "rad/s", &mut sleeping.angular),
                ("time", "s", &mut sleeping.time),
            ] {
                let given = number(reader, &fields, key, &(0.0..=1e3), unit);
                *value = given.unwrap_or(*value);
            }
            self.settings.sleeping = Some(sleeping);
        }
    }
}

pub(super) fn number(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    key: &str,
    range: &RangeInclusive<f64>,
    unit: &str,
) -> Option<f64> {
    fields.get(key).and_then(|(node, path)| reader.number(node, &path, range, unit))
}

pub(super) fn required_number(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    key: &str,
    range: &RangeInclusive<f64>,
    unit: &str,
    example: &str,
) -> Option<f64> {
    let (node, path) = reader.required(fields, key, example)?;
    reader.number(node, &path, range, unit)
}

pub(super) fn vector(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    key: &str,
    unit: &str,
) -> Option<Vector3> {
    fields.get(key).and_then(|(node, path)| reader.vector(node, &path, unit)).map(Vector3::from)
}

/// Reads friction and restitution.
fn surface(reader: &mut Reader<'_>, fields: &Fields<'_>, friction: f64) -> (f64, f64) {
    (
        number(reader, fields, "friction", &FRICTION, "-").unwrap_or(friction),
        number(reader, fields, "restitution", &RESTITUTION, "-").unwrap_or(0.0),
    )
}

pub(super) fn read_pose(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Pose {
    let Some((node, path)) = fields.get("pose") else { return Pose::IDENTITY };
    let fields = reader.fields(node, &path, &["xyz", "rpy"]);
    let xyz = vector(reader, &fields, "xyz", "m").unwrap_or_default();
    let rpy = vector(reader, &fields, "rpy", "rad").unwrap_or_default();
    Pose::from_xyz_rpy(xyz.into(), rpy.into())
}

fn read_velocity(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Motion {
    let Some((node, path)) = fields.get("velocity") else { return Motion::default() };
    let fields = reader.fields(node, &path, &["linear", "angular"]);
    let linear = vector(reader, &fields, "linear", "m/s").unwrap_or_default();
    let angular = vector(reader, &fields, "angular", "rad/s").unwrap_or_default();
    Motion::new(angular, linear)
}

/// One of two words, each with its meaning.
pub(super) fn choice(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    key: &str,
    words: [(&str, bool); 2],
) -> Option<bool> {
    let (node, path) = fields.get(key)?;
    let text = reader.text(node, &path)?;
    let found = words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning);
    if found.is_none() {
        let [(a, _), (b, _)] = words;
        reader.error(
            node,
            format!("{path}: `{text}` is neither {a} nor {b}"),
            &format!("write {a} or {b}"),
        );
    }
    found
}

fn read_solver(reader: &mut Reader<'_>, node: &Node, path: &str, settings: &mut SolverSettings) {
    let keys =
        ["preset", "method", "iterations", "tolerance", "tolerance_rel", "escalate", "budget"];
    let fields = reader.fields(node, path, &keys);
    let presets = [("default", false), ("realtime", true)];
    // First, so that single keys override what the preset says.
    if choice(reader, &fields, "preset", presets) == Some(true) {
        *settings = SolverSettings::realtime();
    }
    if let Some((node, path)) = fields.get("method")
        && let Some(name) = reader.text(node, &path)
    {
        if let Some(found) = solver(name) {
            settings.method = found.name;
            // The method's own number; one in the file is read later, and wins.
            settings.iterations = found.iterations;
        } else {
            let known: Vec<&str> = SOLVERS.iter().map(|s| s.name).collect();
            let remedy = format!("write one of {}", known.join(", "));
            reader.error(node, format!("{path}: there is no solver `{name}`"), &remedy);
        }
    }
    if let Some(count) = whole(reader, &fields, "iterations", &(1.0..=1e6)) {
        settings.iterations = count;
    }
    if let Some(tolerance) = number(reader, &fields, "tolerance", &(0.0..=1.0), "m/s") {
        settings.tolerance = tolerance;
    }
    if let Some(part) = number(reader, &fields, "tolerance_rel", &(0.0..=1.0), "") {
        settings.tolerance_rel = part;
    }
    if let Some(budget) = whole(reader, &fields, "budget", &(0.0..=1e15)) {
        settings.budget = budget;
    }
    let words = [("true", true), ("false", false)];
    if let Some(escalate) = choice(reader, &fields, "escalate", words) {
        settings.escalate = escalate;
    }
}

/// Reads a whole number of something.
fn whole(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    key: &str,
    range: &RangeInclusive<f64>,
) -> Option<usize> {
    let (node, path) = fields.get(key)?;
    let count = reader.number(node, &path, range, "")?;
    // By its text: an `f64` prints whole numbers without a point, and others do not parse.
    let whole = format!("{count}").parse().ok();
    if whole.is_none() {
        reader.error(node, format!("{path}: {count} is no whole number"), "write 4, say");
    }
    whole
}

fn read_robot(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<SceneRobot> {
    let keys = [
        "name",
        "urdf",
        "config",
        "pose",
        "base",
        "velocity",
        "joints",
        "velocities",
        "drives",
        "motors",
        "materials",
    ];
    let fields = reader.fields(node, path, &keys);
    // Nothing returns before all is read, so that every problem of a robot is reported at once.
    let name = reader.required(&fields, "name", "arm").and_then(|(n, p)| reader.text(n, &p));
    let urdf = reader
        .required(&fields, "urdf", "../../urdf/arm6/arm6.urdf")
        .and_then(|(n, p)| reader.text(n, &p));
    let config = fields.get("config").and_then(|(n, p)| reader.text(n, &p)).map(PathBuf::from);
    let pose = read_pose(reader, &fields);
    let base = choice(reader, &fields, "base", [("fixed", false), ("floating", true)]);
    let velocity = read_velocity(reader, &fields);
    if let Some((node, path)) = fields.get("velocity")
        && base != Some(true)
    {
        reader.error(node, format!("{path}: a fixed base has none"), "write `base: floating`");
    }
    let (joints, balls) = read_by_joint(reader, &fields, "joints", "rad or m");
    let (velocities, ball_velocities) =
        read_by_joint(reader, &fields, "velocities", "rad/s or m/s");
    let mut drives = Vec::new();
    if let Some((node, path)) = fields.get("drives") {
        for (joint, place, node, path) in reader.entries(node, &path) {
            let fields = reader.fields(node, &path, &["stiffness", "damping", "target", "effort"]);
            let drive = SceneDrive {
                stiffness: number(reader, &fields, "stiffness", &GAIN, "N·m/rad or N/m"),
                damping: number(reader, &fields, "damping", &GAIN, "N·m·s/rad or N·s/m"),
                target: number(reader, &fields, "target", &ANY, "rad or m"),
                effort: number(reader, &fields, "effort", &ANY, "N·m or N"),
            };
            drives.push((joint.to_owned(), drive, place.clone()));
        }
    }
    let motors = read_motors(reader, &fields);
    let mut materials = Vec::new();
    if let Some((node, path)) = fields.get("materials") {
        for (link, _, node, path) in reader.entries(node, &path) {
            materials.extend(read_name(reader, node, &path).map(|name| (link.to_owned(), name)));
        }
    }
    Some(SceneRobot {
        motors,
        materials,
        name: name?.to_owned(),
        urdf: PathBuf::from(urdf?),
        config,
        pose,
        floating: base.unwrap_or(false),
        velocity,
        joints,
        velocities,
        balls,
        ball_velocities,
        drives,
        place: node.place.clone(),
    })
}

/// A value a joint, of joints with one degree of freedom and of balls.
fn read_by_joint(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    key: &str,
    unit: &str,
) -> (Vec<(String, f64, Place)>, Vec<SceneBall>) {
    let (mut values, mut balls) = (Vec::new(), Vec::new());
    let Some((node, path)) = fields.get(key) else { return (values, balls) };
    for (joint, place, node, path) in reader.entries(node, &path) {
        let (joint, place) = (joint.to_owned(), place.clone());
        match read_coordinates(reader, node, &path, unit) {
            Some(Coordinates::One(value)) => values.push((joint, value, place)),
            Some(Coordinates::OfBall(value)) => balls.push(SceneBall { joint, value, place }),
            None => {}
        }
    }
    (values, balls)
}

fn read_motors(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Vec<(MotorSpec, Place)> {
    let Some((node, path)) = fields.get("motors") else { return Vec::new() };
    let entries = reader.entries(node, &path).into_iter();
    let motor = |(name, place, node, path): (&str, &Place, &Node, String)| {
        Some((read_motor(reader, name, node, &path)?, place.clone()))
    };
    entries.filter_map(motor).collect()
}

fn read_body(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<SceneBody> {
    let keys = [
        "name",
        "shape",
        "mass",
        "inertia",
        "center_of_mass",
        "pose",
        "velocity",
        "friction",
        "restitution",
        "material",
        "surface_velocity",
        "fixed",
        "color",
    ];
    let fields = reader.fields(node, path, &keys);
    let name = reader.required(&fields, "name", "cube").and_then(|(n, p)| reader.text(n, &p));
    let shape = reader
        .required(&fields, "shape", "{box: [0.05, 0.05, 0.05]}")
        .and_then(|(n, p)| read_shape(reader, n, &p));
    let fixed =
        choice(reader, &fields, "fixed", [("true", true), ("false", false)]).unwrap_or(false);
    let mass = if fixed {
        // What never moves needs no mass.
        number(reader, &fields, "mass", &MASS, "kg").or(Some(0.0))
    } else {
        required_number(reader, &fields, "mass", &MASS, "kg", "0.2 # kg, or `fixed: true`")
    };
    let inertia = fields.get("inertia").and_then(|(n, p)| read_inertia(reader, n, &p));
    let pose = read_pose(reader, &fields);
    let velocity = read_velocity(reader, &fields);
    let (friction, restitution) = surface(reader, &fields, BODY_FRICTION);
    let color = vector(reader, &fields, "color", "red, green, blue from 0 to 1");
    // Cut and not refused: a colour changes no motion.
    let color = color.unwrap_or(Vector3::new(0.7, 0.7, 0.7)).map(|c| c.clamp(0.0, 1.0));
    #[expect(clippy::cast_possible_truncation, reason = "a colour from 0 to 1")]
    let color = [color.x as f32, color.y as f32, color.z as f32, 1.0];
    // A height field is an open surface, with no inside for a hull or a volume.
    let is_field = fields.get("shape").is_some_and(|(n, _)| n.get("heightfield").is_some());
    if !fixed && is_field {
        let message = format!("{path}: a height field cannot move");
        reader.error(node, message, "write `fixed: true`");
    }
    let description = BodyDescription {
        name: name?.to_owned(),
        shape: shape?,
        mass: mass?,
        inertia,
        pose,
        velocity,
        friction,
        restitution,
        fixed,
        color,
    };
    let surface_velocity = vector(reader, &fields, "surface_velocity", "m/s").unwrap_or_default();
    let center = vector(reader, &fields, "center_of_mass", "m");
    // Off the middle, the inertia of the shape would be about the wrong point.
    if let (Some((node, path)), None) = (fields.get("center_of_mass"), description.inertia) {
        let message = format!("{path}: the inertia of the solid shape is about its middle");
        reader.error(node, message, "write `inertia` about the centre of mass too");
    }
    Some(SceneBody {
        description,
        material: read_material(reader, &fields),
        center_of_mass: center.unwrap_or_default(),
        surface_velocity,
        place: node.place.clone(),
    })
}

fn read_shape(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<Shape> {
    let kinds =
        ["box", "sphere", "cylinder", "capsule", "cone", "ellipsoid", "mesh", "heightfield"];
    let fields = reader.fields(node, path, &kinds);
    let mut given = kinds.into_iter().filter(|k| fields.get(k).is_some());
    // Exactly one: of two kinds nobody knows which is meant.
    let (Some(kind), None) = (given.next(), given.next()) else {
        let remedy = "write one of {box: [x, y, z]}, {sphere: {radius: r}}, {cylinder: {radius: r, length: l}}, \
                      {capsule: {radius: r, length: l}}, {cone: {radius: r, length: l}}, {ellipsoid: {semi_axes: [x, y, z]}}, {mesh: {file: f}}, {heightfield: {cell: c, heights: [[...], ...]}}";
        reader.error(node, format!("{path}: expected one shape"), remedy);
        return None;
    };
    let (node, path) = fields.get(kind)?;
    match kind {
        "box" => Some(Shape::Box { size: read_lengths(reader, node, &path)? }),
        "ellipsoid" => {
            let fields = reader.fields(node, &path, &["semi_axes"]);
            let (node, path) = reader.required(&fields, "semi_axes", "[0.1, 0.05, 0.05]")?;
            Some(Shape::Ellipsoid { semi_axes: read_lengths(reader, node, &path)? })
        }
        "sphere" => {
            let fields = reader.fields(node, &path, &["radius"]);
            Some(Shape::Sphere {
                radius: required_number(reader, &fields, "radius", &LENGTH, "m", "0.05")?,
            })
        }
        "mesh" => {
            let fields = reader.fields(node, &path, &["file", "convex", "tolerance"]);
            let convex = read_convex(reader, &fields);
            let (node, path) = reader.required(&fields, "file", "part.stl")?;
            let path = PathBuf::from(reader.text(node, &path)?);
            // Empty until the file is read, which this crate does not do.
            let (vertices, triangles) = (Vec::new(), Vec::new());
            let convex = convex.unwrap_or_default();
            Some(Shape::Mesh(Arc::new(Mesh { path, vertices, triangles, convex })))
        }
        "heightfield" => read_height_field(reader, node, &path),
        kind => {
            let fields = reader.fields(node, &path, &["radius", "length"]);
            let radius = required_number(reader, &fields, "radius", &LENGTH, "m", "0.05");
            let length = required_number(reader, &fields, "length", &LENGTH, "m", "0.1");
            let (radius, length) = (radius?, length?);
            Some(match kind {
                "cylinder" => Shape::Cylinder { radius, length },
                "cone" => Shape::Mesh(Arc::new(Mesh::cone(radius, length))),
                _ => Shape::Capsule { radius, length },
            })
        }
    }
}

/// Three lengths of a shape. [m] (3)
fn read_lengths(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<Vector3> {
    let lengths = Vector3::from(reader.vector(node, path, "m")?);
    if lengths.iter().all(|length| LENGTH.contains(length)) {
        return Some(lengths);
    }
    let remedy = format!("write lengths from {} to {} m", LENGTH.start(), LENGTH.end());
    reader.error(node, format!("{path}: a length is out of range"), &remedy);
    None
}

/// A grid of heights, rows along y from the first, as a mesh centred on the grid's middle.
fn read_height_field(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<Shape> {
    let fields = reader.fields(node, path, &["cell", "heights"]);
    let cell = required_number(reader, &fields, "cell", &LENGTH, "m", "0.1");
    let (rows_node, path) = reader.required(&fields, "heights", "[[0, 0.1], [0, 0]]")?;
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for row in reader.list(rows_node, &path) {
        let heights = reader.list(row, &path).iter();
        let heights = heights.map(|height| reader.number(height, &path, &ANY, "m"));
        rows.push(heights.collect::<Option<_>>()?);
    }
    let n = rows.first().map_or(0, Vec::len);
    if n < 2 || rows.len() < 2 || rows.iter().any(|row| row.len() != n) {
        let message = format!("{path}: expected rows of equally many heights");
        reader.error(rows_node, message, "write at least two rows of at least two heights");
        return None;
    }
    let cell = cell?;
    // The grid's middle is the origin.
    let place = |i: usize, count: usize| cell * (i as f64 - 0.5 * (count - 1) as f64);
    let mut vertices = Vec::with_capacity(n * rows.len());
    let mut triangles = Vec::new();
    for (j, row) in rows.iter().enumerate() {
        vertices
            .extend(row.iter().enumerate().map(|(i, &z)| [place(i, n), place(j, rows.len()), z]));
    }
    // Two triangles for each cell.
    for (i, j) in (1..rows.len()).flat_map(|j| (1..n).map(move |i| (i, j))) {
        let corner = |di: usize, dj: usize| u32::try_from((j - dj) * n + i - di);
        // Counter-clockwise from above, so that normals point up.
        let corners = [corner(1, 1), corner(0, 1), corner(0, 0), corner(1, 0)];
        let [Ok(a), Ok(b), Ok(c), Ok(d)] = corners else { return None };
        triangles.extend([[a, b, c], [a, c, d]]);
    }
    let (path, convex) = (PathBuf::new(), Convex::Hull);
    Some(Shape::Mesh(Arc::new(Mesh { path, vertices, triangles, convex })))
}

fn read_inertia(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<Matrix3> {
    let fields = reader.fields(node, path, &["ixx", "iyy", "izz", "ixy", "ixz", "iyz"]);
    let mut moment = |key| required_number(reader, &fields, key, &(0.0..=1e12), "kg·m²", "1e-4");
    let (xx, yy, zz) = (moment("ixx"), moment("iyy"), moment("izz"));
    let mut product = |key| number(reader, &fields, key, &ANY, "kg·m²").unwrap_or(0.0);
    let (xy, xz, yz) = (product("ixy"), product("ixz"), product("iyz"));
    let about_com = Matrix3::new(xx?, xy, xz, xy, yy?, yz, xz, yz, zz?);
    // Any mass will do: only the triangle inequality is asked about here, the rest with the mass of the body.
    let inertia = Inertia { mass: 1.0, com: Vector3::zeros(), about_com };
    if let Err(InertiaError::TriangleInequality(largest, sum)) = inertia.validate() {
        let message = format!(
            "{path}: principal moment {largest:.4e} kg·m² exceeds the sum {:.4e} of the other two, which no mass \
             distribution has",
            sum.max(0.0)
        );
        reader.error(node, message, "recompute the inertia: check units (kg·m²) and axes");
    }
    Some(about_com)
}
