//! Evaluation of a measurement in each stage: one function a stage, the run's data in one place.
//!
//! A function returns the next step; entering a stage (its trajectory, its hand task) is the machine's.

use karakuri_control::trajectory::JointTrajectory;
use karakuri_spatial::Time;
use karakuri_spatial::Vector3;

use super::plan::Plan;
use super::tuning::{
    CENTRING_REACH, CENTRINGS, COLLISION_FORCE, LOOK_TIME, ONE_SIDED_TIME, PLACE_TOLERANCE,
    RAISE_FACTOR, REGRIPS, RELEASE_TIME, RELEASE_TIMEOUT, RESCANS, REST_TIME, SLIP_TIME,
    VERIFY_TIME, WEIGHT_TOLERANCE,
};
use super::{ArmReport, Failure, Part, PickAndPlaceGoal, PickAndPlaceSettings, Stage};
use crate::hand::interface::{Engagement, Hand, Reading, Touch};
use crate::hand::payload::{MOVABLE, Payload};

/// A goal in progress.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// Goal of the run, with the grip force as desired now and the object's place as known now.
    pub(super) goal: PickAndPlaceGoal,
    pub(super) found: Found,
    pub(super) plan: Plan,
    pub(super) stage: Stage,
    pub(super) started: Time,
    pub(super) entered: Time,
    /// Trajectory that the arm follows in this stage.
    pub(super) motion: Option<JointTrajectory>,
    /// Time for which the present stage's condition has held. [s]
    pub(super) held: f64,
    /// Time for which the object has stood on something while it was lowered. [s]
    pub(super) standing: f64,
    /// Time without a sign of what the stage waits for. [s]
    pub(super) missing: f64,
    /// Failure of the run, the stage in which it was found, and its description.
    pub(super) failure: Option<(Failure, Stage, String)>,
    /// Whether the object is in the hand.
    pub(super) holding: bool,
    /// Whether the object is at its place.
    pub(super) placed: bool,
    /// Width and largest forces while the object was held, for the result. [m], [N] (2)
    pub(super) grip: Option<(f64, [f64; 2])>,
    pub(super) weighing: Weighing,
    pub(super) tries: Tries,
    /// Direction of the tool's last motion, in the world. [-] (3)
    pub(super) heading: Option<Vector3>,
    /// Part of the planned motion that is done. [-]
    pub(super) progress: f64,
}

/// Relative difference above which two loads are not the same. [-]
const LOAD_CHANGE: f64 = 0.05;

/// Friction and mass of the object, as the grip shows them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    /// Friction between pads and object, if less than stated; it may be more, if the object also stood on something. [-]
    pub(super) friction: f64,
    /// Mass of the object. [kg]
    pub(super) mass: f64,
}

impl Found {
    /// What is held, as it shows.
    pub(super) fn payload(&self, s: &PickAndPlaceSettings) -> Payload {
        let Self { mass, friction } = *self;
        Payload { mass, friction, safety: s.slip_safety, gravity: s.gravity }
    }
}

/// Measurement of the load on the hand.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Weighing {
    /// Load integrated over time. [N·s]
    sum: f64,
    /// Time of the integral. [s]
    time: f64,
    /// Load with the whole strength. [N]
    whole: Option<f64>,
    /// Whole strength. [N]
    force: f64,
    /// Whether the load is known; the grip takes its whole force again.
    done: bool,
}

impl Weighing {
    /// Begins a new integral, for another stage.
    pub(super) fn restart(&mut self) {
        (self.sum, self.time) = (0.0, 0.0);
    }

    /// Mean load [N], once it was felt for `time` [s] with a hand that holds with `strength` [N].
    fn mean(&mut self, seen: &Seen<'_>, strength: f64, time: f64) -> Option<f64> {
        // The load is comparable only at a known strength; while the grip still settles, the mean begins again.
        // The same 5 % as a firm grip allows.
        if (seen.hand.strength / strength - 1.0).abs() < 0.05 {
            (self.sum, self.time) = (self.sum + seen.hand.load * seen.dt, self.time + seen.dt);
        } else {
            self.restart();
        }
        (self.time >= time).then(|| self.sum / self.time)
    }
}

/// Number of repetitions, by their kind.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tries {
    pub(super) rescans: u32,
    pub(super) regrips: u32,
    pub(super) raises: u32,
    pub(super) centrings: u32,
    pub(super) shakes: u32,
}

