//! Reader of `suction:` of the robot YAML.

use std::f64::consts::PI;
use std::ops::RangeInclusive;

use super::read_pose;
use crate::yaml::{Fields, Node, Reader};
use crate::{ATMOSPHERE, Bellows, SuctionCup, SuctionUnit, VacuumGenerator};

const UNIT_KEYS: [&str; 5] = ["pump", "ejector", "volume", "blow_off", "cups"];
const CUP_KEYS: [&str; 13] = [
    "link",
    "lip",
    "area",
    "radius",
    "friction",
    "least_radius",
    "lip_width",
    "roughness",
    "volume",
    "conductance",
    "check_valve",
    "force",
    "bellows",
];
const BELLOWS_KEYS: [&str; 6] = ["stiffness", "stroke", "lateral", "tilt", "torsion", "damping"];

/// Lengths from a tenth of a micrometre to a metre. [m]
const LENGTH: RangeInclusive<f64> = 1e-7..=1.0;
/// Volumes from a cubic millimetre to a cubic metre. [m³]
const VOLUME: RangeInclusive<f64> = 1e-9..=1.0;
/// Flows up to a cubic metre a second. [m³/s]
const FLOW: RangeInclusive<f64> = 0.0..=1.0;
/// Stiffnesses from a thread to a bar. [N/m, N·m/rad]
const STIFFNESS: RangeInclusive<f64> = 1e-3..=1e9;
/// Vacuums up to that of the atmosphere. [Pa]
const VACUUM: RangeInclusive<f64> = 0.0..=ATMOSPHERE;
/// Vacuum at which makers state the force of a cup. [Pa]
const STATED_VACUUM: f64 = 60e3;

/// Volume of a manifold of a few fittings. [m³]
const MANIFOLD: f64 = 5e-6;
/// Flow through half a metre of a hose of 4 mm over the difference of vacuums. [m³/(s·Pa)]
const CONDUCTANCE: f64 = 2e-7;
/// Friction of rubber on dry metal, wood and glass [Schmalz]. [-]
const FRICTION: f64 = 0.5;
/// Width of a thin lip. [m]
const LIP_WIDTH: f64 = 1e-3;
/// Damping over stiffness of rubber whose loss factor is 0.2 at 10 Hz. [s]
const DAMPING: f64 = 3e-3;
/// Gaps that smooth sheet leaves. [m]
const ROUGHNESS: f64 = 5e-6;

pub(super) fn read(
    reader: &mut Reader<'_>,
    name: &str,
    node: &Node,
    path: &str,
) -> Option<SuctionUnit<String>> {
    let fields = reader.fields(node, path, &UNIT_KEYS);
    let generator = read_generator(reader, &fields, node, path);
    let mut number = |key, range: RangeInclusive<f64>, unit, default| {
        let given = fields.get(key);
        given.and_then(|(node, path)| reader.number(node, &path, &range, unit)).unwrap_or(default)
    };
    let volume = number("volume", VOLUME, "m³", MANIFOLD);
    let blow_off = number("blow_off", FLOW, "m³/s", 0.0);
    let mut cups = Vec::new();
    if let Some((node, path)) = reader.required(&fields, "cups", "a cup's name, with its keys") {
        for (name, _, node, path) in reader.entries(node, &path) {
            cups.extend(read_cup(reader, name, node, &path));
        }
    }
    Some(SuctionUnit { name: name.to_owned(), generator: generator?, volume, blow_off, cups })
}

fn read_generator(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    node: &Node,
    path: &str,
) -> Option<VacuumGenerator> {
    match (fields.get("pump"), fields.get("ejector")) {
        (Some((node, path)), None) => {
            let fields = reader.fields(node, &path, &["flow", "vacuum"]);
            let flow = reader.required(&fields, "flow", "its flow without a vacuum, in m³/s");
            let free_flow = flow.and_then(|(n, p)| reader.number(n, &p, &FLOW, "m³/s"));
            let vacuum = reader.required(&fields, "vacuum", "its largest vacuum, in Pa");
            let largest = vacuum.and_then(|(n, p)| reader.number(n, &p, &(1.0..=ATMOSPHERE), "Pa"));
            Some(VacuumGenerator::Pump { free_flow: free_flow?, largest: largest? })
        }
        (None, Some((node, path))) => read_ejector(reader, node, &path),
        _ => {
            let message = format!("{path}: needs a `pump` or an `ejector`, one of them");
            let remedy = "write `pump: {flow: 3.3e-4, vacuum: 85000}`";
            reader.error(node, message, remedy);
            None
        }
    }
}

