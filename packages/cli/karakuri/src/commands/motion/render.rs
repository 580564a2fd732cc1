//! `karakuri motion render`: pictures of a motion as it is planned.

use std::path::PathBuf;

use anyhow::{Result, bail};
use karakuri_files::write_atomic;
use karakuri_render::{Camera, Picture, film_strip, render, robot_items};

use super::source::MotionArgs;
use crate::commands::Outcome;
use crate::output::{self, png_file};

/// White gap between the pictures of a strip. [pixels]
const GAP: usize = 8;
/// Pictures of a strip at most.
const PICTURES: usize = 200;

/// Takes pictures of a motion; no display needed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
  karakuri motion render config/motions/khr1_greet.yaml --output greet.png
  karakuri motion render config/motions/khr1_greet.yaml --at 0,0.75,1.5 --output bow.png")]
pub(super) struct Args {
    #[command(flatten)]
    source: MotionArgs,
    /// The picture
    #[arg(long, value_name = "FILE.png", value_parser = png_file)]
    output: PathBuf,
    /// Times of the pictures; the start and the end of each scene, if not given [s]
    #[arg(long, value_name = "T,...", value_delimiter = ',')]
    at: Vec<f64>,
    /// Width and height of one picture [pixels]
    #[arg(long, value_name = "PIXELS", default_value_t = 300, value_parser = clap::value_parser!(u16).range(16..=4000))]
    size: u16,
    /// Pictures in a row
    #[arg(long, default_value_t = 6)]
    columns: usize,
    /// Direction of the camera about z, 0 on the side of +x [degrees]
    #[arg(long, value_name = "DEGREES", allow_hyphen_values = true, default_value_t = 55.0)]
    azimuth: f64,
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Outcome> {
    let source = args.source.load()?;
    let mut performance = source.performance()?;
    let mut times = args.at.clone();
    if times.is_empty() {
        times.push(0.0);
        times.extend(performance.spans().iter().map(|span| span.end));
    }
    if times.len() > PICTURES {
        bail!(
            "{} pictures are too many for one strip; name up to {PICTURES} times with --at",
            times.len()
        );
    }
    let model = &source.performer.model;
    let all: Vec<_> =
        times.iter().flat_map(|t| robot_items(model, &performance.state(*t).q)).collect();
    // One camera for all: a robot that moves is seen to move.
    let camera = Camera::framing(&all, args.azimuth.to_radians(), 0.25);
    let size = usize::from(args.size);
    let images: Vec<_> = times
        .iter()
        .map(|t| {
            let items = robot_items(model, &performance.state(*t).q);
            let picture = Picture { camera, items, floor: Some(0.0) };
            render(&picture, size, size)
        })
        .collect();
    write_atomic(&args.output, &film_strip(&images, args.columns.max(1), GAP).to_png()?)?;
    let wrote = output::wrote(&[Some(&args.output)]);
    output::done(&format!("rendered {} pictures of {}{wrote}", images.len(), source.name));
    Ok(Outcome::Done)
}
