//! Figures with the published values beside the computed ones.

use karakuri_files::{Panel, Plot, Series};
use karakuri_gait::compensation::Periodic;

use super::super::figures::over_time;
use super::families::Family;

const GRID: f64 = 1.0 / 30.0;

fn of_step(name: String, values: impl Iterator<Item = f64>) -> Series {
    let points = values.enumerate().map(|(i, y)| (i as f64 * GRID, y)).collect();
    Series { name, points }
}

/// θ and φ of table 3.3.
pub(super) fn compensation(curves: &[(String, Periodic, &[f64; 31], &[f64; 31])]) -> Plot {
    let panel = |index: usize, label: &str| {
        let series = curves.iter().flat_map(|(name, periodic, sway, pitch)| {
            let table = if index == 0 { sway } else { pitch };
            [
                of_step(format!("{name}, here"), periodic.states.iter().map(|s| s[index])),
                of_step(format!("{name}, printed"), table.iter().copied()),
            ]
        });
        over_time(label, series.collect())
    };
    Plot {
        title: "Table 3.3: gait H9, D = 0.17 m".to_owned(),
        panels: vec![panel(0, "theta [rad]"), panel(1, "phi [rad]")],
    }
}

/// φ with each kind of arms.
pub(super) fn arms(cases: &[(&str, Periodic)]) -> Plot {
    let series = cases
        .iter()
        .map(|(name, periodic)| of_step((*name).to_owned(), periodic.states.iter().map(|s| s[1])));
    Plot {
        title: "Fig 3.9: what the arms do to the trunk, gait H9".to_owned(),
        panels: vec![over_time("phi [rad]", series.collect())],
    }
}

/// Amplitudes of the families over the arms' mass.
pub(super) fn families(families: &[Family]) -> Plot {
    let panel = |label: &str, value: fn(&super::families::Member) -> f64| Panel {
        x_label: "arm mass [% of the whole]".to_owned(),
        y_label: label.to_owned(),
        series: families
            .iter()
            .map(|f| {
                let points = f.members.iter().map(|m| (m.arm_percent, value(m))).collect();
                Series { name: f.name.clone(), points }
            })
            .collect(),
        ..Panel::default()
    };
    Plot {
        title: "Passive arms: families of periodic motions, gait H9".to_owned(),
        panels: vec![
            panel("left arm rate at the start [rad/s]", |m| m.start[6]),
            panel("right arm rate at the start [rad/s]", |m| m.start[7]),
            panel("phi at the start [rad]", |m| m.start[1]),
        ],
    }
}
