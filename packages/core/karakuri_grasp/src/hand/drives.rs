//! Drives of a hand with an opening: one, or those of three fingers and of their spread.

use karakuri_model::{BodyId, Model};

use crate::EndEffector;
use crate::end_effector::{Spread, ThreeFingers};
use crate::grip_force::HandReference;

/// Rate of the spread. [rad/s]
// 60 degrees take 2 s: they are done before the arm is at the object.
const SPREAD_RATE: f64 = 0.5;
/// Error of the spread from which on fingers close elsewhere than on the object. [rad]
// A tip 40 mm from the axis is 2 mm beside its place then.
const SPREAD_TOLERANCE: f64 = 0.05;

/// Deflection of a drive, over that at the greatest force of the hand, from which on it does not move as it should. [-]
const STUCK: f64 = 1.4;
/// Time for which that may be: a target that the drive has yet to catch up with. [s]
const PATIENCE: f64 = 0.5;

/// Drives of a hand, and the references that they were given last.
#[derive(Debug, Clone)]
pub(super) struct Drives {
    names: Vec<String>,
    /// Joints that close the hand, all alike.
    closing: Vec<BodyId>,
    spread: Option<SpreadDrive>,
    references: Vec<HandReference>,
    /// Greatest deflection of a drive. [rad or m]
    give: f64,
    /// Time for which each drive has been further from its reference than that. [s]
    behind: Vec<f64>,
}

/// Drive of the spread.
#[derive(Debug, Clone)]
struct SpreadDrive {
    joint: BodyId,
    /// Desired position; none leaves it where it is. [rad]
    desired: Option<f64>,
    /// Last reference. [rad]
    reference: Option<f64>,
    /// Last measured position. [rad]
    position: f64,
}

impl Drives {
    pub(super) fn new(model: &Model, hand: &dyn EndEffector) -> Self {
        let closing = hand.closing_joints();
        let spread = hand.three_fingers().map(ThreeFingers::spread_joint);
        let names = closing.iter().chain(&spread).map(|id| model.joints[id.0].name.clone());
        let names: Vec<_> = names.collect();
        let joint = &model.joints[hand.joint().0];
        let give = hand.effort(hand.position(hand.opening_range().0), hand.force_max()).abs()
            / joint.drive.map_or(1.0, |drive| drive.stiffness);
        let drive = |joint| SpreadDrive { joint, desired: None, reference: None, position: 0.0 };
        Self {
            references: vec![HandReference::default(); names.len()],
            give: STUCK * give,
            behind: vec![0.0; closing.len()],
            names,
            closing,
            spread: spread.map(drive),
        }
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn references(&self) -> &[HandReference] {
        &self.references
    }

    /// Position, velocity or effort of the hand by those of its joints.
    pub(super) fn mean(&self, of: impl Fn(BodyId) -> f64) -> f64 {
        match self.closing[..] {
            [thumb, left, right] => ThreeFingers::mean([thumb, left, right].map(of)),
            ref joints => joints.first().copied().map_or(0.0, of),
        }
    }

    /// Spreads the fingers so.
    pub(super) fn set_spread(&mut self, spread: Option<Spread>) {
        if let (Some(drive), Some(spread)) = (&mut self.spread, spread) {
            drive.desired = Some(spread.angle());
        }
    }

    /// Whether the fingers are spread as they should be.
    pub(super) fn is_spread(&self) -> bool {
        self.spread.as_ref().is_none_or(|drive| {
            drive.desired.is_none_or(|desired| (drive.position - desired).abs() < SPREAD_TOLERANCE)
        })
    }

    /// Joint of several that does not follow the others.
    pub(super) fn stuck(&self) -> Option<&str> {
        let late = self.behind.iter().position(|time| *time > PATIENCE);
        late.filter(|_| self.closing.len() > 1).map(|k| self.names[k].as_str())
    }

    /// Keeps the spread where it is.
    pub(super) fn stay(&mut self) {
        if let Some(drive) = &mut self.spread {
            drive.desired = None;
        }
    }

    /// Forgets what was commanded.
    pub(super) fn reset(&mut self) {
        if let Some(drive) = &mut self.spread {
            drive.reference = None;
        }
    }

    /// Gives a reference to all joints that close the hand, and the next one to its spread (nq), [s]. `more` are the efforts by which the thumb, the left
    /// and the right finger press with more than the mean of all.
    pub(super) fn command(
        &mut self,
        closing: HandReference,
        more: [f64; 3],
        model: &Model,
        q: &[f64],
        dt: f64,
    ) {
        for (time, id) in self.behind.iter_mut().zip(&self.closing) {
            let off = (q[model.joints[id.0].q_start] - closing.position).abs();
            *time = if off > self.give { *time + dt } else { 0.0 };
        }
        self.references.fill(closing);
        if let fingers @ [_, _, _, _] = &mut self.references[..] {
            for (finger, more) in fingers.iter_mut().zip(more) {
                finger.effort += more;
            }
        }
        let (Some(drive), Some(last)) = (&mut self.spread, self.references.last_mut()) else {
            return;
        };
        drive.position = q[model.joints[drive.joint.0].q_start];
        let from = drive.reference.unwrap_or(drive.position);
        let rate = drive
            .desired
            .map_or(0.0, |desired| ((desired - from) / dt).clamp(-SPREAD_RATE, SPREAD_RATE));
        let position = from + rate * dt;
        drive.reference = Some(position);
        *last = HandReference { position, velocity: rate, effort: 0.0 };
    }
}
