//! A heap that is unloaded: what is rehearsed is carried out, and what cannot be taken stays where it is, with its reason.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use std::path::PathBuf;

use karakuri_model::Shape;
use karakuri_physics::BodyDescription;
use karakuri_rehearsal::{
    Cell, CellFile, Destination, Obstacle, Tray, Unloading, UnloadingSettings, carry_out,
};
use karakuri_spatial::{Motion, Pose, UnitQuaternion, Vector3};

fn scene() -> CellFile {
    let root: PathBuf = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..").into();
    CellFile::new(&root.join("config/scenes/pick_and_place.yaml"))
}

/// The cell of arm6 with its cube, and another one of the same shape beside it.
fn cell() -> Cell {
    let mut cell = scene().open().unwrap();
    let world = cell.io.world_mut();
    let cube = world.find_body("cube").unwrap();
    let cube: BodyDescription = world.body(cube).description().clone();
    let at = Pose::from_translation(Vector3::new(0.35, -0.3, 0.775));
    world.add_body(BodyDescription { name: "same".to_owned(), pose: at, ..cube }).unwrap();
    for _ in 0..200 {
        cell.step().unwrap();
    }
    cell
}

#[test]
fn one_of_each_shape_goes_to_the_tray_by_the_commands_that_were_rehearsed() {
    let mut cell = cell();
    let tray = Tray::new(&cell, "shelf", 0.1).unwrap();
    assert_eq!(tray.spots().len(), 4);
    let mut unloading = Unloading::new(tray, None, UnloadingSettings::default());
    let names = unloading.candidates(&cell, Destination::Tray);
    assert_eq!(names.len(), 2, "{names:?}");
    let mut attempts = unloading.try_in_order(&cell, &names, Destination::Tray, || true).unwrap();
    let attempt = attempts.pop().unwrap();
    let (act, prediction) = attempt.outcome.unwrap();
    let carried = carry_out(&mut cell, &act, &prediction, |_| true).unwrap();
    assert!(carried.is_as_rehearsed && carried.result.unwrap().trouble().is_none());
    assert_eq!(unloading.on_tray(&cell), [attempt.object]);
    // The other one has the shape of what is there.
    assert_eq!(unloading.candidates(&cell, Destination::Tray), Vec::<String>::new());
}

/// Between a long bar and a can is room for a finger, but not between the bar and a corner of the can's box.
#[test]
fn a_can_is_less_in_the_way_than_the_box_about_it() {
    let outcomes = [true, false].map(|sees_shapes| {
        let mut cell = CellFile { sees_shapes, ..scene() }.open().unwrap();
        let world = cell.io.world_mut();
        let cube = world.find_body("cube").unwrap();
        let cube: BodyDescription = world.body(cube).description().clone();
        let bar = Shape::Box { size: Vector3::new(0.1, 0.04, 0.03) };
        let can = Shape::Cylinder { radius: 0.03, length: 0.03 };
        let at = |y: f64, z: f64, yaw: f64| {
            let turned = Pose::from_axis_angle(&Vector3::z(), yaw);
            Pose::new(turned.rotation, Vector3::new(0.4, y, z))
        };
        let beside = -0.3 - 0.02 - 0.026 - 0.03;
        for (name, shape, pose) in
            [("bar", bar, at(-0.3, 0.765, 0.0)), ("can", can, at(beside, 0.765, 0.785))]
        {
            let own = BodyDescription { name: name.to_owned(), shape, pose, ..cube.clone() };
            world.add_body(own).unwrap();
        }
        for _ in 0..200 {
            cell.step().unwrap();
        }
        let tray = Tray::new(&cell, "shelf", 0.1).unwrap();
        let unloading = Unloading::new(tray, None, UnloadingSettings::default());
        unloading.try_one(&cell, "bar", Destination::Tray).unwrap().outcome
    });
    let [as_they_are, as_boxes] = outcomes;
    assert!(as_they_are.is_ok(), "{as_they_are:?}");
    assert!(
        as_boxes.as_ref().is_err_and(|why| why.why.contains("would hit `can`")),
        "{as_boxes:?}"
    );
}

