//! `karakuri gait` as a user runs it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says so")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn run(what: &str, gait: &str, more: &[&str]) -> Output {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../config/gaits/{gait}.yaml"));
    run_file(what, &file, more)
}

fn run_file(what: &str, file: &Path, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_karakuri"))
        .args(["gait", what])
        .arg(file)
        .args(more)
        .output()
        .unwrap()
}

fn report(output: &Output) -> Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {errors}"))
}

#[test]
fn a_steady_gait_has_its_zmp_where_it_was_prescribed() {
    let folder = tempfile::tempdir().unwrap();
    let output = run("steady", "h2", &["--plot", folder.path().to_str().unwrap()]);
    let report = report(&output);
    assert!(output.status.success());
    for sample in report["samples"].as_array().unwrap() {
        for axis in 0..2 {
            let [is, desired] =
                ["zmp_m", "zmp_prescribed_m"].map(|k| sample[k][axis].as_f64().unwrap());
            assert!((is - desired).abs() < 1e-6, "{sample}");
        }
    }
    assert!(folder.path().join("steady.svg").exists() && folder.path().join("strip.svg").exists());
}

#[test]
fn a_start_is_found_and_surveyed() {
    let best = report(&run("transient", "ah2_start", &[]));
    assert!(best["most_central"]["verdict"]["margin"].as_f64().unwrap() > 0.0);
    let survey = report(&run("survey", "ah2_start", &[]));
    assert!(survey["stable"].as_u64().unwrap() > 20_000);
}

#[test]
fn what_is_missing_is_named() {
    let output = run("steady", "ah2_start", &[]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("ah2_start.yaml: there is no `steady`"), "{text}");
}

/// Heavy passive arms: the motion goes on from that of light ones; a start chooses another family.
#[test]
fn heavy_passive_arms_have_their_motions() {
    let passive = |factor: &str, more: &[&str]| {
        let options = ["--arms", "passive", "--arm-mass-factor", factor];
        let report = report(&run("steady", "h9", &[&options, more].concat()));
        let arms = &report["samples"][3]["arm_left_right_rad"];
        let [left, right] = [0, 1].map(|side| arms[side].as_f64().unwrap());
        assert!((left - right).abs() < 1e-6 && report["found_from"].is_string(), "{report}");
        left
    };
    let main = ["1", "20", "50"].map(|factor| passive(factor, &[]));
    assert!(main.iter().all(|angle| *angle > 0.2) && main.is_sorted(), "{main:?}");
    let other = passive("50", &["--start", "0,-0.13,-0.29,0.28,-0.15,-0.15,-0.71,-0.71"]);
    assert!(other < 0.0, "{other}");
    let output = run("steady", "h9", &["--start", "0,1,x,2"]);
    assert_eq!(output.status.code(), Some(2));
}

