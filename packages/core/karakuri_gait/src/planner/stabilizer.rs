//! Stabiliser: feedback from the measured divergent component to the planned one, by the ankles.
//!
//! Estimate: attitude from the inertial sensor, joints from encoders, the standing sole where it was planned; hence
//! `c`, `ċ`, `ξ = c + ċ/ω`. Desired ZMP `p = p_ref + (1 + k) (ξ − ξ_ref)`, inside the soles less a rim. The ankles of the
//! feet that stand press with the moment that moves the centre of pressure there: `M = −(p − p_ref) × F`, as the floor answers
//! with its opposite. On top, a damping
//! moment against the rate of the trunk's lean. [Kajita 2010], [Englsberger 2015]
//!
//! Servos without a torque input take the moment as a shift of their target, `τ / K`: [`with_servo_sag`].

use core::f64::consts::PI;

use karakuri_dynamics::{Data, center_of_mass, centroidal_momentum, frame_pose, frame_velocity};
use karakuri_model::{BodyId, JointKind};
use karakuri_spatial::{Force, Matrix3, Pose, UnitQuaternion, Vector3};

use super::biped::Biped;
use super::capture::Capture;
use super::sample::Sample;
use super::settings::{StabilizerSettings, WalkSettings};
use super::side::Side;
use crate::geometry::ConvexPolygon;

/// Measured state of a robot.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'a> {
    /// Joint positions; the base's entries are not read. [rad or m] (nq)
    pub q: &'a [f64],
    /// Joint rates; the base's entries are not read. [rad/s or m/s] (nv)
    pub v: &'a [f64],
    /// Attitude of the root link from the inertial sensor, `R_WB`.
    pub orientation: UnitQuaternion,
    /// Angular velocity of the root link, in its axes. [rad/s] (3)
    pub angular_velocity: Vector3,
    /// Wrenches of the feet's sensors ([`super::FootSensor`]), left and right, where both have one. [N·m; N] (2)
    pub feet: Option<[Force; 2]>,
}

/// Output of the stabiliser, with the errors behind it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Correction {
    /// Measured divergent component less the planned one. [m] (2)
    pub dcm_error: [f64; 2],
    /// Measured divergent component. [m] (2)
    pub dcm: [f64; 2],
    /// Desired ZMP, inside the soles. [m] (2)
    pub zmp: [f64; 2],
    /// Roll and pitch of the root link beyond what was planned. [rad] (2)
    pub lean: [f64; 2],
    /// Rates of roll and pitch of the root link. [rad/s] (2)
    pub lean_rate: [f64; 2],
    /// Measured centre of mass less the planned one. [m] (2)
    pub com_error: [f64; 2],
    /// Heading, the first reading being the planned one; full turns count. [rad]
    pub heading: f64,
    /// Efforts to be added to the planned ones. [N·m or N] (nv)
    pub effort: Vec<f64>,
    /// Capturability of the measured ξ.
    pub capture: Option<Capture>,
}

/// Stabiliser of a walk, with its memory.
#[derive(Debug, Clone)]
pub struct Stabilizer {
    /// Gains, which may change while walking.
    pub settings: StabilizerSettings,
    omega: f64,
    com_height: f64,
    weight: f64,
    mass: f64,
    data: Data,
    q: Vec<f64>,
    v: Vec<f64>,
    /// Last two joints of each leg, left and right.
    ankles: [[BodyId; 2]; 2],
    error: Option<[f64; 2]>,
    /// Hull of the soles that stand. [m]
    pub(super) polygon: ConvexPolygon,
    /// Height of the left sole over the right one, as measured. [m]
    pub(super) step: f64,
    /// Last yaw of the sensor, and the heading. [rad]
    heading: Option<(f64, f64)>,
}

impl Stabilizer {
    pub(super) fn new(biped: &Biped, settings: &WalkSettings, omega: f64) -> Self {
        let model = &biped.model;
        let mass = model.mass();
        Self {
            settings: settings.stabilizer,
            omega,
            com_height: settings.com_height,
            weight: mass * settings.gravity,
            mass,
            data: Data::new(model),
            q: model.neutral_position(),
            v: vec![0.0; model.nv],
            ankles: biped.legs.each_ref().map(|leg| {
                let n = leg.joints.len();
                // Roll and pitch of the ankle, in whatever order: each takes its axis' component of the moment.
                [leg.joints[n - 2], leg.joints[n - 1]]
            }),
            error: None,
            polygon: ConvexPolygon::default(),
            step: 0.0,
            heading: None,
        }
    }

    /// Takes up that the plan's divergent component has moved. [m] (2)
    pub(super) fn move_plan(&mut self, by: [f64; 2]) {
        if let Some(error) = &mut self.error {
            *error = [error[0] - by[0], error[1] - by[1]];
        }
    }

