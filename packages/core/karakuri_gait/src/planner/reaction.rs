//! Step adjustment: the next footstep, in place and time, compensates what the ankles cannot.
//!
//! The divergent component grows from `ξ` to `ξ_T = p + e^{ωt} (ξ − p)` until the swinging foot lands after `t`, the ZMP staying
//! at `p` in the standing sole. The plan needs it at `ξ_goal` then. Of all times left that the foot can keep, and with the best
//! `p` of the sole for each, the error `e = ξ_T − ξ_goal` is taken by landing `d = e` further, as far as the leg can go; what
//! remains, `e − d`, weighs most, then `d`, then the time saved. [Khadiv 2016], [Englsberger 2015]
//!
//! The plan goes on as though it had known: its divergent component is moved to `p_ref + e^{−ωt} (ξ_goal + d − p_ref)`, and all
//! that it plans after landing moves by `d`.

use super::dcm::zmp_to_reach;
use super::place::Place;
use super::settings::Reach;
use super::side::Side;
use crate::geometry::ConvexPolygon;

/// Weight of the remaining error against the distance that the landing place moves. [-]
// A millimetre that remains counts as 3.2 mm of another foothold: √10.
const REMAINS: f64 = 10.0;
/// Weight of the time saved, as the distance that the divergent component covers in it. [-]
// Time that is saved counts by 0.32, √0.1, of the distance that ξ covers in it.
const HASTE: f64 = 0.1;

/// Successive steps that may be adjusted. A push is over by then; what still asks for more is not one, but late commands or a
/// wrong model, which adjusted steps only stir up.
const IN_A_ROW: usize = 4;

/// Number of successive steps that were adjusted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AdjustmentBudget {
    side: Option<Side>,
    /// Whether an adjustment was asked for in the step of that side, and the number of such steps in a row.
    is_asked: bool,
    in_a_row: usize,
}

impl AdjustmentBudget {
    /// Whether the step of this side may still be adjusted, if that is asked for.
    pub(super) fn allows(&mut self, side: Side, is_asked: bool) -> bool {
        // A new side is a new step: the row goes on only if the step before asked as well.
        if self.side != Some(side) {
            self.in_a_row = if self.is_asked { self.in_a_row } else { 0 };
            (self.side, self.is_asked) = (Some(side), false);
        }
        if is_asked && !self.is_asked {
            self.is_asked = true;
            self.in_a_row += 1;
        }
        self.in_a_row <= IN_A_ROW
    }
}

/// State of a swing in which a step may be adjusted.
#[derive(Debug)]
pub(super) struct Situation<'a> {
    /// ξ: measured, by the plan now, and by the plan when the foot lands. [m] (2)
    pub(super) dcm: [f64; 2],
    pub(super) planned: [f64; 2],
    pub(super) goal: [f64; 2],
    /// ZMP of the plan. [m] (2)
    pub(super) zmp: [f64; 2],
    /// The standing sole, and the rim that the ZMP is kept out of. [m]
    pub(super) sole: &'a ConvexPolygon,
    pub(super) rim: f64,
    pub(super) standing: Place,
    /// Foot that swings, and its landing place: by the plan now, and by the first plan.
    pub(super) side: Side,
    pub(super) landing: Place,
    pub(super) nominal: Place,
    pub(super) reach: Reach,
    /// Samples until it lands: fewest, by the plan now, and by the first plan.
    pub(super) samples: [u64; 3],
    /// Greatest distance that the foot can go aside in a sample. [m]
    pub(super) speed: f64,
    /// Part of the adjustment that is tried. [-]
    pub(super) part: f64,
    pub(super) period: f64,
    pub(super) omega: f64,
}

/// Adjustment of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StepAdjustment {
    /// Samples until the foot lands.
    pub(super) samples: u64,
    pub(super) landing: Place,
    /// Shift of the landing place. [m] (2)
    pub(super) moved: [f64; 2],
    /// Shift of the plan's ξ now. [m] (2)
    pub(super) displaced: [f64; 2],
}

