//! `karakuri sweep` as a user runs it.
#![expect(clippy::unwrap_used, reason = "a test says so")]

use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, text: &str, more: &[&str]) -> Output {
    let gaits = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config/gaits");
    let sweep = folder.join("sweep.yaml");
    std::fs::write(&sweep, text.replace("GAITS", gaits.to_str().unwrap())).unwrap();
    Command::new(env!("CARGO_BIN_EXE_karakuri"))
        .arg("sweep")
        .arg(sweep)
        .arg("--output")
        .arg(folder.join("out.csv"))
        .args(more)
        .output()
        .unwrap()
}

fn rows(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("out.csv")).unwrap();
    text.lines().skip(1).map(ToOwned::to_owned).collect()
}

#[test]
fn shards_together_are_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let text = "{gait: GAITS/h2.yaml, arms: [fixed, active], arm_mass_factor: [0.5, 1.0]}";
    assert!(run(folder.path(), text, &["--jobs", "1"]).status.success());
    let whole = rows(folder.path());
    assert_eq!(whole.len(), 4);
    let mut parts = [Vec::new(), Vec::new()];
    for (i, part) in parts.iter_mut().enumerate() {
        let shard = format!("{}/2", i + 1);
        assert!(run(folder.path(), text, &["--shard", &shard]).status.success());
        *part = rows(folder.path());
    }
    let [odd, even] = parts;
    let together: Vec<String> = odd.into_iter().zip(even).flat_map(|(a, b)| [a, b]).collect();
    assert_eq!(together, whole);
}

#[test]
fn a_sweep_is_reported_in_a_sentence_unless_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let text = "{gait: GAITS/h2.yaml, arms: [fixed]}";
    let said = |more: &[&str]| {
        let output = run(folder.path(), text, more);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let stderr = said(&[]);
    assert!(
        stderr.starts_with("swept 1 combination of ") && stderr.lines().count() == 1,
        "{stderr}"
    );
    assert!(stderr.trim_end().ends_with("out.csv"), "{stderr}");
    assert_eq!(said(&["--quiet"]), "");
}

/// Pelvis and ZMP as lists, each row as `karakuri gait steady` finds it; as published a ZMP further forward leans the trunk forward, a higher
/// pelvis leaves the sway nearly as it is and changes the pitch. [Kume 1991, §3.6]
#[test]
fn pelvis_and_zmp_are_swept() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        "{gait: GAITS/h9.yaml, hip_to_pelvis: [0.029, 0.069], zmp_shift: [[0, 0], [0.02, 0]]}";
    let picture = folder.path().join("out.svg");
    assert!(run(folder.path(), text, &["--plot", picture.to_str().unwrap()]).status.success());
    assert!(std::fs::read_to_string(picture).unwrap().contains("hip to middle of the pelvis [m]"));
    let file = std::fs::read_to_string(folder.path().join("out.csv")).unwrap();
    let names: Vec<&str> = file.lines().next().unwrap().split(',').collect();
    let at = |name: &str| names.iter().position(|n| n.split(" [").next() == Some(name)).unwrap();
    let numbers: Vec<Vec<f64>> = rows(folder.path())
        .iter()
        .map(|row| row.split(',').map(|x| x.parse().unwrap()).collect())
        .collect();
    let of = |row: usize, name: &str| numbers[row][at(name)];
    assert_eq!(numbers.len(), 4);
    for (row, (height, shift)) in
        [(0.029, 0.0), (0.029, 0.02), (0.069, 0.0), (0.069, 0.02)].into_iter().enumerate()
    {
        assert_eq!((of(row, "hip_to_pelvis"), of(row, "zmp_shift_x")), (height, shift));
        assert_eq!((of(row, "converged"), of(row, "zmp_shift_y")), (1.0, 0.0));
    }
    assert!(of(1, "phi_peak") > 0.1 && of(1, "phi_start") > of(0, "phi_start") + 0.1);
    let change = |name: &str| (of(2, name) / of(0, name) - 1.0).abs();
    assert!(change("phi_rate_start") > 0.01 && change("theta_range") < 0.05);
    // The same motion by the other command.
    let gait = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config/gaits/h9.yaml");
    let trace = folder.path().join("trace.csv");
    let base = run(folder.path(), "{gait: GAITS/h9.yaml, zmp_shift: [[0.02, 0]]}", &[]);
    assert!(base.status.success());
    let output = Command::new(env!("CARGO_BIN_EXE_karakuri"))
        .args([
            "gait",
            "steady",
            gait.to_str().unwrap(),
            "--zmp-shift",
            "0.02,0",
            "--trace",
            trace.to_str().unwrap(),
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let table = karakuri_files::read_trace(&trace).unwrap();
    let phi = table.columns.iter().position(|c| c.name == "phi").unwrap();
    let swept: f64 =
        rows(folder.path())[0].split(',').nth(at("phi_start")).unwrap().parse().unwrap();
    assert!((table.rows[0][phi] - swept).abs() < 1e-9, "{} {swept}", table.rows[0][phi]);
    for (wrong, said) in [
        ("zmp_shift: [[2, 0]]", "`zmp_shift` has [2, 0]"),
        ("hip_to_pelvis: [0]", "`hip_to_pelvis` has 0"),
    ] {
        let output = run(folder.path(), &format!("{{gait: GAITS/h9.yaml, {wrong}}}"), &[]);
        assert!(String::from_utf8_lossy(&output.stderr).contains(said), "{output:?}");
    }
    let output = run(folder.path(), "{gait: GAITS/ah2_start.yaml, zmp_shift: [[0, 0]]}", &[]);
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("the ZMP is the result"),
        "{output:?}"
    );
}