impl Tries {
    /// Sum of all but the centrings: they are part of a grip.
    pub(super) fn total(&self) -> u32 {
        self.rescans + self.regrips + self.raises + self.shakes
    }
}

/// State of the arm and the hand in a tick.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) dt: f64,
    /// Time since the stage was entered. [s]
    pub(super) elapsed: f64,
    /// Whether the arm is where the stage's motion ends.
    pub(super) arrived: bool,
    /// Whether the arm stands still.
    pub(super) at_rest: bool,
    /// What the hand feels.
    pub(super) hand: Reading,
    /// Position of the tool in the world. [m] (3)
    pub(super) position: Vector3,
    /// Acceleration of the tool. [m/s²]
    pub(super) acceleration: f64,
    /// Distance at which the object is seen from its place, if it is seen. [m]
    pub(super) placed_off: Option<f64>,
    /// Whether the object is seen where it was picked, while the tool is above.
    pub(super) stays: bool,
    pub(super) arm: ArmReport<'a>,
}

/// Next step of a run.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// Stay in the same stage.
    Stay,
    /// Stay in the same stage with another grip force.
    Grip,
    /// Enter another stage.
    Enter(Stage),
    /// Fail, for a cause.
    Fail(Failure, String),
    /// Plan the whole run once more, with what was seen meanwhile.
    Again,
}

impl Run {
    /// Evaluates one tick of the present stage.
    pub(super) fn step(
        &mut self,
        seen: &Seen<'_>,
        hand: &dyn Hand,
        s: &PickAndPlaceSettings,
    ) -> Step {
        if let Some((failure, mut text)) = trouble(seen.arm, self.stage) {
            if failure == Failure::Preempted && self.holding {
                text.push_str("; the object is still held");
            }
            return Step::Fail(failure, text);
        }
        match self.stage {
            Stage::Approach | Stage::Descend => self.unloaded(seen, hand),
            Stage::Close => self.close(seen, hand, s),
            Stage::Centre => self.centre(seen, hand),
            Stage::Verify => self.verify(seen, hand, s),
            Stage::LiftOff => self.lift_off(seen, hand, s),
            Stage::Weigh => self.weigh(seen, hand, s),
            Stage::Lift | Stage::Move | Stage::Lower => self.carry(seen, hand, s),
            Stage::Open => self.open(seen, hand),
            Stage::Retreat => Self::retreat(seen),
            Stage::Halt => self.halt(seen),
            Stage::BackUp if seen.arrived => Step::Enter(Stage::Stopped),
            Stage::Shake | Stage::SetDown if seen.arrived => Step::Enter(Stage::Open),
            Stage::Undo if seen.arrived => self.undone(),
            Stage::Look if seen.elapsed >= LOOK_TIME => Step::Again,
            _ => Step::Stay,
        }
    }

    fn unloaded(&self, seen: &Seen<'_>, hand: &dyn Hand) -> Step {
        if seen.hand.touch > COLLISION_FORCE {
            let (force, limit) = (seen.hand.touch, COLLISION_FORCE);
            let text = format!(
                "{} met {force:.1} N on the way, above {limit:.1} N, at {}; clear the way",
                hand.part(),
                place(&seen.position)
            );
            return Step::Fail(Failure::Collision, text);
        }
        match (seen.arrived, self.stage) {
            (true, Stage::Approach) => Step::Enter(Stage::Descend),
            (true, _) => Step::Enter(Stage::Close),
            _ => Step::Stay,
        }
    }

    fn close(&mut self, seen: &Seen<'_>, hand: &dyn Hand, s: &PickAndPlaceSettings) -> Step {
        self.grip = Some((seen.hand.opening, seen.hand.forces));
        match hand.engagement(s.width_tolerance) {
            Engagement::Held => return Step::Enter(Stage::Verify),
            Engagement::Failed(failure, text) => return Step::Fail(failure, text),
            Engagement::Engaging => {}
        }
        // One finger alone for a while means that the object does not slide to the middle.
        let is_alone = hand.touch() == Touch::OneSide;
        self.missing = if is_alone { self.missing + seen.dt } else { 0.0 };
        if self.missing < ONE_SIDED_TIME {
            return Step::Stay;
        }
        if self.tries.centrings >= CENTRINGS {
            let text = format!(
                "the fingers do not come to touch both, centred {CENTRINGS} times; {}; free the object and the hand",
                hand.describe()
            );
            return Step::Fail(Failure::Blocked, text);
        }
        self.tries.centrings += 1;
        Step::Enter(Stage::Centre)
    }

