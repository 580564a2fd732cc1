//! A motor of a robot in the world: its law, linearised where the step ends. [`crate::constraint::motor`] has the scheme.

use karakuri_model::{Model, Motor, MotorCommand, MotorState};

/// Most rounds of the scalar problem for the rate at the step's end.
// 80 halvings go beyond the digits of a double; Newton's method mostly ends sooner.
const ROUNDS: usize = 80;

/// State of a motor after the last step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MotorReport {
    /// Mean effort in the last step. [N·m or N]
    pub effort: f64,
    /// Effort that is missing to the law's at the step's end. [N·m or N]
    pub mismatch: f64,
    /// Whether it gave its largest effort.
    pub saturated: bool,
}

/// A motor of a robot in the world.
#[derive(Debug, Clone)]
pub(crate) struct MotorUnit {
    pub(crate) motor: Motor,
    pub(crate) dof: usize,
    pub(crate) position: usize,
    pub(crate) command: MotorCommand,
    pub(crate) enabled: bool,
    pub(crate) memory: f64,
    /// Effort `b` and slope `g` of the linearised law in the step in progress.
    pub(crate) constant: f64,
    pub(crate) gain: f64,
    /// Whether the law pushes on: its position is that of the step's start.
    pub(crate) pushes: bool,
    pub(crate) saturated: bool,
    pub(crate) impulse: f64,
    pub(crate) report: MotorReport,
}

impl MotorUnit {
    pub(crate) fn new(model: &Model, motor: Motor) -> Self {
        let joint = &model.joints[motor.joint.0];
        Self {
            dof: joint.v_start,
            position: joint.q_start,
            command: motor.command,
            enabled: true,
            memory: 0.0,
            constant: 0.0,
            gain: 0.0,
            pushes: false,
            saturated: false,
            impulse: 0.0,
            report: MotorReport::default(),
            motor,
        }
    }

    pub(crate) fn all(model: &Model) -> Vec<Self> {
        model.motors.iter().map(|motor| Self::new(model, motor.clone())).collect()
    }

    pub(crate) fn is_on(&self) -> bool {
        self.enabled
    }

    /// Puts the motor at rest in a new place.
    pub(crate) fn forget(&mut self) {
        (self.memory, self.impulse, self.saturated) = (0.0, 0.0, false);
        self.report = MotorReport::default();
    }

    /// `h b` and `h g` of the motor while it is in the operator.
    pub(crate) fn inner(&self, h: f64) -> (f64, f64) {
        if self.enabled && !self.saturated {
            (h * self.constant, h * self.gain)
        } else {
            (0.0, 0.0)
        }
    }

    pub(crate) fn state(&self, q: f64, v: f64, h: f64) -> MotorState {
        MotorState { position: q, velocity: v, command: self.command, memory: self.memory, dt: h }
    }

    /// The law's effort and gain where a step from `q` ends with the rate `v`.
    fn respond(&self, q: f64, v: f64, h: f64) -> (f64, f64) {
        // The slopes pull back or are zero, so that the operator stays positive definite.
        let place = if self.pushes { q } else { q + h * v };
        // Where the law pushes on, its place is the start of the step: explicit, and so the lesser effort.
        let response = self.motor.law.respond(&self.state(place, v, h));
        let stiffness = if self.pushes {
            0.0
        } else if response.stiffness < 0.0 && v != 0.0 {
            // It pushes on at the end, yet pulls back over the step: by the chord.
            let start = self.motor.law.respond(&self.state(q, v, h)).effort;
            ((start - response.effort) / (h * v)).max(0.0)
        } else {
            response.stiffness.max(0.0)
        };
        (response.effort, h * stiffness + response.damping.max(0.0))
    }

    pub(crate) fn linearise(&mut self, q: f64, v: f64, h: f64) {
        let (effort, gain) = self.respond(q, v, h);
        // `b` of `τ ≈ b − g v'`, from the effort at the rate of linearisation.
        (self.constant, self.gain) = (effort + gain * v, gain);
        // Without a slope it cannot become a row, so its limit is applied here.
        if gain == 0.0 {
            let limit = self.motor.effort;
            self.constant = self.constant.clamp(-limit, limit);
        }
    }

    pub(crate) fn demand(&self, v: f64) -> f64 {
        self.constant - self.gain * v
    }

    /// Effort that is missing to the law's at the end of a step. [N·m or N]
    pub(crate) fn mismatch(&self, q: f64, v: f64, h: f64) -> f64 {
        // Both cut to the limit: beyond it the law has no say.
        let desired = self.respond(q, v, h).0;
        let limit = self.motor.effort;
        desired.clamp(-limit, limit) - self.demand(v).clamp(-limit, limit)
    }

    /// Solves `v' = v₀ + w h τ(v')` for the end of the step; the linearised motor led to `v`. `None` where the law pushes
    /// on from the free rate.
    pub(crate) fn settle(&self, q: f64, v: f64, w: f64, h: f64) -> Option<f64> {
        let free = v - w * h * self.demand(v);
        let error = |x: f64| {
            let (effort, gain) = self.respond(q, x, h);
            (x - free - w * h * effort, 1.0 + w * h * gain)
        };
        // The effort pulls back, so the solution is between the free rate and the rate that its effort there gives.
        // The error rises with the rate, as efforts pull back, so its signs at the ends tell whether there is a root.
        let far = free - error(free).0;
        let (mut low, mut high) = (free.min(far), free.max(far));
        if error(low).0 > 0.0 || error(high).0 < 0.0 {
            return None;
        }
        let mut x = v.clamp(low, high);
        for _ in 0..ROUNDS {
            let (e, slope) = error(x);
            if e > 0.0 {
                high = x;
            } else {
                low = x;
            }
            // Newton's method, kept inside the bracket by bisection.
            let newton = x - e / slope;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - x).abs() <= 4.0 * f64::EPSILON * (1.0 + x.abs()) {
                break;
            }
            x = next;
        }
        Some(x)
    }
}
