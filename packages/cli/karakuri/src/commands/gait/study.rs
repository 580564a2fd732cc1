//! `karakuri gait study`: printed results of the study of 1991, computed again, as a page with figures.

mod animation;
mod families;
mod figures;
mod march;
mod masses;
mod page;
mod sweeps;
mod transients;

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use karakuri_files::write_atomic;
use karakuri_gait::compensation::{
    Arms, BodyData, Equation, Jet, LEFT, Periodic, PeriodicOptions, RIGHT, Reaction, Samples,
    SteadyGait, SteadySpec, find_main_family, published,
};

use self::page::{Gaits, Page};
use super::super::Outcome;
use crate::interrupt::Interrupt;
use crate::progress;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Writes jaeri.md here and its figures into jaeri/
    folder: PathBuf,
    /// Where `h2.yaml`, `h9.yaml`, `ah2_start.yaml`, `ah9_start.yaml` and `h2_stop.yaml` are
    #[arg(long, value_name = "FOLDER", default_value = "config/gaits")]
    gaits: PathBuf,
}

const PAGE: &str = include_str!("study/jaeri.template");

fn solve(body: &BodyData, gait: &SteadyGait, arms: Arms) -> Result<Periodic> {
    let equation = Equation { body, gait, arms };
    Ok(find_main_family(&equation, &PeriodicOptions::default())?)
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Outcome> {
    let interrupt = Interrupt::watch()?;
    let gaits = Gaits::read(&args.gaits)?;
    let mut page = Page { text: PAGE.to_owned(), figures: Vec::new(), drawings: Vec::new() };
    let parts: [fn(&mut Page, &Gaits) -> Result<()>; 11] = [
        mass_ratios,
        spline_ends,
        compensation,
        swinging_arms,
        march::write,
        transients::starts,
        transients::stops,
        masses::fixed_arms,
        sweeps::write,
        animated,
        families::write,
    ];
    let bar = progress::bar(parts.len() as u64, "computing the study");
    for part in parts {
        if interrupt.is_raised() {
            return Ok(Outcome::Failed("interrupted; nothing is written".to_owned()));
        }
        part(&mut page, &gaits)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    for (name, figure) in &page.figures {
        figure.write_svg(&args.folder.join("jaeri").join(name))?;
    }
    for (name, drawing) in &page.drawings {
        write_atomic(&args.folder.join("jaeri").join(name), drawing.as_bytes())?;
    }
    write_atomic(&args.folder.join("jaeri.md"), page.text.as_bytes())?;
    Ok(Outcome::Done)
}

fn mass_ratios(page: &mut Page, gaits: &Gaits) -> Result<()> {
    let mut rows = String::new();
    for [factor, arm, upper] in published::MASS_RATIOS {
        let body = gaits.body.with_arm_factor(factor);
        let percent = |mass: f64| 100.0 * mass / body.mass();
        let (a, u) = (percent(body.arm_mass()), percent(body.upper_body_mass()));
        writeln!(rows, "| {factor} | {arm} | {a:.3} | {upper} | {u:.2} |")?;
    }
    page.fill("mass_ratios", &rows);
    standing(page, gaits);
    Ok(())
}

fn standing(page: &mut Page, gaits: &Gaits) {
    let still = [Jet::default(); 2];
    let posture = karakuri_gait::compensation::Posture {
        sway: Jet::default(),
        pitch: Jet::default(),
        thigh: still,
        shank: still,
        arm: still,
        foot: Jet::default(),
        elbow: gaits.h9.elbow,
    };
    let [x, y] = Reaction::of(&gaits.body, &posture).zmp();
    let [px, py] = published::STANDING_ZMP;
    let text = format!("({x:.4}, {y:.4}) m; printed ({px:.4}, {py:.4}) m");
    page.fill("standing", &text);
}

fn spline_ends(page: &mut Page, gaits: &Gaits) -> Result<()> {
    let h2 = &gaits.h2;
    let (thigh, shank, arm) = (h2.thigh(1.0), h2.shank(1.0), h2.arm(1.0));
    let factor = [gaits.start.leg_factor, gaits.start.leg_factor, gaits.start.arm_factor];
    let curves = [("thigh", thigh), ("shank", shank), ("arm", arm)];
    let mut rows = String::new();
    for (i, (name, jets)) in curves.iter().enumerate() {
        for (side, side_name) in [(LEFT, "left"), (RIGHT, "right")] {
            let [rate, acceleration] = published::SPLINE_ENDS[2 * i + side];
            let (r, a) = (jets[side].rate / factor[i], jets[side].acceleration / factor[i]);
            writeln!(
                rows,
                "| {side_name} {name} | {rate:.4} | {r:.4} | {acceleration:.4} | {a:.4} |"
            )?;
        }
    }
    page.fill("spline_ends", &rows);
    Ok(())
}

fn rms(difference: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = difference.fold((0.0, 0.0), |(sum, n), d| (sum + d * d, n + 1.0));
    f64::sqrt(sum / n)
}

/// Writes table 3.3 to the page.
fn compensation(page: &mut Page, gaits: &Gaits) -> Result<()> {
    let mut body = gaits.body;
    body.lengths.half_pelvis_width = 0.17;
    let h9 = SteadyGait::new(&gaits.h9)?;
    let tables = [
        (Arms::Fixed, &published::FIXED_SWAY, &published::FIXED_PITCH),
        (Arms::Active, &published::ACTIVE_SWAY, &published::ACTIVE_PITCH),
    ];
    let mut rows = String::new();
    let mut curves = Vec::new();
    for (gait_name, gait) in [("H9", &h9), ("H2", &gaits.h2)] {
        for (arms, sway, pitch) in tables {
            let periodic = solve(&body, gait, arms)?;
            let error = |index: usize, table: &[f64; 31]| {
                rms(periodic.states.iter().zip(table).map(|(s, t)| s[index] - t))
            };
            let (theta, phi) = (error(0, sway), error(1, pitch));
            let name = format!("{arms:?}").to_lowercase();
            writeln!(rows, "| {gait_name} | {name} | {theta:.4} | {phi:.4} |")?;
            if gait_name == "H9" {
                curves.push((name, periodic, sway, pitch));
            }
        }
    }
    page.fill("compensation", &rows);
    page.figures.push(("compensation.svg", figures::compensation(&curves)));
    Ok(())
}

/// Gait with both arms swinging together, `gain` times as far as the trunk does with fixed arms.
fn together(spec: &SteadySpec, fixed: &Periodic, gain: f64) -> Result<SteadyGait> {
    let shift = spec.stance_sample;
    let sample = |k: u32| {
        let step_sample = ((k + 60 - shift) % 30) as usize;
        (k, gain * fixed.states[step_sample][1])
    };
    let arm: Samples = (1..=61).map(sample).collect();
    Ok(SteadyGait::new(&SteadySpec { arm, arm_factor: 1.0, ..spec.clone() })?)
}

/// Writes Fig 3.9 to the page.
fn swinging_arms(page: &mut Page, gaits: &Gaits) -> Result<()> {
    let h9 = SteadyGait::new(&gaits.h9)?;
    let fixed = solve(&gaits.body, &h9, Arms::Fixed)?;
    let active = solve(&gaits.body, &h9, Arms::Active)?;
    let passive = solve(&gaits.body, &h9, Arms::Passive)?;
    let backward = solve(&gaits.body, &together(&gaits.h9, &fixed, 2.0)?, Arms::Active)?;
    let forward = solve(&gaits.body, &together(&gaits.h9, &fixed, -2.0)?, Arms::Active)?;
    let cases = [
        ("passive", passive),
        ("active, both forward with the trunk", forward),
        ("fixed", fixed),
        ("active, human-like", active),
        ("active, both backward", backward),
    ];
    let mut rows = String::new();
    for (name, periodic) in &cases {
        let phi = || periodic.states.iter().map(|s| s[1]);
        let (low, high) = (phi().fold(f64::MAX, f64::min), phi().fold(f64::MIN, f64::max));
        writeln!(rows, "| {name} | {low:.4} | {high:.4} | {:.4} |", high - low)?;
    }
    page.fill("swinging_arms", &rows);
    page.figures.push(("arms.svg", figures::arms(&cases)));
    Ok(())
}

/// Draws Figs 3.17 and 3.19; the study animated steady walking with fixed and active arms.
fn animated(page: &mut Page, gaits: &Gaits) -> Result<()> {
    let h9 = SteadyGait::new(&gaits.h9)?;
    let walks = [
        (Arms::Active, "walk_active.svg", "strip_active.svg", "active"),
        (Arms::Fixed, "walk_fixed.svg", "strip_fixed.svg", "fixed"),
    ];
    for (arms, moving, strip, name) in walks {
        let motion = solve(&gaits.body, &h9, arms)?.motion;
        let title = format!("Fig 3.17: gait H9, {name} arms");
        page.drawings.push((moving, animation::moving(&title, &gaits.body, &motion)?));
        let title = format!("Fig 3.19: gait H9, {name} arms");
        page.drawings.push((strip, animation::strip(&title, &gaits.body, &motion)?));
    }
    Ok(())
}
