//! Hands with fingers and an opening: two of one drive, or three; forces measured or estimated, a grip held by force.

use karakuri_dynamics::{Data, frame_pose};
use karakuri_model::{BodyId, FrameId, Model};
use karakuri_spatial::Vector3;

use super::drives::Drives;
use super::faces;
use super::facing::Facing;
use super::hold::{Contact, Fit, Hold};
use super::interface::{Centring, Channel, Engagement, Hand, Loss, Reading, Sample, Touch};
use super::leaning;
use super::pads::{CLEARANCE, Edge, LEAST_HEIGHT, Pads, ways};
use super::payload::Payload;
use super::revolved::{self, as_hull};
use super::sides::{self, Grip};
use super::stated;
use super::tips;
use crate::end_effector::{EndEffectorError, FingerSensors, ThreeFingers, from_model};
use crate::finger_sense::{FingerSense, HandReading};
use crate::grip_force::{
    DriveRange, GripForce, GripSettings, GripState, GripTask, HandReference, is_firm,
};
use crate::grip_monitor::{GripMonitor, GripTrend};
use crate::hull::Hull;
use crate::pick_and_place::PlanError;
use crate::pick_and_place::types::{
    Failure, Grasp, PickAndPlaceGoal, PickAndPlaceSettings, Profile,
};
use crate::{EndEffector, FingerForce};

/// Hand with fingers and an opening.
#[derive(Debug, Clone)]
pub struct OpeningHand {
    fingers: Box<dyn EndEffector>,
    sense: FingerSense,
    grip: GripForce,
    /// Opening about the object that it is to hold.
    fit: Option<Fit>,
    /// Width of an object that would stop the fingers where they are. [m]
    width: f64,
    load: f64,
    touch: f64,
    drives: Drives,
    /// Forces of the two fingers that face a thumb, of a hand that has one.
    facing: Option<Facing>,
    channels: Vec<Channel>,
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
            sense,
            grip: GripForce::new(settings, stiffness, range),
            drives: Drives::new(model, fingers.as_ref()),
            facing: fingers.three_fingers().map(|_| Facing::new(fingers.force_max())),
            channels: channels(fingers.as_ref()),
            fingers,
            fit: None,
            width: 0.0,
            load: 0.0,
            touch: 0.0,
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
        let Sample { model, measured, .. } = *sample;
        let given = |id: BodyId| measured.effort.get(model.joints[id.0].v_start).copied();
        let given = self.drives.mean(|id| given(id).unwrap_or(f64::NAN));
        if given.is_finite() { given } else { self.grip.spring_effort(self.position(sample)) }
    }

    /// Distance of the fingers' faces from each other. [m]
    fn gap(&self) -> f64 {
        self.grip.state().opening - self.fit.map_or(0.0, |fit| fit.nearer())
    }

    /// Position of the driven joint, or the mean of those that close the hand. [rad or m]
    fn position(&self, sample: &Sample<'_>) -> f64 {
        let Sample { model, measured, .. } = *sample;
        self.drives.mean(|id| measured.q[model.joints[id.0].q_start])
    }

    fn close(&mut self, force: f64, tolerance: f64) {
        let slow_below = self.fit.map_or(0.0, |fit| fit.opening + tolerance);
        self.grip.set_task(GripTask::Close { force, slow_below });
    }

    /// Way to hold an object by pads.
    fn way(&self, Grip { turn, pads, middle }: Grip) -> Hold {
        Hold {
            turn,
            middle,
            width: pads.width,
            raise: pads.raise,
            depth: pads.depth,
            aside: 0.0,
            tip: 0.5 * self.fingers.pad_depth() + 0.01,
            contact: Contact::Pads(pads),
        }
    }

    /// Whether its fingers lean where they are open.
    fn leans(&self) -> bool {
        let hand = self.fingers.as_ref();
        hand.lean(hand.position(hand.opening_range().1)).abs() > 0.0
    }

    /// Pads about the sides of a convex object.
    fn sides<'a>(
        &'a self,
        hull: &'a Hull,
        goal: &PickAndPlaceGoal,
        payload: &'a Payload,
    ) -> sides::Task<'a> {
        let hand = self.fingers.as_ref();
        sides::Task { hand, hull, payload, allowed: goal.max_grip_force }
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
            pads.stop.width_between(hand, hand.position(hand.opening_range().1)) - CLEARANCE;
        PlanError::Range {
            what: "object_size, its narrow side [m],",
            value: goal.size.x.min(goal.size.y),
            range: format!("below {widest:.4}, the hand's opening less clearance"),
        }
    }
}

