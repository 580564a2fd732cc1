//! Figures of the study: angles and ZMP over time, a strip of stick figures, the map of stable coefficients.

use karakuri_files::{Panel, Plot, Series};
use karakuri_gait::compensation::{
    BodyData, Coefficients, LEFT, MotionSample, Posture, RIGHT, SurveyGrid, SurveyPoint, skeleton,
};

pub(super) fn over_time(y_label: &str, series: Vec<Series>) -> Panel {
    Panel {
        x_label: "time [s]".to_owned(),
        y_label: y_label.to_owned(),
        series,
        ..Panel::default()
    }
}

/// Compensating angles, ZMP and floor reaction of a step.
pub(super) fn steady(title: &str, samples: &[MotionSample]) -> Plot {
    let line = |name: &str, value: &dyn Fn(&MotionSample) -> f64| {
        Series::new(name, samples.iter().map(|s| (s.time, value(s))).collect())
    };
    let angles = vec![
        line("theta", &|s| s.posture.sway.value),
        line("phi", &|s| s.posture.pitch.value),
        line("left arm", &|s| s.posture.arm[LEFT].value),
        line("right arm", &|s| s.posture.arm[RIGHT].value),
    ];
    let zmp = vec![
        line("x", &|s| s.reaction.zmp()[0]),
        line("y", &|s| s.reaction.zmp()[1]),
        line("x prescribed", &|s| s.zmp[0]),
        line("y prescribed", &|s| s.zmp[1]),
    ];
    let force = vec![
        line("x", &|s| s.reaction.force[0]),
        line("y", &|s| s.reaction.force[1]),
        line("z", &|s| s.reaction.force[2]),
    ];
    Plot {
        title: title.to_owned(),
        panels: vec![
            over_time("angle [rad]", angles),
            over_time("ZMP [m]", zmp),
            over_time("floor force [N]", force),
        ],
    }
}

/// Stick figures seen from the left, side by side.
pub(super) fn strip(title: &str, body: &BodyData, postures: &[Posture]) -> Plot {
    const APART: f64 = 0.7;
    let (mut left, mut right, mut trunk) = (Vec::new(), Vec::new(), Vec::new());
    for (i, posture) in postures.iter().enumerate() {
        let s = skeleton(body, posture);
        let at = |p: [f64; 3]| (p[0] + APART * i as f64, p[2]);
        let gap = (f64::NAN, f64::NAN);
        for (side, line) in [(LEFT, &mut left), (RIGHT, &mut right)] {
            let ankle = s.ankle[side].position();
            let sole = ankle[2] - body.lengths.foot_to_ankle - body.lengths.sole_to_foot;
            let toe = [ankle[0] + 0.2, 0.0, sole];
            let heel = [ankle[0] - 0.1, 0.0, sole];
            let leg = [toe, heel, ankle, s.knee[side].position(), s.hip[side].position()];
            line.extend(leg.map(at));
            line.push(gap);
            let forearm = s.center[if side == LEFT { 5 } else { 7 }].position();
            let arm = [s.shoulder[side].position(), s.elbow[side].position(), forearm];
            line.extend(arm.map(at));
            line.push(gap);
        }
        trunk.extend([s.hip[LEFT].position(), s.waist.position()].map(at));
        trunk.extend([at(s.shoulder[LEFT].position()), gap]);
    }
    let panel = Panel {
        x_label: "forward [m], figures 0.7 m apart".to_owned(),
        y_label: "up [m]".to_owned(),
        series: vec![
            Series::new("left", left),
            Series::new("right", right),
            Series::new("trunk", trunk),
        ],
        ..Panel::default()
    };
    Plot { title: title.to_owned(), panels: vec![panel] }
}

/// ZMP and its margin over a start or stop.
pub(super) fn transient(title: &str, path: &[(f64, [f64; 2], f64)]) -> Plot {
    let line = |name: &str, value: &dyn Fn(&[f64; 2]) -> f64| {
        Series::new(name, path.iter().map(|(t, zmp, _)| (*t, value(zmp))).collect())
    };
    let margin = path.iter().map(|(t, _, margin)| (*t, *margin)).collect();
    Plot {
        title: title.to_owned(),
        panels: vec![
            over_time("ZMP [m]", vec![line("x", &|z| z[0]), line("y", &|z| z[1])]),
            over_time("margin [m]", vec![Series::new("margin", margin)]),
        ],
    }
}

/// Region of the stable coefficients, those chosen in it, and the box of another survey.
pub(super) fn survey(
    title: &str,
    grid: &SurveyGrid,
    stable: &[SurveyPoint],
    chosen: &[(&str, Coefficients)],
    other: Option<(&str, &SurveyGrid)>,
) -> Plot {
    let at = |c: &Coefficients| (c.sway, c.pitch);
    let points = stable.iter().map(|p| at(&p.coefficients)).collect();
    let cells = [grid.sway[2], grid.pitch[2]];
    let mut series = vec![Series::cells("stable", points, cells)];
    series.extend(chosen.iter().map(|(name, c)| Series::dots(*name, vec![at(c)])));
    series.extend(other.map(|(name, other)| {
        let ([x0, x1, _], [y0, y1, _]) = (other.sway, other.pitch);
        Series::new(name, vec![(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)])
    }));
    let panel = Panel {
        x_label: "coefficient of theta [rad/sⁿ]".to_owned(),
        y_label: "coefficient of phi [rad/sⁿ]".to_owned(),
        series,
        ..Panel::default()
    };
    Plot { title: title.to_owned(), panels: vec![panel] }
}
