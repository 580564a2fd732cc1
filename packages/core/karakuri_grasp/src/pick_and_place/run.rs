//! Evaluation of a measurement in each stage: one function a stage, the run's data in one place.
//!
//! A function returns the next step; entering a stage (its trajectory, its hand task) is the machine's.

use karakuri_control::trajectory::JointTrajectory;
use karakuri_spatial::Time;
use karakuri_spatial::Vector3;

use super::plan::Plan;
use super::tuning::{
    CENTRING_REACH, CENTRINGS, COLLISION_FORCE, LOOK_TIME, MOVABLE, ONE_SIDED_TIME,
    PLACE_TOLERANCE, RAISE_FACTOR, REGRIPS, RELEASE_TIME, RELEASE_TIMEOUT, RESCANS, SLIP_TIME,
    VERIFY_TIME, WEIGHT_TOLERANCE,
};
use super::{ArmReport, Failure, PickAndPlaceGoal, PickAndPlaceSettings, Stage};
use crate::grip_force::{GripState, is_firm};
use crate::slip::{friction_for, required_force, traction};

/// A goal in progress.
#[derive(Debug)]
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

/// Share of the grip's force with which an object is weighed a second time. [-]
// With a safety factor of 1.5 this still holds 1.2 times what it must; nearer to 1, noise would hide the change of a load.
const PROBE: f64 = 0.8;
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
    /// Force of each finger that carries it, and can move it, where the fingers lean by `lean` [rad]. [N]
    fn needed(&self, lean: f64, s: &PickAndPlaceSettings) -> f64 {
        let bears = traction(self.friction, lean);
        required_force(self.mass, bears, s.slip_safety, MOVABLE * s.gravity)
    }
}

/// Measurement of the load on the fingers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Weighing {
    /// Load integrated over time. [N·s]
    sum: f64,
    /// Time of the integral. [s]
    time: f64,
    /// Load with the whole grip force. [N]
    whole: Option<f64>,
    /// Whole grip force of each finger. [N]
    force: f64,
    /// Whether the load is known; the grip takes its whole force again.
    done: bool,
}

impl Weighing {
    /// Begins a new integral, for another stage.
    pub(super) fn restart(&mut self) {
        (self.sum, self.time) = (0.0, 0.0);
    }

