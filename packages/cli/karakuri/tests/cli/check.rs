//! `karakuri check`: exit codes, the summary, the place of problems.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

fn robot(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/robots");
    root.join(name).join(format!("{name}.urdf"))
}

fn check(arguments: &[&str]) -> std::io::Result<Output> {
    Command::new(env!("CARGO_BIN_EXE_karakuri")).arg("check").args(arguments).output()
}

#[test]
fn a_real_robot_is_summed_up_in_json() {
    let path = robot("panda").display().to_string();
    let output = check(&[&path, "--json", "--base", "floating"]).unwrap();
    assert_eq!(output.status.code(), Some(0));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["model"]["nv"], 15);
    assert_eq!(report["model"]["couplings"][0]["leader"], "panda_finger_joint1");
    assert!(report["problems"].as_array().unwrap().iter().all(|p| p["severity"] == "warning"));
    let floating = check(&[&path, "--base", "floating"]).unwrap();
    let floating = String::from_utf8(floating.stdout).unwrap();
    assert!(floating.contains(" kg, floating base"), "{floating}");
    let text = check(&[&path]).unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.starts_with("panda: 13 links, 9 bodies, nq 9, nv 9, 16.8221 kg that move, fixed base"),
        "{text}"
    );
}

#[test]
fn a_hand_without_joints_and_its_cups_are_summed_up() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let file = |path: &str| root.join(path).display().to_string();
    let (urdf, yaml) = (file("urdf/arm6/arm6_suction4.urdf"), file("config/arm6_suction4.yaml"));
    let output = check(&[&urdf, "--config", &yaml]).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let cups = "vacuum generator vacuum: pad_cup_1, pad_cup_2, pad_cup_3, pad_cup_4";
    for line in ["end effector suction at tool", cups] {
        assert!(text.lines().any(|found| found == line), "`{line}` is not in: {text}");
    }
}

#[test]
fn problems_of_both_files_come_with_place_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let (urdf, yaml) = (folder.path().join("a.urdf"), folder.path().join("a.yaml"));
    std::fs::write(&urdf, "<robot name=\"a\">\n<link name=\"b\"/>\n<link name=\"c\"/>\n</robot>")
        .unwrap();
    std::fs::write(&yaml, "\ndrive: {}\n").unwrap();
    let (urdf, yaml) = (urdf.display().to_string(), yaml.display().to_string());
    let output = check(&[&urdf, "--config", &yaml]).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains(&format!("{urdf}:3: link `c` has no parent")), "{text}");
    assert!(text.contains("add a joint whose <child> is `c`"), "{text}");
    assert!(text.contains(&format!("{yaml}:2: unknown key drive")), "{text}");
    assert!(text.contains("did you mean `drives`?"), "{text}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "2 errors, 0 warnings\n");
}

#[test]
fn a_missing_file_is_wrong_input_and_a_missing_argument_is_usage() {
    let output = check(&["no_such.urdf"]).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text, "error: cannot read no_such.urdf: No such file or directory (os error 2)\n");
    assert_eq!(check(&[]).unwrap().status.code(), Some(2));
    assert_eq!(check(&["a.urdf", "--base", "flying"]).unwrap().status.code(), Some(2));
}

