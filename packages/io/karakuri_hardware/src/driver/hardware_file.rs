//! The hardware file of a robot: which servo of which bus turns which joint.
//!
//! ```yaml
//! bus: feetech                # feetech, dynamixel, rcb1, rcb4, ics or robotiq
//! device: /dev/serial/by-id/usb-1a86_USB_Single_Serial_58FA-if00
//! baud: 1000000               # of the bus's usual one
//! period: 0.010               # of a cycle [s]
//! start_tolerance: 0.087      # commands so near to a joint are followed at once [rad or m]
//! ramp_speed: 0.5             # others are approached at this speed [rad/s or m/s]
//! missing: refuse             # refuse, hold_rest or ignore: what a silent servo means
//! at_exit: limp               # limp or hold
//! model: sts3215              # of servos that do not say their own
//! servos:
//!   shoulder: {id: 1, zero: 2048, reversed: true, limits: [-1.5, 1.5], torque_per_amp: 1.1, torque_limit: 0.5, trim: 0}
//!   passive: none             # a joint without a servo
//! calibration: my_robot.calibration.yaml
//! ```
//!
//! A calibration is a file beside it, written for one machine: `servos: {joint: {zero, trim, reversed, limits}}`. Its values win.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_model::yaml::{Fields, Node, Reader, read_tree};
use karakuri_model::{Diagnostics, Place, Report};

use super::kind::{BusKind, ServoModel};
use super::registry::BUSES;
use super::servo_map::ServoMap;
use super::setup::{AtExit, HardwareFile, Missing, ServoSetup};
use crate::RobotLayout;

/// Keys of the file, of a servo, and of a servo in a calibration.
const KEYS: [&str; 11] = [
    "bus",
    "device",
    "baud",
    "period",
    "start_tolerance",
    "ramp_speed",
    "missing",
    "at_exit",
    "model",
    "servos",
    "calibration",
];
const SERVO_KEYS: [&str; 9] = [
    "id",
    "model",
    "zero",
    "counts_per_radian",
    "reversed",
    "limits",
    "torque_per_amp",
    "torque_limit",
    "trim",
];
const CALIBRATION_KEYS: [&str; 4] = ["zero", "trim", "reversed", "limits"];

/// What a servo of a calibration overrides, each with its key.
type Calibrated<'n> = BTreeMap<&'n str, Fields<'n>>;

impl HardwareFile {
    /// Reads the file of a robot, and the calibration beside it.
    ///
    /// # Errors
    /// All problems of both, each with line, key and remedy.
    pub fn read(path: &Path, layout: &RobotLayout) -> Result<Self, Diagnostics> {
        let mut report = Report::default();
        let file = read_file(path, &mut report).and_then(|tree| {
            let folder = path.parent().unwrap_or(Path::new(""));
            let calibration = calibration(&tree, folder, &mut report);
            let mut reader = Reader { report: &mut report };
            read(&mut reader, &tree, calibration.as_deref(), layout)
        });
        report.finish(file).map(|(file, _)| file)
    }

    /// Reads the file of a robot without its calibration, and which file that is to be, if it names one.
    ///
    /// # Errors
    /// All problems of the file, each with line, key and remedy.
    pub fn read_uncalibrated(
        path: &Path,
        layout: &RobotLayout,
    ) -> Result<(Self, Option<PathBuf>), Diagnostics> {
        let mut report = Report::default();
        let file = read_file(path, &mut report).and_then(|tree| {
            let mut reader = Reader { report: &mut report };
            let name = tree.get("calibration").and_then(|node| reader.text(node, "calibration"));
            let calibration = name.map(|name| path.parent().unwrap_or(Path::new("")).join(name));
            Some((read(&mut reader, &tree, None, layout)?, calibration))
        });
        report.finish(file).map(|(file, _)| file)
    }

