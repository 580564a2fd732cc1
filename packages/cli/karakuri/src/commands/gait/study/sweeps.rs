//! Variations that the study reports in words only: pelvis, ZMP, waist, foot, point masses; Fig 3.18.

use std::fmt::Write as _;

use anyhow::Result;
use karakuri_gait::compensation::{
    Arms, BodyData, Equation, Periodic, PeriodicOptions, Samples, SteadyGait, SteadySpec,
    find_main_family,
};

use super::figures;
use super::figures::Summary;
use super::masses::summary;
use super::page::{Gaits, Page};

/// Pitch of the swinging foot of the variant: heel up at first, toes up before it meets the floor. [rad]
const FOOT: [(u32, f64); 7] =
    [(1, 0.0), (12, 0.0), (25, 0.0), (32, 0.3), (42, 0.0), (49, -0.15), (55, 0.0)];

fn solve(body: &BodyData, gait: &SteadyGait) -> Result<Periodic> {
    let e = Equation { body, gait, arms: Arms::Active };
    Ok(find_main_family(&e, &PeriodicOptions { substeps: 4, ..PeriodicOptions::default() })?)
}

/// Writes the table and the figure.
pub(super) fn write(page: &mut Page, gaits: &Gaits) -> Result<()> {
    let h9 = SteadyGait::new(&gaits.h9)?;
    let foot: Samples = FOOT.into_iter().chain([(61, 0.0)]).collect();
    let pitched = SteadyGait::new(&SteadySpec { foot, ..gaits.h9.clone() })?;
    let mut rows = String::new();
    let mut add = |name: &str, body: &BodyData, gait: &SteadyGait| -> Result<Periodic> {
        let motion = solve(body, gait)?;
        write!(rows, "| {name} |")?;
        for index in [0, 1] {
            let s = summary(&motion, index);
            let mean = motion.states.iter().take(30).map(|s| s[index]).sum::<f64>() / 30.0;
            let Summary { rate, amplitude, peak, .. } = s;
            write!(rows, " {rate:.4} | {amplitude:.4} | {peak:.4} |")?;
            if index == 1 {
                write!(rows, " {mean:.4} |")?;
            }
        }
        writeln!(rows)?;
        Ok(motion)
    };
    let body = gaits.body;
    let plain = add("as it is", &body, &h9)?;
    for half_pelvis_width in [0.065, 0.105, 0.17] {
        let mut other = body;
        other.lengths.half_pelvis_width = half_pelvis_width;
        add(&format!("D = {half_pelvis_width} m"), &other, &h9)?;
    }
    for hip_to_pelvis in [0.029, 0.069] {
        let mut other = body;
        other.lengths.hip_to_pelvis = hip_to_pelvis;
        add(&format!("PP = {hip_to_pelvis} m"), &other, &h9)?;
    }
    for (x, y) in [(-0.02, 0.0), (0.02, 0.0), (0.0, 0.02)] {
        add(&format!("ZMP shifted by ({x}, {y}) m"), &body, &h9.with_zmp_shift([x, y]))?;
    }
    let mut shifted = vec![("as it is".to_owned(), plain)];
    for [x, z] in [[0.0, -0.02], [0.03, -0.02], [-0.03, -0.02]] {
        let gait = h9.with_waist_shift([x, z], &body.lengths)?;
        let motion = add(&format!("waist shifted by ({x}, {z}) m"), &body, &gait)?;
        shifted.push((format!("({x}, {z}) m"), motion));
    }
    add("foot pitched", &body, &pitched)?;
    add("point masses", &body.as_point_masses(), &h9)?;
    page.fill("sweeps", &rows);
    page.figures.push(("waist.svg", figures::waist(&shifted)));
    Ok(())
}
