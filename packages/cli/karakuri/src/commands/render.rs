//! `karakuri render`: pictures of a scene, as it begins or at instants of a recorded run.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use karakuri_files::{Trace, read_trace, write_atomic};
use karakuri_model::JointKind;
use karakuri_physics::World;
use karakuri_render::{Camera, Image, Picture, film_strip, render, world_items};
use karakuri_simulation::load_scene;
use karakuri_spatial::{Motion, Pose, UnitQuaternion, Vector3};

use super::Outcome;
use crate::input::input_file;
use crate::output::{self, png_file};

/// White gap between the pictures of a strip. [pixels]
const GAP: usize = 8;

/// Takes pictures of a scene, as it begins or at instants of a trace; no display needed
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The scene
    #[arg(value_parser = input_file())]
    scene: PathBuf,
    /// CSV of `karakuri simulate --trace`, or of the demo
    #[arg(long, value_name = "FILE", requires = "at")]
    trace: Option<PathBuf>,
    /// Instants of the trace: several make a strip [s]
    #[arg(long, value_name = "T,...", value_delimiter = ',', requires = "trace", value_parser = finite)]
    at: Vec<f64>,
    /// The picture
    #[arg(long, value_name = "FILE.png", value_parser = png_file)]
    output: PathBuf,
    /// Width and height of one picture [pixels]
    #[arg(long, value_name = "W,H", value_parser = numbers::<u16, 2>, default_value = "800,600")]
    size: [u16; 2],
    /// Pictures in a row of the strip
    #[arg(long, default_value_t = 4)]
    columns: usize,
    /// What is in the middle [m]
    #[arg(long, value_name = "X,Y,Z", value_parser = finite_numbers::<3>, allow_hyphen_values = true, default_value = "0.25,0,0.95")]
    target: [f64; 3],
    /// Distance of the camera from there [m]
    #[arg(long, default_value = "2.4", value_parser = finite, allow_hyphen_values = true)]
    distance: f64,
    /// Direction of the camera about z, 0 on the side of +x, and above the horizon [degrees]
    #[arg(long, value_name = "A,E", value_parser = finite_numbers::<2>, allow_hyphen_values = true, default_value = "35,20")]
    angles: [f64; 2],
}

/// Largest number of pixels of all pictures together. [pixels]
const PIXELS: usize = 200_000_000;

/// Reads a finite number.
fn finite(text: &str) -> Result<f64, String> {
    text.trim()
        .parse::<f64>()
        .ok()
        .filter(|x| x.is_finite())
        .ok_or_else(|| "write a number".to_owned())
}

/// Reads N numbers separated by commas, as `1,2,3`.
fn numbers<T: FromStr + Copy, const N: usize>(text: &str) -> Result<[T; N], String> {
    let parsed: Option<Vec<T>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    let array = parsed.and_then(|list| <[T; N]>::try_from(list).ok());
    array.ok_or_else(|| format!("write {N} numbers with commas between them"))
}

fn finite_numbers<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let parsed = numbers::<f64, N>(text)?;
    if parsed.iter().all(|x| x.is_finite()) {
        Ok(parsed)
    } else {
        Err("write finite numbers".to_owned())
    }
}

/// Refuses pictures that would not fit into memory, and cameras at no distance from their target.
fn check(args: &Args) -> Result<()> {
    let [width, height] = args.size.map(usize::from);
    let pictures = args.at.len().max(1);
    if width * height * pictures > PIXELS {
        let limit = PIXELS / 1_000_000;
        bail!(
            "--size {width},{height}: {pictures} of them have more than {limit} million pixels; make them smaller"
        );
    }
    if args.distance <= 0.0 {
        bail!(
            "--distance {}: the camera must be away from what it looks at; write metres above 0",
            args.distance
        );
    }
    Ok(())
}

/// Runs the command.
///
/// # Errors
/// When options contradict each other, the scene or trace is wrong, a time is not in the trace, or the picture cannot
/// be written.
pub fn run(args: &Args) -> Result<Outcome> {
    check(args)?;
    let mut world = load_scene(&args.scene)?.world()?;
    let mut images = Vec::new();
    if let Some(path) = &args.trace {
        let trace = read_trace(path)?;
        for &time in &args.at {
            set_state(&mut world, &trace, time)
                .with_context(|| format!("{} at {time} s", path.display()))?;
            images.push(photograph(args, &world));
        }
    } else {
        images.push(photograph(args, &world));
    }
    let png = film_strip(&images, args.columns, GAP).to_png()?;
    let written = write_atomic(&args.output, &png);
    written.with_context(|| format!("cannot write {}", args.output.display()))?;
    let pictures =
        if images.len() == 1 { "1 picture" } else { &format!("{} pictures", images.len()) };
    let wrote = output::wrote(&[Some(&args.output)]);
    output::done(&format!("rendered {pictures} of {}{wrote}", args.scene.display()));
    Ok(Outcome::Done)
}

fn photograph(args: &Args, world: &World) -> Image {
    let target = Vector3::from(args.target);
    let (azimuth, elevation) = (args.angles[0].to_radians(), args.angles[1].to_radians());
    let camera = Camera::orbiting(target, args.distance, azimuth, elevation, 0.5);
    let picture = Picture { camera, items: world_items(world), floor: Some(0.0) };
    render(&picture, usize::from(args.size[0].max(1)), usize::from(args.size[1].max(1)))
}

/// Sets robots and bodies to the row of the trace nearest in time; those that it does not name stay.
fn set_state(world: &mut World, trace: &Trace, time: f64) -> Result<()> {
    let column = |name: &str| trace.columns.iter().position(|c| c.name == name);
    let clock = column("time").context("has no column `time`")?;
    let off = |row: &&Vec<f64>| (row[clock] - time).abs();
    let Some(row) = trace.rows.iter().min_by(|a, b| off(a).total_cmp(&off(b))) else {
        bail!("has no rows");
    };
    let value = |name: String| column(&name).map(|c| row[c]);
    let pose = |name: &str| -> Option<Pose> {
        let part = |p: &str| value(format!("{name}.{p}"));
        let rotation =
            nalgebra::Quaternion::new(part("qw")?, part("qx")?, part("qy")?, part("qz")?);
        let translation = Vector3::new(part("x")?, part("y")?, part("z")?);
        Some(Pose::from_quaternion(&UnitQuaternion::from_quaternion(rotation), translation))
    };
    for id in world.robot_ids().collect::<Vec<_>>() {
        let robot = world.robot(id);
        let (name, model) = (robot.name(), robot.model());
        let (mut q, v) = (robot.q().to_vec(), vec![0.0; model.nv]);
        for joint in &model.joints {
            if matches!(joint.kind, JointKind::Floating) {
                if let Some(base) = pose(&format!("{name}.base")) {
                    q[joint.q_start..joint.q_start + 3]
                        .copy_from_slice(base.translation.as_slice());
                    q[joint.q_start + 3..joint.q_start + 7]
                        .copy_from_slice(base.quaternion().coords.as_slice());
                }
            } else if let Some(position) = value(format!("{name}.{}.q", joint.name)) {
                q[joint.q_start] = position;
            }
        }
        world.set_robot_state(id, &q, &v)?;
    }
    for id in world.body_ids().collect::<Vec<_>>() {
        if let Some(pose) = pose(&world.body(id).description().name.clone()) {
            world.set_body_state(id, pose, Motion::default())?;
        }
    }
    Ok(())
}