    /// File of a robot of which only the bus is known: servos in the order of the driven joints, from the usual number on, with
    /// zero in the middle.
    ///
    /// # Errors
    /// When the bus cannot have such servos; every problem.
    pub(super) fn of_bus(
        bus: &BusKind,
        device: &Path,
        layout: &RobotLayout,
    ) -> Result<Self, Diagnostics> {
        let mut report = Report::default();
        let led = (0..layout.joints.len()).filter(|index| is_led(layout, *index));
        let servos = led.zip(u32::from(bus.first_id)..);
        let servos =
            servos.map(|(index, id)| format!("{}: {{id: {id}}}", layout.joints[index].name));
        let servos = servos.collect::<Vec<_>>().join(", ");
        let device = device.display();
        let text = format!("bus: {}\ndevice: {device}\nservos: {{{servos}}}\n", bus.name);
        let file = match read_tree(bus.name, &text) {
            Ok(tree) => read(&mut Reader { report: &mut report }, &tree, None, layout),
            Err(error) => {
                report.error_at(error.place, error.message, "name the device by a plainer path");
                None
            }
        };
        report.finish(file).map(|(file, _)| file)
    }
}

fn read_file(path: &Path, report: &mut Report) -> Option<Arc<Node>> {
    let name = path.display().to_string();
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            let remedy = "name a hardware file, such as config/hardware/khr1.yaml";
            report.error_at(Place::file(&name), format!("cannot be read: {error}"), remedy);
            return None;
        }
    };
    match read_tree(&name, &text) {
        Ok(tree) => Some(tree),
        Err(error) => {
            let remedy = "correct the YAML there";
            report.error_at(error.place, error.message, remedy);
            None
        }
    }
}

/// The calibration that a file names, if it names one that can be read.
fn calibration(tree: &Node, folder: &Path, report: &mut Report) -> Option<Arc<Node>> {
    let node = tree.get("calibration")?;
    let name = Reader { report }.text(node, "calibration")?;
    let path = folder.join(name);
    if path.is_file() {
        return read_file(&path, report);
    }
    let message = format!("calibration: there is no file {}", path.display());
    let remedy = "write it by `karakuri hardware calibrate`, or leave the key out";
    report.error_at(node.place.clone(), message, remedy);
    None
}

fn read(
    reader: &mut Reader<'_>,
    tree: &Node,
    calibration: Option<&Node>,
    layout: &RobotLayout,
) -> Option<HardwareFile> {
    let fields = reader.fields(tree, "", &KEYS);
    let bus = bus(reader, &fields)?;
    let device = reader.required(&fields, "device", "/dev/serial/by-id/usb-...");
    let device = device.and_then(|(node, path)| device_path(reader, node, &path));
    let baud = baud(reader, &fields, bus);
    let period_node = fields.get("period");
    let period = number(reader, &fields, "period", bus.period, &(1e-3..=0.5), "s");
    let start_tolerance =
        number(reader, &fields, "start_tolerance", 5_f64.to_radians(), &(1e-4..=0.5), "rad or m");
    let ramp_speed = number(reader, &fields, "ramp_speed", 0.5, &(1e-3..=10.0), "rad/s or m/s");
    let missing = [
        ("refuse", Missing::Refuse),
        ("hold_rest", Missing::HoldRest),
        ("ignore", Missing::Ignore),
    ];
    let missing = word(reader, &fields, "missing", &missing);
    let at_exit =
        word(reader, &fields, "at_exit", &[("limp", AtExit::Limp), ("hold", AtExit::Hold)]);
    let servos = servos(reader, &fields, bus, calibration, layout)?;
    let file = HardwareFile {
        bus,
        device: device?,
        baud: baud?,
        period: period?,
        start_tolerance: start_tolerance?,
        ramp_speed: ramp_speed?,
        missing: missing?,
        at_exit: at_exit?,
        servos,
    };
    let node = period_node.as_ref().map_or(tree, |(node, _)| node);
    check_period(reader, node, &file).then_some(file)
}

/// Whether the wire carries a cycle within a period.
fn check_period(reader: &mut Reader<'_>, node: &Node, file: &HardwareFile) -> bool {
    let least = file.bus.cycle_time(file.servos.len(), file.baud);
    if file.period >= least {
        return true;
    }
    let (n, baud, period) = (file.servos.len(), file.baud, file.period);
    let message = format!(
        "period: {period} s is too short for {n} servos at {baud} baud, which need {least:.4} s"
    );
    // Twice the wire's time leaves room for the adapter.
    let remedy = format!("write `period: {:.3}` or a faster `baud`", (2e3 * least).ceil() * 1e-3);
    reader.error(node, message, &remedy);
    false
}

