//! Free rigid bodies: six velocities at the centre of mass, in world axes.

use karakuri_collision::ColliderShape;
use karakuri_model::Shape;
use karakuri_spatial::{Force, Matrix3, Motion, Pose, UnitQuaternion, Vector3, skew};

use crate::errors::WorldError;
use crate::state::extent::significant_spin_speed;
use crate::state::prescribed_bodies::Course;

/// Most rounds of Newton's method for the gyroscopic moment.
const GYROSCOPIC_ROUNDS: usize = 8;
/// Relative change at which they stop, squared.
// 3e-16 of the rate: its last digit.
const GYROSCOPIC_TOLERANCE: f64 = 1e-31;
/// Relative change in the last round up to which they converged, squared: the next, of its square, is round-off.
const GYROSCOPIC_FLOOR: f64 = 1e-20;
/// Rotation of half a step from which on a rate that stays in the body's axes is that of a step too long for
/// them. [rad]
const HALF_TURN_FAST: f64 = 0.5;
/// Relative change of that rate, squared: the round-off of its rotation into those axes and back.
const STEADY: f64 = 1e-28;
/// Sine of the angle between rate and angular momentum up to which both have one direction.
const ALIGNED: f64 = 1e-9;

/// Description of a free or fixed body.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyDescription {
    /// Name, unique in the world.
    pub name: String,
    /// Shape, centred on the centre of mass.
    pub shape: Shape,
    /// Mass of a free body. [kg]
    pub mass: f64,
    /// Inertia about the centre of mass in the body's axes; `None`: that of the solid shape. [kg·m²] (3×3)
    pub inertia: Option<Matrix3>,
    /// Pose `X_WB` of the body in the world.
    pub pose: Pose,
    /// Angular and linear velocity at the centre of mass, in world axes. [rad/s; m/s]
    pub velocity: Motion,
    /// Coulomb friction coefficient. [-]
    pub friction: f64,
    /// Coefficient of restitution. [-]
    pub restitution: f64,
    /// A fixed body never moves.
    pub fixed: bool,
    /// RGBA, 0 to 1.
    pub color: [f32; 4],
}

impl BodyDescription {
    /// A free solid body at rest; friction 0.5, no restitution, white. Mass in kg, pose `X_WB`.
    pub fn new(name: impl Into<String>, shape: Shape, mass: f64, pose: Pose) -> Self {
        Self {
            name: name.into(),
            shape,
            mass,
            inertia: None,
            pose,
            velocity: Motion::default(),
            friction: 0.5,
            restitution: 0.0,
            fixed: false,
            color: [1.0; 4],
        }
    }
}

/// A body in the world.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) description: BodyDescription,
    /// Centre of mass in the shape's frame, whose axes are the body's. [m] (3)
    pub(crate) center_of_mass: Vector3,
    pub(crate) rotation: UnitQuaternion,
    pub(crate) pose: Pose,
    pub(crate) velocity: Motion,
    /// Inertia about the centre of mass in the body's axes. [kg·m²] (3×3)
    pub(crate) inertia: Matrix3,
    inverse_inertia: Matrix3,
    /// Mass [kg] and inertia [kg·m²] that another mass is a multiple of: one that comes back gives the same bits.
    solid: (f64, Matrix3),
    /// Inverse of the inertia, in world axes. [1/(kg·m²)] (3×3)
    pub(crate) inverse_inertia_world: Matrix3,
    /// First entry in the world's velocity vector: linear, then angular.
    pub(crate) start: usize,
    /// Wrench of the surroundings in this step, about the centre of mass, in world axes.
    pub(crate) applied: Force,
    /// Time for which it has been slow. [s]
    pub(crate) rested: f64,
    /// First body of the island it sleeps in.
    pub(crate) island_asleep: Option<usize>,
    /// Whether it has gone through the step already.
    pub(crate) done: bool,
    /// Whether only rigid attached joints, or only a contact on which it rolls, act on it in this step: it goes through the
    /// step by the midpoint.
    pub(crate) swings: bool,
    /// Number of its contacts in this step.
    pub(crate) n_contacts: usize,
    /// Impulsive moment of those joints or that contact in the last step, about its centre of mass, in world axes. [N·m·s] (3)
    pub(crate) joint_moment: Vector3,
    /// Whether this step's free motion has them in its gyroscopic moment.
    pub(crate) turns_on_joints: bool,
    /// Its motion, if that is prescribed.
    pub(crate) course: Option<Course>,
    /// Farthest distance of its surface from its shape's origin, and half of its least width. [m]
    pub(crate) extent: [f64; 2],
    /// Largest rotation in a step so far. [rad]
    pub(crate) longest_turn: f64,
}

