//! `karakuri inverse-dynamics` as a user runs it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says so")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn mechanisms() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config/mechanisms")
}

fn run(mechanism: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_karakuri"));
    command.arg("inverse-dynamics").arg(mechanism).args(more).output().unwrap()
}

fn report(mechanism: &Path, more: &[&str]) -> Value {
    let output = run(mechanism, more);
    let errors = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {errors}"))
}

/// Errors, and orders between the steps, of a variant.
fn convergence(report: &Value, variant: &str) -> (Vec<f64>, Vec<f64>) {
    let all = report["convergence"].as_array().unwrap();
    let one = all.iter().find(|c| c["variant"] == variant).unwrap();
    let list =
        |key: &str| one[key].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    (list("errors"), list("orders"))
}

/// Mechanism, and the error at 10 ms of `central` and `newmark` that is not to be passed.
const EXPERIMENTS: [(&str, f64, f64); 9] = [
    ("three_links", 2.5e-5, 1.5e-4),
    ("branched", 4e-5, 2.3e-4),
    ("four_bar", 1.3e-4, 2.7e-4),
    ("parallelogram", 4e-5, 3.5e-4),
    ("branched_loop", 2e-4, 5e-4),
    ("two_arms", 3e-4, 1e-3),
    ("wall_tracing", 2e-5, 5e-5),
    ("arm6_fast", 3e-4, 7e-4),
    ("khr1_arms", 5e-4, 1.2e-3),
];

#[test]
fn errors_fall_with_the_square_of_the_step() {
    for (name, central_limit, newmark_limit) in EXPERIMENTS {
        let report = report(&mechanisms().join(name).with_extension("yaml"), &[]);
        let (errors, orders) = convergence(&report, "central");
        assert!(errors[0] < central_limit, "{name}: {errors:?}");
        assert!(orders.iter().all(|o| (1.9..2.1).contains(o)), "{name}: {orders:?}");
        // Between 10 and 5 ms rounding does not yet show.
        let (errors, orders) = convergence(&report, "newmark");
        assert!(errors[0] < newmark_limit, "{name}: {errors:?}");
        assert!((1.9..2.1).contains(&orders[0]), "{name}: {orders:?}");
        let (_, orders) = convergence(&report, "external");
        assert!(orders.iter().all(|o| (0.9..1.1).contains(o)), "{name}: {orders:?}");
    }
}

#[test]
fn feed_forward_follows_fast_trajectories() {
    for name in ["arm6_fast", "khr1_arms"] {
        let report = report(&mechanisms().join(name).with_extension("yaml"), &[]);
        let peak = |run: usize| report["tracking"][run]["peak_error"].as_f64().unwrap();
        let (feedback, both, wrong) = (peak(0), peak(1), peak(2));
        assert!(both < 0.2 * feedback, "{name}: {both} with feed-forward, {feedback} without");
        assert!(wrong < feedback, "{name}: {wrong} with a payload 20 % wrong, {feedback} without");
    }
}

#[test]
fn forces_are_held_in_real_contacts() {
    for (name, limit) in [("wall_tracing", 0.02), ("two_arms", 0.1)] {
        let report = report(&mechanisms().join(name).with_extension("yaml"), &[]);
        let run = |run: usize| &report["contact"][run];
        let error = |i: usize| run(i)["largest_force_error"].as_f64().unwrap();
        assert!(error(0) < limit, "{name}: {}", error(0));
        assert!(error(1) > 0.5, "{name}: feedback alone {}", error(1));
        if let Some(distance) = run(0)["largest_distance"].as_f64() {
            assert!(distance < 5e-3, "{name}: {distance} m");
        }
    }
}

#[test]
fn a_start_with_jerk_breaks_only_newmark() {
    let file = mechanisms().join("three_links_jerk.yaml");
    let report = report(&file, &["--variant", "newmark"]);
    assert!(convergence(&report, "central").0[0] < 1e-5);
    assert!(convergence(&report, "newmark").0[3] > 0.1);
    assert!(report["warnings"][0].as_str().unwrap().contains("variant `newmark` rings"));
}