/// Objects that two pads take.
const NO_CONES: &str = "boxes and what is round, no cones: two pads let them turn";
/// Objects that fingers take which lean.
const NOT_UPRIGHT: &str = "boxes, balls and what lies: fingers that lean touch a round side that stands at two points, about which it turns";

/// What a hand with these fingers tells of itself.
fn channels(hand: &dyn EndEffector) -> Vec<Channel> {
    let fingers: &[_] = if hand.three_fingers().is_some() {
        &["thumb", "left", "right"]
    } else {
        &["left", "right"]
    };
    let forces = fingers.iter().map(|name| Channel::new(name, "N"));
    core::iter::once(Channel::new("opening", "m")).chain(forces).collect()
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

    fn drives(&self) -> &[String] {
        self.drives.names()
    }

    fn tool_frame(&self) -> FrameId {
        self.fingers.tool_frame()
    }

    fn sensors(&self) -> &[usize] {
        self.sense.sensors().map_or(&[], FingerSensors::indices)
    }

    fn lacks(&self) -> Option<&'static str> {
        self.sensors().is_empty().then_some("a force sensor a finger")
    }

    fn force_max(&self) -> f64 {
        self.fingers.force_max()
    }

    fn check(&self, goal: &PickAndPlaceGoal, s: &PickAndPlaceSettings) -> Result<(), PlanError> {
        let hand = self.fingers.as_ref();
        if hand.three_fingers().is_some() || matches!(goal.profile, Profile::Hull(_)) {
            // All that is refused is refused by each of its ways.
            return Ok(());
        }
        let payload = Payload::of(goal, s);
        if goal.profile == Profile::Cone {
            return Err(PlanError::Shape { hand: hand.kind(), taken: NO_CONES });
        }
        let [y, x] = [Edge::Y, Edge::X].map(|edge| Pads::about(hand, goal, edge));
        let check = |pads: Pads| pads.check(hand, &payload, goal.max_grip_force);
        match [y, x].map(|pads| !pads.turns) {
            [true, true] => {
                let (narrow, wide) = if x.width < y.width { (x, y) } else { (y, x) };
                check(narrow).or_else(|why| check(wide).map_err(|_| why))
            }
            [true, false] => check(y),
            [false, true] => check(x),
            [false, false] => Err(PlanError::Shape { hand: hand.kind(), taken: NOT_UPRIGHT }),
        }
    }

    fn holds(
        &self,
        goal: &PickAndPlaceGoal,
        settings: &PickAndPlaceSettings,
    ) -> Result<Vec<Hold>, PlanError> {
        let hand = self.fingers.as_ref();
        let payload = Payload::of(goal, settings);
        if let Some(hand) = hand.three_fingers() {
            let usual = match goal.profile {
                Profile::Hull(_) => None,
                _ => Some(tips::holds(hand, goal, settings)),
            };
            let refused = match usual {
                Some(Ok(holds)) => return Ok(holds),
                Some(Err(why)) => Some(why),
                None => None,
            };
            // What is too narrow for two fingers beside each other may be held between them, or by its ends.
            let (hull, facet) = (as_hull(goal)?, revolved::facet(&goal.profile));
            let allowed = goal.max_grip_force;
            let found =
                faces::Task { hand, hull: &hull, payload: &payload, allowed, facet }.holds();
            return found.map_err(|why| refused.unwrap_or(why));
        }
        if let Profile::Hull(hull) = &goal.profile {
            let grips = self.sides(hull, goal, &payload).grips()?;
            return Ok(grips.into_iter().map(|grip| self.way(grip)).collect());
        }
        let mut found = Vec::new();
        let mut refusal: Option<PlanError> = None;
        for (turn, edge) in ways(&goal.profile) {
            let pads = Pads::about(hand, goal, edge);
            if !pads.fits(hand) || pads.turns {
                continue;
            }
            // Parallel fingers need the same force by either side, which the goal's check has compared.
            let check = || pads.check(hand, &payload, goal.max_grip_force).err();
            let fault = if pads.lean.abs() > 0.0 { check() } else { None };
            match fault {
                Some(fault) => _ = refusal.get_or_insert(fault),
                None => found.push(self.way(Grip { turn, pads, middle: Vector3::zeros() })),
            }
        }
        if found.is_empty() {
            return Err(refusal.unwrap_or_else(|| self.no_room(goal)));
        }
        Ok(found)
    }

    fn grasp(
        &self,
        goal: &PickAndPlaceGoal,
        settings: &PickAndPlaceSettings,
        grasp: &Grasp,
    ) -> Result<Hold, PlanError> {
        let hand = self.fingers.as_ref();
        let (payload, allowed) = (Payload::of(goal, settings), goal.max_grip_force);
        let hold = if let Some(hand) = hand.three_fingers() {
            let (hull, facet) = (as_hull(goal)?, revolved::facet(&goal.profile));
            faces::Task { hand, hull: &hull, payload: &payload, allowed, facet }.given(grasp)?
        } else if self.leans() && !matches!(goal.profile, Profile::Hull(_)) {
            self.way(leaning::given(hand, goal, &payload, grasp)?)
        } else if goal.profile == Profile::Cone {
            return Err(PlanError::Shape { hand: hand.kind(), taken: NO_CONES });
        } else {
            let hull = as_hull(goal)?;
            self.way(self.sides(&hull, goal, &payload).given(grasp)?)
        };
        stated::check(grasp, &hold, settings.width_tolerance)?;
        Ok(hold)
    }

    fn joints_at(&self, hold: &Hold, opening: f64) -> Vec<(BodyId, f64)> {
        let hand = self.fingers.as_ref();
        let closing = hand.closing_joints();
        let spread = hand.three_fingers().zip(hold.contact.fit().and_then(|fit| fit.spread));
        let spread = spread.map(|(hand, spread)| (hand.spread_joint(), spread.angle()));
        closing.into_iter().map(|id| (id, hand.position(opening))).chain(spread).collect()
    }

    fn update(&mut self, sample: &Sample<'_>) {
        let Sample { model, data, measured, dt, is_first } = *sample;
        let reading = HandReading {
            position: self.position(sample),
            velocity: self.drives.mean(|id| measured.v[model.joints[id.0].v_start]),
            effort: self.effort(sample),
            wrenches: measured.wrenches,
            dt,
        };
        let (hand, position) = (self.fingers.as_ref(), reading.position);
        let mut felt = self.sense.feel(model, data, hand, &reading);
        let spread = self.fit.and_then(|fit| fit.spread).unwrap_or_default();
        let shares = ThreeFingers::shares(spread);
        let pressing = self.sense.sensors().filter(|_| self.facing.is_some()).map(|sensors| {
            let along = ThreeFingers::closing(spread);
            sensors.pressing(model, data, measured.wrenches, &along)
        });
        if let Some([_, left, right]) = pressing {
            // What they press with, by its part across the hand: two spread fingers may hold an object between them, and friction then takes all of that part.
            felt[1].normal = 0.5 * (left + right) / shares[1];
        }
        if is_first {
            let effort = Some(reading.effort).filter(|effort| effort.is_finite());
            self.grip.take_over(hand, position, &felt, effort);
        }
        let reference = self.grip.tick(hand, position, &felt, dt);
        // What balances the other two is more than each of them, unless they are spread: without it the object would have to be shifted.
        let GripState { forces: [a, b], gripped, touching, .. } = *self.grip.state();
        let force = (0.5 * (a + b)).clamp(0.0, hand.force_max());
        let more = 0.5 * (shares[0] - shares[1]) * force;
        let mut more = [more, -more, -more];
        if let (Some(facing), Some([_, left, right])) = (&mut self.facing, pressing) {
            facing.feel([left, right], gripped, dt);
            let corrections = facing.correct(a, force, shares, touching == [true; 2], dt);
            more = core::array::from_fn(|k| more[k] + corrections[k]);
        }
        let more = more.map(|force| hand.effort(position, force));
        self.drives.command(reference, more, model, measured.q, dt);
        self.width = self.fit.map_or(0.0, |fit| fit.width_between(hand, position));
        // In any direction, as a collision may have any.
        self.touch = felt.iter().map(|f| f.normal.hypot(f.tangential.norm())).fold(0.0, f64::max);
        // The object pulls the pads down: friction on them, downwards in the world.
        let X_WT = frame_pose(model, data, hand.tool_frame());
        let pull = |f: &FingerForce| -(X_WT.rotation * f.tangential).z;
        self.load = felt.iter().map(pull).sum();
        let mut values = [self.gap(), a, b, 0.0];
        if let Some(facing) = &self.facing {
            [values[2], values[3]] = facing.forces();
        }
        for (channel, value) in self.channels.iter_mut().zip(values) {
            channel.value = value;
        }
    }

    fn references(&self) -> &[HandReference] {
        self.drives.references()
    }

    fn reset(&mut self) {
        self.drives.reset();
        self.grip.reset();
        self.sense.reset();
    }

    fn stay(&mut self) {
        self.drives.stay();
        self.grip.set_task(GripTask::Stay);
    }

    fn open(&mut self, hold: &Hold) {
        let Some(fit) = hold.contact.fit() else { return };
        self.fit = Some(fit);
        self.drives.set_spread(fit.spread);
        if let Some(facing) = &mut self.facing {
            facing.let_go();
        }
        let speed = self.grip.settings().speed;
        self.grip.set_task(GripTask::MoveTo { opening: fit.open, speed });
    }

    fn engage(&mut self, strength: f64, tolerance: f64) {
        // Only free fingers show zero: taring on an object would hide its force.
        if self.grip.state().touching == [false; 2] {
            self.grip.tare();
            if let Some(facing) = &mut self.facing {
                facing.tare();
            }
        }
        if let Some(facing) = &mut self.facing {
            facing.level(true);
        }
        self.close(strength, tolerance);
    }

    fn hold(&mut self, strength: f64, tolerance: f64) {
        if let Some(facing) = &mut self.facing {
            // What a motion takes off a finger must not shift the object.
            facing.level(false);
        }
        self.close(strength, tolerance);
    }

    fn reading(&self) -> Reading {
        let state = self.grip.state();
        Reading {
            opening: self.gap(),
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
        let width = self.fit.map_or(0.0, |fit| fit.width);
        if let Some(joint) = self.drives.stuck() {
            let text = format!("`{joint}` does not follow its drive; free the finger");
            return Engagement::Failed(Failure::Partial, text);
        }
        if !self.drives.is_spread() {
            return Engagement::Engaging;
        }
        // First, as fingers that meet each other press as firmly as fingers on an object.
        if state.at_end {
            let text = format!(
                "the fingers closed to {:.1} mm, the object is {:.1} mm wide; {}",
                1e3 * self.gap(),
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
            let Some(facing) = &self.facing else { return Engagement::Held };
            if let Some(finger) = facing.lagging() {
                let [left, right] = facing.forces();
                let text = format!(
                    "the {finger} finger does not hold: the left one presses with {left:.1} N, the right one with {right:.1} N"
                );
                return Engagement::Failed(Failure::Partial, text);
            }
            return if facing.is_whole() { Engagement::Held } else { Engagement::Engaging };
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
        self.fit.map_or(0.0, |fit| fit.open / self.grip.settings().touch_speed)
    }

    fn is_firm(&self, strength: f64) -> bool {
        is_firm(&self.grip.state().forces, strength)
    }

    fn is_level(&self) -> bool {
        self.facing.as_ref().is_none_or(Facing::is_level)
    }

    fn loss(&self, strength: f64, tolerance: f64) -> Loss {
        let Some(fit) = &self.fit else {
            return Loss { weak: false, gone: false, left: false };
        };
        // The hand closes beyond the object's width, or a finger presses with less than half.
        let state = self.grip.state();
        // Objects are taken within one tolerance; two leave a margin to what was taken narrow.
        // Fingers that lean push out what they lose, and are free before they have closed by that much.
        let left = fit.pushes_out && state.touching == [false; 2];
        let gone = left || self.width < fit.width - 2.0 * tolerance;
        Loss { weak: state.forces.iter().any(|f| *f < 0.5 * strength), gone, left }
    }

    fn lost(&self) -> Failure {
        Failure::Slipped
    }

    fn is_free(&self) -> bool {
        let state = self.grip.state();
        let wide = self.fit.is_none_or(|fit| state.opening > fit.open - 0.002);
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
        format!("opening {:.1} mm, {}", 1e3 * self.gap(), pair(&state.forces))
    }

    fn describe_stuck(&self) -> String {
        let state = self.grip.state();
        format!(
            "opening {:.1} of {:.1} mm, {}",
            1e3 * self.gap(),
            1e3 * self.fit.map_or(0.0, |fit| fit.open - fit.nearer()),
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
