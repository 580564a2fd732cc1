//! Ground under a walk: a floor or a slope, bumps, stairs.

use anyhow::Result;
use karakuri_gait::planner::{Clip, ClipKind, Footstep, Generator, Place, Side, WalkEngine, clip};
use karakuri_model::Shape;
use karakuri_physics::{BodyDescription, World};
use karakuri_spatial::{Pose, Vector3};

use super::cell::Conditions;

/// Stairs up and down again.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Stairs {
    /// Height of one stair. [m]
    pub(super) height: f64,
    /// Depth of one tread. [m]
    pub(super) depth: f64,
    /// Count of stairs on each side.
    pub(super) count: u32,
}

impl Stairs {
    /// Clearance before a toe and behind a heel. [m]
    const CLEAR: f64 = 0.03;

    /// Start, end [m] and height [m] of each tread; the last is the floor behind.
    fn treads(&self, toe: f64) -> Vec<[f64; 3]> {
        let n = 2 * self.count;
        let tread = |i: u32| {
            let start = toe + Self::CLEAR + f64::from(i - 1) * self.depth;
            [start, start + self.depth, f64::from(i.min(n - i)) * self.height]
        };
        (1..=n).map(tread).collect()
    }

    /// Footsteps that put both feet on every tread, `first` first.
    pub(super) fn footsteps(&self, engine: &WalkEngine, first: Side) -> Vec<Footstep> {
        let [heel, toe] = engine.generator().biped.legs[0].outline.x;
        let feet = engine.generator().standing_feet();
        let step = |[start, _, height]: [f64; 3]| {
            [first, first.other()].map(|side| {
                let Place { position: [_, y, _], yaw, .. } = feet[side.index()];
                let to = Place::level([start + Self::CLEAR - heel, y, height], yaw);
                Footstep { side, to, slide: 0.0 }
            })
        };
        self.treads(toe).into_iter().flat_map(step).collect()
    }

    /// Largest cut of each quantity that the gait's limits make in the steps from tread to tread; `None` without cuts.
    pub(super) fn beyond(&self, engine: &WalkEngine, first: Side) -> Option<String> {
        let Generator { biped, settings, .. } = engine.generator();
        let (mut feet, mut clips) = (engine.generator().standing_feet(), Vec::new());
        for step in self.footsteps(engine, first) {
            let standing = feet[step.side.other().index()];
            clip(&step, &standing, &settings.limits, biped.has_yaw, &mut clips);
            feet[step.side.index()] = step.to;
        }
        let by_cut =
            |a: &Clip, b: &Clip| (a.asked - a.done).abs().total_cmp(&(b.asked - b.done).abs());
        let worst = [ClipKind::Height, ClipKind::Length, ClipKind::Width].map(|what| {
            clips.iter().rev().filter(|clip| clip.what == what).max_by(|a, b| by_cut(a, b))
        });
        let named: Vec<String> = worst.iter().flatten().map(ToString::to_string).collect();
        (!named.is_empty()).then(|| named.join("; "))
    }

    fn add(&self, world: &mut World, engine: &WalkEngine, friction: f64) -> Result<()> {
        let toe = engine.generator().biped.legs[0].outline.x[1];
        for (i, [start, end, height]) in self.treads(toe).into_iter().enumerate() {
            if height > 0.0 {
                let size = Vector3::new(end - start, 2.0, height);
                let middle = Vector3::new(0.5 * (start + end), 0.0, 0.5 * height);
                add_block(world, format!("stair {i}"), size, middle, friction)?;
            }
        }
        Ok(())
    }
}

/// Adds the ground of the conditions.
pub(super) fn add(world: &mut World, engine: &WalkEngine, conditions: &Conditions) -> Result<()> {
    if conditions.slope.iter().all(|tilt| *tilt == 0.0) {
        world.add_ground(conditions.friction, 0.0);
    } else {
        add_slope(world, conditions)?;
    }
    if conditions.bumps > 0.0 {
        add_bumps(world, conditions)?;
    }
    if let Some(stairs) = &conditions.stairs {
        stairs.add(world, engine, conditions.friction)?;
    }
    Ok(())
}

fn add_bumps(world: &mut World, conditions: &Conditions) -> Result<()> {
    for k in 0..100_u32 {
        let x = 0.3 + 0.3 * f64::from(k);
        let size = Vector3::new(0.05, 2.0, 2.0 * conditions.bumps);
        let middle = Vector3::new(x, 0.0, 0.0);
        add_block(world, format!("bump {k}"), size, middle, conditions.friction)?;
    }
    Ok(())
}

/// Adds an inclined floor through the origin.
fn add_slope(world: &mut World, conditions: &Conditions) -> Result<()> {
    const SIZE: [f64; 3] = [100.0, 20.0, 1.0];
    let [roll, pitch] = conditions.slope;
    let turn = Pose::from_xyz_rpy([0.0; 3], [roll, pitch, 0.0]);
    let middle = turn.transform_vector(&Vector3::new(0.0, 0.0, -0.5 * SIZE[2]));
    let pose = Pose::new(turn.rotation, middle);
    add_box(world, "slope".to_owned(), Vector3::from(SIZE), pose, conditions.friction)
}

fn add_block(
    world: &mut World,
    name: String,
    size: Vector3,
    middle: Vector3,
    friction: f64,
) -> Result<()> {
    add_box(world, name, size, Pose::from_translation(middle), friction)
}

fn add_box(
    world: &mut World,
    name: String,
    size: Vector3,
    pose: Pose,
    friction: f64,
) -> Result<()> {
    world.add_body(BodyDescription {
        friction,
        fixed: true,
        color: [0.6, 0.6, 0.6, 1.0],
        ..BodyDescription::new(name, Shape::Box { size }, 1.0, pose)
    })?;
    Ok(())
}
