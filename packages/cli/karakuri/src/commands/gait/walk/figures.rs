//! Figures of a walk over time: the plan, and the simulated motion.

use std::path::Path;

use karakuri_files::{Panel, Plot, Series};
use karakuri_gait::planner::Sample;

use super::super::figures::over_time;
use super::super::files::name;
use super::cell::{Moment, Run};

/// Figure of ZMP, centre of mass and margin as planned.
pub(super) fn plan(gait: &Path, samples: &[Sample], period: f64) -> Plot {
    let line = |name: &str, value: &dyn Fn(&Sample) -> f64| {
        Series::new(name, samples.iter().map(|s| (s.index as f64 * period, value(s))).collect())
    };
    let panel = |axis: usize, label: &str| {
        over_time(
            label,
            vec![
                line("desired ZMP", &|s| s.zmp_reference[axis]),
                line("ZMP of the motion", &|s| s.zmp[axis]),
                line("centre of mass", &|s| s.com[axis]),
            ],
        )
    };
    let feet = vec![
        line("left", &|s| s.soles[0].translation.z),
        line("right", &|s| s.soles[1].translation.z),
    ];
    Plot {
        title: format!("plan of {}", name(gait)),
        panels: vec![
            panel(0, "forward [m]"),
            panel(1, "left [m]"),
            over_time("sole height [m]", feet),
            over_time("margin of the ZMP [m]", vec![line("margin", &|s| s.margin)]),
        ],
    }
}

/// Figure of the planned and the simulated walk.
pub(super) fn walk(gait: &Path, run: &Run) -> Plot {
    let line = |name: &str, value: &dyn Fn(&Moment) -> f64| {
        Series::new(name, run.history.iter().map(|m| (m.time, value(m))).collect())
    };
    let panel = |axis: usize, label: &str| {
        over_time(
            label,
            vec![
                line("root link", &|m| m.root[axis]),
                line("root link planned", &|m| m.planned[axis]),
                line("centre of pressure", &|m| m.pressure[axis]),
                line("ZMP planned", &|m| m.zmp[axis]),
            ],
        )
    };
    let lean: Panel = over_time(
        "lean beyond the plan [rad]",
        vec![line("roll", &|m| m.lean[0]), line("pitch", &|m| m.lean[1])],
    );
    let dcm = over_time(
        "divergent component, error [m]",
        vec![line("forward", &|m| m.dcm_error[0]), line("left", &|m| m.dcm_error[1])],
    );
    Plot {
        title: format!("walk of {}", name(gait)),
        panels: vec![panel(0, "forward [m]"), panel(1, "left [m]"), lean, dcm],
    }
}
