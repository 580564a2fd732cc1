//! Motion in the physics simulation: feedback alone, with feed-forward, and with feed-forward for a wrong payload.

use std::sync::Arc;

use anyhow::{Result, bail};
use karakuri_control::nodal::Scheme;
use karakuri_model::Drive;
use karakuri_physics::{StepOutcome, World, WorldSettings};
use serde::{Deserialize, Serialize};

use super::samples::Samples;

/// Mass of the wrong payloads over that of the right ones. [-]
const WRONG_MASS: f64 = 0.8;

/// Speed below which the compensation of dry friction is reduced in proportion. [rad/s or m/s]
const FRICTION_SPEED: f64 = 0.01;

/// Gains of the position feedback of all driven joints; those of the robot's own drives where they are not given.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Feedback {
    /// Stiffness of the feedback. [N·m/rad or N/m]
    stiffness: Option<f64>,
    /// Damping of the feedback. [N·m·s/rad or N·s/m]
    damping: Option<f64>,
}

/// Results of one run.
#[derive(Debug, Serialize)]
pub(super) struct Run {
    pub(super) name: &'static str,
    /// Largest distance of a driven joint from its target. [rad or m]
    pub(super) peak_error: f64,
    /// Largest distance of each sample. [rad or m]
    #[serde(skip)]
    pub(super) errors: Vec<f64>,
}

/// Results of the three runs; the last only where there are payloads.
pub(super) fn runs(scheme: &Scheme, samples: &Samples, gains: Feedback) -> Result<Vec<Run>> {
    let nv = scheme.mechanism.model.nv;
    let n = samples.q.len() / scheme.mechanism.model.nq;
    let torques = with_friction(scheme, samples, scheme.torques(&samples.target())?.tau);
    let mut runs = vec![
        run("feedback alone", scheme, samples, gains, &vec![0.0; n * nv])?,
        run("with feed-forward", scheme, samples, gains, &torques)?,
    ];
    if !scheme.mechanism.payloads.is_empty() {
        let mut wrong = scheme.clone();
        for payload in &mut wrong.mechanism.payloads {
            payload.mass *= WRONG_MASS;
        }
        let torques = with_friction(scheme, samples, wrong.torques(&samples.target())?.tau);
        runs.push(run("feed-forward, payload 20 % wrong", scheme, samples, gains, &torques)?);
    }
    Ok(runs)
}

/// Adds the dry friction of driven joints to their efforts.
fn with_friction(scheme: &Scheme, samples: &Samples, mut tau: Vec<f64>) -> Vec<f64> {
    let m = &scheme.mechanism;
    let nv = m.model.nv;
    for (tau, v) in tau.chunks_exact_mut(nv).zip(samples.v.chunks_exact(nv)) {
        for joint in m.model.joints.iter().filter(|j| j.kind.nv() == 1 && m.driven[j.v_start]) {
            let k = joint.v_start;
            tau[k] += joint.friction * (v[k] / FRICTION_SPEED).clamp(-1.0, 1.0);
        }
    }
    tau
}

fn run(
    name: &'static str,
    scheme: &Scheme,
    samples: &Samples,
    gains: Feedback,
    torques: &[f64],
) -> Result<Run> {
    let m = &scheme.mechanism;
    let model = Arc::new(m.loaded_model());
    let (nq, nv) = (model.nq, model.nv);
    let gravity = m.gravity;
    let mut world =
        World::new(WorldSettings { dt: samples.dt, gravity, ..WorldSettings::default() });
    let robot = world.add_robot("mechanism", Arc::clone(&model), &samples.q[..nq])?;
    world.set_robot_state(robot, &samples.q[..nq], &samples.v[..nv])?;
    let mut errors = vec![0.0];
    let n = samples.q.len() / nq;
    for next in 1..n {
        let drives = world.drive_mut(robot);
        for joint in model.joints.iter().filter(|j| j.kind.nv() == 1) {
            let k = joint.v_start;
            drives.enabled[k] = m.driven[k];
            drives.position[k] = samples.q[next * nq + joint.q_start];
            drives.velocity[k] = samples.v[next * nv + k];
            drives.effort[k] = torques[(next - 1) * nv + k];
            let own = joint.drive.unwrap_or(Drive { stiffness: 0.0, damping: 0.0 });
            drives.stiffness[k] = gains.stiffness.unwrap_or(own.stiffness);
            drives.damping[k] = gains.damping.unwrap_or(own.damping);
        }
        if let StepOutcome::NonFinite(culprit) = world.step() {
            bail!("{name}: the simulation fails at t = {} s: {culprit:?}", world.time());
        }
        let q = world.robot(robot).q();
        let distance = |joint: &karakuri_model::Joint| {
            (q[joint.q_start] - samples.q[next * nq + joint.q_start]).abs()
        };
        let driven = model.joints.iter().filter(|j| j.kind.nv() == 1 && m.driven[j.v_start]);
        errors.push(driven.map(distance).fold(0.0, f64::max));
    }
    let peak_error = errors.iter().copied().fold(0.0, f64::max);
    Ok(Run { name, peak_error, errors })
}