/// The study's own march, from its list of starts or from one that is given: the same motion, or a reason for each start.
#[test]
fn the_march_goes_through_a_list_of_starts() {
    let report_of = |gait: &str, more: &[&str]| {
        let output = run("steady", gait, &[&["--method", "march"], more].concat());
        (output.status.code(), report(&output))
    };
    let (code, listed) = report_of("h9", &[]);
    let starts = listed["starts"].as_array().unwrap();
    assert!(code == Some(0) && starts.len() == 9 && listed["samples"][30]["theta_rad"].is_number());
    let good: Vec<_> = starts.iter().filter(|s| s["converged"] == true).collect();
    assert!(
        !good.is_empty()
            && starts.iter().all(|s| s["message"].is_string() != s["start"].is_array())
    );
    let bad = starts.iter().find_map(|s| s["message"].as_str()).unwrap();
    assert!(bad.starts_with("the angles grow abnormally at"), "{bad}");
    for sample in listed["samples"].as_array().unwrap() {
        let gap = (sample["zmp_m"][0].as_f64().unwrap()
            - sample["zmp_prescribed_m"][0].as_f64().unwrap())
        .abs();
        assert!(gap < 1e-9, "{sample}");
    }
    // Beside the boundary value problem: gait H2 to 2 mrad/s with 30 intervals.
    let (code, marched) = report_of("h2", &["--start", "0,0.1,0,1.5", "--start", "0,0,-0.3,1.2"]);
    let exact = report(&run("steady", "h2", &[]));
    let gap = |key: &str| {
        (marched["samples"][0][key].as_f64().unwrap() - exact["samples"][0][key].as_f64().unwrap())
            .abs()
    };
    assert!(code == Some(0) && gap("phi_rad_s") < 2e-3 && gap("theta_rad") < 1e-4, "{marched}");
    let (code, none) = report_of("h2", &["--start", "0,0.1,0,-2"]);
    assert!(
        code == Some(3) && none["converged"] == false && none["starts"][0]["message"].is_string()
    );
    for (gait, more, reported) in [
        ("h2", vec!["--method", "march"], "the march has nothing to start from"),
        ("h2", vec!["--start", "0,0,0,0", "--start", "0,0,0,1"], "add `--method march`"),
    ] {
        let output = run("steady", gait, &more);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && text.contains(reported), "{text}");
    }
}

fn config(name: &str) -> String {
    format!("{}/../../../config/gaits/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The card files of the study's programs give the motions of the YAML files.
#[test]
fn card_files_are_read() {
    let cards = |what: &str, gait: &str, compensation: &str, more: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_karakuri"))
            .args(["gait", what, &config(gait), "--cards", &config(compensation)])
            .args(more)
            .output()
            .unwrap()
    };
    let march = ["--method", "march"];
    let output = cards("steady", "cards/h9_gait.txt", "cards/h9_compensation.txt", &march);
    let (read, yaml) = (report(&output), report(&run("steady", "h9", &march)));
    assert_eq!(read["starts"].as_array().unwrap().len(), 9);
    // The cards' ZMP is smoothed.
    let rate = |report: &Value| report["samples"][0]["phi_rad_s"].as_f64().unwrap();
    assert!((rate(&read) - rate(&yaml)).abs() < 0.02, "{} {}", rate(&read), rate(&yaml));
    let output = cards("transient", "cards/ah2_gait.txt", "cards/ah2_compensation.txt", &[]);
    assert!(report(&output)["most_central"]["verdict"]["margin"].as_f64().unwrap() > 0.0);
    let wrong = cards("transient", "cards/ah2_compensation.txt", "cards/ah2_compensation.txt", &[]);
    let text = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(
        wrong.status.code() == Some(1) && text.contains("ah2_compensation.txt: line 2: "),
        "{text}"
    );
}

/// Each body's centre of mass over time: velocities and accelerations are its derivatives; moments are those of the report.
#[test]
fn the_kinematics_of_all_bodies_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bodies.csv");
    for (what, gait) in [("steady", "h2"), ("transient", "ah2_start")] {
        let output = run(what, gait, &["--kinematics", file.to_str().unwrap()]);
        let (header, table) = table(&file);
        assert_eq!(header.len(), 1 + 12 * 9 + 11 * 2, "{header:?}");
        let column = |name: &str| header.iter().position(|h| h == name).unwrap();
        let [x, v, a] =
            ["trunk.x [m]", "trunk.velocity.x [m/s]", "trunk.acceleration.x [m/s²]"].map(column);
        for rows in table.windows(3) {
            let slope = |i: usize| (rows[2][i] - rows[0][i]) / (rows[2][0] - rows[0][0]);
            assert!(
                (slope(x) - rows[1][v]).abs() < 0.02 && (slope(v) - rows[1][a]).abs() < 0.5,
                "{rows:?}"
            );
        }
        if what == "steady" {
            let waist =
                report(&output)["samples"][0]["joint_moments_xy_nm"]["waist"][1].as_f64().unwrap();
            assert!((table[0][column("waist.moment.y [N·m]")] - waist).abs() < 1e-9);
        }
    }
}

