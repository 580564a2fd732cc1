//! A robot in the world: its state, its drives, and its motion without contacts.
//!
//! One step of the implicit scheme, all servos inside the factorised operator:
//!
//! ```text
//! Â (v' − v) = h (τ − c(q, v) + K (q_d − q) + D q̇_d) − (h B + h² K) v,   Â = M + diag(armature + h B + h² K)
//! ```
//!
//! with `B` joint damping plus servo damping `D`. A drive at its effort limit leaves the operator and becomes a
//! bounded row. Backward Euler in the servo law, linearised once: [Baraff 1998]; docs/theory/integrators.md.

use std::sync::Arc;

use karakuri_dynamics::loops::LoopProjection;
use karakuri_dynamics::{
    Data, OperatorFactor, SingularInertia, crba_at_position, difference, forward_kinematics,
    integrate, rnea_at_velocity, update_velocities,
};
use karakuri_model::{Base, BodyId, Joint, Model, SensorNoise};
use karakuri_spatial::{Force, Vector3};

use crate::state::ball_limit::BallLimit;
use crate::state::chains::Chains;
use crate::state::energy_guard::EnergyGuard;
use crate::state::extent::significant_spin_speed;
use crate::state::free_motion::FreeMotion;
use crate::state::inner_springs::InnerSprings;
use crate::state::joint_limits::JointLimits;
use crate::state::motor_unit::MotorUnit;
use crate::state::noise::NoiseSource;
use crate::state::overlaps::LinkOverlap;
use crate::state::prescribed_joint::PrescribedJoint;
use crate::state::shared_responses::SharedResponses;
use crate::state::turns::{LongestTurn, Rotation, rotations_of};

/// Inertia that driven joints pretend to have while loops are closed at rest, so that the passive ones move.
/// [kg·m² or kg]
// A driven joint moves a millionth as far as a passive one of 1 kg·m²; with more, passive joints would lose digits.
const DRIVEN_WEIGHT: f64 = 1e6;
/// Most rounds of Newton's method that closes loops at rest.
const CLOSING_ROUNDS: usize = 50;

/// Targets and gains of the joint drives, one entry a velocity coordinate. Live.
#[derive(Debug, Clone, PartialEq)]
pub struct Drives {
    /// Position targets. [rad or m] (nv)
    pub position: Vec<f64>,
    /// Velocity targets. [rad/s or m/s] (nv)
    pub velocity: Vec<f64>,
    /// Feed-forward efforts. [N·m or N] (nv)
    pub effort: Vec<f64>,
    /// Proportional gains. [N·m/rad or N/m] (nv)
    pub stiffness: Vec<f64>,
    /// Derivative gains. [N·m·s/rad or N·s/m] (nv)
    pub damping: Vec<f64>,
    /// Largest effort, servo and feed-forward together. [N·m or N] (nv)
    pub effort_limit: Vec<f64>,
    /// A drive that is off gives no effort. (nv)
    pub enabled: Vec<bool>,
}

/// Impulses of a joint's own rows, kept as the next step's warm start. [N·s or N·m·s]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct JointImpulses {
    pub(crate) servo: f64,
    pub(crate) friction: f64,
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    pub(crate) speed: f64,
    /// Impulse of gears and of the limits of ball joints.
    pub(crate) other: f64,
}

