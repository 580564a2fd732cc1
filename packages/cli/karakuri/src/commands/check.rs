//! `karakuri check`: summary of a robot or another file, and every problem of it.

mod files;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use karakuri_dynamics::Reduction;
use karakuri_files::{LoadError, read_text};
use karakuri_grasp::grip_force::GripSettings;
use karakuri_grasp::pick_and_place::{PickAndPlace, PickAndPlaceSettings};
use karakuri_model::yaml::read_tree;
use karakuri_model::{Base, Diagnostic, Loaded, Model, Place, Posture, Severity};
use karakuri_physics::{World, WorldSettings};
use serde_json::{Value, json};

use super::Outcome;
use super::robot::RobotArgs;
use crate::{error, output};

/// Checks a robot (URDF and robot YAML), a scene, a gait, a mechanism or a launch file, and prints what it is
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The content of a file decides its kind: a scene has `robots` or `bodies`, a gait `walk`, `steady` or `transient`, a mechanism `links` or `robot`. A launch file is evaluated with the defaults of its arguments; nothing is started.\n\n`package://PACKAGE/PATH` is what is in a package, for every command.\n\nExit code 1: there are errors."
)]
pub struct Args {
    #[command(flatten)]
    robot: RobotArgs,
    /// Prints the summary and the problems as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// When a file cannot be read, or stdout cannot be written. Problems of a robot are printed, and no error.
pub fn run(args: &Args) -> Result<Outcome> {
    if let Some(checked) = files::check(args.robot.path())? {
        return other(args, &checked);
    }
    let (model, mut problems) = match args.robot.read() {
        Ok(Loaded { model, warnings }) => (Some(model), warnings),
        Err(LoadError::Wrong(diagnostics)) => (None, diagnostics.0),
        Err(error) => return Err(error.into()),
    };
    let hand = model.as_ref().and_then(|model| hand_problem(model, args.robot.config()));
    let is_usable = model.is_some() && hand.is_none();
    problems.extend(hand);
    let overlaps = model.as_ref().map(overlaps).unwrap_or_default();
    if args.json {
        let summary = model.as_ref().map_or(Value::Null, summary);
        let problems: Vec<Value> = problems.iter().map(problem).collect();
        let value = json!({ "model": summary, "problems": problems, "overlaps": overlaps });
        output::json(&value, None)?;
    } else {
        print_problems(&problems);
        let text = model.as_ref().map(describe).unwrap_or_default();
        for overlap in &overlaps {
            eprintln!("warning: {overlap}");
        }
        output::print(&(text + counts(&problems).as_str()))?;
    }
    Ok(if is_usable { Outcome::Done } else { Outcome::InputWrong })
}

/// What keeps the hand of a robot from being made; a robot without one has no problem.
fn hand_problem(model: &Model, config: Option<&Path>) -> Option<Diagnostic> {
    model.end_effector.as_ref()?;
    let (settings, grip) = (PickAndPlaceSettings::default(), GripSettings::default());
    let wrong = PickAndPlace::new(Arc::new(model.clone()), settings, grip).err()?;
    let place = config.and_then(|file| {
        let text = read_text(file).ok()?;
        let tree = read_tree(&file.display().to_string(), &text).ok()?;
        Some(tree.get("end_effector")?.place.clone())
    });
    Some(Diagnostic {
        severity: Severity::Error,
        place: place.unwrap_or_else(|| Place::file("")),
        message: wrong.to_string(),
        remedy: "correct it there; docs/howto/add-an-end-effector.md has what each kind needs"
            .to_owned(),
    })
}

/// Warnings of links that overlap, in the default posture and in each posture of the robot.
fn overlaps(model: &Model) -> Vec<String> {
    let start = |posture: &Posture| {
        let mut q = model.default_position();
        for &(joint, value) in &posture.positions {
            q[model.joints[joint.0].q_start] = value;
        }
        (Some(posture.name.clone()), q)
    };
    let mut starts = vec![(None, model.default_position())];
    starts.extend(model.postures.iter().map(start));
    let reduction = Reduction::new(model);
    let shared = Arc::new(model.clone());
    let warning = |(posture, mut q): (Option<String>, Vec<f64>)| {
        reduction.project_position(&mut q);
        let mut world = World::new(WorldSettings::default());
        let id = world.add_robot(&model.name, Arc::clone(&shared), &q).ok()?;
        match posture {
            None if model.postures.is_empty() => world.overlap_warning(id),
            None => world.default_overlap_warning(id),
            Some(name) => world
                .start_overlap_warning(id)
                .map(|warning| format!("in posture `{name}`: {warning}")),
        }
    };
    starts.into_iter().filter_map(warning).collect()
}

/// Checks a file that is not a robot.
fn other(args: &Args, checked: &files::Checked) -> Result<Outcome> {
    if args.json {
        let problems: Vec<Value> = checked.problems.iter().map(problem).collect();
        output::json(&json!({ "summary": checked.summary, "problems": problems }), None)?;
    } else {
        print_problems(&checked.problems);
        output::print(&format!("{}\n{}", checked.summary, counts(&checked.problems)))?;
    }
    Ok(if checked.is_usable { Outcome::Done } else { Outcome::InputWrong })
}

fn counts(problems: &[Diagnostic]) -> String {
    let count = |severity| problems.iter().filter(|p| p.severity == severity).count();
    format!("{} errors, {} warnings\n", count(Severity::Error), count(Severity::Warning))
}

/// Prints errors with their source line; warnings, of which real robots have many, in one line each.
fn print_problems(problems: &[Diagnostic]) {
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    for problem in problems {
        let place = &problem.place;
        if problem.severity == Severity::Warning || place.line == 0 {
            eprintln!("{problem}");
            continue;
        }
        let file = Path::new(&*place.file);
        let text = texts.entry(&place.file).or_insert_with(|| read_text(file).unwrap_or_default());
        let help = Some(problem.remedy.clone());
        error::print(error::AtLine::new(file, text, place.line, &problem.message, help).into());
    }
}

fn problem(problem: &Diagnostic) -> Value {
    json!({
        "severity": match problem.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        },
        "file": &*problem.place.file,
        "line": problem.place.line,
        "column": problem.place.column,
        "message": problem.message,
        "remedy": problem.remedy,
    })
}

