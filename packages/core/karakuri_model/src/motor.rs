//! Motors beside a joint's drive: any number on a joint, each by a law of its own.
//!
//! A law is one file that implements [`MotorLaw`]: effort and its slopes at a state of the joint. A line in [`LAWS`]
//! gives it a name in robot YAMLs and scenes; programs may bring their own without one. Physics treats every law
//! implicitly: it is linearised where the step ends.

mod exponential;
mod law;
mod linear;
mod plastic;
mod speed_torque;
mod table;
mod viscoelastic;

use std::sync::Arc;

use crate::yaml::{Fields, Node, Reader};
use law::number;

pub use exponential::{End as ExponentialEnd, Exponential};
pub use law::{MotorCommand, MotorLaw, MotorResponse, MotorState};
pub use linear::Linear;
pub use plastic::Plastic;
pub use speed_torque::SpeedTorque;
pub use table::Table;
pub use viscoelastic::Viscoelastic;

/// A motor by names.
#[derive(Debug, Clone)]
pub struct MotorSpec {
    /// Name of the motor, unique on the robot.
    pub name: String,
    /// The joint it acts on, with one degree of freedom.
    pub joint: String,
    /// Law of its effort.
    pub law: Arc<dyn MotorLaw>,
    /// Command until another one comes.
    pub command: MotorCommand,
    /// Largest effort. [N·m or N]
    pub effort: f64,
}

type ReadLaw = fn(&mut Reader<'_>, &Fields<'_>) -> Option<Arc<dyn MotorLaw>>;

/// The laws that a file can name, their keys and their readers.
const LAWS: [(&str, &[&str], ReadLaw); 6] = [
    ("linear", &["stiffness", "damping"], linear::read),
    ("viscoelastic", &["stiffness", "damping", "second_damping"], viscoelastic::read),
    ("plastic", &["stiffness", "damping", "yield", "hardening"], plastic::read),
    ("exponential", &["lower", "upper", "damping"], exponential::read),
    ("table", &["points", "damping"], table::read),
    ("speed_torque", &["stall", "no_load"], speed_torque::read),
];

/// Keys of every motor.
const COMMON: [&str; 6] = ["joint", "law", "position", "velocity", "offset", "effort"];

/// A motor of a robot YAML or a scene: `{joint, law, position, velocity, offset, effort, ...}`, the rest as the law says.
pub fn read_motor(
    reader: &mut Reader<'_>,
    name: &str,
    node: &Node,
    path: &str,
) -> Option<MotorSpec> {
    let known = LAWS.map(|(law, ..)| law).join(", ");
    let entries = reader.entries(node, path);
    // The law first: it says which other keys there may be.
    let Some((.., word, at)) = entries.into_iter().find(|(key, ..)| *key == "law") else {
        reader.error(node, format!("{path}.law is missing"), &format!("write one of {known}"));
        return None;
    };
    let law = reader.text(word, &at)?;
    let Some((_, keys, read)) = LAWS.iter().find(|(name, ..)| *name == law) else {
        let message = format!("{at}: there is no motor law `{law}`");
        reader.error(word, message, &format!("write one of {known}"));
        return None;
    };
    // The keys of another law are unknown here: read, they would do nothing.
    let keys = [&COMMON[..], keys].concat();
    let fields = reader.fields(node, path, &keys);
    let joint = reader.required(&fields, "joint", "the joint it acts on");
    let joint = joint.and_then(|(node, path)| reader.text(node, &path));
    let command = MotorCommand {
        position: number(reader, &fields, "position", "rad or m"),
        velocity: number(reader, &fields, "velocity", "rad/s or m/s"),
        effort: number(reader, &fields, "offset", "N·m or N"),
    };
    let effort = match fields.get("effort") {
        Some((node, path)) => reader.number(node, &path, &(0.0..=1e12), "N·m or N")?,
        // A law may bound itself, as a stalled motor does.
        None => f64::INFINITY,
    };
    let law = read(reader, &fields)?;
    Some(MotorSpec { name: name.to_owned(), joint: joint?.to_owned(), law, command, effort })
}
