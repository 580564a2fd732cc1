//! Walking, sample by sample: commands in, joint targets out.
//!
//! A step's motion is planned when the step before it ends, at the start of its double support, and goes on exactly where the
//! last plan ended. The next step is committed then; a command changes those after it, so that a stop takes two steps.

use karakuri_dynamics::{difference, integrate};
use karakuri_model::BodyId;
use karakuri_spatial::UnitQuaternion;
use serde::Serialize;

use super::biped::{Biped, BipedError};
use super::candidate::{Candidate, Plan, StepChange};
use super::capture::{Capturability, Capture, Stance, Steps};
use super::error::PlanError;
use super::excess::{Excess, Excesses};
use super::footstep::{Clip, Footstep};
use super::generator::{Displacement, Generator};
#[cfg(test)]
use super::landing::Yielded;
use super::landing::{FeltContact, Landing};
use super::lost::{LossMonitor, Lost};
use super::place::Place;
use super::reaction::{AdjustmentBudget, Situation, StepAdjustment};
use super::route::{Ahead, Route, Standing, WalkCommand, turned_by};
use super::sample::{Sample, Samples};
use super::settings::{Reach, WalkSettings};
use super::side::{Side, Support};
use super::stabilizer::{Correction, Measured, Stabilizer};
use super::standing::why_not_standing;
use super::swing::{FLAT, Swing};
use super::targets::JointTargets;
use super::timeline::{Timeline, TimelineStart, middle};

/// Time planned at once while standing. [s]
// A command is taken up at the end of the chunk: less would plan more often for nothing, more would delay the first step.
const IDLE: f64 = 0.1;

/// Parts of a reaction that are tried, one a tick: less of it where joints would be too fast or legs too short. [-]
// One a tick, while the swing goes on: each try takes from the time that is left for the others.
const PARTS: [f64; 3] = [1.0, 0.7, 0.4];

/// Activity of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WalkState {
    /// Standing on both feet.
    Standing,
    /// Walking, or about to start or stop.
    Walking,
}

/// Walks a robot. Step it with [`Self::advance`].
#[derive(Debug, Clone)]
pub struct WalkEngine {
    generator: Generator,
    stabilizer: Stabilizer,
    landing: Landing,
    timeline: Timeline,
    /// Memory of the next timeline.
    spare: Timeline,
    route: Route,
    /// Memory of a step that is planned again.
    candidate: Candidate,
    ahead: Ahead,
    /// Planned samples from `samples[0].index` on.
    samples: Samples,
    /// Current step by its first plan: first sample after it, and its landing place.
    nominal: (u64, Place),
    /// Sample from which on a step was last adjusted.
    reacted: u64,
    /// Number of parts of the current reaction that were refused.
    refused: usize,
    budget: AdjustmentBudget,
    increment: Vec<f64>,
    /// Time from the start, in samples.
    time: f64,
    state: WalkState,
    /// Whether the last chunk ended with the ZMP between the feet.
    is_at_rest: bool,
    steps: u64,
    /// Heading less the planned one, positive to the left: as measured, or as expected of the slides begun. [rad]
    heading_error: f64,
    is_measured: bool,
    failure: Option<PlanError>,
    excesses: Excesses,
    targets: JointTargets,
    correction: Correction,
    watch: LossMonitor,
}

