//! The rest of a step planned again, beside the plan in force.
//!
//! A candidate goes on from the plan's state before one of its samples, changed to what was measured, to another landing of the
//! swinging foot. All that it plans is its own: where legs are too short or joints too slow for it, it is dropped and nothing has
//! to be undone; a candidate that can be walked is committed and replaces the rest of the plan.

use super::error::PlanError;
use super::generator::{Displacement, Generator};
use super::place::Place;
use super::plan_state::PlanState;
use super::route::{Ahead, Intent, Route, Standing};
use super::sample::Samples;
use super::side::Side;
use super::timeline::{SwingChange, Timeline};

/// Samples after a change whose joint speeds are not checked: the plan catches up with what was measured.
const CATCHING_UP: usize = 3;

/// Change of the current step's end.
#[derive(Debug)]
pub(super) struct StepChange {
    /// The foot that swings.
    pub(super) side: Side,
    /// First sample that is planned again.
    pub(super) index: u64,
    /// Samples from there until the foot lands.
    pub(super) samples: u64,
    /// Place where the foot lands.
    pub(super) landing: Place,
    /// Shift of the landing place, in the world. [m] (2)
    pub(super) moved: [f64; 2],
    /// Measured state against the plan's at `index`.
    pub(super) displacement: Displacement,
    /// Measured heading less the planned one, positive to the left. [rad]
    pub(super) heading_error: f64,
}

/// The plan in force.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) generator: &'a mut Generator,
    pub(super) timeline: &'a mut Timeline,
    pub(super) route: &'a mut Route,
    pub(super) samples: &'a mut Samples,
}

/// A plan of the rest of a step, tried beside the plan in force; its memory is used again.
#[derive(Debug, Clone, Default)]
pub(super) struct Candidate {
    state: PlanState,
    timeline: Timeline,
    intent: Intent,
    samples: Samples,
    ahead: Ahead,
}

impl Candidate {
    /// Plans the rest of a changed step; true if legs reach and joints are fast enough. The plan in force stays as it is.
    pub(super) fn attempt(&mut self, plan: &mut Plan<'_>, change: &StepChange) -> bool {
        let planned = self.plan(plan, change);
        planned.is_ok() && plan.generator.is_slow_enough(&self.samples, CATCHING_UP)
    }

    fn plan(&mut self, plan: &mut Plan<'_>, change: &StepChange) -> Result<(), PlanError> {
        let Plan { generator, timeline, route, .. } = plan;
        let StepChange { index, landing, samples, .. } = *change;
        generator.branch(&mut self.state, index);
        // Against the old timeline, whose sample before the change is the posture that the extrapolation starts from.
        generator.displace(&mut self.state, timeline, &change.displacement);
        // The shift in the heading of the landing foot, along which later steps move.
        let (sin, cos) = landing.yaw.sin_cos();
        let [x, y] = change.moved;
        // Later steps keep their places against this one: a walker that was pushed aside goes on beside its old path.
        self.intent.clone_from(route.intent());
        self.intent.shift(&landing, [cos * x + sin * y, cos * y - sin * x]);
        let mut feet = timeline.places(index);
        feet[change.side.index()] = landing;
        let settings = &generator.settings;
        let (heading_error, has_yaw) = (change.heading_error, generator.biped.has_yaw);
        let standing = Standing { feet: &feet, heading_error, settings, has_yaw };
        let most = settings.steps_ahead();
        self.intent.look_ahead(&standing, false, most, &mut self.ahead);
        let change = SwingChange { index, end: index + samples, to: landing };
        let Ahead { steps, ends, .. } = &self.ahead;
        self.timeline.lay_changed(settings, timeline, &change, steps, *ends);
        self.samples.truncate(0);
        let n = usize::try_from(samples).unwrap_or(1);
        generator.plan_from(&mut self.state, &self.timeline, n, &mut self.samples)
    }

    /// Replaces the rest of the plan from the first sample of the last attempt on.
    pub(super) fn commit(&mut self, plan: Plan<'_>) {
        let Plan { generator, timeline, route, samples } = plan;
        generator.adopt(&self.state);
        core::mem::swap(timeline, &mut self.timeline);
        route.follow(&self.intent);
        samples.replace_end(&self.samples);
    }
}
