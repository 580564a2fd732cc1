//! Settings by what another node says of its parameters, and those of a node that says nothing.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_control::joint_trajectory::Constraints;
use karakuri_control::{FeedforwardSettings, Gains};
use karakuri_files::{load_gait, load_robot};
use karakuri_gait::planner::{Biped, Reach, StabilizerSettings, WalkerSettings};
use karakuri_grasp::grip_force::GripSettings;
use karakuri_grasp::gripper_command::GripperCommandSettings;
use karakuri_grasp::pick_and_place::{PickAndPlaceSettings, Unstated};
use karakuri_model::Model;
use karakuri_ros::{ParameterType as _, RemoteParameters};
use karakuri_settings::{ControlParameters, HandParameters, StabilizerParameters, WalkParameters};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn arm() -> Model {
    let [urdf, config] = ["urdf/arm6/arm6.urdf", "config/arm6.yaml"].map(|file| root().join(file));
    load_robot(&urdf, Some(&config), None).unwrap().model
}

/// Parameters of a node that has these numbers, and what it has beside them.
fn remote<const N: usize>(numbers: [(&str, f64); N]) -> RemoteParameters {
    numbers.map(|(name, number)| (name, number.to_message())).into_iter().collect()
}

#[test]
fn nodes_that_say_nothing_have_the_usual_settings() {
    let hand = HandParameters::declare(&mut remote([])).unwrap();
    assert_eq!(hand.pick_and_place(), PickAndPlaceSettings::default());
    assert_eq!(hand.grip(), GripSettings::default());
    assert_eq!(hand.command(), GripperCommandSettings::default());
    assert_eq!(hand.unstated(), Unstated::default());
    let control = ControlParameters::declare(&mut remote([]), &arm()).unwrap();
    assert_eq!(control.feedforward(), FeedforwardSettings::default());
    assert_eq!(control.constraints(), Constraints::default());
    assert!(control.gains().is_empty());
    let walk = WalkParameters::declare(&mut remote([])).unwrap();
    assert_eq!((walk.walker(), walk.use_imu.get()), (WalkerSettings::default(), true));
}

#[test]
fn what_a_node_says_becomes_settings() {
    let mut hand = remote([("speed", 0.3), ("closing_speed", 0.05), ("grip_force", 8.0)]);
    let hand = HandParameters::declare(&mut hand).unwrap();
    assert_eq!((hand.pick_and_place().speed, hand.grip().speed), (0.3, 0.05));
    assert_eq!((hand.command().max_effort, hand.unstated().grip_force), (8.0, 8.0));
    let mut control = remote([
        ("gains.elbow_pitch.p", 50.0),
        ("payload.mass", 0.2),
        ("constraints.following", 0.5),
        ("gravity", 1.62),
    ]);
    let model = arm();
    let control = ControlParameters::declare(&mut control, &model).unwrap();
    let gains = Gains { p: 50.0, ..Gains::default() };
    assert_eq!(
        control.gains().into_iter().collect::<Vec<_>>(),
        [("elbow_pitch".to_owned(), gains)]
    );
    let settings = control.feedforward_of(&model);
    let following = control.constraints().following_tolerance;
    assert_eq!(settings.gains[model.joint("elbow_pitch").unwrap().0], gains);
    let mass = settings.payload.unwrap().mass;
    assert_eq!((settings.gravity.z, mass, following), (-1.62, 0.2, 0.5));
}

#[test]
fn gains_of_a_stabiliser_are_those_of_the_gait_file_unless_they_are_set() {
    let (robot, settings) = load_gait(&root().join("config/gaits/khr1_walk.yaml")).unwrap();
    let biped = Biped::new(Arc::new(robot.model), &settings).unwrap();
    let get = |mut remote: RemoteParameters| {
        let gains = StabilizerParameters::declare(&mut remote, &biped, &settings).unwrap();
        gains.get(&settings.stabilizer)
    };
    let file = {
        let mut file: StabilizerSettings = settings.stabilizer;
        file.steps.reach = file.steps.reach.or(Some(Reach::from(&settings.limits)));
        file
    };
    assert_eq!(get(remote([])), file);
    let ankle = 0.5 * file.ankle;
    assert_eq!(get(remote([("stabilizer.ankle", ankle)])), StabilizerSettings { ankle, ..file });
}