fn bus(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<&'static BusKind> {
    let (node, path) = reader.required(fields, "bus", "feetech")?;
    let name = reader.text(node, &path)?;
    let found = BUSES.iter().find(|bus| bus.name == name).copied();
    if found.is_none() {
        let names = BUSES.map(|bus| bus.name).join(", ");
        reader.error(node, format!("bus: there is no `{name}`"), &format!("write one of {names}"));
    }
    found
}

fn device_path(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<PathBuf> {
    let text = reader.text(node, path)?;
    if Path::new(text).is_absolute() {
        return Some(text.into());
    }
    let remedy = "write an absolute path, best one of /dev/serial/by-id, which follows the adapter";
    reader.error(node, format!("device: `{text}` is no path of a port"), remedy);
    None
}

fn baud(reader: &mut Reader<'_>, fields: &Fields<'_>, bus: &BusKind) -> Option<u32> {
    let Some((node, path)) = fields.get("baud") else { return Some(bus.bauds[0]) };
    let baud = reader.count(node, &path)?;
    let known = bus.bauds.iter().find(|known| u64::from(**known) == baud);
    if known.is_none() {
        let all: Vec<_> = bus.bauds.iter().map(ToString::to_string).collect();
        let message = format!("baud: {} does not have {baud}", bus.name);
        reader.error(node, message, &format!("write one of {}", all.join(", ")));
    }
    known.copied()
}

fn number(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    key: &str,
    default: f64,
    range: &std::ops::RangeInclusive<f64>,
    unit: &str,
) -> Option<f64> {
    let Some((node, path)) = fields.get(key) else { return Some(default) };
    reader.number(node, &path, range, unit)
}

/// One of a few words, the first without a key.
fn word<T: Copy>(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    key: &str,
    words: &[(&str, T)],
) -> Option<T> {
    let Some((node, path)) = fields.get(key) else { return words.first().map(|(_, value)| *value) };
    let text = reader.text(node, &path)?;
    let found = words.iter().find(|(word, _)| *word == text);
    if found.is_none() {
        let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        let message = format!("{path}: unknown value `{text}`");
        reader.error(node, message, &format!("write one of {}", known.join(", ")));
    }
    found.map(|(_, value)| *value)
}

fn servos(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    bus: &'static BusKind,
    calibration: Option<&Node>,
    layout: &RobotLayout,
) -> Option<Vec<ServoSetup>> {
    let usual = servo_model(reader, fields, bus, &bus.models[0])?;
    let calibrated = calibrated(reader, calibration, layout);
    let (node, path) = reader.required(fields, "servos", "{shoulder: {id: 1}}")?;
    let mut servos: Vec<ServoSetup> = Vec::new();
    let mut without = Vec::new();
    let mut is_good = true;
    for (joint, place, node, path) in reader.entries(node, &path) {
        let Some(index) = layout.joints.iter().position(|known| known.name == joint) else {
            is_good = false;
            report_joint(reader, place, &path, joint, layout);
            continue;
        };
        if matches!(&node.value, karakuri_model::yaml::Value::Scalar { text, .. } if text == "none")
        {
            without.push(index);
            continue;
        }
        let overrides = calibrated.get(joint);
        let servo = ServoReader { bus, usual, layout, overrides }.read(reader, node, &path, index);
        let Some(servo) = servo else {
            is_good = false;
            continue;
        };
        if let Some(other) = servos.iter().find(|other| other.id == servo.id) {
            let other = &layout.joints[other.joint].name;
            let message = format!("{path}.id: {} is that of `{other}` too", servo.id);
            reader.report.error_at(place.clone(), message, "give each servo an id of its own");
            is_good = false;
        }
        servos.push(servo);
    }
    for (index, joint) in layout.joints.iter().enumerate() {
        let has_servo = servos.iter().any(|servo| servo.joint == index);
        if is_good && is_led(layout, index) && !has_servo && !without.contains(&index) {
            let message = format!("servos: the driven joint `{}` has no servo", joint.name);
            let remedy = format!("write `{}: {{id: ...}}`, or `{0}: none`", joint.name);
            reader.error(node, message, &remedy);
            is_good = false;
        }
    }
    if is_good && servos.is_empty() {
        reader.error(node, "servos: there is none".to_owned(), "write `shoulder: {id: 1}`, say");
        return None;
    }
    if servos.len() > bus.most {
        let message =
            format!("servos: {} are more than a {} line can have", servos.len(), bus.name);
        reader.error(node, message, &format!("leave {} at most", bus.most));
        return None;
    }
    is_good.then_some(servos)
}

/// Whether a joint has a drive of its own: it follows no other.
fn is_led(layout: &RobotLayout, index: usize) -> bool {
    let joint = &layout.joints[index];
    joint.driven && layout.model.couplings.iter().all(|c| c.follower != joint.body)
}

fn report_joint(
    reader: &mut Reader<'_>,
    place: &Place,
    path: &str,
    joint: &str,
    layout: &RobotLayout,
) {
    let names: Vec<_> = layout.joints.iter().map(|joint| joint.name.as_str()).collect();
    let message = format!("{path}: robot `{}` has no joint `{joint}`", layout.name);
    let remedy = format!("write one of {}", names.join(", "));
    reader.report.error_at(place.clone(), message, remedy);
}

/// The values of a calibration by joint.
fn calibrated<'n>(
    reader: &mut Reader<'_>,
    calibration: Option<&'n Node>,
    layout: &RobotLayout,
) -> Calibrated<'n> {
    let mut all = BTreeMap::new();
    let Some(calibration) = calibration else { return all };
    let fields = reader.fields(calibration, "", &["servos"]);
    let Some((node, path)) = fields.get("servos") else { return all };
    for (joint, place, node, path) in reader.entries(node, &path) {
        if layout.joints.iter().any(|known| known.name == joint) {
            all.insert(joint, reader.fields(node, &path, &CALIBRATION_KEYS));
        } else {
            report_joint(reader, place, &path, joint, layout);
        }
    }
    all
}

