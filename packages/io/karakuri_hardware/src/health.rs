//! What a machine says about itself, for `/diagnostics`.

/// How well a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HealthLevel {
    /// Well.
    Ok,
    /// Still working; somebody should look after it.
    Warn,
    /// Not working, or about to be damaged.
    Error,
}

/// Health of one part of a robot: a servo, or the bus that they are on. What is not measured is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Health {
    /// Joint name of a servo, or the name of the bus.
    pub part: String,
    /// How well it is.
    pub level: HealthLevel,
    /// What is wrong and what to do; empty while all is well.
    pub what: String,
    /// Temperature. [°C]
    pub temperature: Option<f64>,
    /// Supply. [V]
    pub voltage: Option<f64>,
    /// Current of the motor. [A]
    pub current: Option<f64>,
    /// Error word, as the device sends it.
    pub errors: u32,
    /// Time since the last good answer. [s]
    pub age: f64,
    /// Cycles that were skipped since the driver was opened, because the machine was late.
    pub missed_deadlines: u64,
    /// Time that the last cycle of a bus took, of its period. [s]
    pub cycle_time: Option<f64>,
}
