//! Which foot holds the robot from when on, and where.

use karakuri_gait::planner::Side;
use karakuri_model::Base;
use karakuri_spatial::{Pose, UnitQuaternion, Vector3};

use super::{MotionState, Performance, STEP, set_root, set_run};
use crate::document::Document;
use crate::motion::Support;
use crate::problem::{Code, Problem};
use crate::score::{Span, pose_of};

/// Height of a foot's lowest point above the floor up to which it stands, where the feet are found by themselves. [m]
// Below `GAP` of a review (3 mm), so that no foot that is found to stand is reported as one off the floor.
const NEAR: f64 = 0.002;
/// Speed up to which it stands. [m/s]
// A foot on its way up or down is faster but for some milliseconds; taken as standing it would bear load that it cannot.
const SLOW: f64 = 0.01;
/// Depth below the floor from which the other foot takes over. [m]
// A dead band: at zero, feet that are level but for rounding would take turns from frame to frame.
const LOWER: f64 = 1e-4;

/// How the root link is held from a time on.
#[derive(Debug, Clone)]
pub(super) struct Stance {
    /// Time from which it holds. [s]
    pub(super) start: f64,
    /// Whether the left and the right foot stand.
    pub(super) feet: [bool; 2],
    pub(super) standing: Standing,
}

/// What holds the root link.
#[derive(Debug, Clone)]
pub(super) enum Standing {
    /// A foot, whose sole rests at this pose.
    On {
        /// The foot.
        anchor: Side,
        /// `X_WSole`.
        sole: Pose,
    },
    /// Keys of the root link.
    Keyed,
    /// Nothing: the centre of mass flies.
    Flying(Box<Flight>),
    /// A pose that does not change.
    Fixed(Pose),
}

/// A flight of the centre of mass; the root link keeps its attitude.
#[derive(Debug, Clone)]
pub(super) struct Flight {
    start: f64,
    com: Vector3,
    velocity: Vector3,
    attitude: UnitQuaternion,
}

impl Flight {
    /// Root link at a time of the flight: where it puts the centre of mass on its parabola.
    pub(super) fn root(&self, performance: &mut Performance, t: f64, state: &mut MotionState) {
        set_root(state, &Pose::from_quaternion(&self.attitude, Vector3::zeros()));
        set_run(&mut state.v, &[Vector3::zeros(); 2]);
        set_run(&mut state.vdot, &[Vector3::zeros(); 2]);
        let [com, rate] = performance.center_of_mass(state);
        // By inverse dynamics and not by differences in time, which would see an impulse where a joint's speed jumps at a key.
        let acceleration = performance.free_fall(state);
        // `c = c₀ + ċ₀ t + ½ g t²`. Kinematics with the root at the origin give `c − r`, as the attitude does not change.
        let (time, gravity) = (t - self.start, performance.data.gravity);
        let place = self.com + self.velocity * time + gravity * (0.5 * time * time);
        set_root(state, &Pose::from_quaternion(&self.attitude, place - com));
        let velocity = self.velocity + gravity * time - rate;
        set_run(&mut state.v, &[velocity, Vector3::zeros()]);
        set_run(&mut state.vdot, &[acceleration, Vector3::zeros()]);
    }
}

/// Finds the stances of a performance, one after another.
pub(super) fn place(
    performance: &mut Performance,
    document: &Document,
    name: &str,
) -> Result<(), Vec<Problem>> {
    let Some(motion) = document.motions.get(name) else { return Ok(()) };
    if performance.performer.model.base != Base::Floating {
        return Ok(());
    }
    let root = pose_of(&motion.start.root, document.units.angle);
    if performance.performer.legs.is_none() {
        let spans = performance.spans.iter();
        // `auto` is what a motion says that says nothing: a robot without feet rests there.
        let asked =
            spans.map(|span| span.support).find(|s| !matches!(s, Support::Auto | Support::None));
        if let Some(support) = asked {
            let message =
                format!("robot `{}` has no feet to stand on", performance.performer.model.name);
            let at = format!("motions.{name}");
            let remedy =
                format!("write `support: none` and keys of the root in place of {support:?}");
            return Err(vec![Problem::new(Code::Missing, at, message).remedy(remedy)]);
        }
        let standing =
            if performance.root.is_empty() { Standing::Fixed(root) } else { Standing::Keyed };
        performance.stances = vec![Stance { start: 0.0, feet: [false; 2], standing }];
        return Ok(());
    }
    // A first scene may say other feet than the start, and holds from time zero.
    let first = performance.spans.first().map_or(motion.start.support, |span| span.support);
    // One after another: where a foot comes to stand depends on all stances before.
    performance.stances = vec![first_stance(performance, first, &root)];
    for span in performance.spans.clone() {
        go_on(performance, &span);
    }
    Ok(())
}