/// A robot and its scratch.
#[derive(Debug, Clone)]
pub(crate) struct Robot {
    pub(crate) name: String,
    pub(crate) model: Arc<Model>,
    /// Model that it came with, before inertias changed and loops opened.
    pub(crate) original: Arc<Model>,
    pub(crate) q: Vec<f64>,
    pub(crate) v: Vec<f64>,
    pub(crate) drives: Drives,
    /// Whether the drive is a row in this step. (nv)
    pub(crate) saturated: Vec<bool>,
    pub(crate) impulses: Vec<JointImpulses>,
    pub(crate) motors: Vec<MotorUnit>,
    /// Limits of ball joints.
    pub(crate) ball_limits: Vec<BallLimit>,
    /// Efforts that drives and motors gave in the last step. (nv)
    pub(crate) efforts: Vec<f64>,
    /// Readings in the order of the model's sensors: wrench, or zero. (n sensors)
    pub(crate) wrenches: Vec<Force>,
    pub(crate) imus: Vec<crate::state::imu::Imu>,
    /// Noise of each sensor that has some. (n sensors)
    pub(crate) noises: Vec<Option<NoiseSource>>,
    /// Kinematics of the present position.
    pub(crate) data: Data,
    pub(crate) factor: OperatorFactor,
    pub(crate) loops: LoopProjection,
    /// Joints that move as prescribed, in the order of [`LoopProjection::prescribed`].
    pub(crate) prescribed: Vec<PrescribedJoint>,
    pub(crate) chains: Chains,
    /// First entry in the world's velocity vector.
    pub(crate) start: usize,
    /// Position coordinate of each single-degree-of-freedom joint's velocity coordinate. (nv)
    pub(crate) position_index: Vec<Option<usize>>,
    pub(crate) armature: Vec<f64>,
    pub(crate) joint_damping: Vec<f64>,
    pub(crate) friction: Vec<f64>,
    /// Limits of joints with one degree of freedom. (nv)
    pub(crate) limits: Vec<JointLimits>,
    /// Back-EMF of motors. [N·m·s/rad or N·s/m] (nv)
    pub(crate) back_emf: Vec<f64>,
    /// Coefficients of restitution of rigid limits; empty where nothing bounces. [-] (nv)
    pub(crate) limit_restitution: Vec<f64>,
    extra: Vec<f64>,
    pub(crate) shared_responses: SharedResponses,
    pub(crate) zeros: Vec<f64>,
    pub(crate) acceleration: Vec<f64>,
    /// Mean multipliers of loops, couplings and prescribed joints in the last step, where they were recorded.
    pub(crate) reactions: Vec<f64>,
    /// Generalized forces of the loops. (nv)
    pub(crate) residual: Vec<f64>,
    pub(crate) external: Vec<Force>,
    /// Wrenches of the surroundings in this step, at the body frames' origins, in world axes. (n bodies)
    pub(crate) applied: Vec<Force>,
    pub(crate) free_motion: FreeMotion,
    pub(crate) springs: InnerSprings,
    /// Extents of the shapes on each body: farthest distance from the body's origin, half of the least width. [m] (n bodies)
    pub(crate) extents: Vec<[f64; 2]>,
    /// Pairs of its links that pass through each other because they overlap in its default posture, deepest first.
    pub(crate) ignored_overlaps: Vec<LinkOverlap>,
    /// Rotations of its joints.
    pub(crate) rotations: Vec<Rotation>,
    pub(crate) longest_turn: LongestTurn,
    pub(crate) energy_guard: EnergyGuard,
    /// Position before the last [`Self::advance`]. (nq)
    start_q: Vec<f64>,
}

impl Robot {
    pub(crate) fn new(name: &str, model: Arc<Model>, q: &[f64]) -> Self {
        let nv = model.nv;
        let chains = Chains::new(&model);
        let joints = model.joints.iter().enumerate();
        let depths = joints.flat_map(|(i, j)| chains.depths(BodyId(i), j.kind.nv()));
        let factor = OperatorFactor::new(&model, depths);
        let mut robot = Self {
            name: name.to_owned(),
            original: Arc::clone(&model),
            q: q.to_vec(),
            v: vec![0.0; nv],
            drives: drives_of(&model, q),
            saturated: vec![false; nv],
            impulses: vec![JointImpulses::default(); nv],
            motors: MotorUnit::all(&model),
            ball_limits: BallLimit::of(&model),
            efforts: vec![0.0; nv],
            wrenches: vec![Force::default(); model.sensors.len()],
            imus: vec![crate::state::imu::Imu::default(); model.sensors.len()],
            noises: noises_of(&model, 0),
            data: Data::new(&model),
            factor,
            loops: LoopProjection::new(&model),
            prescribed: Vec::new(),
            chains,
            start: 0,
            position_index: per_dof(&model, None, |j| has_one_dof(j).then_some(j.q_start)),
            armature: per_dof(&model, 0.0, |j| j.armature),
            joint_damping: per_dof(&model, 0.0, |j| j.damping),
            friction: per_dof(&model, 0.0, |j| j.friction),
            limits: JointLimits::of_model(&model),
            back_emf: per_dof(&model, 0.0, |j| j.back_emf),
            limit_restitution: limit_restitutions(&model),
            extra: vec![0.0; nv],
            shared_responses: SharedResponses::default(),
            zeros: vec![0.0; nv],
            acceleration: vec![0.0; nv],
            reactions: Vec::new(),
            residual: vec![0.0; nv],
            external: vec![Force::default(); model.bodies.len()],
            applied: vec![Force::default(); model.bodies.len()],
            free_motion: FreeMotion::new(model.nq, nv),
            springs: InnerSprings::default(),
            // Of no shape yet: each one that is added can only raise the reach and lower the width.
            extents: vec![[0.0, f64::INFINITY]; model.bodies.len()],
            ignored_overlaps: Vec::new(),
            rotations: rotations_of(&model),
            longest_turn: LongestTurn::default(),
            energy_guard: EnergyGuard::default(),
            start_q: q.to_vec(),
            model,
        };
        forward_kinematics(&robot.model, &mut robot.data, &robot.q);
        robot.close_loops();
        robot
    }

