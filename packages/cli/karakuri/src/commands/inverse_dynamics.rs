//! `karakuri inverse-dynamics`: torques of a mechanism along a motion, and how far they are from the exact ones.

mod contact;
mod errors;
mod file;
mod page;
mod product;
mod tables;
mod tracking;
mod trajectory;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use karakuri_control::nodal::{
    Mechanism, NodalError, Nodes, Rule, Scheme, Target, Torques, Variant,
};
use serde_json::{Value, json};

use self::errors::Study;
use self::file::{Read, Samples};
use super::Outcome;
use crate::input::input_file;
use crate::output::{self, svg_file};

/// Computes the torques that move a mechanism, by the parallel scheme or the recursive algorithm
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Mechanisms, such as `config/mechanisms/four_bar.yaml`; several for --page
    #[arg(required = true, value_name = "MECHANISM.yaml", value_parser = input_file())]
    mechanisms: Vec<PathBuf>,
    /// The motion, CSV; the mechanism file's own without it
    #[arg(long, value_name = "FILE.csv")]
    trajectory: Option<PathBuf>,
    /// How torques are computed
    #[arg(long, default_value = "nodal")]
    method: Method,
    /// How the parallel scheme makes accelerations of displacements: central, newmark, external or damped
    #[arg(long, default_value = "central")]
    variant: Variant,
    /// Where it puts the mass of a link
    #[arg(long, default_value = "com")]
    nodes: NodesKind,
    /// Time between two torques [s]; the trajectory's, or 0.001
    #[arg(long)]
    dt: Option<f64>,
    /// Steps of the scheme from one torque to the next: a sampling period with several increments
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    increments: u16,
    /// Print [L], [T] and {P} at this time [s] instead of the report
    #[arg(long, value_name = "TIME")]
    product: Option<f64>,
    /// Write the torques here, and the forces across loops
    #[arg(long, value_name = "FILE.csv")]
    output: Option<PathBuf>,
    /// Write the motion here, as --trajectory takes it
    #[arg(long, value_name = "FILE.csv")]
    motion: Option<PathBuf>,
    /// Draw torques, errors and convergence here
    #[arg(long, value_name = "FILE.svg", value_parser = svg_file)]
    plot: Option<PathBuf>,
    /// Write the report here instead of to stdout
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    /// Write a page with a figure for every mechanism into this folder
    #[arg(long, value_name = "FOLDER")]
    page: Option<PathBuf>,
}

const HELP: &str = "\
A trajectory has a column `time [s]`, one for each driven joint by its name, and where they are known its rates `elbow.v`, \
`elbow.a` and forces that it exerts `tip.fx`, at equal steps. Joints without a drive follow from the loops, from about \
where `motion.start` of the mechanism file says; so do driven ones that it names and that have no column.

Errors are taken against the recursive algorithm at the target's own rates; without them, at those of seven \
neighbouring positions.

The mechanism file is described in docs/howto/inverse-dynamics.md.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Method {
    /// The parallel scheme
    Nodal,
    /// Recursive Newton-Euler
    Recursive,
    /// Steps of simulation with the driven velocities held to the motion's
    Simulated,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::Nodal => "nodal",
            Self::Recursive => "recursive",
            Self::Simulated => "simulated",
        }
    }
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum NodesKind {
    /// One node at the centre of mass
    Com,
    /// Point masses
    Point,
    /// The ends of two linear beam elements with consistent mass, for uniform slender rods
    Beam,
    /// The same with the mass lumped at the nodes: rotary inertia too large by m l²/24
    BeamLumped,
    /// The ends of one such element with consistent mass
    BeamOne,
    /// The same lumped: too large by m l²/6
    BeamOneLumped,
}