impl Body {
    pub(crate) fn new(description: BodyDescription, inertia: Matrix3, extent: [f64; 2]) -> Self {
        // A fixed body comes with zero inertia: zero again, so that no moment turns it.
        let inverse_inertia = inertia.try_inverse().unwrap_or_else(Matrix3::zeros);
        let mut body = Self {
            rotation: description.pose.quaternion(),
            pose: description.pose,
            velocity: description.velocity,
            solid: (description.mass, inertia),
            description,
            center_of_mass: Vector3::zeros(),
            inertia,
            inverse_inertia,
            inverse_inertia_world: Matrix3::zeros(),
            start: 0,
            applied: Force::default(),
            rested: 0.0,
            island_asleep: None,
            done: false,
            swings: false,
            n_contacts: 0,
            joint_moment: Vector3::zeros(),
            turns_on_joints: false,
            course: None,
            extent,
            longest_turn: 0.0,
        };
        body.update();
        body
    }

    pub(crate) fn is_free(&self) -> bool {
        !self.description.fixed
    }

    /// Speed of its surface at its spin, where [that matters](significant_spin_speed). [s]; [m/s]
    pub(crate) fn spin_speed(&self, h: f64) -> f64 {
        let [radius, half_width] = self.extent;
        let reach = radius + self.center_of_mass.norm();
        significant_spin_speed(self.velocity.angular.norm() * reach, half_width, h)
    }

    /// Pose of the shape, `X_WS`.
    pub(crate) fn shape_pose(&self) -> Pose {
        let R = self.pose.rotation;
        Pose::new(R, self.pose.translation - R * self.center_of_mass)
    }

    pub(crate) fn is_asleep(&self) -> bool {
        self.island_asleep.is_some()
    }

    /// Free, and not asleep.
    pub(crate) fn is_awake(&self) -> bool {
        self.is_free() && !self.is_asleep()
    }

    pub(crate) fn set_state(&mut self, pose: Pose, velocity: Motion) {
        self.rotation = pose.quaternion();
        self.pose.translation = pose.translation;
        self.velocity = velocity;
        self.update();
    }

    /// Takes another mass and the inertia of the same shape with it. [kg]
    pub(crate) fn set_mass(&mut self, mass: f64) {
        let (solid_mass, solid_inertia) = self.solid;
        self.description.mass = mass;
        self.put_inertia(solid_inertia * (mass / solid_mass));
        self.description.inertia = self.description.inertia.map(|_| self.inertia);
    }

    /// Takes another inertia about the centre of mass, in its axes. [kg·m²] (3×3)
    pub(crate) fn set_inertia(&mut self, inertia: Matrix3) {
        self.put_inertia(inertia);
        self.description.inertia = Some(inertia);
        self.solid = (self.description.mass, inertia);
    }

    fn put_inertia(&mut self, inertia: Matrix3) {
        self.inertia = inertia;
        self.inverse_inertia = inertia.try_inverse().unwrap_or_else(Matrix3::zeros);
        self.update();
    }