    /// Puts the robot elsewhere; the drives keep their targets.
    pub(crate) fn set_state(&mut self, q: &[f64], v: &[f64]) {
        self.q.copy_from_slice(q);
        self.v.copy_from_slice(v);
        // Impulses and efforts belong to the place that is left.
        self.impulses.fill(JointImpulses::default());
        self.efforts.fill(0.0);
        for ball in &mut self.ball_limits {
            ball.impulses = [0.0; 3];
        }
        self.motors.iter_mut().for_each(MotorUnit::forget);
        self.saturated.fill(false);
        self.free_motion.n_recent = 0;
        forward_kinematics(&self.model, &mut self.data, &self.q);
        self.close_loops();
    }

    /// Restarts the noise of the sensors, as that of another run; 0 is the run of the model's own seeds.
    pub(crate) fn restart_noise(&mut self, run: u64) {
        self.noises = noises_of(&self.model, run);
    }

    /// Takes position, velocity and drive of the joints that another model of the robot has, too.
    pub(crate) fn take_joints_of(&mut self, other: &Self) {
        let (mut q, mut v) = (self.q.clone(), self.v.clone());
        for joint in &self.model.joints {
            let same = |j: &&Joint| j.name == joint.name && j.kind.nq() == joint.kind.nq();
            let Some(theirs) = other.model.joints.iter().find(same) else { continue };
            let copy = |to: &mut [f64], from: &[f64], [at, start, n]: [usize; 3]| {
                to[at..at + n].copy_from_slice(&from[start..start + n]);
            };
            copy(&mut q, &other.q, [joint.q_start, theirs.q_start, joint.kind.nq()]);
            let range = [joint.v_start, theirs.v_start, joint.kind.nv()];
            copy(&mut v, &other.v, range);
            let (own, drives) = (&mut self.drives, &other.drives);
            for (to, from) in [
                (&mut own.position, &drives.position),
                (&mut own.velocity, &drives.velocity),
                (&mut own.effort, &drives.effort),
                (&mut own.stiffness, &drives.stiffness),
                (&mut own.damping, &drives.damping),
                (&mut own.effort_limit, &drives.effort_limit),
            ] {
                copy(to, from, range);
            }
            let [at, start, n] = range;
            own.enabled[at..at + n].copy_from_slice(&drives.enabled[start..start + n]);
        }
        self.set_state(&q, &v);
    }

    /// Moves the joints without a drive until all loops are closed; the driven ones stay as near as they can.
    fn close_loops(&mut self) {
        for (k, extra) in self.extra.iter_mut().enumerate() {
            *extra = if self.drives.enabled[k] { DRIVEN_WEIGHT } else { self.armature[k] };
        }
        let mut gap = f64::INFINITY;
        for _ in 0..CLOSING_ROUNDS {
            if self.factor.factorize(&self.model, &mut self.data, &self.extra).is_err() {
                // Without a factor there is no way to close; the first step reports the joint.
                return;
            }
            self.loops.factorize(&self.model, &self.data, &mut self.factor);
            let left = self.loops.close(&self.model, &mut self.data, &mut self.q);
            // Closed to rounding, or stuck: no round improves on that.
            if left >= gap {
                return;
            }
            gap = left;
        }
    }

    /// Forgets what free motion keeps from step to step, whose inertia is no more.
    pub(crate) fn forget_momentum(&mut self) {
        // NaN equals nothing, so the next step is no continuation.
        self.free_motion.rates_at_end.fill(f64::NAN);
        self.free_motion.keeps_variational_momentum = false;
        self.free_motion.n_recent = 0;
        self.energy_guard.forget();
    }

