//! The border to a robot: what the studio asks of it, whoever carries it out.

use std::fmt;

/// Positions of joints over time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trajectory {
    /// Names of the joints.
    pub joints: Vec<String>,
    /// Points in ascending time.
    pub points: Vec<TrajectoryPoint>,
}

/// A point of a trajectory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrajectoryPoint {
    /// Time from the start. [s]
    pub time: f64,
    /// Positions. [rad or m] (n joints)
    pub positions: Vec<f64>,
    /// Velocities; may be empty. [rad/s or m/s] (n joints)
    pub velocities: Vec<f64>,
}

/// A measurement of the robot.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Measurement {
    /// When it was measured, by the robot's clock. [s]
    pub time: f64,
    /// Names of the joints.
    pub joints: Vec<String>,
    /// Positions. [rad or m] (n joints)
    pub positions: Vec<f64>,
    /// Velocities; may be empty. [rad/s or m/s] (n joints)
    pub velocities: Vec<f64>,
    /// Efforts; may be empty. [N·m or N] (n joints)
    pub efforts: Vec<f64>,
}

/// What a robot tells.
#[derive(Debug, Clone, PartialEq)]
pub enum LinkNews {
    /// Where it is.
    Measured(Measurement),
    /// It has arrived at the end of what it was sent.
    Arrived,
    /// It does not do what it was sent, for this reason.
    Refused(String),
    /// It follows no commands, for this reason; empty when it does again.
    Fault(String),
}

/// A robot. Calls return at once.
pub trait RobotLink: fmt::Debug + Send {
    /// Lets the robot follow a trajectory from now on, in place of what it does.
    fn follow(&mut self, trajectory: Trajectory);
    /// Stops the robot where it is.
    fn stop(&mut self);
    /// What it reported since the last call.
    fn news(&mut self) -> Vec<LinkNews>;
}
