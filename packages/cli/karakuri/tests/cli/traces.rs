//! What `karakuri simulate` writes over time, against closed forms and the report.
#![expect(clippy::unwrap_used, reason = "a test says so")]

use std::path::PathBuf;
use std::process::Command;

use karakuri_files::{Trace, read_trace};
use serde_json::Value;
use tempfile::TempDir;

/// A run in a folder of its own, with its report.
struct Run {
    folder: TempDir,
    report: Value,
}

impl Run {
    fn new(scene: &str, files: &[(&str, &str)], more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("scene.yaml", scene)].iter().chain(files) {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let output = Command::new(env!("CARGO_BIN_EXE_karakuri"))
            .args(["--quiet", "simulate", "scene.yaml"])
            .args(more)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let report = serde_json::from_slice(&output.stdout).unwrap();
        Self { folder, report }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn trace(&self, name: &str) -> Trace {
        read_trace(&self.path(name)).unwrap()
    }

    fn lines(&self, name: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn column(trace: &Trace, name: &str) -> Vec<f64> {
    let names = || trace.columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
    let at = trace.columns.iter().position(|c| c.name == name);
    let at = at.unwrap_or_else(|| unreachable!("no `{name}` among {}", names()));
    trace.rows.iter().map(|row| row[at]).collect()
}

const BOXES: &str = "\
ground: {}
bodies:
  - {name: lower, shape: {box: [0.2, 0.2, 0.2]}, mass: 3, pose: {xyz: [0.5, 0, 0.1]}}
  - {name: upper, shape: {box: [0.1, 0.1, 0.1]}, mass: 2, pose: {xyz: [0.5, 0, 0.25]}}
";

#[test]
fn contacts_by_point_and_by_pair_carry_the_weights_over_time() {
    let files = [
        "--duration",
        "0.2",
        "--trace-period",
        "0.01",
        "--contacts",
        "c.jsonl",
        "--pairs",
        "p.jsonl",
    ];
    let run = Run::new(BOXES, &[], &files);
    let (points, pairs) = (run.lines("c.jsonl"), run.lines("p.jsonl"));
    assert_eq!((points.len(), pairs.len()), (20 * 8, 20 * 2));
    let number = |row: &Value, key: &str| row[key].as_f64().unwrap();
    for (by, on, mass) in [("world", "lower", 5.0), ("lower", "upper", 2.0)] {
        let weight = mass * 9.81;
        for pair in pairs.iter().filter(|row| row["on"] == on && number(row, "time") > 0.05) {
            assert_eq!((pair["by"].as_str().unwrap(), &pair["points"]), (by, &Value::from(4.0)));
            assert!((number(pair, "fz") - weight).abs() < 1e-6, "{pair}");
            // About the world's origin: at x = 0.5 m.
            assert!((number(pair, "my") + 0.5 * weight).abs() < 1e-6, "{pair}");
            let same = |p: &&Value| p["on"] == on && p["time"] == pair["time"];
            let sum: f64 = points.iter().filter(same).map(|p| number(p, "fz")).sum();
            assert!((sum - weight).abs() < 1e-6, "{sum}");
        }
    }
    let height = |on: &str| number(points.iter().find(|p| p["on"] == on).unwrap(), "z");
    assert!(height("lower").abs() < 1e-4 && (height("upper") - 0.2).abs() < 1e-4);
    // CSV is the same table.
    let run = Run::new(BOXES, &[], &["--duration", "0.01", "--contacts", "c.csv"]);
    let text = std::fs::read_to_string(run.path("c.csv")).unwrap();
    assert!(text.starts_with("by,on,time [s],x [m],y [m],z [m],nx [-],"), "{text}");
    assert_eq!(text.lines().count(), 1 + 10 * 8);
}

const ROBOT: &str = r#"<robot name="r">
  <link name="base"/>
  <link name="a"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="b"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="lead" type="prismatic"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
    <limit lower="-9" upper="9" effort="1000" velocity="100"/></joint>
  <joint name="follow" type="prismatic"><parent link="base"/><child link="b"/><axis xyz="0 0 1"/>
    <limit lower="-9" upper="9" effort="1000" velocity="100"/><mimic joint="lead" multiplier="2"/></joint>
</robot>
"#;
const CONFIG: &str =
    "sensors:\n  cell: {type: joint_wrench, link: b}\n  imu: {type: imu, link: a}\n";

#[test]
fn a_table_moves_a_joint_and_the_trace_tells_what_it_takes() {
    // It rises with 1 m/s² in a, 2 m/s² in b; in words of the trace of another run.
    let rows = (0..=10).map(|i| 0.1 * f64::from(i)).map(|t| format!("{t},{}", 0.5 * t * t));
    let table = format!("time [s],r.lead.q [m]\n{}\n", rows.collect::<Vec<_>>().join("\n"));
    let scene = "robots:\n  - {name: r, urdf: r.urdf, config: r.yaml}\nprescribed:\n  - {joint: r/lead, table: lift.csv}\n";
    let files = [("r.urdf", ROBOT), ("r.yaml", CONFIG), ("lift.csv", &table)];
    let run = Run::new(scene, &files, &["--duration", "0.9", "--trace", "t.csv", "--energy"]);
    let trace = run.trace("t.csv");
    let g = 9.81;
    let closed = [
        ("r.follow.mimic", 2.0 * (g + 2.0)),
        ("r.lead.tau", 3.0 * (g + 1.0) + 2.0 * 2.0 * (g + 2.0)),
        ("r.cell.fz", 2.0 * (g + 2.0)),
        ("r.imu.az", g + 1.0),
    ];
    for (name, expected) in closed {
        // From rest: half of the first step's span stands still.
        for (value, time) in column(&trace, name).iter().zip(column(&trace, "time")).skip(2) {
            assert!((value - expected).abs() < 1e-6, "{name} at {time}: {value}, not {expected}");
        }
    }
    for (q, t) in column(&trace, "r.lead.q").iter().zip(column(&trace, "time")) {
        assert!((q - 0.5 * t * t).abs() < 1e-12, "{t}: {q}");
    }
    let energy = |part: &str| column(&trace, &format!("energy.{part}"));
    let change = |values: &[f64]| values[values.len() - 1] - values[0];
    let causes = [
        "servos",
        "external",
        "contacts",
        "limits",
        "friction",
        "dampers",
        "loops",
        "stabilisation",
        "integration",
        "unexplained",
    ];
    let booked: f64 = causes.iter().map(|cause| change(&energy(cause))).sum();
    let gained = change(&energy("kinetic")) + change(&energy("potential"));
    assert!((booked - gained).abs() < 1e-9 * gained, "{booked} {gained}");
    assert!((change(&energy("work")) - change(&energy("servos"))).abs() < 1e-9 * gained);
    let robot = &run.report["robots"]["r"];
    assert!((robot["mimic_Nm_or_N"]["follow"].as_f64().unwrap() - closed[0].1).abs() < 1e-6);
    assert!(robot["prescribed_off_rad_or_m"]["lead"].as_f64().unwrap().abs() < 1e-15);
}

#[test]
fn drives_follow_a_table_of_commands() {
    // A servo of critical damping on 3 + 4 · 2 kg, which hang: behind a ramp only by their weight over its stiffness.
    let config = "drives:\n  lead: {stiffness: 1.0e5, damping: 2.0e3}\n";
    let scene = "robots:\n  - {name: r, urdf: r.urdf, config: r.yaml}\n";
    let table = "time [s],r.lead.q [m],r.follow.q [m]\n0,0,0\n1,0.5,1\n";
    let files = [("r.urdf", ROBOT), ("r.yaml", config), ("c.csv", table)];
    let run =
        Run::new(scene, &files, &["--duration", "0.9", "--command", "c.csv", "--trace", "t.csv"]);
    let trace = run.trace("t.csv");
    let (q, v) = (column(&trace, "r.lead.q"), column(&trace, "r.lead.v"));
    let expected = 0.5 * 0.9 - (3.0 + 2.0 * 2.0) * 9.81 / 1.0e5;
    let last = q.len() - 1;
    assert!((q[last] - expected).abs() < 1e-6, "{} {expected}", q[last]);
    assert!((v[last] - 0.5).abs() < 1e-6, "{}", v[last]);
}

#[test]
fn gears_carry_what_they_drive_until_they_slip() {
    // The mimic joint of `ROBOT` as two gears in turn: one holds, one slips at 10 N.
    let robot = ROBOT.replace(r#"<mimic joint="lead" multiplier="2"/>"#, "");
    let rows = (0..=10).map(|i| 0.1 * f64::from(i)).map(|t| format!("{t},{}", 0.5 * t * t));
    let table = format!("time [s],r.lead.q [m]\n{}\n", rows.collect::<Vec<_>>().join("\n"));
    let run = |gear: &str| {
        let scene = format!(
            "robots:\n  - {{name: r, urdf: r.urdf}}\nprescribed:\n  - {{joint: r/lead, table: lift.csv}}\n\
             gears:\n  - {{name: train, a: {{joint: r/lead}}, b: {{joint: r/follow}}, ratio: 2{gear}}}\n"
        );
        let files = [("r.urdf", robot.as_str()), ("lift.csv", &table)];
        let run = Run::new(&scene, &files, &["--duration", "0.5", "--trace", "t.csv"]);
        let trace = run.trace("t.csv");
        let names = ["gear.train.torque", "gear.train.slip", "r.lead.q", "r.follow.q"];
        names.map(|name| column(&trace, name))
    };
    let g = 9.81;
    let [torque, slip, lead, follow] = run("");
    for i in 2..torque.len() {
        assert!((torque[i] - 2.0 * (g + 2.0)).abs() < 1e-6, "{i}: {}", torque[i]);
        assert!(slip[i].abs() < 1e-9 && (follow[i] - 2.0 * lead[i]).abs() < 1e-9, "{i}");
    }
    let [torque, slip, lead, follow] = run(", torque: 10");
    let last = torque.len() - 1;
    // A step's velocity is that of its end: 500 of 1 ms go t (t + h) / 2.
    let fallen = 0.5 * (10.0 / 2.0 - g) * 0.5 * 0.501;
    assert!((follow[last] - fallen).abs() < 1e-9, "{} {fallen}", follow[last]);
    for i in 2..torque.len() {
        assert!((torque[i] - 10.0).abs() < 1e-9, "{i}: {}", torque[i]);
        // What slips holds wherever it gets to: that is its new phase.
        assert!(slip[i].abs() < 1e-15, "{i}: {} {}", lead[i], follow[i]);
    }
}

/// A parallelogram in the plane of x and z: crank and rocker of 0.2 m, 0.3 m apart, joined by a coupler.
const FOUR_BAR: &str = r#"<robot name="r">
  <link name="base"/>
  <link name="crank"><inertial><origin xyz="0.1 0 0"/><mass value="0.5"/><inertia ixx="1e-4" iyy="2e-3" izz="2e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="coupler"><inertial><origin xyz="0.15 0 0"/><mass value="1"/><inertia ixx="1e-4" iyy="8e-3" izz="8e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="rocker"><inertial><origin xyz="0.1 0 0"/><mass value="0.8"/><inertia ixx="1e-4" iyy="3e-3" izz="3e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="crank" type="continuous"><parent link="base"/><child link="crank"/><axis xyz="0 -1 0"/></joint>
  <joint name="coupler" type="continuous"><parent link="crank"/><child link="coupler"/><origin xyz="0.2 0 0"/><axis xyz="0 -1 0"/></joint>
  <joint name="rocker" type="continuous"><parent link="base"/><child link="rocker"/><origin xyz="0.3 0 0"/><axis xyz="0 -1 0"/></joint>
</robot>
"#;

#[test]
fn a_four_bar_at_rest_has_the_pin_force_of_statics() {
    let config = "loops:\n  pin: {link_a: coupler, link_b: rocker, type: custom, locked: [tx, tz], \
                  frame_a: {xyz: [0.3, 0, 0]}, frame_b: {xyz: [0.2, 0, 0]}}\n";
    let angle = 1.1_f64;
    let scene = format!(
        "robots:\n  - {{name: r, urdf: r.urdf, config: r.yaml, joints: {{crank: {angle}, coupler: -{angle}, rocker: {angle}}}}}\n\
         prescribed:\n  - {{joint: r/crank, times: [0], positions: [{angle}]}}\n"
    );
    let files = [("r.urdf", FOUR_BAR), ("r.yaml", config)];
    let run = Run::new(&scene, &files, &["--duration", "0.05", "--trace", "t.csv"]);
    let trace = run.trace("t.csv");
    let (g, [crank, coupler, rocker]) = (9.81, [0.5, 1.0, 0.8]);
    // Moments of the coupler about its pin on the crank, of the rocker about the base, and virtual work; the coupler lies
    // along x, so that its axes are the world's.
    let closed = [
        ("r.pin.fz", -0.5 * coupler * g),
        ("r.pin.fx", -0.5 * (coupler + rocker) * g / angle.tan()),
        ("r.pin.fy", 0.0),
        ("r.pin.my", 0.0),
        ("r.crank.tau", (0.5 * crank + coupler + 0.5 * rocker) * g * 0.2 * angle.cos()),
        ("r.loop_gap", 0.0),
    ];
    for (name, expected) in closed {
        for value in column(&trace, name).iter().skip(1) {
            assert!((value - expected).abs() < 1e-9, "{name}: {value}, not {expected}");
        }
    }
}

#[test]
fn attached_joints_are_in_the_trace_of_json_lines() {
    let scene = "\
robots:
  - {name: r, urdf: r.urdf, config: r.yaml}
prescribed:
  - {joint: r/lead, times: [0, 1], positions: [0, 0]}
bodies:
  - {name: lamp, shape: {sphere: {radius: 0.1}}, mass: 1.5, pose: {xyz: [2, 0, 1]}}
joints:
  - {name: hook, a: world, b: lamp, type: fixed, pose: {xyz: [2, 0, 1.5]}}
";
    let files = [("r.urdf", ROBOT), ("r.yaml", CONFIG)];
    let run = Run::new(scene, &files, &["--duration", "0.1", "--trace", "t.jsonl"]);
    let rows = run.lines("t.jsonl");
    assert_eq!(rows.len(), 101);
    let force = rows[100]["joint.hook.fz"].as_f64().unwrap();
    assert!((force - 1.5 * 9.81).abs() < 1e-6, "{force}");
}

#[test]
fn tables_of_motion_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    put("r.urdf", ROBOT);
    put("m.csv", "time [s],angle [rad]\n0,0\n1,1\n");
    let refused = |motion: &str| {
        put(
            "scene.yaml",
            &format!(
                "robots:\n  - {{name: r, urdf: r.urdf}}\nprescribed:\n  - {{joint: r/lead, {motion}}}\n"
            ),
        );
        let output = Command::new(env!("CARGO_BIN_EXE_karakuri"))
            .args(["simulate", "scene.yaml", "--duration", "0.01"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let said = refused("table: m.csv");
    assert!(said.contains("m.csv has no column `r.lead.q`") && said.contains("angle"), "{said}");
    assert!(refused("table: none.csv").contains("none.csv"));
}

/// `karakuri plot` draws what a file describes, and says what is wrong with one.
#[test]
fn a_described_figure_is_drawn_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let plot = |text: &str, more: &[&str]| {
        std::fs::write(folder.path().join("figure.yaml"), text).unwrap();
        Command::new(env!("CARGO_BIN_EXE_karakuri"))
            .args(["plot", "figure.yaml", "--output", "figure.svg"])
            .args(more)
            .current_dir(folder.path())
            .output()
            .unwrap()
    };
    let text = "\
title: Error over the step
panels:
  - x_label: step [s]
    y_label: error [m]
    log: [true, true]
    series: [{name: ours, style: line_dots, points: [[0.001, 1.0e-9], [0.01, 1.0e-7]]}]
    guides: [{name: bar, y: 1.0e-6}]
";
    assert!(plot(text, &[]).status.success());
    let svg = std::fs::read_to_string(folder.path().join("figure.svg")).unwrap();
    for word in ["Error over the step", "step [s]", "error [m]", "ours", "bar", "10⁻⁹"] {
        assert!(svg.lines().any(|line| line == word), "{word}");
    }
    let wrong: [(&str, &[&str], &str); 4] = [
        ("panels: []", &[], "no `panels`"),
        (&text.replace("series", "lines"), &[], "unknown field `lines`"),
        (&text.replace("line_dots", "stars"), &[], "unknown variant `stars`"),
        (text, &["--level", "1[m]=limit"], "a figure has its `series` and `guides` in its file"),
    ];
    for (text, more, expected) in wrong {
        let output = plot(text, more);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(expected), "{said}");
        assert!(said.contains("figure.yaml"), "{said}");
    }
}