#[test]
fn bad_numbers_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), "{gait: GAITS/h2.yaml, arm_mass_factor: [-1]}", &[]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("`arm_mass_factor` has -1"), "{text}");
    let walk = "walks: [{table: t, what: w, gait: GAITS/khr1_walk.yaml, options: {distance: far}}]";
    for (text, words) in [
        (
            walk,
            "khr1_walk.yaml --distance=far\n  because: invalid value 'far' for '--distance <M>': invalid float literal\n",
        ),
        ("", "sweep.yaml\n  because: a sweep names a `gait`, a `scene`, or `walks`"),
        ("3", "a sweep names a `gait`"),
    ] {
        let output = run(folder.path(), text, &[]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains(words) && stderr.lines().count() == 2, "{stderr}");
    }
    let output = run(folder.path(), "{gait: GAITS/h2.yaml}", &["--shard", "3/2"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn walks_fill_the_tables_of_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.md");
    std::fs::write(&page, "before\n<!-- walks short -->\nold\n<!-- end -->\nafter\n").unwrap();
    let text = "walks: [{table: short, what: steps, gait: GAITS/anthropomorphic_walk.yaml,
        options: {dt: 0.002, distance: 0.2, friction: [0.5, 0.8]}}]";
    let output = run(folder.path(), text, &["--page", page.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(rows(folder.path()).len(), 2);
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.contains("| steps, friction 0.5 | 0.20 |") && page.contains("stands"), "{page}");
    assert!(page.starts_with("before") && page.ends_with("after\n") && !page.contains("old"));
    // A walk that falls fails the sweep, and it says which.
    let text = "walks: [{table: short, what: pushed, gait: GAITS/anthropomorphic_walk.yaml,
        options: {dt: 0.002, distance: 0.2, push: '2.0,0,90'}}]";
    let output = run(folder.path(), text, &[]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--push=2.0,0,90"));
    // So does one that stands elsewhere than expected.
    let text = "walks: [{table: short, what: steps, gait: GAITS/anthropomorphic_walk.yaml,
        options: {dt: 0.002, distance: 0.2}, expect: {distance_m: [0.3, 0.4]}}]";
    let output = run(folder.path(), text, &[]);
    assert_eq!(output.status.code(), Some(3));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("distance_m is 0.1997, not from 0.3 to 0.4"), "{stderr}");
}

/// The sweep that is there to be shown: a block is held above m g / (2 μ), and falls below it.
#[test]
fn scenes_are_simulated_over_their_own_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let sweeps = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config/sweeps");
    let text = std::fs::read_to_string(sweeps.join("grip.yaml")).unwrap();
    let text = text.replace("../scenes", &sweeps.join("../scenes").display().to_string());
    let plot = folder.path().join("grip.svg");
    let output = run(folder.path(), &text, &["--plot", plot.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let header = std::fs::read_to_string(folder.path().join("out.csv")).unwrap();
    let names: Vec<&str> = header.lines().next().unwrap().split(',').collect();
    assert_eq!(names[..3], ["force [N]", "friction [-]", "done [-]"]);
    assert_eq!(names[4..7], ["held.z last [m]", "held.z least [m]", "held.z largest [m]"]);
    let rows = rows(folder.path());
    assert_eq!(rows.len(), 30);
    for row in rows {
        let row: Vec<f64> = row.split(',').map(|x| x.parse().unwrap()).collect();
        let [force, friction, done, residual, last, least, ..] = row[..] else { panic!("{row:?}") };
        assert!(done > 0.5 && residual < 1e-7 && least <= last, "{row:?}");
        // Two pads of 0.6 by the geometric mean, a block of 0.2 kg.
        let (grip, weight) = (2.0 * (0.6 * friction).sqrt() * force, 0.2 * 9.81);
        let fallen = 0.5 * (9.81 - grip / 0.2).max(0.0) * 0.1 * 0.1;
        assert!((1.0 - last - fallen).abs() < 5e-4, "{row:?}: {fallen}");
        assert_eq!(1.0 - last < 1e-5, grip > weight, "{row:?}");
    }
    let figure = std::fs::read_to_string(plot).unwrap();
    assert!(figure.contains("friction 0.4") && figure.contains("held.z [m]"));
}

/// Counts are whole numbers, and keys that the scene does not have yet are made.
#[test]
fn a_scene_is_swept_over_what_its_file_leaves_out() {
    let folder = tempfile::tempdir().unwrap();
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config/scenes/benchmarks");
    let text = format!(
        "{{scene: {}, duration: 0.01, measure: [held.z],
        vary: [{{name: n, of: solver.iterations, values: [50, 1e2]}}, {{name: tolerance, of: solver.tolerance, values: [1e-9, 1e-7]}}]}}",
        scenes.join("grasp.yaml").display(),
    );
    let output = run(folder.path(), &text, &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(rows(folder.path()).len(), 4);
}

