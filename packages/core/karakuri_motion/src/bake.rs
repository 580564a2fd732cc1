//! States of a robot as a motion of a document: a planned walk becomes scenes that can be edited, played and checked.

use karakuri_dynamics::{Data, forward_kinematics, frame_pose};
use karakuri_gait::planner::Side;
use karakuri_spatial::Vector3;

use crate::document::AngleUnit;
use crate::motion::{Ease, Motion, RootPose, Scene, Start, Support};
use crate::performance::MotionState;
use crate::robot::Performer;

/// A position below which a joint counts as not moved. [rad or m]
// Far above the rounding of a planned position, far below the 6e-3 rad that a count of a small servo turns.
const STILL: f64 = 1e-9;
/// Digits of an angle or length that are kept: a billionth.
// Keeps the numbers of a file short; a nanometre or nanoradian is below what any drive resolves.
const DIGITS: f64 = 1e9;

/// Makes a motion of states: a scene each, with natural splines between them, and the feet that stand. Joints that rest are named
/// in the first scene only. The times of the states ascend; the motion begins with the first one.
pub fn bake(performer: &Performer, unit: AngleUnit, states: &[MotionState]) -> Motion {
    let model = &performer.model;
    let joints: Vec<_> = performer.joints().collect();
    let moves: Vec<bool> = joints
        .iter()
        .map(|id| {
            // Against the first state, not the one before: a joint that creeps would pass a test of neighbours.
            let q = model.joints[id.0].q_start;
            states.iter().any(|state| (state.q[q] - states[0].q[q]).abs() > STILL)
        })
        .collect();
    let mut before = None;
    let mut support = None;
    let mut scenes = Vec::with_capacity(states.len());
    for (k, state) in states.iter().enumerate() {
        // The first state is time zero of the motion, wherever the clock of the plan began.
        let time = state.t - before.unwrap_or(state.t);
        before = Some(state.t);
        // A joint without further keys keeps its first one for the whole motion.
        let named = joints.iter().zip(&moves).filter(|(_, moves)| k == 0 || **moves);
        let values = named.map(|(id, _)| {
            let joint = &model.joints[id.0];
            let value = performer.from_si(*id, unit, state.q[joint.q_start]);
            (joint.name.clone(), rounded(value))
        });
        // The feet of a scene stand in the interval that ends with it.
        let stands = support_of(if k == 0 { state.stands } else { states[k - 1].stands });
        // Said where it changes: a scene without `support` goes on with the feet before.
        let changed = (support != Some(stands)).then_some(stands);
        support = Some(stands);
        scenes.push(Scene {
            time: rounded(time),
            // Samples of a smooth plan: a spline through them has continuous accelerations, so feed-forward torques have no steps.
            ease: Ease::Natural,
            support: changed,
            joints: values.collect(),
            ..Scene::default()
        });
    }
    let start = states.first().map_or_else(Start::default, |state| Start {
        pose: None,
        support: support_of(state.stands),
        root: place(performer, unit, state),
    });
    Motion { start, scenes, ..Motion::default() }
}

fn rounded(value: f64) -> f64 {
    // Zero without a sign.
    (value * DIGITS).round() / DIGITS + 0.0
}

fn support_of(stands: [bool; 2]) -> Support {
    match stands {
        [true, true] => Support::Both,
        [true, false] => Support::Left,
        [false, true] => Support::Right,
        [false, false] => Support::None,
    }
}

/// Place of the soles that stand, with the heading of the first; of the root link where none stands.
fn place(performer: &Performer, unit: AngleUnit, state: &MotionState) -> RootPose {
    let mut data = Data::new(&performer.model);
    forward_kinematics(&performer.model, &mut data, &state.q);
    // Only soles that stand say where the start is: one in the air may be anywhere above the floor.
    let sides = Side::BOTH.into_iter().filter(|side| state.stands[side.index()]);
    let soles = performer.legs.as_ref().map(|legs| {
        let sole = |side: Side| {
            let leg = &legs[side.index()];
            frame_pose(&performer.model, &data, leg.foot) * leg.sole_in_foot
        };
        sides.map(sole).collect::<Vec<_>>()
    });
    if let Some(soles @ [first, ..]) = soles.as_deref() {
        let sum = soles.iter().fold(Vector3::zeros(), |sum, sole| sum + sole.translation);
        let middle = sum / soles.len() as f64;
        let yaw = unit.from_rad(first.rpy()[2]);
        // Height, roll and pitch are the floor's: the start of a performance lays standing soles flat.
        return RootPose {
            xyz: [middle.x, middle.y, 0.0].map(rounded),
            rpy: [0.0, 0.0, rounded(yaw)],
        };
    }
    // Nothing stands, so the start places the root link itself, in all six coordinates.
    let root = data.pose_in_world.first().copied().unwrap_or_default();
    RootPose {
        xyz: <[f64; 3]>::from(root.translation).map(rounded),
        rpy: root.rpy().map(|angle| rounded(unit.from_rad(angle))),
    }
}
