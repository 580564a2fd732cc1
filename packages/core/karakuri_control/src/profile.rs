//! Smooth profiles from 0 to 1, and the least duration of a move under limits.
//!
//! `s(u)`, `u = t/T`, `s(0) = 0`, `s(1) = 1`, at rest at both ends. A move over a length Δ peaks at speed
//! `κ_v Δ/T` and acceleration `κ_a Δ/T²`; the shortest time under limits is `T = max(κ_v Δ/v_max, √(κ_a Δ/a_max))`.
//! [`SCurve`] is limited in jerk instead: seven segments of constant jerk. [Biagiotti 2008, §3.4]
//! Units: s, and any length.

use core::f64::consts::TAU;

/// A profile of fixed form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// `10u³ − 15u⁴ + 6u⁵`: minimum jerk, acceleration zero at the ends.
    #[default]
    Quintic,
    /// `u − sin(2πu)/2π`: smooth jerk.
    Cycloid,
    /// `35u⁴ − 84u⁵ + 70u⁶ − 20u⁷`: jerk zero at the ends as well.
    Septic,
}

/// Value and derivatives along a profile or a curve.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ProfileSample {
    /// Value `s` of a profile; distance along a curve. [-]
    pub s: f64,
    /// First derivative by time. [1/s]
    pub velocity: f64,
    /// Second derivative by time. [1/s²]
    pub acceleration: f64,
}

impl Profile {
    /// `κ_v`: peak of `ds/du`. [-]
    pub fn peak_speed(self) -> f64 {
        // All three peak in the middle, at u = 1/2.
        match self {
            Self::Quintic => 1.875,
            Self::Cycloid => 2.0,
            Self::Septic => 35.0 / 16.0,
        }
    }

    /// `κ_a`: peak of `d²s/du²`. [-]
    pub fn peak_acceleration(self) -> f64 {
        // The third derivative is zero at u = (1 − 1/√3)/2, 1/4 and (1 − 1/√5)/2.
        match self {
            Self::Quintic => 10.0 / 3.0_f64.sqrt(),
            Self::Cycloid => TAU,
            Self::Septic => 84.0 / (5.0 * 5.0_f64.sqrt()),
        }
    }

    /// Sample at time `t` of a move that takes `duration`; at rest outside. [s]
    pub fn sample(self, t: f64, duration: f64) -> ProfileSample {
        if duration <= 0.0 || t >= duration {
            return ProfileSample { s: 1.0, ..ProfileSample::default() };
        }
        let u = (t / duration).max(0.0);
        // s, ds/du and d²s/du²; with du/dt = 1/T the chain rule gives the derivatives by time.
        let [s, d, dd] = match self {
            Self::Quintic => [
                u * u * u * (10.0 - 15.0 * u + 6.0 * u * u),
                30.0 * u * u * (1.0 - u) * (1.0 - u),
                60.0 * u * (1.0 - u) * (1.0 - 2.0 * u),
            ],
            Self::Cycloid => {
                let (sin, cos) = (TAU * u).sin_cos();
                [u - sin / TAU, 1.0 - cos, TAU * sin]
            }
            Self::Septic => {
                let w = u * (1.0 - u);
                [
                    u.powi(4) * (35.0 - u * (84.0 - u * (70.0 - 20.0 * u))),
                    140.0 * w * w * w,
                    420.0 * w * w * (1.0 - 2.0 * u),
                ]
            }
        };
        ProfileSample { s, velocity: d / duration, acceleration: dd / (duration * duration) }
    }

    /// Shortest time for a length under a speed and an acceleration limit. [s]
    pub fn duration(self, length: f64, max_speed: f64, max_acceleration: f64) -> f64 {
        let by_speed = self.peak_speed() * length / max_speed;
        by_speed.max((self.peak_acceleration() * length / max_acceleration).sqrt())
    }
}

/// Seven segments of constant jerk: shortest time under speed, acceleration and jerk limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SCurve {
    length: f64,
    jerk: f64,
    /// Jerk time, constant-acceleration time and cruise time. [s]
    t_jerk: f64,
    t_acceleration: f64,
    t_cruise: f64,
}

