//! Opening and force control of a hand whose finger forces are measured or estimated, tick by tick.
//!
//! Positions are driven, forces measured: opening and closing move the driven joint's target at a rate, slower near
//! the expected width and at contact; holding integrates the mean force error,
//! `θ̇ = ω (ΣF − 2F*)/K`, `K = Σ ∂F/∂θ` of both fingers through the drive's stiffness, so that the force settles with the
//! rate ω whatever the drive. Rate limit, dead band and clamping of the target to what the drive can use (anti-windup)
//! keep it calm.
//! Targets may reach the drive late (a busy machine, a slow bus), and a target ahead of the measured position is a compressed
//! spring whose force is released later. So closing slows down as soon as the *target* is near the object; from there on it
//! creeps while the target's force exceeds the measured one, and that force never exceeds the desired one by much.
//! While one finger alone touches, its force is kept low: the object is pushed to the middle if it slides easily, and not pressed
//! against a fixed support.
//! Units: m, rad, N, s.

use crate::{EndEffector, FingerForce};

/// Largest excess of a closing target's force over the desired one, as a share of it, but at least [`UNFELT`]. [-]
// Less: friction of the drive keeps the force from being reached; more: a hand that comes free strikes harder.
const PRESS: f64 = 0.3;
/// Excess of the target's force over the measured one from which on it has not arrived yet; less may be the drive's friction. [N]
const UNFELT: f64 = 1.0;
/// Share of the rate with which closing continues then: friction of the drive may hold the hand. [-]
// At 0 friction would hold the hand for ever, at 1 the target would run ahead of a drive that hears it late.
const CREEP: f64 = 0.1;
/// Desired force below which the touch speed falls with it, to a fifth: the drive's inertia strikes harder the faster it is. [N]
const GENTLE: f64 = 5.0;

/// Largest relative error of the force that the dead band may leave: less than any judgement of it asks for. [-]
const CLOSE: f64 = 0.02;

/// Time without any touch after which what was gripped is gone. [s]
// Shorter: a hand that shakes lets go; longer: a force that was felt of the hand's own motion has it creep on through the air.
const COME_OFF: f64 = 0.1;

/// Cut-off of the force filter: 4 ms behind, which at the rate [`FORCE_RATE`] is 0.04 rad of phase; a lower one would lag where
/// the fingers touch, a higher one would let the sensors' noise through. [Hz]
const FILTER: f64 = 40.0;
/// ω: rate of the force control. It settles within 2 % in 0.4 s; a faster loop would be left less margin for targets that
/// arrive late (at 50 ms, 0.5 rad of phase are gone). [1/s]
const FORCE_RATE: f64 = 10.0;
/// Errors of the sum of both forces below it are left, if they are below 2 % of it: without it, the target would follow the
/// sensors' noise and never rest. [N]
const DEAD_BAND: f64 = 0.1;
/// Force with which one finger alone may push: it slides 0.6 kg over a table of friction 0.5. [N]
const PUSH_FORCE: f64 = 3.0;

/// Settings of a grip that a user may change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GripSettings {
    /// Force above which a finger touches something. [N]
    pub contact_force: f64,
    /// Rate of the opening in free motion. [m/s]
    pub speed: f64,
    /// Rate of the opening near the object and after contact. [m/s]
    pub touch_speed: f64,
}

impl Default for GripSettings {
    /// The first contact strikes with what moves (arm6: 4 kg of reflected rotor inertia a finger): at twice the touch speed with
    /// 14 N, with up to 26 N where a stall was just caught up.
    fn default() -> Self {
        Self { contact_force: 0.4, speed: 0.10, touch_speed: 0.008 }
    }
}

/// Task of the hand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GripTask {
    /// Keep the target where it is.
    Stay,
    /// Go to an opening [m] at a rate [m/s].
    MoveTo {
        /// Desired opening. [m]
        opening: f64,
        /// Rate of the opening. [m/s]
        speed: f64,
    },
    /// Close until both fingers press with the force, then keep it.
    Close {
        /// Desired force of each finger. [N]
        force: f64,
        /// Slow down below this opening; 0 if nothing is known. [m]
        slow_below: f64,
    },
}

