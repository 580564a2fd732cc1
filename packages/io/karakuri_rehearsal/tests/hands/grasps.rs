//! Grasps that a goal brings: the first that can be taken is, and each that cannot be has its fault named.

use karakuri_grasp::pick_and_place::{
    Grasp, ObjectPose, ObjectShape, Part, PickAndPlaceGoal, PlanError, Profile, Stage, moved,
    upright,
};
use karakuri_model::Shape;
use karakuri_spatial::{Pose, UnitQuaternion, Vector3};

use crate::cell::Cell;

/// Edges of a bar on the table, along the world's y. [m]
const BAR: [f64; 3] = [0.03, 0.12, 0.05];

fn goal(grasps: Vec<Grasp>, most: f64) -> PickAndPlaceGoal {
    let at =
        |y: f64, top: f64| ObjectPose { position: Vector3::new(0.5, y, top + 0.025), yaw: 0.0 };
    PickAndPlaceGoal {
        part: Part::Whole,
        shape: ObjectShape::Box,
        profile: Profile::Box,
        size: BAR.into(),
        mass: 0.2,
        friction: 0.6,
        pick: at(-0.2, 0.75),
        place: at(0.2, 0.85),
        grip_force: if most > 50.0 { most } else { 10.0 },
        max_grip_force: most,
        approach_height: 0.12,
        grasps,
    }
}

fn cell(robot: &str) -> Cell {
    Cell::new(robot, "start1", |body| {
        (body.shape, body.mass, body.friction) = (Shape::Box { size: BAR.into() }, 0.2, 0.6);
        body.pose = Pose::from_translation(Vector3::new(0.5, -0.2, 0.775));
    })
}

/// The tool's y across the bar, so far along it from its middle.
fn across(along: f64) -> Grasp {
    let position = Vector3::new(0.0, along, 0.0);
    Grasp { turn: -core::f64::consts::FRAC_PI_2, position, width: None, score: 0.0 }
}

/// Carries a goal out; the place of the tool on the bar when it closes. [m] (3)
fn taken_at(robot: &str, goal: &PickAndPlaceGoal) -> Vector3 {
    let mut cell = cell(robot);
    cell.start(goal).unwrap();
    let mut at = Vector3::zeros();
    let result = cell.run(|cell| {
        if cell.machine().feedback().stage == Stage::Verify {
            at = cell.tool() - cell.object().translation;
        }
    });
    assert_eq!(result.failure, None, "{result:?}");
    let off = (cell.object().translation - goal.place.position).norm();
    assert!(off < 0.005, "{:.2} mm off", 1e3 * off);
    at
}

#[test]
fn grasps_are_tried_by_score_then_in_their_order() {
    let stated = |along: f64, width: f64| Grasp { width: Some(width), ..across(along) };
    let list = vec![stated(0.01, 0.06), stated(0.02, 0.03), across(-0.03)];
    // The width of the first is not the bar's.
    let at = taken_at("arm6", &goal(list.clone(), 40.0));
    assert!((at.y - 0.02).abs() < 1e-3, "{at}");
    let mut scored = list;
    scored[2].score = 0.7;
    let at = taken_at("arm6", &goal(scored, 40.0));
    assert!((at.y + 0.03).abs() < 1e-3, "{at}");
}

#[test]
fn cups_take_a_grasp_on_the_top() {
    let mut list = vec![across(0.03), across(-0.01)];
    for grasp in &mut list {
        grasp.position.z = 0.025;
    }
    // The lip of the cup needs 42 mm.
    let refused = cell("arm6_suction").start(&goal(list.clone(), 69.0)).unwrap_err().to_string();
    assert!(
        refused.contains("1: no grip on the object: 0.0422 by 0.0422 m do not fit"),
        "{refused}"
    );
    assert!(refused.contains("; 2: no grip"), "{refused}");
    let wide =
        |goal: PickAndPlaceGoal| PickAndPlaceGoal { size: Vector3::new(0.06, 0.12, 0.05), ..goal };
    let mut cell = Cell::new("arm6_suction", "start1", |body| {
        let size = Vector3::new(0.06, 0.12, 0.05);
        (body.shape, body.mass) = (Shape::Box { size }, 0.2);
        body.pose = Pose::from_translation(Vector3::new(0.5, -0.2, 0.775));
    });
    cell.start(&wide(goal(list, 69.0))).unwrap();
    let mut at = Vector3::zeros();
    let result = cell.run(|cell| {
        if cell.machine().feedback().stage == Stage::Verify {
            at = cell.tool() - cell.object().translation;
        }
    });
    assert_eq!(result.failure, None, "{result:?}");
    assert!((at.y - 0.03).abs() < 1e-3, "{at}");
}