/// Variants of the study by options: they change the motion, and what cannot be says why.
#[test]
fn variants_are_options() {
    let pitch = |more: &[&str]| {
        let report = report(&run("steady", "h9", more));
        report["samples"][15]["phi_rad"].as_f64().unwrap()
    };
    let plain = pitch(&[]);
    assert!(pitch(&["--zmp-shift", "0.02,0"]) > plain + 0.01);
    let rate = |more: &[&str]| {
        let report = report(&run("steady", "h9", more));
        report["samples"][0]["phi_rad_s"].as_f64().unwrap()
    };
    assert!((rate(&["--point-masses"]) - rate(&[])).abs() > 0.05);
    assert!(
        pitch(&["--waist-shift", "0.03,-0.02"]) < pitch(&["--waist-shift", "-0.03,-0.02"]) - 0.02
    );
    let output = run("steady", "h9", &["--waist-shift", "0,0.1"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && text.contains("a leg is too short by"), "{text}");
    assert_eq!(run("steady", "h9", &["--waist-shift", "0,1e9"]).status.code(), Some(2));
}

/// The study's page is what is computed: a row of its table of the march, one of table 3.7.
#[test]
fn the_page_of_the_study_is_up_to_date() {
    use karakuri_gait::compensation as gait;
    let page = format!("{}/../../../docs/experiments/jaeri.md", env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(page).unwrap();
    let body = gait::BodyData::default();
    let text = |name: &str| std::fs::read_to_string(config(name)).unwrap();
    let value: serde_yaml::Value = serde_yaml::from_str(&text("h2.yaml")).unwrap();
    let spec: gait::SteadySpec = serde_yaml::from_value(value["steady"].clone()).unwrap();
    let h2 = gait::SteadyGait::new(&spec).unwrap();
    let e = gait::Equation { body: &body, gait: &h2, arms: gait::Arms::Active };
    let exact = gait::find_main_family(&e, &gait::PeriodicOptions::default()).unwrap().states[0];
    let gaps = [30, 60, 120, 240].map(|intervals| {
        let options = gait::SearchOptions { intervals, ..Default::default() };
        let found = gait::Search::from_start(&e, &exact, &options).unwrap();
        format!("{:.1e}", (found.start - exact).amax())
    });
    let row = format!("| H2 | active | {} |", gaps.join(" | "));
    assert!(page.contains(&row), "{row}");
    let value: serde_yaml::Value = serde_yaml::from_str(&text("h2_stop.yaml")).unwrap();
    let stop: gait::TransientSpec = serde_yaml::from_value(value["transient"].clone()).unwrap();
    let region = gait::published::REGIONS[1];
    let both = karakuri_gait::geometry::Rectangle {
        x: region.x,
        y: [gait::published::FIRST_RIGHT_EDGE, region.y[1]],
    };
    let grid = gait::SurveyGrid { sway: gait::published::COARSE, pitch: gait::published::COARSE };
    let count = |standstill: f64| {
        let spec = gait::TransientSpec {
            single_support: region,
            double_support: Some(both),
            ..stop.with_times(0.8, standstill)
        };
        gait::Transient::new(&spec, &body).unwrap().survey(&grid, &|| true).len()
    };
    let row = format!("| 0.8 | 66 | {} | 17 | {} |", count(0.5), count(1.0));
    assert!(page.contains(&row), "{row}");
}

/// Header and rows of a trace.
fn table(file: &Path) -> (Vec<String>, Vec<Vec<f64>>) {
    let text = std::fs::read_to_string(file).unwrap();
    let mut lines = text.lines();
    let header = lines.next().unwrap().split(',').map(str::to_owned).collect();
    let row = |line: &str| line.split(',').map(|x| x.parse().unwrap()).collect();
    (header, lines.map(row).collect())
}

#[test]
fn motions_are_traced_with_their_joints() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("motion.csv");
    let trace = ["--trace", file.to_str().unwrap()];
    for (what, gait, rows) in
        [("steady", "h2", 101), ("transient", "ah2_start", 201), ("transient", "h2_stop", 101)]
    {
        assert!(run(what, gait, &trace).status.success(), "{gait}");
        let (header, table) = table(&file);
        let column = |name: &str| header.iter().position(|h| h == name).unwrap();
        assert_eq!(table.len(), rows);
        let [theta, roll, ankle] =
            ["theta [rad]", "left_hip_roll [rad]", "left_ankle_roll [rad]"].map(column);
        let [hip, knee, foot] =
            ["left_hip_pitch [rad]", "left_knee_pitch [rad]", "left_ankle_pitch [rad]"].map(column);
        for row in &table {
            // The foot stays level, and the joints are those of the angles.
            let zeros =
                [row[hip] + row[knee] + row[foot], row[roll] - row[theta], row[ankle] + row[roll]];
            assert!(zeros.iter().all(|x| x.abs() < 1e-12), "{row:?}");
        }
        if what == "steady" {
            let [x, desired] = ["zmp.x [m]", "zmp_prescribed.x [m]"].map(column);
            assert!(table.iter().all(|row| (row[x] - row[desired]).abs() < 1e-6));
        }
    }
    let walk = ["--distance", "0.05", "--dt", "0.002", trace[0], trace[1]];
    assert!(run("walk", "khr1_walk", &walk).status.success());
    let (header, table) = table(&file);
    assert_eq!(header.len(), 15 + 17, "root, plan, pressure, lean and 17 joints: {header:?}");
    let knee = header.iter().position(|h| h == "l_knee_pitch [rad]").unwrap();
    let angles = || table.iter().map(|row| row[knee]);
    let bend = angles().fold(f64::MIN, f64::max) - angles().fold(f64::MAX, f64::min);
    assert!(bend > 0.1, "{bend} rad");
}

#[test]
fn one_errand_at_a_time() {
    for more in [["--turn", "90", "--distance", "2"], ["--stairs", "0.1,0.36,3", "--turn", "90"]] {
        let output = run("walk", "khr1_walk", &more);
        assert_eq!(output.status.code(), Some(2));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains("cannot be used with"), "{text}");
    }
}