/// Target of the driven joint.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HandReference {
    /// Position at the end of the period. [rad or m]
    pub position: f64,
    /// Velocity over the period. [rad/s or m/s]
    pub velocity: f64,
    /// Effort to be added to the feed-forward. [N·m or N]
    pub effort: f64,
}

/// Measured state of the grip.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GripState {
    /// Measured opening. [m]
    pub opening: f64,
    /// Filtered, tared normal forces. [N] (2)
    pub forces: [f64; 2],
    /// Whether each finger touches something. (2)
    pub touching: [bool; 2],
    /// Whether the fingers reached the desired force in this task ([`is_firm`]), and have felt something since.
    pub gripped: bool,
    /// Whether the hand is closed to the end of its range.
    pub at_end: bool,
}

/// Limits of the driven joint's position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriveRange {
    /// Lower limit. [rad or m]
    pub lower: f64,
    /// Upper limit. [rad or m]
    pub upper: f64,
}

/// Grip control of one hand.
#[derive(Debug, Clone)]
pub struct GripForce {
    settings: GripSettings,
    task: GripTask,
    /// Drive stiffness. [N·m/rad or N/m]
    stiffness: f64,
    range: DriveRange,
    target: Option<f64>,
    filtered: [f64; 2],
    tare: [f64; 2],
    /// Time since a finger touched anything. [s]
    untouched: f64,
    state: GripState,
}

impl GripForce {
    /// Control for a drive of this stiffness [N·m/rad or N/m] at a joint of this range.
    pub fn new(settings: GripSettings, stiffness: f64, range: DriveRange) -> Self {
        Self {
            settings,
            task: GripTask::Stay,
            stiffness,
            range,
            target: None,
            filtered: [0.0; 2],
            tare: [0.0; 2],
            untouched: 0.0,
            state: GripState::default(),
        }
    }

    /// Settings, which may change while it runs.
    pub fn settings_mut(&mut self) -> &mut GripSettings {
        &mut self.settings
    }

    /// Settings that are in force.
    pub fn settings(&self) -> &GripSettings {
        &self.settings
    }

    /// Gives a new task, which begins at the present state of the hand.
    pub fn set_task(&mut self, task: GripTask) {
        self.task = task;
        // A new task may be a new force, which the fingers have yet to reach.
        self.state.gripped = false;
    }

    /// Task of the hand now.
    pub fn task(&self) -> GripTask {
        self.task
    }

    /// Takes the present readings of the sensors as zero: call it with the fingers free.
    pub fn tare(&mut self) {
        // Of the filtered readings: a single one would leave its noise in all forces to come.
        self.tare = self.filtered;
        self.state.forces = [0.0; 2];
    }

    /// Forgets the target and the filter (the clock jumped, the robot was away).
    pub fn reset(&mut self) {
        *self = Self::new(self.settings, self.stiffness, self.range);
    }

    /// Goes on holding the object in the hand, at the first measurement: both fingers feel it, and the drive presses by `effort`,
    /// where that is known [N·m or N]. A hand that holds nothing stays as it is.
    pub fn take_over(
        &mut self,
        hand: &dyn EndEffector,
        position: f64,
        fingers: &[FingerForce; 2],
        effort: Option<f64>,
    ) {
        let felt = fingers.map(|finger| finger.normal);
        let force = (0.5 * (felt[0] + felt[1])).min(hand.force_max());
        let touches = felt.iter().all(|force| *force > self.settings.contact_force);
        // Sensors that are not tared show forces where the hand is free.
        let presses = effort.is_none_or(|effort| hand.force(position, effort) > 0.5 * force);
        if !(touches && presses) {
            return;
        }
        // The filter begins with what is felt: from zero, the grip would look lost at first.
        self.filtered = felt;
        // The target's spring presses with the measured force: `θ + τ(F)/k`.
        self.target = Some(position + hand.effort(position, force) / self.stiffness);
        self.task = GripTask::Close { force, slow_below: 0.0 };
        self.state.gripped = true;
    }