    /// Restores an earlier state.
    pub(crate) fn put_back(&mut self, rotation: UnitQuaternion, pose: Pose, velocity: Motion) {
        (self.rotation, self.pose, self.velocity) = (rotation, pose, velocity);
        self.update();
    }

    /// Takes an impulse about the centre of mass, in world axes. [N·m·s; N·s]
    pub(crate) fn kick(&mut self, impulse: &Force) {
        self.velocity.linear += impulse.force / self.description.mass;
        self.velocity.angular += self.inverse_inertia_world * impulse.moment;
    }

    fn update(&mut self) {
        // The quaternion is the state, the matrix follows from it: products of matrices would drift from a rotation.
        self.pose = Pose::from_quaternion(&self.rotation, self.pose.translation);
        let R = &self.pose.rotation;
        self.inverse_inertia_world = R * self.inverse_inertia * R.transpose();
    }

    /// Velocity after a step without contacts: forces explicit, gyroscopic moment by the midpoint.
    pub(crate) fn free_motion(&self, h: f64, gravity: &Vector3, out: &mut [f64]) {
        // Exact for constant forces, with the mean of both velocities as the move.
        let linear =
            self.velocity.linear + (gravity + self.applied.force / self.description.mass) * h;
        let mut angular = self.turn_freely(&self.velocity.angular, h);
        if self.joint_moment != Vector3::zeros() {
            angular = self.turn_on_joints(h);
        }
        if self.applied.moment != Vector3::zeros() {
            angular += self.inverse_inertia_world * self.applied.moment * h;
        }
        out[..3].copy_from_slice(linear.as_slice());
        out[3..6].copy_from_slice(angular.as_slice());
    }

    /// Rate after a step without the impulses of the joints it swings on, whose gyroscopic moment is that of a rotation with
    /// them: they are those of the last step to first order. [rad/s] (3)
    fn turn_on_joints(&self, h: f64) -> Vector3 {
        // The gyroscopic term with the moment of the last step, which is taken off again: the rows of this step give theirs.
        let R = &self.pose.rotation;
        let (_, half_turn) = self.halfway(h);
        let moment = half_turn.inverse() * self.joint_moment;
        let turned = self.rotation_with(&R.tr_mul(&self.velocity.angular), &R.tr_mul(&moment), h);
        R * turned - self.inverse_inertia_world * moment
    }

    /// Rate after a step of free rotation, in world axes. [rad/s] (3)
    pub(crate) fn turn_freely(&self, omega: &Vector3, h: f64) -> Vector3 {
        let R = &self.pose.rotation;
        R * self.free_rotation(&R.tr_mul(omega), h)
    }

    fn free_rotation(&self, omega: &Vector3, h: f64) -> Vector3 {
        self.rotation_with(omega, &Vector3::zeros(), h)
    }

    /// Solves `I (ω' − ω) + h ω_m × I ω_m = M`, `ω_m = ½(ω + ω')`, in the body's axes by Newton's method from ω: without an
    /// impulsive moment `M` energy and magnitude of the angular momentum stay. Where the step is too long for the method,
    /// `ω' = ω + I⁻¹ M`, which keeps both as well. [rad/s; N·m·s] (3)
    fn rotation_with(&self, omega: &Vector3, moment: &Vector3, h: f64) -> Vector3 {
        let I = &self.inertia;
        let mut next = *omega;
        let mut last_change = 0.0;
        for _ in 0..GYROSCOPIC_ROUNDS {
            let mean = (omega + next) * 0.5;
            let momentum = I * mean;
            let residual = I * (next - omega) + mean.cross(&momentum) * h - moment;
            // `∂/∂ω'` of the residual, `I + ½h (ω_m× I − (I ω_m)×)`.
            let jacobian = I + (skew(&mean) * I - skew(&momentum)) * (0.5 * h);
            // Where the step is too long for the rotation: the fallback keeps energy and momentum instead of order.
            let Some(inverse) = jacobian.try_inverse() else {
                return omega + self.inverse_inertia * moment;
            };
            let change = inverse * residual;
            next -= change;
            last_change = change.norm_squared();
            if last_change <= GYROSCOPIC_TOLERANCE * next.norm_squared() {
                return next;
            }
        }
        if last_change <= GYROSCOPIC_FLOOR * next.norm_squared() {
            return next;
        }
        omega + self.inverse_inertia * moment
    }