#[test]
fn a_trajectory_file_gives_what_the_motion_gives() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let mut csv = "time [s],shoulder [rad],elbow [rad],wrist [rad]\n".to_owned();
    for i in 0..=1000 {
        let t = f64::from(i) * 2e-3;
        let u = t / 2.0;
        let s = u.powi(4) * (35.0 - u * (84.0 - u * (70.0 - 20.0 * u)));
        writeln!(csv, "{t},{},{},{}", 0.5 + 1.1 * s, -0.8 - 1.1 * s, 0.3 + 0.9 * s).unwrap();
    }
    std::fs::write(path("t.csv"), csv).unwrap();
    let file = mechanisms().join("three_links.yaml");
    let (tau, svg) = (path("tau.csv"), path("tau.svg"));
    let report = report(&file, &["--trajectory", &path("t.csv"), "--output", &tau, "--plot", &svg]);
    assert_eq!(report["samples"], 1001);
    assert!(report["largest_error_relative"].as_f64().unwrap() < 1.5e-6, "{report}");
    let recursive = path("recursive.csv");
    let args = ["--dt", "0.002", "--method", "recursive", "--output", &recursive];
    assert!(run(&file, &args).status.success());
    let numbers = |file: &str| -> Vec<Vec<f64>> {
        let text = std::fs::read_to_string(file).unwrap();
        text.lines().skip(1).map(|l| l.split(',').map(|x| x.parse().unwrap()).collect()).collect()
    };
    for (a, b) in numbers(&tau).iter().zip(&numbers(&recursive)).skip(1).take(999) {
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() < 2e-5, "{a} {b}");
        }
    }
    assert!(std::fs::read_to_string(svg).unwrap().starts_with("<svg"));
}

#[test]
fn a_motion_written_is_the_motion_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let file = mechanisms().join("wall_tracing.yaml");
    let (motion, tau, again) = (path("motion.csv"), path("tau.csv"), path("again.csv"));
    assert!(run(&file, &["--motion", &motion, "--output", &tau]).status.success());
    assert!(run(&file, &["--trajectory", &motion, "--output", &again]).status.success());
    let read = |file: &str| std::fs::read_to_string(file).unwrap();
    assert_eq!(read(&tau), read(&again));
    assert!(
        read(&motion).starts_with(
            "time [s],shoulder.q [rad],shoulder.v [rad/s],shoulder.a [rad/s²],elbow.q"
        )
    );
}

#[test]
fn an_over_actuated_motion_written_is_the_motion_read() {
    // Its cranks stay what the table says, so neither's rounding is amplified.
    let folder = tempfile::tempdir().unwrap();
    let motion = folder.path().join("motion.csv").to_str().unwrap().to_owned();
    let grasp = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/coop_grasp");
    for (name, step) in [
        (mechanisms().join("parallelogram"), "0.002"),
        (mechanisms().join("branched_loop"), "0.002"),
        (grasp, "0.01"),
    ] {
        let (file, name) = (name.with_extension("yaml"), name.display());
        assert!(run(&file, &["--motion", &motion, "--dt", step]).status.success());
        let report = report(&file, &["--trajectory", &motion]);
        let (errors, orders) = convergence(&report, "central");
        assert!(errors[3] < 5e-5, "{name}: {errors:?}");
        assert!(orders.iter().all(|o| (1.9..2.1).contains(o)), "{name}: {orders:?}");
        let (_, orders) = convergence(&report, "newmark");
        assert!(orders[..2].iter().all(|o| (1.9..2.1).contains(o)), "{name}: {orders:?}");
    }
}

