//! Three fingers: what is round between tips 120° apart, boxes and what lies between a thumb and two.

use core::f64::consts::FRAC_PI_2;

use karakuri_grasp::pick_and_place::{
    Failure, ObjectShape, Part, PickAndPlaceGoal, Profile, Stage, moved, upright,
};
use karakuri_rehearsal::Variation;
use karakuri_spatial::{Pose, UnitQuaternion, Vector3};

use crate::cell::{Cell, OBJECT};
use crate::object::{center, shape};

const ROBOT: &str = "arm6_three_fingers";
/// The same hand with fingers of two phalanges, whose tips hold as long as these are straight.
const UNDERACTUATED: &str = "arm6_underactuated";

/// An object of these edges that stands, or lies where it is `tilted`, and is to go onto the shelf turned by half a radian.
fn task(kind: &ObjectShape, edges: [f64; 3], mass: f64, tilted: bool) -> (PickAndPlaceGoal, Pose) {
    let size = Vector3::from(edges);
    let tilt = if tilted { FRAC_PI_2 } else { 0.0 };
    let at = |x: f64, y: f64, top: f64, yaw: f64| {
        let turn = UnitQuaternion::from_euler_angles(0.0, tilt, yaw);
        let pose = Pose::from_quaternion(&turn, Vector3::new(x, y, top));
        let height = upright(kind, &pose, &size).unwrap().size.z;
        Pose::new(pose.rotation, pose.translation + Vector3::z() * (0.5 * height))
    };
    let (pick, place) = (at(0.5, -0.2, 0.75, 0.3), at(0.5, 0.2, 0.85, 0.8));
    let object = upright(kind, &pick, &size).unwrap();
    let goal = PickAndPlaceGoal {
        part: Part::Whole,
        shape: kind.clone(),
        profile: object.profile.clone(),
        size: object.size,
        mass,
        friction: 0.6,
        pick: object.pose,
        place: moved(&object, &pick, &place).unwrap(),
        grip_force: 10.0,
        max_grip_force: 25.0,
        approach_height: 0.12,
        grasps: Vec::new(),
    };
    (goal, pick)
}

/// A cell with an object where a goal says; its centre of mass is below its box's middle by what it is.
pub(crate) fn cell(
    robot: &str,
    kind: &ObjectShape,
    edges: [f64; 3],
    mass: f64,
    pick: &Pose,
) -> Cell {
    Cell::new(robot, "start1", |body| {
        (body.shape, body.mass, body.friction) = (shape(kind, edges), mass, 0.6);
        body.pose = center(kind, pick, edges[2]);
    })
}

/// A ball that is seen beside where it is: friction on the table keeps it there, so that three stiff fingers press unevenly. Lifted so it would slip out.
#[test]
fn what_is_beside_the_middle_is_pressed_evenly_before_it_is_lifted() {
    const EDGE: f64 = 0.08;
    for robot in [ROBOT, UNDERACTUATED] {
        let (goal, pick) = task(&ObjectShape::Ball, [EDGE; 3], 1.1, false);
        let middle = cell(robot, &ObjectShape::Ball, [EDGE; 3], 1.2, &pick);
        for place in
            [[-0.001, 0.0008], [-0.002, 0.001], [0.0, -0.0025], [0.0012, 0.0006], [0.002, 0.002]]
        {
            let mut cell = middle.clone();
            cell.vary(Some(OBJECT), &Variation { place, ..Variation::NONE }).unwrap();
            cell.start(&goal).unwrap();
            let mut least = f64::INFINITY;
            let result = cell.run(|cell| {
                if cell.machine().feedback().stage == Stage::Lift {
                    let [_, thumb, left, right] = cell.machine().channels() else { return };
                    least = least.min(left.value.min(right.value) / thumb.value);
                }
            });
            assert_eq!(result.failure, None, "{robot} {place:?}: {result:?}");
            assert!(
                least > 0.6,
                "{robot} {place:?}: a finger presses with {least:.2} of the thumb's"
            );
        }
    }
}

#[test]
fn three_fingers_take_what_stands_and_what_lies() {
    takes_what_stands_and_what_lies(ROBOT);
}

#[test]
fn underactuated_fingers_take_what_stands_and_what_lies() {
    takes_what_stands_and_what_lies(UNDERACTUATED);
}

fn takes_what_stands_and_what_lies(robot: &str) {
    for (kind, edges, mass, tilted) in [
        (ObjectShape::Cylinder, [0.06, 0.06, 0.1], 0.5, false),
        (ObjectShape::Cylinder, [0.05, 0.05, 0.1], 0.5, true),
        (ObjectShape::Capsule, [0.04, 0.04, 0.12], 0.3, true),
        (ObjectShape::Ball, [0.06; 3], 0.3, false),
        (ObjectShape::Box, [0.06, 0.06, 0.05], 0.4, false),
        (ObjectShape::Box, [0.1, 0.05, 0.08], 0.8, false),
        (ObjectShape::Cone, [0.08, 0.08, 0.128], 0.3, false),
    ] {
        let (goal, pick) = task(&kind, edges, mass, tilted);
        let mut cell = cell(robot, &kind, edges, mass, &pick);
        cell.start(&goal).unwrap_or_else(|why| panic!("{kind:?} {edges:?}: {why}"));
        let mut held = pick;
        let result = cell.run(|cell| {
            if cell.machine().feedback().stage == Stage::Lower {
                held = cell.object();
            }
        });
        // What is round rolls on from where it was let go.
        let rolls = matches!(goal.profile, Profile::Ball | Profile::Lying { .. });
        let end = if rolls { held } else { cell.object() };
        let off = (end.translation - goal.place.position).xy().norm();
        let rolled =
            rolls && result.failure == Some(Failure::Slipped) && result.stage == Stage::Retreat;
        assert!(result.failure.is_none() || rolled, "{kind:?} {edges:?}: {result:?}");
        assert!(off < 0.005, "{kind:?} {edges:?}: {:.1} mm", 1e3 * off);
        if !rolls {
            let up = end.rotation[(2, 2)];
            assert!(up > 3_f64.to_radians().cos(), "{kind:?} {edges:?}: {up}");
        }
    }
}

