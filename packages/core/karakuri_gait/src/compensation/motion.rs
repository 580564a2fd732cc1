//! A solved motion of one step: unknown angles as curves, everything else from the gait.

use super::march::runge_kutta;
use super::{
    Arms, BodyData, Curve, Equation, Jet, Posture, Reaction, STEPS_A_STEP, State, SteadyGait,
};

/// A solved motion of one step.
///
/// The curves join values, rates and accelerations at each Runge-Kutta step with polynomials of degree 5.
#[derive(Debug, Clone)]
pub struct GaitMotion {
    /// Unknown angles `θ, φ, ψL, ψR` over time. [rad] (4)
    angles: [Curve; 4],
    gait: SteadyGait,
    arms: Arms,
}

/// A motion at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MotionSample {
    /// Time of the step. [s]
    pub time: f64,
    /// All angles, rates and accelerations.
    pub posture: Posture,
    /// Reaction of the floor.
    pub reaction: Reaction,
    /// Prescribed ZMP. [m] (2)
    pub zmp: [f64; 2],
}

impl GaitMotion {
    /// Motion from the 31 states at the grid points; `None` where the equation has no solution.
    pub fn new(e: &Equation<'_>, states: &[State], substeps: usize) -> Option<Self> {
        let h = SteadyGait::DURATION / (STEPS_A_STEP * substeps) as f64;
        let (mut times, mut jets) = (Vec::new(), [const { Vec::<Jet>::new() }; 4]);
        let mut keep = |t: f64, s: &State| -> Option<()> {
            // From the equation and not by differences of rates: the curve's accelerations are exact at its knots, and the ZMP with them.
            let a = e.accelerations(t, s)?;
            times.push(t);
            for (i, jets) in jets.iter_mut().enumerate() {
                jets.push(Jet::new(s[i], s[i + 4], a[i]));
            }
            Some(())
        };
        for (i, start) in states.iter().take(STEPS_A_STEP).enumerate() {
            // Each interval from its own state of the shooting: errors do not grow from one to the next.
            let mut s = *start;
            for k in 0..substeps {
                let t = (i * substeps + k) as f64 * h;
                keep(t, &s)?;
                s = runge_kutta(e, t, &s, h)?;
            }
        }
        // The end is the mirrored start and not where the last interval led, so that steps join exactly.
        keep(SteadyGait::DURATION, states.last()?)?;
        let [a, b, c, d] = jets.map(|jets| Curve::through_jets(&times, &jets).ok());
        Some(Self { angles: [a?, b?, c?, d?], gait: e.gait.clone(), arms: e.arms })
    }

    /// All angles at a time of the step [s].
    pub fn posture(&self, t: f64) -> Posture {
        let [sway, pitch, left, right] = [0, 1, 2, 3].map(|i| self.angles[i].at(t));
        Posture {
            sway,
            pitch,
            thigh: self.gait.thigh(t),
            shank: self.gait.shank(t),
            arm: match self.arms {
                Arms::Fixed => [pitch; 2],
                Arms::Active => self.gait.arm(t),
                Arms::Passive => [left, right],
            },
            foot: self.gait.foot(t),
            elbow: self.gait.elbow,
        }
    }

    /// Posture, reaction and ZMP at a time of the step [s].
    pub fn sample(&self, body: &BodyData, t: f64) -> MotionSample {
        let posture = self.posture(t);
        let reaction = Reaction::of(body, &posture);
        MotionSample { time: t, posture, reaction, zmp: self.gait.zmp(t) }
    }

    /// Samples at the study's 31 grid points.
    pub fn samples(&self, body: &BodyData) -> Vec<MotionSample> {
        let h = SteadyGait::DURATION / STEPS_A_STEP as f64;
        (0..=STEPS_A_STEP).map(|i| self.sample(body, i as f64 * h)).collect()
    }
}