#[test]
fn a_cause_is_reported_once() {
    let output = run("plan", "h2", &[]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(text.matches("unknown field `arms`").count(), 1, "{text}");
}

#[test]
fn khr1_plans_within_its_limits() {
    let output = run("plan", "khr1_walk", &["--distance", "1"]);
    let report = report(&output);
    assert!(output.status.success(), "{report}");
    assert!(report["least_margin_m"].as_f64().unwrap() > 0.005, "{report}");
    assert!(report["planned_faster_than_real_time"].as_f64().unwrap() > 10.0, "{report}");
}

/// Walks in the physics simulation, pushed on the way.
#[test]
fn both_robots_walk_in_the_simulation() {
    for (gait, distance, push) in
        [("khr1_walk", "0.1", "1.5,0,0.05"), ("anthropomorphic_walk", "0.5", "2.5,0,8")]
    {
        let output = run("walk", gait, &["--distance", distance, "--push", push, "--dt", "0.002"]);
        let report = report(&output);
        assert!(output.status.success(), "{gait}: {report}");
        let gone = report["distance_m"].as_f64().unwrap();
        let drift = report["lateral_drift_m"].as_f64().unwrap();
        let desired: f64 = distance.parse().unwrap();
        assert!(
            (gone - desired).abs() < 0.05 * desired && drift.abs() < 0.02 * desired,
            "{report}"
        );
    }
}

/// All times are `√(9.81/1.62)` = 2.46 as long as on the earth, weights a sixth.
#[test]
fn a_robot_walks_on_the_moon() {
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config");
    let slower = (9.81_f64 / 1.62).sqrt();
    let mut gait: serde_yaml::Value = serde_yaml::from_str(
        &std::fs::read_to_string(config.join("gaits/khr1_walk.yaml")).unwrap(),
    )
    .unwrap();
    for key in ["urdf", "config"] {
        let file = config.join("gaits").join(gait[key].as_str().unwrap());
        gait[key] = file.to_str().unwrap().into();
    }
    let walk = &mut gait["walk"];
    walk["gravity"] = 1.62.into();
    for key in ["step_time", "double_support", "start_time", "stop_time", "period", "preview_time"]
    {
        walk[key] = (slower * walk[key].as_f64().unwrap()).into();
    }
    walk["jerk_weight"] = (1e-6 * slower.powi(6)).into();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("moon.yaml");
    std::fs::write(&file, serde_yaml::to_string(&gait).unwrap()).unwrap();
    let output =
        run_file("walk", &file, &["--distance", "0.3", "--push", "5,0,0.02", "--dt", "0.002"]);
    let report = report(&output);
    assert!(output.status.success() && report["fell"] == false, "{report}");
    assert!((report["distance_m"].as_f64().unwrap() - 0.3).abs() < 0.015, "{report}");
    assert!(report["largest_lean_rad"].as_f64().unwrap() < 0.02, "{report}");
}

/// A push that the ankles alone cannot hold: without steps that react it fell here.
#[test]
fn a_step_catches_a_push() {
    let push = ["--distance", "0.4", "--push", "3.48,0,-0.3", "--dt", "0.002"];
    let report = report(&run("walk", "khr1_walk", &push));
    assert_eq!(report["fell"], false, "{report}");
}

#[test]
fn both_robots_walk_on_slopes() {
    for (gait, distance, slope) in
        [("khr1_walk", "0.15", "5"), ("anthropomorphic_walk", "0.6", "-5")]
    {
        let output =
            run("walk", gait, &["--distance", distance, "--slope", slope, "--dt", "0.002"]);
        let report = report(&output);
        assert!(output.status.success(), "{gait}: {report}");
        let rise: f64 = slope.parse::<f64>().unwrap().to_radians().tan();
        let desired = rise * distance.parse::<f64>().unwrap();
        assert!((report["height_gained_m"].as_f64().unwrap() - desired).abs() < 0.01, "{report}");
    }
}

/// The centre of pressure is inside the soles that press, wherever they are: a robot that turned by 45° stands as firmly as one that
/// did not, its plan being elsewhere.
#[test]
fn the_margin_is_that_of_the_soles_where_they_are() {
    for more in [["--heading", "45"], ["--slope", "3"]] {
        let options = ["--distance", "0.15", "--dt", "0.002", more[0], more[1]];
        let report = report(&run("walk", "khr1_walk", &options));
        let margin = report["margin_95_percent_m"].as_f64().unwrap();
        // The sole is 45 mm wide.
        assert!((0.004..0.0225).contains(&margin), "{more:?}: {report}");
    }
}

/// Steps from tread to tread that a gait does not allow: refused before the first one, with what would be cut; so are joints too slow.
#[test]
fn stairs_beyond_the_steps_are_refused() {
    for what in ["walk", "plan"] {
        let output = run(what, "khr1_walk", &["--stairs", "0.02,0.1,2"]);
        assert_eq!(output.status.code(), Some(3));
        let report = report(&output);
        let reason = report["failure"].as_str().unwrap();
        let reported = "the stairs are beyond `limits` of the gait: step of ";
        assert!(reason.starts_with(reported), "{report}");
        assert!(reason.contains("0.020 m up cut to 0.012 m; step length 0.1"), "{report}");
        assert_eq!(reason.matches("cut to").count(), 2, "{report}");
        if what == "walk" {
            assert_eq!((&report["steps"], &report["fell"]), (&0.into(), &false.into()));
        }
    }
    let output = run("plan", "anthropomorphic_stairs", &["--stairs", "0.1,0.36,1"]);
    let report = report(&output);
    assert!(output.status.success() && report["steps"] == 4, "{report}");
    let output = run("walk", "anthropomorphic_stairs", &["--stairs", "0.1,0.36,1", "--slope", "2"]);
    assert_eq!(output.status.code(), Some(2));
}

/// Over a floor that rises to the left it goes ahead and no higher; one that rises ahead and to the left is climbed by as much as it rises.
#[test]
fn a_robot_walks_across_a_slope() {
    let options = ["--distance", "0.2", "--cross-slope", "3", "--dt", "0.002"];
    let across = report(&run("walk", "khr1_walk", &options));
    let number = |report: &Value, key: &str| report[key].as_f64().unwrap();
    assert_eq!(across["fell"], false, "{across}");
    assert!((number(&across, "distance_m") - 0.2).abs() < 0.01, "{across}");
    assert!(number(&across, "height_gained_m").abs() < 0.001, "{across}");
    let aside =
        ["--velocity", "0,0.04,0", "--duration", "4", "--cross-slope", "3", "--dt", "0.002"];
    let up = report(&run("walk", "khr1_walk", &aside));
    let rise = 3_f64.to_radians().tan() * number(&up, "lateral_drift_m");
    assert!(up["fell"] == false && rise > 0.002, "{up}");
    assert!((number(&up, "height_gained_m") - rise).abs() < 0.001, "{up}");
    let output = run("plan", "khr1_walk", &["--cross-slope", "30"]);
    assert_eq!(output.status.code(), Some(1));
}

/// The ZMP goes to the foot that stays: to the right one before the left foot's step.
#[test]
fn either_foot_may_step_first() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.csv");
    for (first, sign) in [("left", -1.0), ("right", 1.0)] {
        let options =
            ["--distance", "0.1", "--first-foot", first, "--trace", file.to_str().unwrap()];
        assert!(run("plan", "khr1_walk", &options).status.success());
        let (header, table) = table(&file);
        let zmp = header.iter().position(|h| h == "zmp_reference.y [m]").unwrap();
        let moved = table.iter().map(|row| row[zmp]).find(|y| y.abs() > 0.01).unwrap();
        assert!(moved * sign > 0.0, "{first}: {moved}");
    }
    assert_eq!(run("plan", "khr1_walk", &["--first-foot", "middle"]).status.code(), Some(2));
}