    /// Computes the correction of the plan from what is measured.
    pub(super) fn correct(
        &mut self,
        biped: &Biped,
        plan: &Sample,
        measured: &Measured<'_>,
        dt: f64,
        correction: &mut Correction,
    ) {
        let model = &biped.model;
        correction.effort.clear();
        correction.effort.resize(model.nv, 0.0);
        let R_WB = self.attitude(plan, measured, correction);
        let loads = plan.loads();
        let (com, velocity) = self.estimate(biped, plan, measured, &R_WB, &loads);
        let (gains, omega) = (self.settings, self.omega);
        // The desired ZMP, `p + (1 + k)(ξ − ξ_ref)` with `ξ = c + ċ/ω`; the error is low-pass filtered.
        let mut desired = plan.zmp;
        let mut filtered = self.error.unwrap_or([0.0; 2]);
        // Backward Euler of a first-order low pass: stable at any rate of the readings.
        let part = dt / (gains.filter + dt);
        for axis in 0..2 {
            correction.com_error[axis] = com[axis] - plan.com[axis];
            correction.dcm[axis] = com[axis] + velocity[axis] / omega;
            let planned = plan.com[axis] + plan.com_velocity[axis] / omega;
            let error = correction.dcm[axis] - planned;
            // Low-pass: ξ contains `ċ/ω`, and with it the noise of joint rates and gyroscope.
            filtered[axis] += part * (error - filtered[axis]);
            desired[axis] += (1.0 + gains.dcm) * filtered[axis];
        }
        self.error = Some(filtered);
        correction.dcm_error = filtered;
        let standing = Side::BOTH.into_iter().zip(plan.soles);
        let standing = standing.filter(|(side, _)| loads[side.index()] > 0.0);
        biped.fit_support(standing, &mut self.polygon);
        // Beyond the soles a desired ZMP cannot be had: the sole would turn about its edge.
        correction.zmp = self.polygon.nearest(desired, gains.rim);
        let shift = [correction.zmp[0] - plan.zmp[0], correction.zmp[1] - plan.zmp[1]];
        // Roll and pitch rates about the walker's own forward and left axes.
        // The gyroscope measures in the root link's axes, moments are in the world's.
        let rate = R_WB * measured.angular_velocity;
        let (sin, cos) = R_WB.m21.atan2(R_WB.m11).sin_cos();
        correction.lean_rate = [cos * rate.x + sin * rate.y, cos * rate.y - sin * rate.x];
        // `k m g z_c/ω`: the unit of moment over rate that walkers of all sizes share.
        let damping = gains.rate * self.weight * self.com_height / omega;
        // The ankles move the centre of pressure by `shift`: the moment of the weight over it, and a damper of the lean's rate.
        let moment = Vector3::new(
            // On the foot, against the floor's `shift × F`: to bring the pressure forward the toes are pressed down, about +y.
            -self.weight * shift[1] + damping * rate.x,
            self.weight * shift[0] + damping * rate.y,
            0.0,
        ) * gains.ankle;
        // Each ankle joint bears its axis' component of the moment, by the share of weight that its foot carries.
        for side in Side::BOTH {
            for joint in self.ankles[side.index()] {
                let JointKind::Revolute { axis } = model.joints[joint.0].kind else { continue };
                let axis = self.data.pose_in_world[joint.0].transform_vector(&axis);
                correction.effort[model.joints[joint.0].v_start] +=
                    loads[side.index()] * axis.dot(&moment);
            }
        }
    }

    /// Attitude with measured roll and pitch and the planned yaw; writes the measured heading and lean. (3×3)
    fn attitude(
        &mut self,
        plan: &Sample,
        measured: &Measured<'_>,
        correction: &mut Correction,
    ) -> Matrix3 {
        let planned = Pose::from_quaternion(&quaternion(&plan.q[3..7]), Vector3::zeros());
        let (roll, pitch, yaw) = measured.orientation.euler_angles();
        let [planned_roll, planned_pitch, planned_yaw] = planned.rpy();
        let (last, heading) = self.heading.unwrap_or((yaw, planned_yaw));
        // The change of yaw since the last reading is less than half a turn.
        let turned = (yaw - last + PI).rem_euclid(2.0 * PI) - PI;
        self.heading = Some((yaw, heading + turned));
        correction.heading = heading + turned;
        correction.lean = [roll - planned_roll, pitch - planned_pitch];
        // The planned yaw, since a sensor's drift about the vertical says nothing about the soles' places.
        Pose::from_xyz_rpy([0.0; 3], [roll, pitch, planned_yaw]).rotation
    }

    /// Centre of mass and its velocity, with the standing soles at their planned places. [m, m/s] (2 each)
    fn estimate(
        &mut self,
        biped: &Biped,
        plan: &Sample,
        measured: &Measured<'_>,
        R_WB: &Matrix3,
        loads: &[f64; 2],
    ) -> ([f64; 2], [f64; 2]) {
        let model = &biped.model;
        self.q.copy_from_slice(measured.q);
        self.v.copy_from_slice(measured.v);
        // The base is at the origin and at rest, with the measured attitude and angular velocity.
        let X = Pose::new(*R_WB, Vector3::zeros());
        let turn = X.quaternion();
        self.q[..3].fill(0.0);
        self.q[3..7].copy_from_slice(&[turn.i, turn.j, turn.k, turn.w]);
        // Place and speed of the base are not measured; the standing soles give both below.
        self.v[..3].fill(0.0);
        let spin = R_WB * measured.angular_velocity;
        self.v[3..6].copy_from_slice(spin.as_slice());
        let momentum = centroidal_momentum(model, &mut self.data, &self.q, &self.v);
        let mut com = center_of_mass(model, &self.data);
        let mut velocity = momentum.linear / self.mass;
        self.step = 0.0;
        // The standing soles, weighted by their loads, are where they were planned and at rest: the rest moves by the difference.
        for side in Side::BOTH {
            let (load, leg) = (loads[side.index()], &biped.legs[side.index()]);
            let X_WSole = frame_pose(model, &self.data, leg.foot) * leg.sole_in_foot;
            let place = X_WSole.translation;
            self.step += side.sign() * place.z;
            com += (plan.soles[side.index()].translation - place) * load;
            velocity -= frame_velocity(model, &self.data, leg.foot).linear * load;
        }
        ([com.x, com.y], [velocity.x, velocity.y])
    }
}

fn quaternion(xyzw: &[f64]) -> UnitQuaternion {
    UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(xyzw[3], xyzw[0], xyzw[1], xyzw[2]))
}
