//! One picture of a walk: the robot at places along its way, seen from its right.

use std::path::Path;

use anyhow::{Context, Result};
use karakuri_files::write_atomic;
use karakuri_model::Model;
use karakuri_render::{Camera, Item, Picture, render, robot_items};
use karakuri_spatial::Vector3;

/// Robots stand apart by this part of their height, at least. [-]
const APART: f64 = 0.4;
/// Most robots in a picture.
const MOST: usize = 12;
/// Width and height. [pixels]
const SIZE: [usize; 2] = [1500, 500];
/// Camera: direction about z, above the horizon, angle from the lower to the upper edge. [rad]
const VIEW: [f64; 3] = [-1.25, 0.12, 0.25];

/// Draws the scene with the robot at instants of its way.
pub(super) fn write(
    file: &Path,
    model: &Model,
    scene: Vec<Item>,
    postures: &[Vec<f64>],
) -> Result<()> {
    let (Some(first), Some(last)) = (postures.first(), postures.last()) else { return Ok(()) };
    let height = 1.9 * first[2];
    let way = last[0] - first[0];
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number")]
    let n = ((way.abs() / (APART * height)) as usize).min(MOST);
    let mut items = scene;
    for k in 0..n {
        let x = first[0] + way * k as f64 / n as f64;
        let off = |q: &&Vec<f64>| (q[0] - x).abs();
        if let Some(q) = postures.iter().min_by(|a, b| off(a).total_cmp(&off(b))) {
            items.extend(robot_items(model, q));
        }
    }
    let [azimuth, elevation, angle] = VIEW;
    let aspect = SIZE[0] as f64 / SIZE[1] as f64;
    let highest = postures.iter().map(|q| q[2]).fold(first[2], f64::max) - first[2] + height;
    let half = (0.6 * (way.abs() + height) / aspect).max(0.65 * highest);
    let middle =
        Vector3::new(0.5 * (first[0] + last[0]), 0.5 * (first[1] + last[1]), 0.5 * highest);
    let distance = half / (0.5 * angle).tan();
    let camera = Camera::orbiting(middle, distance, azimuth, elevation, angle);
    let image = render(&Picture { camera, items, floor: Some(0.0) }, SIZE[0], SIZE[1]);
    write_atomic(file, &image.to_png()?).with_context(|| format!("cannot write {}", file.display()))
}