impl WalkEngine {
    /// Engine of a robot that stands with the feet about the origin.
    ///
    /// # Errors
    /// When the robot cannot stand with the gait's numbers; the error names their range.
    pub fn new(biped: Biped, settings: WalkSettings) -> Result<Self, BipedError> {
        let generator = Generator::new(biped, settings)?;
        let feet = generator.standing_feet();
        let settings = &generator.settings;
        let zmp = middle(settings, &feet);
        let start = TimelineStart { index: 0, feet, zmp, from_rest: true };
        let timeline = Timeline::new(settings, &start, &[], true);
        let model = &generator.biped.model;
        let targets = JointTargets {
            position: generator.biped.posture.clone(),
            velocity: vec![0.0; model.nv],
            effort: vec![0.0; model.nv],
        };
        let stabilizer = Stabilizer::new(&generator.biped, settings, generator.omega());
        let landing = Landing::new(&generator.biped, settings, generator.omega());
        let mut engine = Self {
            stabilizer,
            landing,
            timeline,
            spare: Timeline::default(),
            route: Route::default(),
            candidate: Candidate::default(),
            ahead: Ahead::default(),
            samples: Samples::default(),
            nominal: (0, Place::default()),
            reacted: 0,
            refused: 0,
            budget: AdjustmentBudget::default(),
            increment: Vec::new(),
            time: 0.0,
            state: WalkState::Standing,
            is_at_rest: true,
            steps: 0,
            heading_error: 0.0,
            is_measured: false,
            failure: None,
            excesses: Excesses::new(&generator.biped.model),
            targets,
            correction: Correction::default(),
            watch: LossMonitor::default(),
            generator,
        };
        // The first samples now, so that targets exist and a robot that cannot stand is refused before it moves.
        engine.extend();
        if let Some(error) = engine.failure {
            return Err(why_not_standing(&engine.generator, error));
        }
        engine.write_targets();
        Ok(engine)
    }

    /// Takes up a command, from the step after the next one on.
    pub fn command(&mut self, command: WalkCommand) {
        self.failure = None;
        let feet = self.feet();
        self.route.command(command, &standing(&feet, self.heading_error, &self.generator));
    }

    /// Sets the foot of the first step, of a robot that stands; a walk to a side begins with that side's foot all the same.
    pub fn begin_with(&mut self, side: Side) {
        if self.state == WalkState::Standing {
            self.route.step_next(side);
        }
    }

    /// Places of the feet at the end of the current step.
    pub fn feet(&self) -> [Place; 2] {
        self.timeline.places(self.generator.next_index())
    }

    /// Feet that stand now, with their planned places.
    pub fn standing(&self) -> impl Iterator<Item = (Side, Place)> {
        let sample = self.sample();
        let (support, places) = (sample.support, self.timeline.places(sample.index));
        Side::BOTH.into_iter().zip(places).filter(move |(side, _)| support.stands(*side))
    }

    /// Footsteps as planned now, from the current one on, `most` at most.
    pub fn footsteps(&self, most: usize) -> Vec<Footstep> {
        let index = self.sample().index;
        let end = self.generator.next_index();
        // Of the step that is planned; swings beyond the plan's end come from the route below.
        let under_way = self.timeline.next_swing(index).filter(|(_, span)| span[1] <= end);
        let mut footsteps: Vec<Footstep> =
            under_way.map(|(swing, _)| swing.step).into_iter().collect();
        let (feet, mut ahead) = (self.feet(), Ahead::default());
        let from = standing(&feet, self.heading_error, &self.generator);
        let rest = most.saturating_sub(footsteps.len());
        self.route.intent().look_ahead(&from, self.is_at_rest, rest, &mut ahead);
        footsteps.append(&mut ahead.steps);
        footsteps.truncate(most);
        footsteps
    }

    /// Heading of the robot: as measured, or as expected of the steps begun. [rad]
    pub fn heading(&self) -> f64 {
        self.timeline.trunk(self.sample().index).0 + self.heading_error
    }

    /// Planned sample of the present period.
    pub fn sample(&self) -> &Sample {
        &self.samples[self.position().0]
    }

    /// Generator with the robot and its gait.
    pub fn generator(&self) -> &Generator {
        &self.generator
    }

    /// Activity now: standing or walking.
    pub fn state(&self) -> WalkState {
        self.state
    }

    /// Number of steps begun.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Excesses of plans over the joints' limits since the last call: the worst of each.
    pub fn take_excesses(&mut self) -> Vec<Excess> {
        self.excesses.take()
    }

    /// Cuts of steps since the last call.
    pub fn take_clips(&mut self) -> Vec<Clip> {
        self.route.take_clips()
    }