    /// Takes a loop out of the mechanism for good; false if it has none of this name.
    pub(crate) fn open_loop(&mut self, name: &str) -> bool {
        let Some(at) = self.model.loops.iter().position(|l| l.name == name) else { return false };
        let mut opened = Model::clone(&self.model);
        opened.loops.remove(at);
        // Prescribed joints outlive the loop: they are rows of the same projection.
        let prescribed = std::mem::take(&mut self.loops.prescribed);
        self.loops = LoopProjection::with_prescribed(&opened, prescribed);
        self.model = Arc::new(opened);
        true
    }

    /// Servo gains that are inside the operator: none for a drive that is off or a row. [K, D]
    #[inline]
    pub(crate) fn inner_gains(&self, k: usize) -> (f64, f64) {
        if self.drives.enabled[k] && !self.saturated[k] {
            (self.drives.stiffness[k], self.drives.damping[k])
        } else {
            (0.0, 0.0)
        }
    }

    /// Whether something drives a joint: a drive that is on, a motor, or a motion that is prescribed.
    pub(crate) fn is_driven(&self) -> bool {
        let has_drive = self.drives.enabled.contains(&true);
        has_drive || !self.motors.is_empty() || !self.loops.prescribed.is_empty()
    }

    /// Feed-forward effort; none for a drive that is off. [N·m or N]
    #[inline]
    pub(crate) fn feedforward(&self, k: usize) -> f64 {
        if self.drives.enabled[k] { self.drives.effort[k] } else { 0.0 }
    }

    /// Effort the servo asks for at the end of a step that ends with rate `v`. [N·m or N]
    pub(crate) fn servo_demand(&self, k: usize, v: f64, h: f64) -> f64 {
        let drives = &self.drives;
        if !drives.enabled[k] {
            return 0.0;
        }
        let position =
            // At the end of the step, `q + h v`, as the operator has it.
            self.position_index[k].map_or(0.0, |i| drives.position[k] - self.q[i] - h * v);
        drives.stiffness[k] * position
            + drives.damping[k] * (drives.velocity[k] - v)
            + drives.effort[k]
    }

    /// Velocity after a step without contacts, limits and friction, into `out`. (nv)
    pub(crate) fn free_motion(
        &mut self,
        h: f64,
        gravity: &Vector3,
        out: &mut [f64],
    ) -> Result<(), SingularInertia> {
        let model = Arc::clone(&self.model);
        self.data.gravity = *gravity;
        update_velocities(&model, &mut self.data, &self.v);
        rnea_at_velocity(&model, &mut self.data, &self.v, &self.zeros, &self.applied);
        // Right-hand side `h (τ − c + K (q_d − q) + D q̇_d) − (h B + h² K) v`, and the diagonal that `Â` adds to `M`.
        for (k, out) in out.iter_mut().enumerate() {
            let (stiffness, damping) = self.inner_gains(k);
            let implicit = h * (self.joint_damping[k] + damping) + h * h * stiffness;
            // What Newton's step on the servo law adds to the inertia: one factor does both. [Baraff 1998]
            self.extra[k] = self.armature[k] + implicit;
            let error = self.position_index[k].map_or(0.0, |i| self.drives.position[k] - self.q[i]);
            let explicit =
                self.feedforward(k) + stiffness * error + damping * self.drives.velocity[k]
                    - self.data.effort[k];
            *out = h * explicit - implicit * self.v[k];
        }
        // Motors as servos of their linearised laws.
        for unit in &self.motors {
            let ((pushed, implicit), k) = (unit.inner(h), unit.dof);
            self.extra[k] += implicit;
            out[k] += pushed - implicit * self.v[k];
        }
        // `v_f = v + Â⁻¹ …`, then closed over the loops.
        self.factor.factorize(&model, &mut self.data, &self.extra)?;
        self.factor.solve(&model, out);
        for (out, v) in out.iter_mut().zip(&self.v) {
            *out += v;
        }
        // In the metric of `Â`, gains included: the projection is the loops' impulse in this implicit step.
        self.loops.factorize(&model, &self.data, &mut self.factor);
        self.loops.project(out);
        if self.energy_guard.is_on {
            self.guard_free_motion(&model, h, out);
        }
        Ok(())
    }