    /// Mass and rotated inertia, zeros elsewhere left as they are. (6×6)
    pub(crate) fn operator(&self, out: &mut [f64]) {
        let R = &self.pose.rotation;
        // In world axes, as the rates are.
        let I = R * self.inertia * R.transpose();
        for i in 0..3 {
            // Row-major, six a row: entries (i, i), then the rotational quarter.
            out[i * 7] = self.description.mass;
            for j in 0..3 {
                out[(i + 3) * 6 + j + 3] = I[(i, j)];
            }
        }
    }

    /// Takes the velocity of `after` and moves on by `h`; `rates` moves the pose. (6 each)
    pub(crate) fn advance(&mut self, after: &[f64], rates: &[f64], h: f64) {
        // Linear first in the world's vector, angular first in a `Motion`.
        let three = |x: &[f64]| Vector3::new(x[0], x[1], x[2]);
        self.velocity = Motion::new(three(&after[3..6]), three(&after[..3]));
        self.pose.translation += three(&rates[..3]) * h;
        let displacement = three(&rates[3..6]) * h;
        self.longest_turn = self.longest_turn.max(displacement.norm());
        let turn = UnitQuaternion::from_scaled_axis(displacement);
        // Products of unit quaternions lose a rounding of their length each.
        self.rotation = UnitQuaternion::new_normalize(*(turn * self.rotation).quaternion());
        self.update();
    }

    /// Pose halfway through a step at its present velocity, and the turn to it. [s]
    pub(crate) fn halfway(&self, h: f64) -> (Pose, UnitQuaternion) {
        let turn = UnitQuaternion::from_scaled_axis(self.velocity.angular * (0.5 * h));
        let translation = self.pose.translation + self.velocity.linear * (0.5 * h);
        (Pose::from_quaternion(&(turn * self.rotation), translation), turn)
    }

    /// Moves by a small displacement: translation, then rotation. [m; rad] (6)
    pub(crate) fn shift(&mut self, by: &[f64; 6]) {
        self.pose.translation += Vector3::new(by[0], by[1], by[2]);
        let turn = UnitQuaternion::from_scaled_axis(Vector3::new(by[3], by[4], by[5]));
        self.rotation = UnitQuaternion::new_normalize(*(turn * self.rotation).quaternion());
        self.update();
    }

    /// Moves along with something that moved by `T` in the world.
    pub(crate) fn carry(&mut self, T: &Pose) {
        self.pose.translation = T.transform_point(&self.pose.translation);
        self.rotation =
            UnitQuaternion::new_normalize(*(T.quaternion() * self.rotation).quaternion());
        self.update();
    }

    /// Flies on by `h` in free motion with the velocity of `after`, which a step at the present pose gave. The pose moves by
    /// the mean velocity and the Cayley map of the mean rate, `θ = 2 atan(½ h ‖ω_m‖)`, and the rate turns along, so
    /// that the angular momentum in the world stays. Where the step was too long for the rate, it turns about the
    /// angular momentum by the rate along it. (6)
    pub(crate) fn fly(&mut self, after: &[f64], h: f64) {
        let three = |x: &[f64]| Vector3::new(x[0], x[1], x[2]);
        let (linear, angular) = (three(&after[..3]), three(&after[3..6]));
        let mean = (self.velocity.angular + angular) * 0.5;
        let half = 0.5 * h * mean.norm();
        // Cayley map: `θ = 2 atan(½h ‖ω_m‖)` about the mean rate.
        self.longest_turn = self.longest_turn.max(2.0 * half);
        // `atan(x)/x`, whose limit at rest is 1.
        let scale = if half > 0.0 { half.atan() / half } else { 1.0 };
        let mut turn = UnitQuaternion::from_scaled_axis(mean * (scale * h));
        // A rate that did not change in the body's axes is that of a step too long for Newton's method.
        let change = (angular - self.velocity.angular).norm_squared();
        if half > HALF_TURN_FAST && change <= STEADY * angular.norm_squared() {
            turn = self.precession(h).unwrap_or(turn);
        }
        self.pose.translation += (self.velocity.linear + linear) * (0.5 * h);
        // `after` is along the axes of the step's start, which have turned with the body since.
        self.velocity = Motion::new(turn * angular, linear);
        self.rotation = UnitQuaternion::new_normalize(*(turn * self.rotation).quaternion());
        self.update();
    }

