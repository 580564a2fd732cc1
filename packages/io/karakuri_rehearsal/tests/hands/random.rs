//! Random tasks for all hands: what succeeds is at its place, what fails says why, and nothing falls that a hand says it holds.

use core::f64::consts::{FRAC_PI_2, PI};
use std::collections::BTreeMap;

use karakuri_grasp::pick_and_place::{
    Failure, ObjectShape, Part, PickAndPlaceGoal, PlanError, Profile, Stage, moved, upright,
};
use karakuri_model::Shape;
use karakuri_spatial::{Pose, UnitQuaternion, Vector3};

use crate::cell::Cell;
use crate::object::{center, shape};

/// `SplitMix64`: equal seeds give equal tasks.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        let x = self.next() * from.len() as f64;
        from.iter().cloned().enumerate().find(|(i, _)| x < (i + 1) as f64).unwrap().1
    }
}

/// What the goal says of its object that is not so.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Flaw {
    None,
    /// Its friction is this, of 0.5 that are stated. [-]
    Slippery(f64),
    /// All its edges are this times as long as stated. [-]
    Size(f64),
    /// It is elsewhere by this, and not seen. [m]
    Moved(f64),
}

#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) robot: &'static str,
    shape: Shape,
    flaw: Flaw,
    /// True mass. [kg]
    mass: f64,
    pick: Pose,
    place: Pose,
    pub(crate) goal: PickAndPlaceGoal,
}

const ROBOTS: [&str; 5] =
    ["arm6", "arm6_scissor", "arm6_three_fingers", "arm6_suction", "arm6_suction4"];
const SHAPES: [ObjectShape; 6] = [
    ObjectShape::Box,
    ObjectShape::Box,
    ObjectShape::Cylinder,
    ObjectShape::Capsule,
    ObjectShape::Ball,
    ObjectShape::Cone,
];

/// Edges of a shape's box, by three random ones. [m]
fn edges(kind: &ObjectShape, [a, b, c]: [f64; 3]) -> [f64; 3] {
    match kind {
        ObjectShape::Box => [a, b, c],
        ObjectShape::Cylinder | ObjectShape::Cone => [a, a, b],
        ObjectShape::Capsule => [a, a, a + b],
        ObjectShape::Ball => [a; 3],
        ObjectShape::Hull(_) => panic!("a hull has more than edges"),
    }
}

pub(crate) fn task(random: &mut Random) -> Task {
    let robot = random.pick(&ROBOTS);
    let kind = random.pick(&SHAPES);
    let (low, high, most) = match robot {
        "arm6" => (0.015, 0.1, 40.0),
        "arm6_scissor" => (0.015, 0.07, 30.0),
        "arm6_three_fingers" => (0.03, 0.1, 25.0),
        "arm6_suction" => (0.03, 0.2, 69.0),
        _ => (0.08, 0.3, 192.0),
    };
    let flaw = match random.next() {
        p if p < 0.6 => Flaw::None,
        p if p < 0.75 => Flaw::Slippery(random.between(0.2, 0.45)),
        p if p < 0.9 => Flaw::Size(random.pick(&[0.7, 0.8, 1.2])),
        _ => Flaw::Moved(random.pick(&[0.02, 0.25])),
    };
    let scale = if let Flaw::Size(scale) = flaw { scale } else { 1.0 };
    let size = edges(&kind, core::array::from_fn(|_| random.between(low, high)));
    let shape = shape(&kind, size.map(|edge| edge * scale));
    let size = Vector3::from(size);
    // A capsule does not stand by itself, and a cone that lies is held by no hand.
    let lies = kind == ObjectShape::Capsule || random.next() < 0.3 && kind != ObjectShape::Cone;
    let tilt = if lies { FRAC_PI_2 } else { 0.0 };
    let mass = (size.product() * random.between(200.0, 3000.0)).clamp(0.02, ARM_PAYLOAD);
    let mut at = |x: f64, y: f64, top: f64| {
        let turn = UnitQuaternion::from_euler_angles(0.0, tilt, random.between(-PI, PI));
        let pose = Pose::from_quaternion(&turn, Vector3::new(x, y, top));
        let height = upright(&kind, &pose, &size).unwrap().size.z;
        (Pose::new(pose.rotation, pose.translation + Vector3::z() * (0.5 * height)), height)
    };
    let ((stated, height), (place, _)) = (at(0.5, -0.2, 0.75), at(0.5, 0.2, 0.85));
    let off = Vector3::new(random.between(-0.08, 0.08), random.between(-0.12, 0.05), 0.0);
    let stated = Pose::new(stated.rotation, stated.translation + off);
    let object = upright(&kind, &stated, &size).unwrap();
    // What is of another size stands on the table, too.
    let mut pick = stated;
    pick.translation.z += 0.5 * height * (scale - 1.0);
    if let Flaw::Moved(distance) = flaw {
        pick.translation.y -= distance;
    }
    let goal = PickAndPlaceGoal {
        part: Part::Whole,
        shape: kind,
        profile: object.profile.clone(),
        size: object.size,
        mass: mass * random.between(0.7, 1.3),
        friction: FRICTION,
        pick: object.pose,
        place: moved(&object, &stated, &place).unwrap(),
        grip_force: if most > 50.0 { most } else { 10.0 },
        max_grip_force: most,
        approach_height: 0.12,
        grasps: Vec::new(),
    };
    Task { robot, shape, flaw, mass, pick, place, goal }
}