#[test]
fn contradicting_targets_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let mut csv = "time [s],crank [rad],rocker [rad]\n".to_owned();
    for i in 0..=100 {
        let angle = 0.7 + 0.01 * f64::from(i);
        writeln!(csv, "{},{angle},{}", f64::from(i) * 0.01, angle + 0.3).unwrap();
    }
    std::fs::write(path("t.csv"), csv).unwrap();
    let file = mechanisms().join("parallelogram.yaml");
    let output = run(&file, &["--trajectory", &path("t.csv")]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{error}");
    for part in ["t.csv", "`crank`, `rocker`", "contradict", "loop `pin`", "t = 0 s"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    // The same in the mechanism file itself.
    let text = std::fs::read_to_string(&file).unwrap();
    let both = text.replacen("    crank: {", "    rocker: {at: 0.9}\n    crank: {", 1);
    let both: String =
        both.lines().filter(|l| !l.contains("start:")).fold(String::new(), |all, l| all + l + "\n");
    std::fs::write(path("m.yaml"), both).unwrap();
    let output = run(Path::new(&path("m.yaml")), &[]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("contradict"), "{error}");
}

#[test]
fn a_trajectory_begins_where_the_mechanism_file_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let file = mechanisms().join("two_arms.yaml");
    let (motion, object, tau, again) =
        (path("motion.csv"), path("object.csv"), path("tau.csv"), path("again.csv"));
    assert!(run(&file, &["--dt", "0.005", "--motion", &motion, "--output", &tau]).status.success());
    // The object's columns alone: the arms follow, on the branch of `motion.start`.
    let text = std::fs::read_to_string(&motion).unwrap();
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let keep: Vec<usize> = (0..header.len())
        .filter(|&i| {
            ["time", "slide_x", "slide_y", "turn"].iter().any(|n| header[i].starts_with(n))
        })
        .collect();
    let mut short = String::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split(',').collect();
        writeln!(short, "{}", keep.iter().map(|&i| cells[i]).collect::<Vec<_>>().join(","))
            .unwrap();
    }
    std::fs::write(&object, short).unwrap();
    let output = run(&file, &["--trajectory", &object, "--output", &again]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |file: &str| std::fs::read_to_string(file).unwrap();
    assert_eq!(read(&tau), read(&again));
    // A file that has no more of a motion than its start.
    let yaml = read(file.to_str().unwrap());
    let start = yaml.lines().find(|l| l.contains("start:")).unwrap();
    let (head, tail) = (yaml.split("motion:").next().unwrap(), "");
    std::fs::write(path("m.yaml"), format!("{head}motion:\n{start}\n{tail}")).unwrap();
    let output = run(Path::new(&path("m.yaml")), &["--trajectory", &object, "--output", &again]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(read(&tau), read(&again));
    let output = run(Path::new(&path("m.yaml")), &[]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(error.contains("--trajectory"), "{error}");
}

/// Columns of a table, by name without unit.
fn columns(file: &str) -> std::collections::BTreeMap<String, Vec<f64>> {
    let text = std::fs::read_to_string(file).unwrap();
    let mut lines = text.lines();
    let names: Vec<String> = lines
        .next()
        .unwrap()
        .split(',')
        .map(|c| c.split(" [").next().unwrap().to_owned())
        .collect();
    let mut columns = vec![Vec::new(); names.len()];
    for line in lines {
        line.split(',').zip(&mut columns).for_each(|(x, column)| column.push(x.parse().unwrap()));
    }
    names.into_iter().zip(columns).collect()
}

#[test]
fn efforts_are_parted_into_dynamics_and_force() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("tau.csv").to_str().unwrap().to_owned();
    for (name, first, second, lengths) in [
        ("wall_tracing", "shoulder", "elbow", [0.4, 0.4]),
        ("two_arms", "left_shoulder", "left_elbow", [0.2, 0.2]),
    ] {
        let file = mechanisms().join(name).with_extension("yaml");
        let motion = folder.path().join("motion.csv").to_str().unwrap().to_owned();
        let args = ["--dt", "0.01", "--output", &table, "--motion", &motion];
        assert!(run(&file, &args).status.success());
        let (tau, motion) = (columns(&table), columns(&motion));
        for i in 0..tau["time"].len() {
            for joint in [first, second] {
                let [dynamics, force] =
                    ["dynamics", "force"].map(|part| tau[&format!("{joint}.{part}")][i]);
                // But for the rounding of one addition.
                let (off, size) =
                    (dynamics + force - tau[joint][i], dynamics.abs().max(force.abs()));
                assert!(off.abs() <= f64::EPSILON * size, "{name}, {joint}: {off} of {size}");
            }
            // The force part is J^T F: of the push, or of half a newton of squeeze.
            let (a, b) = (
                motion[&format!("{first}.q")][i],
                motion[&format!("{first}.q")][i] + motion[&format!("{second}.q")][i],
            );
            let [x, y] = if name == "two_arms" {
                [0.5, 0.0]
            } else {
                ["tip.fx", "tip.fy"].map(|f| motion[f][i])
            };
            let elbow = lengths[1] * (b.cos() * y - b.sin() * x);
            let shoulder = elbow + lengths[0] * (a.cos() * y - a.sin() * x);
            for (joint, expected) in [(first, shoulder), (second, elbow)] {
                let force = tau[&format!("{joint}.force")][i];
                assert!(
                    (force - expected).abs() < 1e-9,
                    "{name}, {joint}, {i}: {force} {expected}"
                );
            }
        }
    }
}

#[test]
fn factors_are_printed_on_request() {
    let file = mechanisms().join("three_links.yaml");
    let output = run(&file, &["--product", "1"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for part in ["planar", "[L]", "[T]", "{P}", "[T]{P}", "at t = 1 s"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The last line of efforts is what the table says.
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("tau.csv").to_str().unwrap().to_owned();
    assert!(run(&file, &["--method", "recursive", "--output", &table]).status.success());
    let wrist = columns(&table)["wrist"][1000];
    let printed: f64 =
        text.lines().last().unwrap().split_whitespace().last().unwrap().parse().unwrap();
    assert!((printed - wrist).abs() < 1e-6, "{printed} {wrist}");
    let output = run(&file, &["--product", "77"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--product 77"));
    let arm =
        String::from_utf8(run(&mechanisms().join("arm6_fast.yaml"), &["--product", "0.5"]).stdout)
            .unwrap();
    assert!(arm.contains("spatial"), "{arm}");
}

#[test]
fn every_method_and_several_increments() {
    let error = |name: &str, more: &[&str]| {
        let report = report(&mechanisms().join(name).with_extension("yaml"), more);
        report["largest_error_relative"].as_f64().unwrap()
    };
    for name in ["three_links", "branched_loop", "four_bar", "wall_tracing", "khr1_arms"] {
        let error = error(name, &["--method", "simulated", "--dt", "0.01"]);
        assert!(error < 1e-8, "{name}: {error}");
    }
    let output = run(&mechanisms().join("two_arms.yaml"), &["--method", "simulated"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("least_norm"));
    // Five increments in 10 ms are the scheme at 2 ms.
    for variant in ["central", "newmark"] {
        let (one, five, short) = (
            error("three_links", &["--variant", variant, "--dt", "0.01"]),
            error("three_links", &["--variant", variant, "--dt", "0.01", "--increments", "5"]),
            error("three_links", &["--variant", variant, "--dt", "0.002"]),
        );
        assert!(five <= short && five > 0.9 * short, "{variant}: {five} {short}");
        assert!((one / five / 25.0 - 1.0).abs() < 0.15, "{variant}: {one} {five}");
    }
    let (consistent, lumped) = (
        error("three_links", &["--nodes", "beam", "--dt", "0.01"]),
        error("three_links", &["--nodes", "beam-lumped", "--dt", "0.01"]),
    );
    assert!(consistent < 2.5e-5 && lumped > 1e-3, "{consistent} {lumped}");
    let output = run(&mechanisms().join("arm6_fast.yaml"), &["--nodes", "beam"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("uniform slender rod"));
}

#[test]
fn the_forces_of_two_arms_squeeze_the_block_and_move_it() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("tau.csv").to_str().unwrap().to_owned();
    assert!(run(&mechanisms().join("two_arms.yaml"), &["--output", &table]).status.success());
    let text = std::fs::read_to_string(&table).unwrap();
    let columns: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let column = |name: &str| columns.iter().position(|c| *c == format!("{name} [N]")).unwrap();
    let [left, right] = ["left.fx", "right.fx"].map(column);
    for (i, line) in text.lines().skip(1).enumerate().skip(1).take(3998) {
        let row: Vec<f64> = line.split(',').map(|x| x.parse().unwrap()).collect();
        assert!(((row[left] - row[right]) / 2.0 - 0.5).abs() < 1e-9, "{line}");
        // 0.02 kg moved by 0.05 (1 - cos 2 pi t) m along x
        let w = core::f64::consts::TAU;
        let moves = 0.02 * 0.05 * w * w * (w * i as f64 * 1e-3).cos();
        assert!((row[left] + row[right] - moves).abs() < 1e-6, "{line} {moves}");
    }
}

#[test]
fn what_is_wrong_is_named_with_its_place_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let good = std::fs::read_to_string(mechanisms().join("four_bar.yaml")).unwrap();
    let cases: [(&str, &str, &str); 10] = [
        ("driven: false}\n  rocker", "drivn: false}\n  rocker", "unknown field `drivn`"),
        ("parent: crank", "parent: krank", "krank"),
        ("locked: [tx, ty]", "locked: [tx, ti]", "loops.pin.locked"),
        ("duration: 2", "duration: -2", "motion.duration: -2 s is no duration"),
        ("crank: {at: 0.8, to: 3.9}", "crunk: {at: 0.8}", "no moving joint `crunk`"),
        ("  crank: {link: crank}\n", "  crank: {link: crank, driven: false}\n", "under-actuated"),
        ("rod: 0.5", "rod: -0.5", "links.coupler"),
        ("mass: 0.8", "mass: 0", "links.rocker.mass: 0 kg"),
        ("duration: 2", "blend: septic", "no `duration`"),
        ("at: [0.5, 0, 0], driven", "at: [1.5, 0, 0], driven", "loop `pin` is open"),
    ];
    for (from, to, said) in cases {
        let file = folder.path().join("m.yaml");
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from}");
        // The last case has a crank that the rods cannot follow.
        let text =
            if said.contains("open") { text.replacen("rod: 0.4", "rod: 0.04", 1) } else { text };
        std::fs::write(&file, text).unwrap();
        let output = run(&file, &[]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{to}: {error}");
        assert!(error.contains(said), "{to}: {error}");
        assert!(error.contains("m.yaml"), "{to}: {error}");
    }
}

#[test]
fn feed_forward_holds_the_loop_still_while_a_mass_swings() {
    let file = mechanisms().join("branched_loop.yaml");
    let tracking = report(&file, &[])["tracking"].clone();
    let peak = |run: usize| tracking[run]["peak_error"].as_f64().unwrap();
    let [feedback, feed_forward, wrong_mass] = [0, 1, 2].map(peak);
    assert!(feed_forward < 0.2 * feedback, "{tracking}");
    assert!(wrong_mass < 0.2 * feedback, "{tracking}");
    assert_eq!(report(&file, &[])["tracking"], tracking, "runs are repeatable");
}