    /// [`Self::free_motion`] of a step at whose start impacts change the rates to `struck`.
    ///
    /// `Â (v' − v) = Jᵀ p + …` with Coriolis forces at `struck = v + Â⁻¹ Jᵀ p`: drives and dampers in `Â` act on the rates at the
    /// end only, so what they would take for the rates of `struck` comes back. (nv)
    pub(crate) fn free_motion_after_impact(
        &mut self,
        h: f64,
        gravity: &Vector3,
        struck: &mut [f64],
        out: &mut [f64],
    ) -> Result<(), SingularInertia> {
        // Coriolis forces read the robot's rates: for a moment these are those after the impact.
        self.v.swap_with_slice(struck);
        let moved = self.free_motion(h, gravity, out);
        self.v.swap_with_slice(struck);
        moved?;
        // The diagonal of drives and dampers, times the change of rates by the impact.
        let mut held = std::mem::take(&mut self.residual);
        for (k, held) in held.iter_mut().enumerate() {
            // `extra` less the armature: what is implicit in `Â`, and saw the rates before the impact.
            *held = (self.extra[k] - self.armature[k]) * (struck[k] - self.v[k]);
        }
        self.respond(&mut held);
        for (out, held) in out.iter_mut().zip(&held) {
            *out += held;
        }
        self.residual = held;
        Ok(())
    }

    /// `Â⁻¹ x` with the loops kept closed, in place. (nv)
    #[inline]
    pub(crate) fn respond(&mut self, x: &mut [f64]) {
        self.factor.solve(&self.model, x);
        self.loops.project_response(x);
    }

    /// [`Self::respond`] for a unit effort on one degree of freedom. (nv)
    pub(crate) fn respond_to_unit(&mut self, dof: usize, response: &mut [f64]) {
        if !self.factor.keeps_mass_matrix() {
            // Along a long chain three responses cost three times as much as one.
            response.fill(0.0);
            response[dof] = 1.0;
            self.respond(response);
            return;
        }
        let mut shared = std::mem::take(&mut self.shared_responses);
        shared.unit(dof, response, |rows| self.respond_to_three(rows));
        self.shared_responses = shared;
    }

    /// [`Self::respond`] for the three rows of a contact, one after the other. (3·nv; 3·nv)
    pub(crate) fn respond_to_contact(&mut self, rows: &[f64], responses: &mut [f64]) {
        let mut shared = std::mem::take(&mut self.shared_responses);
        let is_shared = self.factor.keeps_mass_matrix()
            && shared.of_contact(rows, responses, |rows| self.respond_to_three(rows));
        self.shared_responses = shared;
        if !is_shared {
            responses.copy_from_slice(rows);
            self.respond_to_three(responses);
        }
    }

    /// [`Self::respond`] for three rows, one after the other. (3·nv)
    #[inline]
    fn respond_to_three(&mut self, rows: &mut [f64]) {
        self.factor.solve_three(&self.model, rows);
        self.loops.project_three_responses(rows);
    }

    /// Fills the mass matrix where the factor does not: O(n²), and only the energy ledger and the solver need it.
    pub(crate) fn complete_mass_matrix(&mut self) {
        if !self.factor.keeps_mass_matrix() {
            crba_at_position(&self.model, &mut self.data);
        }
    }

    /// `Â` at the last `free_motion`, loops by a stiff penalty. (nv × nv)
    pub(crate) fn operator(&mut self, out: &mut [f64]) {
        self.complete_mass_matrix();
        out.copy_from_slice(self.data.mass_matrix.as_slice());
        let nv = self.v.len();
        for (k, extra) in self.extra.iter().enumerate() {
            out[k * (nv + 1)] += extra;
        }
        // Only directions come of this: in the responses loops are closed exactly.
        self.loops.add_penalty(out);
    }

    /// Coordinates that forces move as in a free fall when no row acts: the translation of a floating base.
    pub(crate) fn n_ballistic(&self) -> usize {
        if self.model.base == Base::Floating { 3 } else { 0 }
    }

    /// Moves on by `h` with the rates `v` (those of `self.v` plus a correction), and closes the loops. (nv)
    pub(crate) fn advance(&mut self, rates: &[f64], h: f64) {
        self.start_q.copy_from_slice(&self.q);
        integrate(&self.model, &self.start_q, rates, h, &mut self.q);
        // Exactly where the table has it, without the rounding of `q + h v'`.
        for p in &self.loops.prescribed {
            self.q[p.coordinate] = p.position;
        }
        forward_kinematics(&self.model, &mut self.data, &self.q);
        self.loops.close(&self.model, &mut self.data, &mut self.q);
    }

