//! Readings of a robot's sensors, averaged over the step as real ones are, and disturbed where they have noise.
//!
//! Wrenches are those of the step's impulses, specific forces those of its change of velocity, and rates are the ones
//! that positions moved with.

use karakuri_dynamics::{
    frame_acceleration, frame_pose, frame_velocity, rnea_at_velocity, update_velocities,
};
use karakuri_model::SensorKind;
use karakuri_spatial::{Force, Vector3};

use crate::constraint::ConstraintSet;
use crate::constraint::contact::Contact;
use crate::constraint::kind::{BodyImpulse, Solved};
use crate::state::collider::Attachment;
use crate::state::imu::Imu;
use crate::state::mover::{Mover, Owner};
use crate::state::robot::Robot;

/// Surroundings that act on a robot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    pub(crate) constraints: &'a ConstraintSet,
    /// Attachment of every collider.
    pub(crate) attachments: &'a [Option<Attachment>],
}

/// Reads all sensors of robot `index` after a step from the rates `robot.v` to `after`. Needs the kinematics of the
/// step's start.
pub(crate) fn read(robot: &mut Robot, index: usize, surroundings: Surroundings, solved: &Solved) {
    let Surroundings { constraints, attachments } = surroundings;
    let h = solved.h;
    let after = &solved.problem.velocity[robot.start..robot.start + robot.v.len()];
    if robot.model.sensors.is_empty() {
        return;
    }
    let model = std::sync::Arc::clone(&robot.model);
    let on_robot = contact_forces(index, &constraints.contacts.active, attachments, h);
    // Contact wrenches are sums of impulses: robots with no other sensors are spared the dynamics.
    if model.sensors.iter().any(|s| s.kind != SensorKind::ContactWrench) {
        for ((a, after), before) in robot.acceleration.iter_mut().zip(after).zip(&robot.v) {
            // Mean over the step, impacts included, as a sensor with a bandwidth below 1/h sees it.
            *a = (after - before) / h;
        }
        // Wrenches from outside, at the origins of the bodies' frames: applied ones, contacts, other constraints.
        robot.external.copy_from_slice(&robot.applied);
        for (_, body, F, point) in on_robot.clone() {
            let arm = point - robot.data.pose_in_world[body].translation;
            robot.external[body] += Force::new(F.moment + arm.cross(&F.force), F.force);
        }
        let Robot { data, external, .. } = &mut *robot;
        for (_, kind) in constraints.between_movers() {
            kind.visit_impulses_on(index, &mut |BodyImpulse { body, point, impulse }| {
                let arm = point - data.pose_in_world[body.0].translation;
                let F = impulse * (1.0 / h);
                external[body.0] += Force::new(F.moment + arm.cross(&F.force), F.force);
            });
        }
        // At the rates of the step's start, as the step itself: its impulses balance exactly.
        let before = std::mem::take(&mut robot.v);
        update_velocities(&model, &mut robot.data, &before);
        rnea_at_velocity(&model, &mut robot.data, &before, &robot.acceleration, &robot.external);
        // What the first pass leaves in the efforts are the loops' impulses; the second has them as wrenches.
        if !robot.loops.is_empty() {
            robot.add_loop_reactions(after, h);
            let acceleration = &robot.acceleration;
            rnea_at_velocity(&model, &mut robot.data, &before, acceleration, &robot.external);
        }
        robot.v = before;
    }
    for (i, sensor) in model.sensors.iter().enumerate() {
        let X_WS = frame_pose(&model, &robot.data, sensor.frame);
        match sensor.kind {
            // At the sensor's origin, in its link's axes.
            SensorKind::ContactWrench => {
                let mut total = Force::default();
                for (_, _, F, point) in
                    on_robot.clone().filter(|(frame, ..)| *frame == sensor.frame)
                {
                    let arm = point - X_WS.translation;
                    total += Force::new(F.moment + arm.cross(&F.force), F.force);
                }
                let R = X_WS.rotation;
                robot.wrenches[i] = Force::new(R.tr_mul(&total.moment), R.tr_mul(&total.force));
            }
            SensorKind::JointWrench => {
                let Some(body) = model.frames[sensor.frame.0].body else { continue };
                let F = robot.data.joint_force[body.0];
                // Joint forces are about the origin of the tree's spatial vectors.
                let arm = robot.data.origin - X_WS.translation;
                let R = X_WS.rotation;
                robot.wrenches[i] =
                    Force::new(R.tr_mul(&(F.moment + arm.cross(&F.force))), R.tr_mul(&F.force));
            }
            SensorKind::Imu => {}
        }
    }
    // Last, as it leaves the rates of the step's end in the data.
    read_imus(robot, after);
    let Robot { noises, wrenches, imus, .. } = robot;
    for (i, noise) in noises.iter_mut().enumerate() {
        let Some(noise) = noise else { continue };
        if model.sensors[i].kind == SensorKind::Imu {
            noise.disturb_imu(&mut imus[i], h);
        } else {
            noise.disturb_wrench(&mut wrenches[i], h);
        }
    }
}