    /// Rotation in a step about the angular momentum, which it keeps, by the rate along it; `None` where both have one
    /// direction. [s]
    fn precession(&self, h: f64) -> Option<UnitQuaternion> {
        let R = &self.pose.rotation;
        let omega = &self.velocity.angular;
        // The rate along the angular momentum `L`: `(ω·L)/‖L‖`, about `L`.
        let momentum = R * (self.inertia * R.tr_mul(omega));
        let (square, sine) = (momentum.norm_squared(), omega.cross(&momentum).norm());
        let aligned = sine <= ALIGNED * omega.norm() * square.sqrt();
        // At rest this is 0/0, but what rests counts as aligned, and the turn is not used.
        let turn = momentum * (h * omega.dot(&momentum) / square);
        (!aligned).then(|| UnitQuaternion::from_scaled_axis(turn))
    }

    /// Kinetic energy of translation and rotation. [J]
    pub(crate) fn kinetic_energy(&self) -> f64 {
        let linear = self.description.mass * self.velocity.linear.norm_squared();
        0.5 * linear + self.energy_of_rotation()
    }

    /// Kinetic energy of the rotation about the centre of mass. [J]
    pub(crate) fn energy_of_rotation(&self) -> f64 {
        let omega = self.pose.rotation.tr_mul(&self.velocity.angular);
        0.5 * omega.dot(&(self.inertia * omega))
    }
}

/// Checks all numbers of a description but those of its mass and shape.
pub(crate) fn check_numbers(description: &BodyDescription) -> Result<(), WorldError> {
    let BodyDescription { pose, velocity, friction, restitution, .. } = description;
    let finite = |numbers: &[f64]| numbers.iter().all(|x| x.is_finite());
    let checks = [
        ("the pose", finite(pose.translation.as_slice()) && finite(pose.rotation.as_slice())),
        ("the velocity", finite(velocity.angular.as_slice()) && finite(velocity.linear.as_slice())),
        ("the friction or restitution", finite(&[*friction, *restitution])),
    ];
    for (what, good) in checks {
        if !good {
            return Err(WorldError::NotFinite { name: description.name.clone(), what });
        }
    }
    Ok(())
}

/// Inertia of a free body: given, or of the solid shape. [kg·m²] (3×3)
pub(crate) fn body_inertia(
    description: &BodyDescription,
    shape: &ColliderShape,
) -> Result<Matrix3, WorldError> {
    let name = || description.name.clone();
    let mass = description.mass;
    if !(mass > 0.0 && mass.is_finite()) {
        return Err(WorldError::Mass { name: name(), mass });
    }
    let inertia = match description.inertia {
        Some(inertia) => inertia,
        None => {
            shape.unit_inertia().map_err(|source| WorldError::Shape { name: name(), source })?.1
                * mass
        }
    };
    // The triangle inequality is not asked for here: only a definite inertia can be solved with.
    if inertia.iter().all(|x| x.is_finite()) && inertia.symmetric_eigenvalues().min() > 0.0 {
        return Ok(inertia);
    }
    Err(WorldError::Inertia { name: name() })
}
