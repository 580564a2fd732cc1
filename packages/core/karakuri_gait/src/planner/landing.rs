//! Landing control: feet with force sensors yield to pressure, and seek the floor where it is lower than planned.
//!
//! A foot that is pressed while it still comes down on something higher than planned (by attitude and joints, lest a lean be
//! taken for it) comes down no further (early landing); one that should stand and is not pressed goes on down (late landing).
//! Its sole yields to the moment about the desired ZMP in it, as a damper with a weak spring:
//! `θ̇ = k ω (M − M_ref)/(m g z_c) − θ/T`, for a while after it touched; then `k` is 0. `k` decreases with the distance of the
//! divergent component from its plan, to 0 where steps react: a pushed robot needs stiff ankles. In the air both decay.
//! Heights and tilts go to the legs' joints by their Jacobian. [Kajita 2010]
//!
//! Sole frames; SI.

#[cfg(test)]
mod tests;

use karakuri_dynamics::{Data, forward_kinematics, frame_jacobian, frame_pose};
use karakuri_spatial::{Force, Matrix6, Vector3, Vector6};
use nalgebra::Matrix6xX;
use serde::Serialize;

use super::biped::Biped;
use super::sample::Sample;
use super::settings::{StabilizerSettings, WalkSettings};
use super::side::{Side, Support};
use super::targets::JointTargets;

/// Part of the weight that counts as contact. [-]
const TOUCH: f64 = 0.03;
/// Share of the weight above which a foot that feels nothing seeks the floor. [-]
// Early in double support a foot is to carry little and may feel nothing, though it stands.
const MISSING: f64 = 0.2;
/// Time constant by which the corrections decay in the air, by `1/ω`. [-]
// 26 ms for khr1, a fifteenth of its swing: the foot is where it was planned long before it lands.
const FORGETTING: f64 = 0.2;
/// Largest tilt of a sole. [rad]
// A bump of 10 mm under the edge of a sole 0.1 m long asks for half of it.
const STEEPEST: f64 = 0.2;
/// Damping of the Jacobian's inverse, lengths by the height of the centre of mass. [-]
const DAMPING: f64 = 1e-6;

/// Deviation of a foot from its plan.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub(super) struct Yielded {
    /// Height above the plan. [m]
    pub(super) height: f64,
    /// Roll and pitch of the sole. [rad] (2)
    pub(super) tilt: [f64; 2],
}

/// Measured contact, and its plan.
#[derive(Debug)]
pub(super) struct FeltContact<'a> {
    /// Wrenches of the feet's sensors. (2)
    pub(super) wrenches: &'a [Force; 2],
    /// Height of each sole over the other one: measured, and where both stand by plan. [m] (2)
    pub(super) step: [f64; 2],
    pub(super) planned_step: [f64; 2],
    /// Shift of the desired ZMP from its reference. [m] (2)
    pub(super) zmp_shift: [f64; 2],
    /// Measured divergent component less the planned one. [m] (2)
    pub(super) dcm_error: [f64; 2],
}

/// Landing control of both feet.
#[derive(Debug, Clone)]
pub(super) struct Landing {
    omega: f64,
    com_height: f64,
    weight: f64,
    /// ZMP at rest in the left sole: forward, outward. [m] (2)
    rest: [f64; 2],
    highest: f64,
    period: f64,
    pub(super) feet: [Yielded; 2],
    /// Time since each foot touched. [s] (2)
    touched: [f64; 2],
    data: Data,
    jacobian: Matrix6xX<f64>,
    /// Change that was last added to the joints. [rad or m] (nv)
    change: Vec<f64>,
}

impl Landing {
    pub(super) fn new(biped: &Biped, settings: &WalkSettings, omega: f64) -> Self {
        let model = &biped.model;
        Self {
            omega,
            com_height: settings.com_height,
            weight: model.mass() * settings.gravity,
            rest: settings.zmp_in_sole,
            highest: settings.step_height,
            period: settings.period,
            feet: [Yielded::default(); 2],
            touched: [0.0; 2],
            data: Data::new(model),
            jacobian: Matrix6xX::zeros(model.nv),
            change: vec![0.0; model.nv],
        }
    }