/// Inertial sensors, with the rates at the step's end.
fn read_imus(robot: &mut Robot, after: &[f64]) {
    let model = std::sync::Arc::clone(&robot.model);
    if model.sensors.iter().all(|s| s.kind != SensorKind::Imu) {
        return;
    }
    update_velocities(&model, &mut robot.data, after);
    rnea_at_velocity(&model, &mut robot.data, after, &robot.acceleration, &robot.external);
    let imus = model.sensors.iter().enumerate().filter(|(_, s)| s.kind == SensorKind::Imu);
    for (i, sensor) in imus {
        let X_WS = frame_pose(&model, &robot.data, sensor.frame);
        let R = X_WS.rotation;
        let acceleration = frame_acceleration(&model, &robot.data, sensor.frame).linear;
        robot.imus[i] = Imu {
            orientation: X_WS.quaternion(),
            angular_velocity: R.tr_mul(&frame_velocity(&model, &robot.data, sensor.frame).angular),
            // Specific force `a − g`: at rest an accelerometer shows the normal force.
            linear_acceleration: R.tr_mul(&(acceleration - robot.data.gravity)),
        };
    }
}

impl Robot {
    /// Adds the reactions of loop joints to `external`: the rest of the step's inverse dynamics, in `data.effort`, without
    /// drives, dampers, limits and dry friction. Springs count as the loops'.
    fn add_loop_reactions(&mut self, after: &[f64], h: f64) {
        let model = std::sync::Arc::clone(&self.model);
        // `τ_ID + diag(armature) v̇ + B v' − τ − (rows)/h`: what only the loops can give.
        for (k, residual) in self.residual.iter_mut().enumerate() {
            let own = self.impulses[k];
            *residual = self.data.effort[k]
                + self.armature[k] * self.acceleration[k]
                + self.joint_damping[k] * after[k]
                - self.efforts[k]
                - (own.friction + own.lower + own.upper + own.speed + own.other) / h;
        }
        let Self { loops, data, factor, residual, external, .. } = self;
        loops.add_reactions(&model, data, factor, residual, external);
    }
}

/// Link, body, mean wrench on it about the point [N·m; N] and the point [m], of every contact of robot `index` that moves.
fn contact_forces<'a>(
    index: usize,
    contacts: &'a [Contact],
    attachments: &'a [Option<Attachment>],
    h: f64,
) -> impl Iterator<Item = (karakuri_model::FrameId, usize, Force, Vector3)> + Clone + 'a {
    contacts.iter().flat_map(move |contact| {
        [(contact.a, -1.0), (contact.b, 1.0)].into_iter().filter_map(move |(collider, sign)| {
            match attachments[collider.0] {
                Some(Attachment {
                    owner: Owner::Link { frame, .. },
                    mover: Mover::Robot { robot, body },
                    ..
                }) if robot == index => {
                    let wrench = Force::new(contact.moment, contact.impulse) * (sign / h);
                    Some((frame, body.0, wrench, contact.point()))
                }
                _ => None,
            }
        })
    })
}
