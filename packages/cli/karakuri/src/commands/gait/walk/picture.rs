//! Picture of a walk: the robot at places along its distance, seen from its right.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use karakuri_files::write_atomic;
use karakuri_model::{Convex, Mesh, Model, Shape};
use karakuri_render::{Camera, Image, Item, Picture, film_strip, render, robot_items};
use karakuri_spatial::{Pose, UnitQuaternion, Vector3};

use super::cell::Push;

/// Least distance between robots, as a part of their height. [-]
const APART: f64 = 0.4;
/// Largest number of robots in a picture.
const MOST: usize = 12;
/// Width and height of the picture. [pixels]
const SIZE: [usize; 2] = [1500, 500];
/// Azimuth about z and elevation of the camera, and angle from the lower to the upper edge. [rad]
const VIEW: [f64; 3] = [-1.25, 0.12, 0.25];

/// Azimuth of the camera for a sideways push, which could not be seen from the right. [rad]
const ASIDE: f64 = -0.85;
/// Colour of the times, RGBA. [0 to 255]
const INK: [u8; 4] = [40, 44, 52, 255];
/// Colour of a push, RGBA. [0 to 1]
const PUSHED: [f32; 4] = [0.86, 0.18, 0.12, 1.0];
/// Number of pictures side by side of a robot that stays in place.
const STILLS: usize = 5;

/// Record of a walk to draw.
pub(super) struct Walk<'a> {
    pub(super) model: &'a Model,
    /// Items of the ground that the robot walks on.
    pub(super) scene: Vec<Item>,
    /// Positions of the robot, and their times. [s]
    pub(super) postures: &'a [Vec<f64>],
    pub(super) times: Vec<f64>,
    pub(super) push: Option<Push>,
}

/// Draws the scene with the robot at instants of its distance, which are written below it, and an arrow at a push; a robot that
/// hardly moves is drawn at instants side by side.
pub(super) fn write(file: &Path, walk: &Walk) -> Result<()> {
    let (Some(first), Some(last)) = (walk.postures.first(), walk.postures.last()) else {
        return Ok(());
    };
    let height = 1.9 * first[2];
    let distance = last[0] - first[0];
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number")]
    let n = ((distance.abs() / (APART * height)) as usize).min(MOST);
    let image = if n > 1 {
        let mut instants: Vec<_> = (0..=n)
            .map(|k| walk.nearest(|q| q[0] - first[0] - distance * k as f64 / n as f64))
            .collect();
        walk.show_push(&mut instants);
        walk.photograph(&instants, height, SIZE)
    } else {
        let end = walk.postures.len() - 1;
        let mut instants: Vec<_> = (0..STILLS).map(|k| end * k / (STILLS - 1)).collect();
        walk.show_push(&mut instants);
        let size = [SIZE[0] / STILLS, SIZE[1]];
        let stills: Vec<_> =
            instants.iter().map(|&k| walk.photograph(&[k], height, size)).collect();
        film_strip(&stills, STILLS, 0)
    };
    write_atomic(file, &image.to_png()?).with_context(|| format!("cannot write {}", file.display()))
}

