//! `karakuri sweep`: the periodic motion over masses and factors, starts and stops over those and coefficients, walks over
//! conditions, or scenes over numbers of their files; every combination.

mod args;
mod scenes;
mod transients;
mod walks;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use karakuri_files::{Column, Panel, Plot, Series, TraceWriter, read_yaml, read_yaml_tree};
use karakuri_gait::compensation::{
    Arms, BodyData, Equation, Jet, Periodic, PeriodicOptions, SteadyGait, SteadySpec,
    find_main_family,
};
use karakuri_model::yaml::Node;
use serde::Deserialize;

pub use self::args::Args;
use self::args::{MOST, all, beside, say};
use super::Outcome;
use super::gait::files::GaitFile;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SweepFile {
    gait: PathBuf,
    #[serde(default)]
    arms: Vec<Arms>,
    #[serde(default)]
    arm_mass_factor: Vec<f64>,
    #[serde(default)]
    half_pelvis_width: Vec<f64>,
    #[serde(default)]
    leg_factor: Vec<f64>,
    /// PP, half the pelvis' height. [m]
    #[serde(default)]
    hip_to_pelvis: Vec<f64>,
    /// Shift of the prescribed ZMP: forward, left. [m]
    #[serde(default)]
    zmp_shift: Vec<[f64; 2]>,
    #[serde(flatten)]
    transient: transients::Lists,
}

/// Combination of the swept parameters.
#[derive(Debug, Clone)]
struct Case {
    arms: Arms,
    arm_mass_factor: f64,
    body: BodyData,
    spec: SteadySpec,
    zmp_shift: [f64; 2],
}

/// Results of a combination.
#[derive(Debug, Clone, Copy)]
struct Row {
    converged: bool,
    /// Ranges of θ, φ and the left arm over the step. [rad]
    ranges: [f64; 3],
    friction: f64,
    /// Start, rate at the start, and peak of θ and of φ. [rad, rad/s, rad] (2)
    starts: [[f64; 3]; 2],
}