#[test]
fn three_fingers_say_what_they_cannot_hold() {
    for (kind, edges, mass, tilted, why) in [
        (ObjectShape::Cylinder, [0.12, 0.12, 0.1], 0.5, false, "below 0.1080"),
        (ObjectShape::Box, [0.04, 0.04, 0.05], 0.2, false, "at least 0.0476, for both"),
        (ObjectShape::Box, [0.06, 0.06, 0.012], 0.2, false, "do not touch its side"),
        (ObjectShape::Cone, [0.1, 0.1, 0.07], 0.2, false, "faces up by 35.5 degrees"),
        (ObjectShape::Cylinder, [0.06, 0.06, 0.1], 4.0, false, "raise max_grip_force or take less"),
    ] {
        let (goal, pick) = task(&kind, edges, mass, tilted);
        let mut cell = cell(ROBOT, &kind, edges, mass, &pick);
        let refused = cell.start(&goal).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
}

/// Friction of the drives takes 0.4 N of what they press with; the force on the object is what was asked for.
#[test]
fn the_greatest_force_is_reached() {
    for robot in [ROBOT, UNDERACTUATED] {
        let (mut goal, pick) = task(&ObjectShape::Cylinder, [0.06, 0.06, 0.1], 0.5, false);
        goal.grip_force = goal.max_grip_force;
        let mut cell = cell(robot, &ObjectShape::Cylinder, [0.06, 0.06, 0.1], 0.5, &pick);
        cell.start(&goal).unwrap();
        let mut pressed = [0.0; 2];
        cell.run(|cell| {
            if cell.machine().feedback().stage == Stage::Move {
                pressed = cell.machine().feedback().forces;
            }
        });
        let mean = 0.5 * (pressed[0] + pressed[1]);
        assert!((mean / 25.0 - 1.0).abs() < 0.01, "{robot}: {pressed:?}");
    }
}

/// The task with the scene's cone.
pub(crate) fn cone() -> (PickAndPlaceGoal, Pose) {
    task(&ObjectShape::Cone, [0.08, 0.08, 0.128], 0.3, false)
}

/// A joint that its motor cannot turn.
fn jammed(joint: &'static str) -> impl Fn(&mut karakuri_model::Model) {
    move |model| {
        let id = model.joint(joint).unwrap();
        model.joints[id.0].friction = 10.0;
    }
}

#[test]
fn a_finger_that_does_not_come_is_named() {
    names_what_does_not_come(ROBOT, "right_digit_joint");
    names_what_does_not_come(UNDERACTUATED, "right_bar_joint");
}

fn names_what_does_not_come(robot: &str, joint: &'static str) {
    let (kind, edges) = (ObjectShape::Box, [0.1, 0.05, 0.05]);
    let (goal, pick) = task(&kind, edges, 0.3, false);
    let mut cell = Cell::with(robot, "start1", jammed(joint), |body| {
        (body.shape, body.mass, body.friction) = (shape(&kind, edges), 0.3, 0.6);
        body.pose = center(&kind, &pick, edges[2]);
    });
    cell.faults.blind = true;
    cell.start(&goal).unwrap();
    let result = cell.run(|_| ());
    assert_eq!(result.failure, Some(Failure::Partial), "{result:?}");
    let named = format!("`{joint}` does not follow");
    assert!(result.message.contains(&named), "{}", result.message);
}

/// Two jaws whose goal says cylinder, as wide as the cone is where their pads end.
#[test]
fn two_jaws_let_the_cone_turn_that_three_fingers_hold() {
    let (kind, edges, mass) = (ObjectShape::Cone, [0.08, 0.08, 0.128], 0.3);
    let (goal, pick) = task(&kind, edges, mass, false);
    let mut cell = Cell::new("arm6", "start1", |body| {
        (body.shape, body.mass, body.friction) = (shape(&kind, edges), mass, 0.6);
        body.pose = center(&kind, &pick, edges[2]);
    });
    cell.faults.blind = true;
    let refused = cell.start(&goal).unwrap_err().to_string();
    assert!(refused.contains("no cones: two pads let them turn"), "{refused}");
    let size = Vector3::new(0.0448, 0.0448, edges[2]);
    let profile = Profile::Standing { straight: edges[2], has_flat_ends: true };
    let cylinder = PickAndPlaceGoal {
        shape: ObjectShape::Cylinder,
        profile,
        size,
        grip_force: 20.0,
        max_grip_force: 40.0,
        ..goal.clone()
    };
    cell.start(&cylinder).unwrap();
    let tilt = |cell: &Cell| cell.object().rotation[(2, 2)].acos().to_degrees();
    let mut two = 0.0_f64;
    cell.run(|cell| two = two.max(tilt(cell)));
    let mut cell = self::cell(ROBOT, &kind, edges, mass, &pick);
    cell.start(&goal).unwrap();
    let mut three = 0.0_f64;
    cell.run(|cell| three = three.max(tilt(cell)));
    // 3 degrees are what an object may be off.
    assert!(
        two > 3.0 && three < 0.5,
        "two jaws turn it by {two} degrees, three fingers by {three}"
    );
}
