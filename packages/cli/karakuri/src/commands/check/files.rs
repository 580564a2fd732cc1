//! Files besides robots: scenes, gaits, motions, mechanisms and launch files, distinguished by their content.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, bail};
use karakuri_files::{LoadError, read_text, root_element};
use karakuri_launch::{Environment, Machine};
use karakuri_model::Diagnostic;
use karakuri_model::yaml::read_tree;
use karakuri_simulation::load_scene;

use super::super::{gait, inverse_dynamics, launch, motion};

/// Content of a file, and its problems.
pub(super) struct Checked {
    /// Summary of the content in one line.
    pub(super) summary: String,
    pub(super) problems: Vec<Diagnostic>,
    /// Whether the file can be used.
    pub(super) is_usable: bool,
}

/// Checks a file that is not a robot; `None` for a robot, or for a file that can only be one.
pub(super) fn check(path: &Path) -> Result<Option<Checked>> {
    // The reader of robots reports why a file cannot be read.
    let Ok(text) = read_text(path) else { return Ok(None) };
    if root_element(&text) == Some("launch") {
        return launch_file(path).map(Some);
    }
    let is_yaml = path.extension().is_some_and(|e| e == "yaml" || e == "yml");
    if !is_yaml {
        return Ok(None);
    }
    let Ok(tree) = read_tree(&path.display().to_string(), &text) else {
        // The reader of scenes reports the line of the error.
        return scene(path).map(Some);
    };
    let has = |names: &[&str]| names.iter().any(|&name| tree.get(name).is_some());
    let summary = |text: Result<String>| {
        Ok(Some(Checked { summary: text?, problems: Vec::new(), is_usable: true }))
    };
    if has(&[karakuri_motion::file::KEY]) {
        return summary(motion::check_file(path));
    }
    if has(&["walk", "steady", "transient"]) {
        return summary(gait::check(path));
    }
    if has(&["links", "motion", "robot"]) {
        return summary(inverse_dynamics::check(path));
    }
    if has(&["drives", "groups", "postures", "sensors", "end_effector", "srdf"]) {
        let name = path.display();
        bail!(
            "{name}: a robot YAML says more about a URDF; `karakuri check ROBOT.urdf --config {name}` checks both"
        );
    }
    if has(&["/**"]) {
        bail!("{}: parameters of nodes; the nodes check them when they start", path.display());
    }
    scene(path).map(Some)
}

fn scene(path: &Path) -> Result<Checked> {
    let wrong = |problems| {
        Ok(Checked { summary: format!("scene {}", path.display()), problems, is_usable: false })
    };
    let loaded = match load_scene(path) {
        Ok(loaded) => loaded,
        Err(LoadError::Wrong(diagnostics)) => return wrong(diagnostics.0),
        Err(error) => return Err(error.into()),
    };
    let world = match loaded.world() {
        Ok(world) => world,
        Err(diagnostics) => return wrong(diagnostics.0),
    };
    let (robots, bodies) = (world.robot_ids().count(), world.body_ids().count());
    let dofs: usize = world.robot_ids().map(|id| world.robot(id).model().nv).sum();
    let free = world.body_ids().filter(|&id| !world.body(id).description().fixed).count();
    let count =
        |n: usize, one: &str, more: &str| format!("{n} {}", if n == 1 { one } else { more });
    let summary = format!(
        "scene {}: {} with {}, {} of which {free} can move",
        path.display(),
        count(robots, "robot", "robots"),
        count(dofs, "degree of freedom", "degrees of freedom"),
        count(bodies, "body", "bodies"),
    );
    Ok(Checked { summary, problems: loaded.warnings, is_usable: true })
}

/// Evaluates a launch file with the defaults of its arguments, and starts nothing.
fn launch_file(path: &Path) -> Result<Checked> {
    let environment: Environment = std::env::vars().collect();
    let name = path.display();
    let declared = karakuri_launch::arguments(path, &environment, &Machine)
        .map_err(|e| launch::with_source(&e))?;
    let required: Vec<&str> = declared
        .iter()
        .filter(|argument| argument.default.is_none())
        .map(|argument| argument.name.as_str())
        .collect();
    if !required.is_empty() {
        let names = required.join(", ");
        let summary = format!(
            "launch file {name}: well-formed, {} arguments; what it starts depends on {names}, `karakuri launch {name} --dry-run {}:=...` shows it",
            declared.len(),
            required[0]
        );
        return Ok(Checked { summary, problems: Vec::new(), is_usable: true });
    }
    let plan = karakuri_launch::evaluate(path, &BTreeMap::new(), &environment, &Machine)
        .map_err(|e| launch::with_source(&e))?;
    for warning in &plan.warnings {
        eprintln!("{name}: warning: {warning}");
    }
    let n_processes = plan.processes().len();
    let summary =
        format!("launch file {name}: {} arguments, starts {n_processes} processes", declared.len());
    Ok(Checked { summary, problems: Vec::new(), is_usable: true })
}
