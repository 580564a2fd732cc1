//! One step forward in time as the study does it: three Runge-Kutta steps, then Adams-Bashforth-Moulton.
//!
//! 30 intervals of 1/30 s. Predictor of order 4, corrector of order 5, one correction, then the derivative is
//! evaluated again. [Kume 1991]; coefficients as in [Hairer 1993, §III.1].

use super::{Equation, State, SteadyGait};

/// Intervals of a step.
pub const STEPS_A_STEP: usize = 30;

/// Motion of one step, from its start on.
#[derive(Debug, Clone, PartialEq)]
pub struct March {
    /// States at the ends of the intervals, such as `t = 0, 1/30, ... 1` s. (31)
    pub states: Vec<State>,
}

/// The angles grew abnormally.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("the angles grow abnormally at {time} s; start nearer to the periodic motion")]
pub struct MarchError {
    /// Time of the step. [s]
    pub time: f64,
}

impl March {
    /// The last state, at the end of the step.
    pub fn end(&self) -> State {
        self.states[self.states.len() - 1]
    }
}

/// One classical Runge-Kutta step; `None` where the equation has no solution.
pub(super) fn runge_kutta(e: &Equation<'_>, t: f64, s: &State, h: f64) -> Option<State> {
    // The classical method of order 4 [Hairer 1993, §II.1].
    let k1 = e.derivative(t, s)?;
    let k2 = e.derivative(t + h / 2.0, &(s + k1 * (h / 2.0)))?;
    let k3 = e.derivative(t + h / 2.0, &(s + k2 * (h / 2.0)))?;
    let k4 = e.derivative(t + h, &(s + k3 * h))?;
    Some(s + (k1 + (k2 + k3) * 2.0 + k4) * (h / 6.0))
}

/// Marches through one step, as the study does.
///
/// # Errors
/// When the equations have no solution at some instant, or a state is not finite.
pub fn march(e: &Equation<'_>, start: &State) -> Result<March, MarchError> {
    march_in(e, start, STEPS_A_STEP)
}

/// Marches through one step in any number of intervals.
///
/// # Errors
/// As [`march`].
pub fn march_in(e: &Equation<'_>, start: &State, intervals: usize) -> Result<March, MarchError> {
    let h = SteadyGait::DURATION / intervals as f64;
    let mut states = vec![*start];
    let mut rates: Vec<State> = Vec::with_capacity(intervals + 1);
    for n in 0..intervals {
        let t = n as f64 * h;
        let abnormal = MarchError { time: t };
        let s = states[n];
        // Later rates come from the corrector's last evaluation.
        if n < 4 {
            rates.push(e.derivative(t, &s).ok_or(abnormal)?);
        }
        let next = if n < 3 {
            runge_kutta(e, t, &s, h).ok_or(abnormal)?
        } else {
            // Adams-Bashforth predicts with four rates; Adams-Moulton corrects with the rate at the prediction and the same four.
            let [f3, f2, f1, f] = [rates[n - 3], rates[n - 2], rates[n - 1], rates[n]];
            // Adams-Bashforth of order 4.
            let predicted = s + (f * 55.0 - f1 * 59.0 + f2 * 37.0 - f3 * 9.0) * (h / 24.0);
            let ahead = e.derivative(t + h, &predicted).ok_or(abnormal)?;
            // Adams-Moulton of order 5.
            let sum = ahead * 251.0 + f * 646.0 - f1 * 264.0 + f2 * 106.0 - f3 * 19.0;
            let corrected = s + sum * (h / 720.0);
            // PECE: the rate at the corrected state enters the steps to come, not that at the prediction. [Hairer 1993, §III.1]
            rates.push(e.derivative(t + h, &corrected).ok_or(abnormal)?);
            corrected
        };
        states.push(next);
    }
    Ok(March { states })
}