    /// Centres the hand until both fingers touch, or the one that did lost contact.
    fn centre(&mut self, seen: &Seen<'_>, hand: &dyn Hand) -> Step {
        let touch = hand.touch();
        self.held = if touch == Touch::Whole { self.held + seen.dt } else { 0.0 };
        self.missing = if touch == Touch::Nothing { self.missing + seen.dt } else { 0.0 };
        // 20 ms of both contacts, so that one that bounces does not count.
        if self.held > 0.02 || hand.is_firm(self.goal.grip_force) || self.missing > ONE_SIDED_TIME {
            // At rest the hand closes again, from the place found.
            return Step::Enter(Stage::Halt);
        }
        if seen.arrived {
            let text = format!(
                "only one finger touches, even {:.0} mm to the side; {}; free the object and the hand",
                1e3 * CENTRING_REACH,
                hand.describe()
            );
            return Step::Fail(Failure::Blocked, text);
        }
        Step::Stay
    }

    fn verify(&mut self, seen: &Seen<'_>, hand: &dyn Hand, s: &PickAndPlaceSettings) -> Step {
        if let Some(step) = self.slipping(seen, hand, s) {
            return step;
        }
        self.firm(seen, hand);
        if !hand.is_level() {
            self.held = 0.0;
        }
        if self.held < VERIFY_TIME { Step::Stay } else { Step::Enter(Stage::LiftOff) }
    }

    fn lift_off(&mut self, seen: &Seen<'_>, hand: &dyn Hand, s: &PickAndPlaceSettings) -> Step {
        if let Some(step) = self.slipping(seen, hand, s) {
            return step;
        }
        if seen.arrived { Step::Enter(Stage::Weigh) } else { Step::Stay }
    }

    /// Weighs the object at rest, with the whole strength and, where that shows friction, with less. The weight does not change with the
    /// strength; friction that slips, or is about to, does.
    fn weigh(&mut self, seen: &Seen<'_>, hand: &dyn Hand, s: &PickAndPlaceSettings) -> Step {
        if let Some(step) = self.slipping(seen, hand, s) {
            return step;
        }
        if self.weighing.done {
            return if self.firm(seen, hand) { Step::Enter(Stage::Lift) } else { Step::Stay };
        }
        let Some(load) = self.weighing.mean(seen, self.goal.grip_force, VERIFY_TIME) else {
            return Step::Stay;
        };
        let whole = match (self.weighing.whole.replace(load), hand.probe()) {
            (Some(whole), _) => whole,
            // The first load is that with the whole strength; the second one is felt with a share of it.
            (None, Some(probe)) => {
                self.weighing.force = self.goal.grip_force;
                self.goal.grip_force *= probe;
                self.weighing.restart();
                return Step::Grip;
            }
            (None, None) => {
                self.weighing.force = self.goal.grip_force;
                load
            }
        };
        // With the probing strength: the whole one comes back below.
        let held_with = self.goal.grip_force;
        let expected = self.found.mass * s.gravity;
        let contact = &self.plan.hold().contact;
        self.goal.grip_force = self.weighing.force;
        self.weighing = Weighing { done: true, ..Weighing::default() };
        // The load changes with the strength: the object slips, and its friction is that which just bears it.
        // A load near zero, as of an object that stayed where it was, is all noise: it is compared with a tenth of the weight.
        // Of an object that still stands the hand may bear any part, the same with both strengths.
        if seen.stays || (load - whole).abs() > LOAD_CHANGE * whole.max(0.1 * expected) {
            // Coulomb's law at the onset of slip; a value above the stated one shows only that something else bears as well.
            self.found.friction = self.goal.friction.min(contact.friction_at(load, held_with));
            // It weighs no less than what the whole grip bore.
            self.found.mass = self.found.mass.max(whole / s.gravity);
            return self.regrip(whole, s);
        }
        if (load - expected).abs() > WEIGHT_TOLERANCE * expected {
            self.found.mass = load / s.gravity;
            let stated = Found { friction: self.goal.friction, ..self.found };
            if load > expected && contact.needed(&stated.payload(s)) > self.goal.grip_force {
                // It may have moved in the hand when it was lifted.
                return self.regrip(load, s);
            }
        }
        // It is held, with strength to spare: friction is at least what makes this strength enough.
        let enough = contact.friction_enough(&self.found.payload(s), self.goal.grip_force);
        self.found.friction = self.found.friction.max(enough).min(self.goal.friction);
        Step::Grip
    }

