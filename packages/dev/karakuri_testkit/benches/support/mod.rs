//! Scenes of `packages/dev/peers/scenes.yaml`, which benches of steps go through.
#![expect(clippy::unwrap_used, reason = "a bench says so")]

use std::path::{Path, PathBuf};

use karakuri_physics::solver::SolverSettings;
use karakuri_physics::{World, WorldSettings};
use karakuri_simulation::load_scene;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Entry of `scenes.yaml`, as far as it concerns every bench.
#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    scene: PathBuf,
    preset: Option<Preset>,
    pub(crate) settle: f64,
    pub(crate) window: f64,
}

/// Settings of the solver, where they are not those of the scene.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Preset {
    Realtime,
}

impl Case {
    /// The scene at its start.
    pub(crate) fn world(&self) -> World {
        let mut world = load_scene(&root().join(&self.scene)).unwrap().world().unwrap();
        if let Some(Preset::Realtime) = self.preset {
            let solver = SolverSettings::realtime();
            world.set_settings(WorldSettings { solver, ..*world.settings() });
        }
        world
    }
}

/// All entries.
pub(crate) fn cases<T: DeserializeOwned>() -> Vec<T> {
    let text = std::fs::read_to_string(root().join("packages/dev/peers/scenes.yaml")).unwrap();
    serde_yaml::from_str(&text).unwrap()
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Steps in a duration. [s]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand steps")]
pub(crate) fn steps(world: &World, duration: f64) -> usize {
    (duration / world.settings().dt).round() as usize
}