#[test]
fn a_file_is_named_by_its_package() {
    let folder = tempfile::tempdir().unwrap();
    let share = folder.path().join("install/share/my_arms");
    std::fs::create_dir_all(&share).unwrap();
    std::fs::copy(robot("panda"), share.join("panda.urdf")).unwrap();
    std::fs::write(share.join("scene.yaml"), "ground: {}\n").unwrap();
    let run = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_karakuri"))
            .args(arguments)
            .env("AMENT_PREFIX_PATH", folder.path().join("install"))
            .env_remove("ROS_PACKAGE_PATH")
            .current_dir(folder.path())
            .output()
            .unwrap()
    };
    let output = run(&["check", "package://my_arms/panda.urdf"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stdout.starts_with(b"panda: 13 links"), "{output:?}");
    let output = run(&["simulate", "package://my_arms/scene.yaml", "--duration", "0.01"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for (name, words) in [
        ("package://no_arms/panda.urdf", "source the workspace that holds `no_arms`"),
        ("package://my_arms/pandas.urdf", "share/my_arms/pandas.urdf"),
    ] {
        let output = run(&["check", name]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn huge_numbers_are_printed_with_a_power_of_ten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.yaml");
    std::fs::write(&path, "gravity: [0, 0, -1.0e300]\nground: {}\n").unwrap();
    let output = check(&[path.to_str().unwrap()]).unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("-1e300") && !said.contains("000000"), "{said}");
}

#[test]
fn what_hangs_on_a_robot_is_listed_and_a_bad_srdf_names_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (urdf, yaml) = (robot("panda").display().to_string(), path("panda.yaml"));
    let text = "srdf: panda.srdf\nmotors:\n  dc: {joint: panda_joint1, law: speed_torque, stall: 9, no_load: 3}\n\
                sensors:\n  imu: {type: imu, link: panda_link3, noise: {angular_velocity: {white: 0.1}}}\n";
    std::fs::write(&yaml, text).unwrap();
    let srdf = "<robot name=\"panda\">\n<disable_collisions link1=\"panda_link1\" link2=\"panda_link3\"/>\n</robot>";
    std::fs::write(path("panda.srdf"), srdf).unwrap();
    let output = check(&[&urdf, "--config", &yaml]).unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    for line in [
        "contacts ignored: 1 pairs of links (panda_link1-panda_link3)",
        "motor dc: speed_torque on panda_joint1",
        "sensor imu: imu on panda_link3, with noise",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let output = check(&[&urdf, "--config", &yaml, "--json"]).unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["model"]["ignored_contacts"][0][1], "panda_link3");
    assert_eq!(report["model"]["motors"][0]["law"], "speed_torque");
    std::fs::write(path("panda.srdf"), srdf.replace(" link2=\"panda_link3\"", "")).unwrap();
    let output = check(&[&urdf, "--config", &yaml]).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("panda.srdf:2: <disable_collisions> has not both"), "{text}");
}

/// Every file of these folders is in order, and its kind is found.
#[test]
fn the_files_in_the_box_are_in_order() {
    let config = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../config");
    let mut n_files = 0;
    for (folder, kind) in [("scenes", "scene "), ("gaits", "gait "), ("mechanisms", "mechanism ")] {
        for entry in std::fs::read_dir(config.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            // Robots of packages from elsewhere are fetched, and walk, in tests/robots.
            let is_ours =
                |path: &PathBuf| !std::fs::read_to_string(path).unwrap().contains("package://");
            if path.extension().is_none_or(|e| e != "yaml") || !is_ours(&path) {
                continue;
            }
            let output = check(&[&path.display().to_string()]).unwrap();
            let (said, wrong) = (text(&output.stdout), text(&output.stderr));
            assert_eq!(output.status.code(), Some(0), "{}: {said}{wrong}", path.display());
            assert!(said.starts_with(kind), "{}: {said}", path.display());
            n_files += 1;
        }
    }
    assert!(n_files > 20, "{n_files}");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn wrong_files_of_every_kind_name_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("scene.yaml", "bodies:\n  - {name: a, shape: {ball: 1}, mass: 1}\n", "scene.yaml:2"),
        ("walk.yaml", "walk: {}\nurdf: a\n", "walk: missing field `feet`"),
        ("mechanism.yaml", "links: {a: {rod: -1, mass: 1}}\n", "mechanism.yaml"),
        ("gait.yaml", "steady: {interpolation: wavy}\n", "wavy"),
        ("x.launch.xml", "<launch>\n<nod/>\n</launch>", "x.launch.xml:2: <nod> in <launch>"),
        ("robot.yaml", "drives: {}\n", "karakuri check ROBOT.urdf --config"),
        ("bad.yaml", "bodies: [\n", "not readable as YAML"),
    ];
    for (name, content, expected) in cases {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let output = check(&[&path.display().to_string()]).unwrap();
        let wrong = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{name}: {wrong}");
        assert!(wrong.contains(expected), "{name}: {wrong}");
    }
}

#[test]
fn a_launch_file_is_evaluated_with_its_defaults() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.launch.xml");
    let body = "<launch><arg name='x' default='1'/><executable cmd='sleep $(var x)'/></launch>";
    std::fs::write(&path, body).unwrap();
    let output = check(&[&path.display().to_string()]).unwrap();
    let said = text(&output.stdout);
    assert!(said.contains("1 arguments, starts 1 processes"), "{said}{}", text(&output.stderr));
}

/// Bad parameters of a hand of each kind: one sentence, at its place in the file.
#[test]
fn a_wrong_hand_is_an_error_at_its_place() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let folder = tempfile::tempdir().unwrap();
    for (robot, right, wrong, why) in [
        ("arm6", "force_max: 40", "force_max: -40", "force_max is -40, it must be above 0"),
        ("arm6", "kind: parallel_linkage", "kind: claw", "end effector kind `claw` is not known"),
        ("arm6_scissor", "pivot_depth: 0.083", "pivot: 0.083", "lacks parameter `pivot_depth`"),
        (
            "arm6_three_fingers",
            "left_spread_joint]\n  sensors",
            "]\n  sensors",
            "needs four driven joints",
        ),
        ("arm6_three_fingers", ", finger_right]", "]", "three sensors"),
        ("arm6_suction", "vacuum: 60000", "vacuum: 90000", "vacuum is 90000, it must be at most"),
    ] {
        let config = root.join(format!("config/{robot}.yaml"));
        let text = std::fs::read_to_string(&config).unwrap();
        assert!(text.contains(right), "{robot}: {right}");
        let file = folder.path().join("robot.yaml");
        std::fs::write(&file, text.replace(right, wrong)).unwrap();
        let urdf = root.join(format!("urdf/arm6/{robot}.urdf")).display().to_string();
        let output = check(&[&urdf, "--config", file.to_str().unwrap()]).unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && said.contains(why), "{robot}: {said}");
        let at = text.lines().position(|line| line.starts_with("end_effector:")).unwrap() + 2;
        assert!(said.contains(&format!("robot.yaml:{at}")), "{robot}: {said}");
        let right = check(&[&urdf, "--config", config.to_str().unwrap()]).unwrap();
        assert_eq!(right.status.code(), Some(0), "{robot}");
    }
}
