//! Walkers for tests and benches.

use std::sync::Arc;

use karakuri_gait::planner::{Biped, BipedError, WalkEngine, WalkSettings};
use karakuri_model::{Base, NoAssets, Source, load};
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    walk: WalkSettings,
}

/// Of a robot's URDF and YAML and of a gait file.
pub(crate) fn engine(urdf: &str, config: &str, walk: &str) -> WalkEngine {
    try_engine(urdf, config, walk).unwrap()
}

/// The same, or why it cannot walk.
pub(crate) fn try_engine(urdf: &str, config: &str, walk: &str) -> Result<WalkEngine, BipedError> {
    let source =
        Source::urdf("r.urdf", urdf).with_config("r.yaml", config).with_base(Base::Floating);
    let model = Arc::new(load(&source, &mut NoAssets).unwrap().model);
    let settings = serde_yaml::from_str::<File>(walk).unwrap().walk;
    WalkEngine::new(Biped::new(model, &settings)?, settings)
}

pub(crate) fn khr1() -> WalkEngine {
    engine(
        include_str!("../../../../../urdf/khr1/khr1.urdf"),
        include_str!("../../../../../config/khr1.yaml"),
        include_str!("../../../../../config/gaits/khr1_walk.yaml"),
    )
}
