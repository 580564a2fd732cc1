//! A robot in one of its postures, on the floor:
//! `cargo run --release -p karakuri_render --example portrait -- URDF CONFIG POSTURE OUTPUT.png [AZIMUTH ELEVATION]`
//! (angles in degrees).

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use karakuri_files::load_robot;
use karakuri_model::Base;
use karakuri_physics::{World, WorldSettings};
use karakuri_render::{Camera, Picture, render, world_items};
use karakuri_spatial::Pose;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [urdf, config, posture, output, angles @ ..] = arguments.as_slice() else {
        bail!("give URDF CONFIG POSTURE OUTPUT.png [AZIMUTH ELEVATION]");
    };
    let degrees = |i: usize, default: f64| -> anyhow::Result<f64> {
        let text = angles.get(i);
        let angle = text.map_or(Ok(default), |t| t.parse().context("angles are numbers"))?;
        Ok(angle.to_radians())
    };
    let model =
        load_robot(Path::new(urdf), Some(Path::new(config)), Some(Base::Fixed(Pose::IDENTITY)))?
            .model;
    let Some(posture) = model.postures.iter().find(|p| p.name == *posture) else {
        bail!("no posture `{posture}`");
    };
    let mut q = model.neutral_position();
    for &(joint, position) in &posture.positions {
        q[model.joints[joint.0].q_start] = position;
    }
    let mut world = World::new(WorldSettings::default());
    world.add_robot("robot", Arc::new(model), &q)?;
    world.step(); // closes loops, of which a posture names the driven joints only
    let items = world_items(&world);
    let camera = Camera::framing(&items, degrees(0, 35.0)?, degrees(1, 18.0)?);
    let image = render(&Picture { camera, items, floor: Some(0.0) }, 960, 720);
    std::fs::write(output, image.to_png()?).with_context(|| format!("cannot write {output}"))
}