#[test]
fn what_a_scene_does_not_have_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config/scenes/benchmarks");
    let stderr = |vary: &str, more: &str| {
        let scene = scenes.join("grasp.yaml").display().to_string();
        let text = format!("{{scene: {scene}, vary: [{{name: n, {vary}}}], {more}}}");
        let output = run(folder.path(), &text, &[]);
        assert_eq!(output.status.code(), Some(1), "{text}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let good = "duration: 0.01, measure: [held.z]";
    for (vary, more, words) in [
        ("of: bodies.nobody.mass, values: [1]", good, "no item of the list is named `nobody`"),
        (
            "of: bodies.held.weight, values: [1]",
            good,
            "unknown key bodies.weight; known here: name",
        ),
        ("of: bodies.held.mass, values: [-1]", good, "sweep.yaml: with n = -1\n"),
        ("of: bodies.held.mass, values: [1.0e300]", good, "with n = 1e300\n"),
        ("of: bodies.held.mass.x, values: [1]", good, "before `x` stands a value"),
        ("of: bodies.held.mass, values: []", good, "`n` has no `values`"),
        ("of: dt, values: [.nan]", good, "`n` has NaN"),
        (
            "of: dt, values: [0.001]",
            "duration: 0.01, measure: [held.q]",
            "there is no `held.q`; there are time, pads_held.base.x",
        ),
        ("of: dt, values: [0.001]", "duration: -1, measure: [held.z]", "`duration` is -1"),
        ("of: dt, values: [0.001]", "duration: 1, measure: []", "want an entry each"),
    ] {
        let stderr = stderr(vary, more);
        assert!(stderr.contains(words), "{vary}, {more}: {stderr}");
    }
    let text = format!(
        "{{scene: {}, duration: 1, vary: [], measure: []}}",
        scenes.join("grasp.yaml").display()
    );
    let output = run(folder.path(), &text, &["--resume", "log.jsonl"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("only a sweep with `walks` goes on"), "{stderr}");
}

/// Every walk of docs/experiments/walking.md goes as it must: eight minutes on two cores.
/// `cargo test --release -p karakuri --test cli sweep -- --ignored`
#[test]
#[ignore = "8 minutes"]
fn every_walk_that_must_stand_stands() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config/sweeps/walking.yaml");
    let text = std::fs::read_to_string(sweep).unwrap().replace("../gaits", "GAITS");
    let output = run(folder.path(), &text, &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn plots_are_svg() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), "{gait: GAITS/h2.yaml}", &["--plot", "out/ranges.png"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("plots are written as SVG: write `out/ranges.svg`"), "{text}");
}

/// Over coefficients: the verdicts of `gait survey`; without them, the most central start for each mass.
#[test]
fn starts_are_swept_over_masses_and_coefficients() {
    let folder = tempfile::tempdir().unwrap();
    let of = |row: &String| -> Vec<f64> { row.split(',').map(|x| x.parse().unwrap()).collect() };
    let text = "{gait: GAITS/ah2_start.yaml, sway: [-0.145, 3.0], pitch: [1.535]}";
    let output = run(folder.path(), text, &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let [good, bad]: [Vec<f64>; 2] =
        rows(folder.path()).iter().map(of).collect::<Vec<_>>().try_into().unwrap();
    // The most central start of the survey on the page of the study: SZ 6.330, 5.35 mm inside.
    assert!(
        good[7] > 0.5 && (good[8] - 5.35e-3).abs() < 1e-5 && (good[9] - 6.330).abs() < 1e-3,
        "{good:?}"
    );
    assert!(bad[7] < 0.5 && bad[8] < 0.0, "{bad:?}");

    let text = "{gait: GAITS/ah2_start.yaml, arm_mass_factor: [0.5, 1, 2], arm_factor: [0.9, 1.0]}";
    let plot = folder.path().join("out.svg");
    let output = run(folder.path(), text, &["--plot", plot.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(plot.exists());
    let found: Vec<Vec<f64>> = rows(folder.path()).iter().map(of).collect();
    assert_eq!(found.len(), 6);
    let as_written =
        found.iter().find(|row| (row[0] - 1.0).abs() + (row[3] - 1.0).abs() < 1e-9).unwrap();
    assert!(
        (as_written[5] + 0.1456).abs() < 1e-3 && (as_written[6] - 1.5386).abs() < 1e-2,
        "{as_written:?}"
    );

    for (text, words) in [
        ("{gait: GAITS/ah2_start.yaml, sway: [1]}", "`sway` and `pitch` belong together"),
        ("{gait: GAITS/ah2_start.yaml, arms: [fixed]}", "`arms` is of steady gaits"),
        (
            "{gait: GAITS/ah2_start.yaml, arm_factor: [0]}",
            "`arm_factor` has 0; write numbers above 0",
        ),
        ("{gait: GAITS/h2.yaml, sway: [1], pitch: [1]}", "`sway` is of starts and stops"),
        ("{gait: GAITS/h2.yaml, sawy: [1]}", "sawy"),
    ] {
        let output = run(folder.path(), text, &[]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && stderr.contains(words), "{text}: {stderr}");
    }
}

/// Walks of the sweep that fills docs/experiments/walking.md, those that take least time: the page has their lines as they come out
/// now. Where they do not, walk them all again: `config/sweeps/walking.yaml` says how.
#[test]
fn the_page_of_walks_is_current() {
    const WALKS: [(&str, &str); 6] = [
        ("khr1", "floor"),
        ("khr1", "backward"),
        ("khr1", "aside to the left"),
        ("anthropomorphic", "slope [degrees]"),
        ("anthropomorphic", "backward"),
        ("anthropomorphic", "aside to the right"),
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let text = std::fs::read_to_string(root.join("config/sweeps/walking.yaml")).unwrap();
    let mut sweep: serde_yaml::Value =
        serde_yaml::from_str(&text.replace("../gaits", "GAITS")).unwrap();
    let walks = sweep["walks"].as_sequence_mut().unwrap();
    walks.retain(|walk| {
        let of = |key: &str| walk[key].as_str().unwrap().to_owned();
        WALKS.iter().any(|(table, what)| of("table") == *table && of("what") == *what)
    });
    assert_eq!(walks.len(), WALKS.len());
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.md");
    let tables =
        "<!-- walks khr1 -->\n<!-- end -->\n<!-- walks anthropomorphic -->\n<!-- end -->\n";
    std::fs::write(&page, tables).unwrap();
    let output = run(
        folder.path(),
        &serde_yaml::to_string(&sweep).unwrap(),
        &["--page", page.to_str().unwrap()],
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let published = std::fs::read_to_string(root.join("docs/experiments/walking.md")).unwrap();
    let walked = std::fs::read_to_string(page).unwrap();
    let mut lines = 0;
    for line in walked.lines().filter(|line| line.ends_with("stands |")) {
        assert!(
            published.contains(&format!("{line}\n")),
            "not in docs/experiments/walking.md: {line}"
        );
        lines += 1;
    }
    assert_eq!(lines, WALKS.len() + 2, "{walked}");
}

/// The walk of docs/experiments/khr1-boards.md on each machine: the page has its lines as they come out now. Where it does not, walk all
/// of them again: `config/sweeps/boards.yaml` says how.
#[test]
fn the_page_of_boards_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let text = std::fs::read_to_string(root.join("config/sweeps/boards.yaml")).unwrap();
    let files = root.join("config/hardware/khr1");
    let text = text.replace("../gaits", "GAITS");
    let text = text.replace("config/hardware/khr1", files.to_str().unwrap());
    let mut sweep: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
    sweep["walks"].as_sequence_mut().unwrap().retain(|walk| walk["table"] == "machines");
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.md");
    std::fs::write(&page, "<!-- walks machines -->\n<!-- end -->\n").unwrap();
    let text = serde_yaml::to_string(&sweep).unwrap();
    let output = run(folder.path(), &text, &["--page", page.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let published = std::fs::read_to_string(root.join("docs/experiments/khr1-boards.md")).unwrap();
    let walked = std::fs::read_to_string(page).unwrap();
    let lines: Vec<&str> = walked.lines().filter(|line| line.ends_with("stands |")).collect();
    assert_eq!(lines.len(), 5, "{walked}");
    for line in lines {
        assert!(
            published.contains(&format!("{line}\n")),
            "not in docs/experiments/khr1-boards.md: {line}"
        );
    }
}