impl Walk<'_> {
    /// Index of the instant at which `off` is nearest to zero.
    fn nearest(&self, off: impl Fn(&[f64]) -> f64) -> usize {
        let indices = 0..self.postures.len();
        let off = |k: &usize| off(&self.postures[*k]).abs();
        indices.min_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or(0)
    }

    /// Index of the instant of the push, if that is within the walk.
    fn pushed(&self) -> Option<usize> {
        let push = self.push?;
        let k = self.times.partition_point(|&time| time < push.time);
        (k < self.postures.len()).then_some(k)
    }

    /// Replaces the instant nearest to the push by that of the push.
    fn show_push(&self, instants: &mut [usize]) {
        let Some(pushed) = self.pushed() else { return };
        if let Some(next) = instants.iter_mut().min_by_key(|k| k.abs_diff(pushed)) {
            *next = pushed;
        }
    }

    /// Picture of the robot at instants; a region `height` [m] high around them is in view.
    fn photograph(&self, instants: &[usize], height: f64, size: [usize; 2]) -> Image {
        let roots: Vec<_> =
            instants.iter().map(|&k| Vector3::from_row_slice(&self.postures[k][..3])).collect();
        let mut items = self.scene.clone();
        for &k in instants {
            items.extend(robot_items(self.model, &self.postures[k]));
            if let Some(push) = self.push.filter(|_| self.pushed() == Some(k)) {
                let [forward, left] = push.impulse;
                let direction = Vector3::new(forward, left, 0.0);
                let root = Vector3::from_row_slice(&self.postures[k][..3]);
                // beside the trunk, at the height of the arms
                let beside = direction.normalize() * -0.25 + Vector3::new(0.0, 0.0, 0.2);
                let arrow = arrow(root + height * beside, direction, 0.45 * height);
                items.extend(arrow.into_iter().flatten());
            }
        }
        let [mut azimuth, elevation, angle] = VIEW;
        if self.push.is_some_and(|push| push.impulse[1].abs() > push.impulse[0].abs()) {
            azimuth = ASIDE;
        }
        let aspect = size[0] as f64 / size[1] as f64;
        let standing = self.postures[0][2];
        let (low, high) = roots.iter().fold((roots[0], roots[0]), |(a, b), p| (a.inf(p), b.sup(p)));
        let highest = high.z - standing + height;
        let half = (0.6 * (high.x - low.x + height) / aspect).max(0.65 * highest);
        let middle = 0.5 * (low + high);
        let middle = Vector3::new(middle.x, middle.y, 0.5 * highest);
        let distance = half / (0.5 * angle).tan();
        let camera = Camera::orbiting(middle, distance, azimuth, elevation, angle);
        let mut image = render(&Picture { camera, items, floor: Some(0.0) }, size[0], size[1]);
        for (&k, root) in instants.iter().zip(&roots) {
            let foot = Vector3::new(root.x, root.y, root.z - standing);
            if let Some([x, y]) = camera.pixel(&foot, size[0], size[1]) {
                let y = (y + 0.05 * size[1] as f64).min(size[1] as f64 - 20.0);
                image.write(&format!("{:.1} s", self.times[k]), [x, y], 2, INK);
            }
        }
        image
    }
}

/// Arrow of a length [m] whose head is at a point [m].
fn arrow(to: Vector3, direction: Vector3, length: f64) -> Option<[Item; 2]> {
    let direction = direction.try_normalize(1e-12)?;
    let along = UnitQuaternion::rotation_between(&Vector3::z(), &direction)?;
    let (tip, radius) = (0.3 * length, 0.035 * length);
    let item = |shape, from_head: f64| Item {
        shape,
        pose: Pose::from_quaternion(&along, to - from_head * direction),
        color: PUSHED,
    };
    let shaft = Shape::Cylinder { radius, length: length - tip };
    Some([item(shaft, tip + 0.5 * (length - tip)), item(cone(2.6 * radius, tip), tip)])
}

/// Cone along z on its round face. [m]
fn cone(radius: f64, height: f64) -> Shape {
    const SIDES: u32 = 24;
    let rim = (0..SIDES).map(|k| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / f64::from(SIDES)).sin_cos();
        [radius * cos, radius * sin, 0.0]
    });
    let vertices = rim.chain([[0.0, 0.0, height], [0.0; 3]]).collect();
    let side = |k: u32| [[k, (k + 1) % SIDES, SIDES], [(k + 1) % SIDES, k, SIDES + 1]];
    let triangles = (0..SIDES).flat_map(side).collect();
    Shape::Mesh(Arc::new(Mesh { path: PathBuf::new(), vertices, triangles, convex: Convex::Hull }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrow_ends_at_its_place_and_points_along_its_direction() {
        let to = Vector3::new(0.3, -0.2, 0.5);
        for direction in [Vector3::y(), -Vector3::y(), Vector3::new(1.0, 2.0, 0.0)] {
            let [shaft, head] = arrow(to, 0.01 * direction, 0.2).expect("a direction");
            let tip = head.pose.transform_point(&Vector3::new(0.0, 0.0, 0.06));
            assert!((tip - to).norm() < 1e-12);
            let Shape::Cylinder { length, .. } = shaft.shape else { panic!("no shaft") };
            let tail = shaft.pose.transform_point(&Vector3::new(0.0, 0.0, -0.5 * length));
            assert!((to - tail - 0.2 * direction.normalize()).norm() < 1e-12);
        }
        assert!(arrow(to, Vector3::zeros(), 0.2).is_none());
    }
}