/// A low bar beside a cube has no room for fingers on that side, and is too long for them to close along it: a cube is on the tray already, this one is put aside.
#[test]
fn what_is_in_the_way_of_others_is_put_aside() {
    let mut cell = cell();
    let world = cell.io.world_mut();
    let cube = world.find_body("cube").unwrap();
    let cube: BodyDescription = world.body(cube).description().clone();
    let mut add = |name: &str, edges: [f64; 3], at: [f64; 3], fixed: bool| {
        let shape = Shape::Box { size: Vector3::from(edges) };
        let pose = Pose::from_translation(Vector3::from(at));
        let own = BodyDescription { name: name.to_owned(), shape, pose, fixed, ..cube.clone() };
        world.add_body(own).unwrap();
    };
    add("bar", [0.1, 0.04, 0.03], [0.35, -0.35, 0.765], false);
    add("aside", [0.2, 0.2, 0.01], [0.1, -0.45, 0.755], true);
    let [tray, aside] = ["shelf", "aside"].map(|name| Tray::new(&cell, name, 0.1).unwrap());
    let mut unloading = Unloading::new(tray, Some(aside.clone()), UnloadingSettings::default());
    // Nothing is aside of an empty tray.
    assert!(unloading.candidates(&cell, Destination::Aside).is_empty());
    let mut take = |name: &str, destination| {
        assert!(unloading.candidates(&cell, destination).contains(&name.to_owned()), "{name}");
        let attempt = unloading.try_in_order(&cell, &[name.to_owned()], destination, || true);
        let (act, prediction) = attempt.unwrap().pop().unwrap().outcome?;
        let carried = carry_out(&mut cell, &act, &prediction, |_| true).unwrap();
        assert!(carried.is_as_rehearsed && carried.result.unwrap().trouble().is_none());
        Ok::<_, Obstacle>(unloading.on_tray(&cell))
    };
    assert_eq!(take("cube", Destination::Tray).unwrap(), ["cube"]);
    let refused = take("bar", Destination::Tray).unwrap_err();
    assert!(refused.why.contains("would hit `same`"), "{refused:?}");
    assert_eq!(take("same", Destination::Aside).unwrap(), ["cube"]);
    assert_eq!(take("bar", Destination::Tray).unwrap(), ["cube", "bar"]);
    let there = cell.objects().into_iter().filter(|object| aside.has(object));
    assert_eq!(there.map(|object| object.name).collect::<Vec<_>>(), ["same"]);
    // What was put aside stays there.
    assert!(unloading.candidates(&cell, Destination::Aside).is_empty());
}

/// A cube on its corner has no sides for level pads: it is refused, and not tried again before something about it has moved.
#[test]
fn what_is_refused_is_tried_again_when_its_neighbours_have_moved() {
    let mut cell = cell();
    let tray = Tray::new(&cell, "shelf", 0.1).unwrap();
    let mut unloading = Unloading::new(tray, None, UnloadingSettings::default());
    let world = cell.io.world_mut();
    let [cube, same] = ["cube", "same"].map(|name| world.find_body(name).unwrap());
    let on_corner = UnitQuaternion::from_euler_angles(0.785, 0.615, 0.0);
    let place = world.body(cube).pose().translation + Vector3::z() * 0.02;
    let there = Pose::from_quaternion(&on_corner, place);
    world.set_body_state(cube, there, Motion::default()).unwrap();
    let name = ["cube".to_owned()];
    let attempts = unloading.try_in_order(&cell, &name, Destination::Tray, || true).unwrap();
    let obstacle = attempts[0].outcome.as_ref().unwrap_err();
    assert_eq!(obstacle.code, "REFUSED", "{obstacle:?}");
    assert!(obstacle.why.starts_with("no grip on the object"), "{}", obstacle.why);
    assert_eq!(unloading.candidates(&cell, Destination::Tray), ["same"]);
    let world = cell.io.world_mut();
    let near = Pose::from_translation(place + Vector3::new(0.0, 0.09, 0.0));
    world.set_body_state(same, near, Motion::default()).unwrap();
    assert_eq!(unloading.candidates(&cell, Destination::Tray).len(), 2);
}
