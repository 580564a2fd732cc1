//! The SO-101 loads without a warning, has the published dimensions, and stands still by its drives.

use std::path::{Path, PathBuf};

use karakuri_files::{LoadError, load_robot};
use karakuri_model::{Loaded, Model};
use karakuri_physics::World;
use karakuri_simulation::load_scene;
use karakuri_spatial::Pose;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn so101() -> Result<Loaded, LoadError> {
    let root = root();
    load_robot(&root.join("urdf/so101/so101.urdf"), Some(&root.join("config/so101.yaml")), None)
}

/// Pose of a link in the base, with all joints at 0.
fn at_zero(model: &Model, link: &str) -> Option<Pose> {
    let frame = model.frames.iter().find(|frame| frame.name == link)?;
    let mut pose = frame.pose_in_body;
    let mut next = frame.body;
    while let Some(body) = next {
        pose = model.joints[body.0].pose_in_parent * pose;
        next = model.bodies[body.0].parent;
    }
    Some(pose)
}

#[test]
fn has_the_published_dimensions() {
    let Loaded { model, warnings } = so101().unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    // 632 g with the base of 147 g.
    assert!((model.mass() - 0.485).abs() < 1e-9, "moving mass {} kg", model.mass());
    let names: Vec<&str> = model.joints.iter().map(|joint| joint.name.as_str()).collect();
    let published =
        ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper"];
    assert_eq!(names, published, "in the order of the servos' ids");
    // As the published model has them at its zero, in axes x forward and z up.
    for (link, [x, z]) in [
        ("upper_arm", [0.0692, 0.1166]),
        ("lower_arm", [0.0972, 0.2292]),
        ("wrist", [0.2321, 0.2344]),
        ("gripper_link", [0.2932, 0.2344]),
        ("moving_jaw", [0.3166, 0.2546]),
        ("tool", [0.3913, 0.2265]),
    ] {
        let place = at_zero(&model, link).unwrap().translation;
        let base = at_zero(&model, "base_link").unwrap().translation;
        let error = (place.x - base.x - x).hypot(place.z - base.z - z);
        assert!(error < 1.5e-4, "{link} is {error} m off");
    }
}

#[test]
fn stands_still_by_its_drives() {
    let loaded = load_scene(&root().join("config/scenes/so101.yaml")).unwrap();
    let mut world: World = loaded.world().unwrap();
    for _ in 0..2000 {
        world.step();
    }
    let robot = world.robot(world.find_robot("so101").unwrap());
    assert!(robot.v().iter().all(|v| v.abs() < 1e-6), "it moves: {:?}", robot.v());
    // An STS3215 sags by 2 degrees under such loads.
    let home = [0.0, 0.0, 0.0, 0.0, 0.0, 0.3];
    for (q, home) in robot.q().iter().zip(home) {
        assert!((q - home).abs() < 0.05, "it sags to {:?}", robot.q());
    }
    for effort in robot.efforts() {
        assert!(effort.abs() < 0.5 * 2.94, "half of the torque is left for motion");
    }
}

#[test]
fn every_posture_is_free_of_contacts() {
    let loaded = load_scene(&root().join("config/scenes/so101.yaml")).unwrap();
    let mut world: World = loaded.world().unwrap();
    let id = world.find_robot("so101").unwrap();
    let model = so101().unwrap().model;
    for posture in &model.postures {
        let mut q = vec![0.0; model.nq];
        for (body, position) in &posture.positions {
            q[model.joints[body.0].q_start] = *position;
        }
        world.set_robot_state(id, &q, &vec![0.0; model.nv]).unwrap();
        world.step();
        let touching: Vec<_> = world
            .contacts()
            .map(|contact| [contact.a, contact.b].map(|part| world.part_name(part)))
            .filter(|names| names.iter().any(|name| name.starts_with("so101/")))
            .collect();
        assert!(touching.is_empty(), "{}: {touching:?}", posture.name);
    }
}
