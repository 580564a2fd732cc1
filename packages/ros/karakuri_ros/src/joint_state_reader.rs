//! Reader of joint states by name into the model's coordinates.

use std::fmt;

use crate::msg::sensor_msgs::msg::JointState;
use karakuri_model::{Limits, Model};

/// Range beyond its limits, in addition to their span, in which a joint may be measured, as limits are compliant. [rad or m]
const BEYOND: f64 = 1.0;
/// Largest position of a joint. [rad or m]
const FURTHEST: f64 = 1e9;
/// Largest velocity of a joint. [rad/s or m/s]
const FASTEST: f64 = 1e6;

/// Position, velocity and effort of a model, as far as messages gave them.
#[derive(Debug)]
pub struct JointStateReader {
    /// Positions of the joints. [rad or m] (nq)
    pub q: Vec<f64>,
    /// Velocities of the joints. [rad/s or m/s] (nv)
    pub v: Vec<f64>,
    /// Efforts of the joints, NaN where no message gave one. [N·m or N] (nv)
    pub effort: Vec<f64>,
    /// Names of the last message, with the coordinates they stand for.
    names: Vec<String>,
    coordinates: Vec<Option<Coordinate>>,
    missing: Vec<String>,
}

/// Coordinate that an entry of a message belongs to.
#[derive(Debug, Clone, Copy)]
struct Coordinate {
    joint: usize,
    q: usize,
    v: usize,
    /// Plausible positions of the joint. [rad or m]
    range: (f64, f64),
}

/// Reason why a message is not taken.
#[derive(Debug, Clone, PartialEq)]
pub enum Unread<'a> {
    /// Joints that no message has contained; the values of the message are taken.
    Missing(&'a [String]),
    /// A number that no robot measures; nothing of the message is taken.
    Implausible(Implausible),
}

/// Number that no robot measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Implausible {
    /// Index of the joint in the model.
    pub joint: usize,
    /// Name of the quantity, such as its position.
    pub quantity: &'static str,
    /// Value of the number, in the quantity's unit.
    pub value: f64,
}

impl Implausible {
    /// Sentence that describes it for people.
    pub fn describe(&self, model: &Model) -> impl fmt::Display {
        let Self { joint, quantity, value } = self;
        let name = model.joints.get(*joint).map_or("?", |j| j.name.as_str());
        format!(
            "joint_states: {quantity} {value:e} of joint `{name}` cannot be; the message is ignored; does somebody else publish `joint_states`?"
        )
    }
}

impl JointStateReader {
    /// Reader at the neutral position until messages come.
    pub fn new(model: &Model) -> Self {
        Self {
            q: model.neutral_position(),
            v: vec![0.0; model.nv],
            effort: vec![f64::NAN; model.nv],
            names: Vec::new(),
            coordinates: Vec::new(),
            missing: Vec::new(),
        }
    }

    /// Takes a message, or the reason why it cannot. NaN stands for `not measured`.
    ///
    /// # Errors
    /// When a number is implausible (nothing is taken), or joints are still missing (the others are taken).
    pub fn read(&mut self, model: &Model, message: &JointState) -> Result<(), Unread<'_>> {
        if self.names != message.name {
            self.learn(model, message);
        }
        if let Some(implausible) = self.find_implausible(message) {
            return Err(Unread::Implausible(implausible));
        }
        for (i, coordinate) in self.coordinates.iter().enumerate() {
            let Some(Coordinate { q, v, .. }) = *coordinate else { continue };
            for (target, values) in [
                (&mut self.q[q], &message.position),
                (&mut self.v[v], &message.velocity),
                (&mut self.effort[v], &message.effort),
            ] {
                if let Some(value) = values.get(i).filter(|value| value.is_finite()) {
                    *target = *value;
                }
            }
        }
        if self.missing.is_empty() { Ok(()) } else { Err(Unread::Missing(&self.missing)) }
    }

    fn find_implausible(&self, message: &JointState) -> Option<Implausible> {
        let known = self.coordinates.iter().enumerate();
        known.filter_map(|(i, c)| c.map(|c| (i, c))).find_map(|(i, coordinate)| {
            let outside = |quantity, values: &[f64], (lower, upper): (f64, f64)| {
                let value = *values.get(i)?;
                let joint = coordinate.joint;
                (value < lower || value > upper).then_some(Implausible { joint, quantity, value })
            };
            outside("position", &message.position, coordinate.range)
                .or_else(|| outside("velocity", &message.velocity, (-FASTEST, FASTEST)))
        })
    }

    fn learn(&mut self, model: &Model, message: &JointState) {
        self.names.clone_from(&message.name);
        let coordinate = |name: &String| {
            let id = model.joint(name)?;
            let joint = &model.joints[id.0];
            let (q, v) = (joint.q_start, joint.v_start);
            let range = plausible_range(&joint.limits);
            (joint.kind.nv() == 1).then_some(Coordinate { joint: id.0, q, v, range })
        };
        self.coordinates = message.name.iter().map(coordinate).collect();
        let grouped = model.groups.iter().flat_map(|g| &g.joints).map(|j| &model.joints[j.0].name);
        self.missing = grouped.filter(|name| !message.name.contains(name)).cloned().collect();
    }
}

fn plausible_range(limits: &Limits) -> (f64, f64) {
    let slack = limits.upper - limits.lower + BEYOND;
    let within = |limit: f64| if limit.is_finite() { limit } else { FURTHEST.copysign(limit) };
    if slack.is_finite() {
        (limits.lower - slack, limits.upper + slack)
    } else {
        (within(limits.lower) - FURTHEST, within(limits.upper) + FURTHEST)
    }
}

#[cfg(test)]
mod tests {
    use karakuri_model::{Base, NoAssets, Source, load};
    use karakuri_spatial::Pose;

    use super::*;

    #[test]
    fn what_no_robot_measures_is_not_taken() {
        let urdf = include_str!("../../../../urdf/arm6/arm6.urdf");
        let source = Source::urdf("arm6.urdf", urdf).with_base(Base::Fixed(Pose::IDENTITY));
        let model = load(&source, &mut NoAssets).unwrap().model;
        let mut reader = JointStateReader::new(&model);
        let name = vec!["shoulder_yaw".to_owned(), "shoulder_pitch".to_owned()];
        let message = |position: f64, velocity: f64| JointState {
            name: name.clone(),
            position: vec![0.5, position],
            velocity: vec![0.0, velocity],
            ..JointState::default()
        };
        let place = model.joints[model.joint("shoulder_yaw").unwrap().0].q_start;
        for (position, velocity) in [
            (1e300, 0.0),
            (f64::INFINITY, 0.0),
            (0.0, f64::NEG_INFINITY),
            (-100.0, 0.0),
            (0.0, 1e7),
        ] {
            let refused = reader.read(&model, &message(position, velocity));
            let Err(Unread::Implausible(why)) = refused else { panic!("{refused:?}") };
            let text = why.describe(&model).to_string();
            assert!(text.contains("of joint `shoulder_pitch` cannot be"), "{text}");
        }
        assert_eq!(reader.q[place].to_bits(), 0.0_f64.to_bits(), "nothing of it is taken");
        reader.read(&model, &message(f64::NAN, 0.1)).unwrap();
        assert_eq!(reader.q[place].to_bits(), 0.5_f64.to_bits());
    }
}
