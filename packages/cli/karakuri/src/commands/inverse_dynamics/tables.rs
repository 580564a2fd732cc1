//! Results as CSV: torques with the forces across loops, and the motion.

use std::path::Path;

use anyhow::Result;
use karakuri_control::nodal::Mechanism;
use karakuri_dynamics::{Data, forward_kinematics};
use karakuri_files::{Column, TraceWriter};
use karakuri_model::LoopJoint;
use karakuri_spatial::Vector3;

use super::dofs::dof_names;
use super::errors::Study;
use super::samples::Samples;

const AXES: [&str; 3] = ["fx", "fy", "fz"];

/// Writes a row per instant: the efforts, the forces that side a of every loop supplies to side b, in world axes, and, where
/// forces are exerted, the efforts' parts due to dynamics and to forces.
pub(super) fn torques(file: &Path, mechanism: &Mechanism, study: &Study) -> Result<()> {
    let model = &mechanism.model;
    let mut columns = vec![Column::new("time", "s")];
    columns.extend(dof_names(mechanism).into_iter().map(|(name, unit)| Column::new(name, unit)));
    let has_loops = !model.loops.is_empty() && !study.torques.lambda.is_empty();
    if has_loops {
        columns.extend(model.loops.iter().flat_map(|l| force_columns(&l.name)));
    }
    let mut parted = Vec::new();
    if !study.dynamics.is_empty() {
        parted = (0..model.nv).filter(|k| mechanism.driven[*k]).collect();
        let names = dof_names(mechanism);
        for (name, unit) in parted.iter().map(|&k: &usize| &names[k]) {
            columns.push(Column::new(format!("{name}.dynamics"), *unit));
            columns.push(Column::new(format!("{name}.force"), *unit));
        }
    }
    let mut writer = TraceWriter::create(file, &columns)?;
    let n_components = study.torques.lambda.len() / (study.torques.tau.len() / model.nv).max(1);
    let mut data = Data::new(model);
    for (i, tau) in study.torques.tau.chunks_exact(model.nv).enumerate() {
        let mut row = vec![i as f64 * study.samples.dt];
        row.extend(tau);
        if has_loops {
            forward_kinematics(model, &mut data, &study.samples.q[i * model.nq..][..model.nq]);
            let mut lambda = study.torques.lambda[i * n_components..].iter().copied();
            for l in &model.loops {
                row.extend(force_across(&data, l, &mut lambda).iter());
            }
        }
        for &k in &parted {
            let dynamics = study.dynamics[i * model.nv + k];
            row.extend([dynamics, tau[k] - dynamics]);
        }
        writer.row(&row)?;
    }
    Ok(writer.finish()?)
}

/// Force of side a on side b in world axes; consumes the loop's components, moments too. [N]
fn force_across(data: &Data, l: &LoopJoint, lambda: &mut impl Iterator<Item = f64>) -> Vector3 {
    let frame = l.body_a.map_or(l.pose_in_a, |body| data.pose_in_world[body.0] * l.pose_in_a);
    let mut force = Vector3::zeros();
    for (k, component) in (0..6).filter(|k| l.locked[*k]).zip(lambda) {
        if k >= 3 {
            force += frame.rotation.column(k - 3) * component;
        }
    }
    force
}

/// Writes a row per instant: position, velocity and acceleration of every hinge and slide, and the exerted forces.
pub(super) fn motion(file: &Path, mechanism: &Mechanism, samples: &Samples) -> Result<()> {
    let model = &mechanism.model;
    let joints: Vec<_> = model.joints.iter().filter(|joint| joint.kind.nv() == 1).collect();
    let mut columns = vec![Column::new("time", "s")];
    for joint in &joints {
        let unit = match joint.kind {
            karakuri_model::JointKind::Prismatic { .. } => "m",
            _ => "rad",
        };
        for (part, per) in [("q", ""), ("v", "/s"), ("a", "/s²")] {
            columns.push(Column::new(format!("{}.{part}", joint.name), format!("{unit}{per}")));
        }
    }
    columns.extend(mechanism.force_points.iter().flat_map(|point| force_columns(&point.name)));
    let mut writer = TraceWriter::create(file, &columns)?;
    let n_forces = 3 * mechanism.force_points.len();
    for i in 0..samples.q.len() / model.nq {
        let mut row = vec![i as f64 * samples.dt];
        for joint in &joints {
            row.push(samples.q[i * model.nq + joint.q_start]);
            row.push(samples.v[i * model.nv + joint.v_start]);
            row.push(samples.vdot[i * model.nv + joint.v_start]);
        }
        row.extend(&samples.forces[i * n_forces..][..n_forces]);
        writer.row(&row)?;
    }
    Ok(writer.finish()?)
}

fn force_columns(name: &str) -> impl Iterator<Item = Column> {
    AXES.map(|axis| Column::new(format!("{name}.{axis}"), "N")).into_iter()
}