#[test]
fn a_fall_is_exit_code_3_with_time_and_cause() {
    let output = run("walk", "anthropomorphic_walk", &["--distance", "1", "--push", "2.5,0,80"]);
    assert_eq!(output.status.code(), Some(3));
    let report = report(&output);
    let (reported, lost) = (report["failure"].as_str().unwrap(), &report["beyond_saving_since_s"]);
    let lost = lost.as_f64().unwrap();
    let fell: f64 = reported.split(' ').nth(2).unwrap().parse().unwrap();
    assert!(reported.starts_with("fell at") && (2.4..fell - 0.1).contains(&lost), "{report}");
    assert!(reported.contains(&format!("lost at {lost:.2} s: in step ")), "{report}");
    assert!(reported.contains(", beyond all that steps can capture; joint `"), "{report}");
    assert!(report["least_capture_margin_m"].as_f64().unwrap() < 0.0, "{report}");
}

/// Beside preview control: the same routes, the plan's ZMP nearer to the desired one, standing in the end, pushed as well.
#[test]
fn by_the_divergent_component_they_walk_as_far() {
    for (gait, distance) in [("khr1_walk", 0.3), ("anthropomorphic_walk", 1.0)] {
        let text = format!("{distance}");
        let [preview, dcm] = ["preview", "dcm"].map(|generator| {
            let options = ["--distance", text.as_str(), "--generator", generator];
            let plan = report(&run("plan", gait, &options));
            let walk = report(&run("walk", gait, &[&options[..], &["--dt", "0.002"]].concat()));
            assert!(plan["failure"].is_null() && walk["fell"] == false, "{plan} {walk}");
            let number = |report: &Value, key: &str| report[key].as_f64().unwrap();
            let (gone, aside) = (number(&walk, "distance_m"), number(&walk, "lateral_drift_m"));
            assert!(
                (gone - distance).abs() < 0.05 * distance && aside.abs() < 0.02 * distance,
                "{walk}"
            );
            assert!(number(&walk, "least_capture_margin_m") > 0.0, "{walk}");
            [number(&plan, "largest_zmp_error_m"), number(&plan, "steps")]
        });
        assert!(dcm[0] < preview[0] && (dcm[1] - preview[1]).abs() < 0.5, "{dcm:?} {preview:?}");
    }
    let push =
        ["--distance", "0.4", "--push", "3.48,0,0.25", "--dt", "0.002", "--generator", "dcm"];
    let pushed = report(&run("walk", "khr1_walk", &push));
    assert_eq!(pushed["fell"], false, "{pushed}");
    let wrong = run("plan", "khr1_walk", &["--generator", "mpc"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("write preview or dcm"));
}

#[test]
fn a_walker_names_its_links_that_overlap() {
    let folder = tempfile::tempdir().unwrap();
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let read = |file: &str| std::fs::read_to_string(config.join(file)).unwrap();
    // Thighs so wide that they are in each other.
    let thigh = "<box size=\"0.03 0.038 0.066\"/>";
    let urdf = read("urdf/khr1/khr1.urdf");
    assert_eq!(urdf.matches(thigh).count(), 2);
    let urdf = urdf.replace(thigh, "<box size=\"0.03 0.06 0.066\"/>");
    std::fs::write(folder.path().join("khr1.urdf"), urdf).unwrap();
    std::fs::write(folder.path().join("khr1.yaml"), read("config/khr1.yaml")).unwrap();
    let gait = read("config/gaits/khr1_walk.yaml")
        .replace("../../urdf/khr1/khr1.urdf", "khr1.urdf")
        .replace("../khr1.yaml", "khr1.yaml");
    let file = folder.path().join("walk.yaml");
    std::fs::write(&file, gait).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_karakuri"))
        .args(["gait", "walk"])
        .arg(file)
        .args(["--distance", "0.04", "--dt", "0.002"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    for line in [
        "5 pairs of its links overlap",
        "collision:\n  ignore:\n    - [l_thigh, r_thigh]  # 14.0 mm",
    ] {
        assert!(said.contains(line), "{said}");
    }
}

fn hardware(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../config/hardware");
    format!("{folder}/{name}.yaml")
}

#[test]
fn it_walks_over_the_servos_of_other_buses_too() {
    let file = hardware("khr1_rcb4");
    let output = run("walk", "khr1_board", &["--distance", "0.05", "--hardware", &file]);
    let report = report(&output);
    let distance = report["distance_m"].as_f64().unwrap();
    assert!(output.status.success() && (0.03..0.08).contains(&distance), "{report}");
}

#[test]
fn hardware_that_cannot_turn_legs_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gripper.yaml");
    let text = std::fs::read_to_string(hardware("khr1_rcb4")).unwrap();
    let text = text.replace("bus: rcb4", "bus: robotiq").replace("baud: 1250000", "baud: 115200");
    let (keys, servos) = text.split_once("servos:").unwrap();
    let mut text = format!("{}servos:\n  head_yaw: {{id: 9}}\n", keys.replace("0.015", "0.1"));
    for line in servos.lines().filter(|line| line.contains("_pitch:") || line.contains("_roll:")) {
        let (joint, _) = line.split_once(':').unwrap();
        text.push_str(joint);
        text.push_str(": none\n");
    }
    std::fs::write(&file, text).unwrap();
    let output = run("walk", "khr1_board", &["--hardware", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("robotiq has no servos that turn joints one by one; name a file of another"),
        "{said}"
    );
}