/// Number for JSON, which has no infinity: a limit that is not set is null.
fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

fn summary(model: &Model) -> Value {
    let name = |id: &karakuri_model::BodyId| model.joints[id.0].name.clone();
    let link = |id: karakuri_model::FrameId| model.frames[id.0].name.clone();
    let joints: Vec<Value> = model
        .joints
        .iter()
        .zip(&model.bodies)
        .map(|(joint, body)| {
            let parent = body.parent.map(|p| model.bodies[p.0].name.clone());
            json!({
                "name": joint.name,
                "type": joint.kind.name(),
                "link": body.name,
                "parent_link": parent,
                "mass_kg": body.inertia.mass,
                "lower": finite(joint.limits.lower),
                "upper": finite(joint.limits.upper),
                "velocity": finite(joint.limits.velocity),
                "effort": finite(joint.limits.effort),
                "stiffness": joint.drive.map(|d| d.stiffness),
                "damping": joint.drive.map(|d| d.damping),
                "armature": joint.armature,
                "viscous_friction": joint.damping - joint.back_emf,
                "back_emf": joint.back_emf,
                "dry_friction": joint.friction,
            })
        })
        .collect();
    let couplings: Vec<Value> = model
        .couplings
        .iter()
        .map(|c| {
            json!({ "follower": name(&c.follower), "leader": name(&c.leader),
                    "multiplier": c.multiplier, "offset": c.offset })
        })
        .collect();
    let sensors: Vec<Value> = model
        .sensors
        .iter()
        .map(|s| {
            json!({ "name": s.name, "type": sensor_name(s.kind), "link": link(s.frame),
                    "noise": s.noise.is_some() })
        })
        .collect();
    let motors: Vec<Value> = model
        .motors
        .iter()
        .map(|m| {
            json!({ "name": m.name, "joint": name(&m.joint), "law": m.law.name(),
                    "effort": finite(m.effort) })
        })
        .collect();
    let ignored: Vec<[String; 2]> =
        model.ignored_pairs.iter().map(|(a, b)| [link(*a), link(*b)]).collect();
    let groups: BTreeMap<&str, Vec<String>> = model
        .groups
        .iter()
        .map(|g| (g.name.as_str(), g.joints.iter().map(name).collect()))
        .collect();
    json!({
        "name": model.name,
        "base": base_name(model.base),
        "nq": model.nq,
        "nv": model.nv,
        "mass_kg": model.mass(),
        "links": model.frames.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(),
        "joints": joints,
        "couplings": couplings,
        "loops": model.loops.iter().map(|l| l.name.as_str()).collect::<Vec<_>>(),
        "motors": motors,
        "sensors": sensors,
        "ignored_contacts": ignored,
        "groups": groups,
        "postures": model.postures.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(),
        "end_effector": model.end_effector.as_ref().map(|e| e.kind.as_str()),
        "collision_shapes": model.collisions.len(),
        "visual_shapes": model.visuals.len(),
    })
}

