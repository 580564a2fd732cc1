//! `karakuri moveit` as a user runs it; what it writes is read by readers of others, and by our own.
#![expect(clippy::unwrap_used, reason = "a test says so")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_yaml::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_karakuri"))
        .current_dir(root())
        .args(arguments)
        .output()
        .unwrap()
}

/// Files of a robot, by name.
fn files(urdf: &str, config: &str, more: &[&str]) -> (tempfile::TempDir, BTreeMap<String, String>) {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().to_str().unwrap();
    let arguments = ["moveit", urdf, "--config", config, "--output", output, "--samples", "5000"];
    let done = run(&[&arguments, more].concat());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read_to_string(path).unwrap())
    };
    let files = std::fs::read_dir(folder.path()).unwrap().map(read).collect();
    (folder, files)
}

#[test]
fn an_arm_with_a_hand_has_groups_states_and_an_end_effector() {
    let (_folder, files) = files("urdf/arm6/arm6.urdf", "config/arm6.yaml", &[]);
    let srdf = &files["arm6.srdf"];
    for line in [
        r#"<robot name="arm6">"#,
        r#"<chain base_link="base_link" tip_link="wrist_3_link"/>"#,
        r#"<joint name="left_crank_joint"/>"#,
        r#"<link name="palm"/>"#,
        r#"<group_state name="home" group="arm">"#,
        r#"<group_state name="open" group="hand">"#,
        r#"<end_effector name="hand" parent_link="wrist_3_link" group="hand" parent_group="arm"/>"#,
        r#"<virtual_joint name="base_in_world" type="fixed" parent_frame="world" child_link="base_link"/>"#,
        r#"<passive_joint name="left_jaw_joint"/>"#,
        r#"<disable_collisions link1="base_link" link2="shoulder_link" reason="Adjacent"/>"#,
        r#"<disable_collisions link1="left_follower" link2="left_jaw" reason="User"/>"#,
    ] {
        assert!(srdf.contains(line), "{line}\n{srdf}");
    }
    // The arm can turn its hand against its own shoulder: these are checked.
    assert!(!srdf.contains(r#"link1="shoulder_link" link2="palm""#), "{srdf}");
    // No link is in two groups, or MoveIt takes the hand for a part of the arm.
    assert!(
        !srdf.contains(r#"<link name="wrist_3_link"/>"#)
            && !srdf.contains(r#"<link name="tool"/>"#)
    );
}

/// As `moveit_simple_controller_manager` reads it: an action is named `CONTROLLER`, or `CONTROLLER/ACTION_NS`.
#[test]
fn controllers_name_the_actions_of_the_nodes() {
    for (namespace, prefix) in [("cell/arm", "/cell/arm"), ("/", "")] {
        let more = ["--namespace", namespace, "--acceleration", "2.5"];
        let (_folder, files) = files("urdf/arm6/arm6.urdf", "config/arm6.yaml", &more);
        let controllers: Value = serde_yaml::from_str(&files["moveit_controllers.yaml"]).unwrap();
        let manager = &controllers["moveit_simple_controller_manager"];
        let names =
            [format!("{prefix}/follow_joint_trajectory"), format!("{prefix}/parallel_gripper_cmd")];
        for (i, (name, kind)) in
            names.iter().zip(["FollowJointTrajectory", "ParallelGripperCommand"]).enumerate()
        {
            assert_eq!(manager["controller_names"][i], Value::from(name.as_str()));
            let controller = &manager[name.as_str()];
            assert_eq!(controller["type"], Value::from(kind));
            assert_eq!(controller["action_ns"], Value::from(""));
        }
        assert_eq!(manager[names[1].as_str()]["joints"][0], Value::from("left_crank_joint"));
        let limits: Value = serde_yaml::from_str(&files["joint_limits.yaml"]).unwrap();
        let elbow = &limits["joint_limits"]["elbow_pitch"];
        assert_eq!(elbow["has_velocity_limits"], Value::from(true));
        // Numbers with a point: ROS parameters know no number that is both whole and real.
        assert!(elbow["max_velocity"].is_f64() && elbow["max_acceleration"] == 2.5);
        let kinematics: Value = serde_yaml::from_str(&files["kinematics.yaml"]).unwrap();
        assert!(kinematics["arm"]["kinematics_solver"].is_string() && kinematics["hand"].is_null());
    }
}

/// Our reader of SRDFs takes what is written, for each kind of robot: with loops, with mimics, on a floating base, from elsewhere.
#[test]
fn what_is_written_is_read_again() {
    for (urdf, config) in [
        ("urdf/arm6/arm6.urdf", "config/arm6.yaml"),
        ("urdf/arm6/arm6_scissor.urdf", "config/arm6_scissor.yaml"),
        ("urdf/arm6/arm6_three_fingers.urdf", "config/arm6_three_fingers.yaml"),
        ("urdf/arm6/arm6_underactuated.urdf", "config/arm6_underactuated.yaml"),
        ("urdf/so101/so101.urdf", "config/so101.yaml"),
        ("urdf/khr1/khr1.urdf", "config/khr1.yaml"),
    ] {
        let (folder, files) = files(urdf, config, &[]);
        let srdf = files.keys().find(|name| name.contains(".srdf")).unwrap();
        let yaml = folder.path().join("with.yaml");
        std::fs::write(&yaml, format!("srdf: {}\n", folder.path().join(srdf).display())).unwrap();
        let checked = run(&["check", urdf, "--config", yaml.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&checked.stderr);
        assert!(checked.status.success() && !said.contains("srdf"), "{urdf}: {said}");
    }
}

#[test]
fn wrong_options_and_robots_without_joints_are_refused() {
    for (arguments, words) in [
        (
            vec!["urdf/arm6/arm6.urdf", "--config", "config/arm6.yaml", "--acceleration", "0"],
            "--acceleration 0: expected a positive number",
        ),
        (vec!["tests/robots/ur5/ur5.urdf"], "robot `ur5` has no driven joint"),
        (vec!["nowhere.urdf"], "nowhere.urdf"),
    ] {
        let refused = run(&[&["moveit"], &arguments[..]].concat());
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && said.contains(words), "{said}");
    }
}