#[test]
fn all_that_cannot_be_taken_are_named_with_their_faults() {
    let faulty = vec![
        Grasp { turn: 0.0, ..across(0.0) },
        Grasp { position: Vector3::new(0.02, 0.0, 0.0), ..across(0.0) },
        Grasp { position: Vector3::new(0.0, 0.0, -0.02), ..across(0.0) },
        Grasp { width: Some(0.05), ..across(0.0) },
        across(0.09),
        Grasp { turn: 0.3, ..across(0.0) },
    ];
    let mut cell = cell("arm6");
    let refused = cell.start(&goal(faulty, 40.0)).unwrap_err();
    assert!(matches!(refused, PlanError::Grasps { .. }) && !cell.machine().is_busy());
    let text = refused.to_string();
    for words in [
        "1: no grip on the object: it is 120.0 mm wide",
        "2: no grip on the object: its tool is 20.0 mm off the middle between the sides",
        "3: no grip on the object: its pads end",
        "4: no grip on the object: the object is 30.0 mm wide there, and the grasp says 50.0 mm",
        "5: no grip on the object: nothing of it is between pads",
        "6: no grip on the object: ",
    ] {
        assert!(text.contains(words), "`{words}` is not in: {text}");
    }
}

/// The same grasp, so much higher. [m]
fn raised(grasp: Grasp, z: f64) -> Grasp {
    Grasp { position: grasp.position + Vector3::z() * z, ..grasp }
}

#[test]
fn three_fingers_and_leaning_ones_take_the_grasps_of_a_goal() {
    for (robot, along, up) in [
        ("arm6_three_fingers", 0.02, 0.008),
        ("arm6_underactuated", -0.015, 0.005),
        ("arm6_scissor", 0.03, 0.0),
    ] {
        let at = taken_at(robot, &goal(vec![raised(across(along), up)], 25.0));
        assert!((at.y - along).abs() < 1e-3 && (at.z - up).abs() < 1e-3, "{robot}: {at}");
    }
}

/// A cylinder stands, a ball, and a cylinder lies, each with the tool turned as no way of the hand's own would be.
#[test]
fn round_objects_are_taken_by_grasps_of_any_turn() {
    let (turn, radius) = (0.3, 0.025);
    let standing = Profile::Standing { straight: 0.08, has_flat_ends: true };
    let cylinder = Shape::Cylinder { radius, length: 0.08 };
    let ball = Shape::Sphere { radius };
    for (robot, shape, profile, body, height) in [
        ("arm6_three_fingers", ObjectShape::Cylinder, standing, cylinder, 0.08),
        ("arm6_three_fingers", ObjectShape::Ball, Profile::Ball, ball.clone(), 0.05),
        ("arm6_scissor", ObjectShape::Ball, Profile::Ball, ball, 0.05),
    ] {
        let mut cell = Cell::new(robot, "start1", |object| {
            (object.shape, object.mass, object.friction) = (body.clone(), 0.1, 0.6);
            object.pose = Pose::from_translation(Vector3::new(0.5, -0.2, 0.75 + 0.5 * height));
        });
        let at = |y: f64, top: f64| ObjectPose {
            position: Vector3::new(0.5, y, top + 0.5 * height),
            yaw: 0.0,
        };
        let grasp = Grasp { turn, position: Vector3::zeros(), width: None, score: 0.0 };
        let goal = PickAndPlaceGoal {
            shape: shape.clone(),
            profile: profile.clone(),
            size: Vector3::new(2.0 * radius, 2.0 * radius, height),
            mass: 0.1,
            pick: at(-0.2, 0.75),
            place: at(0.2, 0.85),
            ..goal(vec![raised(grasp, 0.004)], 25.0)
        };
        let (mut yaw, mut lowered) = (f64::NAN, Vector3::zeros());
        cell.start(&goal).unwrap();
        let result = cell.run(|cell| match cell.machine().feedback().stage {
            Stage::Verify => {
                let y = cell.tool_pose().rotation.column(1).into_owned();
                yaw = (-y.x).atan2(y.y);
            }
            Stage::Lower => lowered = cell.object().translation,
            _ => {}
        });
        // A ball may roll on when it is let go.
        assert!(result.failure.is_none() || profile == Profile::Ball, "{robot}: {result:?}");
        assert!((yaw - turn).abs() < 0.01, "{robot}: {yaw}");
        let off = (lowered - goal.place.position).norm();
        assert!(off < 0.005, "{robot}: {:.2} mm off", 1e3 * off);
    }
}

