//! Hands with two fingers and an opening: one driven joint, forces measured or estimated, a grip held by force.

use core::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use karakuri_dynamics::{Data, frame_pose};
use karakuri_model::{FrameId, Model};
use karakuri_spatial::Force;

use super::hold::{Contact, Hold};
use super::interface::{Centring, Channel, Engagement, Hand, Loss, Reading, Sample, Touch};
use super::pads::{CLEARANCE, Edge, LEAST_HEIGHT, Pads};
use super::payload::Payload;
use crate::end_effector::{EndEffectorError, FingerSensors, from_model};
use crate::finger_sense::{FingerSense, HandReading};
use crate::grip_force::{DriveRange, GripForce, GripSettings, GripTask, HandReference, is_firm};
use crate::grip_monitor::{GripMonitor, GripTrend};
use crate::pick_and_place::PlanError;
use crate::pick_and_place::types::{Failure, PickAndPlaceGoal, PickAndPlaceSettings, Profile};
use crate::{EndEffector, FingerForce};

/// Hand with two fingers and an opening.
#[derive(Debug)]
pub struct OpeningHand {
    fingers: Box<dyn EndEffector>,
    sense: FingerSense,
    grip: GripForce,
    /// Sensors of the fingers, as indices into the model's; none where forces are estimated.
    sensors: Vec<usize>,
    /// Pads by which it is to hold.
    pads: Option<Pads>,
    /// Width of an object that would stop the fingers where they are. [m]
    width: f64,
    load: f64,
    touch: f64,
    drive: String,
    channels: [Channel; 3],
    monitor: GripMonitor,
}

impl OpeningHand {
    /// Hand of a model's `end_effector`.
    pub(super) fn new(model: &Model, settings: GripSettings) -> Result<Self, EndEffectorError> {
        let fingers = from_model(model)?;
        let sense = FingerSense::new(model, fingers.as_ref())?;
        let joint = &model.joints[fingers.joint().0];
        // Without a drive nothing is commanded; 1 keeps divisions by it finite.
        let stiffness = joint.drive.map_or(1.0, |d| d.stiffness);
        let range = DriveRange { lower: joint.limits.lower, upper: joint.limits.upper };
        Ok(Self {
            sensors: sense.sensors().iter().flat_map(FingerSensors::indices).collect(),
            sense,
            grip: GripForce::new(settings, stiffness, range),
            fingers,
            pads: None,
            width: 0.0,
            load: 0.0,
            touch: 0.0,
            drive: joint.name.clone(),
            channels: [
                Channel::new("opening", "m"),
                Channel::new("left", "N"),
                Channel::new("right", "N"),
            ],
            monitor: GripMonitor::default(),
        })
    }

    /// Geometry of the fingers.
    pub fn fingers(&self) -> &dyn EndEffector {
        self.fingers.as_ref()
    }

    /// Geometry of the fingers and control of the grip, for gripper commands.
    pub fn fingers_and_grip(&mut self) -> (&dyn EndEffector, &mut GripForce) {
        (self.fingers.as_ref(), &mut self.grip)
    }

    /// Control of the grip.
    pub fn grip(&self) -> &GripForce {
        &self.grip
    }

    /// Source of the forces on the fingers.
    pub fn sense(&self) -> &FingerSense {
        &self.sense
    }

    /// Effort of the drive: as measured, else by its spring, which the target compresses. [N·m or N]
    fn effort(&self, sample: &Sample<'_>) -> f64 {
        let joint = &sample.model.joints[self.fingers.joint().0];
        let measured = sample.measured.effort.get(joint.v_start).copied();
        let spring = || self.grip.spring_effort(sample.measured.q[joint.q_start]);
        measured.filter(|effort| effort.is_finite()).unwrap_or_else(spring)
    }

    fn close(&mut self, force: f64, tolerance: f64) {
        let slow_below = self.pads.map_or(0.0, |pads| pads.opening + tolerance);
        self.grip.set_task(GripTask::Close { force, slow_below });
    }

    /// Way to hold an object by pads, after a turn. [rad]
    fn way(&self, pads: Pads, turn: f64) -> Hold {
        Hold {
            turn,
            width: pads.width,
            raise: pads.raise,
            depth: pads.depth,
            tip: 0.5 * self.fingers.pad_depth() + 0.01,
            contact: Contact::Pads(pads),
        }
    }

    /// Refusal of an object that is too wide by either side, or too low where it is round.
    fn no_room(&self, goal: &PickAndPlaceGoal) -> PlanError {
        let hand = self.fingers.as_ref();
        let pads = Pads::about(hand, goal, Edge::Y);
        if pads.is_low {
            return PlanError::Range {
                what: "object_size, its height [m],",
                value: goal.size.z,
                range: format!("at least {LEAST_HEIGHT}, for pads to touch its round side"),
            };
        }
        let widest =
            hand.width_between(hand.position(hand.opening_range().1), pads.reach) - CLEARANCE;
        PlanError::Range {
            what: "object_size, its narrow side [m],",
            value: goal.size.x.min(goal.size.y),
            range: format!("below {widest:.4}, the hand's opening less clearance"),
        }
    }
}