    /// Mean load [N], once it was felt for `time` [s] with fingers that press with `force` [N].
    fn mean(&mut self, seen: &Seen<'_>, force: f64, time: f64) -> Option<f64> {
        let pressing = 0.5 * (seen.grip.forces[0] + seen.grip.forces[1]);
        // The load is comparable only at a known force; while the grip still settles, the mean begins again.
        // The same 5 % as `is_firm` allows.
        if (pressing / force - 1.0).abs() < 0.05 {
            (self.sum, self.time) = (self.sum + seen.load * seen.dt, self.time + seen.dt);
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
    pub(super) grip: GripState,
    /// Width of an object that would stop the fingers where they are. [m]
    pub(super) width: f64,
    /// Largest force on a finger, in any direction. [N]
    pub(super) touch: f64,
    /// Force that pulls the fingers down. [N]
    pub(super) load: f64,
    /// Position of the tool in the world. [m] (3)
    pub(super) position: Vector3,
    /// Acceleration of the tool. [m/s²]
    pub(super) acceleration: f64,
    /// Distance at which the object is seen from its place, if it is seen. [m]
    pub(super) placed_off: Option<f64>,
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
    pub(super) fn step(&mut self, seen: &Seen<'_>, s: &PickAndPlaceSettings) -> Step {
        match seen.arm {
            ArmReport::Lost(why) => return Step::Fail(Failure::RobotLost, why.to_owned()),
            // An arm that is braking reports that its trajectory was ended: that is no collision.
            ArmReport::Blocked(why) if self.stage != Stage::Halt => {
                return Step::Fail(Failure::Collision, format!("the arm was stopped: {why}"));
            }
            _ => {}
        }
        match self.stage {
            Stage::Approach | Stage::Descend => self.unloaded(seen),
            Stage::Close => self.close(seen, s),
            Stage::Centre => self.centre(seen),
            Stage::Verify => self.verify(seen, s),
            Stage::LiftOff => self.lift_off(seen, s),
            Stage::Weigh => self.weigh(seen, s),
            Stage::Lift | Stage::Move | Stage::Lower => self.carry(seen, s),
            Stage::Open => self.open(seen),
            Stage::Retreat => Self::retreat(seen),
            Stage::Halt => self.halt(seen),
            Stage::BackUp if seen.arrived => Step::Enter(Stage::Stopped),
            Stage::Shake | Stage::SetDown if seen.arrived => Step::Enter(Stage::Open),
            Stage::Undo if seen.arrived => self.undone(),
            Stage::Look if seen.elapsed >= LOOK_TIME => Step::Again,
            _ => Step::Stay,
        }
    }

    fn unloaded(&self, seen: &Seen<'_>) -> Step {
        if seen.touch > COLLISION_FORCE {
            let (force, limit) = (seen.touch, COLLISION_FORCE);
            let text = format!(
                "a finger met {force:.1} N on the way, above {limit:.1} N, at {}; clear the way",
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

    fn close(&mut self, seen: &Seen<'_>, s: &PickAndPlaceSettings) -> Step {
        let state = &seen.grip;
        let (width, tolerance) = (self.plan.hold().width, s.width_tolerance);
        self.grip = Some((state.opening, state.forces));
        // First, as fingers that meet each other press as firmly as fingers on an object.
        if state.at_end {
            let text = format!(
                "the fingers closed to {:.1} mm, the object is {:.1} mm wide; forces {}",
                1e3 * state.opening,
                1e3 * width,
                pair(&state.forces)
            );
            return Step::Fail(Failure::NoObject, text);
        }
        if state.gripped {
            if (seen.width - width).abs() > tolerance {
                let text = format!(
                    "the fingers stopped at {:.1} mm, the object should be {:.1} mm wide",
                    1e3 * seen.width,
                    1e3 * width
                );
                return Step::Fail(Failure::WrongSize, text);
            }
            return Step::Enter(Stage::Verify);
        }
        let [a, b] = state.touching;
        // Both or none is in order; one alone for a while means that the object does not slide to the middle.
        self.missing = if a == b { 0.0 } else { self.missing + seen.dt };
        if self.missing < ONE_SIDED_TIME {
            return Step::Stay;
        }
        if self.tries.centrings >= CENTRINGS {
            let text = format!(
                "the fingers do not come to touch both, centred {} times; forces {}; free the object and the hand",
                CENTRINGS,
                pair(&state.forces)
            );
            return Step::Fail(Failure::Blocked, text);
        }
        self.tries.centrings += 1;
        Step::Enter(Stage::Centre)
    }

    /// Centres the hand until both fingers touch, or the one that did lost contact.
    fn centre(&mut self, seen: &Seen<'_>) -> Step {
        let [a, b] = seen.grip.touching;
        self.held = if a && b { self.held + seen.dt } else { 0.0 };
        self.missing = if a || b { 0.0 } else { self.missing + seen.dt };
        // 20 ms of both contacts, so that one that bounces does not count.
        if self.held > 0.02 || seen.grip.gripped || self.missing > ONE_SIDED_TIME {
            // At rest the hand closes again, from the place found.
            return Step::Enter(Stage::Halt);
        }
        if seen.arrived {
            let text = format!(
                "only one finger touches, even {:.0} mm to the side; forces {}; free the object and the hand",
                1e3 * CENTRING_REACH,
                pair(&seen.grip.forces)
            );
            return Step::Fail(Failure::Blocked, text);
        }
        Step::Stay
    }

    fn verify(&mut self, seen: &Seen<'_>, s: &PickAndPlaceSettings) -> Step {
        if let Some(step) = self.slipping(seen, s) {
            return step;
        }
        self.firm(seen);
        if self.held < VERIFY_TIME { Step::Stay } else { Step::Enter(Stage::LiftOff) }
    }

    fn lift_off(&mut self, seen: &Seen<'_>, s: &PickAndPlaceSettings) -> Step {
        if let Some(step) = self.slipping(seen, s) {
            return step;
        }
        if seen.arrived { Step::Enter(Stage::Weigh) } else { Step::Stay }
    }

    /// Weighs the object at rest, with the whole force and then with less. The weight does not change with the grip's force;
    /// friction that slips, or is about to, does.
    fn weigh(&mut self, seen: &Seen<'_>, s: &PickAndPlaceSettings) -> Step {
        if let Some(step) = self.slipping(seen, s) {
            return step;
        }
        if self.weighing.done {
            return if self.firm(seen) { Step::Enter(Stage::Lift) } else { Step::Stay };
        }
        let Some(load) = self.weighing.mean(seen, self.goal.grip_force, VERIFY_TIME) else {
            return Step::Stay;
        };
        // The first load is that with the whole force; the second one is felt with a share of it.
        let Some(whole) = self.weighing.whole.replace(load) else {
            self.weighing.force = self.goal.grip_force;
            self.goal.grip_force *= PROBE;
            self.weighing.restart();
            return Step::Grip;
        };
        // By the probing force: the whole one comes back below.
        let held_by = 2.0 * self.goal.grip_force;
        let expected = self.found.mass * s.gravity;
        let lean = self.plan.hold().lean;
        self.goal.grip_force = self.weighing.force;
        self.weighing = Weighing { done: true, ..Weighing::default() };
        // The load changes with the grip's force: the object slips, and its friction is `μ = load/ΣN`.
        // A load near zero, as of an object that stayed where it was, is all noise: it is compared with a tenth of the weight.
        if (load - whole).abs() > LOAD_CHANGE * whole.max(0.1 * expected) {
            // Coulomb's law at the onset of slip; a value above the stated one shows only that something else bears as well.
            self.found.friction = self.goal.friction.min(friction_for(load / held_by, lean));
            // It weighs no less than what the whole grip bore.
            self.found.mass = self.found.mass.max(whole / s.gravity);
            return self.regrip(whole, s);
        }
        if (load - expected).abs() > WEIGHT_TOLERANCE * expected {
            self.found.mass = load / s.gravity;
            let stated = Found { friction: self.goal.friction, ..self.found };
            if load > expected && stated.needed(lean, s) > self.goal.grip_force {
                // It may have moved in the hand when it was lifted.
                return self.regrip(load, s);
            }
        }
        // It is held, with force to spare: friction is at least what makes this force enough.
        let bears = traction(self.found.friction, lean) * self.found.needed(lean, s);
        let enough = friction_for(bears / self.goal.grip_force, lean);
        self.found.friction = self.found.friction.max(enough).min(self.goal.friction);
        Step::Grip
    }

    /// Puts the object down and grips it as hard as it needs, or as is allowed; fails if that was tried. `load` is the load
    /// felt. [N]
    fn regrip(&mut self, load: f64, s: &PickAndPlaceSettings) -> Step {
        let stated = self.goal.mass * s.gravity;
        let (force, limit) = (self.goal.grip_force, self.goal.max_grip_force);
        let needed = self.found.needed(self.plan.hold().lean, s);
        let heavy = load > stated * (1.0 + WEIGHT_TOLERANCE);
        // A weight beyond the greatest permitted force is not tried again; else the grip is harder by what the object showed.
        let hopeless = heavy && needed > MOVABLE * limit;
        if force < 0.999 * limit && self.tries.regrips < REGRIPS && !hopeless {
            self.goal.grip_force = needed.max(force * RAISE_FACTOR).min(limit);
            self.weighing = Weighing::default();
            self.tries.regrips += 1;
            return Step::Enter(Stage::SetDown);
        }
        let room =
            format!("{needed:.1} N a finger, {limit:.1} N are allowed; raise max_grip_force");
        if heavy {
            let text = format!(
                "it weighs {load:.1} N or more, {stated:.1} N were stated; that needs {room}"
            );
            return Step::Fail(Failure::TooHeavy, text);
        }
        let friction = self.found.friction;
        let text = format!(
            "it slips when it is lifted: with {force:.1} N a finger friction is about {friction:.2}; that needs {room}"
        );
        Step::Fail(Failure::Slipped, text)
    }

    fn carry(&mut self, seen: &Seen<'_>, s: &PickAndPlaceSettings) -> Step {
        // First, or an arm that arrives without its object would go on.
        if let Some(step) = self.slipping(seen, s) {
            return step;
        }
        let firm = self.firm(seen);
        if self.stage == Stage::Lower {
            // Not by the way alone: a place that is higher than stated would be pressed into.
            // An object that stands does not pull any more.
            let stands = seen.load < 0.5 * self.found.mass * s.gravity;
            self.standing = if stands { self.standing + seen.dt } else { 0.0 };
            self.placed = seen.arrived || self.standing > SLIP_TIME;
        }
        match self.stage {
            Stage::Lift if seen.arrived && firm => Step::Enter(Stage::Move),
            Stage::Move if seen.arrived => Step::Enter(Stage::Lower),
            Stage::Lower if self.placed => Step::Enter(Stage::Halt),
            _ => Step::Stay,
        }
    }

    /// Whether the grip is firm; counts the time for which it is.
    fn firm(&mut self, seen: &Seen<'_>) -> bool {
        let firm = is_firm(&seen.grip.forces, self.goal.grip_force);
        self.held = if firm { self.held + seen.dt } else { 0.0 };
        firm
    }

    /// Next step if an object in the hand is slipping out.
    fn slipping(&mut self, seen: &Seen<'_>, s: &PickAndPlaceSettings) -> Option<Step> {
        // Lost: the hand closes beyond the object's width, a finger presses with less than half, or the load is gone.
        let state = &seen.grip;
        let largest = self.grip.map_or([0.0; 2], |(_, largest)| largest);
        let largest = core::array::from_fn(|k| state.forces[k].max(largest[k]));
        self.grip = Some((state.opening, largest));
        let desired = self.goal.grip_force;
        // Objects are taken within one tolerance; two leave a margin to what was taken narrow.
        // Fingers that lean push out what they lose, and are free before they have closed by that much.
        let pushed_out = self.plan.hold().lean.abs() > 0.0 && state.touching == [false; 2];
        let gone = pushed_out || seen.width < self.plan.hold().width - 2.0 * s.width_tolerance;
        let weak = state.forces.iter().any(|f| *f < 0.5 * desired);
        let carried = matches!(self.stage, Stage::Lift | Stage::Move);
        // Not while it is lifted off or lowered, when the support takes the load.
        let light = carried && seen.load < 0.5 * self.found.mass * s.gravity;
        self.missing = if gone || weak || light { self.missing + seen.dt } else { 0.0 };
        if self.missing < SLIP_TIME {
            return None;
        }
        self.missing = 0.0;
        // What has left the hand is not held by more force.
        if !gone && desired < 0.999 * self.goal.max_grip_force {
            self.goal.grip_force = (desired * RAISE_FACTOR).min(self.goal.max_grip_force);
            self.tries.raises += 1;
            return Some(Step::Grip);
        }
        self.holding &= !pushed_out;
        let text = format!(
            "the grip was lost in {} after {:.2} s at {}, the tool accelerated with {:.1} m/s²: opening {:.1} mm, forces {} \
             of {desired:.1} N",
            self.stage,
            seen.elapsed,
            place(&seen.position),
            seen.acceleration,
            1e3 * state.opening,
            pair(&state.forces),
        );
        Some(Step::Fail(Failure::Slipped, text))
    }

    /// Opens until the fingers are free.
    fn open(&mut self, seen: &Seen<'_>) -> Step {
        let state = &seen.grip;
        let free = !state.touching[0] && !state.touching[1];
        let wide = state.opening > self.plan.hold().open - 0.002;
        self.held = if free && wide { self.held + seen.dt } else { 0.0 };
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
            "the object does not leave the hand, shaken too: opening {:.1} of {:.1} mm, forces {}; take it out by hand",
            1e3 * state.opening,
            1e3 * self.plan.hold().open,
            pair(&state.forces)
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
        // Joints pass zero speed while they swing out; 50 ms tells rest from that.
        if self.held < 0.05 {
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
            Some((Failure::NoObject | Failure::Blocked, ..)) if self.tries.rescans < RESCANS => {
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
            (_, Failure::RobotLost) => Stopped,
            // The object is above the place where it was taken: put it back.
            (LiftOff | Weigh, Failure::Slipped | Failure::TooHeavy) if self.holding => SetDown,
            (LiftOff | Weigh, Failure::Slipped | Failure::TooHeavy) => Open,
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

fn pair(forces: &[f64; 2]) -> String {
    format!("{:.1} and {:.1} N", forces[0], forces[1])
}

fn place(p: &Vector3) -> String {
    format!("({:.3}, {:.3}, {:.3}) m", p.x, p.y, p.z)
}