    /// Puts the object down and holds it as strongly as it needs, or as is allowed; fails if that was tried. `load` is the load
    /// felt. [N]
    fn regrip(&mut self, load: f64, s: &PickAndPlaceSettings) -> Step {
        let stated = self.goal.mass * s.gravity;
        let (force, limit) = (self.goal.grip_force, self.goal.max_grip_force);
        let contact = &self.plan.hold().contact;
        let (needed, unit) = (contact.needed(&self.found.payload(s)), contact.unit());
        let heavy = load > stated * (1.0 + WEIGHT_TOLERANCE);
        // A weight beyond the greatest permitted force is not tried again; else the grip is harder by what the object showed.
        let hopeless = heavy && needed > MOVABLE * limit;
        if force < 0.999 * limit && self.tries.regrips < REGRIPS && !hopeless {
            self.goal.grip_force = needed.max(force * RAISE_FACTOR).min(limit);
            self.weighing = Weighing::default();
            self.tries.regrips += 1;
            return Step::Enter(Stage::SetDown);
        }
        let room = format!("{needed:.1} {unit}, {limit:.1} N are allowed; raise max_grip_force");
        if heavy {
            let text = format!(
                "it weighs {load:.1} N or more, {stated:.1} N were stated; that needs {room}"
            );
            return Step::Fail(Failure::TooHeavy, text);
        }
        let friction = self.found.friction;
        let text = format!(
            "it slips when it is lifted: with {force:.1} {unit} friction is about {friction:.2}; that needs {room}"
        );
        Step::Fail(Failure::Slipped, text)
    }

    fn carry(&mut self, seen: &Seen<'_>, hand: &dyn Hand, s: &PickAndPlaceSettings) -> Step {
        // First, or an arm that arrives without its object would go on.
        if let Some(step) = self.slipping(seen, hand, s) {
            return step;
        }
        let firm = self.firm(seen, hand);
        if self.stage == Stage::Lower {
            // Not by the way alone: a place that is higher than stated would be pressed into.
            // An object that stands does not pull any more.
            let stands = seen.hand.load < 0.5 * self.found.mass * s.gravity;
            self.standing = if stands { self.standing + seen.dt } else { 0.0 };
            self.placed = seen.arrived || self.standing > SLIP_TIME;
        }
        match self.stage {
            Stage::Lift if seen.arrived && firm => Step::Enter(match self.goal.part {
                Part::Whole => Stage::Move,
                Part::Pick => Stage::Done,
            }),
            Stage::Move if seen.arrived => Step::Enter(Stage::Lower),
            Stage::Lower if self.placed => Step::Enter(Stage::Halt),
            _ => Step::Stay,
        }
    }

    /// Whether the grip is firm; counts the time for which it is.
    fn firm(&mut self, seen: &Seen<'_>, hand: &dyn Hand) -> bool {
        let firm = hand.is_firm(self.goal.grip_force);
        self.held = if firm { self.held + seen.dt } else { 0.0 };
        firm
    }

    /// Next step if an object in the hand is slipping out.
    fn slipping(
        &mut self,
        seen: &Seen<'_>,
        hand: &dyn Hand,
        s: &PickAndPlaceSettings,
    ) -> Option<Step> {
        let Reading { opening, forces, load, .. } = seen.hand;
        let largest = self.grip.map_or([0.0; 2], |(_, largest)| largest);
        self.grip = Some((opening, core::array::from_fn(|k| forces[k].max(largest[k]))));
        let desired = self.goal.grip_force;
        // Lost: the object is not where it was, the hand holds with less than half, or the load is gone.
        let loss = hand.loss(desired, s.width_tolerance);
        let carried = matches!(self.stage, Stage::Lift | Stage::Move);
        // Not while it is lifted off or lowered, when the support takes the load.
        let light = carried && load < 0.5 * self.found.mass * s.gravity;
        let lacks = loss.gone || loss.weak || light;
        self.missing = if lacks { self.missing + seen.dt } else { 0.0 };
        if self.missing < SLIP_TIME {
            return None;
        }
        self.missing = 0.0;
        // What has left the hand is not held by more force.
        if !loss.gone && desired < 0.999 * self.goal.max_grip_force {
            self.goal.grip_force = (desired * RAISE_FACTOR).min(self.goal.max_grip_force);
            self.tries.raises += 1;
            return Some(Step::Grip);
        }
        self.holding &= !loss.left;
        let text = format!(
            "the grip was lost in {} after {:.2} s at {}, the tool accelerated with {:.1} m/s²: {} of {desired:.1} N",
            self.stage,
            seen.elapsed,
            place(&seen.position),
            seen.acceleration,
            hand.describe_lost(),
        );
        Some(Step::Fail(hand.lost(), text))
    }

