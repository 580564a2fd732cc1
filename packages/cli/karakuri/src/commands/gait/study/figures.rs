//! Figures with the published values beside the computed ones.

use karakuri_files::{Panel, Plot, Series};
use karakuri_gait::compensation::{
    Coefficients, Jet, LEFT, Periodic, Posture, RIGHT, SteadyGait, Transient,
};

use super::super::figures::over_time;
use super::families::Family;

const GRID: f64 = 1.0 / 30.0;

fn of_step(name: String, values: impl Iterator<Item = f64>) -> Series {
    let points = values.enumerate().map(|(i, y)| (i as f64 * GRID, y)).collect();
    Series::new(name, points)
}

/// Curves of θ and φ of table 3.3.
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

/// Curve of φ with each kind of arms.
pub(super) fn arms(cases: &[(&str, Periodic)]) -> Plot {
    let series = cases
        .iter()
        .map(|(name, periodic)| of_step((*name).to_owned(), periodic.states.iter().map(|s| s[1])));
    Plot {
        title: "Fig 3.9: what the arms do to the trunk, gait H9".to_owned(),
        panels: vec![over_time("phi [rad]", series.collect())],
    }
}

/// Start, amplitude and peak of an angle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Summary {
    /// Angle at the start of the step. [rad]
    pub(super) start: f64,
    /// Rate at the start of the step. [rad/s]
    pub(super) rate: f64,
    /// Half the range over the step. [rad]
    pub(super) amplitude: f64,
    /// Angle furthest from zero. [rad]
    pub(super) peak: f64,
}

/// Fig 3.2: θ and φ over one step.
pub(super) fn fixed_arms(motion: &Periodic) -> Plot {
    let angle = |name: &str, i: usize| of_step(name.to_owned(), motion.states.iter().map(|s| s[i]));
    Plot {
        title: "Fig 3.2: fixed arms, gait H9".to_owned(),
        panels: vec![over_time("angle [rad]", vec![angle("theta", 0), angle("phi", 1)])],
    }
}

/// Figs 3.3 and 3.4: start, amplitude and peak of θ, φ over a part of the mass.
pub(super) fn over_mass(title: &str, part: &str, of: &[(f64, [Summary; 2])]) -> Plot {
    let panel = |label: &str, value: fn(&Summary) -> f64| Panel {
        x_label: format!("{part} [% of the whole]"),
        y_label: label.to_owned(),
        series: ["theta", "phi"]
            .iter()
            .enumerate()
            .map(|(i, name)| {
                Series::new(*name, of.iter().map(|(x, s)| (*x, value(&s[i]))).collect())
            })
            .collect(),
        ..Panel::default()
    };
    Plot {
        title: title.to_owned(),
        panels: vec![
            panel("at the start [rad]", |s| s.start),
            panel("at the start [rad/s]", |s| s.rate),
            panel("half range [rad]", |s| s.amplitude),
            panel("peak [rad]", |s| s.peak),
        ],
    }
}

/// Times of a motion, 0.01 s apart. [s]
fn instants(duration: f64) -> impl Iterator<Item = f64> + Clone {
    (0..).map(|i| 0.01 * f64::from(i)).take_while(move |t| *t < duration + 1e-9)
}

/// Panels of thigh, shank and arm, one per side.
fn limbs(duration: f64, joints: &dyn Fn(f64) -> [[Jet; 2]; 3]) -> Vec<Panel> {
    let side = |label: &str, side: usize| {
        let line = |(i, name): (usize, &&str)| {
            Series::new(*name, instants(duration).map(|t| (t, joints(t)[i][side].value)).collect())
        };
        over_time(label, ["thigh b1", "shank b2", "arm b4"].iter().enumerate().map(line).collect())
    };
    vec![side("left [rad]", LEFT), side("right [rad]", RIGHT)]
}

