//! What the emulated servos turn: shafts of their own, or the joints of a robot in a scene.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use anyhow::{Context as _, Result, bail, ensure};
use karakuri_files::load_robot;
use karakuri_hardware::RobotLayout;
use karakuri_hardware::driver::HardwareFile;
use karakuri_model::Model;
use karakuri_physics::World;
use karakuri_serial::emulator::{Bus, Emulation, FreeMotion};
use karakuri_simulation::{ServoWorld, load_scene};

use crate::input::input_file;

/// Whose servos they are.
#[derive(Debug, clap::Args)]
pub(super) struct BodyArgs {
    /// Servos, ids, zeros and limits of a hardware file, such as config/hardware/khr1.yaml
    #[arg(long, value_name = "FILE", value_parser = input_file())]
    pub(super) hardware: Option<PathBuf>,
    /// The robot of the hardware file, its URDF; not needed with a scene
    #[arg(long, value_name = "URDF", value_parser = input_file(), requires = "hardware")]
    pub(super) robot: Option<PathBuf>,
    /// Robot YAML of that robot
    #[arg(long, value_name = "YAML", value_parser = input_file(), requires = "robot")]
    pub(super) config: Option<PathBuf>,
    /// A scene whose robot the servos move, such as config/scenes/walk.yaml
    #[arg(long, value_name = "SCENE", value_parser = input_file(), requires = "hardware")]
    pub(super) scene: Option<PathBuf>,
    /// Name of the robot in the scene, where it has several
    #[arg(long, value_name = "NAME", requires = "scene")]
    pub(super) scene_robot: Option<String>,
}

/// A robot and its servos.
pub(super) struct Body {
    pub(super) file: HardwareFile,
    layout: RobotLayout,
    /// The world that it is in, if there is one.
    world: Option<World>,
}

impl BodyArgs {
    /// Reads the files; none without a hardware file.
    pub(super) fn load(&self, bus: &str) -> Result<Option<Body>> {
        let Some(path) = &self.hardware else { return Ok(None) };
        let body = self.load_any()?;
        let (path, name) = (path.display(), body.file.bus.name);
        ensure!(name == bus, "{path} is of a {name} bus; write `karakuri emulate {name}`");
        ensure!(
            bus != "robotiq",
            "a gripper has no servos that a hardware file could lay out; leave --hardware out"
        );
        Ok(Some(body))
    }

    /// Reads the files, whatever bus they are of.
    pub(super) fn load_any(&self) -> Result<Body> {
        let path = self.hardware.as_ref().context("no hardware file is named")?;
        let (layout, world) = match (&self.scene, &self.robot) {
            (Some(scene), _) => {
                let world = load_scene(scene)?.world()?;
                let layout = self.robot_of(&world)?;
                (layout, Some(world))
            }
            (None, Some(urdf)) => {
                let model = load_robot(urdf, self.config.as_deref(), None)?.model;
                (RobotLayout::new(&model.name.clone(), Arc::new(model)), None)
            }
            (None, None) => bail!(
                "--hardware names joints of a robot; add `--scene SCENE`, or `--robot URDF --config YAML`"
            ),
        };
        let file = HardwareFile::read(path, &layout)?;
        Ok(Body { file, layout, world })
    }

    /// The robot of the scene that the servos are to move.
    fn robot_of(&self, world: &World) -> Result<RobotLayout> {
        let names: Vec<&str> = world.robot_ids().map(|id| world.robot(id).name()).collect();
        let known = names.join(", ");
        let name = match (&self.scene_robot, names.as_slice()) {
            (Some(name), _) => name.as_str(),
            (None, [only]) => only,
            (None, []) => bail!("the scene has no robot; name one that has"),
            (None, _) => {
                bail!("the scene has several robots; add `--scene-robot` with one of {known}")
            }
        };
        let id = world.find_robot(name);
        let id = id.with_context(|| format!("the scene has no robot `{name}`; it has {known}"))?;
        let model = Arc::<Model>::clone(world.robot(id).model());
        Ok(RobotLayout::new(name, model))
    }
}

/// The bus with what its servos turn.
pub(super) fn emulation(body: Option<Body>, mut bus: Box<dyn Bus>) -> Result<Emulation> {
    let Some(Body { file, layout, world }) = body else {
        return Ok(Emulation::new(bus, Box::new(FreeMotion)));
    };
    if let Some(world) = world {
        let robot = world.find_robot(&layout.name).context("the scene has lost its robot")?;
        let world = Arc::new(Mutex::new(world));
        return Ok(ServoWorld::new(world, robot, &file, bus.servos())?.emulate(bus));
    }
    for setup in &file.servos {
        let Some(index) = bus.servos().iter().position(|servo| servo.id == setup.id) else {
            continue;
        };
        let (least, most) = setup.map.limits;
        bus.place(index, setup.shaft(0.0_f64.clamp(least, most)));
        let (own_least, own_most) = layout.joints[setup.joint].limits;
        let ends = [setup.shaft(own_least), setup.shaft(own_most)];
        let [low, high] = bus.servos()[index].rating.stops;
        let stops = [ends[0].min(ends[1]).max(low), ends[0].max(ends[1]).min(high)];
        bus.servos_mut()[index].rating.stops = stops;
    }
    Ok(Emulation::new(bus, Box::new(FreeMotion)))
}
