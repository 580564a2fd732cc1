//! A motion in the physics simulation, before a robot performs it: does it fall, and what goes wrong first?
//!
//! The robot's drives follow the motion with the efforts of inverse dynamics as feed-forward, `τ = τ_ff + K (q_d − q) + D (v_d − v)`,
//! as a robot behind the feed-forward controller does. No clock is read: the same build and input give the same digest.

mod clip;
mod verdict;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use karakuri_dynamics::frame_pose;
use karakuri_files::LoadError;
use karakuri_gait::planner::{RootSign, Side};
use karakuri_model::{Base, Diagnostics, Model};
use karakuri_motion::{
    LoadsOf, MotionState, Performance, PhysicsScene, Review, ReviewSettings, Reviewing,
};
use karakuri_physics::{RobotId, Scene, StepOutcome, World, WorldError};
use karakuri_spatial::{Pose, UnitQuaternion, Vector3};

use crate::Digest;
use crate::fill_scene;

pub use clip::{ClipChunk, ClipLayout};
pub use verdict::{PreviewEvent, PreviewReport, Verdict};

use clip::Clip;
use verdict::Judge;

/// Settings of a preview.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PreviewSettings {
    /// Time between two commands of the drives. [s]
    pub command_period: f64,
    /// Time that goes on after the motion's end, for robots that fall late. [s]
    pub tail: f64,
    /// Time between two rows of the clip. [s]
    pub clip_period: f64,
    /// Rows of a chunk of the clip.
    pub chunk_rows: usize,
}

impl Default for PreviewSettings {
    /// Commands at 200 Hz, a second after the end, a clip of 60 Hz in chunks of half a second.
    fn default() -> Self {
        Self { command_period: 0.005, tail: 1.0, clip_period: 1.0 / 60.0, chunk_rows: 30 }
    }
}

/// Reason why there is no preview.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PreviewError {
    /// It was cancelled.
    #[error("the preview was cancelled")]
    Cancelled,
    /// The surroundings do not fit; every problem.
    #[error("the scene of the document: {0}")]
    Scene(#[from] Diagnostics),
    /// A file that the surroundings name cannot be read.
    #[error("the scene of the document: {0}")]
    File(#[from] LoadError),
    /// The physics refuses the robot.
    #[error(transparent)]
    World(#[from] WorldError),
}

/// What a preview gives while it runs.
pub trait PreviewSink {
    /// Names of the columns of the clip's rows, once, before the first chunk.
    fn layout(&mut self, layout: &ClipLayout);
    /// The next chunk of the clip.
    fn chunk(&mut self, chunk: ClipChunk);
}

/// Surroundings of a preview.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// Bodies and connections around the robot.
    pub scene: &'a PhysicsScene,
    /// File of the document, to which the files that the scene names are relative.
    pub file: &'a Path,
}

/// Performs a motion in the physics simulation, and reviews it meanwhile in a thread beside.
///
/// # Errors
/// When it is cancelled, or the surroundings or the robot are wrong.
pub fn preview(
    performance: &mut Performance,
    surroundings: &Surroundings<'_>,
    settings: &PreviewSettings,
    cancel: &AtomicBool,
    sink: &mut dyn PreviewSink,
) -> Result<PreviewReport, PreviewError> {
    let mut stage = Stage::new(performance, surroundings)?;
    let conditions = ReviewSettings { friction: stage.friction, gravity: stage.gravity };
    let planned = performance.clone();
    std::thread::scope(|scope| {
        let reviewing = scope.spawn(|| reviewed(planned, &conditions, cancel));
        let run = Run { performance, settings, cancel }.perform(&mut stage, sink)?;
        let reviewed = reviewing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok(run.judge.report(reviewed, run.digest.to_string(), run.steps))
    })
}

/// Checks a motion without physics.
fn reviewed(
    performance: Performance,
    conditions: &ReviewSettings,
    cancel: &AtomicBool,
) -> Result<Review, PreviewError> {
    let mut reviewing = Reviewing::new(performance, conditions)?;
    while reviewing.step()? {
        if cancel.load(Ordering::Relaxed) {
            return Err(PreviewError::Cancelled);
        }
    }
    Ok(reviewing.finish())
}

/// What is performed, and how.
struct Run<'a> {
    performance: &'a mut Performance,
    settings: &'a PreviewSettings,
    cancel: &'a AtomicBool,
}

/// What the simulation says of a motion.
struct Performed {
    judge: Judge,
    digest: Digest,
    steps: u64,
}

