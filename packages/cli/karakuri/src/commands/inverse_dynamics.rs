//! `karakuri inverse-dynamics`: torques of a mechanism along a motion, and their errors against the exact ones.

mod contact;
mod dofs;
mod errors;
mod file;
mod page;
mod product;
mod samples;
mod source;
mod tables;
mod tracking;
mod trajectory;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use karakuri_control::nodal::{Mechanism, Nodes, Rule, Scheme, Variant};
use serde_json::{Value, json};

use self::dofs::dof_names;
use self::errors::Study;
use self::file::Read;
use self::samples::Samples;
use self::source::{Source, every};
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
///
/// # Errors
/// When a mechanism or its motion is wrong or cannot be solved, several mechanisms are given without `--page`, or an
/// output cannot be written.
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

/// Summary of a mechanism file in one line; for `karakuri check`.
pub(super) fn check(path: &Path) -> Result<String> {
    let read = file::read(path)?;
    let model = &read.mechanism.model;
    let (nv, loops) = (model.nv, model.loops.len());
    let motion = if read.motion.is_some() { "a motion" } else { "no motion" };
    Ok(format!("mechanism {}: {nv} degrees of freedom, {loops} loops, {motion}", path.display()))
}

/// Computes torques, the exact ones, and errors at several steps.
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

fn report(args: &Args, mechanism: &Mechanism, study: &Study) -> Value {
    let error = study.error(mechanism.model.nv);
    let by_joint: serde_json::Map<String, Value> = dof_names(mechanism)
        .into_iter()
        .map(|(n, _)| n)
        .zip(error.by_dof)
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