fn servo_model(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    bus: &BusKind,
    usual: &'static ServoModel,
) -> Option<&'static ServoModel> {
    let Some((node, path)) = fields.get("model") else { return Some(usual) };
    let name = reader.text(node, &path)?;
    let found = bus.models.iter().find(|model| model.name.eq_ignore_ascii_case(name));
    if found.is_none() {
        let known: Vec<_> = bus.models.iter().map(|model| model.name).collect();
        let message = format!("{path}: {} has no `{name}`", bus.name);
        reader.error(node, message, &format!("write one of {}", known.join(", ")));
    }
    found
}

/// What a servo is read with.
struct ServoReader<'a> {
    bus: &'static BusKind,
    usual: &'static ServoModel,
    layout: &'a RobotLayout,
    overrides: Option<&'a Fields<'a>>,
}

impl ServoReader<'_> {
    fn read(
        &self,
        reader: &mut Reader<'_>,
        node: &Node,
        path: &str,
        joint: usize,
    ) -> Option<ServoSetup> {
        let fields = reader.fields(node, path, &SERVO_KEYS);
        let model = servo_model(reader, &fields, self.bus, self.usual)?;
        let (id_node, id_path) = reader.required(&fields, "id", "1")?;
        let (least, most) = self.bus.ids;
        let ids = f64::from(least)..=f64::from(most);
        let id = reader.number(id_node, &id_path, &ids, "");
        let id = id.and_then(|id| whole_id(reader, id_node, &id_path, id));
        let (low, high) = model.range;
        let range = f64::from(low)..=f64::from(high);
        let zero =
            number(reader, self.source(&fields, "zero"), "zero", model.zero, &range, "counts");
        let trims = -1000.0..=1000.0;
        let trim = number(reader, self.source(&fields, "trim"), "trim", 0.0, &trims, "counts");
        let scale = 1e-3..=1e6;
        let counts_per_radian =
            number(reader, &fields, "counts_per_radian", model.counts_per_radian, &scale, "");
        let torque_per_amp =
            number(reader, &fields, "torque_per_amp", 0.0, &(0.0..=1000.0), "N·m/A");
        let torque_limit = match fields.get("torque_limit") {
            Some((node, path)) => Some(torque_limit(reader, node, &path, model)?),
            None => None,
        };
        let reversed = match self.field(&fields, "reversed") {
            Some((node, path)) => reader.flag(node, &path),
            None => Some(false),
        };
        let own = self.layout.joints[joint].limits;
        let given = match self.field(&fields, "limits") {
            Some((node, path)) => reader.interval(node, &path, &(-1e3..=1e3), "rad or m").map(Some),
            None => Some(None),
        };
        let sign = if reversed? { -1.0 } else { 1.0 };
        let mut map = ServoMap {
            zero: zero? + trim?,
            counts_per_radian: sign * counts_per_radian?,
            limits: own,
            range: model.range,
            torque_per_amp: torque_per_amp?,
        };
        limit(reader, node, path, &mut map, given?)?;
        Some(ServoSetup { joint, id: id?, model, map, torque_limit })
    }

    /// Where a key is read: in the calibration, if it is there.
    fn source<'f>(&'f self, fields: &'f Fields<'f>, key: &str) -> &'f Fields<'f> {
        self.overrides.filter(|overrides| overrides.get(key).is_some()).unwrap_or(fields)
    }

    /// The value of a key, the calibration's before the file's.
    fn field<'n>(&'n self, fields: &Fields<'n>, key: &str) -> Option<(&'n Node, String)> {
        self.overrides.and_then(|overrides| overrides.get(key)).or_else(|| fields.get(key))
    }
}

