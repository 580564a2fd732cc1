//! Robots behind the topics: the scene in the physics simulation, or its robot mocked.

use std::path::Path;

use karakuri_hardware::{Fault, JointCommand, RobotIo, RobotIoError, RobotLayout, RobotState};
use karakuri_physics::{RobotId, World};
use karakuri_simulation::{Mock, SimulatedWorld, Tally, load_scene};

use crate::parameters::Parameters;

/// Robots, with the world if it is simulated.
pub(crate) enum Backend {
    Simulated(Box<SimulatedWorld>),
    /// A mock; the driver of a real robot takes the same place.
    Driver(Box<dyn RobotIo>),
}

impl Backend {
    fn io(&self) -> &dyn RobotIo {
        match self {
            Self::Simulated(simulated) => simulated.as_ref(),
            Self::Driver(driver) => driver.as_ref(),
        }
    }

    fn io_mut(&mut self) -> &mut dyn RobotIo {
        match self {
            Self::Simulated(simulated) => simulated.as_mut(),
            Self::Driver(driver) => driver.as_mut(),
        }
    }

    /// Simulated world, if there is one.
    pub(crate) fn world(&self) -> Option<&World> {
        match self {
            Self::Simulated(simulated) => Some(simulated.world()),
            Self::Driver(_) => None,
        }
    }

    /// Simulation, if there is one.
    pub(crate) fn simulated(&self) -> Option<&SimulatedWorld> {
        match self {
            Self::Simulated(simulated) => Some(simulated),
            Self::Driver(_) => None,
        }
    }

    /// Simulation, to save and restore.
    pub(crate) fn simulated_mut(&mut self) -> Option<&mut SimulatedWorld> {
        match self {
            Self::Simulated(simulated) => Some(simulated),
            Self::Driver(_) => None,
        }
    }

    /// Simulated world, for changes between two samples.
    pub(crate) fn world_mut(&mut self) -> Option<&mut World> {
        match self {
            Self::Simulated(simulated) => Some(simulated.world_mut()),
            Self::Driver(_) => None,
        }
    }

    /// Adds a robot that was spawned in the simulated world; its index.
    pub(crate) fn adopt(&mut self, robot: RobotId) -> Option<usize> {
        match self {
            Self::Simulated(simulated) => Some(simulated.adopt(robot)),
            Self::Driver(_) => None,
        }
    }

    /// Cost of the simulated steps since the last call.
    pub(crate) fn take_tally(&mut self) -> Option<Tally> {
        match self {
            Self::Simulated(simulated) => Some(simulated.take_tally()),
            Self::Driver(_) => None,
        }
    }
}

impl RobotIo for Backend {
    fn robots(&self) -> &[RobotLayout] {
        self.io().robots()
    }

    fn period(&self) -> f64 {
        self.io().period()
    }

    fn time(&self) -> f64 {
        self.io().time()
    }

    fn write(&mut self, robot: usize, command: &JointCommand) -> Result<(), RobotIoError> {
        self.io_mut().write(robot, command)
    }

    fn hold(&mut self, robot: usize, gripping: bool) {
        self.io_mut().hold(robot, gripping);
    }

    fn advance(&mut self) -> Result<(), RobotIoError> {
        self.io_mut().advance()
    }

    fn read(&self, robot: usize, state: &mut RobotState) {
        self.io().read(robot, state);
    }

    fn fault(&self, robot: usize) -> Option<&Fault> {
        self.io().fault(robot)
    }
}

/// The backend that the parameters ask for, and the warnings of its files.
pub(crate) fn open(parameters: &Parameters) -> Result<(Backend, Vec<String>), String> {
    let (hardware, period) = (parameters.hardware.get(), parameters.period.get());
    let (scene, tools) = (parameters.scene.get(), parameters.tools.get());
    let scene = scene.as_str();
    if scene.is_empty() {
        return Err("parameter `scene` is empty; give the path of a scene file, such as \
                    `-p scene:=config/scenes/pick_and_place.yaml`"
            .to_owned());
    }
    let loaded = load_scene(Path::new(scene)).map_err(|e| e.to_string())?;
    let mut warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    let world = loaded.world().map_err(|e| e.to_string())?;
    warnings.extend(world.robot_ids().filter_map(|id| world.overlap_warning(id)));
    let backend = if hardware == "mock" {
        if !tools.is_empty() {
            return Err("`hardware: mock` changes no tools; leave `tools` empty".to_owned());
        }
        Backend::Driver(Box::new(mock(&world, scene, period)?))
    } else {
        let steps = steps_per_period(&world, period)?;
        let mut simulated = SimulatedWorld::new(world, steps);
        if !tools.is_empty() {
            let [scene, tools] = [scene, &tools].map(Path::new);
            simulated = loaded.with_tools(simulated, scene, tools).map_err(|e| e.to_string())?;
        }
        Backend::Simulated(Box::new(simulated))
    };
    Ok((backend, warnings))
}

fn mock(world: &World, scene: &str, period: f64) -> Result<Mock, String> {
    let mut robots = world.robot_ids();
    let (Some(id), None) = (robots.next(), robots.next()) else {
        return Err(format!(
            "{scene}: `hardware: mock` mocks one robot; the scene must have exactly one"
        ));
    };
    let robot = world.robot(id);
    Ok(Mock::new(robot.name(), robot.model(), robot.q(), period))
}

/// Physics steps per control period, which must be a whole number.
fn steps_per_period(world: &World, period: f64) -> Result<usize, String> {
    let dt = world.settings().dt;
    let steps = (period / dt).round();
    if steps < 1.0 || (steps * dt - period).abs() > 1e-9 * period {
        return Err(format!(
            "parameter `period` is {period} s, which is no whole number of the scene's time steps of {dt} s; \
             change one of them"
        ));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive and at most 1e8"
    )]
    let steps = steps as usize;
    Ok(steps)
}
