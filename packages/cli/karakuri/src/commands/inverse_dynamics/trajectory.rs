//! Trajectory from CSV: `time [s]`, a column per joint, and where they are known its rates (`elbow.v`, `elbow.a`) and exerted
//! forces (`tip.fx`).
//!
//! Driven joints without a column may follow through loops, if the mechanism file gives their approximate start; then all
//! joints with a column lead. Rates that are not given follow from the positions of seven neighbouring samples, exactly for
//! polynomials of degree six.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use karakuri_control::nodal::Mechanism;
use karakuri_files::{Trace, read_trace};

use super::file::{Start, joint_of};
use super::samples::Samples;

/// Number of samples of a difference quotient.
const WINDOW: usize = 7;

/// Reads a trajectory; `start` is the approximate start of the joints without a column.
pub(super) fn read(path: &Path, mechanism: &Mechanism, start: &Start) -> Result<Samples> {
    let trace = read_trace(path)?;
    let dt = step(path, &trace)?;
    let model = &mechanism.model;
    let n = trace.rows.len();
    let n_points = mechanism.force_points.len();
    let mut samples = Samples {
        dt,
        q: start.q.repeat(n),
        v: vec![0.0; n * model.nv],
        vdot: vec![0.0; n * model.nv],
        forces: vec![0.0; n * 3 * n_points],
    };
    let mut given = vec![[false; 3]; model.nv];
    for (index, column) in trace.columns.iter().enumerate().skip(1) {
        let place = || format!("{}: column `{}`", path.display(), column.name);
        let values = trace.rows.iter().map(|row| row[index]);
        if let Some(k) = force_column(mechanism, &column.name) {
            values.enumerate().for_each(|(i, x)| samples.forces[i * 3 * n_points + k] = x);
            continue;
        }
        let (name, order) = match column.name.rsplit_once('.') {
            Some((name, "q")) => (name, 0),
            Some((name, "v")) => (name, 1),
            Some((name, "a")) => (name, 2),
            _ => (column.name.as_str(), 0),
        };
        let joint = joint_of(model, name).map_err(|e| e.context(place()))?;
        let joint = &model.joints[joint];
        ensure!(joint.kind.nv() == 1, "{}: only hinges and slides have a column", place());
        given[joint.v_start][order] = true;
        let (list, width, at) = match order {
            0 => (&mut samples.q, model.nq, joint.q_start),
            1 => (&mut samples.v, model.nv, joint.v_start),
            _ => (&mut samples.vdot, model.nv, joint.v_start),
        };
        values.enumerate().for_each(|(i, x)| list[i * width + at] = x);
    }
    for joint in &model.joints {
        let k = joint.v_start;
        let [q, v, vdot] = given[k];
        ensure!(
            q || joint.kind.nv() > 1 || !mechanism.driven[k] || start.given[k],
            "{}: no column for the driven joint `{}`; add one, constant for a joint that rests, or say in the mechanism file under \
             `motion.start` about where it begins if it follows through a loop",
            path.display(),
            joint.name
        );
        if joint.kind.nv() == 1 && q && !(v && vdot) {
            let values: Vec<f64> =
                (0..n).map(|i| samples.q[i * model.nq + joint.q_start]).collect();
            for i in 0..n {
                let [rate, acceleration] = derivatives(&values, i, dt);
                samples.v[i * model.nv + k] = rate;
                samples.vdot[i * model.nv + k] = acceleration;
            }
        }
    }
    let mut leads = mechanism.clone();
    let has_column = |k: usize| given[k][0];
    if (0..model.nv).any(|k| mechanism.driven[k] && start.given[k] && !has_column(k)) {
        for joint in model.joints.iter().filter(|joint| joint.kind.nv() == 1) {
            leads.driven[joint.v_start] = has_column(joint.v_start);
        }
    }
    leads
        .complete(dt, &mut samples.q, &mut samples.v, &mut samples.vdot)
        .with_context(|| path.display().to_string())?;
    Ok(samples)
}

/// Common step of the times. [s]
fn step(path: &Path, trace: &Trace) -> Result<f64> {
    let place = path.display();
    let n = trace.rows.len();
    ensure!(n >= WINDOW, "{place}: {n} rows; at least {WINDOW} are needed");
    let time = |i: usize| trace.rows[i][0];
    let dt = (time(n - 1) - time(0)) / (n - 1) as f64;
    for i in 1..n {
        let step = time(i) - time(i - 1);
        if (step - dt).abs() > 1e-6 * dt.abs() || dt <= 0.0 {
            bail!(
                "{place}:{}: the time steps by {step} s, the others by {dt} s; sample at equal steps",
                i + 2
            );
        }
    }
    Ok(dt)
}

/// Index of a column among a sample's forces.
fn force_column(mechanism: &Mechanism, name: &str) -> Option<usize> {
    let (point, axis) = name.rsplit_once('.')?;
    let axis = ["fx", "fy", "fz"].iter().position(|known| *known == axis)?;
    let point = mechanism.force_points.iter().position(|p| p.name == point)?;
    Some(3 * point + axis)
}

/// First and second derivative of the polynomial through the samples around `i`.
fn derivatives(values: &[f64], i: usize, dt: f64) -> [f64; 2] {
    let first = i.saturating_sub(WINDOW / 2).min(values.len() - WINDOW);
    let at = (i - first) as f64;
    // [Fornberg 1988]: weights of the derivatives of order 0 to 2 on equally spaced points, node after node.
    let mut w = [[0.0; 3]; WINDOW];
    w[0][0] = 1.0;
    let mut product = 1.0;
    for n in 1..WINDOW {
        let x = n as f64 - at;
        let x_before = x - 1.0;
        let mut scale = 1.0;
        for j in 0..n {
            let distance = (n - j) as f64;
            scale *= distance;
            if j == n - 1 {
                for k in (0..3).rev() {
                    let lower = if k > 0 { k as f64 * w[j][k - 1] } else { 0.0 };
                    w[n][k] = product / scale * (lower - x_before * w[j][k]);
                }
            }
            for k in (0..3).rev() {
                let lower = if k > 0 { k as f64 * w[j][k - 1] } else { 0.0 };
                w[j][k] = (x * w[j][k] - lower) / distance;
            }
        }
        product = scale;
    }
    let sum = |k: usize| -> f64 { w.iter().zip(&values[first..]).map(|(w, x)| w[k] * x).sum() };
    [sum(1) / dt, sum(2) / (dt * dt)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_of_a_sixth_power_are_exact() {
        let dt = 0.1;
        let values: Vec<f64> = (0..12).map(|i| (f64::from(i) * dt).powi(6)).collect();
        for i in 0..12 {
            let t = i as f64 * dt;
            let [v, a] = derivatives(&values, i, dt);
            assert!((v - 6.0 * t.powi(5)).abs() < 1e-11, "{i}: {v}");
            assert!((a - 30.0 * t.powi(4)).abs() < 1e-9, "{i}: {a}");
        }
    }
}
