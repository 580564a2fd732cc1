//! From files to a cell: the scene in the physics simulation, or its robot mocked.

use std::path::Path;

use karakuri_files::load_scene;
use karakuri_hardware::{Mock, RobotIo, Simulation};
use karakuri_physics::World;

/// The cell that the parameters ask for, and the warnings of its files.
pub(crate) fn open(
    hardware: &str,
    scene: &str,
    period: f64,
) -> Result<(Box<dyn RobotIo>, Vec<String>), String> {
    if scene.is_empty() {
        return Err("parameter `scene` is empty; give the path of a scene file, such as \
                    `-p scene:=config/scenes/pick_and_place.yaml`"
            .to_owned());
    }
    let loaded = load_scene(Path::new(scene)).map_err(|e| e.to_string())?;
    let mut warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    let world = loaded.world().map_err(|e| e.to_string())?;
    warnings.extend(world.robot_ids().filter_map(|id| world.overlap_warning(id)));
    let cell: Box<dyn RobotIo> = match hardware {
        "mock" => Box::new(mock(&world, scene, period)?),
        _ => Box::new({
            let steps = steps_per_period(&world, period)?;
            Simulation::new(world, steps)
        }),
    };
    Ok((cell, warnings))
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

/// Physics steps a control period, which must be whole.
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