impl Situation<'_> {
    /// Best of all adjustments, where it betters the cost by more than the square of `least`. [m]
    pub(super) fn react(&self, least: f64) -> Option<StepAdjustment> {
        let [fewest, now, _] = self.samples;
        // Later landings are never tried: ξ only grows in the meantime.
        let all = (fewest.min(now)..=now).map(|samples| self.reaction(samples));
        let (best, cost) = all.min_by(|a, b| a.1.total_cmp(&b.1))?;
        // A cost is a squared distance; without the threshold noise would move each footstep a little.
        let is_worth_it = self.cost_of_staying() - cost > least * least;
        is_worth_it.then_some(best)
    }

    /// Error `e = ξ_T − ξ_goal` when the foot lands after so many samples, with the best ZMP of the sole. [m] (2)
    fn error(&self, samples: u64) -> [f64; 2] {
        let time = samples as f64 * self.period;
        let growth = (self.omega * time).exp();
        let best = [0, 1].map(|i| zmp_to_reach(self.dcm[i], self.goal[i], time, self.omega));
        let zmp = self.sole.nearest(best, self.rim);
        [0, 1].map(|i| zmp[i] + growth * (self.dcm[i] - zmp[i]) - self.goal[i])
    }

    /// Adjustment that lands after so many samples, and its cost. [m²]
    fn reaction(&self, samples: u64) -> (StepAdjustment, f64) {
        let error = self.error(samples);
        let landing = self.reachable(error, samples);
        let moved = [0, 1].map(|i| landing.position[i] - self.landing.position[i]);
        let decay = (-self.omega * self.period * samples as f64).exp();
        // The divergent component that reaches the moved goal when the foot lands, against the plan's.
        let displaced = [0, 1].map(|i| {
            let desired = self.zmp[i] + decay * (self.goal[i] + moved[i] - self.zmp[i]);
            desired - self.planned[i]
        });
        let saved = self.samples[2].saturating_sub(samples) as f64 * self.period;
        // `ξ̇ = ω (ξ − p)` turns a time into a distance, which compares with the others.
        let pace = self.omega * distance(self.goal, self.zmp);
        // What remains of the error weighs most, then the distance from the first plan's landing, then the time saved.
        let cost = REMAINS * square([0, 1].map(|i| error[i] - moved[i]))
            + square([0, 1].map(|i| landing.position[i] - self.nominal.position[i]))
            + HASTE * (pace * saved).powi(2);
        (StepAdjustment { samples, landing, moved, displaced }, cost)
    }

    /// Cost of going on as planned. [m²]
    fn cost_of_staying(&self) -> f64 {
        let [_, now, first] = self.samples;
        let saved = first.saturating_sub(now) as f64 * self.period;
        let pace = self.omega * distance(self.goal, self.zmp);
        let away = [0, 1].map(|i| self.landing.position[i] - self.nominal.position[i]);
        REMAINS * square(self.error(now)) + square(away) + HASTE * (pace * saved).powi(2)
    }

    /// Landing place moved by `by` [m] (2), as far as leg and time allow.
    fn reachable(&self, by: [f64; 2], samples: u64) -> Place {
        let (sin, cos) = self.standing.yaw.sin_cos();
        let ahead = |[x, y]: [f64; 2]| [cos * x + sin * y, self.side.sign() * (cos * y - sin * x)];
        let [x, y] = ahead([0, 1].map(|i| self.landing.position[i] - self.standing.position[i]));
        // The shift is shortened to what the foot covers in the time left, then clamped to the reach of the leg.
        // One factor for both axes: the foot goes less far, but still where the walker falls.
        let short = (self.speed * samples as f64 / square(by).sqrt().max(1e-9)).min(self.part);
        let [dx, dy] = ahead(by.map(|d| short * d));
        // A place that the plan may have is in reach here too.
        let Reach { forward, backward, width: [narrow, wide] } = self.reach;
        // The bounds include the planned place, or a clamp alone would move a foot that is to stay.
        let dx = (x + dx).clamp(x.min(-backward), x.max(forward)) - x;
        let dy = self.side.sign() * ((y + dy).clamp(y.min(narrow), y.max(wide)) - y);
        let [x, y, z] = self.landing.position;
        let (dx, dy) = (cos * dx - sin * dy, sin * dx + cos * dy);
        let position = [x + dx, y + dy, z + self.landing.rise(dx, dy)];
        Place { position, ..self.landing }
    }
}