impl Run<'_> {
    fn perform(
        self,
        stage: &mut Stage,
        sink: &mut dyn PreviewSink,
    ) -> Result<Performed, PreviewError> {
        let Self { performance, settings, cancel } = self;
        let mut judge = Judge::default();
        let mut clip = Clip::new(&stage.world, settings);
        sink.layout(clip.layout());
        let mut digest = Digest::default();
        let end = performance.duration() + settings.tail;
        let dt = stage.world.settings().dt;
        let every = steps(settings.command_period / dt);
        let mut loads = LoadsOf::new(performance.performer(), stage.gravity);
        let (mut state, mut n) = (MotionState::default(), 0_u64);
        let (mut until, mut shown_until) = (end, None);
        while stage.world.time() < until - 0.5 * dt {
            if cancel.load(Ordering::Relaxed) {
                return Err(PreviewError::Cancelled);
            }
            let t = stage.world.time();
            if n.is_multiple_of(every) {
                performance.sample(t + settings.command_period, &mut state);
                stage.command(&state, loads.effort(&state));
                performance.sample(t, &mut state);
                if judge.watch(stage, &state) {
                    until = *shown_until.get_or_insert(t + AFTER_FALL);
                }
                digest.add(stage.world.state_hash());
            }
            if let Some(chunk) = clip.take(&stage.world) {
                sink.chunk(chunk);
            }
            if let StepOutcome::NonFinite { .. } = stage.world.step() {
                judge.broke(t, &stage.world.non_finite_report());
                break;
            }
            n += 1;
        }
        digest.add(stage.world.state_hash());
        for chunk in [clip.take(&stage.world), clip.rest()].into_iter().flatten() {
            sink.chunk(chunk);
        }
        Ok(Performed { judge, digest, steps: n })
    }
}

/// Time that is shown after a fall. [s]
const AFTER_FALL: f64 = 0.7;

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
fn steps(ratio: f64) -> u64 {
    ratio.round().max(1.0) as u64
}

/// World with the robot that performs.
struct Stage {
    world: World,
    robot: RobotId,
    model: Arc<Model>,
    legs: Option<[karakuri_gait::planner::Leg; 2]>,
    friction: f64,
    gravity: f64,
}

impl Stage {
    fn new(
        performance: &mut Performance,
        surroundings: &Surroundings<'_>,
    ) -> Result<Self, PreviewError> {
        let text = surroundings.scene.scene_file(&[]);
        let scene = Scene::parse(&text, "scene")?;
        let friction = scene.ground.map_or(0.0, |ground| ground.friction);
        let gravity = scene.settings.gravity.norm();
        let loaded = fill_scene(scene, surroundings.file)?;
        let mut world = loaded.world()?;
        let performer = Arc::clone(performance.performer());
        let model = Arc::clone(&performer.model);
        let start = performance.state(0.0);
        let robot = world.add_robot(&model.name, Arc::clone(&model), &start.q)?;
        Ok(Self { world, robot, model, legs: performer.legs.clone(), friction, gravity })
    }

    /// Sets the targets of the drives.
    fn command(&mut self, state: &MotionState, effort: &[f64]) {
        let drives = self.world.drive_mut(self.robot);
        for joint in self.model.joints.iter().filter(|joint| joint.drive.is_some()) {
            let (q, k) = (joint.q_start, joint.v_start);
            drives.position[k] = state.q[q].clamp(joint.limits.lower, joint.limits.upper);
            drives.velocity[k] = state.v[k];
            // The drive moves its own rotor as well.
            drives.effort[k] = effort[k] + joint.armature * state.vdot[k];
        }
    }

    /// Pose of a sole in the world.
    fn sole(&self, side: Side) -> Option<Pose> {
        let leg = &self.legs.as_ref()?[side.index()];
        let data = self.world.robot(self.robot).data();
        Some(frame_pose(&self.model, data, leg.foot) * leg.sole_in_foot)
    }

    /// Whether the root link lies lower than it should, or leans otherwise than it should.
    fn has_fallen(&self, state: &MotionState) -> bool {
        if self.model.base != Base::Floating {
            return false;
        }
        let q = self.world.robot(self.robot).q();
        let up = |q: &[f64]| {
            let rotation =
                UnitQuaternion::new_normalize(nalgebra::Quaternion::new(q[6], q[3], q[4], q[5]));
            rotation.inverse() * Vector3::z()
        };
        let lean = up(q).angle(&up(&state.q));
        RootSign::Lean([lean, 0.0]).has_fallen()
            || RootSign::Height { now: q[2], start: state.q[2] }.has_fallen()
    }
}

#[cfg(test)]
mod tests;