impl SCurve {
    /// Curve over a length ≥ 0 under positive limits of speed, acceleration and jerk. [m, m/s, m/s², m/s³ or in rad]
    pub fn new(length: f64, max_speed: f64, max_acceleration: f64, max_jerk: f64) -> Self {
        let j = max_jerk;
        // Jerk time and constant-acceleration time that reach a top speed v.
        let ramp = |v: f64| {
            // A ramp reaches the acceleration limit from v = a²/j on; its acceleration is a trapezoid then, else a triangle.
            if v * j >= max_acceleration * max_acceleration {
                let t_jerk = max_acceleration / j;
                (t_jerk, v / max_acceleration - t_jerk)
            } else {
                ((v / j).sqrt(), 0.0)
            }
        };
        let distance = |v: f64| {
            // Two ramps of 2 t_jerk + t_acceleration each, both at the mean speed v/2.
            let (t_jerk, t_acceleration) = ramp(v);
            v * (2.0 * t_jerk + t_acceleration)
        };
        // Both ramps at full speed have room in the length: the rest is cruise.
        let top = if distance(max_speed) <= length {
            max_speed
        } else {
            // Without cruise: either the acceleration limit is reached, length = v (v/a + a/j), or it is not,
            // length = 2 v √(v/j).
            let a = max_acceleration;
            let with_plateau = 0.5 * (-a * a / j + ((a * a / j).powi(2) + 4.0 * a * length).sqrt());
            // The solution of the first equation holds only if its ramp does reach the limit, as in `ramp`.
            if with_plateau * j >= a * a {
                with_plateau
            } else {
                (0.25 * length * length * j).cbrt()
            }
        };
        let (t_jerk, t_acceleration) = ramp(top);
        // What the two ramps leave of the length is covered at top speed.
        // Without cruise the difference is zero but for round-off of either sign.
        let t_cruise = if top > 0.0 { ((length - distance(top)) / top).max(0.0) } else { 0.0 };
        Self { length, jerk: j, t_jerk, t_acceleration, t_cruise }
    }

    /// Time of the whole move. [s]
    pub fn duration(&self) -> f64 {
        4.0 * self.t_jerk + 2.0 * self.t_acceleration + self.t_cruise
    }

    /// Distance, speed and acceleration at time `t`, in the units of the length. [s]
    pub fn sample(&self, t: f64) -> ProfileSample {
        let total = self.duration();
        if t <= 0.0 {
            return ProfileSample::default();
        }
        if t >= total {
            return ProfileSample { s: self.length, ..ProfileSample::default() };
        }
        // The curve is symmetric: the second half is the first one, mirrored.
        if t > 0.5 * total {
            let mirrored = self.first_half(total - t);
            return ProfileSample {
                s: self.length - mirrored.s,
                velocity: mirrored.velocity,
                acceleration: -mirrored.acceleration,
            };
        }
        self.first_half(t)
    }

    fn first_half(&self, t: f64) -> ProfileSample {
        let mut at = ProfileSample::default();
        let mut left = t;
        let segments =
            [(self.t_jerk, self.jerk), (self.t_acceleration, 0.0), (self.t_jerk, -self.jerk)];
        for (duration, jerk) in segments {
            // Constant jerk, integrated exactly: Δs = v dt + a dt²/2 + j dt³/6.
            let dt = left.min(duration);
            at.s += dt * (at.velocity + dt * (0.5 * at.acceleration + dt * jerk / 6.0));
            at.velocity += dt * (at.acceleration + 0.5 * dt * jerk);
            at.acceleration += dt * jerk;
            left -= dt;
            if left <= 0.0 {
                return at;
            }
        }
        // What the ramp leaves of the first half is cruise at top speed.
        ProfileSample { s: at.s + left * at.velocity, velocity: at.velocity, acceleration: 0.0 }
    }
}

#[cfg(test)]
mod tests;