impl From<NodesKind> for Nodes {
    fn from(kind: NodesKind) -> Self {
        match kind {
            NodesKind::Com => Self::Com,
            NodesKind::Point => Self::Point,
            NodesKind::Beam => Self::Beam { elements: 2, lumped: false },
            NodesKind::BeamLumped => Self::Beam { elements: 2, lumped: true },
            NodesKind::BeamOne => Self::Beam { elements: 1, lumped: false },
            NodesKind::BeamOneLumped => Self::Beam { elements: 1, lumped: true },
        }
    }
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome> {
    if let Some(folder) = &args.page {
        for path in &args.mechanisms {
            let (read, study) = study(args, path)?;
            page::write(folder, path, &read, &study)?;
        }
        return Ok(Outcome::Done);
    }
    let [path] = &args.mechanisms[..] else {
        bail!("{} mechanisms; several are for --page only", args.mechanisms.len())
    };
    let (read, study) = study(args, path)?;
    if let Some(file) = &args.output {
        tables::torques(file, &read.mechanism, &study)?;
    }
    if let Some(file) = &args.motion {
        tables::motion(file, &read.mechanism, &study.samples)?;
    }
    if let Some(file) = &args.plot {
        page::figure(&read, &study).write_svg(file)?;
    }
    if let Some(time) = args.product {
        output::print(&product::text(&read.mechanism, &study, time)?)?;
        if args.report.is_none() {
            return Ok(Outcome::Done);
        }
    }
    output::json(&report(args, &read.mechanism, &study), args.report.as_deref())?;
    Ok(Outcome::Done)
}

/// What a mechanism file holds, in one line; for `karakuri check`.
pub(super) fn check(path: &Path) -> Result<String> {
    let read = file::read(path)?;
    let model = &read.mechanism.model;
    let (nv, loops) = (model.nv, model.loops.len());
    let motion = if read.motion.is_some() { "a motion" } else { "no motion" };
    Ok(format!("mechanism {}: {nv} degrees of freedom, {loops} loops, {motion}", path.display()))
}

/// Torques, the exact ones, and errors at several steps.
fn study(args: &Args, path: &Path) -> Result<(Read, Study)> {
    let place = || path.display().to_string();
    let read = file::read(path)?;
    let scheme = Scheme {
        variant: args.variant,
        nodes: args.nodes.into(),
        ..Scheme::new(read.mechanism.clone())
    };
    let source = source(args, path, &read)?;
    let n = usize::from(args.increments);
    let fine = source.at(args.dt, n).with_context(place)?;
    let samples = fine.every(n, &read.mechanism);
    let exact = scheme.exact(&samples.target()).with_context(place)?;
    let of_method = |scheme: &Scheme, fine: &Samples| match args.method {
        Method::Nodal => scheme.torques(&fine.target()),
        Method::Recursive => scheme.exact(&fine.target()),
        Method::Simulated => scheme.simulated(&fine.target()),
    };
    let torques = every(n, &read.mechanism, of_method(&scheme, &fine).with_context(place)?);
    let squeezes = matches!(read.mechanism.rule, Rule::Squeeze { force, .. } if force != 0.0);
    let mut dynamics = Vec::new();
    if squeezes || samples.forces.iter().any(|force| *force != 0.0) {
        let still = Samples { forces: Vec::new(), ..fine };
        let part = of_method(&scheme.without_forces(), &still).with_context(place)?;
        dynamics = every(n, &read.mechanism, part).tau;
    }
    for warning in &torques.warnings {
        tracing::warn!("{}: {warning}", path.display());
    }
    let convergence = errors::convergence(&scheme, &source, n).with_context(place)?;
    let tracking = match read.feedback {
        Some(gains) => tracking::runs(&scheme, &samples, gains).with_context(place)?,
        None => Vec::new(),
    };
    let contact = match &read.contact {
        Some(contact) => contact::runs(&scheme, &samples, contact).with_context(place)?,
        None => Vec::new(),
    };
    Ok((read, Study { samples, torques, dynamics, exact, convergence, tracking, contact }))
}

/// Where samples come from, at which steps.
enum Source<'a> {
    Motion(&'a file::Motion, &'a Mechanism),
    Given(Samples, &'a Mechanism),
}

fn source<'a>(args: &Args, path: &Path, read: &'a Read) -> Result<Source<'a>> {
    let mechanism = &read.mechanism;
    match (&args.trajectory, &read.motion) {
        (Some(file), _) => {
            Ok(Source::Given(trajectory::read(file, mechanism, &read.start)?, mechanism))
        }
        (None, Some(motion)) => Ok(Source::Motion(motion, mechanism)),
        (None, None) => {
            bail!("{}: there is no `motion`; write one, or give --trajectory", path.display())
        }
    }
}

impl Source<'_> {
    /// Samples at this part of a step, or of the usual one.
    fn at(&self, dt: Option<f64>, increments: usize) -> Result<Samples> {
        let n = increments as f64;
        match self {
            Self::Motion(motion, mechanism) => motion.samples(mechanism, dt.unwrap_or(1e-3) / n),
            Self::Given(samples, mechanism) => {
                let dt = dt.map_or(samples.dt, |dt| dt / n);
                let every = count(dt, samples.dt)? - 1;
                ensure!(
                    every > 0 && (every as f64 * samples.dt - dt).abs() < 1e-6 * dt,
                    "--dt {}: the trajectory steps by {} s; take {1} times the number of --increments, or a multiple of it",
                    dt * n,
                    samples.dt
                );
                Ok(samples.every(every, mechanism))
            }
        }
    }

    /// Steps at which the errors are compared, longest first. [s]
    fn steps(&self, increments: usize) -> Vec<f64> {
        match self {
            Self::Motion(..) => vec![10e-3, 5e-3, 2e-3, 1e-3],
            Self::Given(samples, mechanism) => {
                let n = samples.q.len() / mechanism.model.nq.max(1);
                let fits = |every: &usize| n / (every * increments) >= 20;
                let steps = [8, 4, 2, 1].into_iter().filter(fits);
                steps.map(|every| (every * increments) as f64 * samples.dt).collect()
            }
        }
    }
}