#[test]
fn a_cup_takes_a_grasp_on_a_crest() {
    let [radius, length] = [0.07, 0.16];
    let shape = Shape::Cylinder { radius, length };
    let lying = |y: f64, top: f64| {
        let turn = UnitQuaternion::from_euler_angles(0.0, core::f64::consts::FRAC_PI_2, 0.0);
        Pose::from_quaternion(&turn, Vector3::new(0.5, y, top + radius))
    };
    let mut cell = Cell::new("arm6_suction", "start1", |object| {
        (object.shape, object.mass, object.friction) = (shape.clone(), 0.2, 0.6);
        object.pose = lying(-0.2, 0.75);
    });
    let (pick, place) = (lying(-0.2, 0.75), lying(0.2, 0.85));
    let size = Vector3::new(2.0 * radius, 2.0 * radius, length);
    let object = upright(&ObjectShape::Cylinder, &pick, &size).unwrap();
    let at = |along: f64, beside: f64, turn: f64| Grasp {
        turn,
        position: Vector3::new(along, beside, radius),
        width: None,
        score: 0.0,
    };
    let with = |grasps: Vec<Grasp>| PickAndPlaceGoal {
        shape: ObjectShape::Cylinder,
        profile: object.profile.clone(),
        size: object.size,
        pick: object.pose,
        place: moved(&object, &pick, &place).unwrap(),
        ..goal(grasps, 69.0)
    };
    let faulty = vec![
        at(0.0, 0.01, 0.0),
        at(0.0, 0.0, 0.3),
        at(0.07, 0.0, 0.0),
        raised(at(0.0, 0.0, 0.0), -0.01),
    ];
    let refused = cell.start(&with(faulty)).unwrap_err().to_string();
    for words in [
        "1: no grip on the object: its tool is 10.0 mm beside the crest",
        "2: no grip on the object: its lips are turned by 17.2 degrees",
        "3: object_size, the narrow side of its top",
        "4: no grip on the object: the top of the object is 8.7 mm from the lips there",
    ] {
        assert!(refused.contains(words), "`{words}` is not in: {refused}");
    }
    cell.start(&with(vec![at(0.02, 0.0, 0.0)])).unwrap();
    let mut taken = Vector3::zeros();
    let result = cell.run(|cell| {
        if cell.machine().feedback().stage == Stage::Verify {
            taken = cell.tool() - cell.object().translation;
        }
    });
    assert_eq!(result.failure, None, "{result:?}");
    assert!((taken.x - 0.02).abs() < 1e-3 && taken.y.abs() < 1e-3, "{taken}");
}

#[test]
fn fingers_name_what_keeps_them_from_a_grasp() {
    let refused = |robot: &str, list: Vec<Grasp>| {
        let text = cell(robot).start(&goal(list, 25.0)).unwrap_err().to_string();
        move |words: &str| assert!(text.contains(words), "`{words}` is not in: {text}")
    };
    let names = refused(
        "arm6_three_fingers",
        vec![
            Grasp { position: Vector3::new(0.02, 0.0, 0.0), ..across(0.0) },
            raised(across(0.0), -0.03),
            across(0.05),
            Grasp { turn: 0.0, ..across(0.0) },
            Grasp { width: Some(0.05), ..across(0.0) },
        ],
    );
    names(
        "1: no grip on the object: its tool is 14.0 mm off the middle between the sides, at most 12.0",
    );
    names("2: no grip on the object: its tips end");
    names("3: no grip on the object: its sides offer no three places");
    names("4: no grip on the object: a face within 3 mm of a tip is 30.0 degrees off square");
    names("5: no grip on the object: the object is 30.0 mm wide there, and the grasp says 50.0 mm");
    let names = refused(
        "arm6_scissor",
        vec![
            Grasp { turn: 0.3, ..across(0.0) },
            raised(across(0.0), -0.04),
            raised(across(0.0), 0.04),
            across(0.09),
        ],
    );
    names("1: no grip on the object: its fingers close 17.2 degrees off square to a side");
    names("2: no grip on the object: its pads end");
    names("3: no grip on the object: its pads cover less than 8 mm of it");
    names("4: no grip on the object: nothing of it is between pads there");
}