fn feet_of(support: Support) -> [bool; 2] {
    match support {
        Support::Left => [true, false],
        Support::Right => [false, true],
        Support::Both => [true, true],
        Support::None | Support::Auto => [false, false],
    }
}

/// The stance at time zero: the standing soles about the start's place, flat on the floor.
fn first_stance(performance: &mut Performance, support: Support, root: &Pose) -> Stance {
    let keyed = |standing| Stance { start: 0.0, feet: [false; 2], standing };
    if support == Support::None {
        return keyed(if performance.root.is_empty() {
            Standing::Fixed(*root)
        } else {
            Standing::Keyed
        });
    }
    let mut state = MotionState::default();
    performance.sample_joints(0.0, &mut state);
    let soles = Side::BOTH.map(|side| performance.sole(side, &state.q).unwrap_or(Pose::IDENTITY));
    let heights = Side::BOTH.map(|side| lowest(performance, side, &soles[side.index()]));
    let mut feet = feet_of(support);
    if support == Support::Auto {
        // With the root at the origin, heights only compare; the lower sole is put on the floor below.
        let low = heights[0].min(heights[1]);
        feet = heights.map(|height| height < low + NEAR);
    }
    let anchor = match feet {
        // The lower foot holds, since about the other one it would sink into the floor.
        [true, true] if heights[1] < heights[0] && support == Support::Auto => Side::Right,
        [true, _] => Side::Left,
        _ => Side::Right,
    };
    // The point between the soles that stand, with the anchor's heading, goes to the start's place.
    let flat = flattened(&soles[anchor.index()]);
    // `auto` always finds one; never a division by zero.
    let standing = Side::BOTH.iter().filter(|side| feet[side.index()]).count().max(1);
    let middle = Side::BOTH
        .iter()
        .filter(|side| feet[side.index()])
        .map(|side| soles[side.index()].translation)
        .fold(Vector3::zeros(), |sum, p| sum + p)
        / standing as f64;
    // From the anchor's sole to the middle, in the sole's axes: what the sole lies away from the start's place.
    let offset = flat.inverse().transform_point(&Vector3::new(middle.x, middle.y, 0.0));
    let place = Pose::from_xyz_rpy(
        [root.translation.x, root.translation.y, 0.0],
        [0.0, 0.0, root.rpy()[2]],
    );
    // Where the anchor's sole stands from now on; its height is that of the floor.
    let sole = place * Pose::from_translation(-Vector3::new(offset.x, offset.y, 0.0));
    Stance { start: 0.0, feet, standing: Standing::On { anchor, sole } }
}

/// Stances of a span, after those before it.
fn go_on(performance: &mut Performance, span: &Span) {
    match span.support {
        Support::Auto => find_feet(performance, span),
        Support::None => leave_the_floor(performance, span.start),
        support => {
            let feet = feet_of(support);
            let before = last(performance);
            let anchor = match (&before.standing, feet) {
                // The foot that holds goes on holding: a change would move the robot by whatever its soles are not level.
                (Standing::On { anchor, .. }, [true, true]) => *anchor,
                (_, [true, _]) => Side::Left,
                _ => Side::Right,
            };
            stand(performance, span.start, anchor, feet);
        }
    }
}

fn last(performance: &Performance) -> Stance {
    let none =
        || Stance { start: 0.0, feet: [false; 2], standing: Standing::Fixed(Pose::IDENTITY) };
    performance.stances.last().cloned().unwrap_or_else(none)
}

/// Begins a stance on a foot, where it is by the stance before, flat on the floor.
fn stand(performance: &mut Performance, t: f64, anchor: Side, feet: [bool; 2]) {
    let before = last(performance);
    let sole = match &before.standing {
        // Where it came to stand, bit by bit: found again from the joints, it would creep by rounding.
        Standing::On { anchor: same, sole } if *same == anchor => *sole,
        _ => {
            let mut state = MotionState::default();
            performance.sample_in(t, Some(&before), &mut state);
            let sole = performance.sole(anchor, &state.q).unwrap_or(Pose::IDENTITY);
            flattened(&sole)
        }
    };
    push(performance, Stance { start: t, feet, standing: Standing::On { anchor, sole } });
}