fn sensor_name(kind: karakuri_model::SensorKind) -> &'static str {
    use karakuri_model::SensorKind;
    match kind {
        SensorKind::ContactWrench => "contact_wrench",
        SensorKind::JointWrench => "joint_wrench",
        SensorKind::Imu => "imu",
    }
}

fn base_name(base: Base) -> &'static str {
    match base {
        Base::Fixed(_) => "fixed",
        Base::Floating => "floating",
    }
}

/// Summary for people.
fn describe(model: &Model) -> String {
    // The mass of links fixed to the world is in no equation.
    let moving = if matches!(model.base, Base::Fixed(_)) { " that move" } else { "" };
    let mut text = format!(
        "{}: {} links, {} bodies, nq {}, nv {}, {:.4} kg{moving}, {} base, {} collision and {} visual shapes\n\n",
        model.name,
        model.frames.len(),
        model.bodies.len(),
        model.nq,
        model.nv,
        model.mass(),
        base_name(model.base),
        model.collisions.len(),
        model.visuals.len(),
    );
    let head = [
        "joint",
        "type",
        "link",
        "mass [kg]",
        "lower",
        "upper",
        "velocity",
        "effort",
        "stiffness",
        "damping",
        "armature",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(model.joints.iter().zip(&model.bodies).map(|(joint, body)| {
        let drive = |value: fn(&karakuri_model::Drive) -> f64| {
            joint.drive.as_ref().map_or("-".to_owned(), |d| number(value(d)))
        };
        [
            joint.name.clone(),
            joint.kind.name().to_owned(),
            body.name.clone(),
            number(body.inertia.mass),
            number(joint.limits.lower),
            number(joint.limits.upper),
            number(joint.limits.velocity),
            number(joint.limits.effort),
            drive(|d| d.stiffness),
            drive(|d| d.damping),
            number(joint.armature),
        ]
    }));
    text += &table(&rows);
    text.push('\n');
    text += &relations(model);
    text
}

/// Couplings, loops, limits, motors, sensors, groups and the like of a model, one line each.
fn relations(model: &Model) -> String {
    let name = |id: &karakuri_model::BodyId| model.joints[id.0].name.as_str();
    let body = |id: Option<karakuri_model::BodyId>| {
        id.map_or("world", |id| model.bodies[id.0].name.as_str())
    };
    let mut lines: Vec<String> = Vec::new();
    lines.extend(model.couplings.iter().map(|c| {
        let (follower, leader) = (name(&c.follower), name(&c.leader));
        format!("mimic {follower} = {} * {leader} + {}", c.multiplier, c.offset)
    }));
    lines.extend(model.loops.iter().map(|l| {
        let locked = l.locked.iter().filter(|&&is| is).count();
        format!("loop {}: {} - {}, {locked} locked", l.name, body(l.body_a), body(l.body_b))
    }));
    lines.extend(model.joints.iter().filter_map(|j| {
        let (cone, degrees) = (j.cone?, f64::to_degrees);
        let (least, most) = cone.twist;
        Some(format!(
            "ball {}: swings by {:.1}, twists from {:.1} to {:.1} deg",
            j.name,
            degrees(cone.swing),
            degrees(least),
            degrees(most)
        ))
    }));
    lines.extend(
        model
            .motors
            .iter()
            .map(|m| format!("motor {}: {} on {}", m.name, m.law.name(), name(&m.joint))),
    );
    lines.extend(model.sensors.iter().map(|s| {
        let noisy = if s.noise.is_some() { ", with noise" } else { "" };
        let link = &model.frames[s.frame.0].name;
        format!("sensor {}: {} on {link}{noisy}", s.name, sensor_name(s.kind))
    }));
    lines.extend(ignored_contacts(model));
    lines.extend(model.groups.iter().map(|g| {
        let joints: Vec<_> = g.joints.iter().map(name).collect();
        format!("group {}: {}", g.name, joints.join(", "))
    }));
    lines.extend(model.end_effector.iter().map(|e| {
        let joints: Vec<_> = e.joints.iter().map(name).collect();
        let tool = &model.frames[e.tool_frame.0].name;
        let drives =
            if joints.is_empty() { String::new() } else { format!(": {}", joints.join(", ")) };
        format!("end effector {}{drives} at {tool}", e.kind)
    }));
    lines.extend(model.suctions.iter().map(|unit| {
        let cups: Vec<_> = unit.cups.iter().map(|cup| cup.name.as_str()).collect();
        format!("vacuum generator {}: {}", unit.name, cups.join(", "))
    }));
    if !model.postures.is_empty() {
        let names: Vec<_> = model.postures.iter().map(|p| p.name.as_str()).collect();
        lines.push(format!("postures: {}", names.join(", ")));
    }
    if lines.is_empty() {
        return String::new();
    }
    lines.push(String::new());
    lines.join("\n") + "\n"
}

/// Pairs of links whose contact is ignored, beside neighbours in the tree, which never touch.
fn ignored_contacts(model: &Model) -> Option<String> {
    /// Largest number of pairs to name; robots with an SRDF have hundreds.
    const NAMED: usize = 6;
    let n = model.ignored_pairs.len();
    let link = |id: karakuri_model::FrameId| model.frames[id.0].name.as_str();
    let pairs = model.ignored_pairs.iter().take(NAMED);
    let names: Vec<_> = pairs.map(|(a, b)| format!("{}-{}", link(*a), link(*b))).collect();
    let more = if n > NAMED { ", ..." } else { "" };
    (n > 0).then(|| format!("contacts ignored: {n} pairs of links ({}{more})", names.join(", ")))
}

/// Number in few digits; `-` where no limit is set.
fn number(x: f64) -> String {
    if !x.is_finite() {
        return "-".to_owned();
    }
    let text = format!("{x:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "0" && x != 0.0 { format!("{x:.1e}") } else { text.to_owned() }
}

/// Table with columns as wide as their widest cell; words to the left, numbers to the right.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let widths: [usize; N] =
        std::array::from_fn(|i| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0));
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(i, (cell, w))| if i < 3 { format!("{cell:<w$}") } else { format!("{cell:>w$}") })
            .collect();
        text += cells.join("  ").trim_end();
        text.push('\n');
    }
    text
}