/// Greatest mass: beyond it the arm, whose controller does not know the payload, sags by more than it may be off at rest. [kg]
const ARM_PAYLOAD: f64 = 4.0;
/// Stated friction. [-]
const FRICTION: f64 = 0.5;

/// Whether the object rolls where it is put.
fn rolls(task: &Task) -> bool {
    matches!(task.goal.profile, Profile::Ball | Profile::Lying { .. })
}

/// Cell with the object of a task as it is, which is not always what the goal states.
pub(crate) fn cell_of(task: &Task) -> Cell {
    let mut cell = Cell::new(task.robot, "start1", |body| {
        (body.shape, body.mass) = (task.shape.clone(), task.mass);
        body.pose = center(&task.goal.shape, &task.pick, body.shape.bounds().1.z);
        // Materials combine by the geometric mean: pads have 0.6.
        if let Flaw::Slippery(friction) = task.flaw {
            body.friction = friction * friction / 0.6;
        }
    });
    cell.faults.blind = matches!(task.flaw, Flaw::Moved(_));
    cell
}

/// What came of a task: its code, and what is not as it should be.
fn carry_out(task: &Task) -> (&'static str, Option<String>) {
    let mut cell = cell_of(task);
    if let Err(refused) = cell.start(&task.goal) {
        let code = match refused {
            PlanError::TooHeavy { .. } => "refused: too heavy",
            PlanError::Unreachable { .. } => "refused: unreachable",
            PlanError::Range { .. } => "refused: no room",
            PlanError::SqueezedOut(_) => "refused: squeezed out",
            PlanError::SlipsOff { .. } => "refused: slips off",
            PlanError::Shape { .. } => "refused: shape",
            _ => return ("refused", Some(refused.to_string())),
        };
        return (code, None);
    }
    let (mut held, mut dropped) = (task.pick, 0_u32);
    let result = cell.run(|cell| {
        let feedback = cell.machine().feedback();
        if feedback.holding && matches!(feedback.stage, Stage::Lift | Stage::Move | Stage::Lower) {
            held = cell.object();
            // Not further from the tool than the hold allows: half of the object's largest edge, and the pads.
            let far = (cell.tool() - held.translation).norm() > 0.5 * task.goal.size.max() + 0.03;
            dropped = if far { dropped + 1 } else { 0 };
        }
        // A tenth of a second is what it takes to notice.
        assert!(dropped < 150, "it says that it holds what it has dropped: {task:?}");
    });
    let Some(failure) = result.failure else {
        for _ in 0..300 {
            cell.step();
        }
        // What is round rolls on from where it was let go.
        let end = if rolls(task) { held } else { cell.object() };
        let off = (end.translation - task.goal.place.position).xy().norm();
        let turn = end.rotation * task.place.rotation.transpose();
        let angle = (0.5 * (turn.trace() - 1.0)).clamp(-1.0, 1.0).acos().to_degrees();
        // Of what is not seen a hand feels nothing along its fingers: it is off at its place as it was where it was taken.
        let unseen = if let Flaw::Moved(distance) = task.flaw { distance } else { 0.0 };
        let is_wrong = off > 0.005 + unseen || (!rolls(task) && angle > 3.0);
        return ("placed", is_wrong.then(|| format!("{:.1} mm, {angle:.1} degrees", 1e3 * off)));
    };
    let is_slippery = matches!(task.flaw, Flaw::Slippery(_));
    let is_other = matches!(task.flaw, Flaw::Size(_));
    let is_away = matches!(task.flaw, Flaw::Moved(_));
    let is_true = match failure {
        Failure::NoObject | Failure::Blocked => is_away,
        // A finger that stands on the object keeps the arm from where it should be.
        Failure::NoSeal | Failure::Collision | Failure::TimeOut => is_away || is_other,
        Failure::WrongSize => is_other,
        Failure::Slipped if result.stage == Stage::Retreat => is_slippery || rolls(task),
        // A centre of mass that is 20 mm beside the fingers turns what they hold out of them.
        Failure::Slipped => is_slippery || is_away,
        Failure::PressureLost => is_slippery,
        Failure::TooHeavy => is_slippery || task.mass > task.goal.mass,
        _ => false,
    };
    let text = || format!("{} in {:?}: {}", failure.name(), result.stage, result.message);
    (failure.name(), (!is_true).then(text))
}

/// Carries tasks out; counts by hand and code.
fn survey(seed: u64, n: usize) -> BTreeMap<(&'static str, &'static str), usize> {
    let mut random = Random(seed);
    let mut counts = BTreeMap::new();
    let mut wrongs = Vec::new();
    for i in 0..n {
        let task = task(&mut random);
        let (code, wrong) = carry_out(&task);
        wrongs.extend(wrong.map(|wrong| format!("task {i}, {code}: {wrong}\n{task:?}")));
        *counts.entry((task.robot, code)).or_default() += 1;
    }
    assert!(wrongs.is_empty(), "{}\n{counts:?}", wrongs.join("\n"));
    counts
}

#[test]
fn random_tasks_end_as_they_say() {
    let counts = survey(3, 30);
    let placed = |robot| counts.get(&(robot, "placed")).copied().unwrap_or_default();
    assert!(ROBOTS.iter().all(|robot| placed(robot) > 0), "{counts:?}");
}

#[test]
#[ignore = "two minutes"]
fn two_hundred_random_tasks() {
    for ((robot, code), n) in survey(1, 200) {
        println!("{robot:16} {n:3} {code}");
    }
}