/// Figure of limbs and ZMP of a steady gait.
pub(super) fn limbs_of_gait(title: &str, gait: &SteadyGait) -> Plot {
    let mut panels = limbs(SteadyGait::DURATION, &|t| [gait.thigh(t), gait.shank(t), gait.arm(t)]);
    let zmp = |name: &str, axis: usize| {
        let points = instants(SteadyGait::DURATION).map(|t| (t, gait.zmp(t)[axis]));
        Series::new(name, points.collect())
    };
    panels.push(over_time("prescribed ZMP [m]", vec![zmp("x", 0), zmp("y", 1)]));
    Plot { title: title.to_owned(), panels }
}

/// Figure of the limbs of a start or stop.
pub(super) fn limbs_of_transient(title: &str, transient: &Transient) -> Plot {
    let none = transient.compensation(Coefficients { sway: 0.0, pitch: 0.0 });
    let joints = |t: f64| {
        let Posture { thigh, shank, arm, .. } = transient.posture(&none, t);
        [thigh, shank, arm]
    };
    Plot { title: title.to_owned(), panels: limbs(transient.duration, &joints) }
}

/// Figure of ZMP, its margin, and the compensating motion of a start or stop.
pub(super) fn transient(title: &str, transient: &Transient, chosen: Coefficients) -> Plot {
    let mut plot = super::super::figures::transient(title, &transient.zmp_path(chosen));
    let compensation = transient.compensation(chosen);
    let angle = |name: &str, value: fn(&Posture) -> f64| {
        let points =
            instants(transient.duration).map(|t| (t, value(&transient.posture(&compensation, t))));
        Series::new(name, points.collect())
    };
    let angles = vec![angle("theta", |p| p.sway.value), angle("phi", |p| p.pitch.value)];
    plot.panels.push(over_time("angle [rad]", angles));
    plot
}

/// Figure of the families' amplitudes over the arms' mass.
pub(super) fn families(families: &[Family]) -> Plot {
    let panel = |label: &str, value: fn(&super::families::Member) -> f64| Panel {
        x_label: "arm mass [% of the whole]".to_owned(),
        y_label: label.to_owned(),
        series: families
            .iter()
            .map(|f| {
                let points = f.members.iter().map(|m| (m.arm_percent, value(m))).collect();
                Series::new(f.name.clone(), points)
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

/// Panel of the families over the arms' mass, a line per family and quantity.
fn over_arms(
    label: &str,
    families: &[&Family],
    names: &[&str],
    value: &dyn Fn(&super::families::Member, usize) -> f64,
) -> Panel {
    let line = |f: &Family, i: usize| {
        let points = f.members.iter().map(|m| (m.arm_percent, value(m, i))).collect();
        Series::new(format!("{}: {}", f.name, names[i]), points)
    };
    let series = families.iter().flat_map(|f| (0..names.len()).map(|i| line(f, i))).collect();
    Panel {
        x_label: "arm mass [% of the whole]".to_owned(),
        y_label: label.to_owned(),
        series,
        ..Panel::default()
    }
}

/// Figs 3.6 and 3.8: angles and rates at the start of the step.
pub(super) fn passive_starts(title: &str, families: &[&Family]) -> Plot {
    let names = ["theta", "phi", "left arm", "right arm"];
    Plot {
        title: title.to_owned(),
        panels: vec![
            over_arms("angle [rad]", families, &names, &|m, i| m.start[i]),
            over_arms("rate [rad/s]", families, &names, &|m, i| m.start[i + 4]),
        ],
    }
}

/// Fig 3.7: half the range of each angle; the arms of these types swing together.
pub(super) fn passive_amplitudes(families: &[&Family]) -> Plot {
    let names = ["theta", "phi", "arms"];
    Plot {
        title: "Fig 3.7: passive arms, survey 1, amplitudes, gait H9".to_owned(),
        panels: vec![over_arms("half range [rad]", families, &names, &|m, i| m.amplitude[i])],
    }
}

/// Fig 3.18: φ with the waist in its original place and elsewhere.
pub(super) fn waist(motions: &[(String, Periodic)]) -> Plot {
    let series = motions
        .iter()
        .map(|(name, motion)| of_step(name.clone(), motion.states.iter().map(|s| s[1])));
    Plot {
        title: "Fig 3.18: waist shifted, gait H9, active arms".to_owned(),
        panels: vec![over_time("phi [rad]", series.collect())],
    }
}