impl Samples {
    fn target(&self) -> Target<'_> {
        Target { dt: self.dt, q: &self.q, v: &self.v, vdot: &self.vdot, forces: &self.forces }
    }

    /// Every so many of the samples.
    fn every(&self, every: usize, mechanism: &Mechanism) -> Self {
        let model = &mechanism.model;
        let pick = |list: &[f64], width: usize| -> Vec<f64> {
            list.chunks(width.max(1)).step_by(every).flatten().copied().collect()
        };
        Self {
            dt: self.dt * every as f64,
            q: pick(&self.q, model.nq),
            v: pick(&self.v, model.nv),
            vdot: pick(&self.vdot, model.nv),
            forces: pick(&self.forces, 3 * mechanism.force_points.len()),
        }
    }
}

/// Instants in a duration, both ends included.
fn count(duration: f64, dt: f64) -> Result<usize> {
    let steps = (duration / dt + 1e-6).floor();
    ensure!(
        dt > 0.0 && (0.0..1e8).contains(&steps),
        "a step of {dt} s in {duration} s: write a positive step, at most 1e8 of them"
    );
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    Ok(steps as usize + 1)
}

/// Names of the velocity coordinates, and units of their efforts.
fn freedoms(mechanism: &Mechanism) -> Vec<(String, &'static str)> {
    use karakuri_model::DofKind;
    use karakuri_model::JointKind::{Custom, Floating, Planar, Prismatic, Revolute, Spherical};
    let mut names = Vec::with_capacity(mechanism.model.nv);
    for joint in &mechanism.model.joints {
        let parts: &[(&str, &str)] = match &joint.kind {
            Custom(motion) => {
                let unit = |f: &DofKind| if *f == DofKind::Angle { "N·m" } else { "N" };
                let single = motion.dof_kinds().len() == 1;
                names.extend(motion.dof_kinds().iter().enumerate().map(|(i, freedom)| {
                    let part = if single { String::new() } else { format!(".{i}") };
                    (format!("{}{part}", joint.name), unit(freedom))
                }));
                continue;
            }
            Revolute { .. } => &[("", "N·m")],
            Prismatic { .. } => &[("", "N")],
            Spherical => &[(".x", "N·m"), (".y", "N·m"), (".z", "N·m")],
            Planar { .. } => &[(".x", "N"), (".y", "N"), (".turn", "N·m")],
            Floating => &[
                (".fx", "N"),
                (".fy", "N"),
                (".fz", "N"),
                (".mx", "N·m"),
                (".my", "N·m"),
                (".mz", "N·m"),
            ],
        };
        names.extend(parts.iter().map(|(part, unit)| (format!("{}{part}", joint.name), *unit)));
    }
    names
}

fn report(args: &Args, mechanism: &Mechanism, study: &Study) -> Value {
    let error = study.error(mechanism.model.nv);
    let by_joint: serde_json::Map<String, Value> = freedoms(mechanism)
        .into_iter()
        .map(|(n, _)| n)
        .zip(error.by_freedom)
        .map(|(n, e)| (n, json!(e)))
        .collect();
    let warnings: Vec<String> = study.torques.warnings.iter().map(ToString::to_string).collect();
    json!({
        "method": args.method.name(),
        "variant": args.variant.name(),
        "increments": args.increments,
        "dt_s": study.samples.dt,
        "samples": study.torques.tau.len() / mechanism.model.nv,
        "largest_effort": error.scale,
        "largest_error_relative": error.inside,
        "largest_error_at_the_ends_relative": error.ends,
        "largest_error_by_joint": by_joint,
        "convergence": study.convergence,
        "tracking": study.tracking,
        "contact": study.contact,
        "warnings": warnings,
    })
}

/// The torques by a variant at a step, as far as they can be had.
fn torques_of(scheme: &Scheme, variant: Variant, samples: &Samples) -> Result<Torques, NodalError> {
    Scheme { variant, ..scheme.clone() }.torques(&samples.target())
}

/// The last of every `n` increments.
fn every(n: usize, mechanism: &Mechanism, torques: Torques) -> Torques {
    let nv = mechanism.model.nv;
    let n_samples = (torques.tau.len() / nv).max(1);
    let pick = |list: &[f64]| -> Vec<f64> {
        let width = (list.len() / n_samples).max(1);
        list.chunks(width).step_by(n).flatten().copied().collect()
    };
    Torques { tau: pick(&torques.tau), lambda: pick(&torques.lambda), ..torques }
}