/// Turns of the tool about an object [rad], and the edges that are between the fingers then: quarters, and eighths where the object is round.
fn ways(profile: Profile) -> impl Iterator<Item = (f64, Edge)> {
    let (n, step) = match profile {
        Profile::Box | Profile::Lying { .. } => (4, FRAC_PI_2),
        Profile::Standing { .. } | Profile::Ball => (8, FRAC_PI_4),
    };
    (0..n).map(move |k: u8| {
        let is_quarter = n == 4 && !k.is_multiple_of(2);
        (step * f64::from(k), if is_quarter { Edge::X } else { Edge::Y })
    })
}

impl Hand for OpeningHand {
    fn opening(&self) -> Option<&OpeningHand> {
        Some(self)
    }

    fn opening_mut(&mut self) -> Option<&mut OpeningHand> {
        Some(self)
    }

    fn kind(&self) -> &'static str {
        self.fingers.kind()
    }

    fn drive(&self) -> &str {
        &self.drive
    }

    fn tool_frame(&self) -> FrameId {
        self.fingers.tool_frame()
    }

    fn sensors(&self) -> &[usize] {
        &self.sensors
    }

    fn lacks(&self) -> Option<&'static str> {
        self.sensors.is_empty().then_some("a force sensor a finger")
    }

    fn force_max(&self) -> f64 {
        self.fingers.force_max()
    }

    fn check(&self, goal: &PickAndPlaceGoal, s: &PickAndPlaceSettings) -> Result<(), PlanError> {
        let hand = self.fingers.as_ref();
        let payload = Payload::of(goal, s);
        let leans = |edge| Pads::about(hand, goal, edge).lean.abs() > 0.0;
        if goal.profile != Profile::Box && leans(Edge::Y) {
            return Err(PlanError::Shape { hand: hand.kind(), taken: "boxes only" });
        }
        let [y, x] = [Edge::Y, Edge::X].map(|edge| Pads::about(hand, goal, edge));
        let (narrow, wide) = if x.width < y.width { (x, y) } else { (y, x) };
        let check = |pads: Pads| pads.check(hand, &payload, goal.max_grip_force);
        check(narrow).or_else(|why| check(wide).map_err(|_| why))
    }

    fn holds(
        &self,
        goal: &PickAndPlaceGoal,
        settings: &PickAndPlaceSettings,
    ) -> Result<Vec<Hold>, PlanError> {
        let hand = self.fingers.as_ref();
        let payload = Payload::of(goal, settings);
        let mut found = Vec::new();
        let mut refusal: Option<PlanError> = None;
        for (turn, edge) in ways(goal.profile) {
            let pads = Pads::about(hand, goal, edge);
            if !pads.fits(hand) {
                continue;
            }
            // Parallel fingers need the same force by either side, which the goal's check has compared.
            let check = || pads.check(hand, &payload, goal.max_grip_force).err();
            let fault = if pads.lean.abs() > 0.0 { check() } else { None };
            match fault {
                Some(fault) => _ = refusal.get_or_insert(fault),
                None => found.push(self.way(pads, turn)),
            }
        }
        if found.is_empty() {
            return Err(refusal.unwrap_or_else(|| self.no_room(goal)));
        }
        Ok(found)
    }

    fn update(&mut self, sample: &Sample<'_>) -> HandReference {
        let Sample { model, data, measured, dt, is_first } = *sample;
        let joint = &model.joints[self.fingers.joint().0];
        let none = [Force::default(); 2];
        let reading = HandReading {
            position: measured.q[joint.q_start],
            velocity: measured.v[joint.v_start],
            effort: self.effort(sample),
            wrenches: measured.wrenches.try_into().unwrap_or(&none),
            dt,
        };
        let (hand, position) = (self.fingers.as_ref(), reading.position);
        let felt = self.sense.feel(model, data, hand, &reading);
        if is_first {
            let effort = Some(reading.effort).filter(|effort| effort.is_finite());
            self.grip.take_over(hand, position, &felt, effort);
        }
        let reference = self.grip.tick(hand, position, &felt, dt);
        let reach = self.pads.map(|pads| pads.reach);
        self.width = reach.map_or(0.0, |reach| hand.width_between(position, reach));
        // In any direction, as a collision may have any.
        self.touch = felt.iter().map(|f| f.normal.hypot(f.tangential.norm())).fold(0.0, f64::max);
        // The object pulls the pads down: friction on them, downwards in the world.
        let X_WT = frame_pose(model, data, hand.tool_frame());
        let pull = |f: &FingerForce| -(X_WT.rotation * f.tangential).z;
        self.load = felt.iter().map(pull).sum();
        let state = self.grip.state();
        let values = [state.opening, state.forces[0], state.forces[1]];
        for (channel, value) in self.channels.iter_mut().zip(values) {
            channel.value = value;
        }
        reference
    }

    fn reset(&mut self) {
        self.grip.reset();
        self.sense.reset();
    }

    fn stay(&mut self) {
        self.grip.set_task(GripTask::Stay);
    }

    fn open(&mut self, hold: &Hold) {
        let Contact::Pads(pads) = hold.contact else { return };
        self.pads = Some(pads);
        let speed = self.grip.settings().speed;
        self.grip.set_task(GripTask::MoveTo { opening: pads.open, speed });
    }

    fn engage(&mut self, strength: f64, tolerance: f64) {
        // Only free fingers show zero: taring on an object would hide its force.
        if self.grip.state().touching == [false; 2] {
            self.grip.tare();
        }
        self.close(strength, tolerance);
    }

    fn hold(&mut self, strength: f64, tolerance: f64) {
        self.close(strength, tolerance);
    }

    fn reading(&self) -> Reading {
        let state = self.grip.state();
        Reading {
            opening: state.opening,
            forces: state.forces,
            strength: 0.5 * (state.forces[0] + state.forces[1]),
            load: self.load,
            touch: self.touch,
        }
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn trend(&mut self, carries: bool, elapsed: f64) -> GripTrend {
        self.monitor.report(self.grip.state(), self.grip.task(), carries, elapsed)
    }

    fn engagement(&self, tolerance: f64) -> Engagement {
        let state = self.grip.state();
        let width = self.pads.map_or(0.0, |pads| pads.width);
        // First, as fingers that meet each other press as firmly as fingers on an object.
        if state.at_end {
            let text = format!(
                "the fingers closed to {:.1} mm, the object is {:.1} mm wide; {}",
                1e3 * state.opening,
                1e3 * width,
                pair(&state.forces)
            );
            return Engagement::Failed(Failure::NoObject, text);
        }
        if state.gripped {
            if (self.width - width).abs() > tolerance {
                let text = format!(
                    "the fingers stopped at {:.1} mm, the object should be {:.1} mm wide",
                    1e3 * self.width,
                    1e3 * width
                );
                return Engagement::Failed(Failure::WrongSize, text);
            }
            return Engagement::Held;
        }
        Engagement::Engaging
    }

    fn touch(&self) -> Touch {
        match self.grip.state().touching {
            [true, true] => Touch::Whole,
            [false, false] => Touch::Nothing,
            _ => Touch::OneSide,
        }
    }

    fn engaging_time(&self) -> f64 {
        // The whole opening at the touch speed: nothing closes longer, however narrow the object.
        self.pads.map_or(0.0, |pads| pads.open / self.grip.settings().touch_speed)
    }

    fn is_firm(&self, strength: f64) -> bool {
        is_firm(&self.grip.state().forces, strength)
    }

    fn loss(&self, strength: f64, tolerance: f64) -> Loss {
        let Some(pads) = &self.pads else {
            return Loss { weak: false, gone: false, left: false };
        };
        // The hand closes beyond the object's width, or a finger presses with less than half.
        let state = self.grip.state();
        // Objects are taken within one tolerance; two leave a margin to what was taken narrow.
        // Fingers that lean push out what they lose, and are free before they have closed by that much.
        let left = pads.lean.abs() > 0.0 && state.touching == [false; 2];
        let gone = left || self.width < pads.width - 2.0 * tolerance;
        Loss { weak: state.forces.iter().any(|f| *f < 0.5 * strength), gone, left }
    }

    fn lost(&self) -> Failure {
        Failure::Slipped
    }

    fn is_free(&self) -> bool {
        let state = self.grip.state();
        let wide = self.pads.is_none_or(|pads| state.opening > pads.open - 0.002);
        state.touching == [false; 2] && wide
    }

    fn probe(&self) -> Option<f64> {
        Some(PROBE)
    }

    fn centring(&self, model: &Model, data: &Data) -> Option<Centring> {
        let [a, b] = self.grip.state().touching;
        let sides = self.sense.sensors()?.sides(model, data);
        let side = if a && !b { sides[0] } else { sides[1] };
        // Each finger moves at half the rate of the opening; at 0.45 of it the hand stays a little slower.
        let speed = 0.45 * self.grip.settings().touch_speed;
        Some(Centring { side, speed })
    }

    fn part(&self) -> &'static str {
        "a finger"
    }

    fn describe(&self) -> String {
        pair(&self.grip.state().forces)
    }

    fn describe_lost(&self) -> String {
        let state = self.grip.state();
        format!("opening {:.1} mm, {}", 1e3 * state.opening, pair(&state.forces))
    }

    fn describe_stuck(&self) -> String {
        let state = self.grip.state();
        format!(
            "opening {:.1} of {:.1} mm, {}",
            1e3 * state.opening,
            1e3 * self.pads.map_or(0.0, |pads| pads.open),
            pair(&state.forces)
        )
    }

    fn late(&self) -> &'static str {
        "the fingers did not get where they should"
    }
}

/// Share of the grip's force with which an object is weighed a second time. [-]
// With a safety factor of 1.5 this still holds 1.2 times what it must; nearer to 1, noise would hide the change of a load.
const PROBE: f64 = 0.8;

fn pair(forces: &[f64; 2]) -> String {
    format!("forces {:.1} and {:.1} N", forces[0], forces[1])
}
