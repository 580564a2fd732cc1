//! Forces that links exert on their surroundings, with force feedback.
//!
//! The wrench that enters the inverse dynamics is `F = F_E + K_F (F_E − F_S)` [Isobe 2003, eq. 8], the second term through
//! a low-pass filter. Force and moment are fed back along what is asked for alone: what the surroundings do across it,
//! such as friction, is left to the position. A target that is not repeated fades to nothing; a reading that is not
//! repeated is not fed back.
//! Units: N·m, N, s; wrenches at the link's origin.

use karakuri_model::{BodyId, FrameId};
use karakuri_spatial::{Force, Matrix3, Time, Vector3};

/// Settings of exerted forces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ForceSettings {
    /// `K_F`; 0 is no feedback. [-]
    pub gain: f64,
    /// Time constant of the feedback's filter. [s]
    pub time_constant: f64,
    /// Silence after which a target fades, over as long again. [s]
    pub timeout: f64,
}

impl Default for ForceSettings {
    fn default() -> Self {
        // The time-out is ten time constants of the filter, so that the correction follows a target that fades.
        Self { gain: 0.0, time_constant: 0.02, timeout: 0.2 }
    }
}

/// Axes in which a wrench is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Axes {
    /// The axes of the link.
    #[default]
    Link,
    /// The axes of the world.
    World,
}

/// The wrench that a link exerts on its surroundings, at its origin.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TargetWrench {
    /// Wrench at the link's origin. [N·m; N]
    pub wrench: Force,
    /// Axes of the wrench.
    pub axes: Axes,
}

/// A link that exerts forces.
#[derive(Debug, Clone)]
pub(super) struct ForcePoint {
    frame: FrameId,
    body: BodyId,
    target: Option<(TargetWrench, Time)>,
    /// Wrench of the surroundings on the link, in its axes.
    measured: Option<(Force, Time)>,
    /// `K_F (F_E − F_S)`, filtered, in world axes.
    correction: Force,
}

impl ForcePoint {
    pub(super) fn new(frame: FrameId, body: BodyId) -> Self {
        Self { frame, body, target: None, measured: None, correction: Force::default() }
    }

    pub(super) fn frame(&self) -> FrameId {
        self.frame
    }

    pub(super) fn body(&self) -> BodyId {
        self.body
    }

    pub(super) fn set_target(&mut self, target: TargetWrench, now: Time) {
        self.target = Some((target, now));
    }

    pub(super) fn set_measured(&mut self, wrench: Force, now: Time) {
        self.measured = Some((wrench, now));
    }

    /// Stops exerting a force.
    pub(super) fn release(&mut self) {
        (self.target, self.measured, self.correction) = (None, None, Force::default());
    }

    pub(super) fn is_idle(&self) -> bool {
        self.target.is_none()
    }

    /// Wrench to exert in the period that starts at `now` and lasts `dt` [s], in world axes.
    pub(super) fn wrench(
        &mut self,
        settings: &ForceSettings,
        R_WL: &Matrix3,
        now: Time,
        dt: f64,
    ) -> Force {
        let Some((target, since)) = self.target else { return Force::default() };
        // By the target's own age: the controller runs on when its commander does not.
        let fresh = freshness(now.seconds_since(since), settings.timeout);
        if fresh == 0.0 {
            // The filter is emptied too, or the next target would begin with the correction of this one.
            self.release();
            return Force::default();
        }
        let desired = match target.axes {
            Axes::World => target.wrench * fresh,
            Axes::Link => turned(R_WL, &target.wrench) * fresh,
        };
        // A reading that ages would be compared with a target that goes on: all of it counts, or nothing.
        let is_new = |since: Time| freshness(now.seconds_since(since), settings.timeout) >= 1.0;
        let mut correction = Force::default();
        if let Some((measured, _)) = self.measured.filter(|(_, since)| is_new(*since)) {
            // F_E − F_S, where the link exerts F_S, the opposite of the wrench that is measured on it.
            let error = desired + turned(R_WL, &measured);
            let moment = along(&desired.moment, &error.moment);
            correction = Force::new(moment, along(&desired.force, &error.force)) * settings.gain;
        }
        // One implicit Euler step of the first-order low-pass filter.
        self.correction += (correction - self.correction) * (dt / (settings.time_constant + dt));
        desired + self.correction
    }
}

/// Weight of a value by its age: 1 up to the time-out, then down to 0 over as long again; 0 if the clock jumped back. [s]
fn freshness(age: f64, timeout: f64) -> f64 {
    // A fade, not a cut: an arm that loses its commander eases off what it presses on.
    if age < 0.0 { 0.0 } else { (2.0 - age / timeout).clamp(0.0, 1.0) }
}

fn turned(R_WL: &Matrix3, F_L: &Force) -> Force {
    Force::new(R_WL * F_L.moment, R_WL * F_L.force)
}

/// The part of `error` along `direction`.
fn along(direction: &Vector3, error: &Vector3) -> Vector3 {
    // Where nothing is asked for, nothing is fed back: without a direction the whole error would be.
    let n = direction.try_normalize(1e-12).unwrap_or_default();
    n * n.dot(error)
}