    /// Lets go until the hand is free.
    fn open(&mut self, seen: &Seen<'_>, hand: &dyn Hand) -> Step {
        self.held = if hand.is_free() { self.held + seen.dt } else { 0.0 };
        if self.held > RELEASE_TIME {
            return Step::Enter(match (self.placed, &self.failure) {
                (true, None) => Stage::Retreat,
                _ => Stage::Undo,
            });
        }
        if seen.elapsed < RELEASE_TIMEOUT {
            return Step::Stay;
        }
        if self.tries.shakes == 0 {
            self.tries.shakes = 1;
            return Step::Enter(Stage::Shake);
        }
        let text = format!(
            "the object does not leave the hand, shaken too: {}; take it out by hand",
            hand.describe_stuck()
        );
        Step::Fail(Failure::Stuck, text)
    }

    /// Retreats until the arm is up; an object that is seen by then must stand at its place.
    fn retreat(seen: &Seen<'_>) -> Step {
        if !seen.arrived {
            return Step::Stay;
        }
        let away = match seen.placed_off {
            Some(off) if off > PLACE_TOLERANCE => format!("{:.0} mm from its place", 1e3 * off),
            _ => return Step::Enter(Stage::Done),
        };
        Step::Fail(
            Failure::Slipped,
            format!("it was put down, but is seen {away}: it moved in the hand"),
        )
    }

    /// Halts until the arm stands.
    fn halt(&mut self, seen: &Seen<'_>) -> Step {
        self.held = if seen.at_rest { self.held + seen.dt } else { 0.0 };
        if self.held < REST_TIME {
            return Step::Stay;
        }
        Step::Enter(match &self.failure {
            None if self.placed => Stage::Open,
            None => Stage::Close,
            Some((Failure::Collision, ..)) => Stage::BackUp,
            Some(_) => Stage::Stopped,
        })
    }

    fn undone(&mut self) -> Step {
        match self.failure {
            // The next grip is harder, and the object may have moved.
            None => Step::Enter(Stage::Look),
            Some((
                Failure::NoObject | Failure::NoSeal | Failure::Blocked | Failure::Partial,
                ..,
            )) if self.tries.rescans < RESCANS => {
                self.tries.rescans += 1;
                Step::Enter(Stage::Look)
            }
            _ => Step::Enter(Stage::Stopped),
        }
    }

    /// Stage to which a failure in the present stage leads.
    pub(super) fn recovery(&self, failure: Failure) -> Stage {
        use Stage::{
            Approach, Centre, Close, Descend, Halt, Lift, LiftOff, Lower, Move, Open, Retreat,
            SetDown, Stopped, Verify, Weigh,
        };
        match (self.stage, failure) {
            (_, Failure::RobotLost | Failure::Preempted) => Stopped,
            // The object is above the place where it was taken: put it back.
            (LiftOff | Weigh, Failure::Slipped | Failure::PressureLost | Failure::TooHeavy) => {
                if self.holding {
                    SetDown
                } else {
                    Open
                }
            }
            // The object stands: release it and go up.
            (Close | Centre | Verify, f) if f != Failure::Collision => Open,
            (
                Approach | Descend | Close | Centre | Verify | LiftOff | Weigh | Lift | Move
                | Lower | Open | Retreat,
                _,
            ) => Halt,
            // A failure of a recovery has no recovery of its own.
            _ => Stopped,
        }
    }
}

/// Failure that the arm's report means in a stage.
pub(super) fn trouble(arm: ArmReport<'_>, stage: Stage) -> Option<(Failure, String)> {
    match arm {
        ArmReport::Lost(why) => Some((Failure::RobotLost, why.to_owned())),
        ArmReport::Preempted(why) => {
            let text = format!("another client moves the arm, which is left to it: {why}");
            Some((Failure::Preempted, text))
        }
        // An arm that is braking reports that its trajectory was ended: that is no collision.
        ArmReport::Blocked(why) if stage != Stage::Halt => {
            Some((Failure::Collision, format!("the arm was stopped: {why}")))
        }
        ArmReport::Blocked(_) | ArmReport::Fine => None,
    }
}

fn place(p: &Vector3) -> String {
    format!("({:.3}, {:.3}, {:.3}) m", p.x, p.y, p.z)
}