    /// Moves the feet by the pressure on their soles.
    pub(super) fn feel(
        &mut self,
        biped: &Biped,
        gains: &StabilizerSettings,
        [plan, next]: [&Sample; 2],
        felt: &FeltContact<'_>,
        dt: f64,
    ) {
        // The softness of the soles falls to 0 where the error of ξ is large enough for a step.
        let settings = &gains.landing;
        // `least` may be 0, steps reacting to any error: then soles never yield.
        let pushed = felt.dcm_error[0].hypot(felt.dcm_error[1]) / gains.steps.least.max(1e-9);
        let soft = (1.0 - pushed).max(0.0);
        for side in Side::BOTH {
            let i = side.index();
            let Some(sensor) = &biped.legs[i].sensor else { continue };
            let F = sensor.sensor_in_sole.transform_force(&felt.wrenches[i]);
            // A sole cannot pull: below zero is noise of the sensor.
            let load = F.force.z.max(0.0) / self.weight;
            // The planned rate of the sole: negative while it comes down.
            let sinks = (next.soles[i].translation.z - plan.soles[i].translation.z) / self.period;
            let foot = &mut self.feet[i];
            // In the air, and not on something during the descent: the corrections decay.
            if !plan.support.stands(side) && (sinks >= 0.0 || load < TOUCH) {
                let kept = (-dt * self.omega / FORGETTING).exp();
                foot.height *= kept;
                foot.tilt = foot.tilt.map(|angle| angle * kept);
                self.touched[i] = 0.0;
                continue;
            }
            self.touched[i] += dt;
            // Height of the floor under the sole over the plan, by attitude and joints; a walker that only leans finds none.
            let height = felt.step[i] - felt.planned_step[i];
            let is_missed = load < TOUCH && plan.loads()[i] > MISSING && height < 0.0;
            // Early contact cancels the descent, a missing one continues it, and a single support returns to the plan.
            let rate = if !plan.support.stands(side) {
                if foot.height < height { -sinks } else { 0.0 }
            } else if is_missed {
                -settings.seek * self.omega * self.com_height
            } else if plan.support == Support::One(side) {
                -foot.height / settings.time
            } else {
                0.0
            };
            // Heights as planned with `seek: 0`, early contacts included.
            let on = f64::from(u8::from(settings.seek > 0.0));
            foot.height = (foot.height + on * dt * rate).clamp(-self.highest, self.highest);
            // Moment about the desired ZMP in the sole, less a rim: `M − M_ref`.
            let shift = plan.soles[i].rotation.tr_mul(&Vector3::new(
                felt.zmp_shift[0],
                felt.zmp_shift[1],
                0.0,
            ));
            let outline = &biped.legs[i].outline;
            let within =
                |x: f64, [low, high]: [f64; 2]| x.min(high - gains.rim).max(low + gains.rim);
            let x = within(self.rest[0] + shift.x, outline.x);
            let y = within(side.sign() * self.rest[1] + shift.y, outline.y);
            // Moved to the point (x, y) of the sole: `M − p × F`; forces along the sole have no lever there.
            let error = [F.moment.x - y * F.force.z, F.moment.y + x * F.force.z];
            // `θ̇ = k ω (M − M_ref)/(m g z_c) − θ/T`.
            // Only just after contact: a walker that is pushed later needs stiff ankles.
            let settles = self.touched[i] * self.omega < settings.settling;
            let tilt = if settles { settings.tilt * soft } else { 0.0 };
            let give = tilt * self.omega / (self.weight * self.com_height);
            for (angle, error) in foot.tilt.iter_mut().zip(error) {
                let rate = give * error - *angle / settings.time;
                *angle = (*angle + dt * rate).clamp(-STEEPEST, STEEPEST);
            }
        }
    }

    /// Moves the joints' targets so that the feet have their heights and tilts.
    pub(super) fn write(&mut self, biped: &Biped, dt: f64, targets: &mut JointTargets) {
        let model = &biped.model;
        forward_kinematics(model, &mut self.data, &targets.position);
        for (leg, foot) in biped.legs.iter().zip(&self.feet) {
            frame_jacobian(model, &self.data, leg.foot, &mut self.jacobian);
            let X_WSole = frame_pose(model, &self.data, leg.foot) * leg.sole_in_foot;
            let [roll, pitch] = foot.tilt;
            // Turn and shift of the foot's frame: the sole tilts about its own origin and goes up by the height.
            let turn = X_WSole.rotation * Vector3::new(roll, pitch, 0.0);
            // The Jacobian is of the foot link's origin, from which the sole hangs.
            let arm = X_WSole.rotation * -leg.sole_in_foot.translation;
            let shift = (Vector3::new(0.0, 0.0, foot.height) + turn.cross(&arm)) / self.com_height;
            // Damped least squares over the leg's joints, `δ = Jᵀ (J Jᵀ + λ 1)⁻¹ d`, lengths by the height of the centre of mass.
            // Legs with five joints reach five of the six directions: without damping `J Jᵀ` has no factor.
            let mut normal = Matrix6::identity() * DAMPING;
            let column = |v: usize| {
                let mut column: Vector6 = self.jacobian.column(v).into();
                column.fixed_rows_mut::<3>(3).scale_mut(1.0 / self.com_height);
                column
            };
            let columns = leg.joints.iter().map(|j| column(model.joints[j.0].v_start));
            for column in columns.clone() {
                normal.ger(1.0, &column, &column, 1.0);
            }
            let desired = Vector6::new(turn.x, turn.y, turn.z, shift.x, shift.y, shift.z);
            let Some(factor) = normal.cholesky() else { continue };
            let solved = factor.solve(&desired);
            for (j, column) in leg.joints.iter().zip(columns) {
                let joint = &model.joints[j.0];
                let change = column.dot(&solved);
                targets.position[joint.q_start] += change;
                // The servo's damper would else work against the correction.
                targets.velocity[joint.v_start] += (change - self.change[joint.v_start]) / dt;
                self.change[joint.v_start] = change;
            }
        }
    }
}