    /// Effort with which the drive's spring pulls the joint from a position to the last target; NaN before the first. [N·m or N]
    pub fn spring_effort(&self, position: f64) -> f64 {
        self.target.map_or(f64::NAN, |target| self.stiffness * (target - position))
    }

    /// State of the grip at the last tick.
    pub fn state(&self) -> &GripState {
        &self.state
    }

    /// Runs one period [s]: measured position of the driven joint and finger forces in, target for the period's end out.
    pub fn tick(
        &mut self,
        hand: &dyn EndEffector,
        position: f64,
        fingers: &[FingerForce; 2],
        dt: f64,
    ) -> HandReference {
        self.sense(hand, position, fingers, dt);
        let (lowest, highest) = hand.opening_range();
        let (lowest, highest) = (hand.position(lowest), hand.position(highest));
        // The first target is where the hand is, so that it does not jump when the control begins.
        let target = self.target.unwrap_or(position.clamp(lowest, highest));
        let velocity = match self.task {
            GripTask::Stay => 0.0,
            GripTask::MoveTo { opening, speed } => {
                let error = hand.position(opening) - target;
                // The same speed at the fingers anywhere: a crank moves them less the more it is turned.
                let rate = speed / hand.opening_rate(target);
                // A step that would pass the goal ends on it.
                (error / dt).clamp(-rate, rate)
            }
            GripTask::Close { force, slow_below } => {
                self.close(hand, position, target, force, slow_below)
            }
        };
        // Anti-windup: a target further away than the drive's effort reaches would not press harder.
        let reach = |force: f64| hand.effort(position, force).abs() / self.stiffness;
        let press = match self.task {
            // What friction of the drive takes does not press, nor what sides that lean take, as those of a cone: without it the greatest force would not
            // be reached.
            GripTask::Close { force, .. } => force + UNFELT.max(PRESS * force),
            // What presses is let go before the fingers part: a hand that is held up while it opens would strike back.
            GripTask::MoveTo { .. } if velocity > 0.0 && self.is_touching() => 0.0,
            GripTask::Stay | GripTask::MoveTo { .. } => hand.force_max(),
        };
        let (full, press) = (reach(hand.force_max()), reach(press));
        // Closing is bounded closely, as a hand that was held up must not strike when it comes free; opening by the drive alone.
        let desired = (target + velocity * dt).clamp(position - press, position + full);
        // A target below the closed end presses the fingers on each other or on the object: allow the press.
        let next = desired.clamp(lowest - press, highest);
        // By the measured opening: a target at the end says nothing about what is between the fingers.
        self.state.at_end = hand.opening(position) <= hand.opening(lowest) + 2e-4;
        self.target = Some(next);
        self.reference(target, next, dt)
    }

    /// Motion from one target to the next within the joint's limits; the part of a target beyond them becomes an effort.
    fn reference(&self, target: f64, next: f64, dt: f64) -> HandReference {
        let within = |position: f64| position.clamp(self.range.lower, self.range.upper);
        let position = within(next);
        HandReference {
            position,
            velocity: (position - within(target)) / dt,
            // A servo clips its target at the joint's limit; the spring beyond it is given as an effort instead.
            effort: self.stiffness * (next - position),
        }
    }

    fn sense(
        &mut self,
        hand: &dyn EndEffector,
        position: f64,
        fingers: &[FingerForce; 2],
        dt: f64,
    ) {
        let gain = filter_gain(dt);
        for (k, finger) in fingers.iter().enumerate() {
            self.filtered[k] += gain * (finger.normal - self.filtered[k]);
            self.state.forces[k] = self.filtered[k] - self.tare[k];
            self.state.touching[k] = self.state.forces[k] > self.settings.contact_force;
        }
        self.untouched = if self.is_touching() { 0.0 } else { self.untouched + dt };
        self.state.gripped &= self.untouched < COME_OFF;
        self.state.opening = hand.opening(position);
    }

