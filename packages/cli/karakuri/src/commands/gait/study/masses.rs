//! Figs 3.2 to 3.4: compensating motion with fixed arms over the arms' mass.

use std::fmt::Write as _;

use anyhow::Result;
use karakuri_gait::compensation::{
    Arms, Equation, Periodic, PeriodicOptions, SteadyGait, find_main_family,
};

use super::figures::{self, Summary};
use super::page::{Gaits, Page};

/// Factors of the arms' mass.
const FACTORS: [f64; 12] = [0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0];

/// Start, amplitude (half the range) and peak of one angle.
pub(super) fn summary(motion: &Periodic, index: usize) -> Summary {
    let angle = || motion.states.iter().map(|s| s[index]);
    let (low, high) = (angle().fold(f64::MAX, f64::min), angle().fold(f64::MIN, f64::max));
    Summary {
        start: motion.states[0][index],
        rate: motion.states[0][index + 4],
        amplitude: 0.5 * (high - low),
        peak: if high > -low { high } else { low },
    }
}

/// Writes the table and the figures.
pub(super) fn fixed_arms(page: &mut Page, gaits: &Gaits) -> Result<()> {
    let h9 = SteadyGait::new(&gaits.h9)?;
    let options = PeriodicOptions { substeps: 4, ..PeriodicOptions::default() };
    let mut rows = String::new();
    let (mut arms, mut upper) = (Vec::new(), Vec::new());
    for factor in FACTORS {
        let body = gaits.body.with_arm_factor(factor);
        let e = Equation { body: &body, gait: &h9, arms: Arms::Fixed };
        let motion = find_main_family(&e, &options)?;
        let both = [0, 1].map(|index| summary(&motion, index));
        let percent = |mass: f64| 100.0 * mass / body.mass();
        let (arm, above) = (percent(body.arm_mass()), percent(body.upper_body_mass()));
        write!(rows, "| {arm:.1} | {above:.1} |")?;
        for s in both {
            write!(rows, " {:.4} | {:.4} | {:.4} | {:.4} |", s.start, s.rate, s.amplitude, s.peak)?;
        }
        writeln!(rows)?;
        arms.push((arm, both));
        upper.push((above, both));
        if factor.to_bits() == 1.0_f64.to_bits() {
            page.figures.push(("fixed_arms.svg", figures::fixed_arms(&motion)));
        }
    }
    page.fill("fixed_arms", &rows);
    let over_arms = figures::over_mass("Fig 3.3: fixed arms, gait H9", "arm mass", &arms);
    let over_upper = figures::over_mass("Fig 3.4: fixed arms, gait H9", "arms and trunk", &upper);
    page.figures.push(("arm_mass.svg", over_arms));
    page.figures.push(("upper_body_mass.svg", over_upper));
    Ok(())
}
