//! Walking, sample by sample: commands in, joint targets out.
//!
//! A step's motion is planned when the step before it ends, at the start of its double support, and goes on exactly where the
//! last plan ended. The next step is committed then; a command changes those after it, so that a stop takes two steps.

use karakuri_dynamics::{difference, integrate};
use karakuri_model::BodyId;
use serde::Serialize;

use super::generator::{Generator, PlanError, Sample};
use super::route::{Route, Standing, WalkCommand, turned_by};
use super::stabilizer::{Correction, Measured, Stabilizer};
use super::timeline::{Timeline, middle};
use super::{Biped, BipedError, Clip, Place, WalkSettings};

/// Samples planned at once while standing. [s]
const IDLE: f64 = 0.1;

/// What the engine is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WalkState {
    /// Standing on both feet.
    Standing,
    /// Walking, or about to start or stop.
    Walking,
}

/// Targets of the joints' servos. Floating base entries are not used.
#[derive(Debug, Clone, PartialEq)]
pub struct JointTargets {
    /// [rad or m] (nq)
    pub position: Vec<f64>,
    /// [rad/s or m/s] (nv)
    pub velocity: Vec<f64>,
    /// Feed-forward, and what the stabiliser adds. [N·m or N] (nv)
    pub effort: Vec<f64>,
}

/// Walks a robot. Step it with [`Self::advance`].
#[derive(Debug, Clone)]
pub struct WalkEngine {
    generator: Generator,
    stabilizer: Stabilizer,
    timeline: Timeline,
    route: Route,
    /// Samples from `samples[0].index` on.
    samples: Vec<Sample>,
    /// In samples, from the start.
    time: f64,
    state: WalkState,
    /// The last chunk ended with the ZMP between the feet.
    is_at_rest: bool,
    steps: u64,
    /// By how much it heads further left than planned: as measured, or as expected of the slides begun. [rad]
    strayed: f64,
    is_measured: bool,
    failure: Option<PlanError>,
    targets: JointTargets,
    correction: Correction,
}

impl WalkEngine {
    /// Standing with the feet about the origin.
    pub fn new(biped: Biped, settings: WalkSettings) -> Result<Self, BipedError> {
        let generator = Generator::new(biped, settings)?;
        let feet = generator.standing_feet();
        let settings = &generator.settings;
        let zmp = middle(settings, &feet);
        let timeline = Timeline::new(settings, (0, feet, zmp), &[], (true, true));
        let model = &generator.biped.model;
        let targets = JointTargets {
            position: generator.biped.posture.clone(),
            velocity: vec![0.0; model.nv],
            effort: vec![0.0; model.nv],
        };
        let stabilizer = Stabilizer::new(&generator.biped, settings, generator.omega());
        let mut engine = Self {
            stabilizer,
            timeline,
            route: Route::new(),
            samples: Vec::new(),
            time: 0.0,
            state: WalkState::Standing,
            is_at_rest: true,
            steps: 0,
            strayed: 0.0,
            is_measured: false,
            failure: None,
            targets,
            correction: Correction::default(),
            generator,
        };
        engine.extend();
        if let Some(error) = engine.failure {
            return Err(BipedError::Posture(error));
        }
        engine.write_targets();
        Ok(engine)
    }

    /// From the step after the next one on.
    pub fn command(&mut self, command: WalkCommand) {
        self.failure = None;
        let feet = self.feet();
        self.route.command(command, &standing(&feet, self.strayed, &self.generator));
    }

    /// Where the feet will be when the step under way has ended.
    pub fn feet(&self) -> [Place; 2] {
        self.timeline.places(self.generator.next_index())
    }

    /// Where the robot faces: as measured, or as expected of the steps begun. [rad]
    pub fn heading(&self) -> f64 {
        self.timeline.trunk(self.sample().index).0 + self.strayed
    }

    /// The planned instant, that which comes next.
    pub fn sample(&self) -> &Sample {
        &self.samples[self.position().0]
    }

    /// The robot and its gait.
    pub fn generator(&self) -> &Generator {
        &self.generator
    }

    /// Standing or walking.
    pub fn state(&self) -> WalkState {
        self.state
    }

    /// Steps begun.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What was cut from the steps since this was last asked.
    pub fn take_clips(&mut self) -> Vec<Clip> {
        self.route.take_clips()
    }

    /// Why the last command could not be followed; the robot stands.
    pub fn failure(&self) -> Option<PlanError> {
        self.failure
    }

    /// Targets of the joints now.
    pub fn targets(&self) -> &JointTargets {
        &self.targets
    }

