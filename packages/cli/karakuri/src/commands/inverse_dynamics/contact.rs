//! Motion in the physics simulation with real contacts: arms that push a wall, or hold a box between their tips.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Result, bail};
use karakuri_control::nodal::Scheme;
use karakuri_dynamics::{Data, forward_kinematics};
use karakuri_model::{BodyId, Model, Shape};
use karakuri_physics::{BodyDescription, StepOutcome, World, WorldSettings};
use karakuri_spatial::{Pose, Vector3};
use serde::{Deserialize, Serialize};

use super::samples::Samples;

/// Time until the hold has settled. [s]
const SETTLING: f64 = 0.3;
/// Time over which the force is averaged: in single steps a contact may part by nanometres. [s]
const MEAN: f64 = 0.02;

/// Contacts of a motion: balls on links, and a box.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContactPart {
    /// Stiffness of the position feedback of all driven joints. [N·m/rad or N/m]
    stiffness: f64,
    /// Damping of the position feedback. [N·m·s/rad or N·s/m]
    damping: f64,
    /// Friction coefficient between balls and box. [-]
    pub(super) friction: f64,
    /// Balls at the tips, by link.
    pub(super) tips: BTreeMap<String, BallPart>,
    #[serde(rename = "box")]
    pub(super) object: BoxPart,
    /// Direction along which the contact forces are compared, in world axes. (3)
    along: [f64; 3],
    /// Desired force of each tip. [N]
    pub(super) force: f64,
}

/// Ball on a link.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BallPart {
    /// Centre of the ball in the link. [m] (3)
    #[serde(default)]
    pub(super) at: [f64; 3],
    /// Radius of the ball. [m]
    pub(super) radius: f64,
}

/// Box that the balls touch.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BoxPart {
    /// Edge lengths. [m] (3)
    size: [f64; 3],
    /// Position at which it is fixed. [m] (3)
    #[serde(default)]
    at: [f64; 3],
    /// Link of the mechanism that the box stands for; in the simulation it is free.
    pub(super) link: Option<String>,
}

/// Simulation with contacts: its settings and the model of the arms.
#[derive(Debug)]
pub(super) struct Contact {
    pub(super) part: ContactPart,
    /// Arms with their balls, without the object.
    pub(super) arms: Arc<Model>,
    /// Mass of the object in the mechanism. [kg]
    pub(super) mass: f64,
}

impl Contact {
    /// Description of the simulation with contacts, and of its numbers.
    pub(super) fn describe(&self) -> String {
        let ContactPart { force, friction, stiffness, damping, .. } = &self.part;
        let object = match &self.part.object.link {
            Some(link) => format!("`{link}`, {:.3} kg, free and held by friction alone", self.mass),
            None => "a fixed box".to_owned(),
        };
        format!(
            "In the physics simulation with real contacts: {} ball(s) press {object} with {force} N each at a friction coefficient of \
             {friction}; feedback of {stiffness} N·m/rad and {damping} N·m·s/rad, no force feedback. Largest errors after 0.3 s over the \
             desired force, and the largest distance of a free object from its target:\n",
            self.part.tips.len()
        )
    }
}

/// Results of one run.
#[derive(Debug, Serialize)]
pub(super) struct Press {
    pub(super) name: &'static str,
    /// Largest error of the force's mean over 20 ms, after 0.3 s, over the desired force. [-]
    pub(super) largest_force_error: f64,
    /// Root mean square of the error in single steps, after 0.3 s, over the desired force. [-]
    pub(super) rms_force_error: f64,
    /// Largest distance of a free object from its target. [m]
    pub(super) largest_distance: Option<f64>,
    /// Mean contact forces over time. [N]
    #[serde(skip)]
    pub(super) forces: Vec<f64>,
}

/// Runs with the scheme's torques, and with feedback alone.
pub(super) fn runs(scheme: &Scheme, samples: &Samples, contact: &Contact) -> Result<Vec<Press>> {
    let torques = scheme.torques(&samples.target())?.tau;
    let nothing = vec![0.0; torques.len()];
    Ok(vec![
        run("with feed-forward", scheme, samples, contact, &torques)?,
        run("feedback alone", scheme, samples, contact, &nothing)?,
    ])
}