    /// Moves back to a part of the last [`Self::advance`]. [-]
    pub(crate) fn move_back(&mut self, part: f64) {
        // Not by scaling rates: joints on manifolds moved by one displacement, corrections included.
        let Self { model, start_q, q, residual: displacement, .. } = self;
        // The displacement of the step on the manifold of positions, taken in part.
        difference(model, start_q, q, displacement);
        integrate(model, start_q, displacement, part, q);
        forward_kinematics(model, &mut self.data, q);
        self.loops.close(model, &mut self.data, q);
    }

    /// Whether a wrench from outside acts on one of its bodies in this step.
    pub(crate) fn is_pushed(&self) -> bool {
        self.applied.iter().any(|wrench| *wrench != Force::default())
    }

    /// Half of the least width of its moving shapes. [m]
    pub(crate) fn half_width(&self) -> f64 {
        self.extents.iter().fold(f64::INFINITY, |least, [_, half_width]| least.min(*half_width))
    }

    /// Speed of the fastest shape on the robot at its rates; of a spin only [what matters](significant_spin_speed). [s]; [m/s]
    pub(crate) fn fastest_speed(&mut self, h: f64) -> f64 {
        update_velocities(&self.model, &mut self.data, &self.v);
        let Data { velocity, pose_in_world, origin, .. } = &self.data;
        let bodies = velocity.iter().zip(pose_in_world).zip(&self.extents);
        bodies.fold(0.0, |fastest: f64, ((V, X_WB), [radius, half_width])| {
            let p_OB = X_WB.translation - origin;
            // At the farthest point of a body's shapes: a bound, without going through them.
            let spin = significant_spin_speed(V.angular.norm() * radius, *half_width, h);
            fastest.max((V.linear + V.angular.cross(&p_OB)).norm() + spin)
        })
    }
}

fn has_one_dof(joint: &karakuri_model::Joint) -> bool {
    joint.kind.single().is_some()
}

/// Values of all joints, one spread over the degrees of freedom of each. (nv)
fn per_dof<T: Copy>(
    model: &Model,
    default: T,
    value: impl Fn(&karakuri_model::Joint) -> T,
) -> Vec<T> {
    let mut values = vec![default; model.nv];
    for joint in &model.joints {
        values[joint.v_start..joint.v_start + joint.kind.nv()].fill(value(joint));
    }
    values
}

/// Coefficients of restitution of the rigid limits of a model's joints; empty where there is none. [-] (nv)
fn limit_restitutions(model: &Model) -> Vec<f64> {
    let restitution = |j: &karakuri_model::Joint| {
        // A soft limit bounces by its spring.
        if j.bumper.is_some() { 0.0 } else { j.limit_restitution }
    };
    if model.joints.iter().all(|j| restitution(j) == 0.0) {
        return Vec::new();
    }
    per_dof(model, 0.0, restitution)
}

/// The noise of the model's sensors in a run; 0 is that of their own seeds.
fn noises_of(model: &Model, run: u64) -> Vec<Option<NoiseSource>> {
    let source = |noise: SensorNoise, sensor| {
        NoiseSource::new(SensorNoise { seed: noise.seed ^ run, ..noise }, sensor)
    };
    let sensors = model.sensors.iter().enumerate();
    sensors.map(|(i, s)| Some(source(s.noise?, i))).collect()
}

/// The model's drives, holding the position `q`.
fn drives_of(model: &Model, q: &[f64]) -> Drives {
    let gain =
        |f: fn(karakuri_model::Drive) -> f64| per_dof(model, 0.0, |j| j.drive.map_or(0.0, f));
    Drives {
        position: per_dof(model, 0.0, |j| if has_one_dof(j) { q[j.q_start] } else { 0.0 }),
        velocity: vec![0.0; model.nv],
        effort: vec![0.0; model.nv],
        stiffness: gain(|d| d.stiffness),
        damping: gain(|d| d.damping),
        effort_limit: per_dof(model, f64::INFINITY, |j| j.limits.effort),
        // A servo holds one number: joints with several have none.
        enabled: per_dof(model, false, |j| j.drive.is_some() && has_one_dof(j)),
    }
}