    /// Cause that ended the last command early; the robot stands.
    pub fn failure(&self) -> Option<PlanError> {
        self.failure
    }

    /// Targets of the joints now.
    pub fn targets(&self) -> &JointTargets {
        &self.targets
    }

    /// Joint furthest from its target now, and its error. [rad or m]
    pub fn furthest_joint(&self, q: &[f64]) -> (BodyId, f64) {
        let joints = self.generator.biped.model.joints.iter().enumerate();
        // Joints of one degree of freedom: what has a servo and a target.
        let off = joints
            .filter(|(_, joint)| joint.kind.nv() == 1)
            .map(|(i, joint)| (BodyId(i), q[joint.q_start] - self.targets.position[joint.q_start]));
        off.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).unwrap_or((BodyId(0), 0.0))
    }

    /// Lean of an attitude of the root link, `R_WB`, beyond the gait's own. [rad]
    pub fn lean(&self, orientation: &UnitQuaternion) -> f64 {
        let (roll, pitch, _) = orientation.euler_angles();
        roll.hypot(pitch - self.generator.settings.lean)
    }

    /// Correction of the stabiliser now.
    pub fn correction(&self) -> &Correction {
        &self.correction
    }

    /// Time since the engine's start. [s]
    pub fn time(&self) -> f64 {
        self.time * self.generator.settings.period
    }

    /// Loss of the walker, no number of steps being able to save it, since its first moment.
    pub fn lost(&self) -> Option<Lost> {
        self.watch.lost(self.time())
    }

    /// Deviation of the feet from their plan by landing control. (2)
    #[cfg(test)]
    pub(super) fn yielded(&self) -> &[Yielded; 2] {
        &self.landing.feet
    }

    /// Stabiliser, whose gains may change while walking.
    pub fn stabilizer_mut(&mut self) -> &mut Stabilizer {
        &mut self.stabilizer
    }

    /// Goes on by `dt` [s]; the stabiliser needs measurements.
    pub fn advance(&mut self, dt: f64, measured: Option<&Measured<'_>>) -> &JointTargets {
        // In samples, so that times and indices compare as they are.
        self.time += dt / self.generator.settings.period;
        self.extend();
        self.write_targets();
        self.is_measured = measured.is_some();
        if let Some(measured) = measured {
            let (k, _) = self.position();
            let sample = &self.samples[k];
            let biped = &self.generator.biped;
            self.stabilizer.correct(biped, sample, measured, dt, &mut self.correction);
            // Against the plan, in which steps are laid.
            self.heading_error = self.correction.heading - self.timeline.trunk(sample.index).0;
            for (effort, more) in self.targets.effort.iter_mut().zip(&self.correction.effort) {
                *effort += more;
            }
            if let Some(wrenches) = &measured.feet {
                // Landing control compares the soles' heights as measured and as planned, and the ZMP's shift by the stabiliser.
                let next = self.samples.get(k + 1).unwrap_or(sample);
                let [left, right] = self.timeline.places(sample.index).map(|p| p.position[2]);
                let step = self.stabilizer.step;
                let felt = FeltContact {
                    wrenches,
                    step: [step, -step],
                    planned_step: [left - right, right - left],
                    zmp_shift: [0, 1].map(|i| self.correction.zmp[i] - sample.zmp_reference[i]),
                    dcm_error: self.correction.dcm_error,
                };
                let gains = &self.stabilizer.settings;
                self.landing.feel(biped, gains, [sample, next], &felt, dt);
                self.landing.write(biped, dt, &mut self.targets);
            }
            self.correction.capture = Some(self.capture(k));
            self.watch(measured);
            if self.stabilizer.settings.steps.on {
                self.react();
            }
        }
        &self.targets
    }

    /// Capturability of the measured ξ at sample `k`.
    fn capture(&self, k: usize) -> Capture {
        let (sample, settings) = (&self.samples[k], &self.generator.settings);
        let gains = self.stabilizer.settings.steps;
        let (index, omega, h) = (sample.index, self.generator.omega(), settings.period);
        let dcm = [0, 1]
            .map(|i| sample.com[i] + sample.com_velocity[i] / omega + self.correction.dcm_error[i]);
        // Without reactions the feet keep to their plan, so the plan's own pace counts.
        let hurry = if gains.on { gains.hurry.max(1.0) } else { 1.0 };
        // A foot in the air needs what is left of its swing, at the greatest speed that reactions may ask for.
        let air = (settings.step_time - settings.double_support) / hurry;
        let steps = Steps {
            soles: self.generator.biped.legs.each_ref().map(|leg| leg.outline),
            reach: gains.reach.unwrap_or_else(|| Reach::from(&settings.limits)),
            omega,
            time: settings.double_support + air,
        };
        let feet = sample.soles.map(|sole| {
            let [_, _, yaw] = sole.rpy();
            Place::level(sole.translation.into(), yaw)
        });
        let of = |side: Side, lift: f64, land: f64| {
            steps.capture(&Stance { side, feet, lift, land }, dcm)
        };
        let mut capture = if let Some((swing, [lift, _])) = self.timeline.next_swing(index) {
            let lift = lift.saturating_sub(index) as f64 * h;
            let (gone, _) = swing.progress(index);
            let land = if lift > 0.0 { air } else { (1.0 - gone) * air };
            of(swing.step.side.other(), lift, land)
        } else {
            // Either foot could step.
            let [a, b] = Side::BOTH.map(|side| of(side, settings.double_support, air));
            if a.margin > b.margin { a } else { b }
        };
        // The polygon of the soles themselves is exact, where the regions of steps are boxes around them.
        if self.stabilizer.polygon.margin(dcm) >= 0.0 {
            capture.capturability = Capturability::Stand;
        }
        capture
    }

    /// Records the moment at which the walker was lost.
    fn watch(&mut self, measured: &Measured<'_>) {
        let Some(capture) = self.correction.capture else { return };
        let (time, step) = (self.time(), self.steps);
        let joint = || self.furthest_joint(measured.q);
        let now = || Lost { time, step, beyond: capture.beyond, joint: joint() };
        let mut watch = self.watch;
        watch.look(&capture, now, time);
        self.watch = watch;
    }

    /// Index into `samples`, and the part of the period since then. [-]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a sample number")]
    fn position(&self) -> (usize, f64) {
        let first = self.samples.first().map_or(0, |s| s.index) as f64;
        let at = (self.time - first).max(0.0);
        // Rounding errors of many small steps must not make one sample of two.
        let k = (at + 1e-6).floor();
        ((k as usize).min(self.samples.len().saturating_sub(1)), (at - k).clamp(0.0, 1.0))
    }

    /// Plans until there is a sample after the present one.
    fn extend(&mut self) {
        while self.samples.last().is_none_or(|s| s.index as f64 <= self.time + 1e-6) {
            // The last sample is the start of the interpolation to the first new one.
            self.samples.keep_last();
            let Err(error) = self.plan_next() else { continue };
            self.failure = Some(error);
            // Instead of the command, closing the feet is tried, once.
            self.route.give_up();
            if self.plan_next().is_err() {
                // A third try would end as the second one did.
                self.hold();
                return;
            }
        }
    }

    /// Goes on with the last sample for ever: nothing can be planned.
    fn hold(&mut self) {
        self.state = WalkState::Standing;
        if let Some(last) = self.samples.last().cloned() {
            self.time = last.index as f64;
            *self.samples.push() = Sample { index: last.index + 1, ..last };
        }
    }

    fn plan_next(&mut self) -> Result<(), PlanError> {
        let at = self.generator.next_index();
        // The next step starts where the plan ended: feet, ZMP, and the steps ahead lay its timeline.
        let (feet, zmp) = (self.timeline.places(at), self.timeline.zmp(at));
        let heading_error = self.heading_error;
        self.look_ahead(&feet, self.is_at_rest);
        let settings = &self.generator.settings;
        let Ahead { steps, ends, .. } = &self.ahead;
        let is_idle = steps.is_empty() && self.is_at_rest;
        let start = TimelineStart { index: at, feet, zmp, from_rest: self.is_at_rest };
        self.spare.lay(settings, &start, steps, *ends);
        let end = self.spare.end_of_step(at);
        let n =
            if is_idle { settings.samples(IDLE) } else { usize::try_from(end - at).unwrap_or(1) };
        let first = self.samples.len();
        self.generator.plan(&self.spare, n, &mut self.samples)?;
        let step = self.steps + u64::from(!self.ahead.steps.is_empty());
        self.excesses.check(&self.generator.biped.model, &self.samples[first..], step);
        // Only now that it can be walked. The old one is the memory of the next.
        core::mem::swap(&mut self.timeline, &mut self.spare);
        let settings = &self.generator.settings;
        if let Some(step) = self.ahead.steps.first() {
            self.nominal = (end, step.to);
            // Without a sensor a slide is believed to turn the robot as it was calibrated.
            if !self.is_measured {
                self.heading_error += turned_by(step, settings);
            }
        }
        self.state = if is_idle { WalkState::Standing } else { WalkState::Walking };
        self.is_at_rest = self.ahead.steps.is_empty();
        self.steps += u64::from(!self.ahead.steps.is_empty());
        self.route.begin(&self.ahead, &standing(&feet, heading_error, &self.generator));
        Ok(())
    }

    /// Looks at the next steps, from feet that stand so.
    fn look_ahead(&mut self, feet: &[Place; 2], is_at_rest: bool) {
        let most = self.generator.settings.steps_ahead();
        let from = standing(feet, self.heading_error, &self.generator);
        self.route.intent().look_ahead(&from, is_at_rest, most, &mut self.ahead);
    }

    /// Changes the current step, from the next sample on, where the measured ξ requires it.
    fn react(&mut self) {
        // From the next sample on, as the present one is being carried out.
        let index = self.sample().index + 1;
        let refused = core::mem::take(&mut self.refused);
        // A swing that ends within two samples cannot be changed any more: the foot is about to touch.
        let is_late = self.generator.next_index() <= index + 2;
        if is_late || (refused == 0 && index <= self.reacted + 1) {
            return;
        }
        // In the air at both samples: the posture before the change is one of this swing, too.
        let (Some(_), Some(swing)) = (self.timeline.swing(index - 1), self.timeline.swing(index))
        else {
            return;
        };
        let part = PARTS[refused];
        let desired = self.reaction(index, &swing, part);
        if !self.budget.allows(swing.step.side, desired.is_some()) {
            return;
        }
        let Some(reaction) = desired else { return };
        // The reading of the next tick does not show the change yet, so that tick asks for none.
        self.reacted = index;
        if !self.replan(index, swing.step.side, &reaction, part) && refused + 1 < PARTS.len() {
            self.refused = refused + 1;
        }
    }

    /// Adjustment of the swing from a sample on, with a part of the haste and of the distance that are permitted.
    fn reaction(&mut self, index: u64, swing: &Swing, part: f64) -> Option<StepAdjustment> {
        let settings = &self.generator.settings;
        let steps = self.stabilizer.settings.steps;
        let (omega, end) = (self.generator.omega(), self.timeline.end_of_step(index));
        let sample = self.samples.iter().find(|s| s.index == index)?;
        let Support::One(standing) = sample.support else { return None };
        // On stairs the foothold is given by the edges, and a plan that reaches beyond this step cannot be cut here.
        if end != self.generator.next_index() || swing.climb() > FLAT {
            return None;
        }
        // The measured ξ is the planned one plus the filtered error.
        // `ξ = c + ċ/ω`.
        let planned = [0, 1].map(|i| sample.com[i] + sample.com_velocity[i] / omega);
        let dcm = [0, 1].map(|i| planned[i] + self.correction.dcm_error[i]);
        let air = settings.samples(settings.step_time - settings.double_support) as f64;
        // A foot that swings `hurry` times as fast needs at least `fewest` samples for what is left of its swing.
        let hurry = 1.0 + part * (steps.hurry.max(1.0) - 1.0);
        let (gone, _) = swing.progress(index);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few")]
        let fewest = ((1.0 - gone) * air / hurry).ceil() as u64;
        let places = self.timeline.places(index);
        let soles = core::iter::once((standing, sample.soles[standing.index()]));
        self.generator.biped.fit_support(soles, &mut self.stabilizer.polygon);
        let situation = Situation {
            dcm,
            planned,
            goal: self.generator.next_dcm(),
            zmp: sample.zmp_reference,
            sole: &self.stabilizer.polygon,
            rim: self.stabilizer.settings.rim,
            standing: places[standing.index()],
            side: swing.step.side,
            landing: swing.step.to,
            nominal: self.nominal.1,
            reach: steps.reach.unwrap_or_else(|| Reach::from(&settings.limits)),
            samples: [fewest.max(2), end - index, self.nominal.0.saturating_sub(index)],
            // A step goes from behind the standing foot to before it, so twice the longest step in the time in the air.
            speed: 2.0 * hurry * settings.limits.forward / air,
            part,
            period: settings.period,
            omega,
        };
        situation.react(steps.least)
    }

    /// Plans the rest of the step again; false where legs are too short or joints too slow, and the plan stays as it was.
    fn replan(&mut self, index: u64, side: Side, reaction: &StepAdjustment, part: f64) -> bool {
        let change = StepChange {
            side,
            index,
            samples: reaction.samples,
            landing: reaction.landing,
            moved: reaction.moved,
            displacement: Displacement {
                dcm: reaction.displaced,
                com: self.correction.com_error.map(|d| part * d),
                lean: self.correction.lean.map(|angle| part * angle),
                lean_rate: self.correction.lean_rate.map(|rate| part * rate),
            },
            heading_error: self.heading_error,
        };
        let mut plan = Plan {
            generator: &mut self.generator,
            timeline: &mut self.timeline,
            route: &mut self.route,
            samples: &mut self.samples,
        };
        let is_walkable = self.candidate.attempt(&mut plan, &change);
        if is_walkable {
            self.candidate.commit(plan);
            // The filtered error is against the plan: it moves with it, or the reaction would be asked for once more.
            self.stabilizer.move_plan(reaction.displaced);
        }
        is_walkable
    }

    /// Writes the targets between two samples: positions and rates by the cubic through both.
    fn write_targets(&mut self) {
        let (k, u) = self.position();
        let model = &self.generator.biped.model;
        let h = self.generator.settings.period;
        let a = &self.samples[k];
        let b = self.samples.get(k + 1).unwrap_or(a);
        self.increment.resize(model.nv, 0.0);
        let increment = &mut self.increment;
        difference(model, &a.q, &b.q, increment);
        let targets = &mut self.targets;
        let span = if k + 1 < self.samples.len() { h } else { 0.0 };
        for (i, increment) in increment.iter_mut().enumerate() {
            // Cubic Hermite interpolation of the increment from `a`, with both rates scaled to the span.
            let (d, v0, v1) = (*increment, a.v[i] * span, b.v[i] * span);
            let (c2, c3) = (3.0 * d - 2.0 * v0 - v1, v0 + v1 - 2.0 * d);
            *increment = u * (v0 + u * (c2 + u * c3));
            let rate = v0 + u * (2.0 * c2 + u * 3.0 * c3);
            targets.velocity[i] = if span > 0.0 { rate / span } else { 0.0 };
            targets.effort[i] = a.effort[i] + u * (b.effort[i] - a.effort[i]);
        }
        integrate(model, &a.q, increment, 1.0, &mut targets.position);
    }
}

/// State from which steps begin, turned by the heading error. [rad]
fn standing<'a>(
    feet: &'a [Place; 2],
    heading_error: f64,
    generator: &'a Generator,
) -> Standing<'a> {
    let (settings, has_yaw) = (&generator.settings, generator.biped.has_yaw);
    Standing { feet, heading_error, settings, has_yaw }
}
