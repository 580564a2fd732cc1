//! Parameters of the node.

use karakuri_hardware::PacingSettings;
use karakuri_physics::SolverSettings;
use karakuri_physics::solver::{SOLVERS, solver};

karakuri_ros::parameters! {
    /// All parameters of the node; the live ones are read again after each change.
    pub(crate) struct Parameters [pub(crate) outputs: Outputs] {
        pub(crate) hardware: String = "sim".to_owned(), "What stands behind the topics: `sim` (physics) or `mock` (the drives alone, in real time).", read_only(), validate("`sim` or `mock`", |v: &String| check_hardware(v));
        pub(crate) scene: String = String::new(), "Path of the scene file (YAML).", read_only();
        pub(crate) tools: String = String::new(), "Path of a tools file: the robot of the scene that is one of its entries changes tools at the dock by `~/set_tool`; empty: none does.", read_only();
        pub(crate) period: f64 = 0.002, "Time between two samples, a whole number of the scene's time steps. [s]", range(1e-5..=1.0), read_only();
        pub(crate) start_paused: bool = false, "Whether time stands still until `~/set_simulation_state` lets it go on.", read_only();
        pub(crate) lockstep: bool = false, "Wait for the command computed from each sample: runs repeat bit by bit.", read_only();
        real_time_factor: f64 = 1.0, "Simulated seconds per second; 0 is as fast as the controller keeps up. [-]", range(0.0..=1000.0);
        command_timeout: f64 = 0.1, "Simulated time without a command after which a robot holds its place, and its hand what it grips; 0 is never. [s]", range(0.0..=3600.0);
        lockstep_timeout: f64 = 10.0, "The same in wall time, where `sim` waits for commands: in lockstep, or as fast as the controller keeps up. [s]", range(0.0..=3600.0);
        solver_method ["solver.method"]: String = String::new(), "Contact solver; empty: the scene's.", validate(&known_solvers(), |v: &String| check_solver(v));
        solver_iterations ["solver.iterations"]: i64 = 0, "Most iterations of the contact solver a step; 0: the scene's.", range(0..=100_000);
        solver_tolerance ["solver.tolerance"]: f64 = 0.0, "Residual velocity below which contacts count as solved; 0: the scene's. [m/s]", range(0.0..=1.0);
        pub(crate) reset_posture: String = String::new(), "Posture of the robot YAML that a reset puts the robots in; empty: the scene's.";
        pub(crate) model_folders: Vec<String> = Vec::new(), "Folders from which `~/spawn_entity` reads files, besides the scene's and those of installed packages.";
    }
}

karakuri_ros::parameters! {
    /// Outputs about the world: their rates, and the prefixes of names.
    pub(crate) struct Outputs {
        pub(crate) energy_ledger: bool = false, "Whether `~/statistics` tells where the energy goes; costs a tenth of a step.";
        pub(crate) state_period: f64 = 0.02, "Simulated time between two messages of objects, contacts and odometry. [s]", range(1e-4..=10.0);
        pub(crate) frame_prefix: String = String::new(), "Put before the names of all frames of robots, as by `state_publisher`; of several robots, each has its `<name>/` behind it.", read_only();
        pub(crate) world_namespace: String = "/".to_owned(), "Namespace of `clock`, `objects`, `contacts` and their markers, where several systems share one graph; their nodes then need these topics remapped, as the launch files do.", read_only();
    }
}

fn check_hardware(value: &str) -> Result<(), String> {
    match value {
        "sim" | "mock" => Ok(()),
        other => Err(format!("`{other}` is no hardware; write `sim` or `mock`")),
    }
}

fn check_solver(value: &str) -> Result<(), String> {
    if value.is_empty() || solver(value).is_some() {
        return Ok(());
    }
    Err(format!("`{value}` is no contact solver; write {}", known_solvers()))
}

impl Parameters {
    /// The scene's solver settings, with those that the parameters override.
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

/// Names of the contact solvers, as text for people.
fn known_solvers() -> String {
    let names: Vec<String> = SOLVERS.iter().map(|s| format!("`{}`", s.name)).collect();
    format!("{}, or nothing for the scene's", names.join(", "))
}
