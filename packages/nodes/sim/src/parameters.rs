//! Parameters of the node.

use karakuri_hardware::PacingSettings;
use karakuri_physics::SolverSettings;
use karakuri_physics::solver::{SOLVERS, solver};
use karakuri_ros::{Node, Parameter, RosError};

use crate::node::Sim;

/// All parameters; the live ones are read again after each change.
#[derive(Debug)]
pub(crate) struct Parameters {
    pub(crate) hardware: Parameter<String>,
    pub(crate) scene: Parameter<String>,
    pub(crate) period: Parameter<f64>,
    pub(crate) start_paused: Parameter<bool>,
    pub(crate) lockstep: Parameter<bool>,
    real_time_factor: Parameter<f64>,
    command_timeout: Parameter<f64>,
    lockstep_timeout: Parameter<f64>,
    solver_method: Parameter<String>,
    solver_iterations: Parameter<i64>,
    solver_tolerance: Parameter<f64>,
    pub(crate) reset_posture: Parameter<String>,
    pub(crate) model_folders: Parameter<Vec<String>>,
    pub(crate) outputs: Outputs,
}

impl Parameters {
    pub(crate) fn declare(node: &mut Node<Sim>) -> Result<Self, RosError> {
        Ok(Self {
            hardware: node
                .parameter("hardware", "sim".to_owned())
                .describe("What stands behind the topics: `sim` (physics) or `mock` (the drives alone, in real time).")
                .read_only()
                .validate("`sim` or `mock`", |v: &String| match v.as_str() {
                    "sim" | "mock" => Ok(()),
                    other => Err(format!("`{other}` is no hardware; write `sim` or `mock`")),
                })
                .declare()?,
            scene: node
                .parameter("scene", String::new())
                .describe("Path of the scene file (YAML).")
                .read_only()
                .declare()?,
            period: node
                .parameter("period", 0.002)
                .describe("Time between two samples, a whole number of the scene's time steps. [s]")
                .range(1e-5..=1.0)
                .read_only()
                .declare()?,
            start_paused: node
                .parameter("start_paused", false)
                .describe("Whether time stands still until `~/set_simulation_state` lets it go on.")
                .read_only()
                .declare()?,
            lockstep: node
                .parameter("lockstep", false)
                .describe("Wait for the command computed from each sample: runs repeat bit by bit.")
                .read_only()
                .declare()?,
            real_time_factor: node
                .parameter("real_time_factor", 1.0)
                .describe("Simulated seconds per second; 0 is as fast as the controller keeps up. [-]")
                .range(0.0..=1000.0)
                .declare()?,
            command_timeout: node
                .parameter("command_timeout", 0.1)
                .describe("Simulated time without a command after which a robot holds its place, and its hand what it grips; 0 is never. [s]")
                .range(0.0..=3600.0)
                .declare()?,
            lockstep_timeout: node
                .parameter("lockstep_timeout", 10.0)
                .describe("The same in wall time, where `sim` waits for commands: in lockstep, or as fast as the controller keeps up. [s]")
                .range(0.0..=3600.0)
                .declare()?,
            solver_method: node
                .parameter("solver.method", String::new())
                .describe("Contact solver; empty: the scene's.")
                .validate(&known_solvers(), |v: &String| {
                    if v.is_empty() || solver(v).is_some() {
                        return Ok(());
                    }
                    Err(format!("`{v}` is no contact solver; write {}", known_solvers()))
                })
                .declare()?,
            solver_iterations: node
                .parameter("solver.iterations", 0_i64)
                .describe("Most iterations of the contact solver a step; 0: the scene's.")
                .range(0..=100_000)
                .declare()?,
            solver_tolerance: node
                .parameter("solver.tolerance", 0.0)
                .describe("Residual velocity below which contacts count as solved; 0: the scene's. [m/s]")
                .range(0.0..=1.0)
                .declare()?,
            reset_posture: node
                .parameter("reset_posture", String::new())
                .describe("Posture of the robot YAML that a reset puts the robots in; empty: the scene's.")
                .declare()?,
            model_folders: node
                .parameter("model_folders", Vec::<String>::new())
                .describe("Folders from which `~/spawn_entity` reads files, besides the scene's and those of installed packages.")
                .declare()?,
            outputs: Outputs::declare(node)?,
        })
    }

    /// The scene's solver settings with what the parameters say otherwise.
    pub(crate) fn solver(&self, scene: SolverSettings) -> SolverSettings {
        let method = solver(&self.solver_method.get());
        let iterations = usize::try_from(self.solver_iterations.get()).ok().filter(|n| *n > 0);
        let own = method.map(|m| m.iterations);
        let tolerance = Some(self.solver_tolerance.get()).filter(|t| *t > 0.0);
        SolverSettings {
            method: method.map_or(scene.method, |m| m.name),
            iterations: iterations.or(own).unwrap_or(scene.iterations),
            tolerance: tolerance.unwrap_or(scene.tolerance),
            ..scene
        }
    }

    pub(crate) fn pacing(&self) -> PacingSettings {
        PacingSettings {
            lockstep: self.lockstep.get(),
            real_time_factor: self.real_time_factor.get(),
            command_timeout: self.command_timeout.get(),
            lockstep_timeout: self.lockstep_timeout.get(),
        }
    }
}

/// What is published of the world and how often, and how names begin.
#[derive(Debug)]
pub(crate) struct Outputs {
    pub(crate) energy_ledger: Parameter<bool>,
    pub(crate) state_period: Parameter<f64>,
    pub(crate) frame_prefix: Parameter<String>,
    pub(crate) world_namespace: Parameter<String>,
}

impl Outputs {
    fn declare(node: &mut Node<Sim>) -> Result<Self, RosError> {
        Ok(Self {
            energy_ledger: node
                .parameter("energy_ledger", false)
                .describe("Whether `~/statistics` tells where the energy goes; costs a tenth of a step.")
                .declare()?,
            state_period: node
                .parameter("state_period", 0.02)
                .describe("Simulated time between two messages of objects, contacts and odometry. [s]")
                .range(1e-4..=10.0)
                .declare()?,
            frame_prefix: node
                .parameter("frame_prefix", String::new())
                .describe("Put before the names of all frames of robots, as by `state_publisher`; of several robots, each has its `<name>/` behind it.")
                .read_only()
                .declare()?,
            world_namespace: node
                .parameter("world_namespace", "/".to_owned())
                .describe("Namespace of `clock`, `objects`, `contacts` and their markers, where several systems share one graph; their nodes then need these topics remapped, as the launch files do.")
                .read_only()
                .declare()?,
        })
    }
}

/// The names of the contact solvers, as a sentence has them.
fn known_solvers() -> String {
    let names: Vec<String> = SOLVERS.iter().map(|s| format!("`{}`", s.name)).collect();
    format!("{}, or nothing for the scene's", names.join(", "))
}
