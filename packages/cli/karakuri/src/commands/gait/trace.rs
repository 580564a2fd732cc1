//! Motions of the compensation method as CSV: angles as the study has them, the joints of the robot `anthropomorphic`, the ZMP.

use std::path::Path;

use anyhow::Result;
use karakuri_files::{Column, TraceWriter};
use karakuri_gait::compensation::{
    BODIES, BodyData, Coefficients, GaitMotion, LEFT, Point, Posture, RIGHT, Reaction, SteadyGait,
    Transient, joint_moments, skeleton,
};

/// Time between two rows. [s]
const PERIOD: f64 = 0.01;

/// Joint angles, each relative to the link before: the waist's angle turns the trunk relative to the pelvis, which never turns.
/// [rad] (15)
fn joints(p: &Posture) -> [(&'static str, f64); 15] {
    let hip = |side: usize| p.thigh[side].value;
    let knee = |side: usize| (p.shank[side] - p.thigh[side]).value;
    let level = [0.0, p.foot.value];
    let ankle = |side: usize| level[side] - p.shank[side].value;
    let shoulder = |side: usize| (p.arm[side] - p.pitch).value;
    let (roll, elbow) = (p.sway.value, p.elbow.forward);
    [
        ("waist_pitch", p.pitch.value),
        ("left_shoulder_pitch", shoulder(LEFT)),
        ("left_elbow_pitch", -elbow[LEFT]),
        ("right_shoulder_pitch", shoulder(RIGHT)),
        ("right_elbow_pitch", -elbow[RIGHT]),
        ("left_hip_roll", roll),
        ("left_hip_pitch", hip(LEFT)),
        ("left_knee_pitch", knee(LEFT)),
        ("left_ankle_pitch", ankle(LEFT)),
        ("left_ankle_roll", -roll),
        ("right_hip_roll", roll),
        ("right_hip_pitch", hip(RIGHT)),
        ("right_knee_pitch", knee(RIGHT)),
        ("right_ankle_pitch", ankle(RIGHT)),
        ("right_ankle_roll", -roll),
    ]
}

fn columns(posture: &Posture) -> Vec<Column> {
    let mut columns = vec![Column::new("time", "s")];
    columns.extend(["theta", "phi"].map(|name| Column::new(name, "rad")));
    columns.extend(["theta.rate", "phi.rate"].map(|name| Column::new(name, "rad/s")));
    columns.extend(["x", "y", "z"].map(|axis| Column::new(format!("pelvis.{axis}"), "m")));
    columns.extend(joints(posture).map(|(name, _)| Column::new(name, "rad")));
    columns.extend(["zmp.x", "zmp.y"].map(|name| Column::new(name, "m")));
    columns
}

fn row(body: &BodyData, time: f64, p: &Posture) -> Vec<f64> {
    let pelvis = skeleton(body, p).center[2].position();
    let mut row = vec![time, p.sway.value, p.pitch.value, p.sway.rate, p.pitch.rate];
    row.extend(pelvis);
    row.extend(joints(p).map(|(_, angle)| angle));
    row.extend(Reaction::of(body, p).zmp());
    row
}

/// Times from 0 to the end, both included. [s]
fn times(duration: f64) -> impl Iterator<Item = f64> {
    let n = (duration / PERIOD).round().max(1.0);
    (0..).map(f64::from).take_while(move |i| *i <= n).map(move |i| duration * i / n)
}

/// Writes one step of a steady gait, with the prescribed ZMP.
pub(super) fn steady(body: &BodyData, motion: &GaitMotion, file: &Path) -> Result<()> {
    let mut columns = columns(&motion.posture(0.0));
    columns.extend(["x", "y"].map(|axis| Column::new(format!("zmp_prescribed.{axis}"), "m")));
    let mut writer = TraceWriter::create(file, &columns)?;
    for time in times(SteadyGait::DURATION) {
        let sample = motion.sample(body, time);
        let mut row = row(body, time, &sample.posture);
        row.extend(sample.zmp);
        writer.row(&row)?;
    }
    Ok(writer.finish()?)
}

/// Writes a start or stop.
pub(super) fn transient(
    body: &BodyData,
    transient: &Transient,
    coefficients: Coefficients,
    file: &Path,
) -> Result<()> {
    let compensation = transient.compensation(coefficients);
    let posture = |time: f64| transient.posture(&compensation, time);
    let mut writer = TraceWriter::create(file, &columns(&posture(0.0)))?;
    for time in times(transient.duration) {
        writer.row(&row(body, time, &posture(time)))?;
    }
    Ok(writer.finish()?)
}

/// Writes the centres of mass of all bodies with velocity and acceleration, and the moments at the joints, as the study's
/// program MOMA printed them.
pub(super) fn kinematics(
    body: &BodyData,
    duration: f64,
    posture: &dyn Fn(f64) -> Posture,
    file: &Path,
) -> Result<()> {
    let mut columns = vec![Column::new("time", "s")];
    for name in BODIES {
        for (what, unit) in [("", "m"), (".velocity", "m/s"), (".acceleration", "m/s²")] {
            let axes = ["x", "y", "z"];
            columns.extend(axes.map(|axis| Column::new(format!("{name}{what}.{axis}"), unit)));
        }
    }
    for moment in joint_moments(body, &posture(0.0)) {
        let of = |axis| Column::new(format!("{}.moment.{axis}", moment.joint), "N·m");
        columns.extend(["x", "y"].map(of));
    }
    let mut writer = TraceWriter::create(file, &columns)?;
    for time in times(duration) {
        let posture = posture(time);
        let mut row = vec![time];
        for Point { x, y, z } in skeleton(body, &posture).center {
            row.extend([x, y, z].map(|jet| jet.value));
            row.extend([x, y, z].map(|jet| jet.rate));
            row.extend([x, y, z].map(|jet| jet.acceleration));
        }
        row.extend(joint_moments(body, &posture).iter().flat_map(|m| m.moment));
        writer.row(&row)?;
    }
    Ok(writer.finish()?)
}
