//! Round objects, standing and lying, and boxes on any side: held and placed by parallel jaws, and by a scissor.

use core::f64::consts::FRAC_PI_2;

use karakuri_grasp::pick_and_place::{
    ObjectShape, PickAndPlaceGoal, PlanError, Stage, moved, upright,
};
use karakuri_model::Shape;
use karakuri_physics::BodyDescription;
use karakuri_spatial::{Pose, UnitQuaternion, Vector3};

use crate::cell::{Cell, goal, start, try_start};

/// An object on the table, and its goal: from there to the shelf, turned by 0.5 rad.
struct Task {
    shape: Shape,
    pick: Pose,
    goal: PickAndPlaceGoal,
}

/// `size` are the edges of its box along its own axes, `height` that of its box as it stands. [m] (3)
fn task(kind: ObjectShape, shape: Shape, size: [f64; 3], height: f64, turn: [f64; 2]) -> Task {
    let [roll, pitch] = turn;
    let at = |y: f64, z: f64, yaw: f64| {
        let turn = UnitQuaternion::from_euler_angles(roll, pitch, yaw);
        Pose::from_quaternion(&turn, Vector3::new(0.5, y, z + 0.5 * height))
    };
    let (pick, place) = (at(-0.2, 0.75, 0.3), at(0.2, 0.85, 0.8));
    let object = upright(&kind, &pick, &Vector3::from(size)).unwrap();
    assert!((object.size.z - height).abs() < 1e-12, "{object:?}");
    let goal = PickAndPlaceGoal {
        shape: kind,
        profile: object.profile.clone(),
        size: object.size,
        pick: object.pose,
        place: moved(&object, &pick, &place).unwrap(),
        ..goal()
    };
    Task { shape, pick, goal }
}

fn cell(task: &Task, config: &str) -> Cell {
    let change = |bodies: &mut Vec<BodyDescription>| {
        for cube in bodies.iter_mut().filter(|body| body.name == "cube") {
            (cube.shape, cube.pose) = (task.shape.clone(), task.pick);
        }
    };
    Cell::with("start1", config, change)
}

/// Carries it out; the object is at its place, turned as it should be.
fn places(task: &Task) {
    places_by("arm6", task);
}

fn places_by(robot: &str, task: &Task) {
    let mut cell = cell(task, robot);
    start(&mut cell, &task.goal);
    let result = cell.run(20.0, |_| {});
    assert_eq!((result.failure, result.retries), (None, 0), "{result:?}");
    for _ in 0..300 {
        cell.step();
    }
    let pose = cell.world.body(cell.world.find_body("cube").unwrap()).pose();
    let off = (pose.translation - task.goal.place.position).norm();
    // Where it was before, turned about the vertical.
    let turn = pose.rotation * task.pick.rotation.transpose();
    assert!(off < 0.005, "{:.2} mm off", 1e3 * off);
    assert!(turn.m33 > 3_f64.to_radians().cos(), "{turn}");
}

const ROD: [f64; 3] = [0.04, 0.04, 0.1];

fn rod() -> Shape {
    Shape::Cylinder { radius: 0.02, length: 0.1 }
}

#[test]
fn a_cylinder_that_stands() {
    places(&task(ObjectShape::Cylinder, rod(), ROD, 0.1, [0.0, 0.0]));
}

#[test]
fn a_cylinder_that_lies() {
    places(&task(ObjectShape::Cylinder, rod(), ROD, 0.04, [0.0, FRAC_PI_2]));
}

#[test]
fn a_capsule_that_lies() {
    let shape = Shape::Capsule { radius: 0.02, length: 0.06 };
    places(&task(ObjectShape::Capsule, shape, ROD, 0.04, [0.0, FRAC_PI_2]));
}

#[test]
fn a_box_on_its_side() {
    let size = [0.03, 0.05, 0.09];
    let shape = Shape::Box { size: Vector3::from(size) };
    places(&task(ObjectShape::Box, shape, size, 0.05, [FRAC_PI_2, 0.0]));
}

/// Narrower than 20 mm the jaws lean inwards about it, wider outwards.
#[test]
fn what_lies_is_placed_by_a_scissor() {
    for radius in [0.009, 0.02, 0.026] {
        let size = [2.0 * radius, 2.0 * radius, 0.1];
        let shape = Shape::Cylinder { radius, length: 0.1 };
        let rod = task(ObjectShape::Cylinder, shape, size, 2.0 * radius, [0.0, FRAC_PI_2]);
        places_by("arm6_scissor", &rod);
    }
    let shape = Shape::Capsule { radius: 0.02, length: 0.06 };
    let capsule = task(ObjectShape::Capsule, shape, ROD, 0.04, [0.0, FRAC_PI_2]);
    places_by("arm6_scissor", &capsule);
}

/// A ball rolls when it is let go; until then it is held.
#[test]
fn a_ball_is_held_until_it_is_let_go() {
    for robot in ["arm6", "arm6_scissor"] {
        ball_is_held_by(robot);
    }
}

fn ball_is_held_by(robot: &str) {
    let shape = Shape::Sphere { radius: 0.025 };
    let task = task(ObjectShape::Ball, shape, [0.05; 3], 0.05, [0.0, 0.0]);
    let mut cell = cell(&task, robot);
    start(&mut cell, &task.goal);
    let mut lowest: f64 = 0.0;
    cell.run(20.0, |cell| {
        if cell.machine.feedback().holding {
            let (tool, ball) = (cell.tool(), cell.cube().0);
            lowest = lowest.max((tool - ball).norm());
        }
    });
    assert!(lowest < 0.008, "{lowest} m from the pads");
    let place = task.goal.place.position;
    assert!((cell.cube().0 - place).norm() < 0.1, "{}", cell.cube().0);
}

/// Pads that are 4 mm above the table touch nothing round that is lower than twice that.
#[test]
fn what_is_too_flat_or_leans_is_refused() {
    let shape = Shape::Cylinder { radius: 0.003, length: 0.1 };
    let flat = task(ObjectShape::Cylinder, shape, [0.006, 0.006, 0.1], 0.006, [0.0, FRAC_PI_2]);
    let refused = try_start(&mut cell(&flat, "arm6"), &flat.goal).unwrap_err().to_string();
    assert!(refused.contains("its height [m], is 0.006; it must be at least 0.016"), "{refused}");
    let rod = task(ObjectShape::Cylinder, rod(), ROD, 0.1, [0.0, 0.0]);
    let refused = try_start(&mut cell(&rod, "arm6_scissor"), &rod.goal).unwrap_err();
    assert!(matches!(refused, PlanError::Shape { .. }), "{refused}");
    assert!(refused.to_string().contains("takes boxes, balls and what lies"), "{refused}");
}

/// 1.3 kg need twice the force that the goal begins with: they are carried by what they need, and not ever slower by the goal's.
#[test]
fn what_needs_more_than_the_usual_force_is_carried_in_time() {
    let shape = Shape::Capsule { radius: 0.031, length: 0.084 };
    let size = [0.062, 0.062, 0.146];
    let mut task = task(ObjectShape::Capsule, shape, size, 0.062, [0.0, FRAC_PI_2]);
    task.goal = PickAndPlaceGoal { mass: 1.3, friction: 0.5, max_grip_force: 40.0, ..task.goal };
    let mut cell = cell(&task, "arm6");
    start(&mut cell, &task.goal);
    while cell.machine.feedback().stage != Stage::Weigh {
        cell.step();
        let stage = cell.machine.feedback().stage;
        assert!(cell.world.time() < 12.0 && !stage.is_final(), "{stage}");
    }
}