fn run(
    name: &'static str,
    scheme: &Scheme,
    samples: &Samples,
    contact: &Contact,
    torques: &[f64],
) -> Result<Press> {
    let (m, part, arms) = (&scheme.mechanism, &contact.part, &contact.arms);
    let (nq, nv) = (m.model.nq, m.model.nv);
    // Joints of the mechanism with the names of the arms' joints.
    let same: Vec<&karakuri_model::Joint> = arms
        .joints
        .iter()
        .filter_map(|joint| m.model.joint(&joint.name))
        .map(|id| &m.model.joints[id.0])
        .collect();
    let q_at = |i: usize| same.iter().map(move |j| samples.q[i * nq + j.q_start]);
    let settings = WorldSettings { dt: samples.dt, gravity: m.gravity, ..WorldSettings::default() };
    let mut world = World::new(settings);
    let start: Vec<f64> = q_at(0).collect();
    let robot = world.add_robot("arms", Arc::clone(arms), &start)?;
    let object = part.object.link.as_deref().and_then(|link| m.model.body(link));
    let mut data = Data::new(&m.model);
    let mut target = |i: usize, BodyId(body): BodyId| {
        forward_kinematics(&m.model, &mut data, &samples.q[i * nq..(i + 1) * nq]);
        data.pose_in_world[body]
    };
    let fixed = Pose::from_translation(Vector3::from(part.object.at));
    let pose = object.map_or(fixed, |body| target(0, body));
    let id = world.add_body(description(contact, pose, object.is_none()))?;
    let along = Vector3::from(part.along);
    let (mut forces, mut distance) = (Vec::new(), 0.0_f64);
    for next in 1..samples.q.len() / nq {
        let drives = world.drive_mut(robot);
        for (joint, same) in arms.joints.iter().zip(&same) {
            let (k, k_same) = (joint.v_start, same.v_start);
            drives.enabled[k] = m.driven[k_same];
            drives.position[k] = samples.q[next * nq + same.q_start];
            drives.velocity[k] = samples.v[next * nv + k_same];
            drives.effort[k] = torques[(next - 1) * nv + k_same];
            (drives.stiffness[k], drives.damping[k]) = (part.stiffness, part.damping);
        }
        if let StepOutcome::NonFinite(culprit) = world.step() {
            bail!("{name}: the simulation fails at t = {} s: {culprit:?}", world.time());
        }
        let force: f64 = world.contacts().map(|c| c.force.dot(&along).abs()).sum();
        forces.push(force / part.tips.len() as f64);
        if let Some(body) = object {
            let displacement = world.body(id).pose().translation - target(next, body).translation;
            distance = distance.max(displacement.norm());
        }
    }
    let settled = steps(SETTLING, samples.dt).min(forces.len());
    let errors: Vec<f64> =
        forces[settled..].iter().map(|f| (f - part.force) / part.force).collect();
    let squares: f64 = errors.iter().map(|e| e * e).sum();
    let window = steps(MEAN, samples.dt).max(1);
    let mean = |run: &[f64]| run.iter().sum::<f64>() / run.len() as f64;
    Ok(Press {
        name,
        largest_force_error: errors.windows(window).map(|w| mean(w).abs()).fold(0.0, f64::max),
        rms_force_error: (squares / errors.len() as f64).sqrt(),
        largest_distance: object.map(|_| distance),
        forces: forces.windows(window).map(mean).collect(),
    })
}

/// Description of the box as a body of the world.
fn description(contact: &Contact, pose: Pose, fixed: bool) -> BodyDescription {
    BodyDescription {
        friction: contact.part.friction,
        fixed,
        ..BodyDescription::new(
            "box",
            Shape::Box { size: Vector3::from(contact.part.object.size) },
            if fixed { 1.0 } else { contact.mass },
            pose,
        )
    }
}

/// Count of steps in a time [s], rounded.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]
fn steps(time: f64, dt: f64) -> usize {
    (time / dt).round() as usize
}