/// Reads rows `[vacuum, flow]`.
fn read_ejector(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<VacuumGenerator> {
    let mut rows: Vec<[f64; 2]> = Vec::new();
    for row in reader.list(node, path) {
        let numbers = reader.list(row, path);
        let [vacuum, flow] = numbers else {
            reader.error(
                row,
                format!("{path}: a row is a vacuum and a flow"),
                "write - [0, 3.3e-4]",
            );
            return None;
        };
        let vacuum = reader.number(vacuum, path, &VACUUM, "Pa")?;
        let flow = reader.number(flow, path, &FLOW, "m³/s")?;
        // Else a vacuum has no flow of its own, and the balance of air has several solutions.
        if rows.last().is_some_and(|[u, q]| vacuum <= *u || flow > *q) {
            let message = format!("{path}: vacuum must rise and flow must not, row by row");
            reader.error(row, message, "sort the rows, as in a data sheet");
            return None;
        }
        rows.push([vacuum, flow]);
    }
    if rows.len() < 2 {
        let message = format!("{path}: needs two rows or more");
        reader.error(node, message, "write [[0, 3.3e-4], [85000, 0]]");
        return None;
    }
    Some(VacuumGenerator::Table(rows))
}

fn read_cup(
    reader: &mut Reader<'_>,
    name: &str,
    node: &Node,
    path: &str,
) -> Option<SuctionCup<String>> {
    let fields = reader.fields(node, path, &CUP_KEYS);
    let link = reader.required(&fields, "link", "the link that carries its lip");
    let link = link.and_then(|(node, path)| reader.text(node, &path)).map(str::to_owned);
    let radius = reader.required(&fields, "radius", "the radius of its lip, in m");
    let radius = radius.and_then(|(node, path)| reader.number(node, &path, &LENGTH, "m"));
    let lip = fields.get("lip").map(|(node, path)| read_pose(reader, node, &path));
    let has_check_valve =
        fields.get("check_valve").and_then(|(node, path)| reader.flag(node, &path));
    let mut number = |key, range: RangeInclusive<f64>, unit| {
        fields.get(key).and_then(|(node, path)| reader.number(node, &path, &range, unit))
    };
    let force = number("force", 1e-3..=1e5, "N at 60 kPa").map(|force| force / STATED_VACUUM);
    let area = number("area", 1e-9..=1.0, "m²");
    let friction = number("friction", 0.0..=10.0, "-").unwrap_or(FRICTION);
    let least_radius = number("least_radius", LENGTH, "m");
    let lip_width = number("lip_width", LENGTH, "m").unwrap_or(LIP_WIDTH);
    let roughness = number("roughness", 0.0..=0.01, "m").unwrap_or(ROUGHNESS);
    let volume = number("volume", VOLUME, "m³");
    let conductance = number("conductance", 1e-12..=1.0, "m³/(s·Pa)").unwrap_or(CONDUCTANCE);
    if let (Some(_), Some((node, path))) = (area, fields.get("force")) {
        reader.error(node, format!("{path}: the area says the same"), "write one of them");
    }
    let (link, radius) = (link?, radius?);
    let least_radius = least_radius.unwrap_or(3.0 * radius);
    if least_radius < radius {
        let message =
            format!("{path}: least_radius {least_radius} m is below the lip's {radius} m");
        reader.error(node, message, "write the least radius of goods that the data sheet states");
    }
    let bellows = match fields.get("bellows") {
        Some((node, path)) => Some(read_bellows(reader, node, &path, radius)?),
        None => None,
    };
    let circle = PI * radius * radius;
    Some(SuctionCup {
        name: name.to_owned(),
        link,
        lip: lip.unwrap_or_default(),
        area: area.or(force).unwrap_or(circle),
        radius,
        friction,
        least_radius,
        lip_width,
        roughness,
        // As deep as its radius.
        volume: volume.unwrap_or(circle * radius),
        conductance,
        has_check_valve: has_check_valve.unwrap_or(false),
        bellows,
    })
}

/// Reads bellows of a lip of this radius. [m]
fn read_bellows(reader: &mut Reader<'_>, node: &Node, path: &str, radius: f64) -> Option<Bellows> {
    let fields = reader.fields(node, path, &BELLOWS_KEYS);
    let axial = reader.required(&fields, "stiffness", "the stiffness along its axis, in N/m");
    let axial = axial.and_then(|(node, path)| reader.number(node, &path, &STIFFNESS, "N/m"));
    let stroke = reader.required(&fields, "stroke", "how much it shortens at most, in m");
    let stroke = stroke.and_then(|(node, path)| reader.number(node, &path, &LENGTH, "m"));
    let mut number = |key, range: RangeInclusive<f64>, unit| {
        fields.get(key).and_then(|(node, path)| reader.number(node, &path, &range, unit))
    };
    let lateral = number("lateral", STIFFNESS, "N/m");
    let tilt = number("tilt", STIFFNESS, "N·m/rad");
    let torsion = number("torsion", STIFFNESS, "N·m/rad");
    let damping = number("damping", 0.0..=10.0, "s").unwrap_or(DAMPING);
    let (axial, stroke) = (axial?, stroke?);
    // A ring of springs that are as stiff along every direction, as hands share wrenches among cups.
    let about_axis = axial * radius * radius;
    Some(Bellows {
        axial,
        lateral: lateral.unwrap_or(axial),
        tilt: tilt.unwrap_or(0.5 * about_axis),
        torsion: torsion.unwrap_or(about_axis),
        damping,
        stroke,
    })
}
