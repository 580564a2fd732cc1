//! How positions and velocities go on.
//!
//! A coordinate that a row acts on, or that has a servo or a damper, goes on by semi-implicit Euler: the new
//! velocity from the implicit operator, then `q' = q ⊞ h v'`. What moves freely needs no such care and is
//! integrated better:
//!
//! | name | a tree in free motion | order | kept |
//! | --- | --- | --- | --- |
//! | `default` | symmetric midpoint, [`midpoint`] | 2 | time symmetry, so no energy drift |
//! | `rk4` | Runge-Kutta-Munthe-Kaas, [`runge_kutta`]; servos and dampers too while they are soft | 4 | – |
//! | `variational` | discrete Euler-Lagrange equations, [`variational`]; servos and dampers too while they are soft | 2 | the symplectic form; momentum to round-off, contacts or not; energy but for a bounded oscillation |
//! | `momentum` | as `default`, then [`momentum`] | 2 | momentum of floating trees to round-off, contacts or not |
//!
//! A floating tree in contact that moves far in a step keeps its momentum by default too; see [`momentum`].
//!
//! A free body in flight moves by `h (v + v')/2`, exact for constant forces, and turns by the Cayley map of its
//! midpoint rate, which keeps its kinetic energy and its angular momentum in the world to round-off.
//! [Hairer 2006, §VII.5]

mod midpoint;
mod momentum;
mod runge_kutta;
mod variational;

/// An integrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Integrator {
    /// Second order in free motion, semi-implicit under rows, servos and dampers.
    #[default]
    Default,
    /// Fourth order where no row acts and servos are soft; else as the default.
    RungeKutta4,
    /// Variational where no row acts and servos are soft; else the default with the momentum of floating trees kept.
    Variational,
    /// The default, with the momentum of floating trees kept to round-off.
    Momentum,
}

impl Integrator {
    /// All integrators.
    pub const ALL: [Self; 4] =
        [Self::Default, Self::RungeKutta4, Self::Variational, Self::Momentum];

    /// Name in scene files and parameters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::RungeKutta4 => "rk4",
            Self::Variational => "variational",
            Self::Momentum => "momentum",
        }
    }

    /// The integrator of this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|i| i.name() == name)
    }
}

/// How a tree in free motion takes a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Method {
    #[default]
    Midpoint,
    RungeKutta4,
    Variational,
}

/// Scratch of a robot in free motion.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flight {
    /// Whether the step in progress integrates the whole tree at once.
    pub(crate) on: bool,
    /// By which method.
    pub(crate) method: Method,
    /// Position at the end of the step. (nq)
    pub(crate) target: Vec<f64>,
    /// Position at which something is evaluated. (nq)
    stage: Vec<f64>,
    /// Rates and accelerations of the stages. (nv each)
    rates: [Vec<f64>; 4],
    accelerations: [Vec<f64>; 4],
    /// Rates at which something is evaluated. (nv)
    velocity: Vec<f64>,
    /// Displacement from the start of the step. (nv)
    displacement: Vec<f64>,
    /// Momentum and rates at the end of the last variational step. (nv)
    momentum_at_end: Vec<f64>,
    rates_at_end: Vec<f64>,
    /// Whether the base's velocity keeps the momentum in this step.
    pub(crate) keeps_momentum: bool,
    /// Momentum about the world's origin at the start of the step, and the centre of mass.
    momentum: karakuri_spatial::Force,
    com: karakuri_spatial::Vector3,
    /// Applied wrenches about the world's origin.
    push: karakuri_spatial::Force,
}

impl Flight {
    pub(crate) fn new(nq: usize, nv: usize) -> Self {
        let rates = || std::array::from_fn(|_| vec![0.0; nv]);
        Self {
            on: false,
            method: Method::Midpoint,
            target: vec![0.0; nq],
            stage: vec![0.0; nq],
            rates: rates(),
            accelerations: rates(),
            velocity: vec![0.0; nv],
            displacement: vec![0.0; nv],
            momentum_at_end: vec![0.0; nv],
            rates_at_end: vec![f64::NAN; nv],
            keeps_momentum: false,
            momentum: karakuri_spatial::Force::default(),
            com: karakuri_spatial::Vector3::zeros(),
            push: karakuri_spatial::Force::default(),
        }
    }
}