    fn is_touching(&self) -> bool {
        self.state.touching.contains(&true)
    }

    /// Whether no contact is expected yet: the hand and its target are wider than an opening. [m]
    fn is_free(&self, hand: &dyn EndEffector, target: f64, opening: f64) -> bool {
        let narrowest = self.state.opening.min(hand.opening(target));
        !self.is_touching() && !self.state.gripped && narrowest >= opening
    }

    /// Rate of the target while closing and holding; negative closes. [rad/s or m/s]
    fn close(
        &mut self,
        hand: &dyn EndEffector,
        position: f64,
        target: f64,
        force: f64,
        slow_below: f64,
    ) -> f64 {
        // The forces of the two fingers differ by what the object's support carries sideways; their mean counts.
        self.state.gripped |= is_firm(&self.state.forces, force);
        if self.is_free(hand, target, slow_below) {
            // In free motion by the user's speed; all that follows is at the touch speed at most.
            return -self.settings.speed / hand.opening_rate(target);
        }
        let rate = self.touch(hand, target, force);
        // The target creeps while its force exceeds the measured one: it has not reached the drive yet.
        let stands_for = hand.force(position, self.stiffness * (target - position));
        let unfelt = stands_for - 0.5 * (self.state.forces[0] + self.state.forces[1]);
        // Not to a stop: friction of the drive may account for the difference for ever.
        if rate < 0.0 && unfelt > UNFELT { CREEP * rate } else { rate }
    }

    /// Rate of the target that brings the fingers to the object, and their forces to the desired ones. [rad/s or m/s]
    fn touch(&self, hand: &dyn EndEffector, target: f64, force: f64) -> f64 {
        let sum = self.state.forces[0] + self.state.forces[1];
        let gently = (force / GENTLE).clamp(0.2, 1.0);
        let touch_rate = gently * self.settings.touch_speed / hand.opening_rate(target);
        if !self.is_touching() && !self.state.gripped {
            return -touch_rate;
        }
        // One finger alone pushes with a low force; then the sum of both forces is controlled.
        // Once gripped, a finger that is unloaded for a moment is no first contact.
        let alone = self.state.touching[0] != self.state.touching[1] && !self.state.gripped;
        // At the touch speed to 0.8 of the push; the control takes the rest, or the push would be overshot.
        if alone && sum < 0.8 * PUSH_FORCE {
            return -touch_rate;
        }
        // One finger alone has the whole push; both together have twice the desired force.
        let error = if alone { sum - PUSH_FORCE } else { sum - 2.0 * force };
        if error.abs() < DEAD_BAND.min(2.0 * CLOSE * force) {
            return 0.0;
        }
        // ∂F/∂θ of one finger through the drive: the force of an effort of one stiffness unit.
        let gradient = 2.0 * hand.force(target, -self.stiffness);
        // `θ̇ = ω (ΣF − 2F*)/K`, limited to the touch speed.
        (FORCE_RATE * error / gradient).clamp(-touch_rate, touch_rate)
    }
}

/// Gain of the first-order low-pass filter of forces over a period [s], discretised exactly. [-]
pub(crate) fn filter_gain(dt: f64) -> f64 {
    // Exact for a reading held over the period, so the cut-off is the same at any rate of the messages.
    1.0 - (-core::f64::consts::TAU * FILTER * dt).exp()
}

/// Whether the mean force is the desired one, and neither finger has much less. [N]
pub fn is_firm(forces: &[f64; 2], desired: f64) -> bool {
    // 1.9 of 2: the dead band ends the control within 2 %. 0.7 leaves room for what the support bears sideways.
    forces[0] + forces[1] >= 1.9 * desired && forces.iter().all(|f| *f >= 0.7 * desired)
}