/// Share of the stall torque that a servo of a model may exert. [-]
fn torque_limit(
    reader: &mut Reader<'_>,
    node: &Node,
    path: &str,
    model: &ServoModel,
) -> Option<f64> {
    if model.limits_torque {
        return reader.number(node, path, &(0.01..=1.0), "of the stall torque");
    }
    let message = format!("{path}: a {} has no torque limit", model.name);
    reader.error(node, message, "leave the key out");
    None
}

/// Narrows the limits of a joint to those of the file, and checks that the servo reaches them.
fn limit(
    reader: &mut Reader<'_>,
    node: &Node,
    path: &str,
    map: &mut ServoMap,
    given: Option<(f64, f64)>,
) -> Option<()> {
    let ends = [map.range.0, map.range.1].map(|end| map.position(end.into()));
    let reach = (ends[0].min(ends[1]), ends[0].max(ends[1]));
    // Half a count is rounding.
    let slack = 0.5 / map.counts_per_radian.abs();
    if let Some((least, most)) = given {
        if least < reach.0 - slack || most > reach.1 + slack {
            let counts = [least, most].map(|end| map.exact_counts(end).round());
            let message = format!(
                "{path}.limits: [{least}, {most}] are the counts {} and {}, and the servo has {} to {}",
                counts[0], counts[1], map.range.0, map.range.1
            );
            let remedy = format!("write limits within [{:.3}, {:.3}]", reach.0, reach.1);
            reader.error(node, message, &remedy);
            return None;
        }
        map.limits = (map.limits.0.max(least), map.limits.1.min(most));
    }
    map.limits = (map.limits.0.max(reach.0), map.limits.1.min(reach.1));
    if map.limits.0 < map.limits.1 {
        return Some(());
    }
    let message = format!(
        "{path}: nothing is left of the joint's limits [{}, {}]",
        map.limits.0, map.limits.1
    );
    reader.error(node, message, "correct `zero`, `counts_per_radian`, `reversed` or `limits`");
    None
}

/// An id that is a whole number.
fn whole_id(reader: &mut Reader<'_>, node: &Node, path: &str, id: f64) -> Option<u8> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
    let whole = id as u8;
    if (f64::from(whole) - id).abs() < f64::EPSILON {
        return Some(whole);
    }
    reader.error(node, format!("{path}: {id} is no whole number"), "write 1, say");
    None
}