fn square([x, y]: [f64; 2]) -> f64 {
    x * x + y * y
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    square([a[0] - b[0], a[1] - b[1]]).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget_ends_after_a_few_steps_and_comes_back_after_a_quiet_one() {
        let mut budget = AdjustmentBudget::default();
        let sides = [Side::Left, Side::Right];
        let mut ask = |k: usize, is_asked| budget.allows(sides[k % 2], is_asked);
        assert!((0..IN_A_ROW).all(|k| ask(k, true) && ask(k, true)));
        assert!((IN_A_ROW..10).all(|k| !ask(k, true)));
        assert!(!ask(10, false) && ask(11, false) && ask(12, true));
    }

    const OMEGA: f64 = 7.6;

    /// The right foot swings for 0.3 s more, 46 mm beside the left one; `ahead` of the plan. [m] (2)
    fn situation(sole: &ConvexPolygon, ahead: [f64; 2]) -> Situation<'_> {
        let landing = Place::level([0.04, -0.046, 0.0], 0.0);
        let planned = [0.004, -0.002];
        let growth = (OMEGA * 0.3).exp();
        Situation {
            dcm: [planned[0] + ahead[0], planned[1] + ahead[1]],
            planned,
            goal: planned.map(|x| growth * x),
            zmp: [0.0; 2],
            sole,
            rim: 0.005,
            standing: Place::default(),
            side: Side::Right,
            landing,
            nominal: landing,
            reach: Reach { forward: 0.06, backward: 0.05, width: [0.044, 0.1] },
            samples: [15, 30, 30],
            speed: 0.01,
            part: 1.0,
            period: 0.01,
            omega: OMEGA,
        }
    }

    fn sole() -> ConvexPolygon {
        ConvexPolygon::hull(&[[-0.04, -0.02], [0.06, -0.02], [0.06, 0.02], [-0.04, 0.02]])
    }

    #[test]
    fn what_the_ankles_hold_moves_no_foot() {
        let sole = sole();
        for ahead in [[0.0, 0.0], [0.03, 0.0], [-0.02, 0.01], [0.0, -0.01]] {
            assert_eq!(situation(&sole, ahead).react(0.006), None, "{ahead:?}");
        }
    }

    #[test]
    fn the_foot_goes_where_the_walker_falls() {
        let sole = sole();
        let outward = situation(&sole, [0.0, -0.03]).react(0.006).unwrap();
        assert!(outward.moved[1] < -0.02 && outward.landing.position[1] >= -0.1 - 1e-12);
        // Over the standing foot it cannot go: it lands sooner.
        let inward = situation(&sole, [0.0, 0.03]).react(0.006).unwrap();
        assert!(inward.moved[1] <= 0.002 + 1e-12 && inward.samples < 30, "{inward:?}");
    }

    /// Without an error left, the plan's new ξ arrives at the goal moved by as much as the foot.
    #[test]
    fn the_plan_goes_on_as_though_it_had_known() {
        let sole = sole();
        let situation = situation(&sole, [0.0, -0.019]);
        let reaction = situation.react(0.006).unwrap();
        let growth = (OMEGA * 0.01 * reaction.samples as f64).exp();
        for i in 0..2 {
            let start = situation.planned[i] + reaction.displaced[i];
            let end = situation.zmp[i] + growth * (start - situation.zmp[i]);
            assert!((end - situation.goal[i] - reaction.moved[i]).abs() < 1e-12, "{reaction:?}");
        }
    }
}