/// Adds a stance, in place of one that begins at the same time.
fn push(performance: &mut Performance, stance: Stance) {
    if let Some(last) = performance.stances.last_mut()
        // The first span begins at zero as the start does, and knows the feet of the first scene.
        && last.start >= stance.start
    {
        *last = stance;
        return;
    }
    performance.stances.push(stance);
}

fn leave_the_floor(performance: &mut Performance, t: f64) {
    let before = last(performance);
    let standing = if !performance.root.is_empty() {
        Standing::Keyed
    } else if let Standing::On { .. } = before.standing {
        // The velocity of the moment before: what the legs have given.
        let mut state = MotionState::default();
        performance.sample_in((t - STEP).max(before.start), Some(&before), &mut state);
        let [_, velocity] = performance.center_of_mass(&state);
        // The place is that of the jump itself, so that nothing shifts.
        performance.sample_in(t, Some(&before), &mut state);
        let [com, _] = performance.center_of_mass(&state);
        // Kept: limbs that move would turn the robot about its centre of mass, which only the preview in the physics shows.
        let attitude = UnitQuaternion::new_normalize(nalgebra::Quaternion::new(
            state.q[6], state.q[3], state.q[4], state.q[5],
        ));
        Standing::Flying(Box::new(Flight { start: t, com, velocity, attitude }))
    } else {
        // It flies or is keyed already: the parabola goes on through further scenes.
        before.standing
    };
    push(performance, Stance { start: t, feet: [false; 2], standing });
}

/// Finds the feet that stand, frame by frame: those whose lowest points are on the floor and rest; the lower one holds.
fn find_feet(performance: &mut Performance, span: &Span) {
    // After a flight: the lower foot lands.
    if !matches!(last(performance).standing, Standing::On { .. }) {
        let mut state = MotionState::default();
        let before = last(performance);
        performance.sample_in(span.start, Some(&before), &mut state);
        let [left, right] = Side::BOTH.map(|side| sole_height(performance, side, &state.q));
        let anchor = if left <= right { Side::Left } else { Side::Right };
        stand(performance, span.start, anchor, [anchor == Side::Left, anchor == Side::Right]);
    }
    let mut places: [Option<Vector3>; 2] = [None; 2];
    let (frame, mut state) = (performance.frame, MotionState::default());
    let mut k = 0.0;
    // At frames only: a foot that comes down between two is up to a frame late, as a robot that gets frames is.
    while span.start + k * frame < span.end {
        let t = span.start + k * frame;
        k += 1.0;
        let now = last(performance);
        // Not reached: the span began on a foot.
        let Standing::On { anchor, .. } = now.standing else { return };
        performance.sample_in(t, Some(&now), &mut state);
        let other = anchor.other();
        let height = sole_height(performance, other, &state.q);
        let place = performance.sole(other, &state.q).map(|sole| sole.translation);
        // A difference over the frame, as both places belong to one stance; without one before, the foot counts as still.
        let speed = place.zip(places[other.index()]).map_or(0.0, |(a, b)| (a - b).norm() / frame);
        // Only of the foot that is free now: the holder's place would make a speed across two stances.
        places = [None; 2];
        places[other.index()] = place;
        // The free foot has gone through the floor, so it is the one that the floor holds.
        if height < -LOWER {
            let feet = [other == Side::Left, other == Side::Right];
            stand(performance, t, other, feet);
            continue;
        }
        let mut feet = [anchor == Side::Left, anchor == Side::Right];
        // It bears with the holder, which stays the same: the root does not move by it.
        feet[other.index()] = height < NEAR && speed < SLOW;
        if feet != now.feet {
            push(performance, Stance { start: t, feet, standing: now.standing });
        }
    }
}

/// Height of a foot's lowest point in a state. [m]
fn sole_height(performance: &mut Performance, side: Side, q: &[f64]) -> f64 {
    performance.sole(side, q).map_or(f64::INFINITY, |sole| lowest(performance, side, &sole))
}

/// Height of the lowest corner of a sole. [m]
fn lowest(performance: &Performance, side: Side, sole: &Pose) -> f64 {
    let Some(legs) = &performance.performer.legs else { return f64::INFINITY };
    let corners = legs[side.index()].outline.corners();
    let heights = corners.map(|[x, y]| sole.transform_point(&Vector3::new(x, y, 0.0)).z);
    heights.into_iter().fold(f64::INFINITY, f64::min)
}

/// A sole's pose on the floor: where it is, flat.
fn flattened(sole: &Pose) -> Pose {
    let place = sole.translation;
    Pose::from_xyz_rpy([place.x, place.y, 0.0], [0.0, 0.0, sole.rpy()[2]])
}
