//! Velocity and acceleration of a component from its displacement increments.
//!
//! Newmark's method read backwards: the displacement is given, the acceleration unknown,
//! `a' = Δu/(β h²) − v/(β h) − (1/(2β) − 1) a`, `v' = v + h ((1 − γ) a + γ a')`. [Newmark 1959]

use core::str::FromStr;

/// Rule from displacements to accelerations. See docs/theory/parallel-inverse-dynamics.md for what each costs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Variant {
    /// Central difference: second order, no memory, any start; needs the target one step ahead.
    #[default]
    Central,
    /// The recursion with β = 1/4, γ = 1/2: second order, rings after a start with jerk.
    Newmark,
    /// One Newmark step from the target's own velocity and acceleration: first order, no memory.
    External,
    /// The recursion with γ > 1/2, β = (γ + 1/2)²/4: first order, ringing dies out.
    Damped {
        /// Newmark's γ, in 0.5..=1.5. [-]
        gamma: f64,
    },
}

impl Variant {
    /// Names that [`FromStr`] knows.
    pub const NAMES: &[&str] = &["central", "newmark", "external", "damped"];

    /// Name that [`FromStr`] knows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Central => "central",
            Self::Newmark => "newmark",
            Self::External => "external",
            Self::Damped { .. } => "damped",
        }
    }

    /// Order of convergence in the time step for a smooth motion.
    pub fn order(self) -> u32 {
        match self {
            Self::Central | Self::Newmark => 2,
            Self::External | Self::Damped { .. } => 1,
        }
    }

    /// Whether a time needs the times before it.
    pub fn remembers(self) -> bool {
        matches!(self, Self::Newmark | Self::Damped { .. })
    }

    /// Newmark's β and γ.
    fn parameters(self) -> (f64, f64) {
        let gamma = if let Self::Damped { gamma } = self { gamma } else { 0.5 };
        // At a given γ this β damps the highest frequencies most; γ = ½ gives the ¼ of constant mean acceleration.
        (0.25 * (gamma + 0.5) * (gamma + 0.5), gamma)
    }

    /// Velocity and acceleration of a component at the end of a step from those at its start, in place.
    #[inline(always)]
    pub(super) fn advance(self, dt: f64, du: f64, v: &mut f64, a: &mut f64) {
        let (beta, gamma) = self.parameters();
        // a' = Δu/(β h²) − v/(β h) − (1/(2β) − 1) a,  v' = v + h ((1 − γ) a + γ a').
        let (by_u, by_v, by_a) =
            (1.0 / (beta * dt * dt), 1.0 / (beta * dt), 1.0 / (2.0 * beta) - 1.0);
        let next = by_u * du - by_v * *v - by_a * *a;
        // The velocity first: it needs the acceleration at both ends.
        *v += dt * ((1.0 - gamma) * *a + gamma * next);
        *a = next;
    }
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "central" => Ok(Self::Central),
            "newmark" => Ok(Self::Newmark),
            "external" => Ok(Self::External),
            // Nearer to ½ it rings longer, farther off the first-order error, in proportion to γ − ½, grows.
            "damped" => Ok(Self::Damped { gamma: 0.6 }),
            _ => Err(format!("`{name}` is no variant; there are {}", Self::NAMES.join(", "))),
        }
    }
}