/// Abscissa of a plot: its name with unit, and the value of a case.
type Abscissa = (&'static str, fn(&Case) -> f64);
const ABSCISSAE: [Abscissa; 6] = [
    ("arm mass [% of the whole]", |case| percent(&case.body)),
    ("half the pelvis' width [m]", |case| case.body.lengths.half_pelvis_width),
    ("hip to middle of the pelvis [m]", |case| case.body.lengths.hip_to_pelvis),
    ("ZMP shifted forward [m]", |case| case.zmp_shift[0]),
    ("ZMP shifted left [m]", |case| case.zmp_shift[1]),
    ("factor of the legs [-]", |case| case.spec.leg_factor),
];

/// Runs the command.
///
/// # Errors
/// When the sweep or what it names is wrong, an option does not fit its kind, or the output cannot be written. An
/// interrupted sweep is an [`Outcome::Failed`].
pub fn run(args: &Args) -> Result<Outcome> {
    let tree = read_yaml_tree(&args.sweep)?;
    let place = || args.sweep.display().to_string();
    check_kind(&tree).with_context(place)?;
    if tree.get("walks").is_some() {
        return walks::run(args, &tree.to()?);
    }
    if let Some(page) = &args.page {
        bail!("--page {}: only a sweep with `walks` has tables", page.display());
    }
    if let Some(log) = &args.resume {
        bail!("--resume {}: only a sweep with `walks` goes on", log.display());
    }
    if tree.get("scene").is_some() {
        return scenes::run(args, &tree.to()?);
    }
    let file = read(&args.sweep, &tree)?;
    if file.gait.steady.is_none() && file.gait.transient.is_some() {
        return transients::run(args, &file);
    }
    let cases = cases(&args.sweep, file)?;
    let mine = args.shard.of(&cases);
    let Some(rows) = all(args, &mine, |case, _| solve(case))? else {
        return Ok(Outcome::Failed("interrupted; nothing is written".to_owned()));
    };
    write(&args.output, &mine, &rows)?;
    if let Some(file) = &args.plot {
        plot(&args.sweep, &mine, &rows).write_svg(file)?;
    }
    say(args, rows.len());
    Ok(Outcome::Done)
}

/// Content of a sweep file, with its gait.
struct Sweep {
    lists: SweepFile,
    gait: GaitFile,
    gait_path: PathBuf,
}

/// Refuses a file that does not name what to sweep.
fn check_kind(tree: &Node) -> Result<()> {
    if ["gait", "scene", "walks"].iter().any(|key| tree.get(key).is_some()) {
        return Ok(());
    }
    bail!("a sweep names a `gait`, a `scene`, or `walks`, as those in config/sweeps do")
}

fn read(path: &Path, tree: &Node) -> Result<Sweep> {
    let lists: SweepFile = tree.to()?;
    let gait_path = beside(path, &lists.gait);
    let gait: GaitFile = read_yaml(&gait_path)?;
    Ok(Sweep { lists, gait, gait_path })
}

/// Values of a list, all above 0; the default where there are none.
fn axis(path: &Path, name: &str, values: &[f64], default: f64) -> Result<Vec<f64>> {
    match values.iter().find(|x| !(x.is_finite() && **x > 0.0)) {
        Some(bad) => bail!("{}: `{name}` has {bad}; write numbers above 0", path.display()),
        None if values.is_empty() => Ok(vec![default]),
        None => Ok(values.to_vec()),
    }
}

fn cases(path: &Path, sweep: Sweep) -> Result<Vec<Case>> {
    let Sweep { lists, gait, gait_path } = sweep;
    let Some(spec) = gait.steady else {
        bail!("{}: there is no `steady` and no `transient`", gait_path.display());
    };
    if let Some(name) = lists.transient.first_given() {
        bail!("{}: `{name}` is of starts and stops, the gait is steady; delete it", path.display());
    }
    let lengths = &gait.body.lengths;
    let widths =
        axis(path, "half_pelvis_width", &lists.half_pelvis_width, lengths.half_pelvis_width)?;
    let heights = axis(path, "hip_to_pelvis", &lists.hip_to_pelvis, lengths.hip_to_pelvis)?;
    let factors = axis(path, "arm_mass_factor", &lists.arm_mass_factor, 1.0)?;
    let legs = axis(path, "leg_factor", &lists.leg_factor, spec.leg_factor)?;
    let arms = if lists.arms.is_empty() { vec![gait.arms] } else { lists.arms };
    if let Some([x, y]) = lists.zmp_shift.iter().find(|s| !s.iter().all(|x| x.abs() < 1.0)) {
        bail!("{}: `zmp_shift` has [{x}, {y}]; write numbers below 1 m", path.display());
    }
    let shifts = if lists.zmp_shift.is_empty() { vec![[0.0; 2]] } else { lists.zmp_shift };
    let lists = [factors.len(), widths.len(), heights.len(), legs.len(), arms.len(), shifts.len()];
    if lists.iter().try_fold(1_usize, |n, m| n.checked_mul(*m)).is_none_or(|n| n > MOST) {
        bail!("{}: more than {MOST} combinations; shorten the lists", path.display());
    }
    let body = gait.body;
    let first = Case { arms: gait.arms, arm_mass_factor: 1.0, body, spec, zmp_shift: [0.0; 2] };
    let cases = spread(&[first], &arms, |case, arms| case.arms = arms);
    let cases = spread(&cases, &widths, |case, w| case.body.lengths.half_pelvis_width = w);
    let cases = spread(&cases, &heights, |case, h| case.body.lengths.hip_to_pelvis = h);
    let cases = spread(&cases, &shifts, |case, shift| case.zmp_shift = shift);
    let cases = spread(&cases, &legs, |case, factor| case.spec.leg_factor = factor);
    for case in &cases {
        SteadyGait::new(&case.spec).with_context(|| gait_path.display().to_string())?;
    }
    Ok(spread(&cases, &factors, |case, factor| {
        case.arm_mass_factor = factor;
        case.body = case.body.with_arm_factor(factor);
    }))
}

/// Combination of each case with each of the values.
fn spread<T: Copy>(cases: &[Case], values: &[T], set: impl Fn(&mut Case, T)) -> Vec<Case> {
    let with = |case: &Case, value: T| {
        let mut case = case.clone();
        set(&mut case, value);
        case
    };
    cases.iter().flat_map(|case| values.iter().map(|&value| with(case, value))).collect()
}

fn solve(case: &Case) -> Row {
    let nan = f64::NAN;
    let none = Row { converged: false, ranges: [nan; 3], friction: nan, starts: [[nan; 3]; 2] };
    let Ok(gait) = SteadyGait::new(&case.spec) else { return none };
    let gait = gait.with_zmp_shift(case.zmp_shift);
    let equation = Equation { body: &case.body, gait: &gait, arms: case.arms };
    match find_main_family(&equation, &PeriodicOptions::default()) {
        Ok(periodic) => row(&case.body, &periodic),
        Err(_) => none,
    }
}

fn row(body: &BodyData, periodic: &Periodic) -> Row {
    let samples = periodic.motion.samples(body);
    let range = |value: &dyn Fn(usize) -> f64| {
        let values = || (0..samples.len()).map(value);
        values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
    };
    let posture = |i: usize| &samples[i].posture;
    let start = |of: &dyn Fn(usize) -> Jet| {
        let furthest =
            (0..samples.len()).map(|i| of(i).value).max_by(|a, b| a.abs().total_cmp(&b.abs()));
        let Jet { value, rate, .. } = of(0);
        [value, rate, furthest.unwrap_or(value)]
    };
    Row {
        converged: true,
        ranges: [
            range(&|i| posture(i).sway.value),
            range(&|i| posture(i).pitch.value),
            range(&|i| posture(i).arm[0].value),
        ],
        friction: samples.iter().map(|s| s.reaction.friction()).fold(0.0, f64::max),
        starts: [start(&|i| posture(i).sway), start(&|i| posture(i).pitch)],
    }
}

fn number(arms: Arms) -> f64 {
    match arms {
        Arms::Fixed => 0.0,
        Arms::Active => 1.0,
        Arms::Passive => 2.0,
    }
}

/// Mass of the arms in the whole. [%]
fn percent(body: &BodyData) -> f64 {
    100.0 * body.arm_mass() / body.mass()
}

fn write(file: &Path, cases: &[&Case], rows: &[Row]) -> Result<()> {
    let columns = [
        ("arms 0 fixed 1 active 2 passive", "-"),
        ("arm_mass_factor", "-"),
        ("half_pelvis_width", "m"),
        ("leg_factor", "-"),
        ("arm_mass", "%"),
        ("converged", "-"),
        ("theta_range", "rad"),
        ("phi_range", "rad"),
        ("left_arm_range", "rad"),
        ("friction_needed", "-"),
        ("hip_to_pelvis", "m"),
        ("zmp_shift_x", "m"),
        ("zmp_shift_y", "m"),
        ("theta_start", "rad"),
        ("theta_rate_start", "rad/s"),
        ("theta_peak", "rad"),
        ("phi_start", "rad"),
        ("phi_rate_start", "rad/s"),
        ("phi_peak", "rad"),
    ]
    .map(|(name, unit)| Column::new(name, unit));
    let mut writer = TraceWriter::create(file, &columns)?;
    for (case, row) in cases.iter().zip(rows) {
        let (width, legs) = (case.body.lengths.half_pelvis_width, case.spec.leg_factor);
        let mut values =
            vec![number(case.arms), case.arm_mass_factor, width, legs, percent(&case.body)];
        values.push(f64::from(u8::from(row.converged)));
        values.extend(row.ranges);
        values.push(row.friction);
        values.push(case.body.lengths.hip_to_pelvis);
        values.extend(case.zmp_shift);
        values.extend(row.starts.into_iter().flatten());
        writer.row(&values)?;
    }
    writer.finish()?;
    Ok(())
}

fn plot(sweep: &Path, cases: &[&Case], rows: &[Row]) -> Plot {
    let varies = |(_, of): &&Abscissa| {
        let mut values = cases.iter().map(|case| of(case));
        let first = values.next();
        values.any(|value| first.is_some_and(|first| (value - first).abs() > 0.0))
    };
    let (over, abscissa) = ABSCISSAE.iter().find(varies).unwrap_or(&ABSCISSAE[0]);
    let panel = |index: usize, label: &str| Panel {
        x_label: (*over).to_owned(),
        y_label: label.to_owned(),
        series: [Arms::Fixed, Arms::Active, Arms::Passive]
            .into_iter()
            .map(|arms| {
                let of_kind = cases.iter().zip(rows).filter(|(case, _)| case.arms == arms);
                let points = of_kind.map(|(case, row)| (abscissa(case), row.ranges[index]));
                Series::new(format!("{arms:?}").to_lowercase(), points.collect())
            })
            .collect(),
        ..Panel::default()
    };
    Plot {
        title: sweep.display().to_string(),
        panels: vec![
            panel(0, "range of theta [rad]"),
            panel(1, "range of phi [rad]"),
            panel(2, "range of the left arm [rad]"),
        ],
    }
}
