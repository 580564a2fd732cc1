//! Integrators, and the scratch of a robot in free motion. [`crate::pipeline::integrators`] has the methods.

use crate::state::flight::InFlight;

/// Integrator of free motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Integrator {
    /// Second order in free motion, semi-implicit under rows, servos and dampers.
    #[default]
    Default,
    /// Fourth order where no row acts and servos are soft; else as the default.
    RungeKutta4,
    /// Variational where no row acts and servos are soft; else as `Momentum`.
    Variational,
    /// The default, with the momentum of floating trees, and in flight the path of their centre of mass and the energy, kept to
    /// round-off; the integration adds no energy anywhere.
    Momentum,
}

impl Integrator {
    /// All integrators, in the order of their declaration.
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

/// Method by which a tree in free motion takes a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Method {
    #[default]
    Midpoint,
    RungeKutta4,
    Variational,
}

/// Scratch of a robot in free motion.
#[derive(Debug, Clone, Default)]
pub(crate) struct FreeMotion {
    /// Whether the step in progress integrates the whole tree at once.
    pub(crate) on: bool,
    /// Method of the step in progress.
    pub(crate) method: Method,
    /// Position at the end of the step. (nq)
    pub(crate) target: Vec<f64>,
    /// Position at which something is evaluated. (nq)
    pub(crate) stage: Vec<f64>,
    /// Rates and accelerations of the stages. (nv each)
    pub(crate) rates: [Vec<f64>; 4],
    pub(crate) accelerations: [Vec<f64>; 4],
    /// Rates at which something is evaluated. (nv)
    pub(crate) velocity: Vec<f64>,
    /// Accelerations of the last two steps, the last one first, and how many of them are known. [rad/s² or m/s²] (nv each)
    pub(crate) recent: [Vec<f64>; 2],
    pub(crate) n_recent: usize,
    /// Displacement from the start of the step. (nv)
    pub(crate) displacement: Vec<f64>,
    /// Momentum and rates at the end of the last variational step. (nv)
    pub(crate) momentum_at_end: Vec<f64>,
    pub(crate) rates_at_end: Vec<f64>,
    /// Whether the base's velocity keeps the momentum in this step.
    pub(crate) keeps_momentum: bool,
    /// Momentum about the world's origin at the start of the step, and the centre of mass.
    pub(crate) momentum: karakuri_spatial::Force,
    pub(crate) com: karakuri_spatial::Vector3,
    pub(crate) in_flight: InFlight,
    /// Whether `momentum_at_end` is that of the last step's end.
    pub(crate) keeps_variational_momentum: bool,
    /// Applied wrenches about the world's origin. [N·m; N]
    pub(crate) push: karakuri_spatial::Force,
}

impl FreeMotion {
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
            recent: std::array::from_fn(|_| vec![0.0; nv]),
            n_recent: 0,
            displacement: vec![0.0; nv],
            momentum_at_end: vec![0.0; nv],
            // NaN equals nothing, so the first step is no continuation.
            rates_at_end: vec![f64::NAN; nv],
            keeps_momentum: false,
            momentum: karakuri_spatial::Force::default(),
            com: karakuri_spatial::Vector3::zeros(),
            in_flight: InFlight::default(),
            keeps_variational_momentum: false,
            push: karakuri_spatial::Force::default(),
        }
    }
}
