//! The outcome of a step.

/// Outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepOutcome {
    /// All contacts solved to the tolerance.
    Solved {
        /// Highest level of the solver ladder that an island needed.
        level: u8,
        /// Iterations of the slowest island.
        iterations: usize,
        /// Largest natural-map residual of a block. [m/s or rad/s]
        residual: f64,
    },
    /// The iterations of all levels ran out first; the state is finite and the residual is what it is.
    MaxIterations {
        /// Highest level of the solver ladder that was tried.
        level: u8,
        /// Largest natural-map residual of a block. [m/s or rad/s]
        residual: f64,
    },
    /// A quantity is not finite. The world stays at the state before the step.
    NonFinite(Culprit),
}

/// Quantity that was not finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Culprit {
    /// The velocity of a degree of freedom of a robot.
    Robot {
        /// Index of the robot.
        robot: usize,
        /// Index of its velocity coordinate.
        dof: usize,
    },
    /// The velocity of a body.
    Body {
        /// Index of the body.
        body: usize,
    },
    /// The mass matrix of a robot is singular at this degree of freedom: a moving link without mass.
    MassMatrix {
        /// Index of the robot.
        robot: usize,
        /// Index of its velocity coordinate.
        dof: usize,
    },
    /// A setting of the world, by its name.
    Setting(&'static str),
}