    /// The joint furthest from its target now, and by how much. [rad or m]
    pub fn furthest_joint(&self, q: &[f64]) -> (BodyId, f64) {
        let joints = self.generator.biped.model.joints.iter().enumerate();
        let off = joints
            .filter(|(_, joint)| joint.kind.nv() == 1)
            .map(|(i, joint)| (BodyId(i), q[joint.q_start] - self.targets.position[joint.q_start]));
        off.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).unwrap_or((BodyId(0), 0.0))
    }

    /// What the stabiliser does now.
    pub fn correction(&self) -> &Correction {
        &self.correction
    }

    /// The stabiliser, whose gains are live.
    pub fn stabilizer_mut(&mut self) -> &mut Stabilizer {
        &mut self.stabilizer
    }

    /// Goes on by `dt` [s]; with measurements, the stabiliser works.
    pub fn advance(&mut self, dt: f64, measured: Option<&Measured<'_>>) -> &JointTargets {
        self.time += dt / self.generator.settings.period;
        self.extend();
        self.write_targets();
        self.is_measured = measured.is_some();
        if let Some(measured) = measured {
            let (k, _) = self.position();
            let sample = &self.samples[k];
            self.correction = self.stabilizer.correct(&self.generator.biped, sample, measured, dt);
            self.strayed = self.correction.heading - self.timeline.trunk(sample.index).0;
            for (effort, more) in self.targets.effort.iter_mut().zip(&self.correction.effort) {
                *effort += more;
            }
        }
        &self.targets
    }

    /// Index into `samples`, and how far on to the next one.
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
            let last = self.samples.pop();
            self.samples.clear();
            self.samples.extend(last);
            if let Err(error) = self.plan_next() {
                self.failure = Some(error);
                self.route.give_up();
                if self.plan_next().is_err() {
                    self.hold();
                }
            }
        }
    }

    /// Nothing can be planned: the last sample goes on for ever.
    fn hold(&mut self) {
        self.state = WalkState::Standing;
        if let Some(last) = self.samples.last().cloned() {
            self.time = last.index as f64;
            self.samples.push(Sample { index: last.index + 1, ..last });
        }
    }

    fn plan_next(&mut self) -> Result<(), PlanError> {
        let at = self.generator.next_index();
        let (feet, zmp) = (self.timeline.places(at), self.timeline.zmp(at));
        let settings = &self.generator.settings;
        // Every pass looks ahead, and the last step seen must not be felt.
        let seen = settings.samples(settings.preview_time) * (1 + settings.passes);
        let most = 2 + seen / settings.samples(settings.step_time);
        let strayed = self.strayed;
        let from = standing(&feet, strayed, &self.generator);
        let ahead = self.route.ahead(&from, (self.is_at_rest, most));
        let is_idle = ahead.steps.is_empty() && self.is_at_rest;
        let timeline =
            Timeline::new(settings, (at, feet, zmp), &ahead.steps, (self.is_at_rest, ahead.ends));
        let n = if is_idle {
            settings.samples(IDLE)
        } else {
            usize::try_from(timeline.end_of_step(at) - at).unwrap_or(1)
        };
        let samples = self.generator.plan(&timeline, n)?;
        self.timeline = timeline;
        self.samples.extend(samples);
        let settings = &self.generator.settings;
        if let Some(step) = ahead.steps.first()
            && !self.is_measured
        {
            self.strayed += turned_by(step, settings);
        }
        self.state = if is_idle { WalkState::Standing } else { WalkState::Walking };
        self.is_at_rest = ahead.steps.is_empty();
        self.steps += u64::from(!ahead.steps.is_empty());
        self.route.begin(ahead, &standing(&feet, strayed, &self.generator));
        Ok(())
    }

    /// Between two samples: positions and rates by the cubic through both.
    fn write_targets(&mut self) {
        let (k, u) = self.position();
        let model = &self.generator.biped.model;
        let h = self.generator.settings.period;
        let a = &self.samples[k];
        let b = self.samples.get(k + 1).unwrap_or(a);
        let mut way = vec![0.0; model.nv];
        difference(model, &a.q, &b.q, &mut way);
        let targets = &mut self.targets;
        let span = if k + 1 < self.samples.len() { h } else { 0.0 };
        for (i, way) in way.iter_mut().enumerate() {
            let (d, v0, v1) = (*way, a.v[i] * span, b.v[i] * span);
            let (c2, c3) = (3.0 * d - 2.0 * v0 - v1, v0 + v1 - 2.0 * d);
            *way = u * (v0 + u * (c2 + u * c3));
            let rate = v0 + u * (2.0 * c2 + u * 3.0 * c3);
            targets.velocity[i] = if span > 0.0 { rate / span } else { 0.0 };
            targets.effort[i] = a.effort[i] + u * (b.effort[i] - a.effort[i]);
        }
        integrate(model, &a.q, &way, 1.0, &mut targets.position);
    }
}

/// Where steps begin; strayed by so much. [rad]
fn standing<'a>(feet: &'a [Place; 2], strayed: f64, generator: &'a Generator) -> Standing<'a> {
    let (settings, has_yaw) = (&generator.settings, generator.biped.has_yaw);
    Standing { feet, strayed, settings, has_yaw }
}
